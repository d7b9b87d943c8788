"""A stranger with the released file and the outside report solves for one person: nothing in the report helps.

The strongest form: two files that differ in what the release hides of one person have the very same report.
"""

from __future__ import annotations

import base64
import functools
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import confide as cf
from confide.core.registry import known
from confide.measure.utility.registry import as_measure
from confide.measure.utility.traces import Trace
from confide.show.names import said
from confide.show.report.figures import Drawing, Figure, slug
from confide.show.report.page import _every, _picture, _spec
from confide.show.report.sections import figure_sections, page_words
from confide.show.report.treatment import Treatment
from confide.show.report.view import View
from confide.study.outside import Published, figure_rule, published
from confide.study.result import StudyResult
from tests.helpers.planted import datasets, own

ROWS, LIMIT = 300, 200_000
NEEDS: dict[str, dict[str, Any]] = {
    "ci_overlap": {"formula": "income ~ age"}, "coefficient_difference": {"formula": "income ~ age"},
    "inverse_mse": {"estimates": ["mean(income)"]},
}  # fmt: skip
ONE_PERSON = ("topcode of one", "merge of one", "both")


def people(giant: float, town: str) -> pl.DataFrame:
    """One person over the limit, one in a town of its own; else nobody differs between two such files."""
    rng = np.random.default_rng(11)
    income = np.round(rng.lognormal(10, 0.5, ROWS), 0)
    income[0] = giant
    towns = [town, *(("North", "South", "West")[i % 3] for i in range(ROWS - 1))]
    sex = [("f", "m")[i * 7 % 3 % 2] for i in range(ROWS)]
    return pl.DataFrame({"income": income, "age": rng.integers(18, 90, ROWS), "town": towns, "sex": sex})


@functools.cache
def studied(giant: float, town: str) -> StudyResult:
    """Plans that touch one person beside others, and every measure of the registry."""
    top, merge = cf.Topcode("income", at=LIMIT), cf.Recode("town", mapping={town: "North"})
    plans: dict[str, Any] = {
        "topcode of one": cf.Plan([top]), "merge of one": cf.Plan([merge]), "both": cf.Plan([top, merge]),
        "swap": cf.Plan([cf.Swap("sex", rate=0.4)]),
        "limits": cf.Sweep(lambda at: cf.Plan([cf.Topcode("income", at=at)]), at=[LIMIT, 2 * LIMIT, 3 * LIMIT]),
    }  # fmt: skip
    asked = [as_measure({"measure": k, **NEEDS.get(k, {})}) for k in known("measure")]
    who = {"neighbour": cf.Intruder(knows=["sex", "age"]), "tax office": cf.Intruder(knows=["sex"])}
    return cf.Study(people(giant, town), plans, who, asked, repeats=2, seed=5).run(progress=False)


@functools.cache
def parts(giant: float, town: str) -> dict[str, Any]:
    """The charts of the outside report by name, each with its specifications, words and numbers."""
    view = View.of(studied(giant, town), True)
    return {f.name: drawn(f) for f in _every(view, figure_sections(view))}


def drawn(f: Figure | Drawing) -> dict[str, Any]:
    """All of a figure."""
    if isinstance(f, Drawing):
        return {"wide": f.wide.standalone(), "narrow": f.narrow.standalone(), "caption": f.caption, "table": f.table}
    return {"wide": _spec(f.wide), "narrow": _spec(f.narrow), "alt": f.alt, "caption": f.caption, "table": f.table}


def words(giant: float, town: str, outside: bool = True) -> dict[str, Any]:
    """All else on the page."""
    return page_words(View.of(studied(giant, town), outside))


FIRST, SECOND = (1_228_500.0, "Quixotville"), (9_876_500.0, "Zedburg")


@pytest.mark.slow
def test_what_the_release_hides_of_one_person_changes_nothing_in_the_report() -> None:
    """Every measure, every chart and every word."""
    for plan in ONE_PERSON:
        one, two = (
            studied(*file).plans[plan].protect(people(*file), seed=1, draws="shared").data for file in (FIRST, SECOND)
        )
        assert plan == "merge of one" or one["income"].equals(two["income"])
        assert plan == "topcode of one" or one["town"].equals(two["town"].cast(one.schema["town"]))
    assert words(*FIRST) == words(*SECOND)
    assert parts(*FIRST) == parts(*SECOND)
    assert words(*FIRST, False)["table"] != words(*SECOND, False)["table"]


def test_figures_of_plans_that_touch_one_person_are_withheld_for_every_measure() -> None:
    outside, inside = (words(*FIRST, o)["table"] for o in (True, False))
    by_plan, exact = ({r[0]: dict(zip(t.header, r, strict=True)) for r in t.rows} for t in (outside, inside))
    told = [c for c in outside.header if c.endswith("is better)")]
    lost, means, moved = (f"{said(m)} (lower is better)" for m in ("entropy", "means", "hellinger"))
    assert len(told) == len(known("measure"))
    for plan in ("topcode of one", "limits [at=400000]"):
        for column in told:
            assert by_plan[plan][column] == "withheld", (plan, column)
            assert exact[plan][column] not in ("withheld", "unknown")
    assert by_plan["merge of one"][lost] == "withheld"
    assert by_plan["swap"][means] == "0"
    assert by_plan["swap"][moved] == "near 0"
    assert by_plan["release everything"][means] == "0"


