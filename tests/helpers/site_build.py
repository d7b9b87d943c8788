"""The site of the documentation, built once for all tests that look at it, also where several workers run them."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tests.helpers.places import ROOT


@dataclass(frozen=True)
class Built:
    """Where the site is, and what its builder had to say (nothing, if all is well)."""

    folder: Path
    said: str


def built(factory: pytest.TempPathFactory) -> Built:
    """Build the site, warnings as errors, or wait for the worker that is at it."""
    base = factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    site, said = shared / "site", shared / "site.log"
    with (shared / "site.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not said.exists():
            command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-d", str(shared / "doctrees")]
            run = subprocess.run(
                [*command, "-c", "docs", ".", str(site)], cwd=ROOT, capture_output=True, text=True, check=False
            )
            said.write_text(run.stdout + run.stderr + ("" if run.returncode == 0 else "The build failed."))
    return Built(site, said.read_text())


LOADS = {"script": "src", "img": "src", "iframe": "src", "source": "src", "video": "src", "object": "data"}
NOT_LOADED = {"next", "prev", "index", "search", "canonical"}


class Elements(HTMLParser):
    """What one page loads, where it links to, and the places in it that a link can lead to."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.links: list[str] = []
        self.places: set[str] = set()
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.places.add(given.get("id", ""))
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        elif tag == "link" and given.get("rel") not in NOT_LOADED:
            self.loads.append(given["href"])
        elif LOADS.get(tag) in given:
            self.loads.append(given[LOADS[tag]])
