"""Reports of many plans: at most so many points are drawn, and the page says how many are not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from confide.show.charts.drawing import MOST_ROWS
from confide.show.charts.plan_charts import DARK, PALE, _between, readable_ink, targets_chart
from confide.show.report.figures import sweep_figures
from confide.show.report.maps import MOST_NAMES, map_drawings
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
    for name in ("hellinger", "ci_overlap"):
        f = map_drawings(view, name)[0]
        drawn = view.drawn(name)
        assert len(drawn) == MOST_DRAWN
        front = view.points[name].filter("on_frontier")["plan"]
        assert {"release everything", "long [rate=301]", "long [rate=0]", "long [rate=619]", *front} <= set(drawn)
        gaps = np.diff([view.plans.index(p) for p in drawn])
        assert gaps.max() <= 4
        assert f" {MANY + 6 - MOST_DRAWN} of {MANY + 6} plans are not drawn; the table below has all." in f.caption
        assert f.table is not None
        assert len(f.table.rows) == MANY + 6
        for chart in (f.wide, f.narrow):
            assert sum(p.startswith("<circle") for p in chart.parts) <= MOST_DRAWN + 1
            assert len(chart.words()) <= 6 * MOST_NAMES


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
    drawn = [d for m in ("hellinger", "ci_overlap") for d in map_drawings(view, m)]
    assert all("not drawn" not in f.caption for f in [*drawn, *sweep_figures(view)])


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