def test_no_chart_has_a_place_for_what_is_withheld() -> None:
    """Of the plans that touch one person there is no mark by any measure, and the caption says so."""
    charts, seen = parts(*FIRST), 0
    for name, chart in charts.items():
        if not name.startswith(("utility-", "map-")) or name.endswith("-near"):
            continue
        assert (
            "Withheld, since with the release they would tell about fewer than 10 people: topcode" in chart["caption"]
        )
        if name.startswith("map-"):  # a dot for each plan with a figure, and one for the ring of the choice
            seen += 1
            rows = [r for r in chart["table"].rows if r[3] != "withheld"]
            assert chart["wide"].count("<circle") <= len(rows), name
            assert not {"topcode of one", "limits [at=400000]"} & set(re.findall(r">([^<>]+)</text>", chart["wide"]))
            continue
        for row in datasets([chart["wide"], chart["narrow"]]):
            if row.get("plan") in ("topcode of one", "limits [at=400000]"):
                seen += 1
                assert [row.get(k) for k in ("at", "low", "high", "y", "y_low", "y_high")] == [None] * 6, name
                assert row.get("shown", "withheld").endswith("withheld")
    assert seen >= len(known("measure"))
    assert [n for n in charts if n.startswith("sweep-limits")] == [
        f"sweep-limits-{slug(said(View.of(studied(*FIRST)).risk))}"
    ]


def test_pictures_have_no_more_points_than_figures_are_shown() -> None:
    wide = parts(*FIRST)["utility-means"]["wide"]
    svg = base64.b64decode(_picture(wide).partition("base64,")[2]).decode()
    known = {r["plan"] for r in datasets(wide) if r.get("at") is not None}
    assert known == {"release everything", "swap", "merge of one"}
    assert len(re.findall(r'aria-roledescription="(?:point|circle)"', svg)) == len(known)


def test_nothing_says_what_the_release_hides() -> None:
    text = f"{words(*FIRST)} {json.dumps(parts(*FIRST), default=str)}"
    for secret in ("Quixotville", "1228500", "1,228,500", "1.2285"):
        assert secret not in text


def solved(figure: float, data: pl.DataFrame, at: float) -> float:
    """The income of the one person over a topcode, from the released file and a printed difference of means.

    With x the unknown, n rows, and sums S, Q of the others: |at - x| / n = figure * sqrt((Q + x^2)/n - ((S + x)/n)^2).
    """
    released = data["income"].clip(upper_bound=at).to_numpy()
    others = np.delete(released, released.argmax())
    xs = np.geomspace(at * 1.0001, at * 100, 200_000)
    n = len(released)
    sd = np.sqrt(((others**2).sum() + xs**2) / n - ((others.sum() + xs) / n) ** 2)
    return float(xs[np.abs((xs - at) / n / sd - figure).argmin()])


def test_the_stranger_of_the_issue() -> None:
    """Means of hh_income where a topcode touches one person: inside it can be solved, outside there is no figure."""
    heads = cf.demo("heads").head(3_000)
    heads = heads.with_columns(
        hh_income=pl.when(pl.int_range(pl.len()) == 17).then(1_228_500).otherwise(pl.col("hh_income").clip(0, 400_000))
    )
    at, who = 450_000, {"neighbour": cf.Intruder(knows=["sex", "race"])}
    plan = cf.Plan([cf.Topcode("hh_income", at=at)], identifiers=["id"])
    result = cf.Study(heads, {"topcode": plan}, who, [cf.Means("hh_income")], seed=1).run(progress=False)
    known = heads.select(income=pl.col("hh_income").cast(pl.Float64))
    figure = View.of(result).number("topcode", "means")["mean"]
    assert figure is not None
    assert solved(float(f"{figure:.3g}"), known, at) == pytest.approx(1_228_500, rel=0.02)
    assert View.of(result, True).number("topcode", "means") == {"mean": None, "low": None, "high": None}
    assert View.of(result, True).number_text("topcode", "means") == "withheld"


def test_one_giant_among_many_is_hidden_too() -> None:
    data = people(3e8, "North")
    plans = {"many": cf.Plan([cf.Topcode("income", at=30_000)]), "noise": cf.Plan([cf.Noise("income", sd=30_000.0)])}
    asked = [cf.Means("income"), cf.Variances("income")]
    result = cf.Study(data, plans, {"i": cf.Intruder(knows=["sex"])}, asked, seed=5).run(progress=False)
    assert (data["income"] > 30_000).sum() > 50
    shown = View.of(result, True)
    assert {shown.said("many", m.name) for m in asked} <= {"near 0", "withheld"}
    # The noise's variance is public, so this figure would give the original's, and with the topcoded file the giant.
    exact = View.of(result).number("noise", "variances")["mean"]
    assert exact is not None
    assert 0 < exact < 1e-3
    assert shown.said("noise", "variances") in ("near 0", "withheld")


