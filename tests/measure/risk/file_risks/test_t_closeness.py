"""t-closeness: the cases of Li et al. and of the tree, twins value by value and by transport, and bad input."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import confide as cf
from confide.measures import TCloseness

TREE = {"a": ["ab"], "b": ["ab"], "c": ["cd"], "d": ["cd"]}
rows = st.lists(st.tuples(st.sampled_from("uvw"), st.sampled_from(["a", "b", "c", "d", None])), min_size=4, max_size=20)


def distances(kind: str) -> np.ndarray:
    """Between the values a to d, by kind."""
    if kind == "ordered":
        return np.abs(np.subtract.outer(np.arange(4), np.arange(4))) / 3
    if kind == "equal":
        return 1.0 - np.eye(4)
    group = np.array([0, 0, 1, 1])
    return np.where(np.eye(4) > 0, 0.0, np.where(group[:, None] == group, 0.5, 1.0))


def moved(p: np.ndarray, q: np.ndarray, far: np.ndarray) -> float:
    """The slow twin: the cheapest transport from p to q, as a linear programme."""
    m = len(p)
    ends = np.concatenate([np.kron(np.eye(m), np.ones(m)), np.kron(np.ones(m), np.eye(m))])
    return float(linprog(far.ravel(), A_eq=ends, b_eq=np.concatenate([p, q])).fun)


def test_salaries_of_li_and_others() -> None:
    file = {"area": [*"aaabbbccc"], "salary": [3, 4, 5, 6, 8, 11, 7, 9, 10]}
    found = TCloseness("area", "salary", t=0.3, kind="ordered").of(file)
    assert found.frame["distance"].to_list()[:4] == pytest.approx([0.375, 0.375, 0.375, 1 / 6])
    assert found.numbers["largest"] == pytest.approx(0.375)
    assert found.value == 3


def test_a_tree_of_two_by_two() -> None:
    file = {"k": [*"uuvvwwww"], "s": [*"abac", *"cdbd"]}
    found = TCloseness("k", "s", kind="hierarchical", hierarchy=TREE).of(file)
    assert found.frame["distance"].to_list()[:4] == pytest.approx([0.5, 0.5, 0.25, 0.25])


@settings(max_examples=50, deadline=None)
@given(rows, st.sampled_from(["ordered", "equal", "hierarchical"]))
def test_equals_the_cheapest_transport(file: list[tuple[str, str | None]], kind: str) -> None:
    file = [*(("z", v) for v in "abcd"), *file]  # all four values occur
    more = {"hierarchy": TREE} if kind == "hierarchical" else {}
    found = TCloseness("k", "s", kind=kind, **more).of(  # type: ignore[arg-type]
        pl.DataFrame(file, schema={"k": pl.String, "s": pl.String}, orient="row")
    )
    share = lambda values: np.array([values.count(v) for v in "abcd"]) / max(sum(v is not None for v in values), 1)  # noqa: E731
    q = share([s for _, s in file])
    for (own, _), distance in zip(file, found.frame["distance"], strict=True):
        mine = [s for k, s in file if k == own]
        if all(s is None for s in mine):
            assert distance is None
        else:
            assert distance == pytest.approx(moved(share(mine), q, distances(kind)), abs=1e-9)


def test_many_numbers_equal_the_sum_value_by_value() -> None:
    rng = np.random.default_rng(1)
    file = pl.DataFrame({"k": rng.integers(0, 40, 1000).astype(str), "x": rng.normal(size=1000).round(2)})
    values = np.unique(file["x"])
    q = np.array([(file["x"] == v).mean() for v in values])
    found = TCloseness("k", "x", t=0.1).of(file).frame.with_columns(k=file["k"]).group_by("k").first()
    for k, distance in found.select("k", "distance").iter_rows():
        mine = file.filter(pl.col("k") == k)["x"]
        p = np.array([(mine == v).mean() for v in values])
        assert distance == pytest.approx(np.abs(np.cumsum(p - q)).sum() / (len(values) - 1), abs=1e-9)


@settings(max_examples=30, deadline=None)
@given(rows)
def test_labels_of_keys_change_nothing_and_the_whole_file_is_close(file: list[tuple[str, str | None]]) -> None:
    file = [("u", "a"), *file]
    schema = {"k": pl.String, "s": pl.String}
    before = TCloseness("k", "s").of(pl.DataFrame(file, schema=schema, orient="row"))
    other = [({"u": "3", "v": "1", "w": "2"}[k], s) for k, s in file]
    assert TCloseness("k", "s").of(pl.DataFrame(other, schema=schema, orient="row")).frame.equals(before.frame)
    one = TCloseness("k", "s").of(pl.DataFrame([("u", s) for _, s in file], schema=schema, orient="row"))
    assert one.numbers["largest"] == pytest.approx(0, abs=1e-12)
    merged = [("u" if k == "v" else k, s) for k, s in file]
    after = TCloseness("k", "s").of(pl.DataFrame(merged, schema=schema, orient="row"))
    assert after.numbers["largest"] <= before.numbers["largest"] + 1e-12  # type: ignore[operator]


@pytest.mark.parametrize(
    ("values", "kind", "said"),
    [
        (pl.Series(["C50", "F20", "I10", "J45"] * 6), "equal", "s holds categories; where their order means something"),
        (pl.Series(["10", "9", "8", "7"] * 6), "equal", "s holds categories"),
        (pl.Series([*"bcad"] * 6, dtype=pl.Enum([*"abcd"])), "equal", "s holds categories"),
        (pl.Series([1, 2, 3, 4] * 6), "equal", "s holds categories"),
        (pl.Series(np.arange(24) + 0.5), "ordered", "each one step from the next."),
    ],
)
def test_the_kind_is_that_of_the_variable_unless_it_is_stated(values: pl.Series, kind: str, said: str) -> None:
    file = pl.DataFrame({"k": [*"aab"] * 8, "s": values})
    found, stated = TCloseness("k", "s").of(file), TCloseness("k", "s", kind=kind).of(file)
    assert found.frame.equals(stated.frame)
    assert found.words == stated.words
    assert found.notes[0].startswith(f'Distance "{kind}"')
    assert said in found.notes[0]
    assert (TCloseness("k", "s", kind="ordered").of(file).frame["distance"] <= found.frame["distance"] + 1e-12).all()


@pytest.mark.parametrize("values", [[1, 2, 3, None], [1.0, 2.0, 3.0, None], ["1", "2", "3", None]])
@pytest.mark.parametrize("one", [1, 1.0, "1"])
def test_whole_numbers_are_in_a_tree_however_they_are_stored(values: list[Any], one: Any) -> None:
    tree = {one: ["A"], 2: ["A"], 3: ["B"]}
    found = TCloseness("k", "s", kind="hierarchical", hierarchy=tree).of(pl.DataFrame({"k": [*"aabb"], "s": values}))
    assert found.frame["distance"].to_list() == pytest.approx([1 / 3, 1 / 3, 2 / 3, 2 / 3])


def test_an_order_that_is_stated_for_text_is_named() -> None:
    file = pl.DataFrame({"k": [*"aabb"], "s": [*"badc"]})
    assert "that of the alphabet" in TCloseness("k", "s", kind="ordered").of(file).notes[0]
    listed = file.with_columns(pl.col("s").cast(pl.Enum([*"dcba"])))
    assert "in which the file lists its categories" in TCloseness("k", "s", kind="ordered").of(listed).notes[0]


def test_a_plan_that_cuts_numbers_keeps_their_order() -> None:
    heads = cf.demo("heads").head(400)
    release = cf.Plan([cf.Recode("hh_income", width=20_000)], identifiers=["id"]).protect(heads, seed=1)
    found = TCloseness(["sex"], "hh_income").of(release)
    assert found.frame.equals(TCloseness(["sex"], "hh_income", kind="ordered").of(release).frame)
    assert TCloseness(["sex"], "tenure").of(release).notes[0].startswith('Distance "equal"')


def test_a_constant_attribute_has_distance_0_and_that_is_said() -> None:
    found = TCloseness("k", "s", t=0).of({"k": [*"aabb"], "s": ["x"] * 4})
    assert found.frame["distance"].to_list() == [0.0] * 4
    assert found.value == 0
    assert "Everybody has the same s" in repr(found)


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (lambda: TCloseness("sex", "tenure", t=20), "for 20 percent write 0.2"),
        (lambda: TCloseness("sex", "tenure", kind="far"), 'kind is one of "ordered"'),
        (lambda: TCloseness("sex", "tenure", kind="hierarchical"), "go together"),
        (lambda: TCloseness("sex", "tenure", hierarchy=TREE), "go together"),
        (lambda: TCloseness("sex", "tenure", kind="hierarchical", hierarchy=TREE), "no groups for 4 of 4 values"),
        (lambda: TCloseness("sex", "tenure", kind="hierarchical", hierarchy={}), "hierarchy is a table by value"),
        (lambda: TCloseness("sex", "tenure", kind="hierarchical", hierarchy={"a": ["x", "y"], "b": ["x", "z"]}),
         "hierarchy is not nested"),
        (lambda: TCloseness("sex", "tenure", kind="hierarchical", hierarchy={"a": ["x", "y"], "b": ["x"]}),
         "every value has as many groups"),
        (lambda: TCloseness("sex", "tenure", kind="hierarchical", hierarchy={"a": [1]}), "named by text"),
    ],
)  # fmt: skip
def test_bad_input(made: Any, said: str) -> None:
    with pytest.raises(cf.InputError, match=said):
        made().of(cf.demo("heads").head(300))
