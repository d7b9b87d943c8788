"""The R-U map: absolute axes, anchors, frontier, choice; what it holds is looked for in the drawing."""

from __future__ import annotations

import math
import re
from itertools import pairwise
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import confide as cf
from confide.core.errors import InputError
from confide.show.charts.drawing import save_chart
from confide.show.charts.map_chart import map_chart, staircase
from confide.show.charts.map_points import points_of
from confide.show.charts.map_scales import OUTSIDE, SCALES, RiskAxis, UtilityAxis, stretched, unstretched
from confide.study.tradeoff.choice import choose
from confide.study.tradeoff.frontier import frontier
from tests.helpers.fake_study import OTHER, PUBLISHED, as_plan, study_frame

OVERLAP, DISTANCE, MEANS = cf.RegressionOverlap("a ~ b"), cf.Hellinger(), cf.Means("age")
MATCHES = "expected_matches"
FRAME = study_frame(PUBLISHED)
SWEEP = {OTHER: as_plan(900.0, 1.0)} | {
    f"swap [rate={k / 10:g}]": {"risk": [900.0 - 80 * k - d for d in (0, 5, 9)], "u": [1 - 0.004 * k * k - d / 900 for d in (0, 5, 9)],
                                "sweep": "swap", "value": k / 10} for k in range(1, 11)
}  # fmt: skip


def svg(chart: object, folder: Path) -> str:
    return save_chart(chart, folder / "chart.svg", overwrite=True).read_text()


def has(picture: str, *labels: str) -> None:
    for label in labels:
        assert f">{label}<" in picture, label


def data_of(chart: object) -> list[list[dict]]:
    return list(chart.to_dict()["datasets"].values())  # type: ignore[attr-defined]


def drawn(chart: object) -> dict[str, dict]:
    """Points by plan."""
    return points_in(data_of(chart))


def points_in(held: list[list[dict]]) -> dict[str, dict]:
    rows = next(d for d in held if "worst intruder" in d[0] and OTHER in [r["plan"] for r in d])
    return {r["plan"]: r for r in rows}


def test_the_map_shows_names_anchors_ticks_limit_and_choice(tmp_path: Path) -> None:
    choice = choose(FRAME, [OVERLAP], {MATCHES: 500})
    picture = svg(map_chart(FRAME, MATCHES, OVERLAP, choice=choice), tmp_path)
    has(picture, "release nothing", OTHER, "recode age", "swap 10", "swap 30", "chosen: swap both", "all", "limit 500")
    has(picture, "1,000", "2,000", "0.8", "0.2", "Disclosure risk: expected right matches, square-root scale")
    has(picture, "Utility: overlap of confidence intervals (higher is better)")
    assert "Not drawn" not in picture


def test_points_stand_where_their_numbers_say() -> None:
    points = drawn(map_chart(FRAME, MATCHES, OVERLAP, scale="linear"))
    assert points["recode age"]["x"] == pytest.approx(1140 / 2543)
    assert points["recode age"]["y"] == pytest.approx(0.93)
    assert (points[OTHER]["x"], points[OTHER]["y"], points[OTHER]["shape"]) == (1.0, 1.0, "diamond")
    both = points["swap both"]
    assert both["x_low"] < both["x"] < both["x_high"]
    assert both["risk"].startswith("380 (95% interval 355.2 to 404.8")
    assert points["swap 30"]["beaten by"] == "swap both"
    assert points["swap 30"]["sure"] == 0.0
    turned = drawn(map_chart(FRAME, MATCHES, DISTANCE, scale="linear"))
    assert turned["recode age"]["y"] == pytest.approx(0.93)


def test_a_sweep_is_one_line_in_the_order_of_its_parameter(tmp_path: Path) -> None:
    names = [OTHER, *list(SWEEP)[:0:-1]]
    chart = map_chart(study_frame({n: SWEEP[n] for n in names}), MATCHES, OVERLAP)
    order = [n for n in drawn(chart) if n != OTHER]
    assert order == list(SWEEP)[1:]
    picture = svg(chart, tmp_path)
    has(picture, "swap, rate=1", "0.5")
    assert "swap, rate=0.1" in picture


def test_a_plan_that_cannot_be_drawn_is_named_and_equal_ones_share_a_name(tmp_path: Path) -> None:
    plans = {
        OTHER: as_plan(10.0, 1.0),
        "p": as_plan(5.0, 0.5),
        "q": as_plan(5.0, 0.5),
        "gone": {"risk": [1.0], "u": [None]},
    }
    picture = svg(map_chart(study_frame(plans), MATCHES, OVERLAP), tmp_path)
    has(picture, "p = q", "Not drawn, a number cannot be computed: gone.")


