"""What a report holds: the sections, their numbers and words, and how the file is written."""

from __future__ import annotations

import base64
import functools
import hashlib
import html
import json
import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import confide as cf
from confide.show.report import report_charts, save_report_folder, write_report
from confide.show.report.document import study_document
from confide.show.report.figures import slug, utility_figures
from confide.show.report.maps import map_drawings
from confide.show.report.sections import page_words
from confide.show.report.verdict import worded
from confide.show.report.view import View
from confide.show.report.words import columns_of, intruder_words, measure_words, plan_words
from confide.study.result import StudyResult
from tests.helpers.planted import HOSTILE, LIMIT, QUOTED, everything, frame, own, result, secrets, specs, tables

SECTIONS = ["Where it lies among the plans", "Who stays at risk?", "What analysts lose", "Can the risk be believed?",
            "The rule and the choice", "Decision"]  # fmt: skip
METHODS = ["What was compared", "What the numbers mean", "All plans", "Risk against the other measures",
           "What the parameters do", "How sure an intruder can be", "Utility of every plan", "What theory says",
           "How to reproduce"]  # fmt: skip


@functools.cache
def small() -> StudyResult:
    """One plan without random steps, one intruder, one measure."""
    plan = cf.Plan([cf.Recode("age", width=20)], identifiers=["person"], drop=["pay_code"])
    who = {"neighbour": cf.Intruder(knows=["sex", "age"])}
    return cf.Study(frame(), {"ages": plan}, who, ["entropy"], repeats=2, seed=3).run(progress=False)


def read(text: str) -> str:
    """The words of a page."""
    words = re.sub(r"<(script|style|noscript).*?</\1>", " ", own(text), flags=re.S)
    return html.unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", words)))


@pytest.mark.slow
def test_sections_are_in_the_order_of_reading(inside: str, outside: str) -> None:
    for text in (inside, outside):
        assert re.findall(r"<h2>(.*?)</h2>", own(text)) == [*SECTIONS, *METHODS]
        anchors = re.findall(r'<li><a href="#([^"]+)"', text)
        assert anchors == re.findall(r'<section id="([^"]+)"', text)[len(SECTIONS) :]


def test_the_page_is_one_small_file_that_asks_for_nothing(reports: Path, inside: str, outside: str) -> None:
    for name, text in (("inside.html", inside), ("outside.html", outside)):
        assert (reports / name).stat().st_size < 2_500_000
        assert re.findall(r'(?:src|href)="(?!#|data:)[^"]*"', own(text)) == []
        assert "@import" not in own(text)
        assert "url(" not in own(text)


def test_pages_carry_the_licences_of_what_draws_them(inside: str, outside: str, tmp_path: Path) -> None:
    """BSD-3 and ISC ask that their notices go with every copy; Vega's code in the page holds none."""
    import altair as alt
    import polars as pl

    from confide.show.charts.drawing import save_chart

    chart = alt.Chart(pl.DataFrame({"a": [1]})).mark_point().encode(x="a:Q")
    alone = save_chart(chart, tmp_path / "chart.html").read_text(encoding="utf-8")
    for text in (inside, outside, html.escape(alone, quote=True)):
        for notice in (
            "University of Washington Interactive Data Lab",
            "Redistributions in binary form must reproduce the above copyright notice",
            "THIS SOFTWARE IS PROVIDED BY THE COPYRIGHT HOLDERS AND CONTRIBUTORS &#34;AS IS&#34;",
            "Mike Bostock",
        ):
            assert notice in text.replace("&quot;", "&#34;")


def test_only_the_two_scripts_may_run(inside: str) -> None:
    policy = html.unescape(re.findall(r'Content-Security-Policy" content="([^"]+)"', inside)[0])
    scripts = re.findall(r"<script>(.*?)</script>", inside, re.S)
    hashes = [base64.b64encode(hashlib.sha256(s.encode()).digest()).decode() for s in scripts]
    assert len(scripts) == 2
    assert re.findall(r"'sha256-([^']+)'", policy) == hashes
    assert policy.startswith("default-src 'none'")
    assert "unsafe-eval" not in policy
    assert "unsafe-inline" not in policy.split("style-src")[0]


