"""Charts of the risk-utility theory: what they hold is looked for in the drawing, since a faulty one is drawn empty."""

from __future__ import annotations

import re
from itertools import combinations
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from confide.core.errors import InputError
from confide.show.charts.drawing import COLOURS, save_chart
from confide.show.charts.label_places import LETTER, LINE
from confide.show.charts.theory_charts import swap_chart, theory_map, uniques_chart
from confide.show.charts.theory_labels import curve_labels, dense, together
from confide.theory import (
    NoiseRelease,
    OriginalRelease,
    SwapRelease,
    SyntheticRelease,
    ru_anchors,
    ru_curve,
    smallest_noise_for_uniques,
    uniques_curve,
)


def svg(chart: object, folder: Path) -> str:
    return save_chart(chart, folder / "chart.svg", overwrite=True).read_text()


def has(picture: str, *labels: str) -> None:
    for label in labels:
        assert f">{label}<" in picture, label


def boxes(picture: str, labels: list[str]) -> list[tuple[float, float, float]]:
    found = []
    for label in labels:
        x, y = re.search(rf'translate\(([-\d.]+),([-\d.]+)\)"[^>]*>{label}<', picture).groups()  # type: ignore[union-attr]
        found.append((float(x), float(y), 0.85 * LETTER * len(label)))
    return found


def apart(picture: str, labels: list[str]) -> None:
    for (x, y, w), (p, q, v) in combinations(boxes(picture, labels), 2):
        assert abs(x - p) >= (w + v) / 2 or abs(y - q) >= LINE - 2


def whole_map() -> pl.DataFrame:
    sizes = np.geomspace(0.05, 40, 50)
    return pl.concat([
        ru_curve(NoiseRelease(100, 1.0, 0.0), [0, *sizes], snoopers=["linked", "shrink_known", "mean"], relative=True),
        ru_curve(SyntheticRelease(1.0, 0.0, 10, 100, n=100), [0, *sizes], snoopers=["grand_mean", "value"], relative=True),
        ru_curve(SwapRelease(1.0, 1.0, 0.0), np.linspace(0, 1, 40), snoopers=["attribute"], relative=True),
        ru_anchors(100, 1.0, relative=True),
    ])  # fmt: skip


NAMES = [
    "noise, linked", "noise, linked, shrinks to known mean", "noise, by the mean", "synthetic, by the grand mean",
    "synthetic, by one value", "swapping, value in place", "release everything, linked",
    "release everything, by the mean", "release nothing",
]  # fmt: skip


def test_map_has_every_curve_anchor_and_tick(tmp_path: Path) -> None:
    picture = svg(theory_map(whole_map(), relative=True), tmp_path)
    has(picture, "Disclosure risk and data utility", *NAMES, "∞", "0.5", "5", "Disclosure risk, R sigma²")
    has(picture, "Utility kept: U of the release / U of the original")
    assert len(re.findall(r'"line mark" d="M', picture)) == 6
    assert all(colour.lower() in picture.lower() for colour in COLOURS[:3])
    apart(picture, NAMES)


def test_infinite_risk_has_its_place_at_the_top(tmp_path: Path) -> None:
    anchors = ru_anchors(100, 1.0, relative=True)
    picture = svg(theory_map(anchors, relative=True), tmp_path)
    has(picture, "release everything, linked", "release nothing")
    spots = re.findall(r'transform="translate\(([\d.]+),([\d.]+)\)" d="M[^"]*" fill="#222222"', picture)
    heights = sorted(float(y) for _, y in spots)
    assert len(heights) == 3
    assert heights[0] == pytest.approx(440 * (1 - 1 / 1.05), abs=0.1)
    assert heights[2] == pytest.approx(440, abs=0.1)


def test_map_in_units_of_the_data(tmp_path: Path) -> None:
    frame = pl.concat([
        ru_curve(NoiseRelease(50, 10.0, 0.0), [1, 5, 10, 50], snoopers="worst"),
        ru_anchors(50, 10.0),
    ])  # fmt: skip
    picture = svg(theory_map(frame, half=0.01, title="Incomes"), tmp_path)
    has(picture, "Incomes", "noise, best snooper", "0.005", "0.01", "Data utility, U = 1 / MSE of the user")


def test_curves_that_fall_together_are_both_seen(tmp_path: Path) -> None:
    one = ru_curve(NoiseRelease(50, 1.0, 0.0), [0.1, 0.5, 1, 5], snoopers="linked")
    picture = svg(theory_map(pl.concat([one, one.with_columns(release=pl.lit("other's"))])), tmp_path)
    has(picture, "noise, linked", "other's, linked")
    assert re.findall(r'"line mark" d="[^"]*" stroke="[^"]*" stroke-width="([\d.]+)"', picture) == ["5.2", "2.2"]


