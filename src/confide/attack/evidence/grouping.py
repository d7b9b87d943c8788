"""Which rows belong to one unit: a household seen in several quarters, the persons of a household."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from confide.attack.intruder import Intruder
from confide.core.errors import InputError, did_you_mean, raise_all
from confide.frames.columns import I64
from confide.frames.units import unit_numbers

if TYPE_CHECKING:
    from confide.protect.release import Release

FEWEST = 10
"""Units below which, and rows per unit from which on, a column is refused that is said to number units."""


@dataclass(frozen=True, eq=False)
class Grouping:
    """The unit of every row, as a number below `n` that is the same in both files: `original`, `released`.

    `shown`: whether the release holds a pseudonym by which anybody can tell the rows of one unit.
    """

    name: str
    original: I64
    released: I64
    n: int
    shown: bool

    def __repr__(self) -> str:
        return f"Grouping: {len(np.unique(self.released)):,} units of {len(self.released):,} released rows"

    @property
    def several(self) -> bool:
        """Whether some unit has several rows."""
        return len(np.unique(self.original)) < len(self.original)

    def own(self, truth: I64, own_row: I64) -> I64:
        """The unit of each target, by its original row; -1 where no row of it was released, -2 where unknown."""
        there = np.zeros(self.n, dtype=bool)
        there[self.released] = True
        code = self.original[np.maximum(truth, 0)]
        return np.where((truth >= 0) & (own_row > -2), np.where(there[code], code, -1), own_row)


def unit_of(intruder: Intruder, release: Release) -> str | None:
    """The name of what the rows belong to: as the intruder states it, else as the plan does."""
    return intruder.unit or (None if release.plan is None else release.plan.unit)


def grouping(intruder: Intruder, release: Release) -> Grouping | None:
    """The units of a release, None where nobody states any."""
    name = unit_of(intruder, release)
    if name is None:
        return None
    shown = name in release.public_variables and release.plan is not None and release.plan.unit == name
    original, n = unit_numbers(release.original.get_column(name)), release.original.height
    if release.link is not None:
        return Grouping(name, original, original[release.link], n, shown)
    if name not in release.public_variables:
        raise InputError(
            f'unit: it is not known which released rows are of one "{name}"; give link= to Release.adopt, or release '
            "a pseudonym."
        )
    released = unit_numbers(release.frame.get_column(name)) + n
    return Grouping(name, original, released, n + len(released), True)


def check_unit(intruder: Intruder, release: Release, copies: bool) -> None:
    """Refuse what cannot be said of units."""
    name = unit_of(intruder, release)
    if name is None:
        return
    problems = []
    if name not in release.original.columns:
        problems.append(f'unit: the original has no column "{name}".{did_you_mean(name, release.original.columns)}')
    else:
        problems += _too_few(release, name)
    if name in (*intruder.knows, *intruder.between):
        problems.append(f'knows: "{name}" says which rows belong together; whoever knows it is not looking for it.')
    if copies:
        problems.append("unit: several copies are not yet attacked by unit; attack one copy, as copies[0].")
    if not isinstance(intruder.membership, str):
        problems.append('unit: membership is "certain" or "in_file"; populations of units are not understood yet.')
    if intruder.membership == "in_file" and _splits_units(release):
        problems.append(
            'unit: the plan leaves out single rows of units, so membership="in_file" cannot be said of a unit; let the '
            'step choose whole units (per="unit"), or use membership="certain".'
        )
    raise_all(problems)


def _too_few(release: Release, name: str) -> list[str]:
    """A column that puts a whole file into a handful of units is not the one that says which rows belong together."""
    if not isinstance(release.original, pl.DataFrame):
        return []  # of a file on disk it is asked when it is read
    return too_few_units(name, release.original.height, release.original.get_column(name).n_unique())


def too_few_units(name: str, rows: int, n: int) -> list[str]:
    """The same, of so many units."""
    if n >= FEWEST or rows < FEWEST * n:
        return []
    return [f'unit: "{name}" puts {rows:,} rows into {n} units. Name the column that numbers households or persons.']


def _splits_units(release: Release) -> bool:
    steps = () if release.plan is None else release.plan.parts
    return any(s.selects and not s.per_unit for s in steps)
