"""The recovery probability of any release: linear programmes bound it, whole-number ones prove it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from math import comb, prod

import numpy as np

from confide.tables.layout import Ints
from confide.tables.published import Published
from confide.tables.schemes.scheme import Floats
from confide.tables.solve.expectation import expectation
from confide.tables.solve.factoring import Oracle, TooMuch, factor
from confide.tables.solve.factoring_route import Factoring
from confide.tables.solve.nested import Nest, nested_risk
from confide.tables.solve.programme_oracle import LinearOracle, NotProven, UnitOracle, setting, touched
from confide.tables.solve.routes import BETWEEN, ESTIMATE, EXACT, LOWER, Effort, Found, Proof, Route, exactly

MOST_SAMPLES = 3_000
"""A release with at most so many possible samples is gone through one by one where bounds do not meet."""


@dataclass(frozen=True, eq=False)
class ProgrammeRoute(Factoring):
    """Any release: linear programmes give a lower bound, whole-number ones the proof that it is exact."""

    published: Published
    targets: list[Ints]
    effort: Effort
    method: str = "factoring by linear programmes"

    def oracle(self, targets: list[Ints], most: int) -> Oracle:
        return LinearOracle(self.published, targets, most)

    def only(self, cell: int) -> Route:
        return ProgrammeRoute(self.published, [np.array([cell])], self.effort)

    @cached_property
    def _done(self) -> dict[int, Found]:
        return {}

    def risk(self, most: int, fractions: bool) -> Found:  # noqa: ARG002
        if most not in self._done:
            self._done[most] = self._risk(most)
        return self._done[most]

    def _risk(self, most: int) -> Found:
        found = super().risk(most, True)
        exact = sum(s == EXACT for s in found.status)
        ceiling = self._ceiling(most)
        if self.effort.prove is False or not exact:
            return self._lower(found, ceiling)
        try:
            done = factor(UnitOracle(self.published, self.targets, exact - 1), exact - 1, self.effort.budget)
            top = expectation(done.poly, self.people, exact - 1)
            if found.fractions is None or top != found.fractions[:exact]:
                if exact == most + 1 and self._few_samples:
                    return exactly(self._one_by_one(most)[0], "all samples, by integer programmes")
                ceiling[:exact] = np.minimum(ceiling[:exact], [float(v) for v in top])
                return self._lower(found, ceiling)
        except (TooMuch, NotProven):
            return self._lower(found, ceiling)
        return self._lower(found, ceiling, exact)

    @property
    def _few_samples(self) -> bool:
        return bool(np.prod(self.counts + 1.0) <= MOST_SAMPLES)

    def smallest(self, most: int) -> int | None:
        """The first n with a risk; where the risks before it are not exact, at most so many."""
        found = self.risk(most, False)
        sure = np.array([s != ESTIMATE for s in found.status])
        risky = np.flatnonzero((found.lower > 0) & sure)
        return int(risky[0]) if len(risky) else None

    def certificate(self, cell: int | None, most: int) -> Proof | None:
        if cell is not None:
            return self.only(cell).certificate(None, most)
        found = super().certificate(None, most)
        known = None if found is None else found.known
        least, before = self.smallest(most), self.risk(most, False).status
        if least is not None and (known is None or known.sum() > least):  # only whole numbers show it
            known = self._first_sample(most) if self._few_samples else known
        if known is None:
            return None
        size = int(known.sum())
        return Proof(known, all(s == EXACT for s in before[:size]) and size == least)

    def _lower(self, found: Found, ceiling: Floats, proven: int = 0) -> Found:
        """What is not proven is a lower bound; where bounds meet they are exact all the same."""
        met = (found.lower >= ceiling) & (found.standard_error == 0)
        status = [
            s if s == ESTIMATE or k < proven or met[k] else LOWER if ceiling[k] >= 1 else BETWEEN
            for k, s in enumerate(found.status)
        ]
        upper = np.where(np.arange(len(ceiling)) < proven, found.upper, np.maximum(ceiling, found.lower))
        return Found(found.risk, found.standard_error, found.lower, upper, status, found.fractions, found.method)

    def _ceiling(self, most: int) -> Floats:
        """No more than if every cell that some sum holds down were pinned as soon as it is known in full."""
        held = touched(setting(self.published))
        groups = [g for g in self.targets if np.all(held[g])]
        cells = np.zeros(len(self.counts), dtype=bool)
        for g in groups:
            cells[g[0]] = True
        families = type(self.published.layout)(len(self.counts), ()).families
        assert families is not None
        none = np.zeros(len(self.counts), dtype=bool)
        nothing = np.zeros(0, dtype=bool)
        return nested_risk(Nest(families[0], self.counts, none, ~none, nothing, nothing, cells), most)

    def _first_sample(self, most: int) -> Ints | None:
        try:
            return self._one_by_one(most)[1]
        except NotProven:
            return None

    def _one_by_one(self, most: int) -> tuple[list[Fraction], Ints | None]:
        """Every sample; one that holds a recovering sample needs no programme. And the first that recovers."""
        oracle = UnitOracle(self.published, self.targets, int(self.counts.max(initial=0)))
        hit: dict[tuple[int, ...], bool] = {}
        weight = [Fraction(0)] * (most + 1)
        first: Ints | None = None
        samples = [s for s in product(*(range(int(c) + 1) for c in self.counts)) if sum(s) <= most]
        for s in sorted(samples, key=sum):
            fewer = ((*s[:k], v - 1, *s[k + 1 :]) for k, v in enumerate(s) if v)
            hit[s] = any(hit[f] for f in fewer) or oracle.recovers(np.array(s, dtype=np.int64))
            if hit[s]:
                first = np.array(s, dtype=np.int64) if first is None else first
                weight[sum(s)] += prod(comb(int(c), v) for v, c in zip(s, self.counts, strict=True))
        return [w / comb(self.people, n) for n, w in enumerate(weight)], first
