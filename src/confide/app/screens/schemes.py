"""Compare: ways to publish the table, each with its risk and its error; the rule, the verdict, the map."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from confide.app import counted, way_names, ways, words
from confide.app.scheme_map import Point, scheme_map
from confide.app.web import Form, Made, Page, Wrong

NAME, TITLE = "schemes", "Compare"
PARTS: Mapping[str, str] = {"found": "_schemes_found.html"}
MOST = 40
"""Ways that one comparison has at most."""


def view(page: Page) -> dict[str, Any]:
    """The comparison, or how far it is."""
    if not page.facts:
        return {"table": None}
    table = counted.settled(page.state, page.facts).table
    if not table["by"] or (table["holds"] == "counts" and not table["count"]):
        return {"table": None}
    answer = page.ask("schemes", counted.schemes_given(table), lane="long")
    said = page.ask("table", counted.table_given(table)).result
    shown = answer.result or (answer.job.preview if answer.job is not None else None) or {"rows": []}
    return {
        "table": table, "counts": said, "job": answer.job, "done": answer.result is not None,
        "waiting": ("found",) if answer.waiting else (), "adding": _adding(page), "margins": counted.MARGINS,
        **found_of(table, shown["rows"], answer.result is not None),
    }  # fmt: skip


def found_of(table: Mapping[str, Any], rows: Sequence[Mapping[str, Any]], done: bool) -> dict[str, Any]:
    """The verdict, the rows in their order, and the map."""
    by_name = {r["scheme"]: r for r in rows if r.get("worst") is not None}
    choice = counted.chosen(table, rows) if done else ""
    best = by_name.get(choice)
    lines = [_line(r, table, choice, n) for n, r in enumerate(rows)]
    order = {"chosen": 0, "within": 1, "hides": 2, "above": 3, "cannot": 4}
    lines.sort(key=lambda r: (order[r["kind"]], math.inf if r["error"] is None else r["error"]))
    nearest = counted.nearest(rows, table)
    return {
        "lines": lines, "choice": choice, "best": best, "before": by_name.get(ways.AS_IT_IS), "chance": counted.chance,
        "plain": counted.plain,
        "nearest": nearest, "within": sum(counted.keeps(r, table) for r in rows),
        "by_hand": bool(choice) and choice == table["choice"],
        "best_keeps": best is not None and counted.keeps(best, table), "pictures": _pictures(table, rows, choice),
    }  # fmt: skip


def _line(row: Mapping[str, Any], table: Mapping[str, Any], choice: str, number: int) -> dict[str, Any]:
    name, worst = row["scheme"], row.get("worst")
    if worst is None:
        return {"name": name, "kind": "cannot", "said": row["said"], "error": None, "number": number}
    kind = "within" if counted.keeps(row, table) else "above" if worst > table["limit"] else "hides"
    return {
        "name": name, "kind": "chosen" if name == choice else kind, "keeps": kind, "number": number,
        "worst": counted.chance(worst, table["limit"]), "error": row["distortion"], "hidden": row["hidden"],
        "adds": "no totals" if table["margins"] == "none" else "yes" if row["additive"] else "no", "said": "",
    }  # fmt: skip


def _pictures(table: Mapping[str, Any], rows: Sequence[Mapping[str, Any]], choice: str) -> dict[str, Any]:
    measured = [r for r in rows if r.get("worst") is not None]
    if not measured:
        return {}
    named = way_names.by_name(table["ways"])
    worst = "worst area" if table["area"] else ""
    said = f"Map of {words.plural(len(measured), 'way')} to publish by risk and mean error; the table below has them."
    out = {}
    for form, wide in (("wide", 972), ("narrow", 366)):
        points = [
            Point(
                r["worst"], r["distortion"],
                r["scheme"] if form == "wide" or r["scheme"] not in named else way_names.short_of(named[r["scheme"]]),
                r["scheme"] == choice, r["hidden"] > 0,
            )
            for r in measured
        ]  # fmt: skip
        out[form] = scheme_map(points, table["limit"], said, worst, wide)
    return out


def _adding(page: Page) -> dict[str, Any] | None:
    """The form of a way that is being added, by the address or by what was sent and refused."""
    scheme = page.given.text("scheme") or page.query.text("add")
    kind = ways.kinds().get(scheme)
    if kind is None and not page.query.has("add"):
        return None
    kind = kind or next(iter(ways.kinds().values()))
    values = {s.name: page.given.text(s.name) or str(s.first) for s in kind.settings}
    summed = page.given.text("totals") == ways.SUMMED if page.given.has("scheme") else kind.name == "small"
    return {"kind": kind, "kinds": list(ways.kinds().values()), "values": values, "summed": summed}


def _rule(page: Page, form: Form) -> Made:
    """How many residents are known, the limit, and whether counts may be hidden."""
    state = counted.settled(page.state, page.facts)
    known, text = form.whole("known", -1), form.text("limit").replace(",", ".")
    if not 0 <= known <= 1_000_000:
        raise Wrong(known="A whole number of people, such as 20.")
    try:
        limit = float(text)
    except ValueError:
        limit = math.nan
    if not counted.LEAST <= limit <= 1:
        raise Wrong(limit=f"A probability from {counted.plain(counted.LEAST)} to 1, such as 0.05.")
    new = {**state.table, "known": known, "limit": round(limit, 6), "hide": form.text("hide") == "yes", "screen": NAME}
    what = f"{words.plural(known, 'resident')} known, at most {counted.plain(limit)} in the worst area"
    return Made(state.but(table=new), what if state.table["area"] else what.replace(" in the worst area", ""), NAME)


def _add(page: Page, form: Form) -> Made:
    state = counted.settled(page.state, page.facts)
    scheme = form.text("scheme")
    way, wrong = ways.checked_way(scheme, {k: form.text(k) for k in form.fields}, form.text("totals"))
    if wrong:
        raise Wrong(**wrong)
    name, there = way_names.name_of(way), state.table["ways"]
    if name in way_names.by_name(there):
        raise Wrong(scheme="This way is compared already.")
    if len(there) >= MOST:
        raise Wrong(scheme=f"At most {MOST} ways are compared at once; remove one first.")
    table = {**state.table, "ways": [*there, way], "screen": NAME}
    return Made(state.but(table=table), f"Added: {name}", NAME)


def _remove(page: Page, form: Form) -> Made:
    state = counted.settled(page.state, page.facts)
    name = form.text("name")
    if name == ways.AS_IT_IS:
        raise Wrong.at("", "The table as it is stays: the others are compared with it.")
    left = [w for w in state.table["ways"] if way_names.name_of(w) != name]
    table = {**state.table, "ways": left, "screen": NAME}
    table |= {k: "" for k in ("choice", "publish") if state.table.get(k) == name}
    return Made(state.but(table=table), f"Removed: {name}", NAME)


def _choose(page: Page, form: Form) -> Made:
    """A way by hand; an empty name leaves it to the rule."""
    state = counted.settled(page.state, page.facts)
    name = form.text("name")
    if name and name not in way_names.by_name(state.table["ways"]):
        raise Wrong.at("", "There is no such way any more.")
    table = {**state.table, "choice": name, "screen": NAME}
    return Made(state.but(table=table), f"Chose: {name}" if name else "Left the choice to the rule", NAME)


def _continue(page: Page, form: Form) -> Made:  # noqa: ARG001 - the choice is the one that is shown
    state = counted.settled(page.state, page.facts)
    answer = page.ask("schemes", counted.schemes_given(state.table), lane="long")
    if answer.result is None:
        raise Wrong.at("", "The ways are still being compared.")
    name = counted.chosen(state.table, answer.result["rows"])
    if not name:
        raise Wrong.at("", "No way keeps the limit: add one that does, or choose one by hand and say why.")
    table = {**state.table, "publish": name, "screen": "publish"}
    return Made(state.but(table=table), f"To be published: {name}", "publish")


def _again(page: Page, form: Form) -> str:  # noqa: ARG001
    table = counted.settled(page.state, page.facts).table
    page.desk.again(page.project, "schemes", counted.schemes_given(table))
    return NAME


CHANGES: Mapping[str, Callable[[Page, Form], Made]] = {
    "rule": _rule, "add": _add, "remove": _remove, "choose": _choose, "continue": _continue,
}  # fmt: skip
ACTIONS: Mapping[str, Callable[[Page, Form], str]] = {"again": _again}
