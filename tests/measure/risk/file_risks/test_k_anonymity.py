"""k-anonymity by its three rules: the worked case, twins by brute force, invariants, and bad input."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import confide as cf
from confide.measures import KAnonymity

RELEASED = {"town": ["a", "a", "a", "b", None], "job": ["x", None, "y", "x", "x"]}
TRUE = {"town": ["a", "a", "a", "b", "b"], "job": ["x", "x", "y", "x", "x"]}
cells = st.sampled_from(["a", "b", "c", None])
files = st.lists(st.tuples(cells, cells, cells), min_size=2, max_size=12)


def frame(rows: list[tuple[Any, ...]]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=dict.fromkeys("uvw", pl.String), orient="row")


def alike(rows: list[tuple[Any, ...]], true: list[tuple[Any, ...]], rule: str) -> list[int]:
    """The slow twin: every two records, from the definition."""
    agree = {
        "own": lambda z, _, o: z == o,
        "person": lambda _, t, o: all(b is None or b == a for a, b in zip(t, o, strict=True)),
        "wildcard": lambda z, _, o: all(a is None or b is None or a == b for a, b in zip(z, o, strict=True)),
    }[rule]
    return [sum(agree(z, t, o) for o in rows) for z, t in zip(rows, true, strict=True)]


@pytest.mark.parametrize(("rule", "sizes"), [("own", [1, 1, 1, 1, 1]), ("person", [3, 3, 2, 2, 2]),
                                             ("wildcard", [3, 4, 2, 2, 4])])  # fmt: skip
def test_the_worked_case(rule: str, sizes: list[int]) -> None:
    release = cf.Release.adopt(TRUE, RELEASED, link=range(5))
    found = KAnonymity(["town", "job"], k=3, missing=rule).of(release)
    assert found.frame["alike"].to_list() == sizes
    assert found.value == sum(s < 3 for s in sizes)
    assert f'"{rule}"' in repr(found)
    assert f"missing: {rule}" in found.title


@settings(max_examples=60, deadline=None)
@given(files, st.sampled_from(["own", "wildcard", "person"]), st.integers(0, 2**32))
def test_equals_the_twin(rows: list[tuple[Any, ...]], rule: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    true = [tuple("abc"[rng.integers(3)] if x is None else x for x in r) for r in rows]
    keys = [v for k, v in enumerate("uvw") if any(r[k] is not None for r in rows)]
    if not keys:
        return
    used = ["uvw".index(v) for v in keys]
    data = cf.Release.adopt(frame(true), frame(rows), link=range(len(rows)))
    found = KAnonymity(keys, k=2, missing=rule).of(data)
    short = [[tuple(r[k] for k in used) for r in every] for every in (rows, true)]
    assert found.frame["alike"].to_list() == alike(*short, rule)


@settings(max_examples=40, deadline=None)
@given(files, st.sampled_from(["own", "wildcard"]))
def test_labels_and_order_change_nothing_and_coarsening_never_adds(rows: list[tuple[Any, ...]], rule: str) -> None:
    rows = [("a", "a", "a"), *rows]
    risk = KAnonymity(["u", "v", "w"], k=2, missing=rule)
    before = risk.of(frame(rows))
    renamed = [tuple({"a": "zz", "b": "q", "c": "m"}.get(x) if x else x for x in r) for r in rows]
    assert risk.of(frame(renamed)).frame["alike"].to_list() == before.frame["alike"].to_list()
    assert risk.of(frame(rows[::-1])).frame["alike"].to_list() == before.frame["alike"].to_list()[::-1]
    merged = [tuple("a" if x == "b" else x for x in r) for r in rows]
    assert risk.of(frame(merged)).value <= before.value  # type: ignore[operator]
    fewer = KAnonymity(["u", "v"], k=2, missing=rule).of(frame(rows))
    assert (fewer.frame["alike"] >= before.frame["alike"]).all()


def test_rules_agree_without_missing_values() -> None:
    heads = cf.demo("heads").head(2000)
    release = cf.Plan([], identifiers=["id"]).protect(heads, seed=1)
    sizes = [KAnonymity(["sex", "race", "age"], missing=m).of(release).frame["alike"].to_list()
             for m in ("own", "person", "wildcard")]  # fmt: skip
    assert sizes[0] == sizes[1] == sizes[2]
    assert "No key has one" in repr(KAnonymity(["sex"], k=2).of(release))


def test_truth_is_told_in_its_released_form() -> None:
    """People of a recoded file are compared by the intervals that they fall in."""
    heads = cf.demo("heads").head(500)
    release = cf.Plan([cf.Recode("age", width=10)], identifiers=["id"]).protect(heads, seed=1)
    own, person = (KAnonymity(["sex", "age"], missing=m).of(release) for m in ("own", "person"))
    assert own.frame.equals(person.frame)


def test_a_key_that_is_not_released_tells_nobody_apart() -> None:
    heads = cf.demo("heads").head(500)
    release = cf.Plan([cf.Swap("race", rate=0.3)], identifiers=["id"], drop=["age"]).protect(heads, seed=1)
    found = KAnonymity(["sex", "race", "age"]).of(release)
    assert found.frame["alike"].to_list() == KAnonymity(["sex", "race"]).of(release.data).frame["alike"].to_list()
    assert "Not released, so nobody is told apart by it: age." in found.notes
    assert any(note.startswith("Altered at random: race.") for note in found.notes)
    assert KAnonymity("age").of(release).value == 0


def test_many_patterns_of_missing_values_are_counted_without_pairs() -> None:
    """Every pattern of six keys; each pair of records by the definition."""
    rng = np.random.default_rng(3)
    codes = rng.integers(0, 2, (200, 6))
    codes[np.array(list(product([False, True], repeat=6)))[rng.integers(0, 64, 200)]] = -1
    names = [f"v{k}" for k in range(6)]
    data = pl.DataFrame({v: [None if x < 0 else str(x) for x in codes[:, k]] for k, v in enumerate(names)})
    agree = (codes[:, None] == codes[None]) | (codes[:, None] < 0) | (codes[None] < 0)
    found = KAnonymity(names, missing="wildcard").of(data)
    assert found.frame["alike"].to_list() == agree.all(axis=2).sum(axis=1).tolist()


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (lambda: KAnonymity(["sex", "agee"]), r'keys: there is no column "agee"\. Did you mean "age"\?'),
        (lambda: KAnonymity(["id"]), 'the key "id" has as many values as there are rows'),
        (lambda: KAnonymity(["sex"], k=1), "k is a whole number from 2"),
        (lambda: KAnonymity(["sex"], k=2.5), "k is how many records must be alike"),
        (lambda: KAnonymity(["sex"], k=1000), r"k is 1,000, but the file has 300 rows"),
        (lambda: KAnonymity(["nothing"]), 'all values of the key "nothing" are missing'),
        (lambda: KAnonymity(["sex"], missing="any"), 'missing is one of "own"'),
        (lambda: KAnonymity(["sex"], missing="person"), "takes a release whose link is known"),
        (lambda: KAnonymity([]), "keys takes the name of a column"),
        (lambda: KAnonymity(["sex", "sex"]), "names a column twice"),
        (lambda: KAnonymity(["sex"], label="share"), "label is the end of a column's name"),
    ],
)
def test_bad_input(made: Any, said: str) -> None:
    heads = cf.demo("heads").head(300).with_columns(nothing=pl.lit(None, dtype=pl.String))
    with pytest.raises(cf.InputError, match=said):
        made().of(heads)


def test_numbers_that_make_everybody_unique_are_told() -> None:
    heads = cf.demo("heads").head(300)
    assert "more than half as many values as there are records: hh_income" in " ".join(
        repr(KAnonymity(["sex", "hh_income"]).of(heads)).split()
    )
    assert "more than half" not in repr(KAnonymity(["sex", "age"]).of(heads))


def test_copies_and_recoded_files_by_other_tools_are_told_what_to_do() -> None:
    heads = cf.demo("heads").head(300)
    plan = cf.Plan([cf.Swap("race", rate=0.5)], identifiers=["id"])
    with pytest.raises(cf.InputError, match="data holds 2 copies; compute it for each"):
        KAnonymity("sex").of(plan.protect(heads, seed=1, copies=2))
    decades = heads.with_columns(age=(pl.col("age") // 10).cast(pl.String) + "0s")
    release = cf.Release.adopt(heads, decades, link=range(300))
    with pytest.raises(cf.InputError, match='no true value of "age" is a released one'):
        KAnonymity(["sex", "age"], missing="person").of(release)
    assert KAnonymity(["sex", "age"]).of(release).value == KAnonymity(["sex", "age"]).of(decades).value


def test_a_file_without_rows() -> None:
    with pytest.raises(cf.InputError, match="the file has no rows"):
        KAnonymity("a").of(pl.DataFrame({"a": []}))


def test_classes_bound_the_attack_of_whoever_knows_the_keys() -> None:
    """Where a plan only coarsens, the probability of the own record is 1 over the size of its class, missing included."""
    heads = cf.demo("heads").head(800)
    heads = heads.with_columns(race=pl.when(pl.col("age") % 7 == 0).then(None).otherwise("race"))
    release = cf.Plan([cf.Recode("age", width=20)], identifiers=["id"]).protect(heads, seed=1)
    keys = ["sex", "race", "age"]
    attack = cf.Intruder(knows=keys).attack(release)
    sizes = KAnonymity(keys).of(release).frame["alike"]
    assert sorted(attack.units["p_true"]) == pytest.approx(sorted(1 / sizes))
    assert attack.units["p_max"].max() <= 1 / sizes.min() + 1e-12  # type: ignore[operator]


def test_a_key_that_a_plan_hid_altogether_is_not_refused() -> None:
    """All records are alike on it; an original without any value of a key is a mistake, and refused as before."""
    keys, few = ["sex", "age"], cf.demo("heads").head(30)
    release = cf.Plan([cf.LocalSuppression(keys, k=3)], identifiers=["id"]).protect(few, seed=1)
    assert release.data["age"].null_count() == 30
    assert KAnonymity(keys, k=3).of(release).value == 0
    assert cf.measures.Suda(keys).of(release).value == 0
    assert cf.measures.UnsafeCombinations(keys).of(release).value == 0
    assert KAnonymity(keys, k=3, missing="wildcard").of(release).value == 0
    empty = few.with_columns(age=pl.lit(None, dtype=pl.Int64))
    for data in (empty, cf.Plan([], identifiers=["id"]).protect(empty, seed=1)):
        with pytest.raises(cf.InputError, match='all values of the key "age" are missing'):
            KAnonymity(keys, k=3).of(data)
