"""Three ways to the recovery probability, by how the published sums nest. Nothing here knows a scheme.

One tree: closed form (`NestedRoute`, here). Two trees: factoring on a graph (`FlowRoute`). Anything: factoring with
programmes (`ProgrammeRoute`). The last two turn to simulation for the n that are too many to factor.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Protocol

import numpy as np

from confide.tables.layout import Bools, Ints
from confide.tables.published import Published
from confide.tables.schemes.scheme import Floats
from confide.tables.solve.expectation import TINY, as_float
from confide.tables.solve.factoring import BUDGET
from confide.tables.solve.nested import (
    NEVER,
    Nest,
    certificate,
    certificate_sizes,
    chance_known,
    nested_fractions,
    nested_risk,
)

EXACT, LOWER, BETWEEN, ESTIMATE = "exact", "lower bound", "between bounds", "estimate"


@dataclass(frozen=True, eq=False)
class Proof:
    """People who recover a zero, as counts (m); `smallest`: fewer cannot, and that is proven."""

    known: Ints
    smallest: bool


@dataclass(frozen=True, eq=False)
class Found:
    """For n = 0..most: the probability, its standard error, what it lies between, how it is known."""

    risk: Floats
    standard_error: Floats
    lower: Floats
    upper: Floats
    status: list[str]
    fractions: list[Fraction] | None
    method: str


@dataclass(frozen=True)
class Effort:
    """How much may be spent. `draws`: simulated orders of people; `prove`: whole-number proofs where needed."""

    budget: int = BUDGET
    draws: int = 2_000
    seed: int = 0
    prove: bool | None = None


class Route(Protocol):
    """What each way can say."""

    def risk(self, most: int, fractions: bool) -> Found: ...
    def cell_risks(self, most: int) -> tuple[Floats, str]: ...
    def smallest(self, most: int) -> int | None: ...
    def certificate(self, cell: int | None, most: int) -> Proof | None: ...


def exactly(values: Sequence[Fraction], method: str) -> Found:
    """A result that is known as fractions."""
    risk = np.array([as_float(v) for v in values])
    return Found(risk, np.zeros(len(risk)), risk, risk, [EXACT] * len(risk), list(values), method)


def in_floats(risk: Floats, method: str) -> Found:
    """A result that is exact to the last digits of a float."""
    return Found(risk, np.zeros(len(risk)), risk, risk, [EXACT] * len(risk), None, method)


@dataclass(frozen=True, eq=False)
class NestedRoute:
    """Sums that nest in one tree."""

    nest: Nest

    def risk(self, most: int, fractions: bool) -> Found:
        if fractions:
            return exactly(nested_fractions(self.nest, most), "nested")
        risk = nested_risk(self.nest, most)
        risky = np.arange(most + 1) >= self.sizes.min(initial=NEVER)
        risk[risky] = np.maximum(risk[risky], TINY)
        return in_floats(risk, "nested")

    @cached_property
    def sizes(self) -> Ints:
        return certificate_sizes(self.nest)

    def cell_risks(self, most: int) -> tuple[Floats, str]:
        return chance_known(self.sizes, self.nest.people, most), EXACT

    def smallest(self, most: int) -> int | None:  # noqa: ARG002
        least = int(self.sizes.min(initial=NEVER))
        return None if least >= NEVER else least

    def certificate(self, cell: int | None, most: int) -> Proof | None:  # noqa: ARG002
        cell = int(np.argmin(self.sizes)) if cell is None else cell
        if self.sizes[cell] >= NEVER:
            return None
        return Proof(everybody(self.nest.counts, certificate(self.nest, cell)), True)


def everybody(counts: Ints, cells: Ints) -> Ints:
    """All the people of some cells, as counts (m)."""
    known = np.zeros(len(counts), dtype=np.int64)
    known[cells] = counts[cells]
    return known


def nest_of(published: Published, target: Bools) -> Nest:
    """The tree of a laminar release, and where it is tight."""
    families = published.layout.families
    assert families is not None
    tree = families[0]
    counts = published.table.counts.ravel()
    lower, upper = published.cell_bounds
    truth = published.truth[tree.quantity]
    return Nest(
        tree,
        counts,
        counts == lower,
        counts == upper,
        truth == published.lower[tree.quantity],
        truth == published.upper[tree.quantity],
        target,
    )
