"""Codes that a file declares missing, such as 9 for refused: no value of what is learnt, and by rule as keys."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import confide as cf
from confide.measures import (
    IndividualRisk,
    KAnonymity,
    KMap,
    LDiversity,
    Suda,
    TCloseness,
    UnsafeCombinations,
)

KEYS = {"a": [1] * 6 + [2] * 6, "b": [1, 1, 1, 9, 9, 8, 2, 2, 2, 2, 2, 9]}
VALUES = [1, 1, 1, 1, 1, 9, 0, 1, 0, 1, 0, 1]
FRAME = pl.DataFrame({**KEYS, "s": VALUES})
SAID = cf.Schema({v: cf.VariableSchema(v, value_labels={9: "refused"}, missing=(8, 9)) for v in ("b", "s")})
CODED = cf.Data(FRAME, SAID)
NULLS = FRAME.with_columns(pl.when(pl.col(v) < 8).then(v).alias(v) for v in ("b", "s"))
TREE = {"0": ["no"], "1": ["yes"]}


@pytest.mark.parametrize(
    "risk",
    [
        LDiversity("a", "s"), LDiversity("a", "s", kind="entropy"), LDiversity("a", "s", kind="recursive", c=3),
        TCloseness("a", "s"), TCloseness("a", "s", kind="ordered"),
        TCloseness("a", "s", kind="hierarchical", hierarchy=TREE), KAnonymity(["a", "b"], missing="wildcard"),
        Suda(["a", "b"], missing="never"), UnsafeCombinations(["a", "b"]),
        KMap(["a", "b"], NULLS, missing="wildcard"), KMap(["a", "b"], CODED, missing="wildcard"),
    ],
    ids=lambda risk: f"{risk.risk}-{getattr(risk, 'kind', '')}",
)  # fmt: skip
def test_counts_as_if_they_were_missing(risk: Any) -> None:
    found, expected = risk.of(CODED), risk.of(NULLS)
    assert found.frame.equals(expected.frame)
    assert found.numbers == expected.numbers
    assert "declares missing" in " ".join(found.notes)
    assert "declares missing" not in " ".join(expected.notes)


@pytest.mark.parametrize(
    "risk", [KAnonymity(["a", "b"]), Suda(["a", "b"]), IndividualRisk(["a", "b"], fraction=0.1)], ids=lambda r: r.risk
)
def test_as_keys_with_a_category_of_their_own_each_code_is_seen(risk: Any) -> None:
    """Everybody tells 8 from 9, so that the bound of the rule would not hold if both were one category."""
    found = risk.of(CODED)
    assert found.frame.equals(risk.of(FRAME).frame)
    text = " ".join(repr(found).split())
    assert (
        "0 of 24 cells are empty, 4 hold a code that the file declares missing (as for refused): each code is a" in text
    )


def test_a_class_of_one_answer_and_refusals_is_not_diverse() -> None:
    found = LDiversity("a", "s").of(CODED)
    assert found.frame["diversity"].to_list() == [1.0] * 6 + [2.0] * 6
    assert found.value == 6
    assert "1 of 12 values of s are missing (1 hold a code that the file declares missing)" in repr(found)


def test_releases_hold_codes_in_their_own_form() -> None:
    income = [1_200, 1_750, 9_999, 400, 3_100, 9_999, 2_000, 2_100]
    said = cf.VariableSchema("income", value_labels={9_999: "refused"}, missing=(9_999,))
    file = cf.Data({"a": [*"xxxyyyyy"], "income": income}, cf.Schema({"income": said}))
    for steps in ([], [cf.Recode("income", width=2_000)], [cf.Topcode("income", at=3_000)]):
        release = cf.Plan(steps).protect(file, seed=1)
        found = LDiversity("a", "income").of(release)
        assert "2 of 8 values of income are missing (2 hold a code" in repr(found)


def test_a_code_that_is_put_together_with_values_is_a_value() -> None:
    plan = cf.Plan([cf.Recode("s", mapping={9: "other", 0: "other", 1: "yes"})])
    found = LDiversity("a", "s").of(plan.protect(CODED, seed=1))
    assert "declares missing" not in repr(found)


@pytest.mark.parametrize(("data", "finest"), [(CODED, False), (NULLS, False), (FRAME, True)])
def test_generalising_counts_them_as_no_value(data: Any, finest: bool) -> None:
    towns = cf.Hierarchy(table={1: ["all"], 2: ["all"]})
    found = cf.generalise(data, hierarchies={"a": towns}, until=LDiversity("a", "s"))
    assert (found.best == {"a": "as it is"}) is finest
