"""Any release at all, by programmes: which cells can rise, given the cells that are known in full.

Over the rationals only the constraints that are tight at the true table matter (`LinearOracle`): what it calls
recovered is recovered, but whole numbers may allow less. The other way round, if a table exists in which every target
rises while no cell that is not known in full loses more than one, then nothing is recovered, however many of its
people are known (`UnitOracle`). Where both give the same probability it is exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix, eye, hstack, vstack

from confide.core.errors import ConfideError
from confide.tables.layout import UNBOUNDED, Bools, Ints
from confide.tables.published import Published
from confide.tables.solve.programme import Programme, whole


class NotProven(ConfideError):
    """A solver stopped before its proof, so that nothing can be said."""


@dataclass(frozen=True, eq=False)
class _Setting:
    """What both oracles start from. `wide`: the quantities of more than one cell."""

    counts: Ints
    lower: Ints
    upper: Ints
    matrix: Any
    row_lower: Ints
    row_upper: Ints
    row_truth: Ints


def setting(published: Published) -> _Setting:
    lower, upper = published.cell_bounds
    wide = np.flatnonzero(published.layout.single < 0)
    return _Setting(
        published.table.counts.ravel(),
        lower,
        upper,
        published.layout.matrix[wide],
        published.lower[wide],
        published.upper[wide],
        published.truth[wide],
    )


def touched(here: _Setting) -> Bools:
    """Cells that some sum holds down from above, or their own bound: no others can ever be recovered."""
    full = (here.row_truth == here.row_upper).astype(np.int64)
    return np.asarray((here.matrix.T @ full > 0) | (here.counts == here.upper))


class _Base:
    """Relevant cells and targets. Subclasses say which known cells can rise."""

    def __init__(self, published: Published, targets: Sequence[Ints], most: int) -> None:
        here = setting(published)
        self.here = here
        can = here.counts <= most
        at_risk = touched(here)
        wanted = [g for g in targets if len(g) and np.all(can[g] & at_risk[g])]
        is_target = np.zeros(len(here.counts), dtype=bool)
        for g in wanted:
            is_target[g] = True
        self.relevant: Ints = np.flatnonzero(can & (is_target | (here.counts > here.lower)))
        self.weights: Ints = here.counts[self.relevant]
        place = np.full(len(here.counts), -1, dtype=np.int64)
        place[self.relevant] = np.arange(len(self.relevant))
        self.groups = [place[g] for g in wanted]
        self.in_group = np.zeros(len(self.relevant), dtype=bool)
        for g in self.groups:
            self.in_group[g] = True
        single = np.zeros(len(self.relevant), dtype=bool)
        single[[int(g[0]) for g in self.groups if len(g) == 1]] = True
        self.alone: Bools = single & (here.counts == here.upper)[self.relevant]
        self.seen: dict[bytes, Bools] = {}

    def recovered(self, known: Bools) -> Bools:
        key = np.packbits(known).tobytes()
        if key not in self.seen:
            self.seen[key] = known & self.in_group & ~self.can_rise(known)
        return self.seen[key]

    def some(self, known: Bools) -> bool:
        if not any(np.all(known[g]) for g in self.groups):
            return False
        found = self.recovered(known)
        return any(bool(np.all(found[g])) for g in self.groups)

    def minimal(self, known: Bools, order: Ints) -> Ints:
        now = known.copy()
        now[order] = True
        kept = []
        for k in order:
            now[k] = False
            if not self.some(now):
                now[k] = True
                kept.append(int(k))
        return np.array(kept, dtype=np.int64)

    def can_rise(self, known: Bools) -> Bools:
        raise NotImplementedError


def _hold(programme: Programme, first: int, raised: Bools) -> None:
    """A cell that is to rise by t changes by at least t; the others are free to fall."""
    at = first + np.arange(len(raised))
    programme.rows(np.where(raised, 0, -UNBOUNDED), np.full(len(raised), UNBOUNDED), at=at)


class LinearOracle(_Base):
    """One linear programme an answer: raise as many known targets as possible, each by at most 1."""

    def __init__(self, published: Published, targets: Sequence[Ints], most: int) -> None:
        super().__init__(published, targets, most)
        here = self.here
        m = len(here.counts)
        tight = np.flatnonzero((here.row_truth == here.row_upper) | (here.row_truth == here.row_lower))
        self.down = np.where(here.counts > here.lower, -UNBOUNDED, 0)
        self.up = np.where(here.counts < here.upper, UNBOUNDED, 0)
        rows = here.matrix[tight]
        at = self.relevant[self.in_group]
        picks = csr_matrix((np.ones(len(at)), (np.arange(len(at)), at)), shape=(len(at), m))
        matrix = vstack([hstack([rows, csr_matrix((len(tight), len(at)))]), hstack([picks, -eye(len(at))])]).tocsr()
        row_low = np.where(here.row_truth[tight] == here.row_lower[tight], 0, -UNBOUNDED)
        row_up = np.where(here.row_truth[tight] == here.row_upper[tight], 0, UNBOUNDED)
        self.programme = Programme(
            matrix,
            np.concatenate([row_low, np.zeros(len(at), dtype=np.int64)]),
            np.concatenate([row_up, np.full(len(at), UNBOUNDED)]),
            np.concatenate([self.down, np.zeros(len(at), dtype=np.int64)]),
            np.concatenate([self.up, np.ones(len(at), dtype=np.int64)]),
        )
        self.first_pick = len(tight)
        self.price = 5_000 + 30 * matrix.nnz  # about 0.3 ms and upwards
        self.objective = np.concatenate([np.zeros(m), np.ones(len(at))])

    def can_rise(self, known: Bools) -> Bools:
        m = len(self.here.counts)
        down = self.down.copy()
        down[self.relevant[known]] = 0
        raised = known[self.in_group].astype(np.int64)
        low = np.concatenate([down, np.zeros(len(raised), dtype=np.int64)])
        self.programme.columns(low, np.concatenate([self.up, raised]))
        _hold(self.programme, self.first_pick, known[self.in_group])
        answer = self.programme.maximise(self.objective)
        if answer.status != "optimal":
            raise NotProven("The linear programme of a release was not solved, so its risk is not known.")
        out = np.zeros(len(known), dtype=bool)
        out[self.in_group] = answer.x[m:] > 0.5  # the cone is homogeneous: 0 or 1
        return out


class UnitOracle(_Base):
    """Whole-number programmes: raise known targets while cells not known in full lose at most one."""

    def __init__(self, published: Published, targets: Sequence[Ints], most: int, seconds: float = 3.0) -> None:
        super().__init__(published, targets, most)
        here = self.here
        m = len(here.counts)
        at = self.relevant[self.in_group]
        picks = csr_matrix((np.ones(len(at)), (np.arange(len(at)), at)), shape=(len(at), m))
        empty = csr_matrix((here.matrix.shape[0], len(at)))
        matrix = vstack([hstack([here.matrix, empty]), hstack([picks, -eye(len(at))])]).tocsr()
        upper = np.where(here.row_upper >= UNBOUNDED, UNBOUNDED, here.row_upper - here.row_truth)
        self.down = np.where(here.counts > here.lower, -1, 0)
        self.up = np.where(here.upper >= UNBOUNDED, UNBOUNDED, here.upper - here.counts)
        self.programme = Programme(
            matrix,
            np.concatenate([here.row_lower - here.row_truth, np.zeros(len(at), dtype=np.int64)]),
            np.concatenate([upper, np.full(len(at), UNBOUNDED)]),
            np.concatenate([self.down, np.zeros(len(at), dtype=np.int64)]),
            np.concatenate([self.up, np.ones(len(at), dtype=np.int64)]),
            integer=True,
            seconds=seconds,
        )
        self.first_pick = here.matrix.shape[0]
        self.price = 50_000 + 300 * matrix.nnz

    def can_rise(self, known: Bools) -> Bools:
        down = self.down.copy()
        down[self.relevant[known]] = 0
        out = np.zeros(len(known), dtype=bool)
        out[self.in_group] = self._risen(down, known[self.in_group])
        return out

    def recovers(self, sample: Ints) -> bool:
        """Whether just this sample (m) recovers a target."""
        here = self.here
        down = np.maximum(sample, here.lower) - here.counts
        full = (sample == here.counts)[self.relevant]
        found = np.zeros(len(full), dtype=bool)
        found[self.in_group] = full[self.in_group] & ~self._risen(down, full[self.in_group])
        return any(bool(np.all(found[g])) for g in self.groups)

    def _risen(self, down: Ints, wanted: Bools) -> Bools:
        """Raise as many of the wanted as possible at once; then those left; until none of them can."""
        m = len(self.here.counts)
        left = wanted.copy()
        while left.any():
            low = np.concatenate([down, np.zeros(len(left), dtype=np.int64)])
            self.programme.columns(low, np.concatenate([self.up, left.astype(np.int64)]))
            _hold(self.programme, self.first_pick, left)
            answer = self.programme.maximise(np.concatenate([np.zeros(m), left.astype(np.float64)]))
            if answer.status != "optimal" or not self._fits(answer.x[:m], down):
                raise NotProven("An integer programme of a release was not solved within its time.")
            now = left & (np.rint(answer.x[:m][self.relevant[self.in_group]]) >= 1)
            if not now.any():
                break
            left &= ~now
        return np.asarray(wanted & ~left)

    def _fits(self, x: Any, down: Ints) -> bool:
        """The solver's answer is a change of whole numbers that keeps every bound; checked in whole numbers."""
        change = whole(x)
        if change is None or np.any(change < down) or np.any(change > self.up):
            return False
        sums = self.here.row_truth + self.here.matrix @ change
        return bool(np.all(sums >= self.here.row_lower) and np.all(sums <= self.here.row_upper))
