"""The random numbers of a publication: looked up by area and by quantity, or drawn one after another in a simulation.

Notation: `n` areas (one table is an area without a name), `m` cells, `Q` published quantities.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from confide.core.random.draws import Counter, Draws, Stream
from confide.core.random.origin import Origin, opened
from confide.core.random.seeds import stated_seed
from confide.core.random.vault import derived
from confide.tables.axes import Axes
from confide.tables.described import published_text, scheme_text
from confide.tables.layout import Bools, Ints, Layout
from confide.tables.schemes.cellkey.keys import AT_ONCE, UNITS, cell_units
from confide.tables.schemes.scheme import Floats, Scheme


class Numbers(Protocol):
    """What a scheme is carried out with."""

    def uniform(self, quantities: int) -> Floats:
        """Numbers in [0, 1), shape (n, Q)."""

    def cell_keys(self) -> Ints:
        """The keys of all cells as whole numbers below 2^32, shape (n, m)."""

    def of_area(self, k: int) -> Draws:
        """Draws for a scheme that sees the whole table of an area."""


@dataclass(frozen=True, eq=False)
class ByArea:
    """Looked up: an area's numbers depend on its name and its counts, not on which other areas are there.

    `areas`: names; `counts`: n x m.
    """

    origin: Origin
    axes: Axes
    areas: Sequence[str]
    counts: Ints

    def uniform(self, quantities: int) -> Floats:
        draws = self.origin.draws("quantities")
        rows = (self._rows[:, None] + np.arange(quantities)).ravel()
        parts = [draws.uniform(rows[i : i + AT_ONCE]) for i in range(0, len(rows), AT_ONCE)]
        return np.concatenate(parts).reshape(len(self.counts), quantities)

    def cell_keys(self) -> Ints:
        return cell_units(self.origin.root, self.axes, self.areas, self.counts)

    def of_area(self, k: int) -> Draws:
        return Counter(self._marks[k])

    @cached_property
    def _marks(self) -> list[bytes]:
        """16 bytes for each area."""
        key = derived(self.origin.root, "areas")
        counts = np.ascontiguousarray(self.counts, dtype="<i8")
        names = [a.encode("utf-8", "surrogatepass") for a in self.areas]
        return [
            hashlib.blake2b(len(a).to_bytes(8, "big") + a + c.tobytes(), key=key, digest_size=16).digest()
            for a, c in zip(names, counts, strict=True)
        ]

    @cached_property
    def _rows(self) -> Ints:
        """The number of each area's first quantity, below 2^62, so far apart that no two areas meet."""
        return np.array([int.from_bytes(m[:8], "little") >> 2 for m in self._marks], dtype=np.int64)


@dataclass(frozen=True, eq=False)
class OneByOne:
    """Drawn one after another, for simulations that nobody publishes. `cells`: m; `areas`: n."""

    rng: np.random.Generator
    areas: int
    cells: int

    def uniform(self, quantities: int) -> Floats:
        return self.rng.random((self.areas, quantities))

    def cell_keys(self) -> Ints:
        return self.rng.integers(0, UNITS, (self.areas, self.cells))

    def of_area(self, k: int) -> Draws:  # noqa: ARG002 - areas follow one another
        return Stream(self.rng)


def origin_of(
    scheme: Scheme, axes: Axes, structural: Bools, layout: Layout, totals: str, seed: Any, vault: Any, keyed: bool
) -> Origin | None:
    """Where the draws of a publication come from; None where nothing is drawn. `keyed`: records have keys already.

    Cell keys belong to the cells alone, so that equal cells agree: with a vault neither scheme, margins nor seed enter.
    """
    stated, held = stated_seed(seed), opened(vault)
    by_key = getattr(scheme, "keyed", False)
    if not scheme.random or (by_key and keyed):
        return None
    if by_key:
        return Origin.of(("cell keys",), None if held is not None else stated, held)
    what = ("table", published_text(axes, structural, layout, totals), scheme_text(scheme))
    return Origin.of(what, stated, held)
