"""What a recovered zero says of somebody who is in the table.

Somebody is known to be in the table, with certain levels of key variables. If only one combination of the others is
left for such a person, that is full attribution; if a level of one of them is ruled out, partial; otherwise only a
combination is. (Tables 1 and 2 of Smith and Elliot, and the case they add.)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations

import numpy as np
import polars as pl

from confide.core.errors import InputError, did_you_mean
from confide.tables.layout import Bools, Ints
from confide.tables.table import Table, cell_frame

FULL, PARTIAL, COMBINATION = "full", "partial", "combination"


def tag(possible: Bools, cell: int, keys: Sequence[int]) -> str | None:
    """The tag of one zero. possible: where somebody unknown may still be (the table's shape); keys: axes.

    None where nobody can be left among people with these keys.
    """
    at = np.unravel_index(cell, possible.shape)
    left = possible[tuple(at[a] if a in keys else slice(None) for a in range(possible.ndim))]
    if not left.any():
        return None
    if left.sum() == 1:
        return FULL
    others = [a for a in range(possible.ndim) if a not in keys]
    for k, axis in enumerate(others):
        if not np.take(left, at[axis], axis=k).any():
            return PARTIAL
    return COMBINATION


def tagged(table: Table, recovered: Ints, possible: Bools, keys: Sequence[str] | None) -> pl.DataFrame:
    """One row per recovered zero: cell, its levels, tag, given.

    `keys`: what is known of the person (names of variables); None: the strongest tag, and the fewest keys for it.
    """
    grid = possible.reshape(table.counts.shape)
    names = table.names
    if keys is not None:
        if isinstance(keys, str) or not isinstance(keys, Iterable):
            raise InputError('keys is a list of variables, as ["county"].')
        for k in keys:
            if k not in names:
                raise InputError(f'keys names "{k}", no variable of the table.{did_you_mean(str(k), names)}')
        chosen = [names.index(k) for k in keys]
        found = [(tag(grid, int(i), chosen) or COMBINATION, ", ".join(names[a] for a in chosen)) for i in recovered]
    else:
        found = [_strongest(grid, int(i), names) for i in recovered]
    cells = cell_frame(table.axes)[recovered]
    return cells.select(
        pl.Series("cell", recovered, dtype=pl.Int64),
        pl.all(),
        pl.Series("tag", [f[0] for f in found], dtype=pl.String),
        pl.Series("given", [f[1] for f in found], dtype=pl.String),
    )


def _strongest(grid: Bools, cell: int, names: Sequence[str]) -> tuple[str, str]:
    best = (COMBINATION, "")
    for size in range(len(names)):
        for keys in combinations(range(len(names)), size):
            now = tag(grid, cell, keys)
            given = ", ".join(names[a] for a in keys)
            if now == FULL:
                return FULL, given
            if now == PARTIAL and best[0] == COMBINATION:
                best = (PARTIAL, given)
    return best
