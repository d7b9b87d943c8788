"""Values moved by ranks in a file that is read in parts: ranks are those of the codebook.

Of tied records the first in the file gets the first of their ranks in random order, and so on, as in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confide.core.random.draws import Counter, Draws
from confide.frames.columns import I64, Records
from confide.protect.seam.gathering import Gathering, Patch, joined
from confide.protect.shared.rank_shares import RankScale, draw_copy, exchange_blocks
from confide.protect.shared.standing_apart import Apart

PIECE = 1_000_000
"""Ranks that are put in order together, where no larger set of them belongs together."""


class RankGathering(Gathering):
    """New values of moved records, as places among the distinct ones."""

    def __init__(
        self, variable: str, apart: Apart, scale: RankScale, window: int, exchange: bool, draws: Draws
    ) -> None:  # fmt: skip
        assert isinstance(draws, Counter)
        self.variable, self.apart, self.scale, self.window, self.draws = variable, apart, scale, window, draws
        self.number: Any = np.min_scalar_type(max(scale.n, 1))
        self.ties = self._in_order(draws.of("ties"), lambda r: scale.number(r), scale.lo)
        self.partner: NDArray[Any] | None = self._partners() if exchange else None
        self.seen = np.zeros(len(scale.values), dtype=np.int64)
        self.rows: list[I64] = []
        self.codes: list[NDArray[Any]] = []

    def __getstate__(self) -> dict[str, Any]:
        """Other machines find places of values; ranks are given out here."""
        return {**self.__dict__, "ties": None, "partner": None, "seen": None}

    def picked(self, original: Records, current: Records) -> tuple[I64, NDArray[Any]]:  # noqa: ARG002 - of `Gathering`
        values = current[self.variable].values
        moved = np.flatnonzero(self.apart.of_values(values) == 0)
        at = np.searchsorted(self.scale.values, values[moved])
        return current.rows[moved], at.astype(np.min_scalar_type(len(self.scale.values)))

    def add(self, picked: tuple[I64, NDArray[Any]]) -> None:
        rows, at = picked[0], picked[1].astype(np.int64)
        order = np.argsort(at, kind="stable")
        turn = np.empty(len(at), dtype=np.int64)
        turn[order] = np.arange(len(at)) - np.searchsorted(at[order], at[order])
        rank = self.ties[self.scale.lo[at] + self.seen[at] + turn].astype(np.int64)
        self.seen += np.bincount(at, minlength=len(self.seen))
        if self.partner is None:
            drawn = draw_copy(rank, self.scale.n, self.window, self.draws, rows)
        else:
            drawn = self.partner[rank].astype(np.int64)
        self.rows.append(rows)
        self.codes.append(self.scale.number(drawn).astype(self.number))

    def done(self) -> Patch:
        codes = joined(self.codes, self.number)
        return Patch.of(joined(self.rows, np.int64), {self.variable: codes}, {self.variable: self.scale.values})

    def _partners(self) -> NDArray[Any]:
        """The rank that each rank exchanges with."""
        n, scale = self.scale.n, exchange_blocks(self.scale.n, self.window, self.draws)
        starts = np.flatnonzero(np.diff(scale(np.arange(n)), prepend=-1)) if n else np.zeros(0, dtype=np.int64)
        order = self._in_order(self.draws.of("pairs"), scale, starts)
        partner = np.empty(n, dtype=self.number)
        ends = np.append(starts[1:], n)
        for low, high in _pieces(starts, n):
            ranks = np.arange(low, high)
            block = np.searchsorted(starts, ranks, side="right") - 1
            other = np.minimum(starts[block] + ((ranks - starts[block]) ^ 1), ends[block] - 1)
            partner[order[low:high]] = order[other]
        return partner

    def _in_order(self, draws: Counter, group: Callable[[I64], I64], starts: I64) -> NDArray[Any]:
        """All ranks, those of one group beside one another in random order. Groups are ranges of ranks, which begin at
        `starts`."""
        out = np.empty(self.scale.n, dtype=self.number)
        for low, high in _pieces(starts, self.scale.n):
            ranks = np.arange(low, high)
            order = np.lexsort((draws.words(ranks, word=1), draws.words(ranks), group(ranks)))
            out[low:high] = low + order
        return out


def _pieces(starts: I64, n: int) -> Iterator[tuple[int, int]]:
    """Ranges of ranks that hold whole groups, about `PIECE` long."""
    low = 0
    while low < n:
        at = int(np.searchsorted(starts, low + PIECE, side="left"))
        high = int(starts[at]) if at < len(starts) else n
        yield low, high
        low = high
