"""Reports of many plans: at most so many points are drawn, and the page says how many are not."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import confide as cf
from confide.show.charts.drawing import MOST_ROWS
from confide.show.charts.plan_charts import DARK, FORMAT, PALE, _between, readable_ink, targets_chart
from confide.show.charts.points_chart import FIELDS, points_chart
from confide.show.report.figures import map_figures, sweep_figures
from confide.show.report.sections import page_words
from confide.show.report.view import MOST_DRAWN, View
from confide.study.result import StudyResult
from tests.helpers.planted import result

MANY = 620


def many() -> StudyResult:
    """A sweep of many plans; the frontier has a few of them."""
    rng = np.random.default_rng(0)
    one = result().frame.filter((pl.col("plan") == "swap [rate=0.5]") & (pl.col("repeat") == 0))
    parts = [result().frame]
    names = [f"long [rate={k}]" for k in range(MANY)]
    for k, name in enumerate(names):
        moved = [pl.col(c) * (0.2 + 0.7 * rng.random()) for c in ("expected_matches", "hellinger", "ci_overlap")]
        parts.append(one.with_columns(
            *moved, plan=pl.lit(name), sweep=pl.lit("long"), setting=pl.lit(f"rate={k}"), value=pl.lit(float(k))))  # fmt: skip
    plans = {**result().plans, **dict.fromkeys(names, result().plans["swap [rate=0.5]"])}
    return replace(result(), frame=pl.concat(parts), plans=plans)


@pytest.mark.slow
def test_many_plans_are_drawn_in_part_and_listed_all() -> None:
    view = View.of(many(), True, "long [rate=301]")
    assert len(page_words(view)["table"].rows) == len(view.plans) == MANY + 6
    for f, name in zip(map_figures(view), ("hellinger", "ci_overlap"), strict=True):
        drawn = view.drawn(name)
        assert len(drawn) == MOST_DRAWN
        front = view.points[name].filter("on_frontier")["plan"]
        assert {"release everything", "long [rate=301]", "long [rate=0]", "long [rate=619]", *front} <= set(drawn)
        gaps = np.diff([view.plans.index(p) for p in drawn])
        assert gaps.max() <= 4
        assert f" {MANY + 6 - MOST_DRAWN} of {MANY + 6} plans are not drawn; the table below has all." in f.caption
        assert len(f.table.rows) == MANY + 6
        for chart in (f.wide, f.narrow):
            data = chart.to_dict(validate=False)["datasets"]
            assert max(map(len, data.values())) <= MOST_DRAWN


def test_long_sweeps_are_drawn_in_part() -> None:
    view = View.of(many())
    figures = [f for f in sweep_figures(view) if f.name.startswith("sweep-long")]
    assert len(figures) == 3
    risk = figures[0]  # two intruders
    assert " 470 of 620 values are not drawn" in risk.caption
    assert len(risk.table.rows) == MANY
    rows = next(iter(risk.narrow.to_dict(validate=False)["datasets"].values()))
    assert len(rows) == MOST_DRAWN < MOST_ROWS
    assert {0.0, 619.0} <= {r["value"] for r in rows}


def test_few_plans_are_all_drawn() -> None:
    view = View.of(result())
    assert view.drawn("hellinger") == view.plans
    assert all("not drawn" not in f.caption for f in [*map_figures(view), *sweep_figures(view)])


def _light(colour: str) -> float:
    parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    r, g, b = (v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in parts)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05


def test_words_in_the_heat_map_are_read_easily() -> None:
    """Black stands on pale shades only (contrast of 7 and more), white on dark ones (4.5 and more)."""
    for at in np.linspace(0, 1, 201):
        colour = _between(float(at))
        ink = readable_ink(colour)
        contrast = _light(colour) / 0.05 if ink == "#000000" else 1.05 / _light(colour)
        assert contrast >= (7 if ink == "#000000" else 4.5), colour
    assert _between(0.0) == "#{:02x}{:02x}{:02x}".format(*PALE[0])
    assert _between(1.0) == "#{:02x}{:02x}{:02x}".format(*DARK[1])
    frame = pl.DataFrame({"plan": "a", "bin": ["0 to 0.2", "0.2 to 1"], "targets": [900, 30], "shown": ["900", "30"]})
    rows = next(iter(targets_chart(frame).to_dict()["datasets"].values()))
    assert {(r["ink"], readable_ink(r["colour"])) for r in rows} <= {("#ffffff",) * 2, ("#000000",) * 2}


def test_thousands_are_told_apart_on_narrow_maps() -> None:
    import vl_convert

    values = {"number": [1, 2], "plan": ["a", "b"], "on_frontier": [True, True], "shown": ["", ""]}
    values |= {k: [30_000.0, 1.0] for k in FIELDS if k.startswith("risk")}
    values |= {k: [0.1, 0.4] for k in FIELDS if k.startswith("utility")}
    chart = points_chart(pl.DataFrame(values), "matches", cf.Hellinger(), 30_000.0, narrow=True)
    ticks = re.findall(r"<text[^>]*>([^<]*)</text>", vl_convert.vegalite_to_svg(chart.to_dict(validate=False)))
    assert "30,000" in ticks
    assert "30000" not in ticks
    assert FORMAT.startswith(",")


def test_a_beaten_plan_moves_nothing_on_narrow_maps() -> None:
    values = {"number": [1, 2], "plan": ["a", "b"], "on_frontier": [True, True], "shown": ["", ""]}
    values |= {k: [900.0, 100.0] for k in FIELDS if k.startswith("risk")}
    values |= {k: [0.1, 0.36] for k in FIELDS if k.startswith("utility")}
    worse = {"number": [3], "plan": ["c"], "on_frontier": [False], "shown": [""]}
    worse |= {k: [5000.0] for k in FIELDS if k.startswith("risk")}
    worse |= {k: [0.99] for k in FIELDS if k.startswith("utility")}
    for measure in (cf.Hellinger(), cf.Propensity()):
        drawn = []
        for frame in (pl.DataFrame(values), pl.concat([pl.DataFrame(values), pl.DataFrame(worse)])):
            spec = points_chart(frame, "matches", measure, 900.0).to_dict()
            rows = [r for d in spec["datasets"].values() for r in d if r.get("plan") in ("a", "b")]
            drawn.append({r["plan"]: (r["x"], r["y"]) for r in rows})
            assert '"domain": [-0.05, 1.05]' in json.dumps(spec)
        assert drawn[0] == drawn[1]
        assert drawn[0]["a"][0] == 1.0
        assert drawn[0]["b"][0] == pytest.approx(1 / 3)
    assert drawn[0]["b"][1] == pytest.approx(1 - (0.36 / 1.36) ** 0.5)
