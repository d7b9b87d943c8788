"""A study's result as the report needs it: which plans and which intruder to show where, and groups of people."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import polars as pl

from confide.errors import InputError, did_you_mean
from confide.measure.utility.measure import Measure
from confide.show.drawing import COLOURS
from confide.show.report.treatment import UNKNOWN, Treatment
from confide.study.checks import EVERYTHING

if TYPE_CHECKING:
    from confide.study.result import StudyResult

MOST_LISTED, MOST_COLOURS = 20, len(COLOURS)
LEADING = ("expected_matches", "over_threshold", "claimed_matches")
"""Risks by which plans are compared: the first that is known."""
RISK_WORDS = {
    "expected_matches": "expected right matches", "over_threshold": "people over the threshold",
    "unique_matches": "unique right matches", "claimed_matches": "matches that the intruder expects",
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class View:
    """A result seen from inside or outside the agency. `chosen` is the name of a plan; `nobody` says, where the study
    stated a rule and no plan keeps it, which comes nearest."""

    result: StudyResult
    treat: Treatment
    choice: Any = None
    nobody: str = ""

    @classmethod
    def of(cls, result: StudyResult, outside: bool = False, choice: Any = None) -> View:
        """The view, with the choice checked: a `Choice` of this result, or the name of one of its plans; without one,
        the choice that the study's own rule makes."""
        nobody = ""
        if choice is None and result.rule is not None:
            try:
                choice = result.choose()
            except InputError as e:
                nobody = str(e)
        view = cls(result, Treatment(outside), choice, nobody)
        if choice is not None and view.chosen not in view.plans:
            named = view.chosen if isinstance(view.chosen, str) else ""
            raise InputError(f"choice names no plan of this study.{did_you_mean(named, view.plans) if named else ''}")
        return view

    @property
    def outside(self) -> bool:
        """Whether the page is meant for people outside the agency."""
        return self.treat.outside

    @property
    def chosen(self) -> Any:
        """The name of the chosen plan; None where nobody has chosen."""
        return self.choice if self.choice is None or isinstance(self.choice, str) else getattr(self.choice, "plan", "")

    @cached_property
    def plans(self) -> list[str]:
        """All plans, the anchor first."""
        return list(dict.fromkeys(self.result.frame["plan"]))

    @cached_property
    def summary(self) -> pl.DataFrame:
        """Means and intervals of every plan."""
        return self.result.summary()

    @cached_property
    def risk(self) -> str:
        """The risk by which plans are compared."""
        known = (r for r in LEADING if self.result.frame[r].null_count() < self.result.frame.height)
        return next(known, LEADING[0])

    @cached_property
    def points(self) -> dict[str, pl.DataFrame]:
        """By measure of utility, every plan's place on the map and whether it is on the frontier."""
        return {m.name: self.result.frontier(self.risk, m.name) for m in self.result.measures}

    @cached_property
    def frontier(self) -> dict[str, list[str]]:
        """By plan, the measures for which no other plan beats it."""
        rows = [(p, m) for m, f in self.points.items() for p, on in f.select("plan", "on_frontier").rows() if on]
        return {p: [m for q, m in rows if q == p] for p in self.plans}

    @cached_property
    def of_plan(self) -> dict[str, tuple[str | None, str]]:
        """By plan, its sweep and its setting."""
        rows = self.result.frame.select("plan", "sweep", "setting").unique(maintain_order=True).rows()
        return {plan: (sweep, setting or "") for plan, sweep, setting in rows}

    @cached_property
    def sweeps(self) -> dict[str, list[str]]:
        """By sweep, its plans."""
        names = dict.fromkeys(s for s, _ in self.of_plan.values() if s is not None)
        return {s: [p for p, (of, _) in self.of_plan.items() if of == s] for s in names}

    @cached_property
    def listed(self) -> list[str]:
        """Plans with a row in charts: all where there are few, else the ones that matter most."""
        if len(self.plans) <= MOST_LISTED:
            return self.plans
        return self._picked(MOST_LISTED)

    @cached_property
    def coloured(self) -> list[str]:
        """Plans that are told apart by colour."""
        return self._picked(MOST_COLOURS)

    def _picked(self, most: int) -> list[str]:
        """The anchor, the choice, plans outside sweeps, ends of sweeps, the frontier from least risk, others; in their
        order. Plans that come out as the anchor does are left to the last."""
        ends = [p for plans in self.sweeps.values() for p in (plans[-1], plans[0])]
        alone = [p for p, (sweep, _) in self.of_plan.items() if sweep is None]
        points = next(iter(self.points.values())).sort("risk", nulls_last=True, maintain_order=True)
        frontier = [p for p in points["plan"] if self.frontier[p]]
        first = [*alone, *ends, *frontier, *self.plans]
        like = {p for p in self.plans if p != self.chosen and self._outcome(p) == self._outcome(EVERYTHING)}
        order = [EVERYTHING, *([self.chosen] if self.chosen else []), *(p for p in first if p not in like), *first]
        taken = [p for p in dict.fromkeys(order) if p in self.plans][:most]
        return [p for p in self.plans if p in taken]

    def _outcome(self, plan: str) -> list[Any]:
        """Where a plan stands on every map."""
        return [f.filter(pl.col("plan") == plan).select("risk", "utility").rows() for f in self.points.values()]

    def left_out(self, drawn: list[str]) -> str:
        """How many plans a chart does not show; nothing where it shows all."""
        many = len(self.plans) - len(drawn)
        plans = f"{many} further plan{'s' * (many != 1)}"
        return f" {plans} {'are' if many != 1 else 'is'} in the table of all plans only." if many else ""

    @cached_property
    def worst(self) -> str | None:
        """The intruder with the largest risk, over all plans but the anchor; None where no risk is known."""
        rows = self.summary.filter((pl.col("measure") == self.risk) & (pl.col("plan") != EVERYTHING))
        rows = rows.drop_nulls("mean").group_by("intruder", maintain_order=True).agg(pl.col("mean").mean())
        return str(rows.sort("mean", descending=True, maintain_order=True)["intruder"][0]) if rows.height else None

    def number(self, plan: str, name: str, intruder: str | None = None) -> dict[str, float | None]:
        """Mean, low and high of one risk or utility of a plan."""
        rows = self._numbers.get((plan, name, intruder))
        return rows if rows is not None else {"mean": None, "low": None, "high": None}

    @cached_property
    def _numbers(self) -> dict[tuple[str, str, str | None], dict[str, float | None]]:
        rows = self.summary.select("plan", "measure", "intruder", "mean", "low", "high").rows()
        return {(p, m, who): {"mean": mean, "low": low, "high": high} for p, m, who, mean, low, high in rows}

    def worst_of(self, plan: str) -> str | None:
        """The intruder who is worst for one plan."""
        points = next(iter(self.points.values()))
        found = points.filter(pl.col("plan") == plan)["worst_intruder"]
        return None if found.is_empty() or found[0] is None else str(found[0])

    def worst_risk(self, plan: str, risk: str) -> tuple[str | None, str]:
        """The intruder who is worst for a plan by one risk, and that risk as text; unknown where it is for any."""
        each = {who: self.number(plan, risk, who)["mean"] for who in self.result.intruders}
        known = {who: mean for who, mean in each.items() if mean is not None}
        if len(known) < len(each):
            return None, UNKNOWN
        who = max(known, key=lambda w: known[w])
        return who, self.number_text(plan, risk, who)

    def number_text(self, plan: str, name: str, intruder: str | None = None) -> str:
        """One number of a plan with its interval, as text."""
        found = self.number(plan, name, intruder)
        ends = found["mean"], found["low"], found["high"]
        return self.treat.interval(*ends) if intruder is not None else self.treat.measure_interval(*ends)

    def measure(self, name: str) -> Measure:
        """A measure of utility by its name."""
        return next(m for m in self.result.measures if m.name == name)
