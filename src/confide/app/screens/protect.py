"""Protect: steps from top to bottom, what each adds, and what else could be done."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from confide.app import plans
from confide.app.effects import effect_given, improve_given, kept_of, limit_of, step_effects, still_right
from confide.app.fields import Field, check, fields_of, held, methods, read
from confide.app.jobs import WAITING
from confide.app.screens import adding
from confide.app.state import DROP, State
from confide.app.web import Form, Made, Page, Wrong

NAME, TITLE = "protect", "Protect"
PARTS: Mapping[str, str] = {
    "effect": "_protect_effect.html", "offers": "_protect_add.html", "improve": "_protect_improve.html"
}  # fmt: skip
CHEAP = 1_500
"""Rows times intruders up to which alternatives are tried without being asked for."""

LEVELS, FEWEST = 14, 3
"""Values of a variable that are drawn at most, and how many people have one that is."""


def view(page: Page) -> dict[str, Any]:
    """The steps with their effects; the opened one with its settings."""
    state, facts = page.state, page.facts
    if not facts or not state.intruders:
        return {"ready": False}
    opened = page.query.whole("open", state.opened)
    opened = opened if 1 <= opened <= len(state.steps) else 0
    answer = page.ask("effect", effect_given(state, state.steps))
    old = None if answer.result else _before(page)
    result = answer.result or old
    add = adding.view(page)
    improve = _improve(page)
    waiting = {"effect": answer.waiting, "offers": bool(add and add["waiting"]), "improve": improve["waiting"]}
    return {
        "ready": True, "opened": opened, "rows": _rows(page, opened, result), "add": add, "improve": improve,
        "effect": _panel(state, answer.result, facts["rows"]), "was": _panel(state, old, facts["rows"]),
        "job": answer.job, "preview": answer.job.preview if answer.waiting and answer.job else None,
        "shape": _shape(state, opened, answer.result), "kept_as": plans.kept_as(state),
        "proposed": plans.proposed_name(state), "waiting": [p for p, on in waiting.items() if on],
    }  # fmt: skip


def _before(page: Page) -> dict[str, Any] | None:
    """What was known of the change before this one, as far as it still holds."""
    parent = page.project.change(page.change.parent)
    if parent is None:
        return None
    then = parent.state
    asked, now = effect_given(then, then.steps), effect_given(page.state, ())
    if asked["intruders"] != now["intruders"] or asked["plans"][0] != now["plans"][0]:
        return None
    found = page.ask("effect", asked, start=False).result
    return None if found is None else still_right(found, then.steps, page.state.steps)


def _rows(page: Page, opened: int, result: Mapping[str, Any] | None) -> list[dict[str, Any]]:
    state = page.state
    effects = step_effects(result, len(state.steps))
    problems = (result or {}).get("problems", {})
    columns = released(state)
    out = []
    for k, step in enumerate(state.steps, 1):
        schema = methods().get(str(step["method"]))
        units = bool(state.variables("unit"))
        fields = _as_sent(page, fields_of(step, columns, units), k) if k == opened else []
        out.append({
            "number": k, "words": plans.step_words(step), "about": plans.about(step, schema), "effect": effects[k - 1],
            "problems": problems.get(str(k), ()), "open": k == opened, "fields": fields,
            "held": held(step, columns) if k == opened else (), "variables": plans.variables_of(step),
        })  # fmt: skip
    return out


def released(state: State) -> list[str]:
    """Variables that a step may work on."""
    gone = state.variables("identifier", "drop", "unit")
    return [v for v in state.roles if v not in gone]


def _as_sent(page: Page, fields: list[Field], number: int) -> list[Field]:
    """Fields as somebody filled them in, where that was refused."""
    return adding.as_sent(page, fields) if page.errors and page.given.whole("number") == number else fields


def _panel(state: State, result: Mapping[str, Any] | None, rows: int) -> dict[str, Any] | None:
    """What the steps do together, in words and numbers."""
    if result is None or not result["plans"]:
        return None
    last, limit = result["plans"][-1], limit_of(state, rows)
    found = last["worst"]["found"]
    return {
        **last, "kept": kept_of(last), "limit": limit, "rows": rows, "cautions": result["cautions"],
        "line": [p["worst"]["found"] for p in result["plans"] if p["worst"]["found"] is not None],
        "within": None if limit is None or found is None else found <= limit, "steps": len(state.steps),
        "as_it_is": result["plans"][0]["worst"],
    }  # fmt: skip


def _shape(state: State, opened: int, result: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Shares of people by value before and after, for the variable of the opened step."""
    if result is None or not opened or state.steps[opened - 1]["method"] == DROP:
        return None
    for variable in plans.variables_of(state.steps[opened - 1]):
        if rows := result["shares"].get(variable):
            many = [r for r in rows if max(r[1] or 0, r[2] or 0) * result["rows"] >= FEWEST - 0.5]
            top = sorted(many, key=lambda r: -max(r[1] or 0, r[2] or 0))[:LEVELS]
            shown = [(str(r[0]), r[1], r[2] or 0.0) for r in rows if r in top]
            return {"variable": variable, "rows": shown, "left": len(rows) - len(shown),
                    "classes": all(r[1] is None for r in rows),
                    "same": all(r[1] is not None and abs(r[1] - (r[2] or 0)) < 1e-9 for r in rows)}  # fmt: skip
    return None


