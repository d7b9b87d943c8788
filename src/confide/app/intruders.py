"""Who might look, and what analysts need: proposals from roles, which anybody may change."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from confide.app.state import State

WORK = re.compile(r"^(schooling|work|occupation|job|industry)", re.IGNORECASE)
PAPERS = re.compile(r"^(sex|age|origin|a place)", re.IGNORECASE)
"""How the reason of a guessed role begins: what an employer knows beside a neighbour, and what registers hold."""

ABOUT = {
    "neighbour": "Knows the family from next door.", "employer": "Has a personnel file.",
    "register": "Has a list of everybody in a place.",
}  # fmt: skip
MOST = 6


def guessed_intruders(state: State, facts: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Up to three who know different parts of what can be known; all are sure that the person is in the file."""
    why = {v["name"]: str(v["why"]) for v in facts["variables"]}
    known = state.knowable
    papers = [v for v in known if PAPERS.match(why.get(v, ""))]
    sets = {
        "neighbour": [v for v in known if not WORK.match(why.get(v, ""))][:MOST],
        "employer": [v for v in known if v in papers or WORK.match(why.get(v, ""))][:MOST],
        "register": papers[:MOST],
    }
    out: list[dict[str, Any]] = []
    for name, knows in sets.items():
        if knows and not any(set(knows) == set(one["knows"]) for one in out):
            out.append({"name": name, "about": ABOUT[name], "knows": knows})
    return out or ([{"name": "neighbour", "about": ABOUT["neighbour"], "knows": known[:MOST]}] if known else [])


def guessed_formula(state: State, facts: Mapping[str, Any]) -> str:
    """A regression that an analyst might run: a private number by what can be known; empty where there is none."""
    by_name = {v["name"]: v for v in facts["variables"]}

    def numeric(v: str) -> bool:
        return bool(state.kinds.get(v, by_name[v]["kind"]) == "numeric")

    wanted = [v for v in state.variables("sensitive") if v in by_name and numeric(v) and _plain(v)]
    by = [v for v in state.knowable if v in by_name and _plain(v) and (numeric(v) or 1 < by_name[v]["values"] <= 20)]
    if not wanted or not by:
        return ""
    return f"{wanted[-1]} ~ " + " + ".join(v if numeric(v) else f"C({v})" for v in by[:6])


def _plain(name: str) -> bool:
    """Whether a formula can hold the name as it is."""
    return bool(re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name))
