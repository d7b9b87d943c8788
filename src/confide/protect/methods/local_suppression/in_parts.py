"""Hiding values in a file that is read in parts: of each kind of people only those who may be chosen are kept.

Of people of one kind those with the largest numbers have values hidden, in the order of the patterns.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from confide.core.random.draws import Draws
from confide.frames.columns import I64, Column, Records
from confide.protect.methods.local_suppression.pieces import Lookup, Pieces, key_codes, masked
from confide.protect.seam.gathering import Gathering, Patch, joined
from confide.protect.seam.learning import surely_below


class HidingGathering(Gathering):
    """`made`: kinds of people with what is hidden of them."""

    def __init__(self, names: Sequence[str], columns: Sequence[Column], made: Pieces, draws: Draws) -> None:
        self.names, self.columns, self.draws, self.made = tuple(names), columns, draws, made
        first = np.unique(made.unit, return_index=True)[1]
        self.codes = made.codes[first]
        self.lookup = Lookup.fit(self.codes, [_size(c) for c in columns])
        size = np.bincount(made.unit, weights=made.count).astype(float)
        self.gone = np.bincount(made.unit, weights=made.count * (made.hidden > 0), minlength=len(size))
        self.limit = np.where(self.gone > 0, 1.0 - surely_below(self.gone / size, size), 2.0)
        self.rows: list[I64] = []
        self.kinds: list[I64] = []

    def picked(self, original: Records, current: Records) -> tuple[I64, I64]:  # noqa: ARG002 - of `Gathering`
        kind = self.lookup.of(key_codes(current, self.columns))
        near = np.flatnonzero(self.limit[kind] <= 1.0)
        near = near[self.draws.uniform(current.rows[near]) >= self.limit[kind[near]]]
        return current.rows[near], kind[near]

    def add(self, picked: tuple[I64, I64]) -> None:
        rows, kinds = picked
        self.rows.append(rows)
        self.kinds.append(kinds)

    def done(self) -> Patch:
        rows, kinds = joined(self.rows, np.int64), joined(self.kinds, np.int64)
        order = np.lexsort((self.draws.uniform(rows), kinds))
        held = np.bincount(kinds, minlength=len(self.gone))
        assert (held >= self.gone).all(), "too few records were kept"
        last = np.cumsum(held)[kinds[order]] - np.arange(len(order)) <= self.gone[kinds[order]]
        chosen = order[last]
        inside = np.lexsort((self.made.hidden, self.made.unit))
        inside = inside[self.made.hidden[inside] > 0]
        hidden = np.repeat(self.made.hidden[inside], self.made.count[inside])
        shown = masked(self.codes[kinds[chosen]], hidden)
        values = {}
        for i, (v, column) in enumerate(zip(self.names, self.columns, strict=True)):
            if column.kind == "numeric":
                values[v] = np.append(column.values, np.nan)[shown[:, i]]
            else:
                values[v] = shown[:, i]
        return Patch.of(rows[chosen], values)


def _size(column: Column) -> int:
    return len(column) if column.kind == "numeric" else len(column.levels)
