"""k-map: counts in a population by brute force, the shipped population, coarsened releases, and bad input."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import confide as cf
from confide.measures import KMap

KEYS = ["sex", "race", "marital", "age"]
cells = st.sampled_from(["a", "b", "c", None])
files = st.lists(st.tuples(cells, cells), min_size=1, max_size=8)
SCHEMA = {"u": pl.String, "v": pl.String}


@settings(max_examples=60, deadline=None)
@given(files, files, st.sampled_from(["own", "wildcard"]))
def test_equals_the_twin(rows: list[tuple[Any, Any]], people: list[tuple[Any, Any]], rule: str) -> None:
    rows, people = [("a", "b"), *rows], [("a", "b"), *people, *[("z", "z")] * 9]
    found = KMap(["u", "v"], pl.DataFrame(people, schema=SCHEMA, orient="row"), k=2, missing=rule)
    made = found.of(pl.DataFrame(rows, schema=SCHEMA, orient="row"))

    def agree(z: tuple[Any, Any], y: tuple[Any, Any]) -> bool:
        return all(a == b or (rule == "wildcard" and None in (a, b)) for a, b in zip(z, y, strict=True))

    assert made.frame["people"].to_list() == [sum(agree(z, y) for y in people) for z in rows]


def test_the_shipped_population() -> None:
    """14 of the records are unique in the population on four keys, as the methods say: tau1 of keys A."""
    heads, people = cf.demo("heads"), cf.demo("heads_population")
    found = KMap(KEYS, people, k=2, count="n_pop").of(heads)
    unique = cf.measures.KAnonymity(KEYS).of(heads).frame["alike"] == 1
    assert found.value == 14
    assert (found.frame["below"] & unique).sum() == 14
    assert "1,016,437 people" in repr(found)
    assert (found.frame["people"] >= cf.measures.KAnonymity(KEYS).of(heads).frame["alike"]).all()


def test_a_coarsened_release_is_compared_in_its_own_form() -> None:
    heads, people = cf.demo("heads").head(2000), cf.demo("heads_population")
    release = cf.Plan([cf.Recode("age", width=10), cf.Recode("race", mapping={"Black": "other"})], identifiers=["id"])
    found = KMap(["sex", "race", "age"], people, count="n_pop").of(release.protect(heads, seed=1))
    assert found.frame["people"].min() > 0  # type: ignore[operator]
    raw = KMap(["sex", "race", "age"], people, count="n_pop").of(heads)
    assert found.value <= raw.value  # type: ignore[operator]


def test_keys_that_nobody_has_are_told() -> None:
    found = KMap("u", {"u": ["a", "b", "c"]}, k=2).of({"u": ["a", "q", None]})
    assert found.frame["people"].to_list() == [1, 0, 0]
    assert found.value == 3
    text = " ".join(repr(found).split())
    assert "2 of 3 records have keys that nobody in the population has" in text
    assert "1 of them have a missing key" in text
    assert "fewer people with their keys" not in text


def test_a_population_with_fewer_people_than_the_file_has_records_is_told_from_the_first() -> None:
    people = {"u": [*"aaabbbbbbb"]}
    text = " ".join(repr(KMap("u", people, k=2).of({"u": [*"aaaabb"]})).split())
    assert "For 4 of 6 records the population has fewer people with their keys than the file has records" in text
    assert "Do not rely on these numbers" in text
    assert "fewer people with their keys" not in repr(KMap("u", people, k=2).of({"u": [*"aaabb"]}))


def test_swapped_values_may_be_more_than_the_population_has() -> None:
    file = pl.DataFrame({"u": ["a"] * 80 + ["b"] * 80 + ["a"] * 2, "v": ["x"] * 80 + ["y"] * 82})
    release = cf.Plan([cf.Swap("u", rate=0.5)]).protect(file, seed=1)
    text = " ".join(repr(KMap(["u", "v"], file).of(release)).split())
    assert "values that are altered at random (u) may make records alike that are not" in text
    assert "Do not rely" not in text


def test_missing_keys_are_their_own_category_unless_it_is_said() -> None:
    """As the other risks, and as a first look, count."""
    people, file = {"u": [*"aabb"]}, {"u": ["a", None]}
    assert KMap("u", people).of(file).frame["people"].to_list() == [2, 0]
    assert KMap("u", people, missing="wildcard").of(file).frame["people"].to_list() == [2, 4]


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (lambda: KMap("u", {"w": [1]}), 'population has no column "u"'),
        (lambda: KMap("u", "people.csv"), "population is a file of people"),
        (lambda: KMap("u", {"u": ["a"], "n": [-1]}, count="n"), "counts people: whole numbers from 0"),
        (lambda: KMap("u", {"u": ["a"]}, count="n"), 'population has no column "n"'),
        (lambda: KMap("u", {"u": ["a"]}), "the population has 1 people and the file 2 records.*count= names"),
        (lambda: KMap("u", {"u": ["a"]}, k=0), "k is a whole number from 2"),
        (lambda: KMap("u", {"u": ["a"]}, missing="person"), 'missing is one of "own"'),
        (lambda: KMap("u", pl.DataFrame({"u": []}, schema={"u": pl.String})), "population has no rows"),
    ],
)
def test_bad_input(made: Any, said: str) -> None:
    with pytest.raises(cf.InputError, match=said):
        made().of({"u": ["a", "b"]})
