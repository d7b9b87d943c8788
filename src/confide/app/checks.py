"""What is checked of the very file before it goes out: each check in words, and whether it warns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from confide.app import rule as rules
from confide.app import words
from confide.app.compared import WITHIN
from confide.app.documents import ANALYSES, kept
from confide.app.state import State

Drawn = Mapping[str, Any]
TOGETHER = 0.02
"""A share of people in households that stand alone, below which nothing is made of it."""

NAMED = 3
"""Groups that are named; of more it is said how many."""


def worst_of(drawn: Drawn) -> str:
    """The intruder who finds most in this file."""
    who: Mapping[str, Any] = drawn["who"]
    return max(who, key=lambda k: who[k]["found"]["value"] or 0.0)


def checks_of(
    state: State, drawn: Drawn, picked: str | None, protect: str, limits: str = WITHIN
) -> list[dict[str, Any]]:
    """All checks. `picked`: the candidate that the rule takes; `protect`: where people are protected more; `limits`:
    what the means over draws do not keep."""
    out = [
        _within(state, drawn, limits), _claims(drawn), *_households(state, drawn), _private(drawn),
        _learnt(state, drawn), _groups(drawn, protect),
    ]  # fmt: skip
    return out if picked == drawn["name"] else [_rule(state, picked), *out]


def _check(ok: bool, head: str, said: str, link: tuple[str, str] | None = None, after: str = "") -> dict[str, Any]:
    return {"ok": ok, "head": head, "said": said, "link": link, "after": after}


def _rule(state: State, picked: str | None) -> dict[str, Any]:
    if not state.rule.get("max_found"):
        return _check(
            False, "No limit was stated", "Nothing says how many people may be found. Say below why it may go out."
        )
    took = f"It takes “{picked}”." if picked else "It takes none of the candidates."
    return _check(False, "Not what the rule takes", f"{took} Say below why another one goes out.")


def _within(state: State, drawn: Drawn, limits: str) -> dict[str, Any]:
    worst = drawn["who"][worst_of(drawn)]["found"]
    here = f"{words.count(worst['value'])} found here"
    mean = words.count(worst["mean"])
    half = 0.0 if worst["low"] is None or worst["high"] is None else (worst["high"] - worst["low"]) / 2
    spread = f" ± {words.count(round(half) if (worst['mean'] or 0) >= 100 else half)}" if half >= 0.5 else ""
    said = f"{here}; {mean}{spread} on average over {drawn['repeats']} other draws."
    if not drawn["random"]:
        said = f"{here}. Nothing in this plan is random, so every draw is the same."
    if not state.rule.get("max_found"):
        return _check(False, "There is no limit to be within", said)
    limit = rules.limit_words(state.rule["max_found"])
    if not drawn["broken"] and limits == WITHIN:
        return _check(True, "Within the limits", said)
    if not drawn["broken"]:
        return _check(False, "Within the limits here, but not over draws", f"{said} Of other draws: {limits}.")
    low = drawn["kept"].get(ANALYSES, {}).get("value")
    least = state.rule.get("min_analyses") if state.formula else None
    parts = [said, f"At most {limit} may be found."]
    if least is not None and (low is None or low < least):
        parts.append(f"Analyses kept are {words.share(low)}; {words.share(least)} was asked.")
    return _check(False, "This file is beyond a limit", " ".join(parts))


def _claims(drawn: Drawn) -> dict[str, Any]:
    who = worst_of(drawn)
    one = drawn["who"][who]
    claimed, true = one["claimed_matches"]["value"], one["found"]["value"]
    said = f"It claims {words.count(claimed)} right matches and {words.count(true)} are true."
    if not drawn["cautions"]:
        return _check(True, "The intruder is as right as it claims", f"{said} The risk is not understated.")
    return _check(
        False, "Claims and truth differ over draws", f"{said} Of the comparison: {' '.join(drawn['cautions'])}"
    )


def _private(drawn: Drawn) -> dict[str, Any]:
    found = drawn["private"]
    if all(found.values()):
        return _check(True, "Nothing private in the public file", "No identifier, rows in a new order, no seed.")
    wrong = {
        "identifiers": "an identifier is still there", "shuffled": "rows are in the order of the file",
        "seed": "the draws could be made again by others",
    }  # fmt: skip
    parts = [said for key, said in wrong.items() if not found[key]]
    return _check(False, "Something private is in the public file", f"{words.names(parts).capitalize()}.")


def _households(state: State, drawn: Drawn) -> list[dict[str, Any]]:
    """What the numbers leave out where rows can be put together: somebody who knows all members of a household."""
    found = drawn.get("households")
    if found is None:
        return []
    unit = next(iter(state.variables("unit")), "")
    said = (
        f"{words.percent(found['share'])} % of people are in a group of rows with one “{unit}” like no other, by "
        f"what the {found['by']} knows of all its members. The people found above are those of somebody who knows one "
        f"member. Leaving “{unit}” out would end it."
    )
    if found["share"] < TOGETHER:
        return [_check(True, "Households put together tell little more", said)]
    return [_check(False, "Whole households can be recognised", said)]


def _learnt(state: State, drawn: Drawn) -> dict[str, Any]:
    """What goes out as it is: whoever is found is known with it."""
    held = state.candidate(str(drawn["name"])) or {"steps": ()}
    touched = {v for s in held["steps"] for v in _names(s)}
    plain = [v for v in state.variables("sensitive", "weight") if v not in touched]
    if not plain:
        return _check(True, "Every private variable is altered", "What is still learnt of it is not measured here.")
    said = (
        f"{words.names(plain)} {'go' if len(plain) > 1 else 'goes'} out as in the file: of whoever is found, all of it "
        "is learnt, and a rare value may itself tell who somebody is. This is not measured here, but by attack.guess."
    )
    return _check(True, "What is learnt of those who are found", said)


def _names(step: Mapping[str, Any]) -> list[str]:
    named = step.get("variables", step.get("variable", ()))
    return [named] if isinstance(named, str) else list(named)


def _groups(drawn: Drawn, protect: str) -> dict[str, Any]:
    groups = drawn["groups"]
    above = f"A likeliest record above {drawn['threshold']:g}"
    if not groups:
        return _check(
            True,
            "No group stays far more exposed than others",
            f"{above} is nowhere five times as common as among all people.",
        )
    named = [f"{words.percent(g['share'], 0)} % of people with {g['variable']} “{g['level']}”" for g in groups[:NAMED]]
    more = f" and {len(groups) - NAMED} other groups" if len(groups) > NAMED else ""
    average = words.percent(max(g["average"] for g in groups))
    head = "One group stays exposed" if len(groups) == 1 else f"{len(groups)} groups stay exposed"
    said = f"{above} have {words.names(named) if not more else ', '.join(named) + more}; of all people {average} %."
    return _check(False, head, said, (protect, "Protect them more"), ", or say below why not.")


def figures_of(state: State, drawn: Drawn) -> dict[str, Any]:
    """The three numbers of this very file."""
    worst = drawn["who"][worst_of(drawn)]
    limit = state.rule.get("max_found")
    return {
        "share": worst["found_share"]["value"], "found": worst["found"]["value"],
        "of": drawn["targets"].get(worst_of(drawn), drawn["of"]), "by": worst_of(drawn),
        "limit": None if limit is None else rules.shown(limit),
        "kept": {m: kept(m, v["value"]) for m, v in drawn["kept"].items()},
    }  # fmt: skip