def test_one_plan_alone_and_many_plans(tmp_path: Path) -> None:
    alone = map_chart(study_frame({OTHER: as_plan(10.0, 1.0)}), MATCHES, OVERLAP)
    has(svg(alone, tmp_path), OTHER, "release nothing")
    many = {OTHER: as_plan(100.0, 1.0)} | {f"plan {k}": as_plan(float(k), 0.5 - k / 400) for k in range(1, 60)}
    picture = svg(map_chart(study_frame(many), MATCHES, OVERLAP, choice="plan 7"), tmp_path)
    has(picture, "chosen: plan 7", "plan 1")
    assert ">plan 40<" not in picture


def test_names_are_whole_and_no_line_leads_to_them(tmp_path: Path) -> None:
    """Where points crowd, or a name is long, a letter stands for it, and the subtitle says for which."""
    long = "recode age in fives, swap race and marital status, perturb and topcode the value of the home"
    crowd = {f"plan number {k} of a crowd": as_plan(50.0 + k / 9, 0.5 + k / 900) for k in range(14)}
    chart = map_chart(study_frame({OTHER: as_plan(100.0, 1.0), long: as_plan(20.0, 0.4)} | crowd), MATCHES, OVERLAP)
    subtitle = " ".join(chart.to_dict()["title"]["subtitle"])
    picture = svg(chart, tmp_path)
    assert "…" not in picture
    told = re.sub(r"\s+", " ", subtitle + " " + " ".join(re.findall(r">([^<]+)</text>", picture)))
    for name in (long, *crowd):
        assert name in told, name
    assert not any("px" in r for rows in data_of(chart) for r in rows)


def test_infinite_ends_have_a_place(tmp_path: Path) -> None:
    ratio = cf.Propensity("age")
    frame = FRAME.with_columns(
        pmse_ratio=1 / FRAME["ci_overlap"] - 1, inverse_mse=1 / (1.0000001 - FRAME["ci_overlap"])
    )
    picture = svg(map_chart(frame, MATCHES, ratio), tmp_path)
    words = "how well records are told apart (pMSE, 1 by chance)"
    has(picture, "∞", f"Utility: {words} (lower is better, drawn as 1 / (1 + loss)), square-root scale")
    free = cf.InverseMse(["mean(age)"], relative=False)
    has(svg(map_chart(frame, MATCHES, free), tmp_path), "∞", "10", "recode age")
    axis = UtilityAxis(ratio, "linear")
    assert [axis.at(v) for v in (0.0, 1.0, 3.0, math.inf)] == [1.0, 0.5, 0.25, 0.0]
    up = UtilityAxis(free, "linear")
    assert [up.at(v) for v in (0.0, 1.0, 3.0, math.inf)] == [0.0, 0.5, 0.75, 1.0]


@pytest.mark.parametrize("scale", SCALES)
def test_scales_keep_ends_and_order(scale: str) -> None:
    shares = np.linspace(0, 1, 50)
    places = [stretched(s, scale) for s in shares]
    assert (places[0], places[-1]) == (0.0, pytest.approx(1.0))
    assert (np.diff(places) > 0).all()
    assert [unstretched(p, scale) for p in places] == pytest.approx(shares)
    ticks = RiskAxis(2543.0, scale).ticks()
    assert ticks[0] == (0.0, "0")
    assert all(b[0] - a[0] >= 0.07 for a, b in pairwise(ticks))
    assert RiskAxis(0.0, scale).at(0.0) == 0.0


def test_more_risk_than_everything_is_at_the_edge_and_moves_nothing(tmp_path: Path) -> None:
    after = study_frame({**PUBLISHED, "over": as_plan(9999.0, 0.2)})
    chart = map_chart(after, MATCHES, OVERLAP)
    points = drawn(chart)
    assert (points["over"]["x"], points["over"]["shape"]) == (OUTSIDE, "triangle-right")
    assert "Triangle: more risk than" in svg(chart, tmp_path)
    del points["over"]
    other = map_chart(FRAME, MATCHES, OVERLAP)
    assert points == drawn(other)
    a, b = (c.to_dict()["layer"][0]["layer"] for c in (chart, other))
    for channel in "xy":
        kept = [[layer["encoding"][channel][part] for part in ("scale", "title", "axis")] for layer in (a[0], b[0])]
        assert kept[0] == kept[1]


