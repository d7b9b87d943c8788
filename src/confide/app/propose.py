"""What is asked of `cf.advise` when candidates are to be proposed: the state's roles, intruders, measures and limit."""

from __future__ import annotations

from typing import Any

from confide.app.documents import choice_table, intruder_tables, release_table, utility_tables
from confide.app.rule import by_of
from confide.app.state import State


def proposal_given(state: State) -> dict[str, Any]:
    """The question as plain data; the candidates so far are no part of it."""
    rule = choice_table(state)
    return {
        "shared": release_table(state), "keys": state.knowable, "sensitive": state.variables("sensitive"),
        "intruder": intruder_tables(state), "utility": utility_tables(state), "by": by_of(state),
        "max_risk": None if rule is None else rule["max_risk"],
        "min_utility": None if rule is None else rule.get("min_utility"),
    }  # fmt: skip
