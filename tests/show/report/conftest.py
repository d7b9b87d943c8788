"""Reports that the tests of this folder share: made once a run, by the worker that comes first."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

import pytest

from tests.helpers import planted


@pytest.fixture(scope="session")
def reports(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with inside.html and outside.html of the planted study."""
    base = tmp_path_factory.getbasetemp()
    shared = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "reports"
    shared.mkdir(exist_ok=True)
    with open(shared / ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (shared / "outside.html").exists():
            planted.build(shared)
    return shared


@pytest.fixture(scope="session")
def inside(reports: Path) -> str:
    """The internal report as text."""
    return (reports / "inside.html").read_text(encoding="utf-8")


@pytest.fixture(scope="session")
def outside(reports: Path) -> str:
    """The report for people outside the agency as text."""
    return (reports / "outside.html").read_text(encoding="utf-8")
