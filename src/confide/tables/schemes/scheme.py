"""What a scheme must say: how it publishes counts, and what a published count tells somebody who knows the scheme.

One file per scheme, both sides in it. Nothing that computes bounds or risks knows a scheme's name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Protocol, runtime_checkable

import numpy as np
import polars as pl
from numpy.typing import NDArray

from confide.core.random.draws import Draws
from confide.core.registry import any_of
from confide.tables.layout import Bools, Ints, Layout

Floats = NDArray[np.float64]


@runtime_checkable
class CellScheme(Protocol):
    """A scheme that publishes each count on its own, whatever the others are."""

    @property
    def random(self) -> bool:
        """Whether the same table can come out differently."""

    @property
    def sharp(self) -> bool:
        """Whether every whole number of `interval` is possible (no gaps)."""

    @property
    def keyed(self) -> bool:
        """Whether draws are looked up by cell keys, so that a margin's draw is not independent of its cells'."""

    def apply(self, counts: Ints, draws: Floats) -> Ints:
        """What is published for true counts of any shape; `draws` are uniform on [0, 1), one per count."""

    def interval(self, published: Ints) -> tuple[Ints, Ints]:
        """The smallest and the largest true count that each published value allows."""

    def outcomes(self, count: int) -> Mapping[int, Fraction | float]:
        """What a true count may be published as, with probabilities."""


@dataclass(frozen=True, eq=False)
class Settled:
    """A whole table as published. Arrays are of length Q; `checked`: what was checked, or how to find it out, if
    somebody asks for the `audit`; `additive`: margins add up."""

    values: Ints
    shown: Bools
    lower: Ints
    upper: Ints
    checked: pl.DataFrame | Callable[[], pl.DataFrame] | None = None
    additive: bool = False

    @cached_property
    def audit(self) -> pl.DataFrame | None:
        return self.checked() if callable(self.checked) else self.checked


@runtime_checkable
class TableScheme(Protocol):
    """A scheme that must see the whole table: margins are to add up, or hidden cells to protect each other."""

    @property
    def random(self) -> bool:
        """Whether the same table can come out differently."""

    def settle(self, layout: Layout, counts: Ints, free: Bools, draws: Draws) -> Settled:
        """Publish a table of `counts` (m). `free` is False at structural zeros; whatever is random is in `draws`."""


Scheme = CellScheme | TableScheme

any_of("scheme", CellScheme, TableScheme)
