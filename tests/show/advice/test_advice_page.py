"""The page, the printout and the picture of advice: the answer first, nothing loaded, no record, readable everywhere."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import confide as cf
from confide.show.advice.page import advice_html, write_advice
from confide.show.advice.tables import family_rows
from confide.show.advice.view import AdviceView
from confide.show.advice.words import answer, cautions, confirm, runner_up
from confide.show.charts.advice_chart import advice_chart
from confide.show.text.advice import advice_text
from confide.study.advise.result import Advice
from tests.helpers.advice import small_advice
from tests.helpers.page_checks import faults_in

HOSTILE = "<img src=x onerror=alert(1)>\x1b[31m"


@cache
def found() -> Advice:
    return small_advice()


@cache
def nothing() -> Advice:
    return small_advice("1%")


@cache
def hostile() -> Advice:
    names = {"near": f"<b>near</b>{HOSTILE}", "recode age to twenties": f"recode {HOSTILE} {{{{ 7 * 7 }}}}"}
    return small_advice(names=names, asked=(f"Guessed: the weight is {HOSTILE}.",))


def test_the_answer_comes_first() -> None:
    text = advice_text(found())
    first = " ".join(text.partition("\n\n")[0].split())
    assert first.startswith('Release it so: recode age to twenties. The strongest of 2 intruders, "near", finds ')
    share = found().confirmed.filter(measure="found_share")["mean"].item()
    assert f"{100 * share:.3g}% of people ({share * 400:.0f} of 400), within the limit of 15%" in first
    assert "in the file as it is, 50% (200 of 400)" in first
    assert "What is kept: distance of distributions (Hellinger)" in first
    page = advice_html(found())
    assert page.index("Release it so") < page.index("What was tried")


def test_what_somebody_finds_who_is_not_misled_stands_in_the_answer() -> None:
    more = replace(found(), aside="9% of people are found, not 1%.")
    assert answer(AdviceView(more))[2] == more.aside
    assert more.aside in advice_html(more)


def test_where_nothing_keeps_the_limit() -> None:
    text = " ".join(advice_text(nothing()).split())
    assert text.startswith(
        "Nothing that was tried keeps the limit: at most 1% (share of people found). The nearest is:"
    )
    assert "larger one may find more" not in text
    longer = replace(nothing(), reason="8 plans were tried; the search ended because the budget ended.")
    told = " ".join(advice_text(longer).split())
    assert "; the budget ended the search, and a larger one may find more. The nearest is:" in told
    assert "above the limit of 1%" in text
    assert "What would have to be given up - The limit would have to be 30%" in text
    page = advice_html(nothing())
    assert 'class="warn"' in page
    assert '<section id="give-up">' in page
    assert 'class="good"' in advice_html(found())


def test_a_runner_up_that_cannot_be_told_apart() -> None:
    said = runner_up(AdviceView(found()))[0]
    assert "worse by 0.01 (95% interval -0.002 to 0.022)" in said
    assert "cannot be told apart" in said
    assert said in advice_html(found())


@pytest.mark.parametrize(
    ("mean", "low", "high", "words"),
    [
        (
            0.01,
            0.002,
            0.018,
            "worse by 0.01 (95% interval 0.002 to 0.018) in distance of distributions (Hellinger): beyond",
        ),
        (-0.01, -0.022, 0.002, "better by 0.01 (95% interval -0.002 to 0.022)"),
        (-0.01, -0.018, -0.002, "Draws that confirm choose nothing"),
        (0.01, 0.01, 0.01, "worse by 0.01 in distance of distributions (Hellinger); neither varies"),
        (0.01, None, None, "only more repeats tell"),
        (0.0, 0.0, 0.0, "which is the same in"),
    ],
)
def test_a_runner_up_in_words(mean: float, low: float | None, high: float | None, words: str) -> None:
    second = found().runner_up
    assert second is not None
    other = replace(second, difference=replace(second.difference, mean=mean, low=low, high=high))
    said = runner_up(AdviceView(replace(found(), runner_up=other)))[0]
    assert words in said
    assert ("cannot be told apart" in said) == (low is not None and low < 0 < (high or 0))


def test_guesses_are_to_be_confirmed_and_the_stated_is_not() -> None:
    text, page = advice_text(found()), advice_html(found())
    assert "please confirm" in text.partition("Guessed: the weight")[0]
    assert "Stated: two intruders." not in text
    assert page.index("Guessed, not confirmed") < page.index("What was tried")
    assert "Stated: two intruders." in page
    calm = small_advice(asked=("Stated: all.",))
    assert confirm(AdviceView(calm)) == []
    assert "Guessed, not confirmed" not in advice_html(calm)


def test_what_is_left_out_is_said() -> None:
    told = cautions(AdviceView(small_advice("25%", extra=0, drop=("educ", "state"))))
    assert told[0] == "Not released at all: educ, state. No analysis can use them."


def test_an_interval_that_reaches_beyond_the_limit_is_said() -> None:
    a = found()
    assert not [s for s in cautions(AdviceView(a)) if "reaches" in s]
    wide = a.confirmed.with_columns(high=pl.when(measure="found_share").then(0.2).otherwise("high"))
    told = cautions(AdviceView(replace(a, confirmed=wide)))
    assert "The interval of share of people found reaches 20%, above the limit of 15%" in told[0]


def test_families_reach_what_the_study_found_too() -> None:
    rows = {r["family"]: r for r in family_rows(AdviceView(found()))}
    best = found().confirmed.filter(measure="hellinger")["mean"].item()
    assert rows["recode"]["best_alone"] == best < 0.11
    assert rows["swap"]["best_alone"] is None
    mix = found().study.summary().filter(plan=found().runner_up.name, measure="hellinger")["mean"].item()
    assert rows["swap"]["best_in_mixes"] == rows["recode"]["best_in_mixes"] == mix
    assert rows["pram"]["best_in_mixes"] is None
    assert (rows["pram"]["tried"], rows["recode"]["tried"]) == (18, 3)
    text = " ".join(advice_text(found()).split())
    assert "40 candidates of 3 families were tried" in text
    assert "Of those tried, 36 lost more than another that keeps the limit" in text
    assert "4 more were thought of and could not be carried out on this file." in text


def test_a_file_that_keeps_the_limit_already() -> None:
    a = small_advice("90%", extra=2)
    text, page = advice_text(a), advice_html(a)
    assert text.startswith("Release it as it is, without identifiers: that keeps the limit already.")
    assert text.count("the file as it is") == 2  # in the answer, and in the table
    assert sum(p.words == "the file as it is" for p in AdviceView(a).plane.points) == 1
    assert 'class="good"' in page


def test_every_part_of_the_page() -> None:
    page = advice_html(found())
    for anchor in ("candidates", "second", "families", "untried", "cut", "unknown", "asked", "again", "terms"):
        assert f'<section id="{anchor}">' in page
    assert len(re.findall(r"<figure ", page)) == 3
    assert "too many values: nearly all of them would be hidden" in page
    assert "there is nobody to swap with" in page
    assert "4 candidates have no number and are not drawn" in page
    assert len(page) < 200_000


def test_candidates_are_drawn_where_they_are() -> None:
    plane = AdviceView(found()).plane
    assert len(plane.points) == 1 + 4 + 36
    assert sum(p.live for p in plane.points) == 1 + 4
    best = next(p for p in plane.points if p.chosen)
    row = found().confirmed.filter(measure="hellinger")
    assert best.utility == row["mean"].item()
    given_up = next(p for p in plane.points if p.name == "PRAM marital, 1% of records")
    assert given_up.risk == found().frame.filter(name=given_up.name)["share"].item()
    assert given_up.families == ("pram",)
    drawn = advice_chart(found()).to_dict()
    assert len(next(iter(v for v in drawn["datasets"].values() if len(v) > 1))) == len(plane.points)


def test_another_risk_than_people_found_has_no_limit_on_the_map() -> None:
    view = AdviceView(_other_risk())
    assert view.plane.limit is None
    assert view.drawn == "found_share"
    assert all(r["within"] is None for r in view.candidates)
    assert "over the threshold" in answer(view)[1]
    assert "<svg" in advice_html(view.advice)


def _other_risk() -> Advice:
    a = found()
    row = pl.DataFrame({"kind": "risk", "measure": "over_threshold", "mean": 12.0, "low": 12.0, "high": 12.0})
    return replace(a, limits={"over_threshold": 20.0}, confirmed=pl.concat([row, a.confirmed.tail(2)]))


def test_nothing_is_loaded_and_nothing_runs() -> None:
    page = advice_html(found())
    assert "<script" not in page
    assert not re.findall(r'(?:src|href)="(?!#|data:,)', page)
    assert "default-src 'none'" in page


def test_the_report_is_linked_where_it_lies_beside(tmp_path: Path) -> None:
    alone = write_advice(found(), tmp_path / "why.html").read_text()
    assert "report.html" not in alone
    (tmp_path / "report.html").write_text("a report")
    assert 'href="report.html"' in write_advice(found(), tmp_path / "why.html", overwrite=True).read_text()


def test_names_cannot_break_out() -> None:
    page, text = advice_html(hostile()), advice_text(hostile())
    assert "<img" not in page
    assert "<b>" not in page
    assert "{{ 7 * 7 }}" in page
    assert "\x1b" not in page + text
    assert "&lt;img src=x" in page


def test_no_record_is_shown() -> None:
    heads = cf.demo("heads").head(400)
    shown = (advice_html(found()) + advice_text(found()) + found()._repr_html_()).replace(",", "")
    amounts = [str(v) for v in heads["hh_income"].unique() if v >= 10_000]
    assert not [v for v in amounts if re.search(rf"\b{v}\b", shown)]


def test_text_is_not_too_wide() -> None:
    for advice in (found(), nothing()):
        assert max(map(len, advice_text(advice).split("\n"))) <= 120


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("advice")
    made = {"found": found(), "nothing": nothing(), "hostile": hostile()}
    return [write_advice(a, folder / f"{name}.html") for name, a in made.items()]


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 400])
def test_in_a_browser(browser: Any, pages: list[Path], width: int, scheme: str) -> None:
    assert [faults_in(browser, page, width, scheme) for page in pages] == [[] for _ in pages]
