"""The form of one intruder: what it knows, whether it is sure that a person is in the file, how often it errs."""

from __future__ import annotations

from typing import Any

import confide as cf
from confide.app.fields import number as number_of
from confide.app.plans import free_name
from confide.app.state import Table
from confide.app.web import Form, Page, Wrong

MANY = 120
"""From so many variables on, those that nobody is thought to know are named in a text, not ticked."""


def as_form(page: Page) -> dict[str, Any] | None:
    """What the form shows: the intruder that the address names, a new one, or what was sent and is wrong."""
    state = page.state
    number = page.query.whole("edit")
    if not (1 <= number <= len(state.intruders)) and not page.query.has("add"):
        return None
    old: Table = state.intruders[number - 1] if 1 <= number <= len(state.intruders) else {}
    taken = [str(w["name"]) for w in state.intruders]
    first = {"name": free_name("intruder", taken), "knows": [], "about": ""}
    shown = _sent(page.given) if page.errors and page.given.fields else _told(old or first)
    gone = state.variables("identifier", "drop", "unit")
    others = [v for v in state.roles if v not in state.knowable and v not in gone]
    return {
        "number": number, **shown, "can": state.knowable, "others": others, "ticked": len(others) <= MANY,
        "weight": (state.variables("weight") or [""])[0], "new": not old,
    }  # fmt: skip


def _told(who: Table) -> dict[str, Any]:
    member = who.get("membership", "certain")
    total = "" if isinstance(member, str) else member.get("total") or ""
    rates = {e for e in who.get("errors", {}).values() if isinstance(e, (int, float))}
    return {
        "name": who["name"], "about": who.get("about", ""), "knows": list(who["knows"]),
        "member": "sure" if isinstance(member, str) else "total" if total else "weights",
        "total": f"{float(total):.12g}" if total else "", "errs": f"{100 * rates.pop():.6g}" if len(rates) == 1 else "",
    }  # fmt: skip


def _sent(form: Form) -> dict[str, Any]:
    return {
        "name": form.text("name"), "about": form.text("about"), "knows": _known(form),
        "member": form.text("member", "sure"), "total": form.text("total"), "errs": form.text("errs"),
    }  # fmt: skip


def _known(form: Form) -> list[str]:
    lines = [line.strip() for line in form.text("others").splitlines() if line.strip()]
    return list(dict.fromkeys([*form.all("knows"), *lines]))


def read_intruder(page: Page, form: Form, number: int) -> dict[str, Any]:
    """The intruder that a form states; what is wrong is said at its field."""
    state, name, knows = page.state, form.text("name"), _known(form)
    old: Table = state.intruders[number - 1] if 1 <= number <= len(state.intruders) else {}
    if not name:
        raise Wrong(name="Give the intruder a name.")
    if name in [w["name"] for k, w in enumerate(state.intruders, 1) if k != number]:
        raise Wrong(name="Another intruder has this name.")
    if missing := [v for v in knows if v not in state.roles]:
        raise Wrong.at("knows", f"There is no variable {missing[0]}.")
    if not knows:
        raise Wrong(knows="Tick at least one variable: without knowledge nobody is found.")
    ordered = [v for v in state.roles if v in knows]
    kept = {k: v for k, v in old.items() if k not in ("name", "about", "knows", "membership", "errors")}
    made = {"name": name, "about": form.text("about"), "knows": ordered, **kept,
            **_membership(page, form), **_errors(page, form, ordered, old)}  # fmt: skip
    cf.Intruder.from_dict({k: v for k, v in made.items() if k not in ("name", "about")})
    return made


def _membership(page: Page, form: Form) -> dict[str, Any]:
    member = form.text("member", "sure")
    if member == "weights":
        weight = page.state.variables("weight")
        if not weight:
            raise Wrong(member="The file has no weight that says how many people a row stands for.")
        return {"membership": {"weights": weight[0]}}
    if member == "total":
        if not form.text("total"):
            raise Wrong(total="Say how many people there are.")
        total = number_of("total", form.text("total"))
        if total < page.facts["rows"]:
            raise Wrong(total="This is fewer people than the file has rows.")
        return {"membership": {"total": total}}
    return {}


def _errors(page: Page, form: Form, knows: list[str], old: Table) -> dict[str, Any]:
    """A share of wrong values, for categories; numbers are taken as known. Others are kept as they were stated."""
    text = form.text("errs").rstrip("% ")
    if not text:
        own = {v: e for v, e in old.get("errors", {}).items() if v in knows}
        return {"errors": own} if len(set(map(str, own.values()))) > 1 else {}
    share = number_of("errs", text) / 100
    if not 0 <= share < 1:
        raise Wrong(errs="Give a share between 0 and 100 percent.")
    kinds = {v["name"]: page.state.kinds.get(v["name"], v["kind"]) for v in page.facts["variables"]}
    errors = {v: share for v in knows if kinds.get(v) == "categorical"}
    return {"errors": errors} if share and errors else {}
