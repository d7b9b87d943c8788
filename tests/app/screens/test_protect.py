"""Protect: effects are those of confide's own study, steps are added and changed, and what cannot be is said there."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import confide as cf
from confide.app import words
from confide.app.documents import plan_table, utility_tables
from confide.app.screens import protect
from confide.app.web import Page, Wrong
from tests.helpers.app_pages import at, changed, finish, html, project, send

WHO = [
    {"name": "near", "about": "", "knows": ["sex", "race", "age"]},
    {"name": "work", "knows": ["sex", "educ", "age"]},
]
AGES = {"method": "recode", "variable": "age", "width": 10}
SWAP = {"method": "swap", "variable": "race", "rate": 0.2}
GONE = {"method": "drop", "variable": "educ"}


@pytest.fixture
def page(tmp_path: Path) -> Page:
    return project(tmp_path, intruders=WHO, steps=[AGES, SWAP, GONE], opened=2, formula="hh_income ~ age + C(sex)")


def _study(page: Page) -> cf.StudyResult:
    state = page.state
    plans = {str(k): cf.Plan.from_dict(plan_table(state, state.steps[:k])) for k in range(len(state.steps) + 1)}
    who = {w["name"]: cf.Intruder(knows=w["knows"]) for w in WHO}
    return cf.Study(cf.read(state.source), plans, who, utility_tables(state), repeats=1, seed=1).run(progress=False)


def test_every_number_is_confides_own(page: Page) -> None:
    view, text = finish(page, protect, improve="later"), html(page, protect)
    frame = _study(page).frame
    worst = [max(r["found"] for r in frame.iter_rows(named=True) if r["plan"] == str(k)) for k in range(4)]
    assert [r["effect"]["after"] for r in view["rows"]] == worst[1:]
    assert [r["effect"]["fewer"] for r in view["rows"]] == [a - b for a, b in pairwise(worst)]
    last = next(r for r in frame.iter_rows(named=True) if r["plan"] == "3")
    assert {k["measure"]: k["share"] for k in view["effect"]["kept"]} == {
        "entropy": 1 - last["entropy"], "hellinger_pairs": 1 - last["hellinger_pairs"], "ci_overlap": last["ci_overlap"]
    }  # fmt: skip
    assert f"{words.count(worst[1])} to {words.count(worst[2])}" in text
    assert view["effect"]["worst"]["found"] == worst[3]


def test_shares_before_and_after_are_those_of_the_opened_step(page: Page) -> None:
    view = finish(page, protect, improve="later")
    rows = _study(page).distributions.filter(plan="3", variable="race").select("level", "before", "after").rows()
    assert view["shape"]["variable"] == "race"
    assert set(view["shape"]["rows"]) <= set(rows)
    assert finish(at(page, "open=3"), protect, improve="later")["shape"] is None


def test_the_limit_is_said(page: Page) -> None:
    found = finish(page, protect, improve="later")["effect"]["worst"]["found"]
    within = changed(page, page.state.but(rule={"max_found": found + 1}))
    assert finish(within, protect, improve="later")["effect"]["within"] is True
    beyond = changed(within, page.state.but(rule={"max_found": "0.1%"}))
    finish(beyond, protect, improve="later")
    assert "Beyond the limit" in html(beyond, protect)


def test_a_step_that_cannot_be_carried_out_is_told_at_its_place(page: Page) -> None:
    noise = {"method": "noise", "variable": "age", "sd": 3}
    broken = changed(page, page.state.but(steps=[AGES, noise, SWAP]))
    view = finish(broken, protect, improve="later")
    assert [bool(r["problems"]) for r in view["rows"]] == [False, True, False]
    assert "numeric" in view["rows"][1]["problems"][0]
    assert view["effect"]["count"] == 1
    assert view["rows"][2]["effect"] is None


def test_a_step_that_needs_the_next_counts_with_it(page: Page) -> None:
    noise = {"method": "noise", "variable": "age", "sd": 3, "bounds": [18, 80]}
    cap = {"method": "topcode", "variable": "age", "at": 80}
    both = changed(page, page.state.but(steps=[noise, cap]))
    view = finish(both, protect, improve="later")
    assert view["rows"][0]["effect"] == {"with_next": True}
    assert view["rows"][1]["effect"]["fewer"] > 0
    assert not any(r["problems"] for r in view["rows"])


def test_old_numbers_of_unchanged_steps_stay_while_new_ones_are_measured(page: Page) -> None:
    first = finish(page, protect, improve="later")
    stronger = changed(page, page.state.but(steps=[AGES, {**SWAP, "rate": 0.4}, GONE]))
    view = protect.view(stronger)
    assert "effect" in view["waiting"]
    assert view["rows"][0]["effect"] == first["rows"][0]["effect"]
    assert view["rows"][1]["effect"] is None


def test_settings_are_read_in_percent_and_refused_at_their_field(page: Page) -> None:
    made = send(page, protect, "set", {"number": 2, "set-rate": "35", "set-within": ["sex"]})
    assert made.state.steps[1] == {"method": "swap", "variable": "race", "rate": 0.35, "within": ["sex"]}
    for text in ("150", "-1", "much"):
        with pytest.raises(Wrong) as error:
            send(page, protect, "set", {"number": 2, "set-rate": text})
        assert list(error.value.fields) == ["rate"]


def test_steps_move_and_go(page: Page) -> None:
    up = send(page, protect, "set", {"number": 2, "do": "up"})
    assert [s["method"] for s in up.state.steps] == ["swap", "recode", "drop"]
    assert up.state.opened == 1
    less = send(up, protect, "set", {"number": 3, "do": "remove"})
    assert [s["method"] for s in less.state.steps] == ["swap", "recode"]


def test_any_method_by_its_schema(page: Page) -> None:
    given: dict[str, Any] = {"method": "recode", "variables": ["race"], "set-mapping": "Black = other\nWhite = White"}
    made = send(page, protect, "add", given)
    assert made.state.steps[-1] == {
        "method": "recode", "variable": "race", "mapping": {"Black": "other", "White": "White"}
    }  # fmt: skip
    with pytest.raises(Wrong) as error:
        send(page, protect, "add", {**given, "set-mapping": "Black other"})
    assert list(error.value.fields) == ["mapping"]
    with pytest.raises(Wrong) as error:
        send(page, protect, "add", {"method": "round", "variables": ["age"]})
    assert list(error.value.fields) == ["base"]
    assert "Width of a class" in html(at(page, "add=1&method=recode"), protect)


def test_offers_are_added_as_methods_say(page: Page) -> None:
    asked = at(page, "add=1&variable=age")
    view = finish(asked, protect, improve="later", effect="later")
    wide = next(way for way in view["add"]["ways"] if way["family"] == "recode")
    offer = wide["offers"][-1]
    made = send(asked, protect, "offer", {"variable": "age", "offer": offer["number"]})
    assert made.state.steps[0]["hierarchy"] == offer["steps"][0]["hierarchy"]  # in the place of the one that was there
    assert len(made.state.steps) == 3
    gone = next(way for way in view["add"]["ways"] if way["family"] == "drop")
    left = send(made, protect, "offer", {"variable": "age", "offer": gone["offers"][0]["number"]})
    assert [s["method"] for s in left.state.steps] == ["swap", "drop", "drop"]
    out = finish(at(left, "add=1&variable=tenure"), protect, improve="later", effect="later")
    assert out["add"]["ways"]


def test_candidates_have_names_of_their_own(page: Page) -> None:
    kept = send(page, protect, "keep", {"name": ""})
    assert kept.state.candidates[0]["steps"] == [AGES, SWAP, GONE]
    assert protect.view(kept)["kept_as"] == kept.state.candidates[0]["name"]
    with pytest.raises(Wrong) as error:
        send(kept, protect, "keep", {"name": kept.state.candidates[0]["name"]})
    assert list(error.value.fields) == ["name"]


def test_an_alternative_becomes_the_plan(tmp_path: Path) -> None:
    small = project(tmp_path, rows=250, intruders=WHO[:1], steps=[AGES], formula="")
    view = finish(small, protect)  # so small a file is tried without being asked
    changes = view["improve"]["result"]
    assert changes
    tried = send(small, protect, "try", {"number": 0})
    after = finish(tried, protect, improve="later")
    assert after["effect"]["worst"]["found"] == changes[0]["worst"]["found"]
    assert not any("force" in step for step in tried.state.steps)


def test_names_of_variables_are_no_markup(tmp_path: Path) -> None:
    evil = "<script>alert(1)</script>"
    made = project(tmp_path, intruders=WHO, steps=[{"method": "drop", "variable": evil}], opened=1)
    text = html(made, protect)
    assert evil not in text
    assert "&lt;script&gt;" in text
