"""Whose zeros count: all possible cells, some of them, or the entries of margins."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from confide.core.errors import InputError
from confide.tables.layout import Bools, Ints
from confide.tables.table import Table, place_of


def targets_of(table: Table, targets: Any, aggregates: Any, depth: int | None) -> tuple[Bools, list[Ints] | None]:
    """The target cells (m), and the target sets where targets are sums of several cells (else None)."""
    if sum(t is not None for t in (targets, aggregates, depth)) > 1:
        raise InputError("Give one of targets, aggregates and depth, not several.")
    possible = ~table.structural.ravel()
    if targets is not None:
        chosen = _cells(table, targets) & possible
        if not chosen.any():
            raise InputError("targets names no cell in which anybody could be.")
        return chosen, None
    if depth is not None:
        aggregates = _down_to(table, depth)
    if aggregates is None:
        return possible, None
    if (
        isinstance(aggregates, (str, Mapping))
        or not isinstance(aggregates, Iterable)
        or not (aggregates := list(aggregates))
        or any(isinstance(a, str) or not isinstance(a, Iterable) for a in aggregates)
    ):
        raise InputError('aggregates is a list of margins, as [["sex"], ["sex", "age"]].')
    sets = [s for names in aggregates for s in _entries(table, names, possible)]
    held = np.zeros(len(possible), dtype=bool)
    for s in sets:
        held[s] = True
    return held, None if all(len(s) == 1 for s in sets) else sets


def _down_to(table: Table, depth: int) -> list[tuple[str, ...]]:
    if isinstance(depth, bool) or not isinstance(depth, (int, np.integer)) or not 1 <= depth <= len(table.names):
        raise InputError(f"depth is a number of variables, from 1 to {len(table.names)} in this table.")
    return [c for k in range(1, int(depth) + 1) for c in combinations(table.names, k)]


def _entries(table: Table, names: Sequence[str], possible: Bools) -> list[Ints]:
    entry = table.axes.part(list(names)).entry
    order = np.argsort(entry, kind="stable")
    pieces = np.split(order, np.flatnonzero(np.diff(entry[order])) + 1)
    return [p[possible[p]] for p in pieces if possible[p].any()]


def _cells(table: Table, targets: Any) -> Bools:
    out = np.zeros(table.counts.size, dtype=bool)
    if isinstance(targets, Mapping):
        keep = np.ones(table.counts.shape, dtype=bool)
        for name, wanted in targets.items():
            levels = [wanted] if isinstance(wanted, str) or not isinstance(wanted, Iterable) else list(wanted)
            places = [place_of(table.axes, name, v) for v in levels]
            chosen = np.zeros(table.counts.shape, dtype=bool)
            for axis, level in places:
                chosen |= np.indices(table.counts.shape, sparse=True)[axis] == level
            keep &= chosen
        return keep.ravel()
    try:
        array = np.asarray(targets)
    except ValueError:
        array = np.zeros((0, 0))
    if array.dtype == bool:
        if array.shape not in (table.counts.shape, (table.counts.size,)):
            raise InputError(f"A mask of targets has the table's shape, {table.counts.shape}.")
        return array.ravel().copy()
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise InputError(
            'targets is a list of cell positions, a mask of the table\'s shape, or levels such as {"county": "B"}.'
        )
    if array.size and (array.min() < 0 or array.max() >= out.size):
        raise InputError(f"targets names a cell that is not there; positions run from 0 to {out.size - 1}.")
    out[array.astype(np.int64)] = True
    return out
