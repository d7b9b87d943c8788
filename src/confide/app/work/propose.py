"""Propose candidates: `cf.advise` tries many plans, and those that no other beats are proposed."""

from __future__ import annotations

from typing import Any

import confide as cf
from confide.app.state import AS_IT_IS, DROP
from confide.app.work.compare import EVERYTHING
from confide.app.work.data import data_of
from confide.app.worker import Work

SEED = 1


def run(work: Work) -> dict[str, Any]:
    """Plans on the frontier of the study that the advice ends in, as candidates."""
    asked, shared = work.given, work.given["shared"]
    data = data_of(work.folder)
    if gone := shared.get("drop"):
        data = data.drop(*gone)
    intruders = {
        w["name"]: cf.Intruder.from_dict({k: v for k, v in w.items() if k != "name"}) for w in asked["intruder"]
    }
    advice = cf.advise(
        data, asked["keys"], sensitive=asked["sensitive"], identifiers=shared.get("identifiers"),
        weight=shared.get("weight"), unit=shared.get("unit"), intruders=intruders, utility=asked["utility"],
        by=asked["by"], max_risk=asked["max_risk"], min_utility=asked["min_utility"], quick=True,
        budget=asked.get("budget"), seed=SEED, progress=work.progress,
    )  # fmt: skip
    front = advice.study.frontier(utility=asked["by"])
    best = [p for p, on in front.select("plan", "on_frontier").iter_rows() if on and p not in (EVERYTHING, AS_IT_IS)]
    chosen = advice.name or (advice.nearest.name if advice.nearest else None)
    named = [*([chosen] if chosen in advice.study.plans else []), *(p for p in best if p != chosen)]
    plans = [{"name": _short(n), "steps": _steps(advice.study.plans[n])} for n in named]
    return {"plans": plans, "tried": advice.frame.height, "evaluations": advice.evaluations, "seconds": advice.seconds,
            "met": advice.plan is not None, "asked": {k: asked[k] for k in ("shared", "keys", "intruder")}}  # fmt: skip


def _steps(plan: cf.Plan) -> list[dict[str, Any]]:
    """A plan's steps as a state holds them: what it leaves out is a step too."""
    table: dict[str, Any] = plan.to_dict()
    dropped = table.get("drop", [])
    gone = [{"method": DROP, "variable": v} for v in ([dropped] if isinstance(dropped, str) else dropped)]
    return [*gone, *table.get("steps", [])]


def _short(name: str) -> str:
    return name if len(name) <= 120 else f"{name[:119]}…"
