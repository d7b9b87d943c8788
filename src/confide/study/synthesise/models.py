"""The order in which variables are drawn, from what, and by which model: a plan, and a row of reasons per variable."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from confide.core.errors import InputError, Problems, did_you_mean
from confide.protect.methods.synthesis.cart.cart import CartSynthesis
from confide.protect.methods.synthesis.chosen import ordered, predictors_of
from confide.protect.methods.synthesis.logistic import LogisticSynthesis
from confide.protect.methods.synthesis.normal import NormalSynthesis
from confide.protect.methods.synthesis.quantile.quantile_regression import QuantileRegression
from confide.protect.methods.synthesis.recompute import Recompute
from confide.protect.plan import Plan
from confide.protect.seam.mechanism import Mechanism
from confide.protect.shared.rules import Held, Sum
from confide.study.synthesise.asked import Asked

MODELS = ("cart", "ranks", "quantile", "logistic", "margin")
"""Models by name: the leaf of a tree, a regression of ranks, quantile and logistic regression, the margin alone."""
NUMBERS = ("ranks", "quantile")

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
    drawn = [v for v in ordered(asked.records, asked.drawn, order or (), asked.weight) if v not in totals]
    steps: list[Mechanism] = []
    rows: list[Row] = [_row(v, "kept", "", (), (), "kept as it is: stated") for v in asked.kept]
    rows += [_row(v, "kept", "", (), (), "one value for everybody, or none: nothing to draw") for v in asked.same]
    done, kept_by = list(asked.kept), dict.fromkeys((r.text for r in ruled.held), "")
    for v in drawn:
        rules = [r for r in ruled.held if v in r.names and {*r.names} <= {v, *done}]
        ahead = _ahead(v, done, drawn, ruled.held, models)
        given = predictors_of(asked.records, v, done, {u for r in (*rules, *ahead) for u in r.names})
        step, why = _step(v, given, rules, ahead, models.get(v), leaf, draw)
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


def _step(
    v: str, given: tuple[str, ...], rules: Sequence[Held], ahead: Sequence[Held], stated: Any, leaf: int, draw: bool
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
    if stated == "logistic":
        return LogisticSynthesis(v, given=given, draw=draw), "stated: a logistic regression; keeps no rules"
    how = "bootstrap" if draw else "even"
    if stated == "margin":
        return CartSynthesis(v, leaf=leaf, draw=how), "stated: its margin alone, unrelated to all else"
    texts = [tuple(r.text for r in some) for some in (rules, ahead)]
    return CartSynthesis(v, given=given, leaf=leaf, draw=how, rules=texts[0], ahead=texts[1]), why


def _ahead(
    v: str, done: Sequence[str], drawn: Sequence[str], held: Sequence[Held], models: Mapping[str, Any]
) -> list[Held]:  # fmt: skip
    """Rules that later trees keep and that a value of v bears on: those that name it, and those that share a variable
    to come with such a rule."""
    later = drawn[drawn.index(v) + 1 :]
    trees = {u for u in later if u not in models}

    def kept_later(r: Held) -> bool:
        last = [u for u in later if u in r.names]
        return bool(last) and last[-1] in trees and {*r.names} <= {v, *done, *later}

    able = [r for r in held if kept_later(r)]
    found = [r for r in able if v in r.names]
    names, before = {u for r in found for u in r.names}, -1
    while len(found) > before:
        before = len(found)
        found = [r for r in able if names & {*later} & {*r.names}]
        names |= {u for r in found for u in r.names}
    return found


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
            kind = asked.records[v].kind if v in asked.drawn else ""
            wrong = kind == "categorical" and model in NUMBERS
            problems.when(wrong, f'models: "{v}" has categories, and "{model}" draws numbers.')
            wrong = kind == "numeric" and model == "logistic"
            problems.when(wrong, f'models: "{v}" is a number, and "{model}" draws categories.')
            found[v] = model
    listed = None if order is None else [order] if isinstance(order, str) else list(order)
    for v in listed or ():
        problems.when(v not in asked.drawn, f'order: "{v}" is not made synthetic.{did_you_mean(str(v), asked.drawn)}')
    problems.when(len(set(listed or ())) < len(listed or ()), "order: a variable is named twice.")
    problems.tell()
    return found, listed
