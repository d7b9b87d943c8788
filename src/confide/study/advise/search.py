"""The search: waves of trials; what looks best goes on to more targets, more levels and more repeats."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, cast

from confide.core.errors import InputError
from confide.core.run.threads import thread_count
from confide.measure.utility.measure import Measure
from confide.protect.plan import Plan
from confide.study.advise.budget import Budget
from confide.study.advise.cost import expected
from confide.study.advise.forecast import Forecast, Known, Ladder
from confide.study.advise.numbers import Spread, beats, breaks, holds, loss_of, risks_of, worst
from confide.study.advise.refine import turned_back
from confide.study.advise.room import tight
from confide.study.advise.space import Setting, Space
from confide.study.advise.trials import REPEATED, SAMPLED, WHOLE, Job, Trial, Tried, Work
from confide.study.advise.turns import Turns
from confide.study.search.trials import as_long_as

NEW, UP, AGAIN = 12, 4, 2
"""Of one wave: settings that are new, candidates that go on to all targets, and that are repeated."""
FIRST, SINGLES = 32, 6
"""Dials that are turned alone in the first wave, and in each that follows until all were."""
REPEATS = 3
"""Releases of a candidate that came to the third rung."""
PATIENCE = 6
"""Waves after which a search ends that finds nothing better."""
BETTER = 0.005
"""Of the loss: what is better by less is not."""
BEAM, ALIKE = 6, 2
"""Candidates around which a wave looks, and how many of them may turn the same dials."""
CHAIN = 4
"""Dials that a first mix turns at most."""


class Search:
    """What has been tried so far, and what to try next. Waves follow from the trials before them, never from time, so
    that as many evaluations of the same seed are always the same search."""

    def __init__(
        self, space: Space, own: Mapping[str, Plan], work: Work, limits: Mapping[str, float], measure: Measure,
        budget: Budget, threads: int | None, kept: Sequence[str] = (),
        memory: int | None = None, ends: Callable[[Search], float] = lambda _: 0.0,
    ) -> None:  # fmt: skip
        self.spaces = [space, *(Space(plan, space.dials) for plan in own.values())]
        self.names = ["", *own]
        self.space, self.work, self.limits, self.measure = space, work, limits, measure
        self.budget, self.threads, self.kept, self.memory = budget, threads, tuple(kept), memory
        self.ends, self._turns = ends, Turns(memory)
        self.ladders = [Ladder(d) for d in space.dials]
        self.forecast = Forecast(self.ladders, limits, measure)
        self.tried: dict[tuple[int, Setting], Tried] = {}
        self.ended = ""
        self.waiting: list[Tried] = []
        self.anchor = self._candidate(0, ())

    @property
    def candidates(self) -> list[Tried]:
        """All that were tried, in the order in which they were thought of."""
        return [c for c in self.tried.values() if c.evaluations]

    @property
    def first(self) -> int:
        """The rung on which trials begin: a small file has no sample."""
        return SAMPLED if self.work.sample is not None else WHOLE

    def run(self) -> None:
        """Wave after wave, until the budget ends or nothing better is found."""
        start = [Job(self.anchor, WHOLE), *([Job(self.anchor, SAMPLED)] if self.first == SAMPLED else [])]
        owns = [Job(self._candidate(k, ()), self.first) for k in range(1, len(self.spaces))]
        best, waited = math.inf, 0
        self.waiting = self._singles()
        jobs = [*start, *owns, *self._next(FIRST)]
        while jobs and self._carried_out(jobs):
            self.forecast.learn(self.anchor, self.candidates)
            now = self._standing()
            waited = 0 if now < best - BETTER * abs(best) else waited + 1
            best = min(best, now)
            if waited > PATIENCE and not self.waiting:
                self.ended = "nothing better was found in a while"
                return
            jobs = self._wave(first=not any(len(c.setting) > 1 for c in self.candidates))
        self.ended = self.ended or ("everything that could be tried was tried" if not jobs else "the budget ended")

    def _carried_out(self, jobs: Sequence[Job]) -> bool:
        """Whether the budget sufficed for all jobs; those that were done count in any case. What takes long is last."""
        todo = sorted((j for j in jobs if not j.what.error), key=lambda j: self._dear(j.what))
        made = as_long_as(
            lambda j: self.budget.begin(self._kind(j), expected(j.what, j.rung)), self._timed, todo,
            self.work.study.data.height, self.threads, one_by_one=tight(self.memory),
        )  # fmt: skip
        for job, trial in zip(todo, made, strict=False):
            job.what.add(trial, job.rung)
        self.budget.end = self.ends(self)
        return len(made) == len(todo)

    def _timed(self, job: Job, cores: int) -> Trial:
        """One job; where memory is limited, one that takes long and much room is alone, on all cores."""
        with self._turns.turn(self._kind(job), self._dear(job.what)) as alone:
            if alone:
                tight(self.memory)
                cores = thread_count(self.threads)
            return self.budget.timed(lambda: self.work.trial(job, cores), self._kind(job))

    def _kind(self, job: Job) -> tuple[int, bool]:
        """Jobs that take about as long."""
        return job.rung, self._dear(job.what)

    def _standing(self) -> float:
        """How good the best candidate is: its loss within the limits; before there is one, how far the nearest is."""
        held = [x for c in self.candidates if holds(c, self.limits) and (x := loss_of(c, self.measure)) is not None]
        if held:
            return min(held)
        far = [w for c in self.candidates if not c.error and math.isfinite(w := worst(risks_of(c, self.limits)))]
        return 1e6 * (1 + max(min(far), 0.0)) if far else math.inf

    def _candidate(self, base: int, setting: Setting) -> Tried:
        """The candidate of a setting; one that cannot be carried out has no plan."""
        key = base, setting
        if key not in self.tried:
            space, own = self.spaces[base], self.names[base]
            words = space.says(setting)
            name = words if not base else f"{own}; {words}" if setting else own
            families = (*(["as stated"] if base else []), *space.families(setting))
            try:
                plan, error = space.plan(setting), ""
            except InputError as e:
                plan, error = None, str(e)
            self.tried[key] = Tried(base, setting, name, plan, families, error=error)
        return self.tried[key]

    def _singles(self) -> list[Tried]:
        """Every dial at its middle strength, the families taking turns, each with the variables that were turned least
        so far; and what takes long last."""
        left: dict[str, list[int]] = {}
        for k, d in enumerate(self.space.dials):
            left.setdefault(d.family, []).append(k)
        turned: Counter[str] = Counter()
        out: list[Tried] = []
        while any(left.values()):
            for mine in (m for m in left.values() if m):
                k = min(mine, key=lambda k: (min((turned[v] for v in self.space.dials[k].variables), default=0), k))
                mine.remove(k)
                d = self.space.dials[k]
                turned.update(d.variables)
                out.append(self._candidate(0, ((k, d.strengths[len(d.strengths) // 2]),)))
        return sorted((c for c in out if not c.error), key=self._dear)

    def _dear(self, c: Tried) -> bool:
        return any(self.space.dials[k].dear for k, _ in c.setting)

    def _next(self, many: int) -> list[Job]:
        """Dials that were not turned yet, the next in the row."""
        out, self.waiting = self.waiting[:many], self.waiting[many:]
        return [Job(c, self.first) for c in out if not c.evaluations]

    def _wave(self, first: bool) -> list[Job]:
        """The best a little weaker, repeats for the best, all targets for the next, then new settings."""
        spread = Spread.of(self.candidates, self.measure)
        sure = self.sure()
        alive = [c for c in self.candidates if not c.error and self.beaten_by(c, spread, sure) is None]
        alive.sort(key=self._rank)
        again = [c for c in alive if c.rung == WHOLE and c.random and self._near(c)][:AGAIN]
        up = [c for c in alive if c.rung == SAMPLED and self._near(c)][:UP]
        settings = turned_back(self.candidates, self.ladders, self.limits, self.measure)
        back = [c for key in settings if not ((c := self._candidate(*key)).evaluations or c.error)]
        new = [c for c in self._chains() if c not in back] if first else []
        new += [c for c in self._proposed(alive) if c not in (*back, *new, *self.waiting[:SINGLES])][:NEW]
        return [
            *(Job(c, WHOLE) for c in dict.fromkeys(back)),  # a sample would not tell them from what they are near to
            *(Job(c, REPEATED, r) for c in again for r in range(1, REPEATS)),
            *(Job(c, WHOLE) for c in up),
            *(Job(c, self.first) for c in new),
            *self._next(SINGLES),
        ]

    def _rank(self, c: Tried) -> float:
        return self.forecast.promise(self.forecast.known(c))

    def _near(self, c: Tried) -> bool:
        """Whether a candidate may be within the limits."""
        return bool(risks_of(c, self.limits)) and not breaks(c, self.limits)

    def beaten_by(self, c: Tried, spread: Spread, sure: Sequence[Tried]) -> Tried | None:
        """Which of those that surely keep the limits beats a candidate beyond noise; None where none does."""
        return next((r for r in sure if r is not c and beats(r, c, self.measure, spread)), None)

    def sure(self) -> list[Tried]:
        """The best of those that keep the limits beyond noise."""
        found = [c for c in self.candidates if not c.error and holds(c, self.limits, surely=True)]
        return sorted(found, key=lambda c: (loss_of(c, self.measure) or 0.0, c.name))[:3]

    def _chains(self) -> list[Tried]:
        """First mixes: from the best of each family, dial after dial, what promises most, until the limits are met."""
        out: list[Tried] = []
        for k in range(len(self.space.dials)):
            if k not in self.forecast.effects:
                continue
            same = [
                c for c in out if c.setting and self.space.dials[c.setting[0][0]].family == self.space.dials[k].family
            ]
            if same:
                continue
            found = self._chain(self.space.dials[k].family)
            if found is not None and not found.evaluations and found not in out:
                out.append(found)
        return out

    def _chain(self, family: str) -> Tried | None:
        """The mix that begins with a family."""
        at, setting = self.forecast.start, cast(Setting, ())
        for step in range(CHAIN):
            if at is None or at.worst <= 0:
                break
            free = [
                k
                for k, d in enumerate(self.space.dials)
                if (d.family == family if not step else k not in dict(setting))
            ]
            options = sorted(
                ((self.forecast.promise(known), k, x, known) for k in free for x in self.ladders[k].rungs()
                 if (known := self.forecast.moved(at, k, None, x)) is not None),
                key=lambda o: (o[0], o[1]),
            )  # fmt: skip
            for promise, k, x, known in options:
                if math.isfinite(promise) and known.far < at.far - 1e-9:
                    c = self._candidate(0, self.space.turned(setting, k, x))
                    if not c.error:
                        at, setting = known, c.setting
                        break
            else:
                break
        return self._candidate(0, setting) if setting else None

    def _proposed(self, alive: Sequence[Tried]) -> list[Tried]:
        """New settings around the best candidates and around one of each family in turn, what promises most first."""
        found: dict[tuple[int, Setting], tuple[float, Tried, int]] = {}
        for c in self._beam(alive):
            known = self.forecast.known(c)
            if known is not None:
                for promise, dial, setting in self._moves(c, known):
                    key = c.base, setting
                    if key not in found or promise < found[key][0]:
                        found[key] = promise, c, dial
        out: list[Tried] = []
        taken: dict[Any, int] = {}
        for key, (promise, parent, dial) in sorted(found.items(), key=lambda f: f[1][0]):
            source = parent.base, parent.setting, dial
            if not math.isfinite(promise) or taken.get(source, 0) >= ALIKE:
                continue
            c = self._candidate(*key)
            slow = self._dear(c)
            if not c.error and not c.evaluations and not (slow and taken.get("dear")):
                out.append(c)
                taken["dear"] = taken.get("dear", 0) + slow
                taken[source] = taken.get(source, 0) + 1
            if len(out) >= 2 * NEW:
                break
        return out

    def _moves(self, c: Tried, known: Known) -> Iterator[tuple[float, int, Setting]]:
        """Settings one turn away that nobody tried, with what they promise."""
        space, at = self.spaces[c.base], dict(c.setting)
        for k, strength in at.items():
            self.ladders[k].around(strength)
        for k in range(len(space.dials)):
            old = at.get(k)
            for x in [*([None] if old is not None else []), *self.ladders[k].rungs()]:
                setting = space.turned(c.setting, k, x)
                there = self.tried.get((c.base, setting))
                if x != old and (there is None or not (there.evaluations or there.error)):
                    yield self.forecast.promise(self.forecast.moved(known, k, old, x)), k, setting

    def _beam(self, alive: Sequence[Tried]) -> list[Tried]:
        """The most promising candidates, few of which turn the same dials; and the best of each family."""
        out: list[Tried] = []
        many: dict[Any, int] = {}
        for c in alive:
            dials = c.base, tuple(k for k, _ in c.setting)
            if len(out) < BEAM and many.get(dials, 0) < ALIKE:
                out.append(c)
                many[dials] = many.get(dials, 0) + 1
        for family in dict.fromkeys(d.family for d in self.space.dials):
            best = next((c for c in alive if family in c.families), None)
            if best is not None and best not in out:
                out.append(best)
        return out if out else [self.anchor]
