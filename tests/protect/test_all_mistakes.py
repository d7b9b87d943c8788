"""All mistakes of a step, and of a plan, are told at once; what a user wrote is named, what the data hold is not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import polars as pl
import pytest

import confide as cf

FILE = pl.DataFrame({"code": [1, 2, 3, 1] * 5, "word": ["1", "2", "secret", "secret"] * 5, "pay": range(20)})

STEPS: dict[str, tuple[Callable[[], Any], list[str]]] = {
    "swap": (lambda: cf.Swap("x", rate=3, jointly="no", within=5, simulate=-1), ["rate", "jointly", "within", "simulate"]),
    "names too": (lambda: cf.Swap("", rate=3), ["takes the name of a column", "rate"]),
    "one variable": (lambda: cf.Topcode(["x", "y"], at="high"), ["one column", "at must be a number"]),
    "noise": (lambda: cf.Noise("x", sd=-1, bounds=(3, 1), per="row"), ["sd", "bounds", "per is"]),
    "noise of several": (lambda: cf.Noise(["x", "y"], sd={"x": -1, "z": 2}), ['speaks of "z"', "above zero", '"y"']),
    "lognormal": (lambda: cf.LognormalNoise("x", sd=10, unbiased=1), ["sd is that", "unbiased"]),
    "recode": (lambda: cf.Recode("x", width=-5, breaks=[2, 1], labels=["a"]), ["exactly one", "width", "rising"]),
    "recode start": (lambda: cf.Recode("x", width=0, start="a"), ["width", "start"]),
    "pram": (lambda: cf.Pram("x", retention=5, matrix=[[2.0]], per="row"), ["either", "retention", "sum to 1", "per is"]),
    "rank swap": (lambda: cf.RankSwap("x", window=-1, exchange=2, keep_zeros=3), ["window", "exchange", "keep_zeros"]),
    "microaggregate": (lambda: cf.Microaggregate("x", k=1, within="x", standardise=2), ["k from 2", "standardise", "fixed"]),
    "sample": (lambda: cf.Sample(0, per="row"), ["releases nothing", "per is"]),
    "hot deck": (lambda: cf.HotDeck("x", match="x", window=-1, donors=0), ["window", "donors", "both taken"]),
    "logistic": (lambda: cf.LogisticSynthesis("x", given="x", draw=3), ["from itself", "draw"]),
    "cart": (lambda: cf.CartSynthesis("x", given="x", leaf=0), ["from itself", "leaf"]),
    "normal": (lambda: cf.NormalSynthesis("x", given="y", scale="z", draw=1, alpha=-1), ["scale", "draw", "alpha must", "without given"]),
    "quantiles": (lambda: cf.QuantileRegression("x", given="y", quantiles=1, zeros="a"), ["quantiles", "zeros"]),
    "error": (lambda: cf.MeasurementError(["x", "y"], noise_sd={"x": 0}, absent="all"), ["absent", "above zero", '"y"']),
    "mask": (lambda: cf.MatrixMask(["x"], A="a", B="b"), ["A", "B"]),
}  # fmt: skip


@pytest.mark.parametrize("name", STEPS)
def test_a_step_tells_all(name: str) -> None:
    make, told = STEPS[name]
    with pytest.raises(cf.InputError) as found:
        make()
    assert len(found.value.problems) >= len(told)
    assert [t for t in told if t not in str(found.value)] == []


def test_a_plan_tells_all() -> None:
    with pytest.raises(cf.InputError) as found:
        cf.Plan.from_dict(
            {
                "steps": [
                    {"method": "swap", "variable": "a", "rate": 4, "per": "z"},
                    {"method": "noise", "variable": "b"},
                ]
            }
        )
    assert len(found.value.problems) == 3
    with pytest.raises(cf.InputError) as found:
        cf.Plan([cf.Swap("a", rate=0.1), cf.Swap("a", rate=0.2)], drop=5, identifiers=["b", "b"])  # type: ignore[arg-type]
    assert len(found.value.problems) == 3
    steps = [cf.Recode("code", mapping={9: "x"}), cf.Pram("word", matrix=[[1.0]]), cf.Microaggregate("pay", k=50)]
    with pytest.raises(cf.InputError) as found:
        cf.Plan(steps).protect(FILE, seed=1)
    assert [part in str(found.value) for part in ('Recode("code")', 'Pram("word")')] == [True, True]
    with pytest.raises(cf.InputError) as found:
        cf.Plan([cf.Pram("code", matrix=[[1.0]]), cf.Pram("word", matrix=[[1.0]])]).protect(FILE, seed=1)
    assert len(found.value.problems) == 2


KEYS = {
    "text for numbers": (cf.Recode("code", mapping={"1": "a", 7: "b"}), ['2 of 2 keys', '"1", 7', '"1" is text', "write 1,"]),
    "numbers for text": (cf.Recode("word", mapping={1: "a"}), ["1 of 1 keys", "1 is a number", 'write "1"']),
    "not there": (cf.Recode("word", mapping={"one": "a"}), ['do not occur in the column: "one".']),
    "matrix": (cf.Pram("code", matrix={"1": {"1": 1.0}, "2": {"2": 1.0}}), ["have no row", '"1" is text']),
    "levels": (cf.Pram("word", matrix=[[0.5, 0.5], [0.5, 0.5]], levels=["1", "5"]), ["have no row", '"5"']),
    "braces": (cf.Recode("word", mapping={"{a}": "a"}), ['"{a}"']),
}  # fmt: skip


@pytest.mark.parametrize("name", KEYS)
def test_keys_that_do_not_occur_are_named(name: str) -> None:
    step, told = KEYS[name]
    with pytest.raises(cf.InputError) as found:
        cf.Plan([step]).protect(FILE, seed=1)
    assert [t for t in told if t not in str(found.value)] == []
    assert "secret" not in str(found.value)


def test_many_keys_are_counted() -> None:
    with pytest.raises(cf.InputError, match="and 10 more"):
        cf.Plan([cf.Recode("code", mapping=dict.fromkeys(range(100, 130), "a"))]).protect(FILE, seed=1)


def test_adopted_twice() -> None:
    release = cf.Release.adopt(FILE, FILE, cf.Plan([]), link=range(20))
    with pytest.raises(cf.InputError, match=r"call it as cf\.Release\.adopt.*a release already"):
        release.adopt(FILE, FILE)
    with pytest.raises(cf.InputError, match=r"released is a Release already.*give its data"):
        cf.Release.adopt(FILE, release, cf.Plan([]))
    with pytest.raises(cf.InputError, match="original is a Release already"):
        cf.Release.adopt(release, FILE)
    assert cf.Release.adopt(FILE, release.data, cf.Plan([])).frame.equals(FILE)
