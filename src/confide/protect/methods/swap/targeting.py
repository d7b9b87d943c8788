"""Whom a targeted swap chooses: records alone with their keys in their area (Duncan and Keller-McNulty)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from confide.core.random.draws import Draws, Stream
from confide.frames.columns import F64, I64, Bools, Records
from confide.protect.shared.category_codes import group_codes

SIMULATIONS = 200
"""Runs of the policy from which a record's chance of being exchanged is read."""


@dataclass(frozen=True, eq=False)
class TargetedPolicy:
    """`key`, `area`: group codes; `candidate`: alone in (key, area) with the same key elsewhere; shape (n,)."""

    key: I64
    area: I64
    candidate: Bools

    @classmethod
    def of(cls, records: Records, keys: Sequence[str], within: Sequence[str]) -> TargetedPolicy:
        key, area = group_codes(records, keys), group_codes(records, within)
        cell = key * (area.max(initial=0) + 1) + area
        _, inverse, count = np.unique(cell, return_inverse=True, return_counts=True)
        elsewhere = np.bincount(key)[key] - count[inverse]
        return cls(key, area, (count[inverse] == 1) & (elsewhere > 0))

    def _members(self) -> list[I64]:
        """Rows of each key that has a candidate."""
        wanted = np.unique(self.key[self.candidate])
        order = np.argsort(self.key, kind="stable")
        left = np.searchsorted(self.key[order], wanted, side="left")
        right = np.searchsorted(self.key[order], wanted, side="right")
        return [order[a:b] for a, b in zip(left, right, strict=True)]

    def draw(self, rate: float, draws: Draws, numbers: I64) -> I64:
        """One run: each candidate, in random order, exchanges with probability `rate` with a free record.

        `numbers`: of the records in the file, shape (n,).
        """
        partner = np.arange(len(self.key))
        for rows in self._members():
            self._pair(rows, rate, draws, numbers, partner)
        return partner

    def _pair(self, rows: I64, rate: float, draws: Draws, numbers: I64, partner: I64) -> None:
        free = dict.fromkeys(rows.tolist())
        mine = rows[self.candidate[rows]]
        for i in mine[draws.order(numbers[mine])].tolist():
            chosen = draws.uniform(numbers[[i]], word=2)[0] < rate
            if not chosen or i not in free:
                continue
            pool = [j for j in free if self.area[j] != self.area[i]]
            if not pool:
                continue
            j = pool[draws.whole(len(pool), int(numbers[i]), word=3)]
            partner[i], partner[j] = j, i
            del free[i], free[j]

    def exchange_rates(self, rate: float) -> F64:
        """Each record's chance of being exchanged, from repeated runs of the policy; 0 where it cannot be."""
        draws, n = Stream(np.random.default_rng(200037)), len(self.key)
        numbers = np.arange(n)
        moved = np.zeros(n)
        for _ in range(SIMULATIONS):
            moved += self.draw(rate, draws, numbers) != numbers
        return moved / SIMULATIONS

    def shares(self, code: I64, size: int) -> F64:
        """Share of each record's own released category among those of the same key in other areas, shape (n,)."""

        def counted(group: I64) -> F64:
            wide = group * size + code
            _, inverse, count = np.unique(wide, return_inverse=True, return_counts=True)
            return np.asarray(count[inverse], dtype=float)

        cell = self.key * (self.area.max(initial=0) + 1) + self.area
        same_value = counted(self.key) - counted(cell)
        total = np.bincount(self.key)[self.key].astype(float)
        _, inverse, count = np.unique(cell, return_inverse=True, return_counts=True)
        pool = total - count[inverse]
        # An exchanged record's own old value sits with its partner: count the record's released value itself.
        return np.asarray((same_value + 1) / np.maximum(pool + 1, 1))