def test_what_the_map_refuses() -> None:
    frame = whole_map()
    with pytest.raises(InputError, match='needs a column "snooper"'):
        theory_map(frame.drop("snooper"))
    with pytest.raises(InputError, match="at most 500 rows"):
        theory_map(pl.concat([frame] * 3))
    with pytest.raises(InputError, match="on another scale"):
        theory_map(ru_curve(SwapRelease(1.0, 1.0, 0.0), [0.1, 0.2], snoopers="identity"))
    with pytest.raises(InputError, match="half is the risk"):
        theory_map(frame, half=0)
    with pytest.raises(InputError, match="must have a risk"):
        theory_map(frame.with_columns(risk=pl.lit(None, pl.Float64)))
    seven = [frame.filter(pl.col("snooper") == "linked").with_columns(release=pl.lit(str(k))).head(9) for k in range(7)]
    with pytest.raises(InputError, match="colours for 6 releases, but the table has 7"):
        theory_map(pl.concat(seven))
    with pytest.raises(InputError, match="no rows"):
        theory_map(frame.head(0))


def test_swapping_as_in_print_with_a_limit(tmp_path: Path) -> None:
    picture = svg(swap_chart(SwapRelease(1.0, 1.0, 0.0), limit=1.0), tmp_path)
    words = ["limit 1: rate 0.333, U 0.939", "by the value in place", "by the area's mean"]
    has(picture, "The swapping rate, from 1 (left) to 0 (right)", *words, "1.2", "0.7")
    rates = [f"0.{k}" for k in (1, 2, 3, 4, 6)]  # 0.5 and others are also numbers of the axes
    has(picture, *rates)
    apart(picture, [*words, "0.1", "0.2", "0.3", "0.4", "0.6"])
    assert "stroke-dasharray" in picture


def test_swapping_without_a_limit_and_in_other_units(tmp_path: Path) -> None:
    picture = svg(swap_chart(SwapRelease(15.0, 40.0, 0.5, sizes=(20, 30)), title="Two counties"), tmp_path)
    has(picture, "Two counties", "by the value in place")
    assert "Areas of 20 and 30, sigma = 15, difference of means = 40. Dots: rates." in picture
    assert ">limit" not in picture
    with pytest.raises(InputError, match="no curve to draw"):
        swap_chart(SwapRelease(1.0, 0.0, 0.5))
    with pytest.raises(InputError, match="No swapping rate"):
        swap_chart(SwapRelease(1.0, 1.0, 0.5), limit=0.1)


@pytest.mark.parametrize("limit", [0.02, 0.3, 0.9])
def test_uniques_by_noise(tmp_path: Path, limit: float) -> None:
    values = np.random.default_rng(1).gamma(2, 1, (200, 2))
    found = smallest_noise_for_uniques(values, limit, seed=1)
    picture = svg(uniques_chart(uniques_curve(values, np.geomspace(0.001, 5, 20), seed=1), found), tmp_path)
    has(picture, "Uniques that can be linked, by the size of the noise", "0.01", "1", "50%", "Share of records")
    has(picture, f"limit {100 * limit:g}%: noise {found.ratio:.3g}")
    with pytest.raises(InputError, match="at least two ratios"):
        uniques_chart(uniques_curve(values, [0, 1]))


def test_names_keep_off_curves_and_dots() -> None:
    cross = [[(0.0, 0.0), (400.0, 300.0)], [(0.0, 300.0), (400.0, 0.0)], [(400.0, 150.0)]]
    labels = curve_labels(cross, ["falling", "rising", "a dot"], 400, 300)
    assert [name for name, _, _ in labels] == ["falling", "rising", "a dot"]
    for name, x, y in labels:
        for curve in cross:
            inside = [abs(x - p) < LETTER * len(name) / 2 and abs(y - q) < LINE / 2 for p, q in dense(curve)]
            assert not any(inside), name


def test_together() -> None:
    line = [(0.0, 0.0), (100.0, 0.0)]
    assert together(line, [(0.0, 2.0), (60.0, 2.0)])
    assert not together(line, [(0.0, 30.0), (100.0, 30.0)])
    assert not together(line, [(50.0, 0.0)])


def test_a_release_alone_is_a_dot(tmp_path: Path) -> None:
    has(svg(theory_map(ru_curve(OriginalRelease(5, 1.0), snoopers="mean")), tmp_path), "original, by the mean")
