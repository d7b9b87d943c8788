"""The charts with sliders compute the closed forms themselves; their numbers must be those of the theory."""

from __future__ import annotations

import html
import json
import re
from typing import Any

import pytest
import vl_convert

from confide.show.charts.theory_sliders import RECORDS, noise_slider, swap_slider
from confide.theory import NoiseRelease, SwapRelease


def words(chart: Any, **settings: float) -> list[str]:
    """What the chart says when its sliders stand at these settings."""
    spec = chart.to_dict()
    for param in spec["params"]:
        param["value"] = settings.pop(param["name"], param["value"])
    assert not settings
    svg = vl_convert.vegalite_to_svg(json.dumps(spec))
    return [html.unescape(t) for t in re.findall(r"<text[^>]*>([^<]+)</text>", svg)]


@pytest.mark.parametrize("variance", [0.05, 0.5, 1.0, 3.95])
def test_noise_is_that_of_the_theory(variance: float) -> None:
    release = NoiseRelease(RECORDS, 1.0, variance**0.5)
    said = words(noise_slider(), noise_variance=variance)
    kept = release.utility() / release.original_utility()
    assert f"Variance {variance:.2f}: utility kept {kept:.4f}" in said
    assert f"R = {release.risk('linked'):.4f} by the target's own noisy value" in said
    assert f"R = {release.risk('shrink_known'):.4f} by that value, shrunk to a known mean" in said
    assert f"R = {release.risk('mean'):.4f} by the mean of all" in said


def test_without_noise_a_link_is_certain() -> None:
    said = words(noise_slider(narrow=True), noise_variance=0)
    assert "R = ∞ by the target's own noisy value" in said
    assert "Variance 0.00: utility kept 1.0000" in said


@pytest.mark.parametrize(("rate", "apart"), [(0.01, 1.0), (0.3, 0.0), (0.5, 2.5), (1.0, 3.0)])
def test_swapping_is_that_of_the_theory(rate: float, apart: float) -> None:
    release = SwapRelease(sigma=1.0, difference=apart, rate=rate)
    said = words(swap_slider(), swap_rate=rate, area_difference=apart)
    kept = release.utility() / release.original_utility()
    assert f"Rate {rate:.2f}: utility kept {kept:.4f}, link right {release.risk('identity'):.2f}" in said
    assert f"R = {release.risk('attribute'):.4f} by the value at the target's place" in said
    assert f"R = {release.risk('mean'):.4f} by the mean of the target's area" in said


def test_curves_end_where_the_theory_does() -> None:
    """The curve's last point, most noise and least utility, lies at the theory's place in the drawing."""
    spec = noise_slider().to_dict()
    svg = vl_convert.vegalite_to_svg(json.dumps(spec))
    lines = [p for p in re.findall(r'<path [^>]*d="(M[^"]+)"', svg) if p.count("L") > 100]
    release = NoiseRelease(RECORDS, 1.0, 2.0)
    width, height = spec["width"], spec["height"]
    ends = sorted(tuple(map(float, line.split("L")[-1].split(","))) for line in lines)
    kept = release.utility() / release.original_utility()
    risks = sorted(release.risk(s) for s in ("linked", "shrink_known", "mean"))
    expected = sorted((width * kept / 1.04, height * (1 - r / (1 + r) / 1.04)) for r in risks)
    assert len(ends) == 3
    for found, right in zip(ends, expected, strict=True):
        assert found == pytest.approx(right, abs=0.5)
