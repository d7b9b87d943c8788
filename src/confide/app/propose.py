"""What is asked of `cf.advise` when candidates are to be proposed: the state's roles, intruders, measures and limit."""

from __future__ import annotations

from typing import Any

from confide.app.desk import Answer
from confide.app.documents import choice_table, intruder_tables, release_table, utility_tables
from confide.app.rule import by_of
from confide.app.state import State
from confide.app.web import Page


def proposal_given(state: State) -> dict[str, Any]:
    """The question as plain data; the candidates so far are no part of it."""
    rule = choice_table(state)
    return {
        "shared": release_table(state), "keys": state.knowable, "sensitive": state.variables("sensitive"),
        "intruder": intruder_tables(state), "utility": utility_tables(state), "by": by_of(state),
        "max_risk": None if rule is None else rule["max_risk"],
        "min_utility": None if rule is None else rule.get("min_utility"),
    }  # fmt: skip


def proposal_of(page: Page) -> Answer:
    """What is known of proposals: for this very state, else what is on its way, else the newest that still fits."""
    if not page.state.intruders:
        return Answer()
    asked = proposal_given(page.state)
    answer = page.ask("propose", asked, lane="long", start=False)
    if answer.result is not None or answer.job is not None:
        return answer
    running = [j for j in page.desk.jobs.of(page.project.folder) if j.task == "propose"]
    if running:
        return Answer(None, running[0])
    files = sorted((page.project.folder / "results").glob("propose-*.json"), key=lambda p: -p.stat().st_mtime)
    found = (page.project.result(p.stem) for p in files)
    same = ("shared", "keys", "intruder")
    return Answer(next((f for f in found if f and all(f["asked"][k] == asked[k] for k in same)), None))
