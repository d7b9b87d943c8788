"""Part A as Reiter (2005) printed it: a product of dot products, and lognormal numbers."""

import numpy as np
import pytest

import confide as cf
from tests.helpers.scenes import scenes

HEADS = cf.demo("heads").head(3000)
KEYS = ["sex", "race", "marital", "age"]
FIVES = cf.Recode("age", width=5)


def test_one_variable_has_no_product_to_differ_by() -> None:
    release = cf.Plan([FIVES, cf.Swap("race", rate=0.3)]).protect(HEADS, seed=1)
    joint = cf.Intruder(knows=KEYS).attack(release).units
    printed = cf.Intruder(knows=KEYS, as_printed=True).attack(release).units
    np.testing.assert_allclose(joint["p_max"], printed["p_max"], rtol=1e-9)


def test_two_variables_multiply_their_dot_products() -> None:
    steps = [FIVES, cf.Swap("race", rate=0.3), cf.Swap("marital", rate=0.3)]
    release = cf.Plan(steps).protect(HEADS, seed=1)
    scene = next(scenes(cf.Intruder(knows=KEYS, as_printed=True).attack(release)))[1]
    pi, j = np.exp(scene.fit.believed.log_pi_r[scene.cell_r]), 7
    expected = 1.0
    for step, v in ((scene.uncertain[0], "race"), (scene.uncertain[1], "marital")):
        levels = scene.classes.codes[v]
        own, n = step.like.code, len(step.like.code)
        count = (own == own[j]).sum()
        rate = 2 * np.floor(np.floor(0.3 * n) / 2) / n
        column = scene.classes.target(step.like, 0 if v == "race" else 1)["code"]
        same = column == own[j]
        matrix = (1 - rate) * same + rate * (count - same) / (n - 1)
        expected *= pi[j] @ matrix
        assert len(levels) == scene.classes.size
    assert np.exp(scene.log_m[j]) == pytest.approx(expected, rel=1e-9)


def test_lognormal_numbers_need_positive_values() -> None:
    plan = cf.Plan([FIVES, cf.Noise("property_value", sd=20_000)])
    with pytest.raises(cf.InputError, match="no logarithm"):
        cf.Intruder(knows=[*KEYS, "property_value"], as_printed=True).attack(plan.protect(HEADS, seed=1))


def test_lognormal_numbers_stay_close_to_the_default() -> None:
    steps = [FIVES, cf.Noise("property_value", relative=0.1, keep_zeros=True, bounds=(0, None))]
    release = cf.Plan(steps).protect(HEADS, seed=1)
    default = cf.Intruder(knows=[*KEYS, "property_value"]).attack(release).summary()
    printed = cf.Intruder(knows=[*KEYS, "property_value"], as_printed=True).attack(release).summary()
    assert printed.expected_matches == pytest.approx(default.expected_matches, rel=0.1)
    assert printed.claimed_matches != default.claimed_matches
