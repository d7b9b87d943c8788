"""StudyResult: what a study found, to be compared, drawn, chosen from and reported."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from confide.attack.intruder import Intruder
from confide.core.arguments import tell_misfits
from confide.core.errors import InputError, did_you_mean
from confide.core.result import PICTURES, Result
from confide.core.upward import upward
from confide.frames.files import FORMATS
from confide.measure.risk.file_risks.statement import FileRisk
from confide.measure.utility.measure import Measure
from confide.protect.plan import Plan
from confide.study.cautions import cautions, untried
from confide.study.evaluate import is_random
from confide.study.statement.checks import EVERYTHING, RISKS
from confide.study.statement.file_risks import file_risk_columns
from confide.study.statement.learns import Learns
from confide.study.statement.rule import Rule

if TYPE_CHECKING:
    from confide.protect.copies import Copies
    from confide.protect.release import Release
    from confide.study.drawn import Drawn
    from confide.study.improve.result import Improvements
    from confide.study.tradeoff.choice import Choice

__all__ = ["EVERYTHING", "RISKS", "Info", "StudyResult"]

AUDIT = {
    "plan": pl.String, "measure": pl.String, "repeat": pl.Int64, "differ": pl.Int64, "effect": pl.Float64,
    "loss": pl.Float64, "carried": pl.Float64,
}  # fmt: skip

GROUP_UTILITY = {
    "plan": pl.String, "variable": pl.String, "level": pl.String, "people": pl.Float64, "measure": pl.String,
    "mean": pl.Float64, "low": pl.Float64, "high": pl.Float64, "repeats": pl.Int64,
}  # fmt: skip


@dataclass(frozen=True)
class Info:
    """What a study was: its title, the label of its data, their size, repeats, seed, threshold, seconds, version."""

    title: str
    label: str
    rows: int
    variables: int
    repeats: int
    seed: int
    threshold: float
    seconds: float
    version: str


@dataclass(frozen=True, eq=False, repr=False)
class StudyResult(Result):
    """What a study found.

    `frame`: one row per plan x intruder x repeat: `plan`, `sweep`, `setting`, `value`, `intruder`, `level`, `repeat`,
    the risks of the file, then one column per measure of utility. The first plan is "release everything". A plan
    without random steps has one repeat. `level` is the one at which the intruder is right most often over repeats, and
    which is booked; `levels` has every one that was tried: plan, intruder, repeat, level, found, claimed.
    `distribution`: plan, intruder, bin, targets: how many targets have their largest probability in each range.
    `groups`: plan, intruder, variable, level, targets, over_threshold, expected_matches, found, claimed, and `low` and
    `high`, the 95 percent interval of found. Both are means over repeats. `group_utility`: plan, variable, level,
    people, measure, mean, low, high, repeats: utility inside the groups that the study asked for. `claims`: plan,
    intruder, level, targets, claimed, true (means over repeats), error, z: whether claims are right; `calibration` has
    the same in ranges of the largest probability, as sums over repeats. `distributions`: plan, variable, level, before,
    after: shares of people. `kinds`: variable, kind, why, doubt (what looks like a code). `released`: plan, variables,
    of_variables (without identifiers), records, of_records: how much of the file goes out.
    `details`: plan, measure, detail: a measure's remark, or why it, or an intruder's risk, could not be computed.
    `timings`: seconds of each piece of work. `rule`: how the study said it would choose. `copies`: by plan or sweep,
    how many copies are released. `audit`: plan, measure, repeat, and what few people do to this measure of utility (see
    `Trace`); `statements`: by plan, which fields of which steps name what how few people have. What is not in them does
    not go outside. `learns`: what must not be learnt, which adds risks to `frame`. `learnt`: plan, intruder,
    variable, level, then means over repeats: learnt (the share of people of whom more than the gain is learnt),
    misled (whose guess becomes worse by more than that), harm, people, left_out (without a loss, such as those whose
    value is missing), gain, mean losses of the best guess by the margin, by published relations, by the release
    without the own record, by the release (loss), the interval of learnt, and the loss in words. `learnt_groups`: the
    same in groups: plan, intruder, learnt_of, variable, level, people, learnt (a number of people), relations, loss.
    `file_risks`: customary risks of the released file, which add columns to `frame` that are the same for every
    intruder.
    """

    frame: pl.DataFrame
    plans: Mapping[str, Plan]
    intruders: Mapping[str, Intruder]
    measures: tuple[Measure, ...]
    info: Info
    distribution: pl.DataFrame
    groups: pl.DataFrame
    details: pl.DataFrame
    timings: pl.DataFrame
    rule: Rule | None = None
    copies: Mapping[str, int] = field(default_factory=dict)
    audit: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=AUDIT))
    statements: Mapping[str, Sequence[tuple[int, str, int]]] = field(default_factory=dict)
    levels: pl.DataFrame = field(default_factory=pl.DataFrame)
    calibration: pl.DataFrame = field(default_factory=pl.DataFrame)
    claims: pl.DataFrame = field(default_factory=pl.DataFrame)
    distributions: pl.DataFrame = field(default_factory=pl.DataFrame)
    kinds: pl.DataFrame = field(default_factory=pl.DataFrame)
    released: pl.DataFrame = field(default_factory=pl.DataFrame)
    group_utility: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=GROUP_UTILITY))
    learns: tuple[Learns, ...] = ()
    learnt: pl.DataFrame = field(default_factory=pl.DataFrame)
    learnt_groups: pl.DataFrame = field(default_factory=pl.DataFrame)
    file_risks: tuple[FileRisk, ...] = ()

    @property
    def risks(self) -> list[str]:
        """Names of all risks in `frame`: those of every study, of what must not be learnt, and of the file."""
        return [*RISKS, *(risk for one in self.learns for risk in one.risks), *self.file_columns]

    @property
    def file_columns(self) -> dict[str, str]:
        """Columns of `frame` with customary risks of the file, each with what it says in words."""
        return file_risk_columns(self.file_risks)

    @property
    def random(self) -> dict[str, bool]:
        """Which plans have random steps, so that repeats differ."""
        return {EVERYTHING: False} | {name: is_random(plan) for name, plan in self.plans.items()}

    def measure(self, name: str | None = None) -> Measure:
        """A measure of utility by its name; the first where none is named."""
        names = [m.name for m in self.measures]
        if name is None:
            return self.measures[0]
        if name not in names:
            raise InputError(f'This study has no measure of utility "{name}".{did_you_mean(name, names)}')
        return self.measures[names.index(name)]

    def summary(self) -> pl.DataFrame:
        """Means over repeats with 95 percent intervals: one row per plan and measure (and intruder, for risks).

        Columns: plan, sweep, value, intruder (null for utility and for risks of the file), measure, kind, direction,
        mean, low, high, sd, repeats.
        """
        from confide.study.tradeoff.frontier import summarise_repeats

        return summarise_repeats(self.frame, self.measures, self.risks, self.random)

    def frontier(self, risk: str = RISKS[0], utility: str | None = None, intruder: str | None = None) -> pl.DataFrame:
        """Which plans no other beats in both risk and utility, and how sure that is over repeats.

        Risk is that of the worst intruder, unless one is named; utility is the first measure, unless one is named.
        """
        from confide.study.tradeoff.frontier import frontier

        return frontier(self.frame, risk, self.measure(utility), intruder, random=self.random)

    def choose(
        self, max_risk: Mapping[str, float | str] | None = None, by: str | None = None, intruder: str | None = None,
        cautious: bool = False, min_utility: Mapping[str, float] | None = None,
    ) -> Choice:  # fmt: skip
        """The plan with the best utility among those whose risks are within limits.

        `max_risk`: by name of a risk, its largest tolerable mean, for every intruder, or for the one named: a number of
        people, or a share of the targets, as {"found": "2%"} or {"found_share": 0.02}; of what must not be learnt, the
        share of people, as {"learnt_income": "5%"}; of the file, as {"k_anonymity": 0}.
        `min_utility`: by measure, the least utility that is asked for (the largest loss, where lower is better). With
        `cautious` the worse end of every 95 percent interval must be within its limit. Without arguments, the rule
        that the study stated.
        """
        from confide.study.tradeoff.choice import choose

        if max_risk is None and self.rule is None:
            raise InputError('Say what risk is tolerable: choose(max_risk={"found": "2%"}, by="ci_overlap").')
        if max_risk is None and (by is not None or intruder is not None or cautious or min_utility):
            raise InputError(
                "Without max_risk the study's own rule is followed as it was stated; give max_risk as well."
            )
        rule = self.rule if max_risk is None else Rule(max_risk, by, intruder, cautious, min_utility or {})
        assert rule is not None
        return choose(
            self.frame, self.measures, rule.max_risk, rule.by, rule.intruder, rule.cautious, self.random,
            rule.min_utility, self.released,
        )  # fmt: skip

    def improve(self, data: Any, plan: str | None = None, **options: object) -> Improvements:
        """Which changes of one of the plans would lower risk most per utility lost: `cf.improve` with this study's
        intruders, measures and limits.

        `data`: the original, which a result does not hold. `plan`: its name; by default the one that the study's rule
        chooses. `options`: those of `cf.improve`, such as `max_risk`, `by`, `tries` and `seed`.

        >>> import confide as cf
        >>> heads, plan = cf.demo("heads").head(300), cf.Plan([cf.Swap("race", rate=0.3)], identifiers=["id"])
        >>> who = {"near": cf.Intruder(knows=["sex", "race"])}
        >>> result = cf.Study(heads, {"swap": plan}, who, ["hellinger"], repeats=2, seed=1).run()
        >>> result.improve(heads, "swap", tries=4, most=2, repeats=2, seed=1).tried.height
        4
        """
        from confide.study.improve.of_study import improve_plan

        return improve_plan(self, data, plan, options)

    def cautions(self) -> list[str]:
        """Sentences about plans and intruders for whom claims and truth differ: which way risk is misjudged; and about
        levels that could not be tried."""
        return [*cautions(self.claims), *untried(self.details, self.intruders)]

    def check(self, release: Release | Copies, plan: str) -> Drawn:
        """What this study finds in one release of a plan, and what is lost by it, beside the means over draws.

        >>> import confide as cf
        >>> heads, plan = cf.demo("heads").head(300), cf.Plan([cf.Swap("race", rate=0.3)], identifiers=["id"])
        >>> who = {"near": cf.Intruder(knows=["sex", "race"])}
        >>> result = cf.Study(heads, {"swap": plan}, who, ["hellinger"], repeats=2, seed=1).run()
        >>> result.check(plan.protect(heads, seed=7), "swap").frame.columns
        ['measure', 'kind', 'intruder', 'level', 'value', 'mean', 'low', 'high']
        """
        from confide.study.drawn import drawn

        return drawn(release, self.intruders, self.measures, threshold=self.info.threshold, study=self, plan=plan)

    def map(self, risk: str = RISKS[0], utility: str | None = None, intruder: str | None = None, **options: Any) -> Any:
        """The R-U map: risk against utility, between "release nothing" and "release everything"."""
        draw, measure = upward("map_chart"), self.measure(utility)
        try:
            return draw(self.frame, risk, measure, intruder=intruder, random=self.random, **options)
        except TypeError as error:
            tell_misfits(
                draw, (self.frame, risk, measure), {"intruder": intruder, "random": self.random} | options, error
            )
            raise

    def report(
        self, path: str | os.PathLike[str], *, outside: bool = False, choice: Choice | None = None,
        overwrite: bool = False, fewest: int = 10,
    ) -> Path:  # fmt: skip
        """One HTML file that needs no network.

        `outside`: a version in which no number, together with the release, tells about fewer than `fewest` people.
        """
        write = upward("write_report")
        return Path(write(self, path, outside=outside, choice=choice, overwrite=overwrite, fewest=fewest))

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> StudyResult:
        """The result that `save`, `Study.run(folder)` or `confide study` left in a folder, without the data.

        >>> import tempfile
        >>> import confide as cf
        >>> plans = {"coarse": cf.Plan([cf.Recode("age", width=10)], identifiers=["id"])}
        >>> who = {"near": cf.Intruder(knows=["sex", "age"])}
        >>> result = cf.Study(cf.demo("heads").head(300), plans, who, ["hellinger"]).run()
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     _ = result.save(f"{folder}/study")
        ...     cf.StudyResult.load(f"{folder}/study").frame.equals(result.frame)
        True
        """
        from confide.study.kept import kept

        return kept(Path(folder).expanduser())

    def save(self, folder: str | os.PathLike[str], overwrite: bool = False) -> list[Path]:  # type: ignore[override]
        """Write the result into a folder, from which `load` brings it back; or into a file, a table or the map.

        In a folder: `frame.parquet`, `summary.csv` and `result.json`, which holds the study's seed. All are for their
        owner alone; a new folder is private as well.
        """
        place = Path(folder).expanduser()
        if place.suffix.lower() in (*PICTURES, *FORMATS) and not place.is_dir():
            return [super().save(place, overwrite)]
        from confide.study.kept import keep, save_tables

        return [*save_tables(self, place, overwrite), keep(self, place, overwrite)]

    def __str__(self) -> str:
        return str(upward("study_text")(self))

    def __repr__(self) -> str:
        what = f"{len(self.plans)} plans, {len(self.intruders)} intruders, {len(self.measures)} measures of utility"
        return f"StudyResult: {what}; {self.frame.height:,} rows, {self.info.seconds:.0f} seconds"
