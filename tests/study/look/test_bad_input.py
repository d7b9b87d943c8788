"""What a statistician may get wrong in a look: a sentence each, without a value of the data."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import confide as cf

PEOPLE = cf.demo("heads").head(400)
ODD = PEOPLE.with_columns(
    empty=pl.lit(None, pl.Int64), zero=pl.when(pl.int_range(400) < 3).then(0.0).otherwise(5.0),
    small=pl.col("weight") / pl.col("weight").mean(), gaps=pl.when(pl.int_range(400) > 3).then(5.0),
    lists=pl.concat_list("age"),
)  # fmt: skip


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"keys": ["sex", "agee"]}, 'keys: there is no column "agee". Did you mean "age"?'),
        ({"keys": []}, "keys names no variable"),
        ({"keys": ["sex", "sex"]}, "keys names a column twice: sex"),
        ({"keys": 5}, "keys must be text or a list"),
        ({"keys": ["id", "sex"]}, r'"id" has as many values as rows \(400\)'),
        ({"keys": ["empty", "sex"]}, 'all 400 values of "empty" are missing'),
        ({"keys": ["lists"]}, "holds lists, structures or bytes"),
        ({"keys": ["sex"], "weight": "zero"}, 'of 400 values of "zero", 3 zero or negative'),
        ({"keys": ["sex"], "weight": "gaps"}, 'of 400 values of "gaps", 4 missing'),
        ({"keys": ["sex"], "weight": "small"}, "are below 1, but .* They are scaled"),
        ({"keys": ["sex"], "weight": "race"}, '"race" holds no numbers'),
        ({"keys": ["sex"], "weight": ["weight", "age"]}, "weight is the name of one column"),
        ({"keys": ["sex"], "weight": "wait"}, 'weight: there is no column "wait"'),
        ({"keys": ["sex"], "unit": "id"}, 'every value of "id" has one row'),
        ({"keys": ["sex"], "sensitive": ["sex", "tenure"]}, "a key or sensitive, not both"),
        ({"keys": ["sex", "age"], "population": PEOPLE.select("sex")}, "the file of the population has no age"),
        ({"keys": ["sex"], "population": PEOPLE.head(9)}, "a file of 9 people cannot hold the 400 rows"),
        ({"keys": ["sex"], "population": 12}, "12 people are fewer than the 400 rows"),
        ({"keys": ["sex"], "population": "people.csv"}, "population must be a polars DataFrame"),
        ({"keys": ["sex"], "population": PEOPLE, "count": "n"}, 'the population has no column "n"'),
        ({"keys": ["sex"], "population": PEOPLE, "count": "race"}, "whole numbers from 0"),
        ({"keys": ["sex"], "population": 1_000, "count": "n"}, "give population=file as well"),
        ({"guess": False}, r"With guess=False, state keys=\[...\]"),
    ],
)
def test_a_sentence_each(given: dict[str, Any], said: str) -> None:
    with pytest.raises(cf.InputError, match=said):
        cf.look(ODD, **given)


def test_several_things_are_told_at_once() -> None:
    with pytest.raises(cf.InputError, match="Several things are wrong") as told:
        cf.look(ODD, keys=["id", "empty"], weight="race", unit="id")
    assert len(told.value.problems) == 4


def test_no_rows_and_no_keys() -> None:
    with pytest.raises(cf.InputError, match="The file has no rows"):
        cf.look(PEOPLE.head(0))
    rng = np.random.default_rng(1)
    with pytest.raises(cf.InputError, match=r"No key was found among 3 variables.* or --keys sex age"):
        cf.look({f"q{i}": rng.integers(0, 4, 50) for i in range(3)})
    with pytest.raises(cf.InputError, match="data must be a polars DataFrame"):
        cf.look([1, 2])


def test_a_guess_that_does_not_work_is_left_out_and_said() -> None:
    found = cf.look(PEOPLE.with_columns(pl.col("weight") / 1e6), keys=["sex", "age"])
    assert found.stated.weight is None
    assert any("It was guessed, and is left out." in d for d in found.doubts)


def test_weights_beside_another_population_are_doubted() -> None:
    found = cf.look(PEOPLE, keys=["sex", "age"], weight="weight", population=1_000)
    assert any("but the population is stated as 1,000" in d for d in found.doubts)
    assert cf.look(PEOPLE, keys=["sex", "age"], population=1_000).stated.weight is None


@pytest.mark.parametrize("rows", [1, 3, 9])
def test_a_few_rows(rows: int) -> None:
    found = cf.look(PEOPLE.head(rows), keys=["sex", "age"])
    assert any(f"The file has {rows} row" in d for d in found.doubts)
    assert found.counted.below[-1] >= min(rows, 4) or rows == 9
    assert str(found)


def test_many_keys() -> None:
    rng = np.random.default_rng(2)
    wide = pl.DataFrame({f"q{i}": rng.integers(0, 3, 300) for i in range(70)})
    found = cf.look(wide, keys=wide.columns[:15], guess=False)
    assert found.growth.height == 12
    assert found.growth["added"][-1] == "4 more"
    assert any("only sets of up to" in d for d in found.doubts)
    assert any("too many for SUDA2" in d for d in cf.look(wide, keys=wide.columns, guess=False).doubts)


def test_errors_hold_no_value() -> None:
    people = pl.DataFrame({"name": [f"secret{i}" for i in range(50)], "sex": ["secretsex"] * 50})
    for keys in (["name"], ["nam"], ["sex", "x"]):
        with pytest.raises(cf.InputError) as told:
            cf.look(people, keys=keys)
        assert "secret" not in str(told.value)
