"""The search: the setting of a plan's parameters with the best utility within limits on risk."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from confide.attack.intruder import Intruder
from confide.core.errors import InputError, raise_all
from confide.core.random.seeds import checked_seed
from confide.core.result import Result
from confide.core.run.progress import Progress
from confide.core.upward import upward
from confide.measure.risk.file_risks.statement import FileRisk
from confide.measure.utility.measure import Measure
from confide.protect.plan import Plan
from confide.study.evaluate import is_random
from confide.study.search.refine import Space
from confide.study.search.trials import tried
from confide.study.statement.study import Study
from confide.study.statement.sweep import Candidate, Sweep
from confide.study.statement.sweep import shown as in_words
from confide.study.tradeoff.asked import checked_limits, chosen_measure
from confide.study.tradeoff.question import Question, number, shown
from confide.study.tradeoff.reason import nobody, warnings_of
from confide.study.tradeoff.repeats import Interval, Repeats

SWEEP = "search"
MOST_GROUPS = 3
"""Combinations of listed values that are refined in a round: those that did best."""


class NothingMeets(InputError):
    """No setting that was tried met the limits, or none did again with fresh seeds. `searched`: those that were tried,
    as in an `Optimum`."""

    def __init__(self, message: str, searched: pl.DataFrame) -> None:
        super().__init__(message)
        self.searched = searched


@dataclass(frozen=True, eq=False, repr=False)
class Optimum(Result):
    """What a search found.

    `plan` and its `parameters`. `risks` and `utility`: by name, means and 95% intervals over repeats with fresh seeds,
    which the search had not seen; risks are of the worst intruder. Where a setting before it broke a limit with fresh
    seeds, the fresh numbers were chosen by as well, so risks may look a little too low. `searched`: every setting that
    was tried: its parameters, the round, mean risks and utilities over the search's repeats, and whether it met the
    limits. `reason`: in sentences. `frame`: the table of all trials, those of the chosen plan with fresh seeds.
    """

    plan: Plan
    parameters: Mapping[str, Any]
    risks: Mapping[str, Interval]
    utility: Mapping[str, Interval]
    searched: pl.DataFrame
    reason: str
    frame: pl.DataFrame = field(repr=False)
    measures: tuple[Measure, ...] = field(repr=False)
    name: str = field(repr=False)
    limits: Mapping[str, float] = field(repr=False)

    def map(self, risk: str | None = None, utility: str | None = None, **options: Any) -> Any:
        """The R-U map of the search, with the plan that was found; the first limit's risk, the measure searched by."""
        risk = risk or next(iter(self.limits))
        measure = chosen_measure(self.measures, utility or next(iter(self.utility)), "utility")
        marked = {"choice": self.name, "limits": self.limits} | options
        return upward("map_chart")(self.frame, risk, measure, **marked)

    def summary(self) -> pl.DataFrame:
        """The risks and utilities of the plan that was found, each with its 95 percent interval over fresh seeds."""
        kinds = {"risk": self.risks, "utility": self.utility}
        rows = [(kind, n, i.mean, i.low, i.high) for kind, found in kinds.items() for n, i in found.items()]
        schema = {"kind": pl.String, "measure": pl.String, **dict.fromkeys(("mean", "low", "high"), pl.Float64)}
        return pl.DataFrame(rows, schema=schema, orient="row")

    def __repr__(self) -> str:
        return f"Optimum: {_inside(self.name)}. {self.reason}"

    def __str__(self) -> str:
        return self.reason


