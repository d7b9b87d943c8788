"""To be written."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from confide.app.web import Form, Made, Page

NAME, TITLE = "risk", "Risk"
PARTS: Mapping[str, str] = {}


def view(page: Page) -> dict[str, Any]:  # noqa: ARG001
    return {}


CHANGES: Mapping[str, Callable[[Page, Form], Made]] = {}
ACTIONS: Mapping[str, Callable[[Page, Form], str]] = {}
