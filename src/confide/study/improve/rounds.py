"""The first part of an improvement: many changes, each tried once on a part of the targets; the best go on.

First intruders attack as they are stated, which is fast. Those changes that look best are then attacked at every level
that could find more, until all that look best were: a change is not chosen for misleading the first level only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from confide.core.errors import InputError
from confide.core.run.progress import Progress
from confide.core.run.threads import thread_count
from confide.measure.utility.measure import Measure
from confide.protect.plan import Plan
from confide.protect.seam.dials import Dial
from confide.study.evaluate import is_random, repeat_seed
from confide.study.improve.changes import Altered, altered_by, for_the_few, released_again, taken_away
from confide.study.improve.glimpse import Drawn, Glimpse, Looking, everybody, merit
from confide.study.improve.result import TRIED
from confide.study.search.trials import side_by_side
from confide.study.statement.study import Study
from confide.study.tradeoff.risk_names import about_file

ERRORS = 2.0
"""Standard errors by which a change must lower the risk on the sample to be promising."""
WORTH = 0.02
"""Share of the risk that a change must lower at least."""
FIRST = 0.75
"""Share of the tries that sees as many kinds of changes as possible; the rest is for other strengths of the best."""
STRENGTHS = 2
"""Strengths of one dial that are carried out on all targets."""


@dataclass(frozen=True, eq=False)
class Seen:
    """A change that was tried: how far it lowers the risk, the error of that, and how much utility it loses."""

    one: Altered
    glimpse: Glimpse
    lowered: float
    error: float
    lost: float

    @property
    def lowers(self) -> bool:
        """Whether it lowers the risk beyond the error."""
        return self.lowered > ERRORS * self.error

    @property
    def raises(self) -> bool:
        """Whether it raises the risk beyond the error."""
        return -self.lowered > ERRORS * self.error


@dataclass(eq=False)
class Rounds:
    """The changes that were tried so far. `failed`: how many could not be carried
    out; `left`: how many there would have been beside them."""

    study: Study
    plan: Plan
    risk: str
    measure: Measure
    limit: float
    seed: int
    threads: int | None
    progress: Progress
    seen: list[Seen] = field(default_factory=list)
    chosen: list[Altered] = field(default_factory=list)
    left: int = 0
    failed: int = 0
    drawn: Drawn = field(init=False)
    before: Glimpse = field(init=False)
    as_stated: Glimpse = field(init=False)

    def __post_init__(self) -> None:
        self.looking = Looking(self.study, self.risk, self.measure)
        self.draw = repeat_seed(self.seed, 0)

    def run(self, dials: Sequence[Dial], kept: Sequence[str], targets: int, tries: int, most: int) -> list[Altered]:
        """Try changes, and choose those that are carried out on all targets."""
        cores = thread_count(self.threads)
        added, own = everybody(self.looking, self.plan, self.draw, cores) if not about_file(self.risk) else (
            np.ones(self.study.data.height), np.zeros(self.study.data.height))  # fmt: skip
        self.drawn = Drawn.of(added, targets, self.seed)
        self.before = self.looking.at(self.plan, self.drawn, self.draw, cores)
        self.as_stated = self.looking.at(self.plan, self.drawn, self.draw, cores, every=False)
        few = np.flatnonzero(own > self.study.threshold * (1 + 1e-9)).tolist()
        single, graded = self._changes(dials, kept, few)
        every = sum(map(len, graded)) + len(single)
        if every <= tries:
            self._try([*single, *(one for dial in graded for one in dial)], "trying changes")
        else:
            self._in_turn(single, graded, tries)
        self.left = every - len(self.seen) - self.failed
        self.chosen = [s.one for s in self._at_every_level(most)]
        return self.chosen

    def _at_every_level(self, most: int) -> list[Seen]:
        """The promising ones, when all of them were attacked at every level."""
        while True:
            best = self._promising(most)
            unsure = [s for s in best if not s.glimpse.sure]
            if not unsure:
                return best
            found = side_by_side(
                lambda s, cores: self._once(s.one, cores, every=True), unsure, self.study.data.height, self.threads,
                "at every level", self.progress,
            )  # fmt: skip
            again = dict(zip(map(id, unsure), found, strict=True))
            self.failed += sum(s is None for s in found)
            self.seen = [s for old in self.seen if (s := again.get(id(old), old)) is not None]

    def _changes(
        self, dials: Sequence[Dial], kept: Sequence[str], few: Sequence[int]
    ) -> tuple[list[Altered], list[list[Altered]]]:
        """All changes: those without strengths, then by dial those with."""
        known = {v for who in self.study.intruders.values() for v in (*who.knows, *who.between)}
        useful = sorted((d for d in dials if not d.variables or set(d.variables) & known), key=self._breadth)
        again = released_again(self.plan, known - set(kept))
        single = [*taken_away(self.plan, kept), *again, *for_the_few(self.plan, few, useful)]
        graded = [found for d in useful if (found := altered_by(self.plan, d))]
        return single, graded

    def _breadth(self, dial: Dial) -> int:
        """How many variables a dial alters beyond the first, none where a step of the plan alters the very same: what
        alters many at once is nearer to another plan, and takes longest."""
        return 0 if any(set(s.variables) == set(dial.variables) for s in self.plan.steps) else len(dial.variables[1:])

    def _in_turn(self, single: Sequence[Altered], graded: Sequence[Sequence[Altered]], tries: int) -> None:
        """More changes than tries: of every dial its middle strength first, then others of the dials that do best."""
        middle = [dial[len(dial) // 2] for dial in graded]
        self._try([*single, *middle][: max(round(FIRST * tries), 1)], "trying changes")
        by = {
            one.group: [other for other in dial if other is not one] for one, dial in zip(middle, graded, strict=True)
        }
        order = sorted((s for s in self.seen if s.one.group in by), key=lambda s: (not s.lowers, self._merit(s)))
        later = [*(other for s in order for other in by[s.one.group]), *middle]
        seen = {s.one.what for s in self.seen}
        later = [one for one in dict.fromkeys(later) if one.what not in seen]
        self._try(later[: tries - len(self.seen) - self.failed], "trying other strengths")

    def _try(self, changes: Sequence[Altered], what: str) -> None:
        found = side_by_side(self._once, changes, self.study.data.height, self.threads, what, self.progress)
        self.seen += [s for s in found if s is not None]
        self.failed += sum(s is None for s in found)

    def _once(self, one: Altered, cores: int, every: bool = False) -> Seen | None:
        """None where the change cannot be carried out on this file, or leaves nothing to measure."""
        try:
            glimpse = self.looking.at(one.plan, self.drawn, self.draw, cores, every)
        except InputError:
            return None
        before = self.before if glimpse.sure else self.as_stated
        exact = len(self.drawn.rows) == self.study.data.height and not (is_random(self.plan) or is_random(one.plan))
        lowered, error = glimpse.lowered_from(before, exact or about_file(self.risk))
        sign = 1.0 if self.measure.direction == "higher" else -1.0
        lost = sign * (self.before.utility - glimpse.utility)
        return None if np.isnan(lost) or np.isnan(lowered) else Seen(one, glimpse, lowered, error, lost)

    def _merit(self, s: Seen) -> tuple[float, float]:
        return merit(s.lowered, s.lost)

    def _promising(self, most: int) -> list[Seen]:
        """Of those that lower the risk the best per utility lost, at most two strengths of one dial, among them the
        cheapest that suffices; a third of the places is for what gives utility back, more where the limit is kept."""
        kept = self.before.risk <= self.limit < np.inf
        worth = [s for s in self.seen if s.lowers and s.lowered >= WORTH * self.before.risk]
        worth.sort(key=self._merit)
        back = sorted((s for s in self.seen if s not in worth and self._gives_back(s, kept)),
                      key=lambda s: (s.raises, s.lost))  # fmt: skip
        enough = sorted((s for s in worth if not kept and s.glimpse.risk + s.error <= self.limit < np.inf),
                        key=lambda s: s.lost)  # fmt: skip
        places = max(1, most // 3) if not kept else most - most // 3
        some = _few_each(back)[:places]
        out = {s.one.what: s for s in [*_few_each(enough)[: max(1, most // 3)], *some]}
        for s in [*_few_each(worth), *_few_each(back)[places:]]:
            if len(out) >= most:
                break
            out.setdefault(s.one.what, s)
        return list(out.values())[:most]

    def _gives_back(self, s: Seen, kept: bool) -> bool:
        """Whether it gains utility at no risk that can be seen, or within the limit."""
        if s.lost >= 0:
            return False
        return not s.raises or (kept and s.glimpse.risk + s.error <= self.limit)

    def table(self) -> pl.DataFrame:
        """Every change that was tried."""
        rows = [
            (s.one.what, s.glimpse.risk, s.lowered, s.error, s.glimpse.utility, s.lost, s.one in self.chosen)
            for s in sorted(self.seen, key=lambda s: (not s.lowers, self._merit(s)))
        ]
        return pl.DataFrame(rows, schema=TRIED, orient="row")


def _few_each(some: Sequence[Seen]) -> list[Seen]:
    """At most two strengths of one dial."""
    many: dict[str, int] = {}
    out = []
    for s in some:
        many[s.one.group] = many.get(s.one.group, 0) + 1
        if many[s.one.group] <= STRENGTHS:
            out.append(s)
    return out
