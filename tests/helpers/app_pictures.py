"""Pictures of every screen for the pages, at 1280 and 400 pixels: `python -m tests.helpers.app_pictures FOLDER`."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.helpers.app_journey import Hand, Journey
from tests.helpers.app_server import Server, serving, visiting
from tests.helpers.browser import launched

WIDTHS = (1280, 400)


def pictures(folder: Path) -> None:
    """The journey on the shipped householders, each screen drawn when all its numbers are there."""
    folder.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory() as home,
        serving(Path(home)) as server,
        launched() as browser,
        visiting(browser, server) as visit,
    ):
        journey = Journey(server, visit, Hand(visit))
        _drawn(browser, server, "/", folder, "start")
        visit.page.click("#example")
        visit.wait("text=Continue to variables")
        project = f"/p/{journey.project.name}"
        _drawn(browser, server, f"{project}/open", folder, "open")
        visit.page.click("text=Continue to variables")
        visit.wait("table.vars")
        _drawn(browser, server, f"{project}/variables", folder, "variables")
        journey.roles()
        visit.wait("main:not(:has([data-wait])) .figures")
        _drawn(browser, server, f"{project}/risk", folder, "risk")
        journey.look()
        journey.step("state", "Leave it out")
        journey.step("age", "Broader classes")
        journey.keep("No area, ages in tens")
        journey.step("race", "Swap between people")
        journey.keep("No area, ages in tens, race swapped")
        _drawn(browser, server, f"{project}/protect", folder, "protect")
        journey.compare("5 %")
        _drawn(browser, server, f"{project}/compare", folder, "compare")
        visit.page.click("#take")
        visit.wait("#write")
        _drawn(browser, server, f"{project}/release", folder, "release")
        _drawn(browser, server, f"{project}/history", folder, "history")
        _tables(browser, server, visit, folder)


def _tables(browser: Any, server: Server, visit: Any, folder: Path) -> None:
    visit.page.goto(server.origin)
    visit.page.click("#example-tables")
    visit.wait("text=Continue to the table")
    project = f"/p/{visit.page.url.split('/p/')[1].split('/')[0]}"
    visit.page.click("text=Continue to the table")
    visit.wait("main:not(:has([data-wait])) h1")
    _drawn(browser, server, f"{project}/table", folder, "table")
    visit.page.click("#continue")
    visit.wait("main:not(:has([data-wait])) .figures")
    _drawn(browser, server, f"{project}/schemes", folder, "schemes")


def _drawn(browser: Any, server: Server, path: str, folder: Path, name: str) -> None:
    for width in WIDTHS:
        with visiting(browser, server, width) as other:
            other.page.goto(server.origin + path)
            other.wait("main:not(:has([data-wait]))")
            other.page.screenshot(path=folder / f"{name}-{width}.png", full_page=True)
    print(name, flush=True)


if __name__ == "__main__":
    pictures(Path(sys.argv[1]))
