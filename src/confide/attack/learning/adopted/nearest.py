"""Nearest: the records with the least distance are the candidates; no plan is needed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from confide.attack.learning.adopted.candidates import Balls, Candidates
from confide.attack.learning.adopted.compared import Compared, compare
from confide.attack.learning.adopted.settled import Settled
from confide.attack.learning.adopted.tree import Tree, plant
from confide.attack.learning.adopted.without_plan import WithoutPlan, checked_names, spread
from confide.core.checks import positive
from confide.core.errors import InputError
from confide.frames.columns import F64, Records

if TYPE_CHECKING:
    from confide.protect.release import Release

DISTANCES = ("sd", "gower")


@dataclass(frozen=True, eq=False)
class Space:
    """Distances of one release. `original`: the original's known columns; `unit`: of each coordinate; `power`: 2 for
    Euclidean distances, 1 for sums."""

    compared: Compared
    original: Records
    unit: F64
    power: int
    tree: Tree

    def nearest(self, targets: F64, nearest: int, threads: int | None) -> Balls:
        """The k nearest rows of targets with these coordinates, with all that tie."""
        return Balls.of(self.tree, targets, self.compared.categories, self.unit, self.power, nearest, threads)


@dataclass(frozen=True, eq=False)
class Nearest(WithoutPlan):
    """The nearest record could be the target, and all that tie with it: an attack that needs no plan.

    `distance`: "sd", the square root of the squared differences in released standard deviations, plus `weight` for each
    category that differs (the default); "gower", the sum of differences as shares of the range of both files, and
    `weight` for each category, as many tools have it. Distances within 1e-9 of the least tie, and ties share. A
    variable with one released value is left out, and the printout says so. Scaling or shifting a variable changes
    nothing. A value missing on the target is not known; missing on the record is a category of its own (`weight` away
    from a number), or agrees with everything where `wildcard` says so. `categorical`, `numeric`: kinds, where the type
    misleads.

    >>> import confide as cf
    >>> release = cf.Release.adopt({"age": [30, 41]}, {"age": [31, 29, 50]})
    >>> cf.Nearest("age", numeric="age").attack(release).units["candidates"].to_list()
    [2, 1]
    """

    knows: str | Sequence[str] = field(metadata={"example": ["sex", "age"]})
    weight: float = 1.0
    distance: str = field(default="sd", metadata={"choices": DISTANCES})
    wildcard: bool | Sequence[str] = False
    categorical: str | Sequence[str] = ()
    numeric: str | Sequence[str] = ()

    _section: ClassVar[str] = "nearest"

    def __post_init__(self) -> None:
        checked_names(self)
        positive(self.weight, "Nearest: weight")
        if self.distance not in DISTANCES:
            raise InputError(f'Nearest: distance is one of {", ".join(DISTANCES)}, not "{self.distance}".')

    def settle(self, release: Release) -> Settled:
        """The attack for one release."""
        space = self.space(release)

        def candidates(targets: F64, threads: int | None) -> Candidates:
            return space.nearest(targets, 1, threads)

        kind = "released standard deviations" if self.distance == "sd" else "shares of the range (Gower)"
        way = f"nearest record, in {kind}; a category that differs counts {self.weight:g}"
        lines = tuple(
            f"  {a.released.name} ({a.kind}): {'distance' if a.numeric else 'equal or not'}"
            for a in space.compared.axes
        )
        return Settled(release, space.compared, space.original, candidates, way, lines, space.compared.notes)

    def space(self, release: Release) -> Space:
        """The distances of one release."""
        compared, original = compare(release, self, None, constant=False)
        unit = np.full(len(compared.of), float(self.weight))
        for k in np.flatnonzero(~compared.categories):
            values = compared.points[:, k]
            unit[k] = 1.0 / (
                spread(values) if self.distance == "sd" else _range(values, original[compared.of[k]].values)
            )
        tree = plant(compared.points, compared.categories, unit)
        return Space(compared, original, unit, 2 if self.distance == "sd" else 1, tree)


def _range(*columns: F64) -> float:
    every = np.concatenate([c[~np.isnan(c)] for c in columns])
    return float(np.ptp(every)) or 1.0
