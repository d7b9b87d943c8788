"""Who is chosen for a swap, and who exchanges with whom."""

from __future__ import annotations

import numpy as np

from confide.core.errors import InputError
from confide.core.random.draws import Draws
from confide.frames.columns import F64, I64, Bools


def chosen_counts(size: F64, rate: float, forced: F64) -> F64:
    """How many records of each group are chosen: an even number, and all that are forced (one may lack a partner).

    `size`, `forced`: records of each group, and how many of them are forced.
    """
    want = np.maximum(np.floor(rate * size), forced + forced % 2)
    return np.asarray(2 * np.floor(np.minimum(want, size) / 2))


def chosen_of(share: F64, size: F64 | I64) -> F64:
    """The even number that a share of each group is."""
    return np.asarray(2 * np.round(share * size / 2))


def random_partners(groups: I64, share: F64, draws: Draws, rows: I64, forced: Bools | None = None) -> I64:
    """Each record's partner (itself where it is not chosen), pairs formed inside groups, shape (n,).

    `share`: the part of each group that is chosen; forced records come first. `rows`: numbers of the records.
    """
    size = np.bincount(groups, minlength=len(share))
    a, b = pairs(groups, chosen_of(share, size), draws, rows, forced)
    partner = np.arange(len(groups))
    partner[a], partner[b] = b, a
    return partner


def pairs(groups: I64, chosen: F64, draws: Draws, rows: I64, forced: Bools | None = None) -> tuple[I64, I64]:
    """Positions of those who exchange, and of whom with. `chosen`: how many of each group; records that cannot be among
    them may be left out."""
    n = len(groups)
    late = np.zeros(n, dtype=bool) if forced is None else ~forced
    order = np.lexsort((draws.uniform(rows), late, groups))
    size = np.bincount(groups, minlength=len(chosen))
    start = np.concatenate([[0], np.cumsum(size)[:-1]])
    g = groups[order]
    head = order[np.arange(n) - start[g] < chosen[g]]
    # The head is sorted forced first; pair at random within it.
    head = head[np.lexsort((draws.uniform(rows[head], word=1), groups[head]))]
    return head[0::2], head[1::2]


def nothing_to_swap(variable: str) -> InputError:
    """A column without any value."""
    return InputError(f'Swap("{variable}"): the column is missing in every record; there is nothing to swap.')
