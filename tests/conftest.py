"""What tests of several rooms share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from confide.core.registry import KINDS, shipped
from tests.helpers.browser import launched, why_no_browser


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Chromium, once a worker; tests that need it are skipped where it is missing."""
    missing = why_no_browser()
    if missing:
        pytest.skip(f"no browser test: {missing}.")
    with launched() as running:
        yield running


@pytest.fixture(autouse=True)
def as_registered() -> Iterator[None]:
    """What a test registers is gone after it."""
    yield
    for kind in KINDS.values():
        for name in [n for n, cls in kind.classes.items() if not shipped(cls)]:
            del kind.classes[name]


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Slow tests first, so that no worker waits at the end for one that began last; examples of papers are slow."""
    for item in items:
        if item.nodeid.startswith("papers/"):
            item.add_marker("slow")
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)
