"""The section "What would be learnt": inside losses before and after, outside rounded shares only."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

import confide as cf
from confide.show.report.learnt import learnt_drawings, learnt_table, share_words
from confide.show.report.view import View
from confide.study.learnt_worst import worst_learner

HEADS = cf.demo("heads").head(600)
COSTS = {"right_identification": 1.0, "wrong_identification": 0.5, "right_attribution": 2.0, "wrong_attribution": 1.0}


@cache
def result(limit: str = "20%") -> cf.StudyResult:
    plans = {
        "swap": cf.Plan([cf.Swap("race", rate=0.3)], identifiers=["id"]),
        "coarse": cf.Plan([cf.Recode("age", width=20), cf.Noise("hh_income", relative=0.5)], identifiers=["id"]),
    }
    who = {"near": cf.Intruder(knows=["sex", "race", "age"]), "owner": cf.Intruder(knows=["sex", "age", "tenure"])}
    rule = cf.Rule({"learnt_hh_income": limit}, by="hellinger")
    learns = [cf.Learns("hh_income", costs=COSTS), "tenure"]
    return cf.Study(HEADS, plans, who, ["hellinger"], repeats=2, seed=1, choice=rule, learns=learns).run()


def page(folder: Path, outside: bool) -> str:
    return result().report(folder / "report.html", outside=outside).read_text(encoding="utf-8")


def section(text: str) -> str:
    return text.partition('<section id="learnt">')[2].partition("</section>")[0]


def test_inside_has_losses_before_and_after(tmp_path: Path) -> None:
    text = page(tmp_path, outside=False)
    told = section(text)
    assert "What would be learnt" in told
    for words in ("loss before", "loss after", "misled", "harm", "→", "tenure is known to owner"):
        assert words in told
    assert "hh_income would be learnt of" in text
    assert "(limit 20%)" in text
    assert "learnt_hh_income" in text  # among the terms, by the name that scripts use


def test_outside_has_rounded_shares_and_no_losses(tmp_path: Path) -> None:
    told = section(page(tmp_path, outside=True))
    for words in ("loss before", "loss after", "misled", "harm", "→"):
        assert words not in told
    view = View.of(result(), outside=True)
    for one in result().learns:
        for plan in view.plans:
            row = worst_learner(view.result, one, plan)
            assert row is not None
            part = r"(\d+%|fewer than 10 people)"  # no decimals
            assert re.fullmatch(rf"{part}( \({part} to {part}\))?", share_words(view, row))
    small = HEADS["race"].value_counts().filter(HEADS["race"].value_counts()["count"] < 10)["race"].cast(str).to_list()
    assert not any(f"race: {name}" in told for name in small)


def test_pictures_show_all_people_first_then_the_groups_that_gain_most() -> None:
    view = View.of(result())
    drawn = learnt_drawings(view)
    assert [d.name for d in drawn] == ["learnt-hh-income", "learnt-tenure"]
    assert drawn[0].wide.words()[0] == "all people"
    assert len(learnt_table(view).rows) == 6  # type: ignore[union-attr]


def test_a_rule_that_nobody_keeps_says_what_is_learnt(tmp_path: Path) -> None:
    text = result("0%").report(tmp_path / "none.html").read_text(encoding="utf-8")
    assert "No: no plan stays within the stated limits." in text
    assert "share of people of whom hh_income would be learnt" in text


def test_a_study_that_names_nothing_has_no_such_section(tmp_path: Path) -> None:
    plan = {"a": cf.Plan([cf.Recode("age", width=5)], identifiers=["id"])}
    found = cf.Study(HEADS, plan, {"near": cf.Intruder(knows=["sex", "age"])}, ["hellinger"], repeats=1).run()
    text = found.report(tmp_path / "plain.html").read_text(encoding="utf-8")
    assert 'id="learnt"' not in text
    assert learnt_table(View.of(found)) is None


def test_reports_need_the_audited_result_outside() -> None:
    with pytest.raises(TypeError):
        View(result(), View.of(result(), outside=True).treat)
