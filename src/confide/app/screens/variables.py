"""Variables: what each one is. Guesses are `cf.roles`'s; doubtful ones come first and ask to be confirmed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from confide.app import words
from confide.app.intruders import guessed_formula, guessed_intruders
from confide.app.screens.open import view as facts_view
from confide.app.state import KINDS, ROLES, State
from confide.app.web import Form, Made, Page, Wrong, listed

NAME, TITLE = "variables", "Variables"
PARTS: Mapping[str, str] = {"facts": "_open_facts.html"}


def view(page: Page) -> dict[str, Any]:
    """All variables, those to confirm first."""
    facts = page.facts
    if not facts:
        return {**facts_view(page), "rows": None}
    state = settled(page.state, facts)
    rows = [_row(v, state) for v in facts["variables"]]
    asking = [r for r in rows if r["ask"]]
    only = page.query.text("show") == "asking" and bool(asking)
    shown = asking if only else sorted(rows, key=lambda r: not r["ask"])
    return {
        "rows": listed(shown, page.query, ("name", "label"), ("name", "values", "missing")), "all": rows,
        "asking": asking, "only": only, "roles": ROLES, "kinds": KINDS, "known": state.knowable,
        "private": state.variables("sensitive"), "direct": state.variables("identifier"), "facts": facts,
        "missing_role": _lack(state),
    }  # fmt: skip


def settled(state: State, facts: Mapping[str, Any]) -> State:
    """The state with guessed roles and kinds where nobody stated any."""
    roles = {v["name"]: state.roles.get(v["name"], _first_role(v)) for v in facts["variables"]}
    return state.but(roles=roles)


def _first_role(variable: Mapping[str, Any]) -> str:
    """The guessed role; of keys only those that a first look uses can be known without anybody saying so."""
    role = str(variable["role"])
    return "other" if role == "key" and not variable["used"] else role


def _row(variable: Mapping[str, Any], state: State) -> dict[str, Any]:
    name = variable["name"]
    return {
        **variable, "role": state.roles[name], "kind": state.kinds.get(name, variable["kind"]),
        "ask": bool(variable["doubtful"]) and name not in state.confirmed,
    }  # fmt: skip


def _lack(state: State) -> str:
    return (
        ""
        if state.knowable
        else "No variable can be known by others: nobody could be looked for. Give at least one that role."
    )


def _save(page: Page, form: Form) -> Made:
    """Roles and kinds as the form has them; what was touched or confirmed counts as looked at."""
    state, facts = settled(page.state, page.facts), page.facts
    roles, kinds, confirmed = dict(state.roles), dict(state.kinds), list(state.confirmed)
    changed = []
    for number, variable in enumerate(facts["variables"]):
        name = variable["name"]
        role, kind = (
            form.text(f"role-{number}", roles[name]),
            form.text(f"kind-{number}", kinds.get(name, variable["kind"])),
        )
        if role not in ROLES or kind not in KINDS:
            raise Wrong.at("", "A role or a kind that there is not.")
        if role != roles[name] or kind != kinds.get(name, variable["kind"]):
            changed.append(name)
            confirmed.append(name)
        roles[name] = role
        if kind != variable["kind"] or name in kinds:
            kinds[name] = kind
        if form.text("confirm") == str(number):
            confirmed.append(name)
            changed.append(name)
    for role in ("weight", "unit"):
        several = [v for v, r in roles.items() if r == role]
        if len(several) > 1:
            raise Wrong.at(
                "", f"{words.names(several)}: a file has one {ROLES[role].lower()}; give the others another role."
            )
    new = state.but(roles=roles, kinds=kinds, confirmed=sorted(set(confirmed)))
    new = _followed(state, new, facts)
    return Made(new, f"Said what {words.names(changed, 3)} is" if changed else "Took the guesses", NAME)


def _followed(before: State, new: State, facts: Mapping[str, Any]) -> State:
    """What was guessed from roles, and nobody touched, follows them."""
    if not new.intruders or list(new.intruders) == guessed_intruders(before, facts):
        new = new.but(intruders=guessed_intruders(new, facts))
    if not new.formula or new.formula == guessed_formula(before, facts):
        new = new.but(formula=guessed_formula(new, facts))
    return new


def _continue(page: Page, form: Form) -> Made:  # noqa: ARG001 - the guesses are taken as they are shown
    state = settled(page.state, page.facts)
    asking = [v["name"] for v in page.facts["variables"] if v["doubtful"] and v["name"] not in state.confirmed]
    if asking:
        raise Wrong.at("", f"{words.names(asking)}: say first what {'they are' if len(asking) > 1 else 'it is'}.")
    if _lack(state):
        raise Wrong.at("", _lack(state))
    return Made(_followed(state, state, page.facts), "Took the roles", "risk")


CHANGES: Mapping[str, Callable[[Page, Form], Made]] = {"save": _save, "continue": _continue}
ACTIONS: Mapping[str, Callable[[Page, Form], str]] = {}
