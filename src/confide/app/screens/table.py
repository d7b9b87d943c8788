"""Table: what is counted, by what, and which totals go with it. Only how many counts are small is shown."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from confide.app import charts, counted, words
from confide.app.screens.open import view as facts_view
from confide.app.web import Form, Made, Page, Wrong

NAME, TITLE = "table", "Table"
PARTS: Mapping[str, str] = {
    "facts": "_open_facts.html", "counts": "_table_counts.html", "sizes": "_table_sizes.html",
}  # fmt: skip
HOLDS = {"records": "One row per person: count them", "counts": "Counts: one row per combination"}
VARIABLES = 8
"""Variables that one table may have."""


def view(page: Page) -> dict[str, Any]:
    """The table as it is stated, and what is known of it."""
    facts = page.facts
    if not facts:
        return {**facts_view(page), "table": None}
    table = counted.settled(page.state, facts).table
    lack = _lack(table)
    answer = None if lack else page.ask("table", counted.table_given(table))
    found = None if answer is None else answer.result
    return {
        "table": table, "lack": lack, "found": found, "job": None if answer is None else answer.job,
        "waiting": ("counts", "sizes") if answer is not None and answer.waiting else (), "facts": facts, "holds": HOLDS,
        "margins": counted.MARGINS, "columns": [v["name"] for v in facts["variables"] if v["kind"] == "numeric"],
        "more": counted.choosable(facts, table), "areas": counted.areas(facts, table),
        "values": {v["name"]: v["values"] for v in facts["variables"]}, "picture": _picture(found),
    }  # fmt: skip


def _lack(table: Mapping[str, Any]) -> str:
    if table["holds"] == "counts" and not table["count"]:
        return "Say which column holds the counts."
    return "" if table["by"] else "A table needs at least one variable: add one below."


def _picture(found: Mapping[str, Any] | None) -> dict[str, Any]:
    if found is None:
        return {}
    rows = [(name, n) for name, n in found["bands"]]
    said = "Counts by how large they are: " + "; ".join(f"{name}: {words.count(n)}" for name, n in rows) + "."
    short = [(name.replace("10 and more", "10+").replace(" or ", "-").replace(" to ", "-"), n) for name, n in rows]
    return {"wide": charts.columns(rows, said, strong=-1, wide=972), "narrow": charts.columns(short, said, -1, 366)}


def _save(page: Page, form: Form) -> Made:
    """What the form states; a variable has one part in a table at most."""
    state = counted.settled(page.state, page.facts)
    old = state.table
    names = {v["name"] for v in page.facts["variables"]}
    new = {**old, "holds": form.text("holds", old["holds"]), "margins": form.text("margins", old["margins"])}
    new |= {k: form.text(k, old[k]) for k in ("count", "area")}
    new["by"] = [v for k, v in enumerate(old["by"]) if form.text("remove") != str(k)]
    if form.text("add"):
        new["by"] = [*new["by"], form.text("add")]
    if new["holds"] not in HOLDS or new["margins"] not in counted.MARGINS:
        raise Wrong.at("", "A choice that there is not.")
    if unknown := [v for v in [new["count"], new["area"], *new["by"]] if v and v not in names]:
        raise Wrong.at("", f"There is no variable {words.names(unknown)}.")
    if new["holds"] != old["holds"]:
        new["count"] = counted.guessed_count(page.facts) if new["holds"] == "counts" else ""
    new["by"] = [v for v in dict.fromkeys(new["by"]) if v not in (new["count"], new["area"])]
    if len(new["by"]) > VARIABLES:
        raise Wrong(add=f"A table has {VARIABLES} variables at most.")
    if counted.table_given(new) != counted.table_given(old) or new["margins"] != old["margins"]:
        new |= {"choice": "", "publish": ""}
    return Made(state.but(table=new), _told(old, new), NAME)


def _told(old: Mapping[str, Any], new: Mapping[str, Any]) -> str:
    if new["by"] != old["by"]:
        return f"Counted by {words.names(new['by'])}" if new["by"] else "Took the last variable out"
    if new["area"] != old["area"]:
        return f"One table per {new['area']}" if new["area"] else "One table of all"
    if new["margins"] != old["margins"]:
        return f"Totals published: {counted.MARGINS[new['margins']]}"
    return "Said what the file holds"


def _continue(page: Page, form: Form) -> Made:  # noqa: ARG001 - the table is taken as it is shown
    state = counted.settled(page.state, page.facts)
    if lack := _lack(state.table):
        raise Wrong.at("", lack)
    return Made(state.but(table={**state.table, "screen": "schemes"}), "Took the table", "schemes")


def _again(page: Page, form: Form) -> str:  # noqa: ARG001
    table = counted.settled(page.state, page.facts).table
    page.desk.again(page.project, "table", counted.table_given(table), lane="quick")
    return NAME


CHANGES: Mapping[str, Callable[[Page, Form], Made]] = {"save": _save, "continue": _continue}
ACTIONS: Mapping[str, Callable[[Page, Form], str]] = {"again": _again}
