"""The order in which variables are drawn, from what, and by which model: a plan, and a row of reasons per variable."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from confide.core.errors import InputError, Problems, did_you_mean
from confide.frames.columns import F64, Column
from confide.protect.methods.synthesis.cart.cart import CartSynthesis
from confide.protect.methods.synthesis.normal import NormalSynthesis
from confide.protect.methods.synthesis.quantile.quantile_regression import QuantileRegression
from confide.protect.methods.synthesis.recompute import Recompute
from confide.protect.plan import Plan
from confide.protect.seam.mechanism import Mechanism
from confide.protect.shared.rules import Held, Sum
from confide.study.synthesise.asked import Asked

MODELS = ("cart", "ranks", "quantile", "margin")
"""Models by name: the leaf of a tree, a regression of ranks, quantile regression, and the margin alone."""
MOST_GIVEN = 25
"""Predictors of a variable; of more, those that go with it most are taken."""
LOOKED_AT = 2000
"""Rows by which it is judged what goes with what."""

Row = Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class Chosen:
    """`plan`: what is done. `rows`: one per variable, with reasons. `kept_by`: the variable whose draws keep a rule,
    empty where none can."""

    plan: Plan
    rows: tuple[Row, ...]
    kept_by: Mapping[str, str]


@dataclass(frozen=True)
class Ruled:
    """Rules that the file keeps or that somebody stated: sums, and those of single records."""

    sums: tuple[Sum, ...] = ()
    held: tuple[Held, ...] = ()


def chosen_for(
    asked: Asked, ruled: Ruled, order: Sequence[str] | None, models: Mapping[str, Any], leaf: int, draw: bool
) -> Chosen:
    """A plan for a file."""
    totals = {s.total: s for s in ruled.sums if s.total in asked.drawn and s.total not in models}
    drawn = [v for v in ordered(asked, order) if v not in totals]
    steps: list[Mechanism] = []
    rows: list[Row] = [_row(v, "kept", "", (), (), "kept as it is: stated") for v in asked.kept]
    rows += [_row(v, "kept", "", (), (), "one value for everybody, or none: nothing to draw") for v in asked.same]
    done, kept_by = list(asked.kept), dict.fromkeys((r.text for r in ruled.held), "")
    for v in drawn:
        rules = [r for r in ruled.held if v in r.names and {*r.names} <= {v, *done}]
        given = chosen_predictors(asked, v, done, rules)
        step, why = _step(v, given, [r.text for r in rules], models.get(v), leaf, draw)
        why += (
            f" (of {len(done)}, those that go with it most)" if 0 < len(given) < len(done) and v not in models else ""
        )
        why += f"; {len(rules)} rule{'s' * (len(rules) > 1)}" if rules and v not in models else ""
        steps.append(step)
        done.append(v)
        mine = tuple(getattr(step, "rules", ()))
        kept_by.update(dict.fromkeys(mine, v))
        rows.append(_row(v, "synthetic", type(step).__name__, step.needs, mine, why))
    for total in _by_need(totals):
        steps.append(Recompute(total, plus=totals[total].plus, minus=totals[total].minus))
        why = "the sum of its parts in every row of the file: made again from the synthetic parts"
        rows.append(_row(total, "recomputed", "Recompute", steps[-1].needs, (totals[total].text,), why))
    rows += [_row(v, "left out", "", (), (), why) for v, why in asked.gone.items()]
    numbers = {v for s in totals.values() for v in s.names if v in asked.records}
    kinds = {v: "numeric" if v in numbers else kind for v, kind in asked.kinds.items()}
    plan = Plan(
        steps, identifiers=asked.identifiers, weight=asked.weight,
        drop=[v for v in asked.gone if v not in asked.identifiers],
        categorical=[v for v, k in kinds.items() if k == "categorical"],
        numeric=[v for v, k in kinds.items() if k == "numeric"],
    )  # fmt: skip
    return Chosen(plan, tuple({"order": k, **r} for k, r in enumerate(rows, 1)), kept_by)


def ordered(asked: Asked, stated: Sequence[str] | None) -> list[str]:
    """Those named first, in that order; then numbers, in the order of the file; then categories, those with few values
    before those with many; a survey weight last."""
    first = list(stated or ())

    def place(v: str) -> tuple[bool, bool, int]:
        column = asked.records[v]
        number = column.kind == "numeric"
        return v == asked.weight, not number, 0 if number else len(column.levels)

    return [*first, *sorted((v for v in asked.drawn if v not in first), key=place)]


def chosen_predictors(asked: Asked, v: str, done: Sequence[str], rules: Sequence[Held]) -> tuple[str, ...]:
    """What a variable is drawn from: all that came before, or of many those that go with it most and those that share
    a rule with it."""
    able = [u for u in done if not bool(asked.records[u].missing.all())]
    if len(able) <= MOST_GIVEN:
        return tuple(able)
    ruled = {u for r in rules for u in r.names}
    rows = np.unique(np.linspace(0, asked.rows - 1, LOOKED_AT).astype(np.int64))
    mine = _scores(asked.records[v].take(rows))
    strength = {u: float(np.abs(mine.T @ _scores(asked.records[u].take(rows))).max()) for u in able}
    best = sorted(able, key=lambda u: (u not in ruled, -strength[u]))[: max(MOST_GIVEN, len(ruled & {*able}))]
    return tuple(u for u in able if u in best)


def _scores(column: Column) -> F64:
    """Standardised ranks of a number, or indicators of the ten commonest categories; columns of length one."""
    if column.kind == "numeric":
        x = np.argsort(np.argsort(np.nan_to_num(column.values, nan=-np.inf))).astype(float)[:, None]
    else:
        common = np.argsort(-np.bincount(column.values + 1))[:10]
        x = (column.values[:, None] + 1 == common).astype(float)
    x = x - x.mean(axis=0)
    length = np.sqrt((x**2).sum(axis=0))
    return np.asarray(x / np.where(length > 0, length, 1.0))


def _step(
    v: str, given: tuple[str, ...], rules: Sequence[str], stated: Any, leaf: int, draw: bool
) -> tuple[Mechanism, str]:
    """The step that draws a variable, and why that one."""
    if isinstance(stated, Mechanism):
        return stated, "stated"
    many = "the variable" if len(given) == 1 else f"{len(given)} variables"
    why = f"a tree on {many} before it" if given else "first: drawn from its own values, in the shares of the file"
    if stated == "ranks":
        return NormalSynthesis(
            v, given=given, scale="ranks", draw=draw
        ), "stated: a regression of ranks; keeps no rules"
    if stated == "quantile":
        return QuantileRegression(v, given=given), "stated: quantile regression; keeps no rules"
    how = "bootstrap" if draw else "even"
    if stated == "margin":
        return CartSynthesis(v, leaf=leaf, draw=how), "stated: its margin alone, unrelated to all else"
    return CartSynthesis(v, given=given, leaf=leaf, draw=how, rules=tuple(rules)), why


def _row(v: str, treated: str, model: str, given: Sequence[str], rules: Sequence[str], why: str) -> Row:
    return {
        "variable": v, "becomes": treated, "model": model, "predictors": ", ".join(given), "rules": "; ".join(rules),
        "why": why,
    }  # fmt: skip


def _by_need(totals: Mapping[str, Sum]) -> list[str]:
    """Totals, those that are parts of others first."""
    out: list[str] = []
    while len(out) < len(totals):
        ready = [t for t, s in totals.items() if t not in out and not {*s.plus, *s.minus} & {*totals} - {*out}]
        if not ready:
            raise InputError("rules: some totals are parts of one another, so that none can be made first.")
        out += ready
    return out


def checked_models(asked: Asked, models: Any, order: Any) -> tuple[dict[str, Any], list[str] | None]:
    """Models and the order, as they were stated, for variables that are drawn."""
    problems, found = Problems(), dict[str, Any]()
    if models is not None and not isinstance(models, Mapping):
        raise InputError('models leads from names of variables to a model, as in {"income": "ranks"}.')
    for v, model in (models or {}).items():
        problems.when(v not in asked.drawn, f'models: "{v}" is not made synthetic.{did_you_mean(str(v), asked.drawn)}')
        if isinstance(model, Mechanism):
            own = model.variables == (v,) and model.role == "random"
            problems.when(not own, f'models: the step for "{v}" must draw this variable alone.')
            found[v] = replace(model) if own else model  # type: ignore[type-var]  # a method is a dataclass
        else:
            wrong = model not in MODELS
            problems.when(wrong, f"models: a model is {', '.join(MODELS)}, or a step such as CartSynthesis(...).")
            number = v not in asked.drawn or asked.records[v].kind == "numeric" or model in ("cart", "margin")
            problems.when(not number, f'models: "{v}" has categories, and "{model}" draws numbers.')
            found[v] = model
    listed = None if order is None else [order] if isinstance(order, str) else list(order)
    for v in listed or ():
        problems.when(v not in asked.drawn, f'order: "{v}" is not made synthetic.{did_you_mean(str(v), asked.drawn)}')
    problems.when(len(set(listed or ())) < len(listed or ()), "order: a variable is named twice.")
    problems.tell()
    return found, listed
