"""Nothing of a record is in a report, in any form; and nothing small is in the version for people outside."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from confide.show.names import RISK_WORDS
from confide.show.report.groups import shown_groups
from confide.show.report.treatment import BASE, Treatment
from confide.show.report.view import View
from confide.study.outside_people import small_name
from confide.study.statement.checks import EVERYTHING
from tests.helpers.planted import (
    ALONE,
    FIVE,
    HOSTILE,
    LABEL,
    PAIR,
    SEED,
    TWELVE,
    datasets,
    everything,
    own,
    result,
    secrets,
    specs,
    tables,
)  # fmt: skip

DRAWN = BASE / 2


@pytest.mark.parametrize("name", ["inside.html", "outside.html"])
def test_no_report_holds_a_record(reports: Path, name: str) -> None:
    said = everything((reports / name).read_text(encoding="utf-8"))
    assert [s for s in secrets() if s in said] == []
    assert not re.search(r"(?<![\d.])987654321(?!\d)", said)


def test_the_search_would_find_a_record(inside: str) -> None:
    planted = inside.replace("<footer>", f"<footer>{secrets()[0]} 987654321.25")
    said = everything(planted)
    found = [s for s in secrets() if s in said]
    assert secrets()[0] in found
    assert "987654321.25" in found


def test_inside_small_towns_are_named_in_no_group(inside: str) -> None:
    without_plans = re.sub(r"<pre.*?</pre>", "", inside, flags=re.S)
    said = everything(without_plans)
    assert ALONE not in said
    assert PAIR not in said
    assert FIVE in said
    assert small_name(3) in said


def test_outside_towns_of_fewer_than_ten_are_not_named(outside: str) -> None:
    said = everything(outside)
    assert [t for t in (ALONE, PAIR, FIVE) if t in said] == []
    assert TWELVE in said


def test_outside_holds_no_seed_file_or_private_part(outside: str, inside: str) -> None:
    said = everything(outside)
    hidden = [str(SEED), f"{SEED:,}", LABEL, "agency-file", "very-private", "force", "31337", "31,337", "why not"]
    assert [h for h in hidden if h in said] == []
    assert str(SEED) in inside
    assert LABEL in inside


def test_outside_no_exact_risk_is_said(outside: str) -> None:
    """Means that are no round numbers appear in no way of writing them; places in pixels aside."""
    words = re.sub(r"<(script|noscript|style|svg).*?</\1>", "", own(outside), flags=re.S)
    for told in (r"<text[^>]*>([^<]*)</text>", r'aria-label="([^"]*)"'):
        words += " ".join(re.findall(told, everything(outside)))
    risks = result().summary().filter(pl.col("kind") == "risk").select("mean", "low", "high").rows()
    odd = {v for row in risks for v in row if v is not None and abs(v - round(v)) > 0.01 and v > 2}
    assert len(odd) > 10
    forms = {form for v in odd for form in (f"{v:.1f}", f"{v:.2f}", f"{v:.6g}")}
    assert [f for f in forms if re.search(rf"(?<!\d){re.escape(f)}(?!\d)", words)] == []
    drawn = {
        v
        for both in specs(outside).values()
        for row in datasets(both)
        for k, v in row.items()
        if isinstance(v, float) and k not in ("tx", "ty")
    }
    telling = [v for v in odd if abs(v - 10 * round(v / 10)) > 1e-4 * v]  # next to a multiple of ten nothing is told
    assert len(telling) > 10
    assert [v for v in telling for d in drawn if abs(v - d) < 1e-4 * v] == []


def test_outside_counts_of_people_are_rounded_in_every_table(outside: str) -> None:
    """In each column that counts people: multiples of ten, or words."""
    of_people = (
        "people",
        *RISK_WORDS.values(),
        *result().intruders,
    )
    seen = 0
    for header, *rows in tables(outside):
        for k, name in enumerate(header):
            if name not in of_people and not re.fullmatch(r"[\d.]+ to [\d.]+", name):
                continue
            for row in rows:
                seen += 1
                counts = re.sub(r"[\d.]+%", "", row[k].replace("no interval: one repeat", ""))
                assert re.fullmatch(r"[^%]*(\d\d?%|100%)?[^%]*", row[k])  # shares are whole percents
                for number in re.findall(r"[\d.,]*\d", counts):
                    assert float(number.replace(",", "")) % BASE == 0, (name, row[k])
    assert seen > 40


def test_outside_counts_of_people_are_rounded_in_every_chart(outside: str) -> None:
    seen = 0
    view = View.of(result(), outside=True)
    top = view.treat.count(next(iter(view.points.values())).filter(plan=EVERYTHING)["risk"][0])
    places = {view.points[m][c][k] for m in view.points for c in ("risk", "risk_low", "risk_high")
              for k in range(len(view.plans))} - {None}  # fmt: skip
    assert all(v == DRAWN or v % BASE == 0 for v in places)
    assert top == DRAWN or top % BASE == 0
    for name, both in specs(outside).items():
        for row in datasets(both):
            if row.get("targets") is not None:
                seen += 1
                assert row["targets"] == DRAWN or row["targets"] % BASE == 0, name
            if "expected" in name and row.get("at") is not None:
                seen += 1
                assert row["at"] == DRAWN or row["at"] % BASE == 0
    assert seen > 40


def test_charts_hold_few_rows(inside: str, outside: str) -> None:
    for text in (inside, outside):
        for both in specs(text).values():
            for spec in both.values():
                assert all(len(rows) <= 500 for rows in spec.get("datasets", {}).values())


def test_names_from_data_are_text_and_never_code(inside: str, outside: str) -> None:
    for text in (inside, outside):
        assert HOSTILE not in text
        assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
        assert "\\u003c/script\\u003e\\u003cb\\u003ebold" in text
        assert "</script><b>" not in text
        assert "<b>bold" not in text
        # Two scripts that run, and data.
        kinds = re.findall(r"<script([^>]*)>", text)
        assert kinds.count("") == 2
        assert set(kinds) == {"", ' type="application/json"'}


@pytest.mark.parametrize("outside_too", [False, True])
def test_small_groups_are_merged(outside_too: bool) -> None:
    view = View.of(result(), outside_too)
    towns = shown_groups(view).filter((pl.col("variable") == "town") & (pl.col("plan") == "release everything"))
    sizes = dict(towns.select("level", "targets").rows())
    exact = dict(result().groups.filter(
        (pl.col("variable") == "town") & (pl.col("plan") == "release everything") & (pl.col("intruder") == view.worst)
    ).select("level", "targets").rows())  # fmt: skip
    assert (exact[ALONE], exact[PAIR], exact[FIVE]) == (1, 2, 5)
    if outside_too:
        assert small_name(10) not in sizes  # eight people together are still few
        assert set(sizes) == set(exact) - {ALONE, PAIR, FIVE}
    else:
        assert sizes[small_name(3)] == 3
        assert sum(sizes.values()) == sum(exact.values())


def test_a_group_that_is_small_in_one_plan_is_named_in_none() -> None:
    from dataclasses import replace

    known = result()
    worst = View.of(known).worst
    fewer = known.groups.with_columns(
        targets=pl.when((pl.col("plan") == "broad ages") & (pl.col("level") == TWELVE)).then(9.0).otherwise("targets")
    )
    view = View.of(replace(known, groups=fewer), True)
    assert view.worst == worst
    assert TWELVE in set(shown_groups(View.of(known, True))["level"])
    assert TWELVE not in set(shown_groups(view)["level"])


@pytest.mark.parametrize(
    ("x", "text", "place"),
    [
        (0, "fewer than 10", 5),
        (9.99, "fewer than 10", 5),
        (10, "10", 10),
        (14.9, "10", 10),
        (15, "20", 20),
        (1e6 + 4, "1,000,000", 1e6),
    ],
)
def test_treatment_outside(x: float, text: str, place: float) -> None:
    t = Treatment(True)
    assert t.people(x) == text
    assert t.count(x) == place


def test_treatment_of_unknown_and_endless_numbers() -> None:
    for t in (Treatment(False), Treatment(True)):
        assert t.people(None) == t.people(float("nan")) == t.measure(None) == "unknown"
        assert t.count(None) is None
        assert t.value(float("inf")) is None
        assert t.measure(float("inf")) == "infinite"
        assert t.interval(None, None, None) == "unknown"
    assert Treatment(True).interval(3.0, 1.0, 9.0) == "fewer than 10"
    assert Treatment(False).interval(3.0, None, None) == "3 (no interval: one repeat)"
    assert Treatment(False).interval(3.0, 3.0, 3.0) == "3"
    assert Treatment(True).interval(30.0, 8.0, 52.0) == "30 (fewer than 10 to 50)"


def test_data_in_specs_are_json_without_angle_brackets(inside: str, outside: str) -> None:
    for text in (inside, outside):
        blocks: list[Any] = re.findall(r'<script type="application/json">(.*?)</script>', own(text), re.S)
        assert len(blocks) > 5
        for block in blocks:
            assert not set(block) & set("<>&")
            assert set(json.loads(block)) == {"wide", "narrow"}
