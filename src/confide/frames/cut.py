"""Groups of values that can be named: categories as they are, numbers in ranges that hold enough people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import polars as pl

from confide.frames.columns import F64, I64
from confide.frames.types.exact import exact

MOST_LEVELS = 20
FEWEST = 10
"""People that a range of numbers holds at least, so that its ends say nothing of one of them."""
SPIKE = 0.1
"""The share from which a value that many people have, such as zero, is a group of its own."""
MISSING, OTHER, MANY = "(missing)", "(other)", "(the commonest number)"


@dataclass(frozen=True, eq=False)
class Cut:
    """How the values of one variable are put into groups, here and in other files.

    `names`: of the groups; the last is of missing values. `ends`: upper ends of ranges of numbers, `often` a number
    that is a group of its own; both None for categories.

    >>> Cut.of(pl.Series(["a", "b", None])).names
    ('a', 'b', '(other)', '(missing)')
    """

    names: tuple[str, ...]
    ends: F64 | None = None
    often: float | None = None

    @classmethod
    def of(cls, values: pl.Series, categories: bool = False, people: F64 | None = None) -> Cut:
        """Groups that suit the values: categories, at most 20 of them, or about five ranges of numbers. `categories`:
        numbers are codes, and no ranges are made of them. `people`: of numbers, how many have each (None: one)."""
        numbers = None if categories else _numbers(values)
        if numbers is not None and numbers.n_unique() > MOST_LEVELS:
            there = numbers.is_not_null().to_numpy()
            return cls._ranges(numbers.drop_nulls().to_numpy(), None if people is None else people[there])
        text = _text(values)
        enum = isinstance(values.dtype, pl.Enum)
        listed = values.dtype.categories.to_list() if enum else sorted(text.unique().to_list())  # type: ignore[attr-defined]
        names = [n for n in listed if n not in (MISSING, OTHER)]
        if len(names) > MOST_LEVELS:
            common = text.value_counts(name="people").sort(["people", "text"], descending=[True, False])["text"]
            keep = set([n for n in common.to_list() if n in set(names)][:MOST_LEVELS])
            names = [n for n in names if n in keep]
        return cls((*names, OTHER, MISSING))

    @classmethod
    def _ranges(cls, x: F64, people: F64 | None) -> Cut:
        """About five ranges of about as many people; a value that many have is a group of its own."""
        distinct, of = np.unique(x, return_inverse=True)
        count = np.bincount(of, people).astype(np.float64)
        often = float(distinct[count.argmax()]) if count.max() >= SPIKE * count.sum() else None
        rest = np.ones(len(distinct), dtype=bool) if often is None else distinct != often
        cuts = _ends(distinct[rest], count[rest])
        ends = [_said(c) for c in cuts]
        ranges = (
            [f"up to {ends[0]}", *(f"over {a} to {b}" for a, b in pairwise(ends)), f"over {ends[-1]}"]
            if ends
            else ["all"]
        )
        return cls((*ranges, "zero" if often == 0 else MANY, MISSING), cuts, often)

    def codes(self, values: pl.Series) -> I64:
        """The group of each value, also of another file with the same variable."""
        if self.ends is None:
            places = {n: i for i, n in enumerate(self.names)}
            found = _text(values).replace_strict(places, default=places[OTHER], return_dtype=pl.Int64)
            return found.to_numpy()
        x = values.cast(pl.Float64).fill_null(np.nan).to_numpy()
        at = np.where(x == self.often, len(self.names) - 2, np.searchsorted(self.ends, x, side="left"))
        return np.where(np.isnan(x), len(self.names) - 1, at)

    def counts(self, values: pl.Series) -> list[tuple[str, int]]:
        """How many values each group has."""
        many = np.bincount(self.codes(values), minlength=len(self.names))
        return list(zip(self.names, many.tolist(), strict=True))


def why_no_groups(values: pl.Series, people: int | None = None) -> str:
    """Why the values of a column make no groups of people, as the end of a sentence; empty where they do. `people`: how
    many there are (None: one for each value).

    >>> why_no_groups(pl.Series(["f", "m"] * 30)), why_no_groups(pl.Series([f"P{i}" for i in range(60)]))[:41]
    ('', 'has 60 different values among 60 people, ')
    """
    if values.dtype.is_nested() or values.dtype in (pl.Binary, pl.Object):
        return f"holds {values.dtype}, which makes no groups."
    n, distinct = len(values) if people is None else people, values.n_unique()
    if distinct <= max(MOST_LEVELS, n / 3):
        return ""
    numbers = _numbers(values)
    if numbers is None:
        return (
            f"has {distinct:,} different values among {n:,} people, so that nearly everybody would be a group alone. "
            "Name a variable that many people share, or recode this one first."
        )
    x = numbers.drop_nulls().to_numpy()
    counts = values.dtype.is_integer() and distinct == n == len(x) and x.max() - x.min() == n - 1
    return "numbers the rows, which makes no groups: name a variable that many people share." if counts else ""


def _numbers(values: pl.Series) -> pl.Series | None:
    """The values as numbers, if that is what they are."""
    return values.cast(pl.Float64).fill_nan(None) if values.dtype.is_numeric() and exact(values) else None


def _text(values: pl.Series) -> pl.Series:
    numbers = _numbers(values)
    return (values if numbers is None else numbers.cast(values.dtype)).cast(pl.String).fill_null(MISSING).alias("text")


def _ends(x: F64, count: F64) -> F64:
    """Fifths, moved to numbers of two digits; those that leave fewer than FEWEST people in a range are left out. `x`:
    different values, rising; `count`: people who have each."""
    total = np.cumsum(count)
    if not len(x) or total[-1] < 2 * FEWEST:
        return np.zeros(0)
    found: list[float] = []
    before = 0.0
    for cut in sorted({float(f"{q:.2g}") for q in quantiles(x, count, [0.2, 0.4, 0.6, 0.8])}):
        at = int(np.searchsorted(x, cut, side="right"))
        below = total[at - 1] if at else 0.0
        if below - before >= FEWEST and total[-1] - below >= FEWEST:
            found.append(cut)
            before = below
    return np.asarray(found)


def quantiles(x: F64, count: F64, shares: Sequence[float]) -> F64:
    """Quantiles of numbers, of which each is there so often; `x` rises. As NumPy gives them of all one by one.

    >>> quantiles(np.array([1.0, 5.0]), np.array([3.0, 1.0]), [0.5, 0.9]), np.quantile([1, 1, 1, 5], [0.5, 0.9])
    (array([1. , 3.8]), array([1. , 3.8]))
    """
    total = np.cumsum(count)
    place = (total[-1] - 1) * np.asarray(shares)
    low = np.floor(place)
    a, b = (x[np.minimum(np.searchsorted(total, k, side="right"), len(x) - 1)] for k in (low, low + 1))
    share = place - low
    return np.asarray(np.where(share >= 0.5, b - (b - a) * (1 - share), a + (b - a) * share))


def _said(cut: float) -> str:
    return f"{cut:,.0f}" if abs(cut) >= 10 or cut == 0 else f"{cut:.2g}"
