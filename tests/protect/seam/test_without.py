"""Steps that go on where some of their variables are not released."""

from __future__ import annotations

import pytest

import confide as cf

BOTH = ["age", "hh_income"]
SD = {"age": 3.0, "hh_income": 100.0}


@pytest.mark.parametrize(
    ("step", "left"),
    [
        (cf.Swap(["race", "age"], rate=0.3), [cf.Swap("race", rate=0.3)]),
        (cf.Swap(["race", "sex"], rate=0.3), None),
        (cf.Swap("age", rate=0.3), []),
        (cf.Microaggregate(BOTH, k=4), [cf.Microaggregate("hh_income", k=4)]),
        (cf.Noise(BOTH, sd=SD), [cf.Noise("hh_income", sd=100.0)]),
        (cf.Sample(0.5), None),
        (
            cf.LocalSuppression(["sex", "race", "age"], k=4, importance={"age": 2, "sex": 3}),
            [cf.LocalSuppression(["sex", "race"], k=4, importance={"sex": 3})],
        ),
        (
            cf.LocalSuppression(["sex", "race", "age"], subsets={3: 3, 2: 5}),
            [cf.LocalSuppression(["sex", "race"], subsets={2: 5})],
        ),
        (
            cf.LocalSuppression(["sex", "race", "age"], subsets={3: 6, 1: 20}),
            [cf.LocalSuppression(["sex", "race"], subsets={2: 6, 1: 20})],
        ),
        (cf.LocalSuppression("age", k=3), []),
    ],
    ids=str,
)
def test_what_is_left_without_age(step: cf.extend.Mechanism, left: list[cf.extend.Mechanism] | None) -> None:
    """None: the step stays as it is."""
    found = step.without(["age"])
    assert found is not None
    assert list(found) == ([step] if left is None else left)
    assert all("age" not in s.variables for s in found)


def test_correlated_noise_cannot_go_on() -> None:
    step = cf.Noise(BOTH, sd=SD, correlation=[[1, 0.3], [0.3, 1]])
    assert step.without(["age"]) is None
    assert step.without(["race"]) == (step,)
    assert step.without(BOTH) == []
