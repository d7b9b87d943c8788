"""The page and the printout of a look: all that is promised, no record, nothing loaded, readable wide and narrow."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import confide as cf
from confide.show.look.estimates import estimates_picture
from confide.show.look.page import look_html
from confide.show.look.words import answer
from tests.helpers.page_checks import faults_in

KEYS = ["sex", "race", "marital", "age"]


@cache
def found() -> cf.Look:
    return cf.look(cf.demo("heads").head(3_000), keys=KEYS)


@cache
def hostile() -> cf.Look:
    people = (
        cf.demo("heads").head(600).with_columns(race=pl.col("race").cast(pl.String) + "<img src=x onerror=alert(1)>")
    )
    names = {"sex": "<b>sex</b>", "age": 'a"g,e\x1b[31m', "hh_income": "{{ 7 * 7 }}"}
    return cf.look(people.rename(names), keys=["<b>sex</b>", 'a"g,e\x1b[31m', "race"], sensitive="{{ 7 * 7 }}")


def test_sections_and_pictures() -> None:
    page = look_html(found())
    for anchor in (
        "alike",
        "intruders",
        "population",
        "sets",
        "sensitive",
        "groups",
        "roles",
        "doubts",
        "next",
        "terms",
    ):
        assert f'<section id="{anchor}">' in page
    assert len(re.findall(r"<figure ", page)) == 4 + 1 + 1 + 4
    assert "prefers-color-scheme: dark" in page
    assert len(page) < 200_000


def test_nothing_is_loaded_and_nothing_runs() -> None:
    page = look_html(found())
    assert "<script" not in page
    assert not re.findall(r'(?:src|href)="(?!#|data:,)', page)
    assert "default-src 'none'" in page


def test_names_and_values_cannot_break_out() -> None:
    page, text = look_html(hostile()), str(hostile())
    assert "<b>" not in page
    assert "<img" not in page
    assert "&lt;b&gt;sex&lt;/b&gt;" in page
    assert "{{ 7 * 7 }}" in page
    assert "\x1b" not in page + text


def test_every_doubt_is_printed_on_both() -> None:
    page, text = look_html(found()), " ".join(str(found()).split())
    for said in found().doubts:
        assert said in text
        assert said.split('"')[0][:60] in page
    assert "guessed" in text
    assert "Guessed, not confirmed" in page


def test_counts_stand_beside_shares() -> None:
    text = str(found())
    c = found().counted
    assert f"{c.alone:,}" in text
    assert f"({100 * c.alone / 3_000:.1f}%)" in text
    for word in ("alone (sample uniques)", "violate 3-anonymity", "expected re-identifications", "SUDA2", "tau1"):
        assert word in text


def test_no_record_and_no_small_group_is_shown() -> None:
    people = cf.demo("heads").head(500).with_columns(
        race=pl.when(pl.int_range(500) == 7).then(pl.lit("planted")).otherwise(pl.col("race").cast(pl.String)),
        hh_income=pl.when(pl.int_range(500) == 7).then(987_654_321).otherwise("hh_income"),
    )  # fmt: skip
    look = cf.look(people, keys=KEYS)
    shown = look_html(look) + str(look) + look._repr_html_() + str(look.to_dict())
    assert "planted" not in shown
    assert "987654321" not in shown.replace(",", "")


def test_the_answer_where_nobody_is_alone() -> None:
    look = cf.look(cf.demo("heads"), keys=["sex"], guess=False)
    assert answer(look)[0].startswith("Nobody is alone: everybody shares sex with at least 24,892 others.")
    page = look_html(look)
    assert 'class="good"' in page
    assert '<section id="sets">' not in page


def test_estimates_on_one_scale() -> None:
    drawn = estimates_picture([("a", 0.0, 0.0, 2.0), ("b", 3e7, None, None)], "Two.", narrow=True)
    assert drawn.words()[-1] == "30,000,000"


def test_text_is_not_too_wide() -> None:
    assert max(map(len, str(found()).split("\n"))) <= 120


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("looks")
    look = cf.look(cf.demo("heads"), keys=[*KEYS, "educ", "state"])
    return [result.save(folder / f"{name}.html") for name, result in {"look": look, "hostile": hostile()}.items()]


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 400])
def test_in_a_browser(browser: Any, pages: list[Path], width: int, scheme: str) -> None:
    assert [faults_in(browser, page, width, scheme) for page in pages] == [[] for _ in pages]
