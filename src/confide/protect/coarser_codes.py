"""Coarser forms of codes and dates: the first digits of an area or an industry, the month or the year of a day."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from confide.frames.columns import Column
from confide.frames.hierarchies.hierarchy import Hierarchy
from confide.protect.methods.recode import Recode

PERIODS = ("month", "quarter", "year", "decade")
FEW, SHORTEST = 5, 3
"""Values above which, and digits from which, first digits are tried."""
DAY = re.compile(r"^\s*(?:(\d{4})[-/.](\d{1,2})[-/.]\d{1,2}(?:[ T].*)?|\d{1,2}[-/.]\d{1,2}[-/.](\d{4}))\s*$")
"""Days as text: the year first, or last."""

Form = tuple[str, Recode]
"""Words, and the step for a plan."""


def date_forms(z: Column) -> Iterator[Form]:
    """Dates by ever longer periods, as long as there are several."""
    if z.dtype in (pl.Time, pl.Duration):
        return
    hierarchy = Hierarchy(dates=PERIODS)
    for level, period in enumerate(PERIODS, 1):
        yield f"{z.name} by {period}", Recode(z.name, hierarchy=hierarchy, level=level)


def code_forms(z: Column) -> Iterator[Form]:
    """Days that are text by month and year; codes by ever fewer of their first digits or letters. Nothing for names."""
    if len(z.levels) <= FEW or hasattr(z.dtype, "categories"):
        return
    made = list(_days(z.levels)) or list(_first(z.levels))
    best = {
        len(set(mapping.values())): (words, mapping) for words, mapping in made
    }  # of equal ones the last, the plainest
    for groups in sorted(best, reverse=True):
        words, mapping = best[groups]
        if 1 < groups < len(z.levels):
            yield f"{z.name} {words}", Recode(z.name, mapping=mapping)


def _days(levels: Sequence[Any]) -> Iterator[tuple[str, Mapping[Any, Any]]]:
    found = {v: DAY.match(v) if isinstance(v, str) else None for v in levels}
    if not all(found.values()):
        return
    parts = {v: (m[1] or m[3], m[2]) for v, m in found.items() if m is not None}
    if all(month for _, month in parts.values()):
        yield "by month", {v: f"{year}-{int(month):02d}" for v, (year, month) in parts.items()}
        yield "by quarter", {v: f"{year} Q{(int(month) + 2) // 3}" for v, (year, month) in parts.items()}
    yield "by year", {v: year for v, (year, _) in parts.items()}


def _first(levels: Sequence[Any]) -> Iterator[tuple[str, Mapping[Any, Any]]]:
    """First digits of numbers, of which leading zeros may be lost; first letters of text that has digits in it."""
    text = [str(int(v)) if isinstance(v, float) and v.is_integer() else str(v) for v in levels]
    lengths = [len(t) for t in text]
    whole = all(t.isdigit() for t in text)
    if max(lengths) < SHORTEST or not (whole or all(re.search(r"\d", t) for t in text)):
        return
    if whole and max(lengths) - min(lengths) > 1:
        return
    if not whole and not all(isinstance(v, str) for v in levels):
        return
    full = max(lengths)
    padded = [t.zfill(full) if whole else t for t in text]
    for n in range(full - 1, 0, -1):
        what = "digit" if whole else "character"
        yield (
            f"by its first {what if n == 1 else f'{n} {what}s'}",
            {v: _cut(v, t[:n], full - n) for v, t in zip(levels, padded, strict=True)},
        )


def _cut(value: Any, first: str, gone: int) -> Any:
    """A code with its last digits gone, of the type it had."""
    return first if isinstance(value, str) else type(value)(int(first) * 10**gone)
