"""Values moved by ranks: how far, by whom it is guessed, and which ranks a released value stands for."""

from __future__ import annotations

from typing import Any

import numpy as np

from confide.core.random.draws import Draws
from confide.frames.columns import F64, I64, Bools, Column
from confide.protect.seam.coarsening import Chain
from confide.protect.shared.rank_shares import RankScale, draw_copy, draw_exchange

GUESSED = 0.01
"""The window that somebody guesses who does not know it, as a share of the file."""


def wrong_window(given: Any) -> str | None:
    """What is wrong with a window, in words."""
    if isinstance(given, bool) or not isinstance(given, (int, np.integer)):
        if isinstance(given, float) and 0 < given < 1:
            return f"window is a number of ranks, not a share; for {given:g} of 10,000 rows write {given * 1e4:g}"
        return "window is a number of ranks, a whole one"
    return "window is a number of ranks, from 0 upwards" if given < 0 else None


def guessed_window(n: int) -> int:
    """One percent of the file, at least one rank."""
    return max(1, round(GUESSED * n))


def swapped_ranks(scale: RankScale, values: F64, window: int, exchange: bool, draws: Draws, rows: I64) -> F64:
    """Values of the file near in rank to those given, of records with these numbers."""
    rank = scale.ranks_of(values, draws.of("ties"))
    drawn = draw_exchange(scale.n, window, draws)[rank] if exchange else draw_copy(rank, scale.n, window, draws, rows)
    return scale.at(drawn)


def ranks_released(scale: RankScale, z: Column, after: Chain, moved: Bools) -> tuple[I64, I64]:
    """The ranks that each released value stands for; 0..-1 where it was not moved."""
    low, high = np.zeros(len(z), dtype=np.int64), np.full(len(z), -1, dtype=np.int64)
    if after.steps:
        a, b = (edge[moved] for edge in after.cells(z))
        low[moved], high[moved] = scale.cover(a, b)
    else:
        low[moved], high[moved] = scale.place(z.values[moved])
    return low, high
