"""What an analyst can do with a variable that a plan releases as broader categories."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from confide.core.errors import InputError
from confide.frames.columns import F64, I64, Column
from confide.protect.seam.coarsening import Chain


@dataclass(frozen=True, eq=False)
class Coarse:
    """A variable that a plan recoded: what its released categories stand for.

    `column`: the original, of the kind in which it is compared. `image`: what the recodings make of the same rows.
    `chain`: the recodings. `step`: the precision of its numbers, 0 for a continuum.
    """

    column: Column
    image: Column
    chain: Chain
    step: float = 0.0

    @cached_property
    def values(self) -> tuple[Any, ...]:
        """What the original may hold: its categories, or its distinct numbers."""
        return self.column.levels if self.column.kind == "categorical" else tuple(self.column.codebook().values)

    @cached_property
    def becomes(self) -> I64:
        """For each of `values` the category of the image that it becomes, -1 for one that does not occur."""
        there = ~self.column.missing
        codes = self.column.values[there]
        if self.column.kind == "numeric":
            codes = np.searchsorted(np.array(self.values), codes)
        found = np.full(len(self.values), -1, dtype=np.int64)
        found[codes] = self.image.values[there]
        return found

    def places(self, wanted: Sequence[Any]) -> I64:
        """Where each of some original values is in `values`; of numbers the nearest."""
        if self.column.kind == "numeric":
            gaps = np.abs(np.subtract.outer(np.array(wanted, dtype=float), np.array(self.values, dtype=float)))
            return np.asarray(gaps.argmin(axis=1), dtype=np.int64)
        place = {value: i for i, value in enumerate(self.values)}
        return np.array([place[v] for v in wanted], dtype=np.int64)

    def shared_out(self, levels: Sequence[Any]) -> F64:
        """Each released category in equal parts among the original values that become it, shape (levels, values).

        A row of zeros is for a category that no original value becomes.
        """
        place = {level: i for i, level in enumerate(self.image.levels)}
        at = np.array([place.get(level, -2) for level in levels], dtype=np.int64)
        same = (at[:, None] == self.becomes).astype(float)
        return np.asarray(same / np.maximum(same.sum(axis=1, keepdims=True), 1.0))

    def numbers(self, released: Column) -> F64:
        """Released categories as numbers: the middle of an interval, of an open one its finite end; NaN without one.

        The middle of "20 to 24" is 22, that of [20, 25) on a continuum 22.5.
        """
        levels = Column(released.name, "categorical", np.arange(len(released.levels)), released.dtype, released.levels)
        try:
            low, high = self.chain.cells(levels)
            high = high - self.step
        except InputError:  # a mapping made it, which knows no intervals
            low, high = self._ends(levels)
        middle = np.where(np.isinf(low), high, np.where(np.isinf(high), low, (low + high) / 2))
        return np.asarray(np.append(np.where(np.isinf(middle), np.nan, middle), np.nan)[released.values])

    def usual(self, released: Column) -> I64:
        """For each released category the code of the commonest original one that becomes it, -1 where there is none."""
        common = np.bincount(self.column.values[~self.column.missing], minlength=len(self.values))
        parts = self.shared_out(released.levels) * common
        return np.asarray(np.append(np.where(parts.any(axis=1), parts.argmax(axis=1), -1), -1)[released.values])

    def _ends(self, levels: Column) -> tuple[F64, F64]:
        """The least and the largest original number that becomes each category."""
        numbers = np.array([v if isinstance(v, (int, float)) else np.nan for v in self.values], dtype=float)
        parts = self.shared_out(levels.levels) > 0
        low = np.where(parts, numbers, np.inf).min(axis=1, initial=np.inf)
        return low, np.where(parts, numbers, -np.inf).max(axis=1, initial=-np.inf)
