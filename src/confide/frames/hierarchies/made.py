"""Hierarchies made from values: neighbours in sets, areas in areas, and a proposal where nobody has stated one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl

from confide.core.checks import names_of
from confide.core.errors import InputError
from confide.frames.columns import F64, Column, readable
from confide.frames.door import to_polars
from confide.frames.encoded import Encoded
from confide.frames.hierarchies.groups import Value, as_text
from confide.frames.hierarchies.tree import Tree

Stated = dict[str, Any]
"""What a hierarchy is stated by."""

FIRST, MOST, LEVELS = 25, 4, 3
"""About how many intervals the first width makes; how many widths, and how many other levels, are proposed."""
RANGES = 20
"""Ranges by quantiles at the first level, halved at each further one."""
SMALL = (0.02, 0.10, 0.30)
"""Shares of people up to which the smallest categories are put together."""
OTHER = "other"


def ordered(values: Sequence[Value], sizes: Sequence[int]) -> Stated:
    """Neighbours in sets of ever more: a set is named by its first and its last value."""
    if len(values) < 2 or len(set(values)) < len(values):
        raise InputError("Hierarchy.ordered: values is a list of two or more categories in their order, no two alike.")
    whole = all(isinstance(n, (int, np.integer)) and not isinstance(n, bool) and n > 1 for n in sizes)
    if not len(sizes) or not whole or any(b <= a or b % a for a, b in pairwise(sizes)):
        raise InputError(
            "Hierarchy.ordered is not nested: sizes says how many neighbours go together at each level, each a whole "
            "multiple of the one before, as in [2, 4]."
        )
    sets = [[values[k : k + n] for k in range(0, len(values), n)] for n in sizes]
    named = [{v: _set_name(part) for part in parts for v in part} for parts in sets]
    names = tuple(f"in sets of {n}" for n in sizes if n < len(values))
    table = {v: tuple(level[v] for level in named) for v in values}
    return {"table": table, "names": names or None}


def _set_name(part: Sequence[Value]) -> str:
    return as_text(part[0]) if len(part) == 1 else f"{as_text(part[0])} to {as_text(part[-1])}"


def nested(data: Any, columns: Sequence[str]) -> Stated:
    """One column's values in those of the next, as they stand side by side in a file or a list of areas."""
    names = names_of(columns, "Hierarchy.nested: columns")
    if len(names) < 2:
        raise InputError(
            "Hierarchy.nested has one level only: name two or more columns, from the finest to the coarsest."
        )
    frame = to_polars(data)
    for name in names:
        readable(frame, name)
    rows = frame.select(names).filter(pl.col(names[0]).is_not_null()).unique(maintain_order=True)
    gaps = [n for n in names if rows[n].null_count()]
    if gaps:
        raise InputError(f'Hierarchy.nested: "{gaps[0]}" is missing in {rows[gaps[0]].null_count()} rows; fill it in.')
    Tree.of(names, [rows[n].to_list() for n in names], "Hierarchy.nested")
    first = rows.unique(names[0], maintain_order=True)
    one = first[names[-1]].n_unique() == 1 and first.height > 1
    table = {v: tuple(groups) for v, *groups in first.rows()}
    return {"table": table, "names": names[1 : len(names) - one] or None}


def proposed(data: Any, variable: str) -> Stated:
    """A hierarchy that suits what a column holds."""
    file = Encoded.of(data)
    readable(file.frame, variable)
    column = file.column(variable)
    if column.kind == "numeric":
        return _dates(column) if column.dtype.is_temporal() else _numbers(column)
    count = np.bincount(column.values[~column.missing], minlength=len(column.levels))
    there = [v for v, n in zip(column.levels, count, strict=True) if n]
    if len(there) < 3:
        return {}
    if isinstance(column.dtype, pl.Enum) or not any(isinstance(v, str) for v in there):
        return ordered(there, [n for n in (2, 4, 8) if n < len(there)])
    lengths = {len(as_text(v)) for v in there}
    if len(lengths) == 1 and all(as_text(v).isalnum() for v in there) and max(lengths) > 1:
        return _codes(there)
    return smallest(there, count[count > 0].astype(float))


def _numbers(column: Column) -> Stated:
    values = column.values[column.usable]
    if not len(values) or values.min() == values.max():
        return {}
    low, high = np.quantile(values, [0.01, 0.99])
    if values.max() - values.min() > 3 * max(high - low, column.step) or low == high:
        return _ranges(values)
    least = max((high - low) / FIRST, column.step * (2 if column.step else 0))
    width = next(w for w in _nice(least))
    widths = [width * 2**k for k in range(MOST) if k == 0 or width * 2**k <= (high - low) / 2]
    return {"widths": [int(w) if float(w).is_integer() else w for w in widths]}


def _nice(least: float) -> Iterator[float]:
    """1, 5, 10, 50, ... from `least` up."""
    power = int(np.floor(np.log10(least)))
    while True:
        yield from (w for m in (1, 5) if (w := float(f"{m}e{power}")) >= least * (1 - 1e-9))
        power += 1


def _ranges(values: F64) -> Stated:
    levels: list[list[float]] = []
    inner: list[float] = []
    for q in np.quantile(values, np.arange(1, RANGES) / RANGES):
        cut = float(f"{q:.2g}")
        if cut > values.min() and (not inner or cut > inner[-1]):
            inner.append(int(cut) if cut.is_integer() else cut)
    while inner and len(levels) < LEVELS:
        levels.append(inner)
        inner = inner[1::2]
    return {"breaks": levels} if levels else {}


def _dates(column: Column) -> Stated:
    return {} if column.dtype in (pl.Time, pl.Duration) else {"dates": ["month", "year", "decade"]}


def _codes(values: Sequence[Any]) -> Stated:
    """First letters, where they put codes together."""
    full, found, many = len(as_text(values[0])), [], len(values)
    for n in range(full - 1, 0, -1):
        groups = len({as_text(v)[:n] for v in values})
        if 1 < groups < many:
            found.append(n)
            many = groups
    return {"prefix": found[:LEVELS]} if found else {}


def smallest(values: Sequence[Any], count: F64) -> Stated:
    """Ever more of the smallest categories under one name."""
    order = np.argsort(count, kind="stable")
    running = np.cumsum(count[order]) / count.sum()
    sizes = sorted({max(2, int((running <= share).sum())) for share in SMALL})
    sizes = [n for n in sizes if n < len(values)][:LEVELS]
    name = OTHER if OTHER not in map(as_text, values) else f"{OTHER} ({len(values)})"
    merged = [{values[k] for k in order[:n]} for n in sizes]
    table = {v: tuple(name if v in group else as_text(v) for group in merged) for v in values}
    names = tuple(f"the {n} smallest together" for n in sizes)
    return {"table": table, "names": names} if sizes else {}
