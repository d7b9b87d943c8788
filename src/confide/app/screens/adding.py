"""Adding a step: first the variable, then what methods offer for it; or any method with all its settings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from confide.app.documents import plan_table
from confide.app.fields import Field, fields_of, methods
from confide.app.state import State
from confide.app.web import Form, Page, Wrong

WORDS = {
    "recode": "Broader classes", "swap": "Swap between people", "rank_swap": "Swap with somebody near",
    "noise": "Noise", "lognormal_noise": "Noise in percent", "pram": "Random categories", "round": "Round",
    "topcode": "Cap high values", "bottomcode": "Cap low values", "microaggregate": "Averages of small groups",
    "local_suppression": "Hide single values", "sample": "Release a sample", "drop": "Leave it out",
    "cart_synthesis": "Synthetic, from trees", "normal_synthesis": "Synthetic, from a regression",
    "logistic_synthesis": "Synthetic, from a logistic regression",
    "quantile_regression": "Synthetic, from quantiles", "hot_deck": "Values of somebody alike",
}  # fmt: skip
"""Methods as the list of offers names them; others by their own name."""

FIRST = ("drop", "recode", "topcode", "bottomcode", "round", "swap", "rank_swap", "pram", "noise")


def view(page: Page) -> dict[str, Any] | None:
    """What the address asks for: nothing, the choice of a variable, its offers, or the form of a method."""
    query, state = page.query, page.state
    if not query.has("add"):
        return None
    columns = [v for v in state.roles if v not in state.variables("identifier", "drop", "unit")]
    variable = query.text("variable") if query.text("variable") in columns else ""
    method = query.text("method") if query.text("method") in methods() else ""
    answer = page.ask("offers", offers_given(state, variable)) if variable and not method else None
    own = list(dict.fromkeys([*state.knowable, *state.variables("sensitive")]))
    return {
        "variable": variable, "method": method, "first": own, "others": [v for v in columns if v not in own],
        "methods": [(m, named(m), methods()[m].get("description", "")) for m in sorted(methods(), key=named)],
        "ways": None if answer is None or answer.result is None else ways(answer.result["offers"], variable),
        "job": None if answer is None else answer.job, "waiting": answer is not None and answer.waiting,
        "fields": _method_fields(page, method, columns) if method else [], "columns": columns,
        "needs_variables": "variable" in methods()[method]["properties"] if method else False,
        "ticked": page.given.all("variables") if page.errors else [variable] * bool(variable),
        "about": methods()[method].get("description", "") if method else "",
    }  # fmt: skip


def named(method: str) -> str:
    """A method's name in words."""
    return WORDS.get(method, method.replace("_", " ").capitalize())


def offers_given(state: State, variable: str) -> dict[str, Any]:
    """What the task `offers` is about; a variable that nobody is thought to know counts once it is asked for."""
    known, private = state.knowable, state.variables("sensitive")
    asked = known if variable in (*known, *private) else [*known, variable]
    return {"plan": plan_table(state, ()), "knows": asked, "sensitive": private}


def ways(offers: Sequence[dict[str, Any]], variable: str) -> list[dict[str, Any]]:
    """Offers for a variable, by method and by what else they alter: the usual ones first."""
    found: dict[tuple[str, tuple[str, ...]], list[dict[str, Any]]] = {}
    for offer in offers:
        if variable in offer["variables"]:
            found.setdefault((offer["family"], tuple(offer["variables"])), []).append(offer)
    out: list[dict[str, Any]] = [
        {"word": named(family), "family": family, "with": [v for v in alters if v != variable], "offers": each,
         "dear": any(o["dear"] for o in each), "first": _usual(each)}
        for (family, alters), each in found.items()
    ]  # fmt: skip
    out.sort(key=lambda way: (len(way["with"]), _place(way["family"])))
    return [{**way, "number": k} for k, way in enumerate(out, 1)]


def _usual(each: Sequence[dict[str, Any]]) -> int:
    """The offer of middle strength among those that everybody takes part in."""
    plain = [o for o in each if " within " not in o["says"]] or list(each)
    return int(plain[len(plain) // 2]["number"])


def _place(family: str) -> int:
    return FIRST.index(family) if family in FIRST else len(FIRST)


def chosen(page: Page, form: Form) -> dict[str, Any]:
    """The offer that a form names."""
    variable = form.text("variable")
    found = page.ask("offers", offers_given(page.state, variable), start=False).result
    number = form.whole("offer", -1)
    offer = next((o for o in found["offers"] if o["number"] == number), None) if found else None
    if offer is None:
        raise Wrong.at("", "This is not offered for the file as it is described now.")
    return dict(offer)


def blank(form: Form, columns: Sequence[str]) -> dict[str, Any]:
    """A step of the method that a form names, with its variables and nothing else."""
    method = form.text("method")
    if method not in methods():
        raise Wrong(method="Choose a method.")
    if "variable" not in methods()[method]["properties"]:
        return {"method": method}
    picked = [v for v in form.all("variables") if v in columns]
    if not picked:
        raise Wrong(variables="Tick the variables that it alters.")
    return {"method": method, "variable": picked[0]} if len(picked) == 1 else {"method": method, "variables": picked}


def _method_fields(page: Page, method: str, columns: Sequence[str]) -> list[Field]:
    fields = fields_of({"method": method}, columns, bool(page.state.variables("unit")))
    return as_sent(page, fields) if page.errors else fields


def as_sent(page: Page, fields: Sequence[Field]) -> list[Field]:
    """Fields with what was sent in them, so that nobody types it again."""
    sent = page.given
    return [
        replace(f, shown=sent.text(f"set-{f.name}"),
                value=sent.all(f"set-{f.name}") if f.kind == "names" else sent.has(f"set-{f.name}"))
        for f in fields
    ]  # fmt: skip
