"""A small advice made from a real study of a few plans, to try its printout, page and picture on."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

import confide as cf
from confide.core.errors import InputError
from confide.study.advise.result import FAMILIES, UNTRIED, Advice, Nearest, RunnerUp
from confide.study.statement.checks import EVERYTHING
from confide.study.tradeoff.repeats import Interval

PLANS = {
    "recode age to fives": ("recode", [cf.Recode("age", width=5)]),
    "recode age to twenties": ("recode", [cf.Recode("age", width=20)]),
    "recode age to twenties; swap race, 10% of records": (
        "recode, swap",
        [cf.Recode("age", width=20), cf.Swap("race", rate=0.1)],
    ),
    "swap race, 30% of records": ("swap", [cf.Swap("race", rate=0.3)]),
}
KNOWS = ["sex", "race", "age"]


def small_advice(
    limit: str = "15%", extra: int = 40, names: dict[str, str] | None = None, asked: tuple[str, ...] | None = None,
    rows: int = 400, drop: tuple[str, ...] = (),
) -> Advice:  # fmt: skip
    """Advice whose finalists are studied on the householders; `extra` candidates that were given up have made-up
    numbers. `names`: variables and plans under other names."""
    called = names or {}
    data = cf.demo("heads").head(rows)
    base = cf.Plan(identifiers=["id"], weight="weight")
    plans = {
        called.get(name, name): cf.Plan(steps, identifiers=["id"], weight="weight", drop=list(drop))
        for name, (_, steps) in PLANS.items()
    }
    who = {called.get("near", "near"): cf.Intruder(knows=KNOWS), "far": cf.Intruder(knows=["sex", "age"])}
    statement = cf.Study(data, plans, who, [cf.Hellinger(), "entropy"], repeats=3, seed=1,
                         choice=cf.Rule({"found": limit}, by="hellinger"))  # fmt: skip
    study = statement.run()
    limits = {"found_share": float(limit.rstrip("%")) / 100}
    try:
        choice = study.choose()
    except InputError:
        choice = None
    within = [] if choice is None else choice.table.filter("meets").sort("hellinger")["plan"].to_list()
    plans_and_base = {EVERYTHING: base, **plans}
    best = within[0] if within else study.frontier("found_share", "hellinger").sort("risk")["plan"][0]
    second = None
    if len(within) > 1:
        second = RunnerUp(within[1], plans_and_base[within[1]], Interval(0.01, -0.002, 0.022, 0.005, 3))
    nearest = None
    if choice is None:
        nearest = Nearest(best, plans[best], {"found_share": (0.3, limits["found_share"])},
                          ("The limit would have to be 30%, or age be left out.",))  # fmt: skip
    script = 'cf.advise(data, keys=["sex", "race", "age"], max_risk={"found": "' + limit + '"}, budget=44, seed=1)'
    said = ("Guessed: the weight is weight.", "Stated: two intruders.") if asked is None else asked
    return Advice(
        plans_and_base[best] if choice is not None else None, best if choice is not None else None, choice, study,
        _confirmed(study, best), _frame(study, best, within, extra, called), _families(), _untried(), second, said,
        len(plans) * 3 + extra, 75.0, 1, "Because.", nearest, script, limits, "hellinger", statement,
    )  # fmt: skip


def _confirmed(study: cf.StudyResult, best: str) -> pl.DataFrame:
    every = study.summary().filter(plan=best)
    risk = every.filter(measure="found_share").sort("mean", descending=True).head(1)
    kept = every.filter(pl.col("kind") == "utility")
    return pl.concat([risk, kept]).select("kind", "measure", "mean", "low", "high")


def _frame(study: cf.StudyResult, best: str, within: list[str], extra: int, called: dict[str, str]) -> pl.DataFrame:
    rows: list[dict[str, Any]] = []
    front = {r["plan"]: r for r in study.frontier("found", "hellinger").iter_rows(named=True)}
    families = {called.get(name, name): f for name, (f, _) in PLANS.items()} | {EVERYTHING: ""}
    for name in [*study.plans, *([EVERYTHING] if best == EVERYTHING else [])]:
        r = front[name]
        status = ("chosen" if within else "nearest") if name == best else "finalist"
        rows.append({"name": name, "families": families[name], "steps": 1, "rung": 4, "evaluations": 3,
                     "intruder": r["worst_intruder"], "found": r["risk"], "found_low": r["risk_low"],
                     "found_high": r["risk_high"], "share": r["risk"] / study.info.rows, "hellinger": r["utility"],
                     "entropy": 0.1, "status": status, "why": None})  # fmt: skip
    rng = np.random.default_rng(3)
    for k in range(extra):
        found, lost = study.info.rows * rng.beta(1, 5), 0.6 * rng.beta(2, 4)
        broken = k % 9 == 8
        rows.append({"name": f"{'swap' if k % 2 else 'PRAM'} marital, {k + 1}% of records",
                     "families": "swap" if k % 2 else "pram", "steps": 1, "rung": 0 if broken else 1 + k % 3, "evaluations": 0 if broken else 1,
                     "intruder": None if broken else "far", "found": None if broken else found,
                     "found_low": None if broken else found * 0.9, "found_high": None if broken else found * 1.1,
                     "share": None if broken else found / study.info.rows, "hellinger": None if broken else lost,
                     "entropy": 0.1, "status": "cannot be carried out" if broken else f"beaten by {best}",
                     "why": "there is nobody to swap with" if broken else "more risk and less use"})  # fmt: skip
    return pl.DataFrame(rows, infer_schema_length=None)


def _families() -> pl.DataFrame:
    rows = [("recode", 2, 0.11, 0.12, 0.02), ("swap", 22, None, 0.12, 0.2), ("pram", 20, None, None, 0.3)]
    return pl.DataFrame(rows, schema=FAMILIES, orient="row")


def _untried() -> pl.DataFrame:
    rows = [("local_suppression", "age", "too many values: nearly all of them would be hidden; recode it first"),
            ("matrix_mask", "", "its matrices are for whoever states them")]  # fmt: skip
    return pl.DataFrame(rows, schema=UNTRIED, orient="row")
