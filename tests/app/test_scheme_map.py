"""The map of ways to publish: labels meet nothing, and every point is there."""

from __future__ import annotations

import re

import numpy as np
import pytest

from confide.app import ways
from confide.app.scheme_map import Point, scheme_map
from confide.app.way_names import by_name, name_of

TEXT = re.compile(r'<text x="([\d.-]+)" y="([\d.-]+)" text-anchor="(\w+)" class="(t-s|t-b t-a) halo(?:-s)?">([^<]*)<')


def boxes(svg: str) -> list[tuple[float, float, float, float]]:
    out = []
    for x, y, anchor, _, text in TEXT.findall(svg):
        wide = 6.5 * len(text)
        left = float(x) - {"end": wide, "middle": wide / 2, "start": 0}[anchor]
        out.append((left, float(y) - 10, left + wide, float(y) + 2))
    return out


@pytest.mark.parametrize("wide", [972, 366])
@pytest.mark.parametrize("seed", range(12))
def test_labels_meet_neither_each_other_nor_points(seed: int, wide: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 25))
    risks = np.where(rng.random(n) < 0.2, 0, 10 ** rng.uniform(-7, 0, n))
    points = [Point(float(r), float(rng.uniform(0, 2)), f"rounded to {k}", k == 0, k % 3 == 1)
              for k, r in enumerate(risks)]  # fmt: skip
    svg = str(scheme_map(points, 0.05, "said", "worst area", wide))
    placed = boxes(svg)
    assert placed, "no label at all"
    dots = [(float(x), float(y)) for x, y in re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)" r="[57]\.5"', svg)]
    assert len(dots) == n
    for i, a in enumerate(placed):
        assert a[0] >= 0
        assert a[2] <= wide
        assert not any(_meet(a, b) for b in placed[:i])
        assert not any(a[0] < x < a[2] and a[1] < y < a[3] for x, y in dots)


def _meet(a: tuple[float, ...], b: tuple[float, ...]) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def test_extremes_are_drawn() -> None:
    for points in ([Point(0, 0, "a")], [Point(1, 0, "a")], [Point(1e-12, 1e-9, "<b>"), Point(1, 1e6, "c")]):
        for limit in (1e-9, 0.05, 1):
            svg = str(scheme_map(points, limit, '"said"', ""))
            assert "nan" not in svg
            assert "<b>" not in svg
            assert "style" not in svg


def test_names_tell_all_settings_apart() -> None:
    every = [
        *ways.first_ways(), {"scheme": "round", "base": 4}, {"scheme": "round", "base": 4, "ties": "even"},
        {"scheme": "round", "base": 4, "totals": "summed"}, {"scheme": "small", "base": 3},
        {"scheme": "cell_key", "largest": 2, "variance": 1.5}, {"scheme": "controlled", "base": 3, "steps": 1},
        {"scheme": "cell_key", "largest": 2, "variance": 1.0, "smallest": 1}, {"scheme": "controlled", "base": 3},
        {"scheme": "suppress", "below": 3, "width": 2, "marks": "same"}, {"scheme": "suppress", "below": 3, "marks": "same"},
    ]  # fmt: skip
    assert len(by_name(every)) == len(every)
    for way in every:
        assert eval(ways.code_of(way), {"cf": __import__("confide")}) == ways.scheme_of(way), name_of(way)
