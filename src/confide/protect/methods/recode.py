"""Recode: release broader categories."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import polars as pl

from confide.core.checks import finite, positive
from confide.core.errors import InputError, Problems
from confide.frames.columns import F64, Column, Kind, Records
from confide.frames.types.exact import blurred, near_whole, number_text
from confide.protect.seam.coarsening import Chain, Coarsening
from confide.protect.seam.mechanism import CoarseningMethod, Name, registered
from confide.protect.shared.stated_values import not_there


@registered
@dataclass(frozen=True)
class Recode(CoarseningMethod):
    """Release a variable in broader categories, such as ages in fives or regions for states.

    Give one of `width` (equal intervals that start at `start`), `breaks` (the lower ends of the categories; below
    the first and from the last upwards are categories of their own) or `mapping` (old value to new; values that
    are not named stay). Missing values stay missing.

    The evidence is certain: a released category rules out every target whose own category differs.

    >>> import confide as cf
    >>> cf.Recode("age", width=5)
    Recode(variables=('age',), width=5, breaks=None, mapping=None, start=0, labels=None)
    """

    variables: Name
    width: float | None = None
    breaks: Sequence[float] | None = None
    mapping: Mapping[Any, Any] | None = field(default=None, hash=False)
    start: float = 0
    labels: Sequence[str] | None = None

    method: ClassVar[str] = "recode"

    def __post_init__(self) -> None:
        given = [n for n in ("width", "breaks", "mapping") if getattr(self, n) is not None]
        where, problems = self.where, Problems()
        problems.when(len(given) != 1, f"{where} takes exactly one of width, breaks and mapping, not {len(given)}.")
        if self.width is not None:
            with problems:
                positive(self.width, f"{where}: width")
            with problems:
                finite(self.start, f"{where}: start")
        if self.breaks is not None:
            with problems:
                self._check_breaks()
        problems.when(self.labels is not None and self.breaks is None, f"{where}: labels go with breaks.")
        problems.when(self.mapping is not None and not self.mapping, f"{where}: mapping is empty.")
        nowhere = self.mapping is not None and any(v is None for v in self.mapping.values())
        problems.when(nowhere, f'{where}: mapping leads to None; name the category, for instance "not stated".')
        problems.tell()

    def _check_breaks(self) -> None:
        where = self.where
        cuts = [finite(b, f"{where}: a break") for b in self.breaks or ()]
        if not cuts or sorted(set(cuts)) != cuts:
            raise InputError(f"{where}: breaks must be one or more rising numbers.")
        object.__setattr__(self, "breaks", tuple(self.breaks or ()))
        if self.labels is not None:
            if len(self.labels) != len(cuts) + 1:
                raise InputError(
                    f"{where}: {len(cuts)} breaks make {len(cuts) + 1} categories, not {len(self.labels)}."
                )
            object.__setattr__(self, "labels", tuple(self.labels))

    def kinds(self) -> Mapping[str, Kind]:
        return {self.variable: "categorical" if self.mapping is not None else "numeric"}

    def fit(self, original: Records, current: Records, after: Mapping[str, Chain]) -> _Intervals | _Mapping:  # noqa: ARG002
        column = current[self.variable]
        if self.mapping is not None:
            wrong = not_there(self.mapping, column.levels)
            if wrong:
                raise InputError(f"{self.where}: {wrong.format('keys of the mapping')}")
            return _Mapping(self)
        return _Intervals(self)


@dataclass(frozen=True, eq=False)
class _Categories(Coarsening):
    """Values to categories, after which no numeric step can follow."""

    recode: Recode

    def back(self, low: F64, high: F64) -> tuple[F64, F64]:  # noqa: ARG002 - nothing numeric comes out
        raise InputError(f"{self.recode.where} makes categories; a numeric step cannot follow it.")


@dataclass(frozen=True, eq=False)
class _Intervals(_Categories):
    """Numbers to intervals [low, high)."""

    def _edges(self, bins: F64) -> tuple[F64, F64]:
        if self.recode.width is not None:
            low = self.recode.start + bins * self.recode.width
            return low, low + self.recode.width
        cuts = np.concatenate([[-np.inf], np.asarray(self.recode.breaks, dtype=float), [np.inf]])
        at = bins.astype(int)
        return cuts[at], cuts[at + 1]

    def _bins(self, values: F64) -> F64:
        if self.recode.width is not None:
            return np.floor(near_whole((values - self.recode.start) / self.recode.width))
        found = np.searchsorted(np.asarray(self.recode.breaks, dtype=float), values, side="right").astype(float)
        return np.where(np.isnan(values), np.nan, found)

    def _names(self, bins: F64, step: float) -> tuple[str, ...]:
        if self.recode.labels is not None:
            return tuple(str(self.recode.labels[int(b)]) for b in bins)
        low, high = self._edges(bins)
        gap = self.recode.width or min(np.diff(self.recode.breaks or ()), default=1.0)
        return tuple(_name(a, b, step, gap * 1e-6) for a, b in zip(low, high, strict=True))

    def image(self, column: Column) -> Column:
        bins = self._bins(column.values)
        special = np.isin(column.values, column.special) if column.special else np.zeros(len(bins), dtype=bool)
        present = ~np.isnan(bins) & ~special
        first, last = (bins[present].min(), bins[present].max()) if present.any() else (0.0, -1.0)
        if last - first > 100_000:
            raise InputError(f'Recode("{column.name}"): width makes over 100,000 categories; give a larger width.')
        all_bins = first + np.arange(last - first + 1)
        names = self._names(all_bins, column.step)
        codes = np.full(len(bins), -1, dtype=np.int64)
        codes[present] = (bins[present] - first).astype(np.int64)
        for s in column.special:  # an answer code stays a category of its own
            codes[column.values == s] = len(names)
            names = (*names, f"answer {s:.15g}")
        return Column(column.name, "categorical", codes, pl.Enum(names), names, why="recoded")

    def cells(self, column: Column) -> tuple[F64, F64]:
        """Name are made here, so they are read back here; an answer code has no interval."""
        read = self._read_break if self.recode.breaks is not None else self._read_width
        table = np.array([*(read(str(name)) for name in column.levels), (np.nan, np.nan)])
        return table[column.values, 0], table[column.values, 1]

    def _read_break(self, name: str) -> tuple[float, float]:
        bins = np.arange(len(self.recode.breaks or ()) + 1, dtype=float)
        for step in (1.0, 0.0):
            names = self._names(bins, step)
            if name in names:
                low, high = self._edges(bins)
                return float(low[names.index(name)]), float(high[names.index(name)])
        return np.nan, np.nan

    def _read_width(self, name: str) -> tuple[float, float]:
        found = re.match(r"\[?(-?[0-9.e+-]+)", name)
        if found is None or self.recode.width is None:
            return np.nan, np.nan
        low, high = self._edges(self._bins(np.array([float(found[1]) + self.recode.width / 2])))
        return float(low[0]), float(high[0])


def _name(low: float, high: float, step: float, within: float) -> str:
    if np.isinf(low):
        return f"under {number_text(high, within)}"
    if np.isinf(high):
        return f"{number_text(low, within)} and over"
    if step == 1.0 and float(low).is_integer() and float(high).is_integer():
        return f"{low:.0f}" if high - low == 1 else f"{low:.0f} to {high - 1:.0f}"
    return f"[{number_text(low, within)}, {number_text(high, within)})"


@dataclass(frozen=True, eq=False)
class _Mapping(_Categories):
    """Categories to broader categories, by name."""

    def image(self, column: Column) -> Column:
        assert self.recode.mapping is not None
        new = [self.recode.mapping.get(level, level) for level in column.levels]
        text = any(isinstance(v, str) for v in new)
        mixed = not text and any(isinstance(v, float) for v in new)
        if mixed and any(blurred(v) for v in new):
            raise InputError(
                f'Recode("{column.name}"): the mapping leads to numbers with a decimal point beside values of the '
                "column that have too many digits for them; lead to whole numbers or to words."
            )
        values = [str(v) for v in new] if text else [float(v) for v in new] if mixed else new
        names = tuple(dict.fromkeys(values))  # first appearance keeps the order of the code list
        place = {v: i for i, v in enumerate(names)}
        table = np.array([place[v] for v in values] + [-1], dtype=np.int64)
        dtype: pl.DataType = pl.Enum(names) if text else pl.Series(list(names)).dtype
        return Column(column.name, "categorical", table[column.values], dtype, names, why="recoded")

    def cells(self, column: Column) -> tuple[F64, F64]:
        raise InputError(f'"{column.name}" is recoded by a mapping: knowledge of it must be a value, not an interval.')
