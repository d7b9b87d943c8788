"""The recovery probability by factoring: on a graph where sums nest in two trees."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from confide.core.run.progress import progress_bar
from confide.tables.layout import Ints
from confide.tables.published import Published
from confide.tables.schemes.scheme import Floats
from confide.tables.solve.crossed import crossed_counts, crossed_poly
from confide.tables.solve.expectation import expectation, expectation_floats
from confide.tables.solve.factoring import Factored, Oracle, TooMuch, factor
from confide.tables.solve.network import LIMIT, Cuts, flow_oracle, network_of
from confide.tables.solve.routes import (
    BETWEEN,
    ESTIMATE,
    EXACT,
    LOWER,
    Effort,
    Found,
    Proof,
    Route,
    everybody,
    exactly,
    in_floats,
)
from confide.tables.solve.simulated import hitting_times, simulated


class Factoring:
    """Factor as far as the budget goes, simulate beyond."""

    published: Published
    targets: list[Ints]
    effort: Effort
    method: str

    def oracle(self, targets: list[Ints], most: int) -> Oracle:
        raise NotImplementedError

    def closed_form(self, most: int) -> list[int] | None:  # noqa: ARG002
        """Rel(y), where it is known without factoring."""
        return None

    @cached_property
    def counts(self) -> Ints:
        return self.published.table.counts.ravel()

    @cached_property
    def people(self) -> int:
        return int(self.counts.sum())

    def factored(self, targets: list[Ints], most: int) -> tuple[Factored | None, int]:
        """Rel(y) to the highest degree that the budget allows, halving; None where not even n = 0 does."""
        top = most
        while True:
            try:
                return factor(self.oracle(targets, top), top, self.effort.budget), top
            except TooMuch:
                if top == 0:
                    return None, -1
                top //= 2

    def risk(self, most: int, fractions: bool) -> Found:
        known = self.closed_form(most)
        if known is not None:
            return self._read(known, most, fractions, "closed form of exact margins")
        done, top = self.factored(self.targets, most)
        found = self._read(done.poly if done is not None else [], top, fractions, self.method)
        if top == most:
            return found
        return self._with_draws(found, most, self.oracle(self.targets, most))

    def _read(self, poly: list[int], top: int, fractions: bool, method: str) -> Found:
        if fractions or top < 0:
            return exactly(expectation(poly, self.people, top), method)
        return in_floats(expectation_floats(poly, self.people, top), method)

    def _with_draws(self, found: Found, most: int, oracle: Oracle) -> Found:
        rng = np.random.default_rng(self.effort.seed)
        drawn = simulated(hitting_times(oracle, self.counts, most, self.effort.draws, rng), most)
        k = len(found.risk)

        def joined(first: Floats, then: Floats) -> Floats:
            return np.concatenate([first, then[k:]])

        floor = found.lower[-1] if k else 0.0
        return Found(
            np.maximum(joined(found.risk, drawn.share), np.append(np.zeros(k), np.full(most + 1 - k, floor))),
            joined(found.standard_error, drawn.standard_error),
            joined(found.lower, np.maximum(drawn.lower, floor)),
            joined(found.upper, np.maximum(drawn.upper, floor)),
            found.status + [ESTIMATE] * (most + 1 - k),
            None,
            f"{self.method}, then {drawn.draws:,} draws" if k else f"{drawn.draws:,} draws",
        )

    def cell_risks(self, most: int) -> tuple[Floats, str]:
        """Each target cell by itself, and how all of them are known: as the one that is known worst."""
        out = np.zeros((most + 1, len(self.counts)))
        seen = {EXACT}
        with progress_bar("cells", len(self.single_targets), None) as done:
            for cell in self.single_targets:
                if self._size(cell, most + 1) <= most:
                    found = self.only(cell).risk(most, False)
                    out[:, cell] = found.risk
                    seen |= set(found.status)
                done(1)
        return out, max(seen, key=[EXACT, BETWEEN, LOWER, ESTIMATE].index)

    def only(self, cell: int) -> Route:
        """The same with one cell as the only target."""
        raise NotImplementedError

    @cached_property
    def single_targets(self) -> list[int]:
        return sorted({int(i) for g in self.targets for i in g})

    def _size(self, cell: int, limit: int) -> int:  # noqa: ARG002
        """A lower bound of the people in the cell's certificate."""
        return 0

    def smallest(self, most: int) -> int | None:
        done, top = self.factored(self.targets, most)
        if done is None or (done.smallest is None and top < most):
            return None
        return done.smallest

    def certificate(self, cell: int | None, most: int) -> Proof | None:
        targets = self.targets if cell is None else [np.array([cell])]
        done, top = self.factored(targets, most)
        if done is None or done.smallest is None:
            return None
        return Proof(everybody(self.counts, self.oracle(targets, top).relevant[done.certificate]), True)


@dataclass(frozen=True, eq=False)
class FlowRoute(Factoring):
    """Sums that nest in two trees: totally unimodular, so that a graph answers for whole numbers."""

    published: Published
    targets: list[Ints]
    effort: Effort
    method: str = "factoring on a graph"

    @cached_property
    def cuts(self) -> Cuts:
        return Cuts(network_of(self.published))

    def oracle(self, targets: list[Ints], most: int) -> Oracle:
        return flow_oracle(self.cuts.network, targets, most)

    def closed_form(self, most: int) -> list[int] | None:
        if any(len(g) > 1 for g in self.targets):
            return None
        target = np.zeros(len(self.counts), dtype=bool)
        target[self.single_targets] = True
        counts = crossed_counts(self.published, target)
        return None if counts is None else crossed_poly(counts, most)

    def _size(self, cell: int, limit: int) -> int:
        return self.cuts.size(cell, limit)

    @cached_property
    def _cheapest(self) -> tuple[int, int] | None:
        """The fewest people and the cell; cells with few people first, and never further than the best so far."""
        cells = np.array(self.single_targets, dtype=np.int64)
        cells = cells[np.argsort(self.counts[cells], kind="stable")]
        tight = cells[self.cuts.network.rise[cells] == 0]
        best = (int(self.counts[tight[0]]), int(tight[0])) if len(tight) else (LIMIT, -1)
        for cell in cells[self.cuts.apart[cells] & (self.cuts.network.rise[cells] > 0)]:
            if self.counts[cell] >= best[0]:
                break
            size = self.cuts.size(int(cell), best[0])
            best = (size, int(cell)) if size < best[0] else best
        return None if best[0] >= LIMIT else best

    def smallest(self, most: int) -> int | None:
        if any(len(g) > 1 for g in self.targets):
            return super().smallest(most)
        return None if self._cheapest is None else self._cheapest[0]

    def only(self, cell: int) -> Route:
        one = FlowRoute(self.published, [np.array([cell])], self.effort)
        one.__dict__["cuts"] = self.cuts  # the graph is the same
        return one

    def certificate(self, cell: int | None, most: int) -> Proof | None:
        if cell is None:
            if any(len(g) > 1 for g in self.targets):
                return super().certificate(cell, most)
            if self._cheapest is None:
                return None
            cell = self._cheapest[1]
        found = self.cuts.certificate(cell)
        return None if found is None else Proof(everybody(self.counts, found), True)