def optimise(
    data: Any, space: Sweep, *, intruders: Mapping[str, Intruder], utility: Any, max_risk: Mapping[str, float | str],
    by: str | Measure | None = None, repeats: int = 3, rounds: int = 3, seed: int | None = None,
    progress: Progress = None, threshold: float = 0.2, threads: int | None = None,
    file_risks: Sequence[FileRisk | Mapping[str, object]] = (),
) -> Optimum:  # fmt: skip
    """Of all settings of a sweep's parameters the one with the best utility within `max_risk`, finer in each round.

    First every combination of the sweep's values is tried. Each of `rounds` then tries new settings around the best one
    within the limits: half a step to each side, and at quarters of the way to neighbours that break a limit; steps are
    halved from round to round. Values of a `Range` of whole numbers stay whole; lists are not refined. No
    setting is tried twice. All settings meet the same seeds, so that they are compared repeat by repeat.

    A search picks what came out well, also by luck. So the best setting is carried out again with fresh seeds; where it
    then breaks a limit the next best is taken, and the reason says so. `threads` never changes a result.
    `file_risks`: customary risks of the file, which `max_risk` may limit as well.

    >>> import confide as cf
    >>> space = cf.Sweep(lambda rate: cf.Plan([cf.Swap("race", rate=rate)], identifiers=["id"]),
    ...                  rate=cf.Range(0.0, 1.0, steps=3))
    >>> found = cf.optimise(cf.demo("heads").head(300), space, intruders={"a": cf.Intruder(knows=["sex", "race"])},
    ...                     utility=["hellinger"], max_risk={"found": 9}, repeats=2, rounds=1, seed=1)
    >>> found.searched.columns
    ['rate', 'round', 'found', 'hellinger', 'meets']
    """
    if isinstance(data, Sweep):
        warnings.warn("data come first: optimise(data, space, ...)", DeprecationWarning, stacklevel=3)
        data, space = space, data
    if not isinstance(space, Sweep):
        raise InputError("optimise searches a Sweep: optimise(data, Sweep(lambda rate: Plan([...]), rate=Range(...))).")
    if isinstance(rounds, bool) or not isinstance(rounds, int) or not 0 <= rounds <= 20:
        raise InputError("rounds is how often the search is made finer, a whole number from 0 to 20.")
    study = Study(data, {SWEEP: space}, intruders, utility, repeats, seed, threshold, file_risks=file_risks)
    limits, measure = (
        checked_limits(max_risk, study.measures, learnt=study.own_risks),
        chosen_measure(study.measures, by),
    )
    raise_all(_name_problems(space.parameters, [*limits, *(m.name for m in study.measures)]))
    search = _Search(study, space, limits, measure, checked_seed(seed), threads, progress)
    search.run(rounds)
    return search.settled()