def test_every_figure_has_words_a_caption_and_numbers(inside: str, outside: str) -> None:
    for text in (inside, outside):
        figures = re.findall(r"<figure .*?</figure>", text, re.S)
        assert len(figures) >= 11
        for figure in figures:
            alt = html.unescape(re.findall(r'role="img" aria-label="([^"]+)"', figure)[0])
            assert len(alt) > 40
            assert re.search(r"\d", alt)
            if "-near" in figure.partition(">")[0] or 'id="shares-' in figure:
                continue  # its numbers are those of the whole map; or they stand beside the bars
            assert "<details><summary>The numbers" in figure
            assert len(re.findall(r"<tr[ >]", figure)) >= 3
            if "data-chart" in figure:
                assert len(re.findall(r"<figcaption>(.+?)</figcaption>", figure, re.S)[0]) > 20


def test_the_table_has_the_numbers_of_the_summary(inside: str) -> None:
    table = next(t for t in tables(inside) if t[0][:3] == ["plan", "worst intruder", "expected right matches"])
    assert [row[0] for row in table[1:]] == ["release everything", *result().plans]
    points = result().frontier("expected_matches", "hellinger")
    for row, point in zip(table[1:], points.iter_rows(named=True), strict=True):
        assert row[1] == point["worst_intruder"]
        shown = re.findall(r"[\d,]*\.?\d+", row[2])
        means = [point["risk"], point["risk_low"], point["risk_high"]]
        expected = [*(means if means[1] != means[2] else means[:1]), 100 * point["risk"] / 240]
        assert [float(s.replace(",", "")) for s in shown] == pytest.approx(expected, abs=0.051)
    front = {r[0] for r in points.filter("on_frontier").select("plan").rows()}
    assert {row[0] for row in table[1:] if row[-1] == "yes" or "(Hellinger)" in row[-1]} == front


def test_the_choice_and_its_reason(inside: str, outside: str) -> None:
    chosen = result().choose({"expected_matches": LIMIT}, by="ci_overlap")
    assert f"Yes, within the stated limits: as “{chosen.plan}”." in read(inside)
    assert re.sub(r"\s+", " ", worded(chosen.reason)) in read(inside)
    assert "Expected right matches at most 210 (88%)." in read(inside)
    assert f"Yes, within the limits that were set: as “{chosen.plan}”." in read(outside)
    # One of the plans touches one person, so its place among the others is not told.
    assert "it has the best overlap" not in read(outside)
    by = "It was chosen by limits that were set on expected right matches, and by overlap of confidence intervals."
    assert by in read(outside)
    assert worded(chosen.reason) not in read(outside)
    assert "at most" not in read(outside)
    assert "210" not in re.sub(r"<table.*?</table>", "", own(outside).partition('id="map"')[0], flags=re.S)


def test_without_a_rule_the_page_says_so() -> None:
    words = page_words(View.of(result()))["verdict"]
    assert words.lead == "No rule was stated, so no plan is chosen."
    on = result().frontier("expected_matches", "hellinger").filter("on_frontier")["plan"].to_list()
    ends = [p for p in on if p != "release everything"]
    assert any(p in words.rest[0] for p in ends)
    named = page_words(View.of(result(), choice="broad ages"))
    assert named["verdict"].lead == "Chosen: “broad ages”. No rule was stated."
    assert named["rule"][0] == "No rule was stated."


def test_plans_and_intruders_in_words(inside: str, outside: str) -> None:
    for text in (inside, outside):
        words = read(text)
        assert "town: exchange values between randomly paired records. rate 0.1" in words
        assert "evaluated for rate=0.1, rate=0.3, rate=0.5" in words
        assert "income: add normal noise with mean 0 to numbers. sd 90,000" in words
        assert "Not released: person (identifying); pay_code." in words
        assert "Knows town, sex and age. Knows that the target is in the release." in words
        assert "Does not know whether the target is in the file; assumes" in words
        assert "log1p(income) ~ age + sex + C(town)" in words
    assert "mapping stated, not shown" in read(outside)


