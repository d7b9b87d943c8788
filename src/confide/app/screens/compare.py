"""Compare: the rule first, then what every candidate costs and keeps, and which one the rule takes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

import confide as cf
from confide.app import compared, words
from confide.app import rule as rules
from confide.app.desk import Answer, key_of
from confide.app.documents import KEPT, choice_table, measures_of, study_table
from confide.app.formulas import checked_formula
from confide.app.jobs import WAITING
from confide.app.mapview import map_view
from confide.app.project import write
from confide.app.propose import proposal_given, proposal_of
from confide.app.state import AS_IT_IS, State
from confide.app.web import Form, Made, Page, Wrong, listed

NAME, TITLE = "compare", "Compare"
PARTS: Mapping[str, str] = {"result": "_compare_result.html", "proposed": "_compare_proposed.html"}
STUDY = "study.toml"


def given_of(state: State) -> dict[str, Any]:
    """What the comparison of a state is asked, and the folder where it is kept."""
    table = compared.asked(state)
    return {"study": table, "folder": f"results/study-{_mark(table)}"}


def verdict_of(page: Page, start: bool = True, task: str = "verdict") -> Answer:
    """What the rule takes of this state's comparison; with "report", whether its reports are written."""
    rule = choice_table(page.state)
    given = {"folder": given_of(page.state)["folder"], "choice": rule, "name": f"rule-{_mark(rule)}"}
    if task == "report" and start:
        _drop_stale(page, key_of(page.project, task, given))
    return page.ask(task, given, lane="long" if task == "report" else "quick", start=start)


def _drop_stale(page: Page, key: str) -> None:
    """Reports of rules that were stated on the way, and are not begun, are not wanted any more."""
    for job in page.desk.jobs.of(page.project.folder):
        if job.task == "report" and job.key != key and job.state == WAITING:
            page.desk.jobs.cancel(job.key)
            page.desk.jobs.forget(job.key)


def _mark(plain: Any) -> str:
    return hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()[:16]


def ready(state: State) -> bool:
    """Whether there is something to compare."""
    return bool(state.candidates and state.intruders)


def comparison(page: Page, start: bool = False) -> Answer:
    """What is known of this state's comparison."""
    return page.ask("compare", given_of(page.state), lane="long", start=start) if ready(page.state) else Answer()


def latest(page: Page) -> Any | None:
    """The newest comparison of this project, of whichever state; None where there is none."""
    files = sorted((page.project.folder / "results").glob("compare-*.json"), key=lambda p: -p.stat().st_mtime)
    found = (page.project.result(p.stem) for p in files)
    return next((f for f in found if f is not None), None)


def view(page: Page) -> dict[str, Any]:
    """The rule, the verdict, the map and the candidates."""
    state = page.state
    last = latest(page)
    answer = comparison(page)
    if answer.result is None and answer.job is None and ready(state) and last and compared.covers(last, state):
        answer = comparison(page, start=True)  # nothing is left to compute: names changed, or one went
    found = answer.result
    verdict = report = Answer()
    if found is not None:
        verdict, report = verdict_of(page), verdict_of(page, task="report")
        keep_study(page)
    shown = found or last
    rows = compared.rows_of(state, shown, verdict.result) if state.intruders else []
    proposal = proposal_of(page)
    waiting = [part for part, on in (
        ("result", answer.waiting or verdict.waiting or report.waiting), ("proposed", proposal.waiting),
    ) if on]  # fmt: skip
    return {
        **_rule_view(page), "ready": ready(state), "job": answer.job, "found": found, "verdict": verdict,
        "said": None if verdict.result is None else compared.verdict_words(state, rows),
        "rows": listed(rows, page.query, ("name",), ("name", "found", "share", "detail", "relations", "analyses"), 20),
        "changed": _changed(state, found, last), "picked": next((r["name"] for r in rows if r["chosen"]), None),
        "some": any(r["found"] is not None for r in rows), "cautions": _cautions(shown, rows) if found else None,
        "report": report, "proposal": proposal, "proposed": _proposed(state, proposal.result), "waiting": waiting,
        "query_plain": _asked(page, "height", "view", "sort", "page", "edit"),
        "query_sort": _asked(page, "height", "view"),
        "edit": page.query.text("edit") == "yes" or any(k.startswith("rename-") for k in page.errors),
        **map_view(page, rows), "as_it_is": AS_IT_IS,
    }  # fmt: skip


def _changed(state: State, found: Any, last: Any) -> str:
    """What changed since the last comparison, where this state was not compared."""
    return "" if found or last is None else compared.changed_words(last, state) or "Some of them changed since."


def _asked(page: Page, *names: str) -> dict[str, str]:
    """Parts of the question in the address, to be kept by links."""
    return {name: page.query.text(name) for name in names if page.query.has(name)}


def _rule_view(page: Page) -> dict[str, Any]:
    state, rows = page.state, (page.facts or {}).get("rows", 0)
    limit = state.rule.get("max_found")
    return {
        "limit": rules.shown(limit), "limit_help": rules.help_words(limit, rows), "by": rules.by_of(state),
        "measures": [(m, KEPT[m]) for m in measures_of(state)], "cautious": state.rule.get("cautious", True),
        "least": words.share(state.rule["min_analyses"]) if state.rule.get("min_analyses") else "",
        "stated": _stated(state),
    }  # fmt: skip


