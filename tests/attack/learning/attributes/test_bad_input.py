"""What cannot be guessed is refused with a sentence."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import confide as cf

FILE = pl.DataFrame({
    "id": range(60), "sex": ["f", "m"] * 30, "job": ["p", "q", "r"] * 20, "pay": [float(i % 13) * 10 for i in range(60)],
    "same": ["x"] * 60, "none": pl.Series([None] * 60, dtype=pl.Float64), "low": [0.0] * 60, "high": [200.0] * 60,
})  # fmt: skip


def attacked(**options: Any) -> cf.Attack:
    release = cf.Plan([], identifiers=["id"], numeric=["pay"], drop=["low", "high"]).protect(FILE, seed=1)
    return cf.Intruder(knows="sex", **options).attack(release)


@pytest.mark.parametrize(
    ("variable", "words"),
    [
        ("sex", '"sex" is known to this intruder'),
        ("jobb", 'there is no column "jobb". Did you mean "job"'),
        ("id", '"id" is an identifier'),
        ("same", 'everybody has the same "same"'),
        ("none", 'all values of "none" are missing'),
        ([], "the name of a column"),
        (["job", "job"], "names a column twice: job"),
    ],
)
def test_variables(variable: Any, words: str) -> None:
    with pytest.raises(cf.InputError, match=words.replace(".", r"\.")):
        attacked().guess(variable)


@pytest.mark.parametrize(
    ("loss", "words"),
    [
        ("median", 'loss is one of zero_one, absolute, squared, .*, not "median"'),
        (3.0, "loss is one of zero_one"),
        (cf.Exceeds(limit=1e6, cost=1, gain=1), "the limit lies outside the values"),
        (cf.Exceeds(limit=-5, cost=1, gain=1), "the limit lies outside the values"),
        (lambda g, y: np.full(np.broadcast_shapes(np.shape(g), np.shape(y)), np.nan), "a finite number"),
    ],
)
def test_losses(loss: Any, words: str) -> None:
    with pytest.raises(cf.InputError, match=words):
        attacked().guess("pay", loss)


def test_losses_of_numbers_need_numbers() -> None:
    for loss in ("absolute", "squared", cf.Within(share=0.1), cf.Exceeds(limit=1, cost=1, gain=1)):
        with pytest.raises(cf.InputError, match='"job" is categorical'):
            attacked().guess("job", loss)
    with pytest.raises(cf.InputError, match="grid goes with a loss that is a function"):
        attacked().guess("pay", "absolute", grid=[1.0])


def test_statements_of_losses() -> None:
    with pytest.raises(cf.InputError, match="Within: share must be a number"):
        cf.Within(share="10%")  # type: ignore[arg-type]
    with pytest.raises(cf.InputError, match="not below zero"):
        cf.Within(share=-0.1)
    with pytest.raises(cf.InputError, match="for 10 percent write"):
        cf.Within(share=10)
    with pytest.raises(cf.InputError, match="Exceeds: cost must be above zero"):
        cf.Exceeds(limit=1, cost=0, gain=1)
    with pytest.raises(TypeError, match="cost"):
        cf.Exceeds(limit=1)  # type: ignore[call-arg]


def test_harm_needs_its_costs_and_a_loss_that_is_right_or_wrong() -> None:
    found = attacked().guess(["job", "pay"])
    with pytest.raises(TypeError, match="wrong_attribution"):
        found["job"].harm(right_identification=1, wrong_identification=1, right_attribution=1, threshold=0.5)  # type: ignore[call-arg]
    costs = {"right_identification": 1, "wrong_identification": 1, "right_attribution": 1, "wrong_attribution": 1}
    with pytest.raises(cf.InputError, match="neither right nor wrong"):
        found["pay"].harm(**costs, threshold=0.5)
    with pytest.raises(cf.InputError, match=r"for 50 percent write 0\.5"):
        found["job"].harm(**costs, threshold=50)
    with pytest.raises(cf.InputError, match='No guess of "sex"'):
        found["sex"]
    with pytest.raises(cf.InputError, match="nats are told of categories"):
        found["pay"].nats()


def test_a_file_without_link() -> None:
    release = cf.Release.adopt(
        FILE, FILE.drop("id", "low", "high"), cf.Plan([], identifiers=["id"], drop=["low", "high"])
    )
    with pytest.raises(cf.InputError, match="which released row is whose"):
        cf.Intruder(knows="sex").attack(release).guess("job")


def test_known_as_an_interval() -> None:
    release = cf.Plan([], identifiers=["id"], drop=["low", "high"], numeric=["pay"]).protect(FILE, seed=1)
    who = cf.Intruder(knows="sex", between={"pay": ("low", "high")})
    with pytest.raises(cf.InputError, match="as an interval"):
        who.attack(release, targets=FILE).guess("pay")
    assert who.attack(release, targets=FILE).guess("job").frame.height == 60


def test_options() -> None:
    with pytest.raises(cf.InputError, match="without is one of record, releases"):
        attacked().guess("job", without="me")
    with pytest.raises(cf.InputError, match="smoothing is how many records"):
        attacked().guess("job", smoothing=0)
    with pytest.raises(cf.InputError, match="target is a position"):
        attacked().guess("job").predictive(60)
    with pytest.raises(cf.InputError, match='by: there is no column "age"'):
        attacked().guess("job").by("age")
    release = cf.Release.adopt(FILE, FILE.drop("id"), cf.Plan([], identifiers=["id"]), link=range(60))
    with pytest.raises(cf.InputError, match="a release that was made here"):
        cf.Intruder(knows="sex").attack(release).guess("job", without="releases")
