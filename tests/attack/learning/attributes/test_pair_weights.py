"""Weights with what is alike computed once are those of the plain formula."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import confide as cf
from confide.attack.engine.membership import people_in_blocks
from confide.attack.engine.prepare import prepare
from confide.attack.engine.scene import Scene
from confide.attack.learning.attributes.pair_weights import Mixed, Plain, way_of

SWAPS = [cf.Recode("age", width=20), cf.Swap("race", rate=0.3), cf.Swap("marital", rate=0.3)]
KEYS = ["sex", "race", "marital", "age"]
NOISE = cf.Noise("property_value", relative=0.10, keep_zeros=True, bounds=(0, None))
CASES: dict[str, tuple[list[Any], dict[str, Any], str]] = {
    "categories": (SWAPS, {"knows": KEYS}, "tenure"),
    "a class not known": (SWAPS, {"knows": ["sex", "race", "age"]}, "tenure"),
    "nothing known of classes": ([*SWAPS, cf.Swap("tenure", rate=0.2)], {"knows": ["sex", "age"]}, "tenure"),
    "noise known": ([*SWAPS, NOISE], {"knows": [*KEYS, "property_value"]}, "hh_income"),
    "noise not known": ([*SWAPS, NOISE], {"knows": KEYS}, "property_value"),
    "two noisy ones": (
        [*SWAPS, NOISE, cf.Noise("hh_income", sd=5_000)],
        {"knows": [*KEYS, "property_value", "hh_income"]},
        "tenure",
    ),
    "rank swap": ([*SWAPS, cf.RankSwap("hh_income", window=50)], {"knows": [*KEYS, "hh_income"]}, "tenure"),
}


@pytest.mark.parametrize("case", CASES)
def test_as_the_plain_formula(case: str) -> None:
    steps, who, variable = CASES[case]
    heads = cf.demo("heads").sample(150, seed=2)
    release = cf.Plan(steps, identifiers=["id"]).protect(heads, seed=1)
    ready = prepare(cf.Intruder(**who), release, None, None, (), seen=(variable,))
    (rows, knows, between), *_ = ready.who.patterns(tuple(ready.intruder.knows), ready.case.told_missing)
    scene = Scene.place(ready.case, *ready.fitted(rows, knows, between))
    assert people_in_blocks(scene, release, None, None, True)[0] is None
    way = way_of(ready, scene)
    assert isinstance(way, Mixed)
    t = np.flatnonzero(scene.block_t >= 0)
    at = np.arange(len(scene.rows))
    least = np.where(t % 2 == 0, 0.0, -np.inf)
    w, kind, top = way.among(at).weights(t, least)
    twin, every, twin_top = Plain(scene, None).among(at).weights(t, least)
    np.testing.assert_array_equal(every, at)
    np.testing.assert_allclose(top, twin_top, atol=1e-9)
    np.testing.assert_allclose(w[:, kind], twin, rtol=1e-9, atol=1e-12)
    assert (twin > 0).any()
    nobody = np.full(len(t), -np.inf)  # is absent: then scales do not matter
    w, kind, _ = way_of(ready, scene, absence=False).among(at).weights(t, nobody)
    np.testing.assert_allclose(w[:, kind], Plain(scene, None).among(at).weights(t, nobody)[0], rtol=1e-9, atol=1e-12)
