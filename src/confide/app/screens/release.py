"""Release: the very file, checked before it goes out; then everything is written, or nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from confide.app import script, words
from confide.app.checks import checks_of, figures_of
from confide.app.compared import picked_of, rows_of
from confide.app.desk import Answer
from confide.app.documents import ANALYSES, DETAIL, PAIRS, choice_table, plan_table
from confide.app.folders import folder_problems, path_of
from confide.app.project import Moved
from confide.app.screens.compare import comparison, given_of, ready, verdict_of
from confide.app.state import AS_IT_IS, State
from confide.app.web import Form, Made, Page, Wrong

NAME, TITLE = "release", "Release"
PARTS: Mapping[str, str] = {"drawn": "_release_drawn.html", "written": "_release_written.html"}
FORMATS = {"csv": "CSV", "parquet": "Parquet", "sav": "SPSS (.sav)", "dta": "Stata (.dta)"}


def view(page: Page) -> dict[str, Any]:
    """What must be done first; else the file, its checks, and where it goes."""
    state = page.state
    compared = comparison(page)
    verdict = verdict_of(page) if compared.result is not None else Answer()
    picked = None if verdict.result is None else picked_of(verdict.result)
    name = _name(state, picked)
    ready_to_draw = compared.result is not None and verdict.result is not None and name is not None
    draw = page.ask("draw", draw_given(state, str(name)), lane="quick") if ready_to_draw else Answer()
    write = Answer()
    if draw.result is not None and state.decision.get("write"):
        write = page.ask("write", write_given(page, draw.result, picked), start=False)
    waiting = ["drawn"] if draw.waiting or verdict.waiting else ["written"] if write.waiting else []
    return {
        "first": _first(page, compared, verdict, name), "name": name, "picked": picked, "draw": draw, "write": write,
        "options": [*(c["name"] for c in state.candidates), AS_IT_IS], "waiting": waiting, "verdict": verdict,
        "again": page.query.text("again") == "yes", **_drawn_view(page, draw.result, picked),
    }  # fmt: skip


def _name(state: State, picked: str | None) -> str | None:
    """The candidate to be released: the one somebody chose, else the rule's."""
    return state.choice if state.choice == AS_IT_IS or state.candidate(state.choice) else picked


def _first(page: Page, compared: Answer, verdict: Answer, name: str | None) -> str:
    """What must be done before anything can be released; empty where nothing."""
    if not ready(page.state):
        return "There is no candidate yet. Keep one on the page Protect, then compare."
    if compared.result is None:
        return "The candidates are not compared as they are now. Do that first: the file is held against those numbers."
    if verdict.result is not None and name is None:
        return "The rule takes none of the candidates. Choose one yourself below, or go back and change them."
    return ""


def _drawn_view(page: Page, drawn: Any, picked: str | None) -> dict[str, Any]:
    if drawn is None:
        return {"figures": None, "checks": [], "fields": {}, "file": "", "formats": FORMATS, "kept": []}
    state = page.state
    figures = figures_of(state, drawn)
    return {
        "figures": figures, "formats": FORMATS,
        "checks": checks_of(state, drawn, picked, page.url("protect"), _limits(page, drawn["name"])),
        "fields": _fields(page), "file": file_name(state, _fields(page)["format"]), "drawn": drawn,
        "kept": [(m, figures["kept"][m]) for m in (DETAIL, PAIRS, ANALYSES) if m in figures["kept"]],
    }  # fmt: skip


def _limits(page: Page, name: str) -> str:
    """What of the rule a candidate does not keep on average over draws."""
    rows = rows_of(page.state, comparison(page).result, None)
    return next((str(r["limits"]) for r in rows if r["name"] == name), "")


def _fields(page: Page) -> dict[str, Any]:
    """The fields of the form: as they were sent, as they were decided, or as they are usual."""
    given, decided, names = page.given, page.state.decision, words.slug(Path(page.state.name).stem)
    root = page.desk.settings.roots[0] if page.desk.settings.roots else Path.home()
    suffix = Path(page.state.source).suffix.lstrip(".").lower()
    now = datetime.now(UTC)
    usual = {
        "reason": "", "by": "", "date": f"{now.day} {now:%B %Y}", "public": str(_free(root, f"{names}-public")),
        "private": str(_free(root, f"{names}-private")), "format": suffix if suffix in FORMATS else "csv", "tell": True,
    }  # fmt: skip
    held = usual | {k: v for k, v in decided.items() if k in usual}
    if given.has("public"):
        held |= {k: given.text(k) for k in usual if k != "tell"} | {"tell": given.has("tell")}
    return held


