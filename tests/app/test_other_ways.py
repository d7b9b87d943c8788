"""Further ways through the screens: tables of counts, a million rows, without JavaScript."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import polars as pl
import pytest

import confide as cf
from tests.helpers.accessible import serious
from tests.helpers.app_journey import Hand, Journey
from tests.helpers.app_server import Server, visiting

pytestmark = pytest.mark.slow


def test_tables_of_counts_from_a_file_to_a_release(browser: Any, server: Server) -> None:
    with visiting(browser, server) as visit:
        page = visit.page
        page.goto(server.origin)
        page.fill("#source", str(server.home / "heads.csv"))
        page.check("input[value=tables]")
        page.click("form[action='/projects'] .btn.main")
        visit.wait("text=Continue to the table")
        page.click("text=Continue to the table")
        visit.wait("main:not(:has([data-wait])) #sizes")
        assert serious(page) == []
        page.click("#continue")
        visit.wait("main:not(:has([data-wait])) .figures")
        assert serious(page) == []
        page.fill("#known", "3")
        page.fill("#limit", "0.9")
        page.keyboard.press("Tab")
        page.wait_for_timeout(1500)
        visit.wait("main:not(:has([data-wait])) .figures")
        page.click("#continue")
        visit.wait("main:not(:has([data-wait])) #checks")
        assert serious(page) == []
        page.fill("#reason", "Counts of states, as last year.")
        page.fill("#f-by", "Board of review")
        if page.query_selector("#accept"):
            page.check("#accept")
        page.click("#write")
        visit.wait("#written")
        visit.until(lambda: bool([*server.home.rglob("decision.json")]))
        assert (visit.outside, visit.console) == ([], [])
    decision = next(server.home.rglob("decision.json"))
    assert json.loads(decision.read_text())["reason"] == "Counts of states, as last year."
    assert decision.parent.stat().st_mode & 0o777 == 0o700


def test_a_million_rows(browser: Any, server: Server) -> None:
    draws = np.random.default_rng(1)
    heads, rows = cf.demo("heads"), 1_000_000
    some = heads.select("sex", "race", "age", "hh_income")[draws.integers(0, heads.height, rows)]
    some.with_columns(id=pl.int_range(rows)).write_parquet(server.home / "million.parquet")
    with visiting(browser, server) as visit:
        journey = Journey(server, visit, Hand(visit))
        journey.open(server.home / "million.parquet")
        assert "1,000,000" in visit.text(".bar")
        journey.roles()
        visit.wait("main:not(:has([data-wait])) .figures")
        known = json.loads((journey.project / "results" / "facts.json").read_text())
        assert known["rows"] == rows
        alone = cf.look(some, keys=["sex", "race", "age"], guess=False).counted.alone
        assert f"{alone:,} people" in visit.text(".figures")
        assert (visit.outside, visit.console) == ([], [])


def test_without_javascript(browser: Any, server: Server) -> None:
    with visiting(browser, server, java_script_enabled=False) as visit:
        page = visit.page
        page.goto(server.origin)
        page.fill("#source", str(server.home / "heads.csv"))
        page.click("form[action='/projects'] .btn.main")
        visit.wait("text=Continue to variables")  # the page asks again by itself
        page.click("text=Continue to variables")
        visit.wait("text=Save roles and kinds")
        while page.query_selector("button[name=confirm]"):
            with page.expect_navigation():  # a click alone does not wait for the page that answers it
                page.click("button[name=confirm]")
        page.select_option("#role-0", "drop")
        with page.expect_navigation():
            page.click("text=Save roles and kinds")
        page.click("#continue")
        visit.wait("h1:has-text('A first look')")
        page.click("#undo")
        assert visit.console == []
