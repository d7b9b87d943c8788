"""How a target's known values are compared with released ones: coordinates of both, and what is said about them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
import polars as pl

from confide.core.errors import InputError, did_you_mean, raise_all
from confide.frames.columns import F64, Bools, Column, Records, codes_in

if TYPE_CHECKING:
    from confide.protect.release import Release

MISSING, NOWHERE = -1.0, -2.0
"""Codes of a missing released value, and of a known value that no released row has."""
MANY = 20
"""A value is a spike only where at least this many rows of each file have it; zero always is one."""


class Comparing(Protocol):
    """What a statement says about comparisons: the variables, their kinds where the type misleads, and which missing
    released values agree with everything."""

    @property
    def knows(self) -> str | Sequence[str]:
        """The known variables."""

    @property
    def wildcard(self) -> bool | Sequence[str]:
        """Where missing agrees with everything."""

    @property
    def numeric(self) -> str | Sequence[str]:
        """Variables that are numbers."""

    @property
    def categorical(self) -> str | Sequence[str]:
        """Variables that are categories."""


@dataclass(frozen=True, eq=False)
class Axis:
    """The comparisons of one known variable: a category, or a number with a label beside it.

    `released`: the released variable. `spikes`: values that are categories among the numbers. `wildcard`: a missing
    released value agrees with everything. `labelled`: whether there is a label, which tells numbers from spikes.
    """

    released: Column
    spikes: F64
    wildcard: bool
    labelled: bool
    why: str = ""

    @property
    def numeric(self) -> bool:
        """Whether values are compared as numbers."""
        return self.released.kind == "numeric"

    @property
    def kind(self) -> str:
        """Its kind and why, in words."""
        return f"{self.released.kind}, {self.why}" if self.why and self.why != "named" else self.released.kind

    def records(self) -> list[F64]:
        """The coordinates of released rows, one array per comparison."""
        gap = np.nan if self.wildcard else MISSING
        if not self.numeric:
            codes = codes_in(self.released, self.released).astype(np.float64)
            return [np.where(codes < 0, gap, codes)]
        return self._numbers(self.released.values, gap)

    def targets(self, known: Column) -> list[F64]:
        """The coordinates of targets; NaN where a value is missing, which means that it is not known."""
        if self.numeric:
            return self._numbers(known.values, np.nan)
        codes = codes_in(known, self.released).astype(np.float64)
        return [np.where(known.missing, np.nan, np.where(codes < 0, NOWHERE, codes))]

    def _numbers(self, values: F64, gap: float) -> list[F64]:
        at = np.searchsorted(self.spikes, values) if len(self.spikes) else np.zeros(len(values), dtype=np.int64)
        near = self.spikes[np.minimum(at, len(self.spikes) - 1)] if len(self.spikes) else np.full(len(values), np.nan)
        label = np.where(np.isnan(values), gap, np.where(near == values, at + 1.0, 0.0))
        plain = np.where(label == 0.0, values, np.nan)
        return [label, plain] if self.labelled else [plain]


@dataclass(frozen=True, eq=False)
class Compared:
    """All comparisons. `axes`: by variable; `categories`: which coordinates are categories, shape (d,); `of`: the
    variable of each coordinate; `points`: coordinates of released rows, shape (r, d); `notes`: what was left out."""

    axes: tuple[Axis, ...]
    categories: Bools
    of: tuple[str, ...]
    points: F64
    notes: tuple[str, ...]

    def targets(self, known: Records) -> F64:
        """Coordinates of targets, shape (n, d)."""
        return np.column_stack([c for axis in self.axes for c in axis.targets(known[axis.released.name])])

    @property
    def names(self) -> tuple[str, ...]:
        """The variables that are compared."""
        return tuple(axis.released.name for axis in self.axes)


def compare(release: Release, statement: Comparing, spikes: float | None, constant: bool) -> tuple[Compared, Records]:
    """The comparisons of the known variables, and the original's columns of them.

    `spikes`: the share of rows that makes a value a category; None for no spikes at all. `constant`: whether a variable
    with one released value still says something (in a radius it does, among distances it does not).
    """
    knows, wildcard = statement.knows, statement.wildcard
    check_known(release, knows)
    original, released = release.encoded(tuple(knows), statement.numeric, statement.categorical)
    raise_all(_strange(original[v], released[v]) for v in knows if _strange(original[v], released[v]))
    axes, notes = [], []
    for v in knows:
        column, before = released[v], original[v]
        if _constant(column) and not constant:
            notes.append(f'"{v}" has one released value: it tells no record from another, and is left out.')
            continue
        held = _spikes(before, column, spikes) if column.kind == "numeric" else np.empty(0)
        labelled = bool(len(held)) or bool(column.missing.any())
        axes.append(Axis(column, held, wildcard if isinstance(wildcard, bool) else v in wildcard, labelled, before.why))
    if not axes:
        raise InputError("Every known variable has one released value only: no record can be told from another.")
    return _compared(axes, notes), original


def _compared(axes: Sequence[Axis], notes: Sequence[str]) -> Compared:
    flags, of = [], []
    for axis in axes:
        mine = [True] * axis.labelled + [False] if axis.numeric else [True]
        flags += mine
        of += [axis.released.name] * len(mine)
    points = np.column_stack([c for axis in axes for c in axis.records()])
    return Compared(tuple(axes), np.array(flags), tuple(of), points, tuple(notes))


def _strange(original: Column, released: Column) -> str:
    """What is wrong where no released category is one of the original's; empty where nothing is."""
    if released.kind == "numeric" or bool((codes_in(released, original) >= 0).any()):
        return ""
    return (
        f'knows: no released value of "{released.name}" occurs in the original, so that nothing could match. Give both '
        "files the same categories, leave it out, or state the plan that recoded it."
    )


def _constant(column: Column) -> bool:
    there = column.values[~column.missing]
    return len(there) == 0 or (bool((there == there[0]).all()) and len(there) == len(column))


def _spikes(original: Column, released: Column, share: float | None) -> F64:
    """Zero, answer codes, and values that `share` of the rows have in both files, in rising order."""
    special = np.unique([*original.special, *released.special]).astype(np.float64)
    if share is None:
        return special
    common = np.intersect1d(_common(original, share), _common(released, share))
    zero = [] if released.dtype.is_temporal() else [0.0]
    return np.unique(np.concatenate([special, zero, common]))


def _common(column: Column, share: float) -> F64:
    values, count = np.unique(column.values[~column.missing], return_counts=True)
    return np.asarray(values[(count >= share * max(count.sum(), 1)) & (count >= MANY)], dtype=np.float64)


def check_known(release: Release, names: Sequence[str], what: str = "knows") -> None:
    """Refuse variables that one of the files lacks, and those without any value."""
    problems, y, z = [], release.original, release.frame
    shared = [v for v in y.columns if v in z.columns]
    if not shared:
        raise InputError("The original and the released file share no column; give them the same names.")
    for v in names:
        if v not in y.columns or v not in z.columns:
            where = "original" if v not in y.columns else "released"
            problems.append(f'{what}: there is no "{v}" in the {where} file.{did_you_mean(v, shared)}')
        elif without_value(release, v):
            problems.append(f'{what}: "{v}" has no value in one of the files: all are missing. Leave it out.')
    raise_all(problems)


def _empty(column: pl.Series) -> bool:
    values = column.fill_nan(None) if column.dtype.is_float() else column
    return values.null_count() == len(values)


def without_value(release: Release, name: str) -> bool:
    """Whether all values of a variable are missing in one of the files."""
    return any(_empty(file.get_column(name)) for file in (release.original, release.frame))
