"""Radius: every record near enough in all that is known is a candidate; no plan is needed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from confide.attack.learning.adopted.candidates import Boxes, Candidates
from confide.attack.learning.adopted.compared import Axis, compare
from confide.attack.learning.adopted.settled import Settled
from confide.attack.learning.adopted.tree import plant
from confide.attack.learning.adopted.without_plan import WithoutPlan, checked_names, spread
from confide.core.checks import finite, fraction
from confide.core.errors import InputError, did_you_mean
from confide.frames.columns import F64

if TYPE_CHECKING:
    from confide.protect.release import Release

PRECISION = "precision"
FAR = 1e6
"""Categories must agree, so they are split before numbers."""


@dataclass(frozen=True, eq=False)
class Radius(WithoutPlan):
    r"""Every record near enough in all that is known could be the target: an attack that needs no plan.

    A category must be equal. A number z is near enough to the target's t if :math:`|z - t| \le \max(\mathrm{share}\,
    |t|, \mathrm{floor})`, both ends included: zeros and negative numbers are met like others. `floor`: "precision",
    half a unit of the last released digit; a number, for all variables or by variable; `floor_sd`: at least this share
    of the released standard deviation too. Dates have no share of themselves: the floor alone counts for them.
    `spikes`: zero, answer codes, and values that this share of the rows have in both files (and 20 rows at least) are
    categories among the numbers, and meet only their equals; None for no spikes. A value missing on the target is not
    known; missing on the record is a category of its own, or agrees with everything where `wildcard` is True or names
    the variable. `categorical`, `numeric`: kinds, where the type misleads.

    >>> import confide as cf
    >>> file = {"income": [0, 100, -100]}
    >>> release = cf.Release.adopt(file, {"income": [0, 0, 95, 100, 106, -100]})
    >>> cf.Radius("income", share=0.10, numeric="income").attack(release).units["candidates"].to_list()
    [2, 3, 1]
    >>> cf.Radius("income", share=10)
    Traceback (most recent call last):
    confide.InputError: Radius: share is a fraction between 0 and 1; for 10 percent write 0.1.
    """

    knows: str | Sequence[str] = field(metadata={"example": ["sex", "age"]})
    share: float = 0.10
    floor: str | float | Mapping[str, float] = PRECISION
    floor_sd: float = 0.0
    spikes: float | None = 0.05
    wildcard: bool | Sequence[str] = False
    categorical: str | Sequence[str] = ()
    numeric: str | Sequence[str] = ()

    _section: ClassVar[str] = "radius"

    def __post_init__(self) -> None:
        checked_names(self)
        fraction(self.share, "Radius: share")
        fraction(self.floor_sd, "Radius: floor_sd")
        if self.spikes is not None and fraction(self.spikes, "Radius: spikes") == 0:
            raise InputError("Radius: spikes is a share of rows above 0; None means that no value is a category.")
        floors = self.floor if isinstance(self.floor, Mapping) else {"": self.floor}
        for v, value in floors.items():
            if not isinstance(value, str) and finite(value, f"Radius: floor {v}".rstrip()) < 0:
                raise InputError("Radius: floor is a distance in units of the variable, 0 or more.")
            if isinstance(value, str) and value != PRECISION:
                raise InputError(f'Radius: floor is "{PRECISION}" or a distance in units of the variable.')
            if v and v not in self.knows:
                raise InputError(f'Radius: floor names "{v}", which is not known.{did_you_mean(v, self.knows)}')

    def settle(self, release: Release) -> Settled:
        """The attack for one release."""
        compared, original = compare(release, self, self.spikes, constant=True)
        unit, wide = np.full(len(compared.of), FAR), np.zeros(len(compared.of))
        share = np.zeros(len(compared.of))
        for k in np.flatnonzero(~compared.categories):
            axis = next(a for a in compared.axes if a.released.name == compared.of[k])
            sd = spread(compared.points[:, k])
            unit[k], wide[k] = 1.0 / sd, max(self._floor(axis), self.floor_sd * sd)
            share[k] = 0.0 if axis.released.dtype.is_temporal() else self.share
        tree = plant(compared.points, compared.categories, unit)

        def candidates(targets: F64, threads: int | None) -> Candidates:  # noqa: ARG001
            reach = np.maximum(share * np.abs(targets), wide) * (1 + 1e-9)
            unknown = np.isnan(targets)
            return Boxes(tree, np.where(unknown, -np.inf, targets - reach), np.where(unknown, np.inf, targets + reach))

        way = f"radius {self.share:.3g} of the target's value; both ends count"
        lines = tuple(
            self._line(a, wide[compared.of.index(a.released.name) + a.labelled * a.numeric]) for a in compared.axes
        )
        dates = [a.released.name for a in compared.axes if a.released.dtype.is_temporal() and a.numeric]
        said = [f'"{v}" is a date, of which there is no share: only the floor counts.' for v in dates]
        return Settled(release, compared, original, candidates, way, lines, (*compared.notes, *said))

    def _floor(self, axis: Axis) -> float:
        stated = self.floor.get(axis.released.name, PRECISION) if isinstance(self.floor, Mapping) else self.floor
        return axis.released.step / 2 if isinstance(stated, str) else float(stated)

    def _line(self, axis: Axis, floor: float) -> str:
        gaps = int(axis.released.missing.sum())
        missing = f"; {gaps:,} released values are missing" if gaps else ""
        head = f"  {axis.released.name} ({axis.kind}): "
        if not axis.numeric:
            return f"{head}equal{missing}"
        spikes = f"; categories among the numbers, as zero is: {len(axis.spikes)}" if len(axis.spikes) else ""
        return f"{head}within {self.share:.3g} of its size, at least {floor:.4g}{spikes}{missing}"
