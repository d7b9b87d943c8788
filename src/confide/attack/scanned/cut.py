"""Into which buckets targets and records go: by block, and a block with too many pairs cut by its targets."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from confide.attack.engine.blocks import blocks
from confide.attack.scanned.bucket import Blocks
from confide.core.scale.spilled import bucket_of
from confide.frames.columns import F64, I64

PAIRS = 1e10
"""Pairs of a target and a record that one bucket may have of one block: half a minute, where each is visited."""


@dataclass(frozen=True, eq=False)
class Cut:
    """`buckets`: of all blocks but the largest, by a hash of their labels. `labels`: of the largest ones; `parts`: into
    how many their targets are cut, by row. Their records go to all of these."""

    buckets: int
    labels: tuple[I64, ...] = ()
    parts: I64 | None = None

    @classmethod
    def of(cls, known: Blocks, targets: F64, buckets: int) -> Cut:
        """`targets`: of each block."""
        parts = np.ceil(known.size * targets / PAIRS).astype(np.int64)
        large = np.flatnonzero(parts > 1)
        return cls(buckets, tuple(c[large] for c in known.labels), parts[large] if len(large) else None)

    @property
    def many(self) -> int:
        """All buckets."""
        return self.buckets + (0 if self.parts is None else int(self.parts.sum()))

    def of_targets(self, labels: list[I64], rows: I64) -> I64:
        """The bucket of each target, by its labels and its row."""
        found = bucket_of(labels, len(rows), self.buckets)
        if self.parts is None:
            return found
        at, first = self._large(labels, len(rows))
        part = rows % np.where(at >= 0, self.parts[at], 1)
        return np.where(at >= 0, first[at] + part, found)

    def of_records(self, labels: list[I64], n: int) -> tuple[I64, I64]:
        """Which of n records are sent, those of large blocks several times, and the bucket of each."""
        first, times = self.ranges(labels, n)
        sent = np.repeat(np.arange(n), times)
        part = np.arange(len(sent)) - np.repeat(np.cumsum(times) - times, times)
        return sent, first[sent] + part

    def ranges(self, labels: list[I64], n: int) -> tuple[I64, I64]:
        """The first bucket of each of n records, and to how many it goes, one after the other."""
        found, once = bucket_of(labels, n, self.buckets), np.ones(n, dtype=np.int64)
        if self.parts is None:
            return found, once
        at, first = self._large(labels, n)
        return np.where(at >= 0, first[at], found), np.where(at >= 0, self.parts[at], once)

    def _large(self, labels: list[I64], n: int) -> tuple[I64, I64]:
        """Of each row its place among large blocks, -1 for none; and the first bucket of each of these."""
        assert self.parts is not None
        mine, at, number = blocks(self.labels, labels, len(self.parts), n)
        place = np.zeros(number, dtype=np.int64)
        place[mine] = np.arange(len(self.parts))
        first = self.buckets + np.cumsum(self.parts) - self.parts
        return np.where(at >= 0, place[np.maximum(at, 0)], -1), first
