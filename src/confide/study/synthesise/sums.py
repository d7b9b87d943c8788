"""Sums that a file keeps in every row: total = a + b + ..., found by one random number per variable.

With w a random vector, total = a + b in all rows gives w'total = w'a + w'b; and where these numbers agree, the rows do,
but for a coincidence that has probability zero and is looked for row by row. So a search over combinations compares
numbers, not columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

import numpy as np

from confide.frames.columns import F64, Column, Records
from confide.protect.shared.rules import Sum, named

MOST = 40
"""Variables among which sums are sought."""
PARTS = 5
"""Parts of the longest sum, one fewer where variables are more than `FEW`."""
FEW = 25
SUPPORT = 10
"""Rows in which each part must be other than zero."""
CLOSE = 1e-9


def sums_in(records: Records, stated: Sequence[Sum] = ()) -> tuple[Sum, ...]:
    """Sums that all rows keep, short ones first; no variable is the total of two, and none is a part of itself, also
    with the sums that somebody `stated`.

    >>> import polars as pl
    >>> from confide.frames.encoded import Encoded
    >>> f = pl.DataFrame({"a": range(1, 60), "b": [k * k for k in range(1, 60)]})
    >>> f = f.with_columns(t=pl.col("a") + pl.col("b"))
    >>> [s.text for s in sums_in(Encoded(f).records(f.columns, {}))]
    ['t = a + b']
    """
    numbers = dict(list(_numbers(records).items())[:MOST])
    if len(numbers) < 2:
        return ()
    there = ~np.isnan(np.stack(list(numbers.values())))
    whole = there.all(axis=0)
    if whole.sum() < SUPPORT:
        return ()
    w = np.random.default_rng(20_240_917).standard_normal(int(whole.sum()))
    size = {v: float(np.abs(w) @ np.abs(x[whole])) for v, x in numbers.items()}
    key = {v: float(w @ x[whole]) for v, x in numbers.items()}
    found = {s.total: s for s in stated}
    for total, parts in _candidates(key, size):
        if total in found or _reaches(found, parts, total) or not _kept(numbers, total, parts):
            continue
        made = _signed(numbers, found, total, parts)
        found[made.total] = made
    return tuple(found.values())[len(stated) :]


def _numbers(records: Records) -> dict[str, F64]:
    """Quantities that may be parts of sums: numbers without answer codes that are not the same in all rows."""
    out = {}
    for v, column in records.items():
        values = _quantity(column)
        if values is None or not named(v) or (np.nan_to_num(values) != 0).sum() < SUPPORT:
            continue
        if np.nanmin(values) < np.nanmax(values):
            out[v] = values
    return out


def _quantity(column: Column) -> F64 | None:
    if column.kind == "numeric":
        return None if column.special or column.dtype.is_temporal() else np.asarray(column.values)
    if not column.dtype.is_integer() or column.why == "value labels":
        return None
    return np.asarray(np.array([*(float(x) for x in column.levels), np.nan])[column.values])


def _candidates(key: Mapping[str, float], size: Mapping[str, float]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Totals and parts whose numbers agree, fewest parts first."""
    names = list(key)
    for many in range(1, (PARTS if len(names) <= FEW else PARTS - 1) + 1):
        left, right = (many + 1) // 2, many // 2
        sums = sorted((sum(key[v] for v in c), c) for c in combinations(names, left))
        at = np.array([s for s, _ in sums])
        for total in names:
            for c in combinations([v for v in names if v != total], right):
                gap = key[total] - sum(key[v] for v in c)
                close = CLOSE * (size[total] + 1)
                for k in range(*np.searchsorted(at, [gap - close, gap + close])):
                    parts = {*sums[k][1], *c}
                    if len(parts) == many and total not in parts:
                        yield total, tuple(v for v in names if v in parts)


def _reaches(found: Mapping[str, Sum], parts: tuple[str, ...], total: str) -> bool:
    """Whether a part is itself made, in the end, of the total; or all of the sum is known from shorter ones."""
    below = set(parts)
    while more := {p for v in below if v in found for p in (*found[v].plus, *found[v].minus)} - below:
        below |= more
    return total in below


def _signed(numbers: Mapping[str, F64], found: Mapping[str, Sum], total: str, parts: tuple[str, ...]) -> Sum:
    """A sum, solved for the part that may be negative where one alone may and the total never is: costs and profit that
    were drawn could make a revenue below zero, and a profit is what is left of the two others."""
    below = [v for v in (*parts, total) if float(np.nanmin(numbers[v])) < 0]
    if len(below) == 1 and below != [total] and below[0] not in found:
        left = below[0]
        minus = tuple(v for v in parts if v != left)
        gone = np.isnan(np.stack([numbers[v] for v in (total, *minus)])).any(axis=0)
        if not _reaches(found, (total, *minus), left) and bool((gone == np.isnan(numbers[left])).all()):
            words = " - ".join(named(v) for v in (total, *minus))
            return Sum(f"{named(left)} = {words}", left, (total,), minus)
    return Sum(f"{named(total)} = {' + '.join(named(v) for v in parts)}", total, parts)


def _kept(numbers: Mapping[str, F64], total: str, parts: tuple[str, ...]) -> bool:
    """Whether all rows keep a sum, and the total is missing where a part is."""
    made = np.sum([numbers[v] for v in parts], axis=0)
    y = numbers[total]
    close = np.abs(y - made) <= CLOSE * (1 + np.nanmax(np.abs(np.stack([numbers[v] for v in (total, *parts)]))))
    if not bool((close | (np.isnan(y) & np.isnan(made))).all()):
        return False
    present = ~np.isnan(made)
    return all(int((numbers[v][present] != 0).sum()) >= SUPPORT for v in parts)