def _improve(page: Page) -> dict[str, Any]:
    state = page.state
    if not state.steps:
        return {"waiting": False, "result": None, "job": None}
    cheap = page.facts["rows"] * len(state.intruders) <= CHEAP
    asked = page.ask("improve", improve_given(state), lane="long", start=cheap)
    changes = [{**c, "kept": kept_of(c)} for c in asked.result["changes"]] if asked.result else None
    return {"waiting": asked.waiting, "result": changes, "job": asked.job, "tried": (asked.result or {}).get("tried")}


def _made(page: Page, state: State, what: str) -> Made:
    """A change of the steps; effects that nobody waits for any more are not computed."""
    for job in page.desk.jobs.of(page.project.folder):
        if job.task == "effect" and job.state == WAITING:
            page.desk.jobs.cancel(job.key)
            page.desk.jobs.forget(job.key)
    return Made(state, what, NAME, f"#step-{state.opened}" if state.opened else "")


def _set(page: Page, form: Form) -> Made:
    """Settings of a step, or its move or removal, as the button says."""
    state, at = page.state, form.whole("number")
    if not 1 <= at <= len(state.steps):
        raise Wrong.at("", "There is no such step.")
    what, said = form.text("do"), plans.step_words(state.steps[at - 1])
    if what == "remove":
        return _made(page, plans.removed(state, at), f"Removed: {said}")
    if what in ("up", "down"):
        return _made(page, plans.moved(state, at, -1 if what == "up" else 1), f"Moved {what}: {said}")
    step = state.steps[at - 1]
    if step["method"] == DROP:
        return _made(page, state, said)
    made = read(step, released(state), form)
    steps = [made if k == at else s for k, s in enumerate(state.steps, 1)]
    return _made(page, state.but(steps=steps, opened=at), plans.step_words(made))


def _offer(page: Page, form: Form) -> Made:
    """One of the things that methods offer."""
    offer = adding.chosen(page, form)
    kinds = {v["name"]: v["kind"] for v in page.facts["variables"]}
    state = plans.with_kinds(page.state, offer, kinds)
    for variable in offer["drop"]:
        state = plans.added(state, {"method": DROP, "variable": variable})
    for step in offer["steps"]:
        state = plans.added(state, step)
    return _made(page, state, f"Added: {offer['says']}")


def _leave_out(page: Page, form: Form) -> Made:
    variable = form.text("variable")
    if variable not in released(page.state):
        raise Wrong(variable="Choose a variable.")
    return _made(page, plans.added(page.state, {"method": DROP, "variable": variable}), f"Left out {variable}")


def _add(page: Page, form: Form) -> Made:
    """Any method with the settings of a form."""
    columns = released(page.state)
    step = read(adding.blank(form, columns), columns, form)
    check(step)
    return _made(page, plans.added(page.state, step), f"Added: {plans.step_words(step)}")


def _keep(page: Page, form: Form) -> Made:
    """The steps as a candidate, under a name that no other has."""
    state = page.state
    name = form.text("name")[:120] or plans.proposed_name(state)
    if not state.steps:
        raise Wrong(name="Add a step first: the file as it is takes part in every comparison.")
    if name in [c["name"] for c in state.candidates]:
        raise Wrong(name="Another candidate has this name.")
    measured = page.ask("effect", effect_given(state, state.steps), start=False)
    wrong = [p for each in ((measured.result or {}).get("problems") or {}).values() for p in each]
    if measured.job is not None and measured.job.state in ("refused", "died"):
        wrong += measured.job.said
    if wrong:
        raise Wrong(name=f"A step cannot be carried out, so this is no candidate: {wrong[0]}")
    made = {"name": name, "steps": [dict(s) for s in state.steps]}
    return Made(state.but(candidates=[*state.candidates, made]), f"Kept the candidate {name}", NAME, "#keep")


def _try(page: Page, form: Form) -> Made:
    """An alternative as the plan."""
    found = page.ask("improve", improve_given(page.state), lane="long", start=False).result
    number = form.whole("number", -1)
    if not found or not 0 <= number < len(found["changes"]):
        raise Wrong.at("", "This alternative was for other steps. Try alternatives again.")
    kinds = {v["name"]: v["kind"] for v in page.facts["variables"]}
    change = found["changes"][number]
    return _made(page, plans.adopted(page.state, change["plan"], kinds), f"Tried: {change['says']}")


def _start(page: Page, form: Form) -> str:  # noqa: ARG001
    page.desk.again(page.project, "improve", improve_given(page.state))
    return NAME


def _again(page: Page, form: Form) -> str:  # noqa: ARG001
    page.desk.again(page.project, "effect", effect_given(page.state, page.state.steps), lane="quick")
    return NAME


CHANGES: Mapping[str, Callable[[Page, Form], Made]] = {
    "set": _set, "offer": _offer, "leave-out": _leave_out, "add": _add, "keep": _keep, "try": _try
}  # fmt: skip
ACTIONS: Mapping[str, Callable[[Page, Form], str]] = {"improve": _start, "again": _again}
