"""Distinct values with counts, gathered batch by batch; of long lists of numbers only what encoding them asks for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np
import polars as pl

from confide.core.errors import InputError
from confide.frames.columns import Column, Kind
from confide.frames.types.exact import SHORT, exact, precision, to_floats, why_not

PENDING = 2_000_000
"""Distinct values of batches that are held before they are added up."""


class Facts:
    """What encoding a number asks of all its values, whatever they are: its precision, whether float64 holds it, and
    infinite ones. Those of parts are merged."""

    def __init__(self) -> None:
        self.precision, self.top, self.infinite, self.blurred = 1.0, 0.0, 0, ""

    def add(self, s: pl.Series) -> None:
        """More values of the variable."""
        if not exact(s):
            self.blurred = why_not(s)
            return
        values, step = to_floats(s)
        self.infinite += int(np.isinf(values).sum())
        if s.dtype in SHORT:
            self.top = max(self.top, float(np.nanmax(np.abs(values), initial=0.0)))
            step = precision(values)
        self.precision = min(self.precision, step)

    def merge(self, other: Facts) -> None:
        """What is known of another part."""
        self.precision, self.top = min(self.precision, other.precision), max(self.top, other.top)
        self.infinite, self.blurred = self.infinite + other.infinite, self.blurred or other.blurred

    def settled(self, column: Column) -> Column:
        """A variable of which some values are known, in the precision of all."""
        if self.infinite:
            raise InputError(
                f'Column "{column.name}" holds {self.infinite} infinite values: make them missing or give numbers.'
            )
        if self.blurred:
            raise InputError(self.blurred)
        short = column.dtype in SHORT
        gap = np.finfo(np.float32 if column.dtype == pl.Float32 else np.float16).eps * self.top if short else 0.0
        return replace(column, step=self.precision if self.precision >= gap else 0.0)


class Tallies:
    """Distinct values with counts, while they are being gathered; those of two parts are merged by adding.

    `brief`: numbers of which no more than `most` values are kept, uncounted, with `facts` of all of them.

    >>> one, two = Tallies(["a"]), Tallies(["a"])
    >>> one.add(pl.DataFrame({"a": [1, 2, 2]}))
    >>> two.add(pl.DataFrame({"a": [2, None]}))
    >>> one.merge(two)
    >>> one.found("a").sort("a").rows()
    [(None, 1), (1, 1), (2, 3)]
    """

    def __init__(self, names: Iterable[str], brief: Iterable[str] = (), most: int | None = None) -> None:
        self._held: dict[str, list[pl.DataFrame]] = {v: [] for v in names}
        self._facts = {v: Facts() for v in brief}
        self.facts: dict[str, Facts] = {}
        self.most, self.rows = most, 0

    def add(self, batch: pl.DataFrame) -> None:
        """The rows of one more batch."""
        self.rows += batch.height
        for v, held in self._held.items():
            s = batch.get_column(v)
            s = s.fill_nan(None) if s.dtype.is_float() else s
            if v in self._facts:
                self._facts[v].add(s)
            if v not in self.facts:
                held.append(s.to_frame().group_by(v).len("n"))
                self._settle(v)

    def over(self, batches: Iterable[tuple[int, pl.DataFrame]]) -> Tallies:
        """Itself, after all batches of a scan."""
        for _, batch in batches:
            self.add(batch)
        return self

    def merge(self, other: Tallies) -> None:
        """What another part counted."""
        self.rows += other.rows
        for v, facts in self._facts.items():
            facts.merge(other._facts[v])
        for v, held in self._held.items():
            held.extend(other._held[v])
            self._settle(v)
            if v in other.facts:
                self._shorten(v)

    def blurred(self, kinds: Mapping[str, Kind]) -> bool:
        """Whether a number of which only some values were kept turned out to be none: all of them are categories."""
        return any(f.blurred and kinds.get(v) != "numeric" for v, f in self.facts.items())

    def _settle(self, v: str, least: int = PENDING) -> None:
        held = self._held[v]
        if len(held) > 1 and sum(f.height for f in held[1:]) > max(least, held[0].height):
            self._held[v] = [pl.concat(held).group_by(v).agg(pl.col("n").sum())]
        if v in self._facts and self.most is not None and max(f.height for f in self._held[v]) > self.most:
            self._shorten(v)

    def _shorten(self, v: str) -> None:
        """Keep some values of a number that has many."""
        self.facts[v] = self._facts[v]
        self._held[v] = [max(self._held[v], key=lambda f: f.height).head(self.most or 0)]

    def found(self, v: str) -> pl.DataFrame:
        """The distinct values of a variable, and "n", how many rows have each."""
        self._settle(v, 0)
        held = self._held[v]
        return pl.concat(held).group_by(v).agg(pl.col("n").sum()) if len(held) > 1 else held[0]
