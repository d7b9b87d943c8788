"""Which records a release altered; and both files as if a few people had been left alone, or had not been asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from polars.exceptions import PolarsError

from confide.frames.columns import F64, I64, Bools, decode
from confide.measure.utility.pair import Pair
from confide.protect.release import Release


@dataclass(frozen=True, eq=False)
class Altered:
    """Of one variable: the original rows that differ in the release, those that moved furthest first.

    `rows`: original rows, shape (k,). `beside`: the released row of each. Without a link nobody can say which record
    became which: all rows count, the furthest from the middle first, and `beside` is None.
    """

    variable: str
    rows: I64
    beside: I64 | None

    @classmethod
    def of(cls, pair: Pair, variable: str) -> Altered:
        """Compare a variable of both files, row by row."""
        before = pair.original.get_column(variable)
        if pair.link is None:
            order = np.argsort(-_unlikely(pair, variable), kind="stable")
            return cls(variable, order, None)
        was, now = before.gather(pair.link), pair.released.get_column(variable)
        differ, size = _moved(was, now)
        moved = np.where(differ, size * pair.weights(0)[pair.link], -1.0)
        order = np.argsort(-moved, kind="stable")[: int(differ.sum())]
        return cls(variable, pair.link[order], order)

    def undone(self, pair: Pair, most: int) -> Pair:
        """The pair with an original in which the first `most` rows have their released value.

        Where the release has no value of that kind, or nobody knows which it is: the commonest value, for numbers
        without a link the value of the next row in line.
        """
        v, rows = self.variable, self.rows[:most]
        column = _replaced(pair.original.get_column(v), rows, self._instead(pair, most))
        kinds = {**pair.kinds, v: pair.kind(v)}
        return replace(pair, before=pair.before.replaced(column), kinds=kinds, reads=set())

    def _instead(self, pair: Pair, most: int) -> pl.Series:
        was = pair.original.get_column(self.variable)
        if self.beside is not None:
            found = _like(self._now(pair, self.beside[:most]), was.dtype)
            if found is not None:
                return found
        elif _number(was.dtype) and len(self.rows) > most:
            return was.gather([int(self.rows[most])] * most)
        common = was.drop_nulls().mode().sort()
        return common.gather([0] * min(most, len(self.rows)))

    def _now(self, pair: Pair, rows: I64) -> pl.Series:
        """Released values; of a recoded variable the numbers or categories of the original that they stand for."""
        v, coarse = self.variable, pair.coarse.get(self.variable)
        if coarse is None:
            return pair.released.get_column(v).gather(rows)
        if coarse.column.kind == "numeric":
            return pl.Series(v, pair.numbers(v, 1)[rows])
        released = pair.after.like(v, coarse.image).take(rows)
        return decode(coarse.column.with_values(coarse.usual(released)))


def unreleased(pair: Pair) -> I64:
    """Original rows that the release leaves out; none where nobody knows which record became which."""
    if pair.link is None:
        return np.zeros(0, dtype=np.int64)
    return rest(pair.original.height, pair.link)


def rest(n: int, rows: I64) -> I64:
    """Rows 0 to n - 1 without some."""
    there = np.ones(n, dtype=bool)
    there[rows] = False
    return np.flatnonzero(there)


def oddest(pair: Pair, among: I64, variables: Sequence[str], most: int) -> I64:
    """Of some original rows, the `most` whose numbers are furthest out, and as many whose categories are rarest."""
    far, rare = np.zeros(len(among)), np.zeros(len(among))
    for v in variables:
        odd = _unlikely(pair, v)
        if _number(pair.before.types[v]):
            far = np.maximum(far, odd[among] / (odd.std() or 1.0))
        else:
            rare += odd[among]
    w = pair.weights(0)[among]
    found = [among[_largest(x * w, most)] for x in (far, rare) if x.any()]
    return np.unique(np.concatenate([np.zeros(0, dtype=np.int64), *found]))


def without(pair: Pair, rows: I64) -> Pair:
    """The pair as if some people had never been asked: without their rows in either file."""
    assert pair.link is not None
    kept = rest(pair.original.height, rows)
    place = np.full(pair.original.height, -1, dtype=np.int64)
    place[kept] = np.arange(len(kept))
    there = place[pair.link] >= 0
    return replace(
        pair, before=pair.before.taken(kept), after=pair.after.taken(np.flatnonzero(there)),
        link=place[pair.link][there],
        kinds={**pair.kinds, **{v: pair.kind(v) for v in (*pair.shared, *pair.compared)}}, reads=set(),
    )  # fmt: skip


def treated(release: Release) -> set[str]:
    """The variables that the plan may alter; all, where nobody knows the plan."""
    if release.plan is None or release.compiled is None:
        return set(release.frame.columns)
    named = {v for part in release.plan.parts for v in part.variables}
    return (named | set(release.compiled.ways)) & set(release.frame.columns)


def _moved(was: pl.Series, now: pl.Series) -> tuple[Bools, F64]:
    """Which values differ, and how far: numbers by their distance, a category by how rare it was."""
    if _number(was.dtype) and _number(now.dtype):
        same_type = was.dtype == now.dtype
        a, b = (s.to_physical().cast(pl.Float64) for s in (was, now))
        differ = (was.ne_missing(now) if same_type else a.ne_missing(b)).to_numpy()
        far = (a - b).abs().fill_null(float("inf")).fill_nan(float("inf")).to_numpy()
        return differ, np.where(differ, far, 0.0)
    text = was.cast(pl.String)
    return text.ne_missing(now.cast(pl.String)).to_numpy(), _rarity(text)


def _largest(x: F64, most: int) -> I64:
    """Places of the largest numbers, largest first; of equal ones those that come first."""
    least = np.partition(x, -most)[-most] if len(x) > most else -np.inf
    there = np.flatnonzero(x >= least)
    return there[np.argsort(-x[there], kind="stable")[:most]]


def _unlikely(pair: Pair, variable: str) -> F64:
    """How far a number is from the middle, how rare a category is."""
    values = pair.original.get_column(variable)
    if not _number(values.dtype):
        codes = pair.before.column(variable, "categorical").values + 1
        return np.asarray(1.0 / np.bincount(codes)[codes])
    x = values.to_physical().cast(pl.Float64).fill_nan(None)
    return (x - (x.median() or 0.0)).abs().fill_null(0.0).to_numpy()


def _rarity(text: pl.Series) -> F64:
    many = text.alias("t").to_frame().select(pl.len().over("t"))["len"].to_numpy()
    return np.asarray(1.0 / many)


def _number(dtype: pl.DataType) -> bool:
    return dtype.is_numeric() or dtype.is_temporal()


def _like(values: pl.Series, dtype: pl.DataType) -> pl.Series | None:
    """Released values in the type of the original; None where it cannot hold them."""
    try:
        if dtype.is_integer() and values.dtype.is_float():
            return values.fill_nan(None).round().cast(dtype, strict=False)
        return values.cast(dtype) if dtype == values.dtype or not _number(dtype) or _number(values.dtype) else None
    except PolarsError:
        return None


def _replaced(column: pl.Series, rows: I64, by: pl.Series) -> pl.Series:
    """A column with other values in some rows, of whatever type."""
    at = np.arange(len(column))
    at[rows] = len(column) + np.arange(len(rows))
    return pl.concat([column, by.alias(column.name).cast(column.dtype)]).gather(at)
