"""What a plan does to each variable that it touches: shares of people before and after."""

from __future__ import annotations

from typing import Any

import polars as pl

from confide.frames.cut import FEWEST, OTHER, Cut
from confide.protect.release import Release

GONE = "(not released)"
Row = tuple[str, float | None, float]
"""A level, its share before and after."""


def distributions(release: Release) -> list[list[Any]]:
    """Rows of (variable, level, share before, share after) for what a plan alters, coarsens or leaves out.

    Numbers are counted in the ranges of `Groups`, in both files alike, codes that the plan names as categorical one by
    one; a number that is released as categories, in those (there is no share before). What fewer than `FEWEST` people
    have is not named.

    >>> import confide as cf
    >>> plan = cf.Plan([cf.Recode("age", breaks=[40])], identifiers=["id"], drop=["sex"])
    >>> rows = distributions(plan.protect(cf.demo("heads").head(300), seed=1))
    >>> [(v, level, after) for v, level, before, after in rows if v == "sex"]
    [('sex', 'male', 0.0), ('sex', 'female', 0.0), ('sex', '(not released)', 1.0)]
    """
    plan = release.plan
    assert plan is not None  # a study makes its releases itself
    touched = dict.fromkeys(v for step in plan.parts for v in step.variables)
    out: list[list[Any]] = []
    for v in (*touched, *plan.drop):
        if v not in release.original.columns or v in plan.identifiers:
            continue
        before = release.original.get_column(v)
        after = release.frame.get_column(v) if v in release.frame.columns else None
        out += [[v, *row] for row in _shares(before, after, v in plan.categorical)]
    return out


def _shares(before: pl.Series, after: pl.Series | None, codes: bool) -> list[Row]:
    cut = Cut.of(before, codes)
    if after is not None and after.dtype.is_numeric() != before.dtype.is_numeric():
        return _named([(level, None, n / len(after)) for level, n in Cut.of(after).counts(after)], len(after))
    first = cut.counts(before)
    if after is None:
        lost: list[Row] = [(level, n / len(before), 0.0) for level, n in first]
        return [*_named(lost, len(before)), (GONE, 0.0, 1.0)]
    second = dict(cut.counts(after))
    return _named([(level, n / len(before), second.get(level, 0) / len(after)) for level, n in first], len(before))


def _named(rows: list[Row], n: int) -> list[Row]:
    """Levels that fewer than `FEWEST` people have in either file, put together."""
    few = [max(b or 0.0, a) * n < FEWEST for _, b, a in rows]
    kept = [row for row, small in zip(rows, few, strict=True) if not small]
    rest = [row for row, small in zip(rows, few, strict=True) if small and (row[1] or row[2])]
    if not rest:
        return kept
    before = None if rest[0][1] is None else sum(b or 0.0 for _, b, _ in rest)
    return [*kept, (OTHER, before, sum(a for _, _, a in rest))]
