"""Advice as a reader asks about it: risks in the words of people, candidates by what became of them, families."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import polars as pl

from confide.core.visible import visible
from confide.measure.utility.measure import Measure
from confide.protect.plan import Plan
from confide.show.advice.drawings import Plane, Point
from confide.show.names import said
from confide.study.statement.checks import EVERYTHING
from confide.study.tradeoff.question import amount, number
from confide.study.tradeoff.risk_names import apart, is_share

if TYPE_CHECKING:
    from confide.study.advise.result import Advice

LIVE = ("chosen", "finalist", "nearest")
"""What the status of a candidate begins with that was not given up."""
LONGEST = 60
"""Letters of a plan's name on a picture."""
FOUND = "found_share"
AS_IT_IS = "the file as it is"


@dataclass(frozen=True, eq=False)
class AdviceView:
    """What printout and page say of advice, read once."""

    advice: Advice

    @cached_property
    def risk(self) -> str:
        """The risk that was limited first."""
        return next(iter(self.advice.limits))

    @property
    def limit(self) -> float:
        """Its limit."""
        return self.advice.limits[self.risk]

    @property
    def measure(self) -> Measure:
        """The measure of utility that was chosen by."""
        return self.advice.study.measure(self.advice.by)

    @property
    def measures(self) -> list[Measure]:
        """All measures of utility, that which was chosen by first."""
        first = self.measure
        return [first, *(m for m in self.advice.study.measures if m.name != first.name)]

    @property
    def best(self) -> str | None:
        """The plan that is spoken of: chosen, or nearest to the limit."""
        near = self.advice.nearest
        return self.advice.name if self.advice.name is not None else None if near is None else near.name

    @property
    def plan(self) -> Plan | None:
        """The same as a plan."""
        near = self.advice.nearest
        return self.advice.plan if self.advice.plan is not None else None if near is None else near.plan

    @cached_property
    def people(self) -> float | None:
        """How many people intruders look for; None where plans differ in that."""
        found = self.advice.study.frame["targets"].drop_nulls()
        return float(found[0]) if len(found) and found.n_unique() == 1 else None

    @cached_property
    def _numbers(self) -> dict[tuple[str, str, str | None], dict[str, Any]]:
        rows = self.advice.study.summary().iter_rows(named=True)
        return {(r["plan"], r["measure"], r["intruder"]): r for r in rows}

    @cached_property
    def _worst(self) -> dict[tuple[str, str], str | None]:
        """By risk and plan, the strongest intruder."""
        out = {}
        for risk in {*self.advice.limits, FOUND}:
            for r in self.advice.study.frontier(risk, self.advice.by).iter_rows(named=True):
                out[risk, r["plan"]] = r["worst_intruder"]
        return out

    def strongest(self, plan: str, risk: str | None = None) -> str | None:
        """The intruder who finds most in a plan's release."""
        return self._worst.get((risk or self.risk, plan))

    @cached_property
    def _confirmed(self) -> dict[str, dict[str, Any]]:
        return {r["measure"]: r for r in self.advice.confirmed.iter_rows(named=True)}

    def risk_row(self, plan: str, risk: str | None = None) -> dict[str, Any]:
        """Mean and interval of a risk of a plan, by the strongest intruder: of the plan that is spoken of as confirmed,
        of others in the study; empty where not known."""
        risk = risk or self.risk
        if plan == self.best and risk in self._confirmed:
            return self._confirmed[risk]
        who = self.strongest(plan, risk)
        return self._numbers.get((plan, risk, who)) or self._numbers.get((plan, risk, None)) or {}

    def kept_row(self, plan: str, measure: str) -> dict[str, Any]:
        """The same of a measure of utility."""
        if plan == self.best and measure in self._confirmed:
            return self._confirmed[measure]
        return self._numbers.get((plan, measure, None), {})

    def targets(self, plan: str) -> float | None:
        """How many people the strongest intruder looks for."""
        row = self._numbers.get((plan, "targets", self.strongest(plan)))
        return None if row is None else row["mean"]

    def risk_words(self, row: Mapping[str, Any], targets: float | None, spread: bool = True) -> str:
        """A risk in words: a share of people with their number, or a number with its share; with its interval."""
        if row.get("mean") is None:
            return "unknown"
        parts = [self.beside(row["measure"], row["mean"], targets)]
        low, high = row.get("low"), row.get("high")
        if spread and low is not None and high is not None and low != high:
            parts.append(f"95% interval {amount(row['measure'], low)} to {amount(row['measure'], high)}")
        more = "; ".join(p for p in parts if p)
        return f"{amount(row['measure'], row['mean'])}{f' ({more})' * bool(more)}"

    def beside(self, risk: str, value: float, targets: float | None) -> str:
        """The share of a number of people, or the number of a share."""
        if not targets or apart(risk):
            return ""
        return f"{value * targets:,.0f} of {targets:,.0f}" if is_share(risk) else f"{100 * value / targets:.3g}%"

    def limit_words(self, risk: str | None = None) -> str:
        """A limit, as "1%" or "500 people"."""
        risk = risk or self.risk
        words = amount(risk, self.advice.limits[risk])
        return words if is_share(risk) or apart(risk) else f"{words} {'person' if words == '1' else 'people'}"

    def kept_words(self, row: Mapping[str, Any], spread: bool = True) -> str:
        """A utility with its interval."""
        if row.get("mean") is None:
            return "unknown"
        low, high = row.get("low"), row.get("high")
        if not spread or low is None or high is None or low == high:
            return number(row["mean"])
        return f"{number(row['mean'])} (95% interval {number(low)} to {number(high)})"

    @cached_property
    def candidates(self) -> list[dict[str, Any]]:
        """One row per candidate, with `families` as a tuple, `live` and `within` (None where it was not found out)."""
        risk = self._column
        rows = []
        for r in self.advice.frame.iter_rows(named=True):
            made = r["families"]
            families = (
                tuple(made) if isinstance(made, (list, tuple)) else tuple(f for f in str(made or "").split(", ") if f)
            )
            at = r.get(risk)
            within = None if at is None or self.drawn != self.risk else at <= self.limit * (1 + 1e-12)
            rows.append({**r, "families": families, "risk": at, "within": within,
                         "live": str(r["status"]).startswith(LIVE)})  # fmt: skip
        return rows

    @property
    def tried(self) -> int:
        """Candidates of which a release was made; others could not be carried out."""
        return sum(map(self.released, self.candidates))

    @staticmethod
    def released(row: Mapping[str, Any]) -> bool:
        """Whether a release of a candidate was made and attacked."""
        return bool(row["evaluations"] > 0 and row["status"] != "cannot be carried out")

    @cached_property
    def _column(self) -> str:
        """The column of candidates with the risk that is limited."""
        return self.drawn if self.drawn in self.advice.frame.columns else "share"

    @property
    def drawn(self) -> str:
        """The risk by which candidates are drawn: the one that is limited, or, where the table of candidates does not
        have that, the share of people found."""
        return self.risk if self.risk in self.advice.frame.columns or self.risk == FOUND else FOUND

    @cached_property
    def plane(self) -> Plane:
        """All candidates that have numbers, and the file as it is, between risk and utility."""
        points = [
            self._point(r) for r in self.candidates if r["risk"] is not None and r.get(self.measure.name) is not None
        ]
        start, kept = self.risk_row(EVERYTHING, self.drawn), self.kept_row(EVERYTHING, self.measure.name)
        there = any(p.name == EVERYTHING for p in points)
        if not there and start.get("mean") is not None and kept.get("mean") is not None:
            points.append(Point(EVERYTHING, start["mean"], kept["mean"], live=True, front=True, words=AS_IT_IS))
        share = is_share(self.drawn)
        people = None if apart(self.drawn) else self.people if not share else 1.0
        limited = self.drawn == self.risk
        limit, words = (self.limit, f"limit: {self.limit_words()}") if limited else (None, "")
        return Plane(points, self.measure, limit, words, f"{said(self.drawn)}, strongest intruder",
                     f"{said(self.measure.name)} ({self.measure.direction} is better)", people, share,
                     f"{self.measure.name} ({self.measure.direction} is better)")  # fmt: skip

    def _point(self, row: Mapping[str, Any]) -> Point:
        name, mine = row["name"], row["name"] == self.best
        study = self.risk_row(name, self.drawn) if row["live"] else {}
        kept = self.kept_row(name, self.measure.name) if row["live"] else {}
        risk: float = row["risk"] if study.get("mean") is None else study["mean"]
        value: float = row[self.measure.name] if kept.get("mean") is None else kept["mean"]
        ends = (study["low"], study["high"]) if study.get("low") is not None else None
        second = self.advice.runner_up is not None and name == self.advice.runner_up.name
        words = AS_IT_IS if name == EVERYTHING else short(name) if mine or second else ""
        return Point(name, risk, value, ends, row["families"], row["live"], mine, name in self._front, words)

    @cached_property
    def _front(self) -> set[str]:
        points = self.advice.study.frontier(self.risk, self.advice.by)
        return set(points.filter("on_frontier")["plan"])

    def measured(self, name: str) -> str:
        """A measure of utility in words, with which way is better."""
        m = self.advice.study.measure(name)
        return f"{said(name)}, {m.direction} is better"

    @cached_property
    def counts(self) -> dict[str, int]:
        """Candidates by what became of them: the first words of their status."""
        found: dict[str, int] = {}
        for r in self.candidates:
            status = str(r["status"])
            key = "beaten" if status.startswith("beaten") else status
            found[key] = found.get(key, 0) + 1
        return found

    @cached_property
    def rungs(self) -> pl.DataFrame:
        """How far candidates came: rung, and how many reached it."""
        reached = [r["rung"] for r in self.candidates if self.released(r) and r["rung"] is not None]
        first = min(reached, default=1)  # a small file has no sample of people to begin with
        rows = [(k, sum(r >= k for r in reached)) for k in range(first, max(reached, default=0) + 1)]
        return pl.DataFrame(rows, schema={"rung": pl.Int64, "candidates": pl.Int64}, orient="row")


def short(name: str) -> str:
    """A plan's name for a picture; a long one ends in dots.

    >>> short("swap race, 10% of records"), short("recode age; " * 20)[-12:]
    ('swap race, 10% of records', 'recode a...')
    """
    shown = visible(name)
    return shown if len(shown) <= LONGEST else f"{shown[: LONGEST - 3].rstrip()}..."


def span(seconds: float) -> str:
    """A time for a sentence.

    >>> span(4.2), span(75), span(3_700)
    ('4 s', '1 min 15 s', '1 h 1 min')
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"
