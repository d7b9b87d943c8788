"""Deterministic steps seen from both sides: what true values become, and which of them become a released one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from confide.frames.columns import F64, Column


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

    def tails(self) -> tuple[float, ...]:
        return tuple(x for s in self.steps for x in s.tails())
