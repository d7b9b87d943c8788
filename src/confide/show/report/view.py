"""A study's result as the report needs it: which plans and which intruder to show where."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import polars as pl

from confide.core.errors import InputError, did_you_mean
from confide.measure.utility.measure import Measure
from confide.show.charts.drawing import COLOURS
from confide.show.report.asked import Asked
from confide.show.report.renamed import without_settings
from confide.show.report.treatment import BASE, UNKNOWN, WITHHELD, Treatment
from confide.study.outside import Published, published
from confide.study.statement.checks import EVERYTHING
from confide.study.tradeoff.choice import Choice
from confide.study.tradeoff.frontier import frontier
from confide.study.tradeoff.risk_names import apart, counted

if TYPE_CHECKING:
    from confide.study.result import StudyResult

MOST_LISTED, MOST_COLOURS = 20, len(COLOURS)
MOST_DRAWN = 300
"""Points of one chart; a page with more is slow, and they cover each other."""
LEADING = ("found", "expected_matches", "over_threshold", "claimed_matches")
"""Risks by which plans are compared: the one that is limited, or the first that is known."""


@dataclass(frozen=True, eq=False)
class View:
    """A result seen from inside or outside the agency. `chosen` is the name of a plan; `nobody` says, where the study
    stated a rule and no plan keeps it, which comes nearest. `doubt`: from outside, in which way claims and truth differ
    (see `believed.doubt`). From outside only a `Published` result can be seen."""

    result: StudyResult
    treat: Treatment
    choice: Any = None
    nobody: str = ""
    doubt: int | None = None

    def __post_init__(self) -> None:
        if self.treat.outside and not isinstance(self.result, Published):
            raise TypeError("Only what has been audited is shown outside: give a Published result.")

    @classmethod
    def of(cls, result: StudyResult, outside: bool = False, choice: Any = None, fewest: int = BASE) -> View:
        """The view, with the choice checked: a `Choice` of this result, or the name of one of its plans; without one,
        the choice that the study's own rule makes. Outside, plans whose settings are not for all have other names, and
        no number tells about fewer than `fewest` people."""
        nobody = ""
        if choice is None and result.rule is not None:
            try:
                choice = result.choose()
            except InputError as e:
                nobody = str(e)
        view = cls(result, Treatment(False), choice, nobody)
        if choice is not None and view.chosen not in view.plans:
            named = view.chosen if isinstance(view.chosen, str) else ""
            raise InputError(f"choice names no plan of this study.{did_you_mean(named, view.plans) if named else ''}")
        return view._outside(fewest) if outside else view

    def _outside(self, fewest: int) -> View:
        """The result audited, and of the choice only its plan and what it went by."""
        result, names = without_settings(self.result, fewest)
        choice, nan = self.choice, float("nan")
        if isinstance(choice, Choice):
            limits = dict.fromkeys(choice.limits, nan)
            choice = Choice(names.get(choice.plan, choice.plan), {}, limits, choice.by, nan, None, "", pl.DataFrame())
        elif isinstance(choice, str):
            choice = names.get(choice, choice)
        from confide.show.report.believed import doubt

        doubtful = None if choice is None else doubt(self)
        nobody = "none" if self.nobody else ""
        return View(published(result, fewest), Treatment(True, fewest), choice, nobody, doubtful)

    @property
    def outside(self) -> bool:
        """Whether the page is meant for people outside the agency."""
        return self.treat.outside

    @property
    def chosen(self) -> Any:
        """The name of the chosen plan; None where nobody has chosen."""
        return self.choice if self.choice is None or isinstance(self.choice, str) else getattr(self.choice, "plan", "")

    @cached_property
    def nearest(self) -> str | None:
        """The plan that comes nearest to a rule which none keeps."""
        return next((p for p in self.plans if f'"{p}" comes nearest' in self.nobody), None)

    @cached_property
    def focus(self) -> str:
        """The plan that the page is about: the choice, or the nearest to the limits, or the one with least risk."""
        if self.chosen is not None or self.nearest is not None:
            return str(self.chosen if self.chosen is not None else self.nearest)
        points = next(iter(self.points.values())).filter(pl.col("plan") != EVERYTHING).drop_nulls("risk")
        return str(points.sort("risk", maintain_order=True)["plan"][0]) if points.height else EVERYTHING

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
        asked = [counted(r) for r in self.asked.limits if not apart(r)]
        frame = self.result.frame
        known = [r for r in (*asked, *LEADING) if r in frame and frame[r].null_count() < frame.height]
        return next(iter(known), "expected_matches")

    @cached_property
    def asked(self) -> Asked:
        """What the choice, or the rule of the study, asked for."""
        found = Asked.of(self.choice, self.result.rule)
        return found.outside() if self.outside else found

    @property
    def deciding(self) -> str | None:
        """The measure of utility that decides: the one that the rule goes by, or the first."""
        names = [m.name for m in self.result.measures]
        return self.asked.by if self.asked.by in names else next(iter(names), None)

    @cached_property
    def points(self) -> dict[str, pl.DataFrame]:
        """By measure of utility, every plan's place on the map and whether it is on the frontier. Where the limit is a
        share, risks are shares of each plan's own targets, times the people of the file as it is."""
        # How sure the frontier is takes many draws; only the study's own map shows it, and draws them itself.
        frame, random = self.result.frame, self.result.random
        if self.by_share:
            frame = frame.with_columns(pl.col(f"{self.risk}_share").alias(self.risk) * (self.people or 1.0))
        found = {m.name: frontier(frame, self.risk, m, draws=1, random=random) for m in self.result.measures}
        return {name: self._with_ends(name, points) for name, points in found.items()} if self.outside else found

    @cached_property
    def people(self) -> float | None:
        """How many people an intruder looks for in the file as it is."""
        return self.targets(EVERYTHING, next(iter(self.result.intruders)))

    @cached_property
    def alike(self) -> float | None:
        """The same where all intruders look for so many people in every release; None where numbers of targets differ,
        so that no number of people is a share of all plans."""
        each = {self.targets(plan, who) for plan in self.plans for who in self.result.intruders} - {None}
        return self.people if len(each) == 1 else None

    @property
    def of_whom(self) -> str:
        """Of what shares are, where plans differ in their numbers of targets; nothing where they do not."""
        each = [n for p in self.plans for who in self.result.intruders if (n := self.targets(p, who)) is not None]
        if self.alike is not None or not each:
            return ""
        low, high = self.treat.people(min(each)), self.treat.people(max(each))
        return (
            f"Shares are of each plan's own targets, {low} to {high} people: no number of people is one share of all."
        )

    @property
    def by_share(self) -> bool:
        """Whether the map goes by shares of each plan's own targets, since the limit is one."""
        share = f"{self.risk}_share"
        return share in self.asked.limits and share in self.result.frame and not self.outside

    def targets(self, plan: str, who: str | None = None) -> float | None:
        """How many people an intruder looks for in a release; the worst one where none is named."""
        return self.number(plan, "targets", who or self.worst_of(plan) or next(iter(self.result.intruders)))["mean"]

    def _with_ends(self, name: str, points: pl.DataFrame) -> pl.DataFrame:
        """Points with the intervals that may be shown: a published result has one repeat."""
        who = points.select("plan", "worst_intruder").rows()
        ends = {
            "risk": [self.number(p, self.risk, i) for p, i in who],
            "utility": [self.number(p, name) for p, _ in who],
        }
        columns = [
            pl.Series(f"{what}_{end}", [n[end] for n in numbers], dtype=pl.Float64)
            for what, numbers in ends.items() for end in ("low", "high")
        ]  # fmt: skip
        return points.with_columns(columns)

    @cached_property
    def frontier(self) -> dict[str, list[str]]:
        """By plan, the measures for which no other plan beats it."""
        out: dict[str, list[str]] = {p: [] for p in self.plans}
        for m, points in self.points.items():
            for p in points.filter("on_frontier")["plan"]:
                out[p].append(m)
        return out

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

    def drawn(self, measure: str) -> list[str]:
        """Plans with a point on a map: the anchor, the choice, the frontier, ends of sweeps; of the others, where there
        are too many, some, evenly spaced."""
        points = self.points[measure].filter("on_frontier").sort("risk", maintain_order=True)
        first = [EVERYTHING, *([self.chosen] if self.chosen else [])]
        taken: dict[str, None] = {}
        for group in (first, list(points["plan"]), self._ends, self.plans):
            fresh = [p for p in dict.fromkeys(group) if p not in taken]
            taken |= dict.fromkeys(spread(fresh, MOST_DRAWN - len(taken)))
        return [p for p in self.plans if p in taken]

    @property
    def _ends(self) -> list[str]:
        return [p for plans in self.sweeps.values() for p in (plans[-1], plans[0])]

    def _picked(self, most: int) -> list[str]:
        """The anchor, the choice, plans outside sweeps, ends of sweeps, the frontier from least risk, others; in their
        order. Plans that come out as the anchor does are left to the last."""
        alone = [p for p, (sweep, _) in self.of_plan.items() if sweep is None]
        points = next(iter(self.points.values())).sort("risk", nulls_last=True, maintain_order=True)
        frontier = [p for p in points["plan"] if self.frontier[p]]
        first = [*alone, *self._ends, *frontier, *self.plans]
        anchor = self._outcomes.get(EVERYTHING)
        like = {p for p in self.plans if p != self.chosen and self._outcomes[p] == anchor}
        order = [EVERYTHING, *([self.chosen] if self.chosen else []), *(p for p in first if p not in like), *first]
        taken = [p for p in dict.fromkeys(order) if p in self.plans][:most]
        return [p for p in self.plans if p in taken]

    @cached_property
    def _outcomes(self) -> dict[str, list[Any]]:
        """Where each plan stands on every map."""
        out: dict[str, list[Any]] = {p: [] for p in self.plans}
        for points in self.points.values():
            for plan, *place in points.select("plan", "risk", "utility").rows():
                out[plan].append(place)
        return out

    def left_out(self, drawn: list[str]) -> str:
        """How many plans a chart does not show; nothing where it shows all."""
        many = len(self.plans) - len(drawn)
        plans = f"{many} further plan{'s' * (many != 1)}"
        return f" {plans} {'are' if many != 1 else 'is'} in the table of all plans only." if many else ""

    @cached_property
    def worst(self) -> str | None:
        """The intruder with the largest mean risk, over plans for which every intruder's risk is known; over the anchor
        only where there are no others. None where no risk is known."""
        known = self.summary.filter(pl.col("measure") == self.risk).drop_nulls("mean")
        full = known.filter(pl.col("intruder").n_unique().over("plan") == len(self.result.intruders))
        others = full.filter(pl.col("plan") != EVERYTHING)
        rows = next((f for f in (others, full) if f.height), known)
        rows = rows.group_by("intruder", maintain_order=True).agg(pl.col("mean").mean())
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

    def lacks(self, plan: str) -> bool:
        """Whether a plan keeps less of some utility than the rule asks for."""
        for name, floor in self.asked.floors.items():
            mean, higher = self.number(plan, name)["mean"], self.measure(name).direction == "higher"
            if mean is not None and (mean < floor if higher else mean > floor):
                return True
        return False

    def level(self, plan: str, who: str) -> str:
        """At which level an intruder was booked against a plan; nothing where it was attacked as stated."""
        if "level" not in self.result.frame:
            return ""
        rows = self.result.frame.filter((pl.col("plan") == plan) & (pl.col("intruder") == who))["level"].drop_nulls()
        return str(rows[0]) if len(rows) else ""

    def worst_risk(self, plan: str, risk: str) -> tuple[str | None, str]:
        """The intruder who is worst for a plan by one risk, and that risk as text; unknown where it is for any."""
        each = {who: self.number(plan, risk, who)["mean"] for who in self.result.intruders}
        known = {who: mean for who, mean in each.items() if mean is not None}
        if len(known) < len(each):
            return None, UNKNOWN
        who = max(known, key=lambda w: known[w])
        return who, self.number_text(plan, risk, who)

    def number_text(self, plan: str, name: str, intruder: str | None = None) -> str:
        """One number of a plan with its interval, as text; beside a number of people the share of them."""
        found = self.number(plan, name, intruder)
        ends = found["mean"], found["low"], found["high"]
        if intruder is not None:
            return self.treat.rated(*ends, self.targets(plan, intruder))
        return self.said(plan, name) if self._settled(plan, name) else self.treat.measure_interval(*ends)

    def said(self, plan: str, name: str) -> str:
        """One figure of utility as text, without its interval."""
        if self._settled(plan, name) == WITHHELD:
            return WITHHELD
        shown = self.treat.measure(self.number(plan, name)["mean"])
        return f"near {shown}" if self._settled(plan, name) else shown

    def _settled(self, plan: str, name: str) -> str:
        """What the audit made of a figure: withheld, or rounded to the best value; nothing where it is shown."""
        if not isinstance(self.result, Published):
            return ""
        key = (plan, name)
        return WITHHELD if key in self.result.withheld else "near" if key in self.result.near else ""

    def withheld_words(self, name: str, plans: Sequence[str]) -> str:
        """Which figures of a measure are withheld, in a sentence; nothing where none is."""
        gone = [p for p in plans if self._settled(p, name) == WITHHELD]
        more = f" and {len(gone) - MOST_LISTED} more" if len(gone) > MOST_LISTED else ""
        told = f"would tell about fewer than {self.treat.base} people: {', '.join(gone[:MOST_LISTED])}{more}."
        return f" Withheld, since with the release {'it' if len(gone) == 1 else 'they'} {told}" if gone else ""

    def measure(self, name: str) -> Measure:
        """A measure of utility by its name."""
        return next(m for m in self.result.measures if m.name == name)


def spread(items: Sequence[Any], room: int) -> list[Any]:
    """So many of the items, evenly spaced, the first and the last among them; all where there is room.

    >>> spread(range(9), 3), spread("ab", 5), spread("ab", 0)
    ([0, 4, 8], ['a', 'b'], [])
    """
    if len(items) <= room or room < 2:
        return list(items[: max(room, 0)])
    return [items[round(k * (len(items) - 1) / (room - 1))] for k in range(room)]
