"""Deterministic steps seen from both sides: what true values become, and which of them become a released one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from confide.frames.columns import F64, Column
from confide.frames.types.exact import near_whole


class Coarsening(ABC):
    """A deterministic step on one variable, fitted. Its evidence is certain and inherited: the image is a label."""

    @abstractmethod
    def image(self, column: Column) -> Column:
        """What true values become."""

    @abstractmethod
    def back(self, low: F64, high: F64) -> tuple[F64, F64]:
        """The interval of numbers whose image lies in [low, high); for steps that keep numbers numbers."""

    def cells(self, column: Column) -> tuple[F64, F64]:
        """For each released value the interval [low, high) of numbers that become it."""
        return self.back(column.values, np.nextafter(column.values, np.inf))

    def tails(self) -> tuple[float, ...]:
        """Where a numeric image stops growing: a topcode's limit."""
        return ()


@dataclass(frozen=True, eq=False)
class Chain:
    """Coarsenings one after another; the empty chain leaves values as they are."""

    steps: tuple[Coarsening, ...] = ()

    def image(self, column: Column) -> Column:
        for step in self.steps:
            column = step.image(column)
        return column

    def cells(self, column: Column) -> tuple[F64, F64]:
        if not self.steps:
            return column.values, np.nextafter(column.values, np.inf)
        low, high = self.steps[-1].cells(column)
        for step in reversed(self.steps[:-1]):
            low, high = step.back(low, high)
        return low, high

    def drawn(self, column: Column, step: float) -> tuple[F64, F64]:
        """The same for numbers that were rounded to multiples of `step` before the chain: edges of what was rounded.

        For a continuum (step 0) that no coarsening follows both edges are the value itself.
        """
        low, high = self.cells(column)
        if not step:
            return (low, high) if self.steps else (low, low)
        with np.errstate(invalid="ignore"):
            first = np.ceil(near_whole(low / step, 5e-7))
            last = np.maximum(np.ceil(near_whole(high / step, 5e-7)) - 1, first)
        return (first - 0.5) * step, (last + 0.5) * step

    def tails(self) -> tuple[float, ...]:
        return tuple(x for s in self.steps for x in s.tails())
