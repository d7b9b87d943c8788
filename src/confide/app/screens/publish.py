"""Release of a table: the very table that goes out, checks of it, the decision, and its files, all or none."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from confide.app import counted, way_names, ways, words
from confide.app.desk import Answer
from confide.app.folders import folder_problems, path_of
from confide.app.state import State
from confide.app.tables_script import VAULT, file_name, tables_script
from confide.app.web import Form, Made, Page, Wrong

NAME, TITLE = "publish", "Release"
PARTS: Mapping[str, str] = {
    "numbers": "_publish_numbers.html", "checks": "_publish_checks.html", "written": "_publish_written.html",
}  # fmt: skip
FORMATS = ("csv", "parquet")
ASKED = ("reason", "by", "date", "public", "private")


def view(page: Page) -> dict[str, Any]:
    """What would go out, or what went out."""
    way = _way(page.state)
    if not page.facts or way is None:
        return {"table": None}
    state = counted.settled(page.state, page.facts)
    answer = page.ask("publish", _given(state, way), lane="long")
    wrote = _wrote(page, state, way)
    on_way = {"numbers": answer, "checks": answer, "written": wrote}
    fields = {k: page.given.text(k) or str(state.decision.get(k) or first) for k, first in _first(page, state).items()}
    found = answer.result
    checks = [] if found is None else checks_of(page, state, way, found)
    return {
        "table": state.table, "way": state.table["publish"], "found": found, "job": answer.job, "checks": checks,
        "waiting": [k for k, a in on_way.items() if a is not None and a.waiting], "chance": counted.chance,
        "plain": counted.plain,
        "counts": page.ask("table", counted.table_given(state.table)).result, "fields": fields, "wrote": wrote,
        "files": None if wrote is None else wrote.result, "formats": FORMATS, "failing": _fails(checks),
        "format": page.given.text("format") or state.decision.get("format", "csv"),
        "vault": str(page.project.folder / VAULT) if ways.scheme_of(way).random else "",
        "accepted": page.given.text("accept") == "yes" or bool(state.decision.get("accept")),
    }  # fmt: skip


def _fails(checks: Sequence[Mapping[str, Any]]) -> bool:
    return any(c["ok"] is False for c in checks)


def _way(state: State) -> Mapping[str, Any] | None:
    return way_names.by_name(state.table.get("ways", ())).get(state.table.get("publish", ""))


def _given(state: State, way: Mapping[str, Any]) -> dict[str, Any]:
    return counted.publish_given(state.table, way)


def _first(page: Page, state: State) -> dict[str, str]:
    """What the fields of the decision show before anybody fills them in."""
    root, name = page.desk.settings.roots[0], words.slug(Path(state.name).stem)
    today = words.day(datetime.now(UTC).isoformat())
    return {
        "reason": "", "by": "", "date": today, "public": str(root / f"{name}-public"),
        "private": str(root / f"{name}-private"),
    }  # fmt: skip


def checks_of(
    page: Page, state: State, way: Mapping[str, Any], found: Mapping[str, Any]
) -> list[dict[str, Any]]:  # fmt: skip
    """What was looked at before it goes out: a title, words, and whether it is in order."""
    table = state.table
    rows = (page.ask("schemes", counted.schemes_given(table), lane="long", start=False).result or {"rows": []})["rows"]
    compared = next((r for r in rows if r["scheme"] == table["publish"]), None)
    return [
        _risk(table, way, found, compared), _small(found), _sums(table, found),
        {
            "ok": not found["refusal"], "title": "Nothing private in the public file",
            "said": "Published counts alone: no record of a person, no bounds, no seed."
            + (" Draws are keyed by the secret in the project's vault." if ways.scheme_of(way).random else ""),
        },
    ]  # fmt: skip


def _risk(
    table: Mapping[str, Any], way: Mapping[str, Any], found: Mapping[str, Any], compared: Mapping[str, Any] | None
) -> dict[str, Any]:
    limit = table["limit"]
    within = found["worst"] <= limit and not found["unknown"]
    said = f"{counted.chance(found['worst'], limit)}{' in the worst area' if table['area'] else ''} of this very table"
    if compared is not None and ways.scheme_of(way).random and compared.get("worst") is not None:
        said += f"; {counted.chance(compared['worst'], limit)} at most in {counted.REPEATS} other draws"
    if found["unknown"]:
        said += f"; in {words.plural(found['unknown'], 'area')} it could not be computed"
    title = "Within the limit" if within else f"Above the limit of {counted.plain(limit)}"
    return {"ok": within, "title": title, "said": f"{said}. Limit {counted.plain(limit)}."}


def _small(found: Mapping[str, Any]) -> dict[str, Any]:
    if found["exact"] is None:
        said = "Too many counts to look for bounds of each; the probability above still holds."
        return {"ok": None, "title": "Small counts were not worked out one by one", "said": said}
    if found["exact"]:
        said = f"{words.count(found['exact'])} of {words.count(found['small'])} counts of 1 or 2."
        return {"ok": False, "title": "Small counts can be worked out exactly", "said": said}
    said = f"There are {words.count(found['small'])} counts of 1 or 2; what is published leaves each of them open."
    return {"ok": True, "title": "No small count can be worked out exactly", "said": said}


def _sums(table: Mapping[str, Any], found: Mapping[str, Any]) -> dict[str, Any]:
    hidden = f" {words.percent(found['hidden'], 0)} % of counts are hidden." if found["hidden"] else ""
    if table["margins"] == "none":
        return {"ok": True, "title": "No totals are published", "said": hidden.strip() or "No count is hidden."}
    if found["additive"]:
        return {"ok": True, "title": "Everything adds up", "said": "Totals are the sums of what is published."}
    title = "Totals are not the sums of what is shown"
    return {"ok": None, "title": title, "said": f"Tell those who use the table.{hidden}"}


def _write_given(page: Page, state: State, way: Mapping[str, Any]) -> dict[str, Any]:
    """The work of writing what a decision says."""
    decision, given = state.decision, _given(state, way)
    rows = page.ask("schemes", counted.schemes_given(state.table), lane="long", start=False).result or {"rows": []}
    script = tables_script(state, str(page.project.folder / VAULT))
    stated = {k: decision[k] for k in ("reason", "by", "date", "accept")}
    stated |= {"file": state.source, "name": state.name, "limit": state.table["limit"]}
    return {
        **given,
        "write": {
            "public": decision["public"], "private": decision["private"], "file": file_name(state), "script": script,
            "decision": stated, "compared": [r for r in rows["rows"] if r.get("worst") is not None],
        },
    }  # fmt: skip


def _wrote(page: Page, state: State, way: Mapping[str, Any]) -> Answer | None:
    """What became of writing; None where nothing was asked for, or what was written is there no more."""
    if not all(state.decision.get(k) for k in ASKED):
        return None
    answer = page.ask("publish", _write_given(page, state, way), lane="long", start=False)
    gone = answer.result is not None and not Path(state.decision["public"]).is_dir()
    return None if gone or (answer.result is None and answer.job is None) else answer


def _write(page: Page, form: Form) -> Made:
    """Keep the decision, and write the release if all of it is in order."""
    way = _way(page.state)
    if way is None or not page.facts:
        raise Wrong.at("", "Choose first what is to be published.")
    state = counted.settled(page.state, page.facts)
    found = page.ask("publish", _given(state, way), lane="long").result
    if found is None:
        raise Wrong.at("", "The table is still being checked.")
    failing = _fails(checks_of(page, state, way, found))
    decision: dict[str, Any] = {k: form.text(k) for k in ASKED} | {"format": form.text("format", "csv")}
    decision["accept"] = form.text("accept") == "yes" and failing
    wrong = _faults(decision, failing) | _folders(page, decision)
    if wrong:
        raise Wrong(**wrong)
    state = state.but(decision=decision)
    if page.project.head[0] == page.change.number:  # otherwise another tab went further, and nothing is written
        page.desk.again(page.project, "publish", _write_given(page, state, way))
    return Made(state, f"Wrote the release: {state.table['publish']}", NAME)


def _faults(decision: Mapping[str, Any], failing: bool) -> dict[str, str]:
    """What a decision lacks, by field."""
    asked = {"reason": "Say why, for the record.", "by": "Say who decided.", "date": "Say when."}
    wrong = {k: said for k, said in asked.items() if not decision[k]}
    if failing and not decision["accept"]:
        wrong["accept"] = "A check failed: say below why it may go out all the same, and tick this."
    if decision["format"] not in FORMATS:
        wrong["format"] = "One of these formats."
    return wrong


def _folders(page: Page, decision: dict[str, Any]) -> dict[str, str]:
    """Both folders as they are, put into the decision; and what is wrong with them."""
    wrong = folder_problems(page.desk, str(decision["public"]), str(decision["private"]))
    for k in ("public", "private"):
        if k not in wrong:
            decision[k] = str((path_of(str(decision[k]), page.desk) or Path()).resolve())
    return wrong


def _again(page: Page, form: Form) -> str:  # noqa: ARG001
    way = _way(page.state)
    if way is not None:
        page.desk.again(page.project, "publish", _given(counted.settled(page.state, page.facts), way))
    return NAME


CHANGES: Mapping[str, Callable[[Page, Form], Made]] = {"write": _write}
ACTIONS: Mapping[str, Callable[[Page, Form], str]] = {"again": _again}
