"""What screens are given and give back: pages, forms, changes, and numbers in words."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol
from urllib.parse import parse_qs, urlencode

from confide.app.desk import Answer, Desk, key_of
from confide.app.project import Change, Project
from confide.app.state import State

ROWS = 50
"""Rows of a table that a page shows at once."""


class Wrong(Exception):
    """What is wrong with a form: by field, a sentence; "" for what belongs to none."""

    def __init__(self, **fields: str) -> None:
        super().__init__("; ".join(fields.values()))
        self.fields = {k.removesuffix("_"): v for k, v in fields.items()}

    @classmethod
    def at(cls, name: str, said: str) -> Wrong:
        """One field, by a name that is no Python name."""
        made = cls()
        made.fields = {name: said}
        return made


@dataclass(frozen=True)
class Form:
    """Fields of a form, or of the question in an address."""

    fields: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, text: str) -> Form:
        """From a query, or the body of a form."""
        return cls(parse_qs(text, keep_blank_values=True, max_num_fields=20_000))

    def text(self, name: str, default: str = "") -> str:
        """A field's text without blanks at its ends."""
        return str(self.fields.get(name, [default])[-1]).strip()

    def all(self, name: str) -> list[str]:
        """All values of a field that may stand several times."""
        return [str(v) for v in self.fields.get(name, ()) if str(v)]

    def has(self, name: str) -> bool:
        """Whether the field was sent."""
        return name in self.fields

    def whole(self, name: str, default: int = 0) -> int:
        """A whole number; the default for anything else."""
        given = self.text(name)
        return int(given) if re.fullmatch(r"-?[0-9]{1,18}", given) else default


@dataclass(frozen=True)
class Made:
    """A change that a form asks for: the new state, what was done in words, and the screen to go to."""

    state: State
    what: str
    go: str
    hash: str = ""


@dataclass(eq=False)
class Page:
    """What a screen is about: the project, the change that is shown, and what the address asks."""

    desk: Desk
    project: Project
    change: Change
    query: Form
    errors: Mapping[str, str] = field(default_factory=dict)
    given: Form = field(default_factory=Form)

    @property
    def state(self) -> State:
        """The state that is shown."""
        return self.change.state

    @property
    def facts(self) -> Any:
        """What is known of the file."""
        return self.desk.facts(self.project)

    @property
    def behind(self) -> bool:
        """Whether another change than the current one is shown."""
        return self.change.number != self.project.head[0]

    def ask(self, task: str, given: Mapping[str, Any], lane: str = "quick", start: bool = True) -> Answer:
        """What is known of a piece of work, which is begun where nothing is."""
        return self.desk.ask(self.project, task, given, lane, start)

    def key(self, task: str, given: Mapping[str, Any]) -> str:
        """What tells a piece of work of this project from others."""
        return key_of(self.project, task, given)

    def url(self, screen: str, **query: object) -> str:
        """The address of a screen of this project, at this change where another is current."""
        asked = {"at": self.change.number} | query if self.behind else query
        return f"/p/{self.project.name}/{screen}" + (f"?{urlencode(asked)}" if asked else "")


class Screen(Protocol):
    """One file per screen. `PARTS`: templates of what may still be on its way, by name; `CHANGES`: what its forms do to
    the state; `ACTIONS`: what other forms start, each giving the screen to go to."""

    PARTS: Mapping[str, str]
    CHANGES: Mapping[str, Callable[[Page, Form], Made]]
    ACTIONS: Mapping[str, Callable[[Page, Form], str]]

    def view(self, page: Page) -> dict[str, Any]:
        """What its template shows; `waiting` names the parts that are on their way."""
        ...


@dataclass(frozen=True)
class Listed:
    """A page of a long table, found, sorted and cut on the server."""

    rows: Sequence[Any]
    total: int
    page: int
    pages: int
    find: str
    sort: str
    down: bool


def listed(
    rows: Sequence[Mapping[str, Any]], query: Form, find_in: Sequence[str], sorts: Sequence[str], size: int = ROWS,
    prefix: str = "",
) -> Listed:  # fmt: skip
    """The rows that the address asks for: `find`, `sort` (with "-" in front: falling), `page`; each with a prefix."""
    find = query.text(f"{prefix}find").lower()
    sort = query.text(f"{prefix}sort")
    found = [r for r in rows if not find or any(find in str(r.get(k, "")).lower() for k in find_in)]
    key = sort.lstrip("-")
    if key in sorts:
        there = [r for r in found if r.get(key) is not None]
        found = sorted(there, key=lambda r: r[key], reverse=sort.startswith("-")) + [
            r for r in found if r.get(key) is None
        ]
    pages = max(1, -(-len(found) // size))
    at = min(max(query.whole(f"{prefix}page", 1), 1), pages)
    return Listed(found[(at - 1) * size : at * size], len(found), at, pages, find, key, sort.startswith("-"))
