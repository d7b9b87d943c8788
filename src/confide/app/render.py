"""Templates: pages and their parts. Everything that comes from a file or a person is escaped."""

from __future__ import annotations

from functools import lru_cache
from types import ModuleType
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

from confide.app import charts, script, words
from confide.app.web import Form, Page

WAYS = {
    "records": (("open", "Open"), ("variables", "Variables"), ("risk", "Risk"), ("protect", "Protect"),
                ("compare", "Compare"), ("release", "Release")),
    "tables": (("open", "Open"), ("table", "Table"), ("schemes", "Compare"), ("publish", "Release")),
}  # fmt: skip
"""The screens of each way, in their order."""


@lru_cache(maxsize=1)
def templates() -> Environment:
    """The templates with what they may call."""
    made = Environment(
        loader=PackageLoader("confide.app", "templates"), undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True, autoescape=select_autoescape(default=True, default_for_string=True),
    )  # fmt: skip
    made.globals |= {"charts": charts, "w": words}
    return made


def page_html(page: Page, screen: ModuleType) -> str:
    """A whole screen."""
    return templates().get_template(f"{screen.NAME}.html").render(**_context(page, screen))


def part_html(page: Page, screen: ModuleType, part: str) -> tuple[str, bool]:
    """A part of a screen, and whether it is still on its way."""
    context = _context(page, screen)
    return templates().get_template(screen.PARTS[part]).render(**context), part in context["waiting"]


def _context(page: Page, screen: ModuleType) -> dict[str, Any]:
    way = WAYS[page.state.way]
    at = next((i for i, (name, _) in enumerate(way) if name == screen.NAME), -1)
    head, redo = page.project.head
    shown = page.project.change(head)
    return {
        "page": page, "state": page.state, "screen": screen.NAME, "title": screen.TITLE, "steps": way, "step": at,
        "head": head, "redo": redo, "undo": bool(shown and shown.parent), "last": page.project.last, "waiting": (),
        "errors": page.errors, "given": page.given, "query": page.query, "facts": page.facts,
        "script": script.shown_script(page.state), "line": page.change.line,
        **screen.view(page),
    }  # fmt: skip


def start_html(name: str, **context: Any) -> str:
    """A page that belongs to no project."""
    usual: dict[str, Any] = {
        "steps": WAYS["records"], "step": 0, "screen": "open", "page": None, "state": None, "errors": {},
        "given": Form(), "waiting": (), "script": None,
    }  # fmt: skip
    return templates().get_template(f"{name}.html").render(**usual | context)


def plain_page(title: str, said: str, home: bool = False) -> str:
    """A page that says one thing."""
    return templates().get_template("plain.html").render(title=title, said=said, home=home)