def test_the_order_of_withheld_figures_is_not_told() -> None:
    view = View.of(studied(*FIRST), True)
    for m in view.result.measures:
        front = view.points[m.name].filter("on_frontier")["plan"].to_list()
        gone = {p for p, name in view.result.withheld if name == m.name}  # type: ignore[attr-defined]
        assert gone.isdisjoint(front), m.name
        assert gone.isdisjoint(view.points[m.name]["dominated_by"].drop_nulls())


def test_what_nobody_has_audited_is_withheld() -> None:
    result = replace(studied(*FIRST), audit=studied(*FIRST).audit.clear())
    found = published(result)
    assert {m for _, m in found.withheld} == {m.name for m in result.measures}
    assert found.frame.select(m.name for m in result.measures).null_count().sum_horizontal()[0] == (
        len(result.measures) * found.frame.height
    )


def test_only_what_is_published_can_be_seen_from_outside() -> None:
    with pytest.raises(TypeError, match="Published"):
        View(studied(*FIRST), Treatment(True))
    view = View.of(studied(*FIRST), True)
    assert isinstance(view.result, Published)
    assert view.result.details.is_empty()
    assert view.result.timings.is_empty()
    assert view.result.info.seed == 0


def test_every_count_in_what_is_published_is_coarse() -> None:
    found = published(studied(*FIRST), 20)
    for table in (
        found.distribution,
        found.groups,
        found.frame.select("targets", "expected_matches", "over_threshold"),
    ):
        values = [v for c in table.select(pl.col(pl.Float64)).get_columns() for v in c.drop_nulls()]
        assert values
        assert all(v == 10 or v % 20 == 0 for v in values)
    assert found.info.rows % 20 == 0


@pytest.mark.slow
def test_another_number_of_people(tmp_path: Path) -> None:
    plan, who = cf.Plan([cf.Swap("sex", rate=0.4)]), {"neighbour": cf.Intruder(knows=["sex", "age"])}
    small = cf.Study(people(*FIRST), {"swap": plan}, who, ["means"], seed=5).run(progress=False)
    text = own(small.report(tmp_path / "r.html", outside=True, fewest=50).read_text(encoding="utf-8"))
    assert "tells about fewer than 50 people" in text
    assert "fewer than 10" not in text
    for wrong in (2, 0, True, 7.5, "10"):
        with pytest.raises(cf.InputError, match="fewest is the smallest number"):
            small.report(tmp_path / "w.html", outside=True, fewest=wrong)  # type: ignore[arg-type]
    assert not (tmp_path / "w.html").exists()


def test_a_limit_that_is_the_largest_value_is_not_told() -> None:
    data = people(1_228_517.0, "North")
    plans = {
        "noise": cf.Plan([cf.Noise("income", sd=900.0, bounds=(0.0, 1_228_517.0))]),
        "swept": cf.Sweep(lambda top: cf.Plan([cf.Noise("income", sd=900.0, bounds=(0.0, top))]),
                          top=[1_228_517.0, 5e6]),
    }  # fmt: skip
    who = {"i": cf.Intruder(knows=["sex"])}
    result = cf.Study(data, plans, who, ["means"], seed=5).run(progress=False)
    said = str(page_words(View.of(result, True)))
    assert "1228517" not in said
    assert "1,228,517" not in said
    assert "swept, setting 1" in said
    assert "1,228,517" in str(page_words(View.of(result)))


@pytest.mark.parametrize(
    ("trace", "fewest", "unit"),
    [
        (None, 10, None),
        (Trace(9, 0.001, 1.0, 0.0), 10, None),
        (Trace(10, 0.001, 1.0, 0.0), 10, 0.001),
        (Trace(15, 0.001, 1.0, 0.0), 20, None),
        (Trace(500, 0.0013, 1.0, 0.0), 10, 0.002),
        (Trace(500, 0.0013, 1.0, 0.0), 100, 0.02),
        (Trace(500, 0.001, 1.0, 0.51), 10, None),
        (Trace(500, 0.3, 1.0, 0.0), 10, 0.5),
        (Trace(500, 0.6, 1.0, 0.0), 10, None),
        (Trace(500, None), 10, None),
        (Trace(None), 10, 0.0),
    ],
)
def test_the_rule(trace: Trace | None, fewest: int, unit: float | None) -> None:
    rule = figure_rule(cf.Hellinger(), trace, fewest, rows=1_000_000)
    assert (None if rule is None else rule.unit) == unit


def test_few_people_are_a_share_of_a_small_file() -> None:
    rule = figure_rule(cf.Hellinger(), Trace(100, 0.0), 10, rows=300)
    assert rule is not None
    assert rule.unit == 0.05
    assert rule.shown(0.1234) == 0.1
    assert rule.hides(0.02)
    assert not rule.hides(0.1234)