def test_charts_are_drawn_with_their_numbers(inside: str) -> None:
    """Pictures made without a browser hold the names and numbers; one that failed would be empty."""
    names = ["sweep-swap-expected-right-matches", "distribution", "utility-hellinger", "theory-noise", "theory-swap"]
    figures = dict(re.findall(r'<figure id="([^"]+)"(.*?)</figure>', inside, re.S))
    said = {name: html.unescape(text) for name, text in figures.items()}
    coded = {k: base64.b64decode(c[0]).decode() for k, t in figures.items() if (c := re.findall(r'base64,([^"]+)"', t))}
    said |= {name: html.unescape(text) for name, text in coded.items()}
    assert set(names) <= set(coded)
    assert {"map-hellinger", "map-ci-overlap", "map-ci-overlap-near", "groups-town", "groups-age"} <= set(said)
    assert "limit: 210 (88%)" in said["map-ci-overlap"]
    assert "neighbour" in said["sweep-swap-expected-right-matches"]
    assert "0.2 to 0.5" in said["distribution"]
    assert HOSTILE in said["groups-town"]
    assert re.search(r">over \d+<", said["groups-age"])
    assert all("broad ages" in said[n] for n in ("distribution", "utility-hellinger"))
    value = result().summary().filter((pl.col("plan") == "broad ages") & (pl.col("measure") == "hellinger"))["mean"][0]
    assert f"{value:.4g}" in said["utility-hellinger"]


def test_the_document_states_the_same_study(tmp_path: Path) -> None:
    text, lost = study_document(result())
    assert lost == []
    frame().write_csv(tmp_path / "file.csv")
    (tmp_path / "study.json").write_text(json.dumps(json.loads(text) | {"data": "file.csv"}), encoding="utf-8")
    again = cf.Study.load(tmp_path / "study.json")
    assert again.seed == result().info.seed
    assert {c.name: c.plan.to_dict() for c in again.candidates} == {k: p.to_dict() for k, p in result().plans.items()}
    assert [m.name for m in again.measures] == [m.name for m in result().measures]
    assert {k: w.knows for k, w in again.intruders.items()} == {k: w.knows for k, w in result().intruders.items()}


@pytest.mark.slow
def test_the_whole_folder(tmp_path: Path) -> None:
    made = save_report_folder(small(), tmp_path / "new" / "study")
    place = tmp_path / "new" / "study"
    names = {str(p.relative_to(place)) for p in made}
    charts = set(report_charts(small()))
    assert {"distribution", "groups-sex", "groups-age", "map-entropy", "utility-entropy"} <= charts
    assert {c.partition("-")[0] for c in charts} <= {
        "distribution",
        "groups",
        "map",
        "utility",
        "shares",
        "calibration",
    }
    pictures = {f"charts/{c}{k}" for c in charts for k in (".png", ".svg")}
    assert names == {"report.html", "outside/report.html", *pictures}
    assert {str(p.relative_to(place)) for p in place.rglob("*") if p.is_file()} == names
    assert (place / "charts" / "map-entropy.png").read_bytes().startswith(b"\x89PNG")
    assert "ages" in (place / "charts" / "map-entropy.svg").read_text(encoding="utf-8")
    small().save(place)
    for file in (f for f in place.rglob("*") if f.suffix in (".svg", ".csv", ".html")):
        said = file.read_text(encoding="utf-8")
        said = everything(said) if file.suffix == ".html" else html.unescape(said)
        assert [v for v in secrets() if v in said] == [], file.name
    with pytest.raises(cf.InputError, match="exists and is not overwritten"):
        save_report_folder(small(), place)
    with pytest.raises(cf.InputError, match="is a file, but a folder"):
        save_report_folder(small(), place / "report.html")
    said = read((place / "report.html").read_text(encoding="utf-8"))
    assert "No rule was stated, so no plan is chosen." in said
    assert "What theory says" not in said
    assert "What the parameters do" not in said


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"path": "report.pdf"}, "A report is an HTML file"),
        ({"path": "there/is/none/report.html"}, "does not exist"),
        ({"choice": "broad age"}, 'Did you mean "broad ages"'),
        ({"choice": 3}, "choice names no plan"),
        ({"outside": "yes"}, "outside is true"),
    ],
)
def test_mistakes(tmp_path: Path, change: dict[str, Any], match: str) -> None:
    asked: dict[str, Any] = {"path": "report.html"} | change
    with pytest.raises(cf.InputError, match=match):
        write_report(result(), tmp_path / asked.pop("path"), **asked)
    assert list(tmp_path.iterdir()) == []