@settings(deadline=None, max_examples=15)
@given(st.sampled_from(sorted(PUBLISHED)), st.integers(0, 4000), st.integers(1, 50), st.integers(0, 6))
def test_a_beaten_candidate_moves_no_point_and_no_line(name: str, risk: int, loss: int, where: int) -> None:
    model = PUBLISHED[name]
    extra = {"risk": [r + risk for r in model["risk"]], "u": [u - loss / 100 for u in model["u"]]}
    names = [*list(PUBLISHED)[:where], "extra", *list(PUBLISHED)[where:]]
    after = study_frame({n: {**PUBLISHED, "extra": extra}[n] for n in names})
    axes = RiskAxis(2543.0, "sqrt"), UtilityAxis(OVERLAP, "sqrt")
    a, b = (points_of(frontier(f, MATCHES, OVERLAP, draws=50), f, *axes) for f in (FRAME, after))
    assert staircase(a) == staircase(b)
    assert b.filter(pl.col("plan") != "extra").equals(a)


def test_mistakes_get_a_sentence() -> None:
    for options, words in [
        ({"scale": "log"}, 'scale is one of linear, sqrt, symlog, not "log"'),
        ({"utility_scale": "log"}, "utility_scale is one of"),
        ({"choice": "swap bth"}, 'Did you mean "swap both"'),
        ({"limits": 500}, r"limits is a table.*such as limits="),
        ({"limits": {"targets": 5}}, "limits: targets counts"),
        ({"intruder": "nobody"}, "no intruder"),
    ]:
        with pytest.raises(InputError, match=words):
            map_chart(FRAME, MATCHES, OVERLAP, **options)
    with pytest.raises(InputError, match="is safer"):
        map_chart(FRAME, "false_match_rate", OVERLAP)
    with pytest.raises(InputError, match="which is not known"):
        map_chart(study_frame({"p": as_plan(1.0, 0.5)}), MATCHES, OVERLAP)


@pytest.mark.slow
def test_of_very_many_plans_those_that_matter_are_drawn(tmp_path: Path) -> None:
    many = {OTHER: as_plan(879.0, 1.0)} | {
        f"{name} [rate={k / 300:g}]": {"risk": [800 * (1 - k / 300) + more], "u": [0.9 - less - k / 900 - (k % slope) / 900],
                                       "sweep": name, "value": k / 300}
        for name, more, less, slope in (("a", 0, 0.0, 10), ("b", 3, 0.2, 301)) for k in range(1, 301)
    }  # fmt: skip
    chosen = "b [rate=0.47]"
    frame = study_frame(many)
    chart = map_chart(frame, MATCHES, OVERLAP, choice=chosen)
    points = drawn(chart)
    on = frontier(frame, MATCHES, OVERLAP, draws=1).filter("on_frontier")["plan"].to_list()
    assert 10 < len(on) < 200
    assert len(points) == 300
    ends = {f"{s} [rate={k / 300:g}]" for s in "ab" for k in (1, 300)}
    assert {OTHER, chosen, *on, *ends} <= set(points)
    others = [list(many).index(p) for p in points if p not in on]
    assert max(b - a for a, b in pairwise(sorted(others))) < 12
    picture = svg(chart, tmp_path)
    has(picture, "300 of 601 plans are drawn; 301 are not.")
    assert "chosen: b, rate=0.47" in picture


def test_a_long_frontier_leaves_room_for_others() -> None:
    axes = RiskAxis(1000.0), UtilityAxis(OVERLAP)
    good = {f"p{k}": as_plan(float(k), k / 2000) for k in range(1, 700)}
    frame = study_frame({OTHER: as_plan(1000.0, 1.0)} | good | {f"q{k}": as_plan(999.0, k / 2000) for k in range(200)})
    points = points_of(frontier(frame, MATCHES, OVERLAP, draws=1), frame, *axes)
    assert points.height == 300
    assert points.filter("on_frontier").height >= 200
    assert points.filter(pl.col("plan").str.starts_with("q")).height > 10


@pytest.mark.parametrize("scale", SCALES)
def test_the_end_of_the_axis_has_a_tick_unless_a_round_number_is_near(scale: str) -> None:
    assert RiskAxis(879.0, scale).ticks()[-1] == (1.0, "879")
    assert RiskAxis(8.790123, scale).ticks()[-1] == (1.0, "8.79")
    assert RiskAxis(1005.0, scale).ticks()[-1][1] == "1,000"
    assert all(b[0] - a[0] >= 0.08 for a, b in pairwise(RiskAxis(879.0, scale).ticks()))


def test_colours_do_not_depend_on_other_plans() -> None:
    axes = RiskAxis(2543.0), UtilityAxis(OVERLAP)
    few = points_of(frontier(FRAME, MATCHES, OVERLAP), FRAME, *axes)
    inks = dict(few.select("plan", "ink").iter_rows())
    assert inks["recode age"] == inks["all"] != inks["swap 30"]
