"""l-diversity: the worked case, twins from the definition, invariants, missing values, and bad input."""

from __future__ import annotations

from collections import Counter
from math import exp, log
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import confide as cf
from confide.measures import LDiversity

rows = st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from(["x", "y", "z", None])), min_size=2, max_size=14)


def diverse(values: list[Any], l: int, kind: str, c: float) -> bool:  # noqa: E741
    """The slow twin: one class from the definition."""
    r = sorted(Counter(v for v in values if v is not None).values(), reverse=True)
    if kind == "distinct":
        return len(r) >= l
    if kind == "entropy":
        return bool(r) and exp(-sum(x / sum(r) * log(x / sum(r)) for x in r)) >= l - 1e-9
    return bool(r) and r[0] < c * sum(r[l - 1 :])


def test_the_worked_case() -> None:
    file = {"town": ["a"] * 4, "illness": ["flu", "flu", "flu", "cold"]}
    assert LDiversity("town", "illness").of(file).frame["diversity"].to_list() == [2.0] * 4
    found = LDiversity("town", "illness", l=1.8, kind="entropy").of(file)
    assert found.frame["diversity"][0] == pytest.approx(1.7547653506)
    assert found.value == 4
    assert LDiversity("town", "illness", l=1.7, kind="entropy").of(file).value == 0
    assert LDiversity("town", "illness", kind="recursive", c=3).of(file).value == 4
    assert LDiversity("town", "illness", kind="recursive", c=3.01).of(file).value == 0


@settings(max_examples=60, deadline=None)
@given(rows, st.sampled_from(["distinct", "entropy", "recursive"]), st.integers(2, 3), st.sampled_from([0.5, 1.0, 2.0]))
def test_equals_the_twin(file: list[tuple[str, str | None]], kind: str, l: int, c: float) -> None:  # noqa: E741
    file = [("a", "x"), *file]
    risk = LDiversity("k", "s", l=l, kind=kind, c=c if kind == "recursive" else None)
    found = risk.of(pl.DataFrame(file, schema={"k": pl.String, "s": pl.String}, orient="row"))
    expected = [not diverse([s for k, s in file if k == own], l, kind, c) for own, _ in file]
    assert found.frame["below"].to_list() == expected
    assert found.numbers == {"": sum(expected), "share": pytest.approx(sum(expected) / len(file))}


@settings(max_examples=40, deadline=None)
@given(rows)
def test_labels_change_nothing_and_merging_classes_never_adds(file: list[tuple[str, str | None]]) -> None:
    file = [("a", "x"), ("b", "x"), *file]
    schema = {"k": pl.String, "s": pl.String}
    before = LDiversity("k", "s").of(pl.DataFrame(file, schema=schema, orient="row"))
    other = [({"a": "q", "b": "c"}[k], None if s is None else {"x": "u", "y": "a", "z": "b"}[s]) for k, s in file]
    after = LDiversity("k", "s").of(pl.DataFrame(other, schema=schema, orient="row"))
    assert after.frame.equals(before.frame)
    one = LDiversity("k", "s").of(pl.DataFrame([("a", s) for _, s in file], schema=schema, orient="row"))
    assert one.value <= before.value  # type: ignore[operator]


def test_missing_is_no_value_and_is_told() -> None:
    file = {"k": ["a", "a", "b", "b"], "s": ["x", None, None, None]}
    found = LDiversity("k", "s").of(file)
    assert found.frame["diversity"].to_list() == [1.0, 1.0, 0.0, 0.0]
    assert found.value == 4
    text = " ".join(repr(found).split())
    assert "3 of 4 values of s are missing, and count as no value" in text
    assert "1 classes have no value of s at all" in text


def test_what_is_not_released_cannot_be_learnt() -> None:
    heads = cf.demo("heads").head(300)
    release = cf.Plan([], identifiers=["id"], drop=["tenure"]).protect(heads, seed=1)
    found = LDiversity(["sex", "age"], "tenure").of(release)
    assert found.value == 0
    assert "tenure is not released" in repr(found)


@pytest.mark.parametrize("more", [{}, {"kind": "entropy"}, {"kind": "recursive", "c": 3}])
def test_more_values_are_asked_for_than_there_are(more: dict[str, Any]) -> None:
    file = {"k": [*"aabb"], "s": [*"xyxz"], "t": ["x"] * 4}
    found = LDiversity("k", "s", l=99, **more).of(file)
    assert found.value == 4
    assert "The file has 3 values of s, fewer than l = 99: no class can be diverse" in repr(found)
    assert "no class can be diverse" not in repr(LDiversity("k", "s", l=3, **more).of(file))
    assert "The file has one value of t: no class can be diverse" in repr(LDiversity("k", "t", **more).of(file))


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (lambda: LDiversity("sex", "sex"), '"sex" is among the keys'),
        (lambda: LDiversity("sex", ["age"]), "sensitive is the name of one variable"),
        (lambda: LDiversity("sex", "tenur"), 'there is no column "tenur"'),
        (lambda: LDiversity("sex", "tenure", l=1), "l is how many values a class must have, above 1"),
        (lambda: LDiversity("sex", "tenure", l=2.5), 'only "entropy" takes 2.5'),
        (lambda: LDiversity("sex", "tenure", kind="recursive"), "needs c"),
        (lambda: LDiversity("sex", "tenure", kind="recursive", c=0), "c is a number above 0"),
        (lambda: LDiversity("sex", "tenure", c=2), 'c belongs to kind="recursive" only'),
        (lambda: LDiversity("sex", "tenure", kind="even"), 'kind is one of "distinct"'),
        (lambda: LDiversity("sex", "nothing"), 'all values of "nothing" are missing'),
    ],
)
def test_bad_input(made: Any, said: str) -> None:
    heads = cf.demo("heads").head(300).with_columns(nothing=pl.lit(None, dtype=pl.String))
    with pytest.raises(cf.InputError, match=said):
        made().of(heads)
