"""The subject of a method is always `variables`; earlier spellings still work, and no text of a plan changes."""

import copy
import pickle
from dataclasses import replace
from typing import Any

import pytest

import confide as cf
from confide.core.registry import known
from confide.protect.canonical import canonical

SEVERAL: dict[str, dict[str, Any]] = {
    "Swap": {"rate": 0.3}, "Pram": {"retention": 0.8}, "Noise": {"sd": 3}, "LognormalNoise": {"sd": 0.1},
    "RankSwap": {"window": 5}, "Microaggregate": {"k": 3}, "MeasurementError": {"noise_sd": 2},
    "MatrixMask": {"B": [[2.0]]}, "HotDeck": {"match": "b"}, "LocalSuppression": {"k": 3},
}  # fmt: skip
ONE: dict[str, dict[str, Any]] = {
    "Recode": {"width": 5}, "Topcode": {"at": 80}, "Bottomcode": {"at": 20}, "Round": {"base": 5},
    "QuantileRegression": {"given": "b"}, "CartSynthesis": {"given": "b"}, "NormalSynthesis": {"given": "b"},
    "LogisticSynthesis": {"given": "b"},
    "Recompute": {"plus": "b"},
}  # fmt: skip
ALL = {**SEVERAL, **ONE}


def test_every_method_is_here() -> None:
    assert {c.__name__ for c in known("method").values()} == {*ALL, "Sample"}


@pytest.mark.parametrize("name", ALL)
def test_variables_is_the_subject_of_every_method(name: str) -> None:
    make, how = getattr(cf, name), ALL[name]
    step = make("a", **how)
    assert step.variables == ("a",)
    assert step.stream == f"{name}:a"
    assert step == make(variables="a", **how) == make(["a"], **how) == replace(step, variables=("a",))
    assert step == copy.copy(step) == pickle.loads(pickle.dumps(step))
    assert repr(step).startswith(f"{name}(variables=('a',)")
    for old in ("what", "variable"):
        with pytest.warns(DeprecationWarning, match=f"{name}: {old} is now called variables") as told:
            assert make(**{old: "a"}, **how) == step
        assert told[0].filename == __file__
        with pytest.raises(cf.InputError, match=f"{old} is the earlier name of variables; give one of them"):
            make(variables="a", **{old: "a"}, **how)


@pytest.mark.parametrize("name", ALL)
def test_plan_files_take_every_spelling_and_write_one(name: str) -> None:
    plan = cf.Plan([getattr(cf, name)("a", **ALL[name])])
    table = plan.to_dict()["steps"][0]
    assert table["variable"] == "a"
    rest = {k: v for k, v in table.items() if k != "variable"}
    for key in ("variable", "variables", "what"):
        for value in ("a", ["a"]):
            assert cf.Plan.from_dict({"steps": [{key: value, **rest}]}) == plan
    assert '"variable":"a"' in canonical(plan)


@pytest.mark.parametrize("name", ONE)
def test_a_method_of_one_variable_says_so(name: str) -> None:
    with pytest.raises(cf.InputError, match=f"{name} takes the name of one column; give a step for each"):
        getattr(cf, name)(["a", "c"], **ONE[name])


@pytest.mark.parametrize("given", ["", (), ["a", "a"], 5, [5], None, {"a"}])
def test_what_is_no_name_is_refused(given: Any) -> None:
    for name in ("Swap", "Recode"):
        with pytest.raises(cf.InputError, match=r"name of a column|names a column twice"):
            getattr(cf, name)(given, **ALL[name])


def test_earlier_attributes_can_be_read() -> None:
    assert cf.Recode("a", width=5).variable == "a"
    with pytest.warns(DeprecationWarning, match="Swap: what is now called variables"):
        assert cf.Swap(["a", "b"], rate=0.3).what == ("a", "b")


def test_a_step_cannot_be_given_other_variables() -> None:
    step: Any = cf.Swap("a", rate=0.3)
    with pytest.raises(AttributeError):
        step.variables = ("b",)
