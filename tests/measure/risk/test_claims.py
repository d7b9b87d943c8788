"""Claimed against true in one line, and in which direction risk is misjudged."""

from __future__ import annotations

import numpy as np
import pytest

import confide as cf
from confide.measure.risk.claims import Claims, claims_of

HEADS = cf.demo("heads").head(1500)
KEYS = ["sex", "race", "marital", "age"]
RELEASE = cf.Plan([cf.Swap("race", rate=0.3)], identifiers="id").protect(HEADS, seed=1)


def twin(attack: cf.Attack, present: bool) -> tuple[float, float, float]:
    """Straight from the formula: a pick is right with probability p / w given that the target is there."""
    claimed = true = variance = 0.0
    for u in attack.units.iter_rows(named=True):
        w = 1 - u["p_absent"] if present else 1.0
        claimed += u["p_max"]
        true += w * u["hit"] / u["n_max"]
        q = u["p_max"] / w
        variance += w**2 * max(q / u["n_max"] - q**2, 0.0)
    return claimed, true, np.sqrt(variance)


@pytest.mark.parametrize("membership", ["certain", cf.Unsure(total=9_000)])
def test_agrees_with_its_twin(membership: object) -> None:
    attack = cf.Intruder(knows=KEYS, membership=membership).attack(RELEASE)  # type: ignore[arg-type]
    found = claims_of(attack.units)
    assert found is not None
    expected = twin(attack, present=membership != "certain")
    np.testing.assert_allclose([found.claimed, found.true, found.error], expected, rtol=1e-9)
    assert found.true == pytest.approx(attack.summary().found)
    assert found.misjudged == ""


def test_where_membership_is_certain_it_is_the_calibration() -> None:
    attack = cf.Intruder(knows=KEYS).attack(RELEASE)
    found, expected = claims_of(attack.units), attack.calibration()
    assert found is not None
    assert (found.claimed, found.true, found.z) == pytest.approx((expected.claimed, expected.true, expected.z))


def test_targets_from_outside_count_as_they_are() -> None:
    half = cf.Plan([cf.Sample(0.5), cf.Swap("race", rate=0.3)], identifiers="id").protect(HEADS, seed=1)
    attack = cf.Intruder(knows=KEYS, membership=cf.Unsure(total=1_500)).attack(half, HEADS)
    found = claims_of(attack.units)
    assert found is not None
    assert found.true == pytest.approx(attack.summary().expected_matches)


def test_without_truth_there_is_none() -> None:
    attack = cf.Intruder(knows=KEYS).attack(cf.Release.adopt(HEADS, RELEASE.data, RELEASE.plan))
    assert claims_of(attack.units) is None


@pytest.mark.parametrize(
    ("claimed", "true", "error", "direction"),
    [
        (100.0, 131.0, 10.0, "understated"),  # z above 3
        (100.0, 69.0, 10.0, "overstated"),
        (100.0, 125.0, 10.0, "understated"),  # off by a quarter, 2.5 standard errors
        (100.0, 125.0, 14.0, ""),  # off by a quarter, within 2
        (100.0, 119.0, 9.0, ""),  # off by less than a fifth
        (4.0, 6.0, 0.9, ""),  # off by half, but by two matches
        (100.0, 100.0, 0.0, ""),
        (100.0, 60.0, 0.0, "overstated"),  # certain, and wrong
    ],
)
def test_when_a_caution_is_due(claimed: float, true: float, error: float, direction: str) -> None:
    found = Claims(claimed, true, error, 1000)
    assert found.misjudged == direction
    assert (f"is {direction}" in found.caution()) if direction else found.caution() == ""
