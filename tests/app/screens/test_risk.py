"""Risk: every number is confide's own, intruders are added and changed, and nothing that is a name becomes markup."""

from __future__ import annotations

from pathlib import Path

import pytest

import confide as cf
from confide.app import words
from confide.app.screens import risk
from confide.app.web import Page, Wrong
from tests.helpers.app_pages import at, finish, html, project, send

NEAR = {"name": "near", "about": "Next door.", "knows": ["sex", "race", "age"]}
WORK = {"name": "work", "about": "", "knows": ["sex", "educ", "age", "state"]}


@pytest.fixture
def page(tmp_path: Path) -> Page:
    return project(tmp_path, intruders=[NEAR, WORK])


def test_every_number_is_confides_own(page: Page) -> None:
    view, text = finish(page, risk), html(page, risk)
    data = cf.read(page.state.source)
    look = cf.look(data, keys=NEAR["knows"], sensitive=(), weight="weight", guess=False)
    plan = cf.Plan(identifiers=["id"], weight="weight")
    who = {w["name"]: cf.Intruder(knows=w["knows"]) for w in (NEAR, WORK)}
    study = cf.Study(data, {"as it is": plan}, who, ["entropy"], repeats=1, seed=1).run(progress=False)
    found = {r["intruder"]: r for r in study.frame.iter_rows(named=True) if r["plan"] == "as it is"}
    assert (view["look"]["alone"], view["look"]["below"]) == (look.counted.alone, look.counted.below[-1])
    assert {c["name"]: c["found"]["found"] for c in view["cards"]} == {n: r["found"] for n, r in found.items()}
    assert view["effect"]["worst"]["share"] == max(r["found_share"] for r in found.values())
    assert sum(n for _, n in view["look"]["sizes"]) == look.rows
    assert view["look"]["sizes"][0][1] == look.counted.alone
    assert [(d["variable"], d["alone_without"]) for d in view["note"]["drivers"]] == sorted(
        look.drivers.select("variable", "alone_without").rows(), key=lambda r: r[1]
    )
    assert f"{words.percent(look.counted.alone / look.rows)}<small> %" in text
    assert f"{words.count(found['work']['found'])} of 400 people" in text
    assert not view["waiting"]


def test_a_page_waits_for_what_is_not_there_yet(page: Page) -> None:
    view, text = risk.view(page), html(page, risk)
    assert set(view["waiting"]) == set(risk.PARTS)
    assert text.count("data-wait=") == len(risk.PARTS)


def test_another_intruder_is_looked_at(page: Page) -> None:
    finish(page, risk)
    view = finish(at(page, "who=2"), risk)
    assert view["keys"] == ["sex", "educ", "age", "state"]
    assert view["look"]["alone"] > finish(page, risk)["look"]["alone"]


def test_groups_sort_and_page_on_the_server(page: Page) -> None:
    finish(page, risk)
    shown = finish(at(page, "gsort=-alone_share"), risk)["groups"].rows
    shares = [g["alone_share"] for g in shown]
    assert shares == sorted(shares, reverse=True)
    assert len(shown) <= risk.GROUPS


def test_an_intruder_is_added_changed_copied_and_removed(page: Page) -> None:
    more = send(page, risk, "save", {"number": 0, "name": "<b>press</b>", "knows": ["age", "sex"], "member": "sure"})
    assert more.state.intruders[-1] == {"name": "<b>press</b>", "about": "", "knows": ["sex", "age"]}
    assert "<b>press</b>" not in html(more, risk)
    unsure = send(more, risk, "save", {"number": 3, "name": "press", "knows": ["sex"], "member": "total",
                                       "total": "1,000,000", "errs": "5"})  # fmt: skip
    assert unsure.state.intruders[2]["membership"] == {"total": 1_000_000}
    assert unsure.state.intruders[2]["errors"] == {"sex": 0.05}
    assert at(unsure, "edit=3").query.whole("edit") == 3
    assert 'value="1000000"' in html(at(unsure, "edit=3"), risk)
    copied = send(unsure, risk, "copy", {"number": 3})
    assert [w["name"] for w in copied.state.intruders] == ["near", "work", "press", "press 2"]
    gone = send(copied, risk, "remove", {"number": 1})
    assert [w["name"] for w in gone.state.intruders] == ["work", "press", "press 2"]
    assert finish(gone, risk)["cards"][1]["found"]["share"] < 0.01


@pytest.mark.parametrize(
    ("fields", "at_field"),
    [
        ({"name": ""}, "name"), ({"name": "work"}, "name"), ({"knows": []}, "knows"),
        ({"member": "total", "total": ""}, "total"), ({"member": "total", "total": "12"}, "total"),
        ({"member": "total", "total": "many"}, "total"), ({"errs": "120"}, "errs"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_at_its_field(page: Page, fields: dict[str, object], at_field: str) -> None:
    with pytest.raises(Wrong) as error:
        send(page, risk, "save", {"number": 0, "name": "press", "knows": ["sex"], "member": "sure", **fields})
    assert list(error.value.fields) == [at_field]


def test_the_last_intruder_stays(tmp_path: Path) -> None:
    alone = project(tmp_path, intruders=[NEAR])
    with pytest.raises(Wrong) as error:
        send(alone, risk, "remove", {"number": 1})
    assert "At least one" in error.value.fields[""]