def file_name(state: State, kind: str) -> str:
    """The name of the public file."""
    return f"{words.slug(Path(state.name).stem)}.{kind}"


def draw_given(state: State, name: str) -> dict[str, Any]:
    """What is drawn, and by which comparison it is checked."""
    held = state.candidate(name)
    steps = () if held is None else held["steps"]
    return {
        "name": name, "plan": plan_table(state, steps), "folder": given_of(state)["folder"],
        "choice": choice_table(state),
    }  # fmt: skip


def write_given(page: Page, drawn: Any, picked: str | None) -> dict[str, Any]:
    """All that the worker writes: made from the state, so that it is the same whenever it is asked."""
    state = page.state
    decided = state.decision
    checks = checks_of(state, drawn, picked, "", _limits(page, drawn["name"]))
    texts = {name: script.file_of(state, name) for name in ("study.toml", "script.py")}
    decision = {
        "file": file_name(state, decided["format"]), "plan": drawn["name"], "rule_takes": picked,
        "rule": dict(state.rule), "formula": state.formula, "reason": decided["reason"], "decided_by": decided["by"],
        "date": decided["date"], "told_outside": decided["tell"],
        "found": {who: one["found"]["value"] for who, one in drawn["who"].items()},
        "kept": {m: one["value"] for m, one in drawn["kept"].items()},
        "checks": [{"ok": c["ok"], "check": c["head"], "said": c["said"]} for c in checks],
        "released_sha256": drawn["sha256"],
    }  # fmt: skip
    return {
        "name": drawn["name"], "record": drawn["record"], "sha256": drawn["sha256"], "public": decided["public"],
        "private": decided["private"], "file": decision["file"], "tell": decided["tell"], "decision": decision,
        "folder": given_of(state)["folder"], "choice": choice_table(state), "at": decided["write"],
        "texts": {k: v for k, v in texts.items() if v is not None},
    }  # fmt: skip


def _choose(page: Page, form: Form) -> Made:
    """Another candidate than the rule's, or the rule's again."""
    name = form.text("name")
    if name != AS_IT_IS and page.state.candidate(name) is None:
        raise Wrong.at("", "There is no such candidate.")
    return Made(page.state.but(choice=name, decision={}), f"Chose “{name}” for release", NAME)


def _write(page: Page, form: Form) -> Made:
    """Keep the decision and begin to write."""
    context = view(page)
    drawn, picked = context["draw"].result, context["picked"]
    if drawn is None:
        raise Wrong.at("", "The file is not drawn yet.")
    wrong: dict[str, str] = {}
    if not form.text("reason") and not all(c["ok"] for c in context["checks"]):
        wrong["reason"] = "A check warns: say why the file may go out all the same."
    wrong |= {k: said for k, said in (("by", "Say who decided."), ("date", "Say when.")) if not form.text(k)}
    if form.text("format") not in FORMATS:
        wrong["format"] = "Choose one of these."
    wrong |= folder_problems(page.desk, form.text("public"), form.text("private"))
    if wrong:
        raise Wrong(**wrong)
    if page.behind:
        raise Moved
    kept = {k: form.text(k) for k in ("reason", "by", "date", "format")}
    places = {k: str((path_of(form.text(k), page.desk) or Path()).resolve()) for k in ("public", "private")}
    at = datetime.now(UTC).isoformat(timespec="seconds")
    state = page.state.but(
        choice=drawn["name"], decision={**kept, **places, "tell": form.has("tell"), "write": at}
    )  # fmt: skip
    after = Page(page.desk, page.project, replace(page.change, state=state), page.query)
    page.desk.again(page.project, "write", write_given(after, drawn, picked), lane="quick")
    return Made(state, f"Decided to release “{drawn['name']}”", NAME)


def _free(root: Path, name: str) -> Path:
    """A folder that is not there yet."""
    return next(p for k in range(1, 10_000) if not (p := root / (name if k == 1 else f"{name}-{k}")).exists())


def _again(page: Page, form: Form) -> str:  # noqa: ARG001
    """Draw again what was cancelled or failed."""
    context = view(page)
    if context["name"] is not None and context["draw"].result is None:
        page.desk.again(page.project, "draw", draw_given(page.state, context["name"]), lane="quick")
    return NAME


CHANGES: Mapping[str, Callable[[Page, Form], Made]] = {"choose": _choose, "write": _write}
ACTIONS: Mapping[str, Callable[[Page, Form], str]] = {"again": _again}
