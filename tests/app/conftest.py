"""A server for the browser tests of a file, and small files to open."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import confide as cf
from tests.helpers.app_server import Server, serving


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server, once per file of tests, with a small file of householders below its folder."""
    home = tmp_path_factory.mktemp("confide app")
    cf.write(cf.demo("heads").head(1500), home / "heads.csv")
    with serving(home) as running:
        yield running


@pytest.fixture
def heads(server: Server) -> Path:
    """The small file."""
    return server.home / "heads.csv"