class _Search:
    """What has been tried so far."""

    def __init__(
        self, study: Study, space: Sweep, limits: Mapping[str, float], measure: Measure, seed: int,
        threads: int | None, progress: Progress,
    ) -> None:  # fmt: skip
        self.study, self.sweep, self.limits, self.measure = study, space, limits, measure
        self.seed, self.threads, self.progress = seed, threads, progress
        self.space = Space(space.parameters)
        self.candidates: list[Candidate] = []
        self.rounds: list[int] = []
        self.frames: list[pl.DataFrame] = []
        self.anchor = tried(study, [study.everything], seed, threads, "the file", False)

    def run(self, rounds: int) -> None:
        self._try(self.study.candidates, 0, rounds)
        step = 1.0
        for number_of in range(1, rounds + 1):
            self._try(self._finer(step), number_of, rounds)
            step /= 2

    def _try(self, candidates: Sequence[Candidate], number_of: int, rounds: int) -> None:
        known = {self.space.key(c.setting) for c in self.candidates}
        unlike = {self.space.key(c.setting): c for c in candidates}
        new = [c for key, c in unlike.items() if key not in known]
        if not new:
            return
        what = f"searching, round {number_of} of {rounds}"
        self.frames.append(tried(self.study, new, self.seed, self.threads, what, self.progress))
        self.candidates += new
        self.rounds += [number_of] * len(new)

    def question(self) -> Question:
        random = {c.name: is_random(c.plan) for c in self.candidates}
        return Question.of(Repeats.of(pl.concat(self.frames), random), self.limits, self.measure)

    def _finer(self, step: float) -> list[Candidate]:
        """New candidates around the best of each of the best groups of listed values."""
        asked = self.question()
        groups: dict[tuple[str, ...], list[int]] = {}
        for k, c in enumerate(self.candidates):
            groups.setdefault(self.space.group(c.setting), []).append(k)
        centres = sorted((min(g, key=lambda k: _rank(asked, k)), g) for g in groups.values())
        centres.sort(key=lambda pair: _rank(asked, pair[0]))
        out = []
        for centre, group in centres[:MOST_GROUPS]:
            passed = [k for k in group if not asked.meets(k)] if asked.meets(centre) else []
            beyond = [self.candidates[k].setting for k in passed]
            for setting in self.space.finer(self.candidates[centre].setting, beyond, step):
                out.append(Candidate(f"{SWEEP} [{in_words(setting)}]", self.sweep.at(**setting), SWEEP, setting))
        return out

    def settled(self) -> Optimum:
        """The best setting that holds with fresh seeds."""
        asked = self.question()
        order = asked.order()
        if not order:
            raise NothingMeets(nobody(asked), self._table(asked))
        failed: list[str] = []
        for k in order:
            c = self.candidates[k]
            fresh = tried(self.study, [c], self.seed, self.threads, "with fresh seeds", self.progress, fresh=True)
            again = Question.of(Repeats.of(fresh, {c.name: is_random(c.plan)}), self.limits, self.measure)
            if again.meets(0):
                return self._optimum(asked, order, k, again, fresh, failed)
            failed.append(c.name)
        raise NothingMeets(
            f"{len(failed)} settings met the limits in the search, but none with fresh seeds: the limits lie within "
            "the spread over repeats. Run more repeats, or leave more room.",
            self._table(asked),
        )

    def _optimum(
        self, asked: Question, order: Sequence[int], k: int, again: Question, fresh: pl.DataFrame, failed: Sequence[str]
    ) -> Optimum:  # fmt: skip
        c = self.candidates[k]
        every = again.every
        utility = {m.name: every.intervals(every.utility(m.name))[0] for m in self.study.measures}
        first = {self.measure.name: utility.pop(self.measure.name)}
        risks = {risk: found[1] for risk, found in again.risks[0].items() if found is not None}
        trials = pl.concat([self.anchor, *self.frames]).filter(pl.col("plan") != c.name)
        return Optimum(
            c.plan, dict(c.setting), risks, {n: u for n, u in (first | utility).items() if u is not None},
            self._table(asked), _said(self, asked, c, again, order, failed), pl.concat([trials, fresh]),
            self.study.measures, c.name, self.limits,
        )  # fmt: skip

    def _table(self, asked: Question) -> pl.DataFrame:
        every, out = asked.every, {}
        for name in self.space.parameters:
            out[name] = pl.Series(name, [c.setting[name] for c in self.candidates], strict=False)
        out["round"] = pl.Series("round", self.rounds, dtype=pl.Int64)
        for risk in self.limits:
            means = [None if (f := r[risk]) is None else f[1].mean for r in asked.risks]
            out[risk] = pl.Series(risk, means, dtype=pl.Float64)
        for m in self.study.measures:
            found = every.intervals(every.utility(m.name))
            out[m.name] = pl.Series(m.name, [None if f is None else f.mean for f in found], dtype=pl.Float64)
        out["meets"] = pl.Series("meets", [asked.meets(k) for k in range(len(self.candidates))], dtype=pl.Boolean)
        return pl.DataFrame(list(out.values()))


def _name_problems(parameters: Iterable[str], columns: Sequence[str]) -> list[str]:
    """The table of settings has a column for each parameter beside its own."""
    taken = {"round", "meets", *columns}
    return [f'The parameter "{p}" of the sweep has the name of a column of the search: {", ".join(sorted(taken))}. '
            "Rename it." for p in parameters if p in taken]  # fmt: skip


def _inside(name: str) -> str:
    """The setting in a candidate's name."""
    return name.removeprefix(f"{SWEEP} [").removesuffix("]")


def _rank(asked: Question, k: int) -> tuple[Any, ...]:
    """Within the limits the best first; then by how far the limits are passed."""
    return (0, *asked.better(k)) if asked.meets(k) else (1, asked.ratio(k), *asked.better(k))


def _said(
    search: _Search, asked: Question, c: Candidate, again: Question, order: Sequence[int], failed: Sequence[str]
) -> str:
    risks = " and ".join(
        f"{risk} {shown(found[1])}, within {number(search.limits[risk])}"
        for risk, found in again.risks[0].items()
        if found is not None
    )
    parts = [
        f"Of {len(asked.every.plans)} settings tried, {len(order)} met the limits.",
        f"With fresh seeds, {_inside(c.name)} has {risks}; its {search.measure.name} is {shown(again.utility[0])}.",
    ]
    if failed:
        were = "1 setting that looked better" if len(failed) == 1 else f"{len(failed)} settings that looked better"
        parts.append(f"It was taken after {were} in the search broke a limit with fresh seeds.")
    parts += warnings_of(again, 0)
    if not is_random(c.plan):
        parts.append("The plan has no random step, so other seeds change nothing.")
    return " ".join(parts)
