"""Sweeps: the values of a range, the candidates of a grid, and ranges in documents."""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import confide as cf
from confide.core.documents.plain import Reader
from confide.study.statement.ranges import swept
from confide.study.statement.sweep import Candidate, candidates_of


def swap(rate: float) -> cf.Plan:
    return cf.Plan([cf.Swap("race", rate=rate)])


@settings(deadline=None)
@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6), st.integers(2, 40))
def test_a_range_has_its_ends_and_even_steps(low: float, width: float, steps: int) -> None:
    values = cf.Range(low, low + width, steps).values()
    assert len(values) == steps
    assert values[0] == pytest.approx(low, rel=1e-11, abs=1e-11)
    assert values[-1] == pytest.approx(low + width, rel=1e-11, abs=1e-11)
    gaps = [b - a for a, b in itertools.pairwise(values)]
    assert gaps == pytest.approx([width / (steps - 1)] * (steps - 1), rel=1e-3, abs=1e-5)


def test_whole_numbers_stay_whole() -> None:
    assert cf.Range(2, 10, 5).values() == [2, 4, 6, 8, 10]
    assert all(isinstance(v, int) for v in cf.Range(2, 10, 5).values())
    assert cf.Range(0, 1, 3).values() == [0.0, 0.5, 1.0]
    assert not cf.Range(0.0, 10, 3).whole


def test_equal_ratios() -> None:
    values = cf.Range(1, 100, 3, log=True).values()
    assert values == pytest.approx([1, 10, 100])


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (lambda: cf.Range(1, 0), "goes up"),
        (lambda: cf.Range(0, math.inf), "finite"),
        (lambda: cf.Range(0, "1"), "number"),
        (lambda: cf.Range(0, 1, 1), "from 2"),
        (lambda: cf.Range(0, 1, 2.5), "whole number"),
        (lambda: cf.Range(0, 1, 3, log=True), "above zero"),
        (lambda: cf.Sweep(swap), "at least one parameter"),
        (lambda: cf.Sweep(cf.Plan([]), rate=[1]), "function"),
        (lambda: cf.Sweep(swap, rate=0.3), "a Range"),
        (lambda: cf.Sweep(swap, rate="0.3"), "a Range"),
        (lambda: cf.Sweep(swap, rate=[]), "no values"),
        (lambda: cf.Sweep(swap, rate=cf.Range(0, 1, 200), other=cf.Range(0, 1, 200)), "fewer steps"),
        (lambda: cf.Sweep(swap, share=[0.1]).candidates("x"), "must take share"),
        (lambda: cf.Sweep(lambda rate: rate, rate=[0.1]).candidates("x"), "must return a Plan"),
        (lambda: cf.Sweep(swap, rate=[0.1, 30]).candidates("x"), "at rate=30: .*for 30 percent"),
    ],
)
def test_mistakes_get_a_sentence(made, said) -> None:
    with pytest.raises(cf.InputError, match=said):
        made()


def test_every_combination_is_a_candidate() -> None:
    sweep = cf.Sweep(lambda rate, width: cf.Plan([cf.Recode("age", width=width), cf.Swap("race", rate=rate)]),
                     rate=[0.1, 0.2], width=[5, 10])  # fmt: skip
    found = candidates_of({"none": cf.Plan([]), "both": sweep})
    assert [c.name for c in found] == [
        "none", "both [rate=0.1, width=5]", "both [rate=0.1, width=10]", "both [rate=0.2, width=5]",
        "both [rate=0.2, width=10]",
    ]  # fmt: skip
    assert found[3].plan.steps[0].width == 5
    assert found[3].plan.steps[1].rate == 0.2
    assert [c.value for c in found] == [None] * 5


def test_the_value_of_one_parameter() -> None:
    assert [c.value for c in cf.Sweep(swap, rate=[0.1, 0.2]).candidates("s")] == [0.1, 0.2]
    assert Candidate("s", cf.Plan([]), "s", {"how": "up"}).value is None


STEP = {"method": "swap", "variable": "race"}


def read(*steps):
    reader = Reader()
    return swept(reader, {"steps": list(steps)}, 'plan "p"'), reader.problems


def test_a_document_without_ranges_is_a_plan() -> None:
    plan, problems = read({**STEP, "rate": 0.3})
    assert isinstance(plan, cf.Plan)
    assert not problems


def test_ranges_make_a_grid_named_by_variable() -> None:
    sweep, problems = read({**STEP, "rate": {"from": 0.1, "to": 0.3, "steps": 2}},
                           {"method": "swap", "variable": "marital", "rate": {"values": [0.1, 0.2, 0.3]}})  # fmt: skip
    assert not problems
    assert sweep.values() == {"race_rate": [0.1, 0.3], "marital_rate": [0.1, 0.2, 0.3]}
    assert len(sweep.candidates("p")) == 6


def test_ranges_of_one_name_move_together() -> None:
    both = {"from": 0.1, "to": 0.3, "steps": 3, "as": "rate"}
    sweep, problems = read({**STEP, "rate": both}, {"method": "swap", "variable": "marital", "rate": dict(both)})
    assert not problems
    plans = [c.plan for c in sweep.candidates("p")]
    assert [[s.rate for s in p.steps] for p in plans] == [[0.1, 0.1], [0.2, 0.2], [0.3, 0.3]]


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({"from": 0, "to": 0.5}, '"steps" is missing'),
        ({"from": 0, "steps": 3}, '"to" is missing'),
        ({"from": 0.5, "to": 0, "steps": 3}, "goes up"),
        ({"from": "0", "to": 1, "steps": 3}, '"from" must be a number'),
        ({"from": 0, "to": 1, "steps": 3, "stop": 1}, 'unknown key "stop"'),
        ({"from": 0, "to": 1, "steps": 3, "as": "a b"}, '"as" names the parameter'),
        ({"values": []}, "empty list"),
        ({"values": [0.1], "as": 3}, '"as" names the parameter'),
    ],
)
def test_a_range_that_is_none_names_its_place(value, said) -> None:
    made, problems = read({**STEP, "rate": value})
    assert made is None
    assert len(problems) == 1
    assert problems[0].startswith('plan "p".steps[0].rate: ')
    assert said in problems[0]


def test_two_ranges_of_one_name_must_agree() -> None:
    made, problems = read({**STEP, "rate": {"values": [0.1], "as": "rate"}},
                          {"method": "swap", "variable": "sex", "rate": {"values": [0.2], "as": "rate"}})  # fmt: skip
    assert made is None
    assert "differ" in problems[0]


def test_a_mistake_elsewhere_in_a_swept_plan_is_said_once() -> None:
    made, problems = read({**STEP, "rat": 1, "rate": {"from": 0, "to": 0.5, "steps": 11}})
    assert made is None
    assert problems == ['plan "p".steps[0] (swap): unknown key "rat". Did you mean "rate"?']
