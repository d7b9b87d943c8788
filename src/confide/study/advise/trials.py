"""Trials of candidates: one release, attacked on a sample of targets or on all, kept in a folder where there is one."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from confide.core.errors import InputError
from confide.core.random.seeds import stream
from confide.frames.columns import I64
from confide.measure.utility.measure import Measure
from confide.protect.plan import Plan
from confide.study.advise.space import Setting
from confide.study.evaluate import evaluate, is_random, repeat_seed
from confide.study.levels import contenders, every, only, stated
from confide.study.meeting import Met
from confide.study.pieces.keys import keyed
from confide.study.pieces.store import Store
from confide.study.statement.study import Study
from confide.study.statement.sweep import Candidate

SAMPLED, WHOLE, REPEATED, FINAL = 1, 2, 3, 4
"""Rungs: on a sample of targets; on all, at every level; with repeats; in the study at the end."""
SEEN = 30
"""People of the sample who are found where a plan is at the limit: enough to see that a plan is far from it."""
FEWEST, MOST = 1_000, 4_000
"""Targets of a sample."""


@dataclass(frozen=True)
class Trial:
    """One release. `risks`: by intruder and level, the risks of a file as a study has them, of the targets that were
    looked for; `on_file`: customary risks of the file. `records`: how many were released; `people`: by intruder, how
    many targets there would be without a sample. `error`: why there is none of it."""

    risks: Mapping[str, Mapping[str, Mapping[str, float | None]]] = field(default_factory=dict)
    utility: Mapping[str, float | None] = field(default_factory=dict)
    on_file: Mapping[str, float | None] = field(default_factory=dict)
    records: float = 0.0
    seconds: float = 0.0
    error: str = ""
    people: Mapping[str, float] = field(default_factory=dict)

    @property
    def met(self) -> dict[str, dict[str, Met]]:
        """As a study has it, the risks only."""
        return {who: {at: Met(dict(r), [], [], []) for at, r in ways.items()} for who, ways in self.risks.items()}


@dataclass(eq=False)
class Tried:
    """A candidate and its trials so far. `base`: the plan that it begins with, by its number: 0 for nothing done, then
    the plans of the user. `sampled`: its trial on a sample; `whole`: those on all targets, repeat by repeat."""

    base: int
    setting: Setting
    name: str
    plan: Plan | None
    families: tuple[str, ...]
    sampled: Trial | None = None
    whole: list[Trial] = field(default_factory=list)
    error: str = ""

    @property
    def random(self) -> bool:
        """Whether two releases of it differ."""
        return self.plan is not None and is_random(self.plan)

    @property
    def rung(self) -> int:
        """How far it came in the search."""
        if not self.whole:
            return SAMPLED if self.sampled is not None else 0
        return REPEATED if len(self.whole) > 1 or not self.random else WHOLE

    @property
    def evaluations(self) -> int:
        """Releases that were made and attacked."""
        return (self.sampled is not None) + len(self.whole)

    @property
    def good(self) -> list[Trial]:
        """Its trials on the highest rung, those that could be made."""
        trials = self.whole or ([] if self.sampled is None else [self.sampled])
        return [t for t in trials if not t.error]

    def add(self, trial: Trial, rung: int) -> None:
        """One more trial."""
        if trial.error:
            self.error = self.error or trial.error
        if rung == SAMPLED:
            self.sampled = trial
        else:
            self.whole.append(trial)


@dataclass(frozen=True, eq=False)
class Job:
    """One evaluation: a candidate on a rung, with the number of its repeat."""

    what: Tried
    rung: int
    repeat: int = 0


@dataclass(frozen=True, eq=False)
class Work:
    """How trials are made. `needed`: measures that decide; others wait for the study at the end. `sample`: original
    rows, the same people for all candidates; None where all are looked for at once."""

    study: Study
    needed: tuple[Measure, ...]
    seed: int
    sample: I64 | None
    store: Store | None = None

    def trial(self, job: Job, cores: int) -> Trial:
        """Make the release and attack it; what was done in this folder before is not done again."""
        assert job.what.plan is not None
        sample = self.sample if job.rung == SAMPLED else None
        levels = None if job.repeat == 0 else contenders(job.what.whole[0].met)
        about = {"seed": repeat_seed(self.seed, job.repeat), "levels": levels, "by": [m.name for m in self.needed],
                 "sample": None if sample is None else [len(sample), self.seed]}  # fmt: skip
        candidate = Candidate(job.what.name, job.what.plan)
        key = keyed(self.study, candidate, **about) if self.store is not None else ""
        held = self.store.get(key) if self.store is not None else None
        if held is not None:
            return Trial(**held)
        made = self._made(job, sample, levels, cores)
        if self.store is not None:
            self.store.put(key, dict(vars(made)))
        return made

    def _made(self, job: Job, sample: I64 | None, levels: Any, cores: int) -> Trial:
        study, began = self.study, time.perf_counter()
        ways = only(levels) if levels is not None else stated if sample is not None else every
        assert job.what.plan is not None
        try:
            found = evaluate(
                study.source, job.what.plan, study.intruders, self.needed, repeat_seed(self.seed, job.repeat),
                study.threshold, threads=cores, items=study.items, ways=ways, file_risks=study.on_file, sample=sample,
            )  # fmt: skip
        except InputError as e:
            return Trial(seconds=time.perf_counter() - began, error=str(e))
        lost = [*found.refused.values(), *(found.details[m] for m, u in found.utility.items() if u is None)]
        risks = {who: {at: m.risks for at, m in ways.items()} for who, ways in found.met.items()}
        bad = [why for who, why in found.refused.items() if not risks.get(who)] or (
            lost if any(u is None for u in found.utility.values()) else []
        )
        records, all_of = found.size["records"], found.size["of_records"]
        people = {who: all_of if study.intruders[who].membership == "in_file" else records for who in risks}
        return Trial(
            risks, found.utility, found.file_risks, records, time.perf_counter() - began, bad[0] if bad else "", people
        )  # fmt: skip


def sample_of(rows: int, share: float, seed: int) -> I64 | None:
    """A simple random sample of original rows, in which about thirty are found of a plan whose `share` is at the limit.

    None where a file is hardly larger than that.

    >>> sample_of(51_016, 0.01, 1).shape, sample_of(2_000, 0.01, 1)
    ((3000,), None)
    """
    size = int(min(max(SEEN / max(share, 1e-9), FEWEST), MOST))
    if rows <= 2 * size:
        return None
    return np.sort(stream(seed, "sample of targets").choice(rows, size, replace=False)).astype(np.int64)
