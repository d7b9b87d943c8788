"""History: every change, to go to any of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from confide.app import words
from confide.app.web import Form, Made, Page, listed

NAME, TITLE = "history", "History"
PARTS: Mapping[str, str] = {}


def view(page: Page) -> dict[str, Any]:
    """All changes, the newest first; the project is at one of them."""
    rows = [
        {"number": c.number, "what": c.what, "line": c.line, "parent": c.parent, "day": words.day(c.at)}
        for c in page.project.history()
    ]
    return {"rows": listed(rows, page.query, ("what",), ("number",))}


CHANGES: Mapping[str, Callable[[Page, Form], Made]] = {}
ACTIONS: Mapping[str, Callable[[Page, Form], str]] = {}
