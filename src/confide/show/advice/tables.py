"""The tables of advice: the finalists, what each family could reach, what was not tried."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from confide.core.visible import visible
from confide.show.advice.view import AS_IT_IS, FOUND, AdviceView
from confide.show.names import said
from confide.show.report.figures import Table
from confide.study.statement.checks import EVERYTHING
from confide.study.tradeoff.question import amount, number

MOST_SHOWN = 8


def finalists(view: AdviceView, most: int = MOST_SHOWN, words: bool = True) -> Table:
    """The file as it is, the plan that is spoken of, and those compared to the end, the best first. `words`: columns in
    words, not by their names."""
    named = (lambda n: said(n)) if words else (lambda n: n)
    rows = [_row(view, EVERYTHING, AS_IT_IS, _status(view, EVERYTHING) if view.best == EVERYTHING else "")]
    order = [p for p, plan in view.advice.study.plans.items() if p != view.best and (plan.steps or plan.drop)]
    sign = -1.0 if view.measure.direction == "higher" else 1.0

    def place(plan: str) -> tuple[bool, float]:
        risk, value = view.risk_row(plan).get("mean"), view.kept_row(plan, view.measure.name).get("mean")
        within = risk is not None and risk <= view.limit * (1 + 1e-12)
        return not within, float("inf") if value is None else sign * value

    order.sort(key=place)
    shown = [view.best, *order] if view.best not in (None, EVERYTHING) else order
    for plan in shown[:most]:
        rows.append(_row(view, plan, visible(plan), _status(view, plan)))
    return Table(["plan", named(view.risk), "by", *(named(m.name) for m in view.measures), ""], rows)


def _row(view: AdviceView, plan: str, name: str, status: str) -> list[str]:
    risk = view.risk_row(plan)
    kept = [view.kept_words(view.kept_row(plan, m.name), spread=False) for m in view.measures]
    who = view.strongest(plan)
    return [name, view.risk_words(risk, view.targets(plan), False), visible(who or ""), *kept, status]


def _status(view: AdviceView, plan: str) -> str:
    if plan == view.advice.name:
        return "advised"
    if plan == view.best:
        return "nearest"
    if view.advice.runner_up is not None and plan == view.advice.runner_up.name:
        return "second"
    risk = view.risk_row(plan).get("mean")
    return "" if risk is None or risk <= view.limit * (1 + 1e-12) else "above the limit"


def family_rows(view: AdviceView) -> list[Mapping[str, Any]]:
    """Families, those that reach most first; what the study at the end found of a family counts beside the search."""
    sign = 1.0 if view.measure.direction == "higher" else -1.0

    def place(r: Mapping[str, Any]) -> tuple[bool, float, float]:
        reached = [sign * r[k] for k in ("best_alone", "best_in_mixes") if r[k] is not None]
        return not reached, -max(reached, default=0.0), r["lowest_risk"] if r["lowest_risk"] is not None else 1e300

    return sorted((_with_study(view, dict(r), sign) for r in view.advice.families.iter_rows(named=True)), key=place)


def _with_study(view: AdviceView, row: dict[str, Any], sign: float) -> dict[str, Any]:
    """A family's row, with the finalists that have it by their numbers in the study."""
    row["tried"] = sum(row["family"] in c["families"] and view.released(c) for c in view.candidates)
    for c in view.candidates:
        if not c["live"] or row["family"] not in c["families"]:
            continue
        found, risk = view.risk_row(c["name"], FOUND).get("mean"), view.risk_row(c["name"]).get("mean")
        value = view.kept_row(c["name"], view.measure.name).get("mean")
        if found is not None:
            row["lowest_risk"] = found if row["lowest_risk"] is None else min(found, row["lowest_risk"])
        if value is not None and risk is not None and risk <= view.limit * (1 + 1e-12):
            at = "best_alone" if len(c["families"]) == 1 else "best_in_mixes"
            row[at] = value if row[at] is None else sign * max(sign * value, sign * row[at])
    return row


def families(view: AdviceView) -> Table:
    """What each family could reach."""
    rows = []
    for r in family_rows(view):
        alone, mixed = (("none" if r[k] is None else number(r[k])) for k in ("best_alone", "best_in_mixes"))
        low = "unknown" if r["lowest_risk"] is None else amount(FOUND, r["lowest_risk"])
        rows.append([plain_family(r["family"]), f"{r['tried']:,}", alone, mixed, low])
    return Table(["family", "tried", "best within the limit, alone", "in mixes", "fewest found"], rows)


def reached(view: AdviceView, row: Mapping[str, Any]) -> tuple[str, bool]:
    """What a family reached in a few words, and whether some of it is within the limit."""
    known = [row[k] for k in ("best_alone", "best_in_mixes") if row[k] is not None]
    if known:
        best = max(known) if view.measure.direction == "higher" else min(known)
        how = "" if row["best_alone"] == best else ", in mixes"
        return f"best within the limit: {number(best)}{how}", True
    if row["lowest_risk"] is None:
        return "no number", False
    return f"none within; fewest found: {amount(FOUND, row['lowest_risk'])}", False


def untried(view: AdviceView) -> Table | None:
    """What was never tried, and why; families with the same reason together."""
    rows = [[family, variables or "all", why] for family, variables, why in untried_rows(view)]
    return Table(["family", "variables", "why not"], rows) if rows else None


def untried_rows(view: AdviceView) -> list[tuple[str, str, str]]:
    """Family, variables and reason; of one family and reason once. What the budget left over comes last."""
    found: dict[tuple[str, str], dict[str, None]] = {}
    for r in view.advice.untried.iter_rows(named=True):
        of = found.setdefault((plain_family(r["family"]), visible(r["why"])), {})
        of.update({visible(v): None for v in (r["variables"] or "").split(", ") if v})
    rows = [(family, ", ".join(variables), why) for (family, why), variables in found.items()]
    return sorted(rows, key=lambda row: row[2].startswith("not tried:"))


def plain_family(name: str) -> str:
    """A family's name in words.

    >>> plain_family("rank_swap")
    'rank swap'
    """
    return visible(name.replace("_", " "))
