"""The whole way in a browser: from a file to a release, by mouse and by keyboard alone, with the same numbers outside."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import confide as cf
from tests.helpers.accessible import serious
from tests.helpers.app_journey import Hand, Journey, Keys
from tests.helpers.app_server import Server, serving, visiting

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Any:
    home = tmp_path_factory.mktemp("journey")
    cf.write(cf.demo("heads").head(1200), home / "heads.csv")
    with serving(home) as running:
        yield running


def checked(journey: Journey) -> None:
    """Nothing serious for those who cannot see or point."""
    assert serious(journey.page) == []


def test_from_a_file_to_a_release(browser: Any, server: Server) -> None:
    with visiting(browser, server) as visit:
        journey = Journey(server, visit, Hand(visit))
        checked(journey)
        journey.open(server.home / "heads.csv")
        checked(journey)
        journey.roles()
        visit.wait("main:not(:has([data-wait])) .figures")
        checked(journey)
        journey.look()
        journey.step("age", "Broader classes")
        journey.keep("Ages in classes")
        journey.step("race", "Swap between people")
        checked(journey)
        journey.keep("Ages in classes, race swapped")
        journey.compare("90 %")
        checked(journey)
        verdict = visit.text("#result")
        journey.release("The board accepts it.")
        checked(journey)
        told = visit.text()
        project = journey.project
        visit.page.click("#script summary")
        with visit.page.expect_download() as saved:
            visit.page.click("text=Save script.py")
        script = saved.value.path().read_text()
        assert (visit.outside, visit.console) == ([], [])
    _the_same_outside(project, server, script, verdict)
    assert "Traceback" not in "".join(server.errors)
    public = next(p for p in server.home.rglob("public-record.json")).parent
    assert str(public) in told
    _planted_nowhere(server.home / "heads.csv", public)


def _the_same_outside(project: Path, server: Server, script: str, verdict: str) -> None:
    """The study file, run by the command line, and the script give the numbers of the page to the last digit."""
    out = server.home / "by-command"
    done = subprocess.run(
        [sys.executable, "-m", "confide.cli.main", "study", "study.toml", "--out", str(out), "--json"], cwd=project,
        capture_output=True, text=True, env={**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)},
    )  # fmt: skip
    told = json.loads(done.stdout)
    kept = [json.loads(p.read_text()) for p in (project / "results").glob("compare-*.json")]
    assert len(kept) == 1
    assert told["choice"]["plan"] in verdict
    found = pl.DataFrame(told["summary"]).filter(pl.col("measure") == "found")
    by = {(r["plan"], r["intruder"]): (r["mean"], r["low"], r["high"]) for r in found.iter_rows(named=True)}
    shown = {
        (plan, who): (number["found"]["mean"], number["found"]["low"], number["found"]["high"])
        for plan, numbers in kept[0]["plans"].items()
        for who, number in numbers["who"].items()
    }
    assert len(shown) == 9  # three plans, three intruders
    assert {place: by[place] for place in shown} == shown
    names: dict[str, Any] = {}
    exec(compile(script.partition("\nrelease = ")[0], "script.py", "exec"), names)
    summary = names["result"].summary()
    assert summary.filter(measure="found")["mean"].to_list() == found["mean"].to_list()


def _planted_nowhere(original: Path, public: Path) -> None:
    """What identifies people is in no public file."""
    ids = {str(v) for v in cf.read(original)["id"].to_list()[:50]}
    for path in public.iterdir():
        if path.suffix in (".csv", ".json"):
            header = path.read_text().splitlines()[0]
            assert "id" not in header.split(",")
            assert not any(f'"{one}"' in path.read_text() for one in ids)


def test_the_same_by_keyboard_alone(browser: Any, server: Server) -> None:
    with visiting(browser, server) as visit:
        journey = Journey(server, visit, Keys(visit))
        journey.open(server.home / "heads.csv")
        journey.roles()
        journey.look()
        journey.step("age", "Broader classes")
        journey.keep("Ages in classes")
        journey.compare("90 %")
        journey.release("By keyboard.")
        assert (visit.outside, visit.console) == ([], [])


def test_a_killed_worker_two_tabs_and_a_refresh(browser: Any, server: Server) -> None:
    with visiting(browser, server) as visit:
        journey = Journey(server, visit, Hand(visit))
        journey.open(server.home / "heads.csv")
        journey.roles()
        journey.look()
        journey.step("age", "Broader classes")
        journey.keep("Ages")
        url = visit.page.url
        visit.page.reload()  # a refresh loses nothing
        assert "Age in classes" in visit.text() or "age in classes" in visit.text()
        with visiting(browser, server) as other:  # another tab goes further
            other.page.goto(url)
            other.page.click("#undo")
            other.wait("h1")
        visit.page.click("#remove")
        visit.wait("text=Another tab went further")
        visit.page.click("text=Go on from change")
        visit.page.goto(url.replace("/protect", "/compare"))
        journey.page.fill("#f-max_found", "90 %")
        journey.page.keyboard.press("Tab")
        visit.wait("#run")
        visit.page.wait_for_timeout(1500)
        journey.measured()
        visit.page.click("#run")
        for pid in server.workers():
            os.kill(pid, signal.SIGKILL)
        visit.until(lambda: "ended without an answer" in visit.text() or bool(visit.page.query_selector("#take")))
        if not visit.page.query_selector("#take"):
            visit.page.reload()
            visit.page.click("#run")
            visit.wait("#take")
        assert visit.outside == []
