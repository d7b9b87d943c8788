"""Order and predictors that are chosen where nobody says: the same for single methods and for whole files."""

import numpy as np
import polars as pl
import pytest

import confide as cf
from confide.protect.methods.synthesis.chosen import MOST_GIVEN, predictors_of

HEADS = cf.demo("heads").head(600)
DRAWN = ["educ", "property_value", "hh_income"]


def test_the_rules_are_those_of_synthesise():
    steps = cf.synthesis_steps(HEADS, DRAWN)
    whole = cf.synthesise(HEADS, only=DRAWN, find_rules=False, seed=1).plan
    assert [(s.variable, s.given) for s in steps] == [(s.variable, s.given) for s in whole.steps]
    assert [s.variable for s in steps] == ["property_value", "hh_income", "educ"]
    assert "id" not in steps[0].given
    release = cf.Plan(steps, identifiers=["id"]).protect(HEADS, seed=1)
    assert release.data.height == 600


def test_what_is_stated_counts():
    steps = cf.synthesis_steps(HEADS, DRAWN, given="sex", order="educ", model="regression")
    assert [type(s).__name__ for s in steps] == ["LogisticSynthesis", "NormalSynthesis", "NormalSynthesis"]
    assert steps[0].given == ("sex",)
    assert steps[2].given == ("sex", "educ", "property_value")
    assert [s.leaf for s in cf.synthesis_steps(HEADS, "educ", leaf=20)] == [20]


def test_of_many_those_that_go_with_it_most():
    rng = np.random.default_rng(0)
    y = pl.DataFrame({f"x{i}": rng.normal(size=300) for i in range(40)})
    y = y.with_columns(y=y["x33"] + 0.1 * rng.normal(size=300))
    records = cf.Plan([cf.CartSynthesis("y", given=y.columns[:-1])]).encode(y)
    found = predictors_of(records, "y", y.columns[:-1], {"x0", "x1"})
    assert len(found) == MOST_GIVEN
    assert {"x0", "x1", "x33"} <= {*found}


MISTAKES = {
    "unknown": (lambda: cf.synthesis_steps(HEADS, ["educ", "incme"]), "no column"),
    "none": (lambda: cf.synthesis_steps(HEADS, []), "names those to draw"),
    "order": (lambda: cf.synthesis_steps(HEADS, "educ", order="sex"), "not among variables"),
    "both": (lambda: cf.synthesis_steps(HEADS, "educ", given="educ"), "drawn and given"),
    "model": (lambda: cf.synthesis_steps(HEADS, "educ", model="magic"), "model is 'cart' or 'regression'"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_bad_input(name):
    do, words = MISTAKES[name]
    with pytest.raises(cf.InputError, match=words):
        do()