def test_many_plans_are_picked_from() -> None:
    """With a long sweep charts show the plans that matter, and the table all."""
    many = pl.concat([
        result().frame,
        *(result().frame.filter(pl.col("plan") == "swap [rate=0.5]").with_columns(
            plan=pl.lit(f"swap [rate={k / 100}]"), value=pl.lit(k / 100)) for k in range(51, 81)),
    ])  # fmt: skip
    from dataclasses import replace

    plans = {**result().plans, **{p: result().plans["broad ages"] for p in many["plan"] if p.startswith("swap")}}
    view = View.of(replace(result(), frame=many, plans=plans), choice="swap [rate=0.6]")
    assert len(view.plans) == 36
    assert len(view.listed) == 20
    assert {"release everything", "swap [rate=0.6]", QUOTED, "broad ages"} <= set(view.coloured)
    assert len(view.coloured) == 6
    assert len(page_words(view)["table"].rows) == 36


def test_numbers_that_are_not_known() -> None:
    """An intruder who could not attack and a measure that could not be computed leave words, not errors."""
    from dataclasses import replace

    lost = result().frame.with_columns(
        *(pl.when(pl.col("plan") == "broad ages").then(None).otherwise(pl.col(c)).alias(c)
          for c in ("found", "found_share", "expected_matches", "unique_matches", "hellinger"))
    )  # fmt: skip
    view = View.of(replace(result(), frame=lost))
    table = page_words(view)["table"]
    row = next(r for r in table.rows if r[0] == "broad ages")
    assert "unknown" in row[2]
    assert row[-1] in ("no", "for overlap of confidence intervals")
    assert [d.name for m in ("hellinger", "ci_overlap") for d in map_drawings(view, m)] == [
        "map-hellinger", "map-ci-overlap"]  # fmt: skip
    assert len(utility_figures(view)) == 2


def test_words_of_intruders_and_measures() -> None:
    assert "Gives all candidates the same probability." in intruder_words(
        cf.Intruder.at("super_naive", knows=["a"]), False
    )
    exact = cf.Intruder(knows=["a"], membership="in_file", others="average", errors={"a": 0.1})
    said = " ".join(intruder_words(exact, False))
    assert "was surveyed" in said
    assert "reasons with a guess at the plan" in said
    assert "May be mistaken about a." in said
    people = cf.Intruder(knows=["a"], membership=cf.Unsure(total=5000))
    assert "5,000" in " ".join(intruder_words(people, False))
    assert "5,000" not in " ".join(intruder_words(people, True))
    means = measure_words(cf.Means(["age", "income"]), True, frozenset({"age", "income"}))
    assert means["range"] == "Lower is better, between 0 and 1; 0 where the release equals the original."
    assert means["settings"] == "variables age and income"


def test_words_of_plans_outside_hold_no_labels() -> None:
    plan = cf.Plan([cf.Recode("town", mapping={"Secretville": "B"}), cf.Noise(["x", "y"], sd=3.0, keep_zeros=True)])
    columns = columns_of([plan], [])
    outside, inside = plan_words(plan, True, columns), plan_words(plan, False, columns)
    assert "Secretville" not in str(outside)
    assert outside["steps"][1]["sentence"] == "x and y: add normal noise with mean 0 to numbers."
    assert ("sd", "3") in outside["steps"][1]["parameters"]
    assert ("keep zeros", "yes") in inside["steps"][1]["parameters"]


def test_names_of_files(inside: str) -> None:
    assert slug("a/../b: <c>") == "a-b-c"
    assert slug("年齢")
    assert all(re.fullmatch(r"[a-z0-9-]+", name) for name in specs(inside))


def test_specs_are_for_wide_and_narrow_pages(inside: str) -> None:
    for name, both in specs(inside).items():
        assert set(both) == {"wide", "narrow"}, name
        assert "title" not in both["wide"]
        assert both["narrow"]["width"] <= 320 < both["wide"]["width"]
