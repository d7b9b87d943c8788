"""Open: what the file is. Nothing is decided here but to go on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from confide.app.desk import FACTS, key_of
from confide.app.web import Form, Made, Page

NAME, TITLE = "open", "Open"
PARTS: Mapping[str, str] = {"facts": "_open_facts.html"}


def view(page: Page) -> dict[str, Any]:
    """The file, or how far its reading is."""
    answer = page.ask(FACTS, {"source": page.state.source}) if page.facts is None else None
    job = None if answer is None else page.desk.jobs.get(key_of(page.project, FACTS, {}))
    waiting = ("facts",) if job is not None and not job.over else ()
    return {"job": job, "waiting": waiting, "facts": page.facts}


def _again(page: Page, form: Form) -> str:  # noqa: ARG001
    page.desk.again(page.project, FACTS, {"source": page.state.source}, lane="quick")
    return NAME


CHANGES: Mapping[str, Callable[[Page, Form], Made]] = {}
ACTIONS: Mapping[str, Callable[[Page, Form], str]] = {"again": _again}
