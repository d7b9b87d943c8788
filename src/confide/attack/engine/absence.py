"""Beliefs about people who are not in the release, fitted and asked: see `beliefs.absence`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from confide.attack.beliefs.absence import BINS, MOST, Belief
from confide.attack.beliefs.cells import Cells
from confide.attack.beliefs.held_out import Held
from confide.attack.beliefs.numbers import is_number
from confide.attack.engine.aspects import Aspect, fine_bins, judged, known
from confide.attack.evidence.case import Case
from confide.attack.evidence.gather import Knowledge, Uncertain, meets
from confide.frames.columns import F64, I64, Records
from confide.frames.distinct import Distinct

CHUNK = 2_000_000
"""Entries of the largest table of targets and joint categories."""


@dataclass(frozen=True, eq=False)
class Part:
    """A belief in some aspects of people given the cell. `over`: the first so many of them are divided by what they
    are at large, since their method divides by a density of its own over the whole file; 0 for none."""

    belief: Belief
    aspects: tuple[Aspect, ...]
    over: int = 0


@dataclass(frozen=True, eq=False)
class Absence:
    """Beliefs that multiply. `intervals`: how many are known of the target, each a label more."""

    cells: Cells
    parts: tuple[Part, ...]
    intervals: int = 0

    def log(self, knowledge: Knowledge, targets: Records, labels: Sequence[I64]) -> F64:
        """log of what the records' evidence is divided by, of each target, shape (n,)."""
        inside = [np.ones(targets.n, dtype=np.int64)] * self.intervals
        cell = self.cells.place([*labels, *inside], targets.n)
        out = np.zeros(targets.n)
        for part in self.parts:
            steps = [knowledge.uncertain[a.step] for a in part.aspects]
            values = [a.values(u, targets) for a, u in zip(part.aspects, steps, strict=True)]
            distinct = Distinct.rows([cell, *values], targets.n)
            found = np.empty(len(distinct))
            most = max(CHUNK // part.belief.codes.shape[1], 1)
            for i in range(0, len(distinct), most):
                rows = distinct.first[i : i + most]
                log_x = [a.log_known(u, v[rows]) for a, u, v in zip(part.aspects, steps, values, strict=True)]
                found[i : i + most] = part.belief.log(log_x, cell[rows])
                if part.over:
                    at_large = [x if a < part.over else np.zeros_like(x) for a, x in enumerate(log_x)]
                    found[i : i + most] -= part.belief.log(at_large, None)
            out += np.where(np.isfinite(found), found, 0.0)[distinct.of]
        return out


def fit_absence(
    case: Case, knowledge: Knowledge, targets: Records, reference: Records, codes: list[I64], weight: F64 | None,
    between: Mapping[str, tuple[float, float]], beside: Sequence[int] = (),
) -> Absence | None:  # fmt: skip
    """Beliefs for targets who may be absent; None where absence is impossible, or nothing known is judged by a record.

    `reference`, `codes`, `weight`: the file that beliefs are fitted on, its certain labels and counts. `between`:
    intervals that are known of kept numbers. `beside`: steps whose known values depend on those that are judged, so
    that all go together.
    """
    steps = list(enumerate(knowledge.uncertain))
    if case.intruder.membership == "certain" or not any(u.given_record for _, u in steps):
        return None
    inside = [_inside(case, reference, v, *ends) for v, ends in between.items()]
    mine = [c.of(targets) for c in knowledge.certain] + [np.ones(targets.n, dtype=np.int64)] * len(inside)
    sizes = [c.size for c in knowledge.certain] + [2] * len(inside)
    cells, (cell, _) = Cells.fit([[*codes, *inside], mine], sizes, [reference.n, targets.n], weight)
    about = _About(case, reference, cells, cell, case.held(reference, weight), weight)
    tilted = [(i, u) for i, u in steps if u.given_record == "tilt" and (len(cells) > 1 or beside)]
    whole = [(i, u) for i, u in steps if u.given_record == "whole"]
    more = [(i, knowledge.uncertain[i]) for i in beside]
    together = [(i, u, v) for i, u in [*tilted, *whole] for v in u.variables]
    over = sum(len(u.variables) for _, u in tilted)
    parts = about.fit(together, [(i, u, v) for i, u in more for v in u.variables], over)
    return Absence(cells, tuple(parts), len(inside))


def _inside(case: Case, reference: Records, v: str, low: float, high: float) -> I64:
    """Which reference rows an interval of a kept number allows, 0 or 1."""
    chain = case.compiled.way(v).after
    column = reference[v] if case.intruder.beliefs == "released" else chain.image(reference[v])
    return meets(column, chain, low, high).astype(np.int64)


@dataclass(frozen=True, eq=False)
class _About:
    """The reference file with its cells."""

    case: Case
    reference: Records
    cells: Cells
    cell: I64
    held: Held
    weight: F64 | None

    def fit(
        self, mine: list[tuple[int, Uncertain, str]], more: list[tuple[int, Uncertain, str]], over: int
    ) -> list[Part]:
        """One belief in all of them, with as many bins as leave few enough joint categories; else one by one."""
        if not mine:
            return []
        found: list[tuple[Aspect, I64, int]] = []
        finest = fine_bins(sum(is_number(u, self.case) for _, u, _ in more))
        for most in BINS:
            found = [judged(self.case, i, u, v, self.reference, self.weight, most) for i, u, v in mine]
            found += [known(self.case, i, u, v, self.reference, self.weight, most, finest) for i, u, v in more]
            if len(Distinct.rows([c for _, c, _ in found], len(self.cell))) <= MOST:
                return [Part(self._belief(found), tuple(a for a, *_ in found), over)]
        return [Part(self._belief([one]), (one[0],), int(i < over)) for i, one in enumerate(found[: len(mine)])]

    def _belief(self, found: Sequence[tuple[Aspect, I64, int]]) -> Belief:
        codes, sizes = [c for _, c, _ in found], [n for *_, n in found]
        return Belief.fit(self.cells, self.cell, codes, sizes, self.held, self.weight)
