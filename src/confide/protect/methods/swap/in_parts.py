"""Swapping in a file that is read in parts: only records that may be chosen are kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from confide.core.random.draws import Draws
from confide.frames.columns import I64, Bools, Records
from confide.protect.methods.swap.pairing import chosen_of, nothing_to_swap, pairs
from confide.protect.seam.gathering import Gathering, Patch, joined, narrow_codes
from confide.protect.seam.learning import surely_below
from confide.protect.shared.category_codes import rows_in

if TYPE_CHECKING:
    from confide.protect.methods.swap.swap import _FittedSwap


Picked = tuple[I64, NDArray[Any], Bools, dict[str, NDArray[Any]], set[str]]
"""Of a batch: rows, their groups, which are forced, the values they exchange; and variables that have any value."""


class SwapGathering(Gathering):
    """Records whose number is small enough to be among those chosen in their group, with the values they exchange."""

    def __init__(self, fitted: _FittedSwap, draws: Draws) -> None:
        self.fitted, self.draws = fitted, draws
        self.limit = surely_below(fitted.share, fitted.size)
        self.rows: list[I64] = []
        self.groups: list[NDArray[Any]] = []
        self.forced: list[Bools] = []
        self.values: dict[str, list[NDArray[Any]]] = {v: [] for v in fitted.swap.variables}
        self.empty = set(fitted.swap.variables)

    def picked(self, original: Records, current: Records) -> Picked:
        swap = self.fitted.swap
        groups = rows_in(self.fitted.groups, current) if swap.within else np.zeros(current.n, dtype=np.int64)
        forced = swap.forced_in(original)
        near = forced | (self.draws.uniform(current.rows) < self.limit[groups])
        values = {v: narrow_codes(current[v].values[near], len(current[v].levels)) for v in self.values}
        there = {v for v in self.values if not bool(current[v].missing.all())}
        return current.rows[near], narrow_codes(groups[near], len(self.limit)), forced[near], values, there

    def add(self, picked: Picked) -> None:
        rows, groups, forced, values, there = picked
        self.rows.append(rows)
        self.groups.append(groups)
        self.forced.append(forced)
        for v, held in self.values.items():
            held.append(values[v])
        self.empty -= there

    def done(self) -> Patch:
        for v in self.empty:
            raise nothing_to_swap(v)
        rows, groups = joined(self.rows, np.int64), joined(self.groups, np.int64).astype(np.int64)
        chosen = chosen_of(self.fitted.share, self.fitted.size)
        assert (np.bincount(groups, minlength=len(chosen)) >= chosen).all(), "too few records were kept"
        a, b = pairs(groups, chosen, self.draws, rows, joined(self.forced, bool))
        one, other = np.concatenate([a, b]), np.concatenate([b, a])
        values = {v: joined(held, np.int64)[other] for v, held in self.values.items()}
        return Patch.of(rows[one], values)
