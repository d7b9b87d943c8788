"""What of a study may go outside: every number checked against what it and the release tell together about few people.

Outside writers take a `Published` and nothing else. A number that nobody has checked is not in it, so a new measure or
chart is audited by construction.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace

import polars as pl

from confide.core.errors import InputError
from confide.measure.utility.measure import Measure
from confide.measure.utility.traces import FEWEST, Trace
from confide.study.outside_learnt import learnt_groups_outside, learnt_outside, people_learnt, share_outside
from confide.study.outside_people import count_outside, counted_outside, merged_groups
from confide.study.result import StudyResult
from confide.study.statement.checks import COLUMNS, RISKS
from confide.study.tradeoff.risk_names import LEARNT

CARRIED = 0.5
"""The share of a loss that few people may carry; from there on the figure is about them."""
LEAST, MOST = 3, 1_000_000
COUNTS = tuple(r for r in RISKS if r not in ("false_match_rate", "found_share"))
"""Risks that count people. Shares follow from the counts as they are shown."""
INSIDE = ("details", "timings", "audit", "levels", "calibration", "claims", "distributions", "kinds", "group_utility")
"""Tables that stay inside: ranges of few people, files before protection, remarks that count records, utility in
groups, of which nobody has checked what it tells of few people."""


@dataclass(frozen=True, eq=False, repr=False)
class Published(StudyResult):
    """A study as people outside may see it. It has the tables of a `StudyResult`, with one repeat.

    Counts are multiples of `fewest`; those below it stand at half of it, all alike. Figures of utility are rounded so
    that `fewest` - 1 people cannot move the last digit, or are in `withheld` (by plan and measure). `near`: figures
    that are the best value after rounding. Groups of fewer people are merged or left out. `quoted`: by plan, the places
    and fields of steps that name what fewer people have. There is no seed, label, remark or time,
    and nothing in the tables that stay inside (`INSIDE`).
    """

    fewest: int = FEWEST
    numbers: pl.DataFrame = field(default_factory=pl.DataFrame)
    withheld: frozenset[tuple[str, str]] = frozenset()
    near: frozenset[tuple[str, str]] = frozenset()
    quoted: Mapping[str, frozenset[tuple[int, str]]] = field(default_factory=dict)

    @property
    def random(self) -> dict[str, bool]:
        """None: each plan has one row, and its intervals are in `numbers`."""
        return dict.fromkeys(self.frame["plan"].unique(), False)

    def summary(self) -> pl.DataFrame:
        """Means and intervals as they may be shown."""
        return self.numbers


def published(result: StudyResult, fewest: int = FEWEST) -> Published:
    """A study's result as people outside may see it.

    >>> import confide as cf
    >>> heads = cf.demo("heads").head(300)
    >>> plans = {"top": cf.Plan([cf.Topcode("hh_income", at=heads["hh_income"].max() - 1)], identifiers=["id"])}
    >>> study = cf.Study(heads, plans, {"near": cf.Intruder(knows=["sex", "age"])}, [cf.Means("hh_income")])
    >>> sorted(published(study.run()).withheld)
    [('top', 'means')]
    """
    if isinstance(fewest, bool) or not isinstance(fewest, int) or not LEAST <= fewest <= MOST:
        raise InputError(f"fewest is the smallest number of people that a number may tell about, {LEAST} or more.")
    rows, withheld, near = [], set(), set()
    traces, people = pooled(result), people_learnt(result)
    for row in result.summary().iter_rows(named=True):
        key, ends = (row["plan"], row["measure"]), (row["mean"], row["low"], row["high"])
        if row["kind"] == "risk":
            shown = [count_outside(x, fewest) if row["measure"] in COUNTS else None for x in ends]
            if row["measure"].startswith(LEARNT):
                shown = [
                    share_outside(x, people.get((row["plan"], row["intruder"], row["measure"])), fewest) for x in ends
                ]
        else:
            rule = figure_rule(result.measure(row["measure"]), traces.get(key), fewest, result.info.rows)
            shown = [None if rule is None else rule.shown(x) for x in ends]
            if rule is None and row["mean"] is not None:
                withheld.add(key)
            elif rule is not None and rule.hides(row["mean"]):
                near.add(key)
        rows.append(row | dict(zip(("mean", "low", "high"), shown, strict=True)) | {"sd": None})
    numbers = pl.DataFrame(rows, schema=result.summary().schema, orient="row")
    info = replace(result.info, seed=0, label="", seconds=0.0, rows=int(count_outside(result.info.rows, fewest) or 0))
    inherited = {f.name: getattr(result, f.name) for f in fields(StudyResult)}
    return Published(**inherited | {
        "frame": _frame(result, numbers), "info": info, "distribution": counted_outside(result.distribution, fewest),
        "learnt": learnt_outside(result.learnt, fewest),
        "learnt_groups": learnt_groups_outside(result.learnt_groups, fewest),
        "groups": counted_outside(merged_groups(result.groups, fewest, drop=True), fewest),
        **{table: getattr(result, table).clear() for table in INSIDE}, "released": _sizes(result.released, fewest),
        "fewest": fewest, "numbers": numbers, "withheld": frozenset(withheld), "near": frozenset(near),
        "quoted": {p: frozenset((i, f) for i, f, n in each if n < fewest) for p, each in result.statements.items()},
        "statements": {},
    })  # fmt: skip


def pooled(result: StudyResult) -> dict[tuple[str, str], Trace]:
    """By plan and measure, one trace of its mean over repeats; none where a repeat has not been audited.

    Few people move a mean over repeats by at most the mean of their moves; the first repeat was looked at most
    thoroughly and counts by itself too.
    """
    repeats = dict(result.frame.group_by("plan").agg(pl.col("repeat").n_unique()).iter_rows())
    out: dict[tuple[str, str], Trace] = {}
    for (plan, measure), rows in result.audit.sort("repeat").group_by("plan", "measure"):
        if rows.height < repeats.get(plan, 1):
            continue
        effects, differ = rows["effect"], rows["differ"]
        known = effects.null_count() == 0
        effect = max(effects[0], float(effects.mean())) if known else None  # type: ignore[arg-type]
        least = None if differ.null_count() == rows.height else int(differ.fill_null(0).min())  # type: ignore[arg-type]
        out[str(plan), str(measure)] = Trace(least, effect, float(rows["loss"].sum()), float(rows["carried"].sum()))
    return out


@dataclass(frozen=True)
class FigureRule:
    """Multiples of `unit` away from `best`; a unit of 0 leaves three digits. `open`: everybody can work it out."""

    best: float
    unit: float
    open: bool = False

    def shown(self, x: float | None) -> float | None:
        """A figure as it may be shown."""
        if x is None or math.isnan(x) or math.isinf(x):
            return x
        start = 0.0 if math.isinf(self.best) else self.best
        loss = round((x - start) / self.unit) * self.unit if self.unit else x - start
        return float(f"{start + float(f'{loss:.3g}'):.12g}")

    def hides(self, x: float | None) -> bool:
        """Whether a figure that is not the best is shown as if it were, or may be."""
        return not self.open and x is not None and self.shown(x) == self.best


def figure_rule(measure: Measure, trace: Trace | None, fewest: int, rows: int) -> FigureRule | None:
    """How a figure of utility is shown; None where it is withheld.

    Withheld: nobody has checked it; fewer than `fewest` people differ; or fewer carry half of the loss. Else rounded to
    a unit of 1, 2 or 5 in some place that is at least what they can move it by, and at least their share of the file.
    A trace is of `FEWEST` - 1 people who moved furthest; more of them add less each, so that it grows in proportion.
    """
    if trace is None:
        return None
    if trace.differ is None:
        return FigureRule(measure.best, 0.0, open=True)
    more = max(1.0, (fewest - 1) / (FEWEST - 1))
    if trace.differ < fewest or trace.effect is None or trace.carried * more > CARRIED * trace.loss > 0:
        return None
    scale = 1.0 if math.isfinite(measure.best) else trace.effect
    unit = _unit(max(trace.effect * more, scale * (fewest - 1) / rows))
    width = measure.range[1] - measure.range[0]
    return None if unit > width / 2 else FigureRule(measure.best, unit)


def _unit(least: float) -> float:
    """The smallest 1, 2 or 5 of some place that is not below a number.

    >>> _unit(0.0016), _unit(0.05), _unit(0)
    (0.002, 0.05, 0.0)
    """
    if least <= 0:
        return 0.0
    ten = math.floor(math.log10(least))
    return next(u for k in (1, 2, 5, 10, 20) if (u := float(f"{k}e{ten}")) >= least * (1 - 1e-12))


def _sizes(released: pl.DataFrame, fewest: int) -> pl.DataFrame:
    """How much each plan releases, records rounded; variables are counted in the release."""
    names = [c for c in ("records", "of_records") if c in released.columns]
    return released.with_columns(counted_outside(released.select(names), fewest)) if names else released


def _frame(result: StudyResult, numbers: pl.DataFrame) -> pl.DataFrame:
    """The study's table with one repeat, made of means as they may be shown."""
    place = result.frame.select(*COLUMNS[:5]).unique(maintain_order=True).with_columns(repeat=pl.lit(0, pl.Int64))
    means = {(p, who, m): mean for p, who, m, mean in numbers.select("plan", "intruder", "measure", "mean").iter_rows()}
    keys = place.select("plan", "intruder").rows()
    risks = [pl.Series(r, [means.get((p, who, r)) for p, who in keys], dtype=pl.Float64) for r in result.risks]
    names = [m.name for m in result.measures]
    return place.with_columns(
        *risks, *(pl.Series(m, [means.get((p, None, m)) for p, _ in keys], dtype=pl.Float64) for m in names)
    )
