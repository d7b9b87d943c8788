"""Risk: who could be found in the file as it is, by whom, and which variables do it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from confide.app import words
from confide.app.effects import risk_given
from confide.app.plans import free_name
from confide.app.screens.intruder_form import as_form, read_intruder
from confide.app.state import State, Table
from confide.app.web import Form, Made, Page, Wrong, listed

NAME, TITLE = "risk", "Risk"
PARTS: Mapping[str, str] = {"figures": "_risk_figures.html", "found": "_risk_cards.html", "look": "_risk_look.html"}
HARDLY, HALF = 0.05, 0.5
"""Of those who are alone: where no more remain without a variable, hardly anybody does; where it matters."""

EXPOSED, GROUPS = 3, 10


def view(page: Page) -> dict[str, Any]:
    """The file as it is: people alone, people alike, people found; intruders; what makes people stand alone."""
    state = page.state
    if not page.facts or not state.intruders:
        return {"ready": False}
    chosen = min(max(page.query.whole("who", 1), 1), len(state.intruders))
    who = state.intruders[chosen - 1]
    keys = known_keys(state, who)
    look = page.ask("look", look_given(state, keys)) if keys else None
    found = page.ask("effect", risk_given(state))
    effect = None if found.result is None else found.result["plans"][0]
    seen = None if look is None else look.result
    parts = {"figures": found.waiting or (look is not None and look.waiting), "found": found.waiting,
             "look": look is not None and look.waiting}  # fmt: skip
    return {
        "ready": True, "chosen": chosen, "who": who, "keys": keys, "look": seen, "look_job": look and look.job,
        "effect": effect, "found_job": found.job, "cards": _cards(state, effect), "note": seen and _note(seen),
        "groups": listed(seen["groups"] if seen else (), page.query, ("variable", "group"),
                         ("variable", "people", "alone", "alone_share", "found_share"), GROUPS, "g"),
        "direct": state.variables("identifier", "drop"), "waiting": [p for p, on in parts.items() if on],
        "edit": as_form(page),
    }  # fmt: skip


def known_keys(state: State, who: Table) -> list[str]:
    """What an intruder knows of what is released."""
    gone = state.variables("identifier", "drop", "unit")
    return [v for v in who["knows"] if v not in gone]


def look_given(state: State, keys: Sequence[str]) -> dict[str, Any]:
    """What the task `look` is about."""
    first = {role: next(iter(state.variables(role)), None) for role in ("weight", "unit")}
    return {"keys": list(keys), **first}


def _cards(state: State, effect: Mapping[str, Any] | None) -> list[dict[str, Any]]:
    found = {f["name"]: f for f in effect["found"]} if effect else {}
    return [
        {"name": w["name"], "about": w.get("about", ""), "knows": w["knows"], "unsure": _unsure(w),
         "errs": bool(w.get("errors")), "found": found.get(w["name"])}
        for w in state.intruders
    ]  # fmt: skip


def _unsure(who: Table) -> str:
    member = who.get("membership", "certain")
    if isinstance(member, str):
        return ""
    if member.get("total"):
        return f"Not sure whether the person is in the file: one of {words.count(float(member['total']))}."
    return "Not sure whether the person is in the file, by its weights."


def _note(look: Mapping[str, Any]) -> dict[str, Any]:
    """The verdict in words: which variables do it, and who is most exposed."""
    drivers = sorted(look["drivers"], key=lambda d: d["alone_without"])
    by = [d for d in drivers if d["alone_without"] <= HALF * look["alone"]][:3] if look["alone"] else []
    exposed = sorted((g for g in look["groups"] if g["alone"]), key=lambda g: -g["alone_share"])[:EXPOSED]
    said = "; ".join(f"without {d['variable']} {words.count(d['alone_without'])}" for d in drivers)
    return {
        "by": by, "hardly": all(d["alone_without"] <= HARDLY * look["alone"] for d in by), "drivers": drivers,
        "accent": [d["variable"] for d in by or drivers[:1]], "exposed": exposed,
        "said": f"People who are alone in their values: {words.count(look['alone'])}; {said}",
    }  # fmt: skip


def _save(page: Page, form: Form) -> Made:
    """A new intruder, or another one in the place of one that was there."""
    number = form.whole("number")
    who = read_intruder(page, form, number)
    each = list(page.state.intruders)
    if 1 <= number <= len(each):
        each[number - 1] = who
        return Made(page.state.but(intruders=each), f"Changed the intruder {who['name']}", NAME, "#who")
    return Made(page.state.but(intruders=[*each, who]), f"Added the intruder {who['name']}", NAME, "#who")


def _copy(page: Page, form: Form) -> Made:
    each = list(page.state.intruders)
    old = _named(page, form)
    name = free_name(str(old["name"]), [str(w["name"]) for w in each])
    return Made(
        page.state.but(intruders=[*each, {**old, "name": name}]), f"Copied the intruder {old['name']}", NAME, "#who"
    )


def _remove(page: Page, form: Form) -> Made:
    old = _named(page, form)
    rest = [w for w in page.state.intruders if w["name"] != old["name"]]
    if not rest:
        raise Wrong.at("", "At least one intruder is needed: risk is what somebody could find.")
    return Made(page.state.but(intruders=rest), f"Removed the intruder {old['name']}", NAME, "#who")


def _named(page: Page, form: Form) -> Table:
    number = form.whole("number")
    if not 1 <= number <= len(page.state.intruders):
        raise Wrong.at("", "There is no such intruder.")
    return page.state.intruders[number - 1]


def _again(page: Page, form: Form) -> str:  # noqa: ARG001
    """Begin again what was cancelled or failed."""
    state = page.state
    page.desk.again(page.project, "effect", risk_given(state), lane="quick")
    for who in state.intruders:
        if keys := known_keys(state, who):
            page.desk.jobs.forget(page.key("look", look_given(state, keys)))
    return NAME


CHANGES: Mapping[str, Callable[[Page, Form], Made]] = {"save": _save, "copy": _copy, "remove": _remove}
ACTIONS: Mapping[str, Callable[[Page, Form], str]] = {"again": _again}