def _stated(state: State) -> str:
    """When the rule was stated, and whether numbers had been seen by then."""
    if not state.rule.get("max_found"):
        return "State it before you look at numbers: a limit that follows the results protects nobody."
    day = words.day(str(state.rule.get("stated", "")))
    if state.rule.get("seen"):
        return f"Stated on {day}, after a comparison had been computed. The record of the decision will say so."
    return f"Stated before the comparison, on {day}. A change is kept in the record of the decision."


def _cautions(found: Any, rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Cautions of the study, those on the chosen candidate apart."""
    picked = next((r["name"] for r in rows if r["chosen"]), None)
    named = {str(c["name"]) for c in rows}
    each = {plan: said for plan, said in found["cautions"].items() if plan in named}
    return {"own": each.get(str(picked), []), "others": [c for p, said in each.items() if p != picked for c in said]}


def keep_study(page: Page) -> None:
    """The study file of the current state in the project's folder, for the command line."""
    text, path = cf.to_toml(study_table(page.state)), page.project.folder / STUDY
    if not page.behind and (not path.is_file() or path.read_text(encoding="utf-8") != text):
        write(path, text)


def report_folder(page: Page) -> str | None:
    """Where the reports of this state's comparison are, below the project's folder."""
    if comparison(page).result is None:
        return None
    found = verdict_of(page, start=False, task="report").result
    return None if found is None else str(found["folder"])


def _rule(page: Page, form: Form) -> Made:
    state = page.state
    now = datetime.now(UTC).isoformat(timespec="seconds")
    new = rules.stated(state, form, (page.facts or {}).get("rows", 0), now, latest(page) is not None)
    said = f"At most {rules.limit_words(new['max_found'])} found" if new.get("max_found") else "No limit"
    return Made(state.but(rule=new), f"{said}, then the most {rules.most_words(new['by'])}", NAME)


def _formula(page: Page, form: Form) -> Made:
    formula = checked_formula(form.text("formula"), page.facts)
    return Made(page.state.but(formula=formula), f"Analysts need {formula}" if formula else "No regression", NAME)


def _rename(page: Page, form: Form) -> Made:
    state, name, new = page.state, form.text("name"), " ".join(form.text("new").split())
    if state.candidate(name) is None or not new or len(new) > 120:
        raise Wrong.at(f"rename-{name}", "Write a name of at most 120 letters.")
    if new != name and (state.candidate(new) is not None or new in (AS_IT_IS, compared.EVERYTHING)):
        raise Wrong.at(f"rename-{name}", "Another candidate has that name.")
    named = [{**c, "name": new} if c["name"] == name else c for c in state.candidates]
    choice = new if state.choice == name else state.choice
    return Made(state.but(candidates=named, choice=choice), f"Named a candidate “{new}”", NAME, "?edit=yes#candidates")


def _remove(page: Page, form: Form) -> Made:
    state, name = page.state, form.text("name")
    left = [c for c in state.candidates if c["name"] != name]
    choice = "" if state.choice == name else state.choice
    return Made(state.but(candidates=left, choice=choice), f"Removed “{name}”", NAME, "?edit=yes#candidates")


def _take(page: Page, form: Form) -> Made:
    """Go on with the candidate that the rule takes, or another one."""
    name = form.text("name")
    if name != AS_IT_IS and page.state.candidate(name) is None:
        raise Wrong.at("", "There is no such candidate.")
    return Made(page.state.but(choice=name), f"Chose “{name}” for release", "release")


def _proposed(state: State, result: Any) -> list[dict[str, Any]]:
    """Proposals that are not among the candidates yet."""
    held = [c["steps"] for c in state.candidates]
    return [] if result is None else [p for p in result["plans"] if p["steps"] not in held]


def _add(page: Page, form: Form) -> Made:
    """Proposals as candidates, all in one change."""
    new = [p for k, p in enumerate(_proposed(page.state, proposal_of(page).result)) if str(k) in form.all("take")]
    if not new:
        raise Wrong.at("", "Tick at least one of the proposals.")
    taken = {c["name"] for c in page.state.candidates}
    named = []
    for plan in new:
        name = next(n for n in (plan["name"], *(f"{plan['name']} ({k})" for k in range(2, 99))) if n not in taken)
        taken.add(name)
        named.append({"name": name, "steps": plan["steps"]})
    said = f"Added {words.plural(len(named), 'proposed candidate')}"
    return Made(page.state.but(candidates=[*page.state.candidates, *named]), said, NAME)


def _run(page: Page, form: Form) -> str:  # noqa: ARG001
    if not ready(page.state):
        raise Wrong.at("", "There is nothing to compare yet.")
    page.desk.again(page.project, "compare", given_of(page.state))
    return NAME


def _propose(page: Page, form: Form) -> str:  # noqa: ARG001
    if not page.state.intruders:
        raise Wrong.at("", "Say first who might look: an intruder on the page Risk.")
    page.desk.again(page.project, "propose", proposal_given(page.state))
    return NAME


CHANGES: Mapping[str, Callable[[Page, Form], Made]] = {
    "rule": _rule, "formula": _formula, "rename": _rename, "remove": _remove, "take": _take, "add": _add,
}  # fmt: skip
ACTIONS: Mapping[str, Callable[[Page, Form], str]] = {"run": _run, "propose": _propose}
