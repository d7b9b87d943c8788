"""How each variable was treated, as it is printed."""

from __future__ import annotations

import polars as pl
import pytest

import confide as cf

HEADS = cf.demo("heads").head(400).with_columns(rooms=pl.Series([1, 2, 3, 4] * 100))
RELEASE = cf.Plan([cf.Recode("age", width=10), cf.Swap("race", rate=0.3)], identifiers="id").protect(HEADS, seed=1)


def knowledge(release: cf.Release = RELEASE, **stated: object) -> dict[str, str]:
    intruder = cf.Intruder(knows=["sex", "race", "age"], **stated)  # type: ignore[arg-type]
    return {t.variable: t.knowledge for t in intruder.attack(release).treatments}


def test_mistakes_are_printed_with_their_unit() -> None:
    found = knowledge(errors={"age": 0.1, "sex": 0.05, "race": cf.Pram("race", retention=0.9)})
    assert found["age"] == "known, with mistakes (sd 0.1)"
    assert found["sex"] == "known, with mistakes (0.05 wrong)"
    assert found["race"] == "known, with mistakes (Pram)"


def test_missing_values_are_said_to_be_known_or_not() -> None:
    gaps = HEADS.with_columns(pl.when(pl.int_range(pl.len()) % 7 > 0).then("sex").alias("sex"))
    release = cf.Plan([cf.Swap("race", rate=0.3)], identifiers="id").protect(gaps, seed=1)
    assert knowledge(release)["sex"] == "known, also if missing"
    assert knowledge(release, knows_missing=False)["sex"] == "known unless missing"
    assert knowledge(release, knows_missing=["age"])["sex"] == "known unless missing"
    assert knowledge(release)["race"] == "known"


def test_a_standard_deviation_of_what_counts_as_categories() -> None:
    with pytest.raises(
        cf.InputError, match=r"counts as categories here .whole numbers, 4 values.*numeric= of the plan"
    ):
        cf.Intruder(knows=["rooms"], errors={"rooms": 1.5}).attack(RELEASE)
    numbers = cf.Plan([], identifiers="id", numeric="rooms").protect(HEADS, seed=1)
    found = cf.Intruder(knows=["rooms"], errors={"rooms": 1.5}).attack(numbers)
    assert found.treatments[0].knowledge == "known, with mistakes (sd 1.5)"
