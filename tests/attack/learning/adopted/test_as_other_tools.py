"""Singling out, linkability and inference against their definitions."""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np
import polars as pl
import pytest

import confide as cf
from confide.attack.learning.adopted.linkability import chance_of_link
from confide.attack.learning.adopted.predicates import (
    ABOVE,
    ATLEAST,
    ATMOST,
    BELOW,
    EQUAL,
    MISSING,
    PRESENT,
    UNEQUAL,
    Index,
    Predicates,
)  # fmt: skip
from confide.attack.learning.adopted.singling_out import thinned

HEADS = cf.demo("heads").drop("id")
LEFT, RIGHT = ["sex", "race", "age", "hh_income"], ["educ", "tenure", "property_value"]
MIXED = HEADS[np.random.default_rng(7).permutation(HEADS.height)]
PEOPLE, OTHERS = MIXED[:3_000], MIXED[3_000:6_000]


def test_counts_of_predicates_are_those_of_a_plain_loop() -> None:
    rng = np.random.default_rng(2)
    cells = np.column_stack([rng.integers(0, 4, 80), rng.integers(0, 9, 80), rng.normal(size=80).round(1)]).astype(
        float
    )
    cells[rng.random(cells.shape) < 0.1] = np.nan
    columns = np.array([rng.permutation(3)[:2] for _ in range(400)])
    operators, values = rng.integers(0, 8, (400, 2)), cells[rng.integers(0, 80, 400)[:, None], columns]
    tests = {
        EQUAL: np.equal, ATLEAST: np.greater_equal, ATMOST: np.less_equal, UNEQUAL: np.not_equal, ABOVE: np.greater,
        BELOW: np.less,
    }  # fmt: skip
    expected = []
    for c, o, v in zip(columns, operators, values, strict=True):
        good = np.full(80, True)
        for k in range(2):
            x = cells[:, c[k]]
            if o[k] in (MISSING, PRESENT):
                good &= np.isnan(x) == (o[k] == MISSING)
            else:
                good &= ~np.isnan(x) & tests[o[k]](x, v[k])
        expected.append(int(good.sum()))
    asked = Predicates(columns, operators, values)
    assert Index.of(cells).counts(asked, 1_000).tolist() == expected
    assert Index.of(cells).counts(asked, 1).tolist() == np.minimum(expected, 2).tolist()


def test_every_predicate_singles_out_in_the_original_itself() -> None:
    release = cf.Release.adopt(PEOPLE, PEOPLE)
    for mode in ("multivariate", "univariate"):
        found = cf.SinglingOut(attacks=150, mode=mode).attack(release, held_out=OTHERS)
        assert found.attack.value == 1.0
        assert found.control is not None
        assert found.control.value < 0.5
    assert found.attack.tries == 150


def test_univariate_by_counting() -> None:
    y = pl.DataFrame({"a": ["u", "u", "v", "w"], "x": [1.5, 2.5, 2.5, 9.5]})
    z = pl.DataFrame({"a": ["u", "v", "v", "w"], "x": [1.5, 1.5, 7.0, 9.0]})
    found = cf.SinglingOut(mode="univariate", attacks=99, numeric="x").attack(cf.Release.adopt(y, z))
    # released once: a = u, a = w, x = 7, x = 9, x >= 9; true of one person: a = w and x >= 9
    assert (found.attack.right, found.attack.tries) == (2, 5)
    assert "Only 5 of 99 predicates could be made" in repr(found)


def test_identifiers_are_doubted() -> None:
    file = PEOPLE[:200].with_row_index("number")
    assert 'Every released value of "number" is different' in repr(
        cf.SinglingOut(attacks=20).attack(cf.Release.adopt(file, file))
    )


def test_thinned_is_the_mean_over_all_subsets() -> None:
    for n, m, c in ((6, 3, 2), (7, 2, 5), (5, 4, 1), (5, 5, 2)):
        hits = [sum(i < c for i in chosen) == 1 for chosen in combinations(range(n), m)]
        assert thinned(np.array([c]), n, m)[0] == pytest.approx(np.mean(hits), abs=1e-12)


def test_a_release_of_other_people_singles_out_nobody_in_particular() -> None:
    release = cf.Release.adopt(PEOPLE, MIXED[6_000:9_000])
    found = cf.SinglingOut(attacks=1_000).attack(release, held_out=OTHERS)
    assert found.excess is not None
    assert abs(found.excess[0]) < found.excess[2] - found.excess[1]
    smaller = cf.SinglingOut(attacks=1_000).attack(release, held_out=OTHERS[:1_000])
    assert smaller.like is not None
    assert smaller.excess is not None
    assert abs(smaller.excess[0]) < smaller.excess[2] - smaller.excess[1]


@pytest.mark.parametrize("statement", [cf.SinglingOut(attacks=200), cf.SinglingOut(attacks=200, mode="univariate"),
                                       cf.Linkability(LEFT, RIGHT, attacks=300), cf.Inference(LEFT, "tenure")])  # fmt: skip
def test_row_order_and_threads_change_nothing(statement: cf.Inference) -> None:
    order = np.random.default_rng(8).permutation(3_000)
    one = statement.attack(cf.Release.adopt(PEOPLE, OTHERS), threads=1)
    two = statement.attack(cf.Release.adopt(PEOPLE[order], OTHERS[order[::-1]]), threads=2)
    assert one.frame.drop("what").to_numpy() == pytest.approx(two.frame.drop("what").to_numpy(), nan_ok=True, abs=1e-9)


def gower(
    y: pl.DataFrame, z: pl.DataFrame, names: list[str], scale: dict[str, list[float]] | None = None
) -> np.ndarray:
    """Distances by the definition; `scale`: values of the whole original, where y is a part of it."""
    out = np.zeros((y.height, z.height))
    for v in names:
        a, b = y[v].to_numpy(), z[v].to_numpy()
        if y[v].dtype.is_numeric():
            out += np.abs(a[:, None] - b) / np.ptp(np.concatenate([a if scale is None else scale[v], b]))
        else:
            out += a[:, None] != b
    return out


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("k", [1, 2, 3])
def test_links_are_those_of_all_ways_to_break_ties(k: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    y, z = (pl.DataFrame({"a": rng.choice(["u", "v", "w"], n), "x": rng.integers(1, 4, n) * 1.0,
                          "b": rng.choice(["p", "q"], n), "c": rng.integers(1, 4, n) * 1.0}) for n in (5, 7))  # fmt: skip
    y = pl.concat([y, z.head(3)])
    found = cf.Linkability(["a", "c"], ["x", "b"], neighbours=k, numeric=["x", "c"]).attack(cf.Release.adopt(y, z))
    scale = {v: y[v].to_list() for v in ("x", "c")}
    total = 0.0
    for t in range(8):
        sides = []
        for names in (["a", "c"], ["x", "b"]):
            d = gower(y[[t]], z, names, scale)[0].round(9)
            kth = np.sort(d)[k - 1]
            inner, ties = set(np.flatnonzero(d < kth)), np.flatnonzero(d == kth)
            sides.append([inner | set(c) for c in combinations(ties, k - len(inner))])
        total += np.mean([bool(a & b) for a in sides[0] for b in sides[1]])
    assert found.attack.right == pytest.approx(total, abs=1e-9)
    assert found.naive.value == pytest.approx(1 - comb(7 - k, k) / comb(7, k), abs=1e-12)


def test_links_on_the_heads_by_brute_force() -> None:
    y, z = PEOPLE[:200], PEOPLE[:400].with_columns(pl.col("hh_income") + 100)
    found = cf.Linkability(LEFT, RIGHT).attack(cf.Release.adopt(y, z))
    near = [d <= d.min(axis=1, keepdims=True) * (1 + 1e-9) + 1e-9 for d in (gower(y, z, LEFT), gower(y, z, RIGHT))]
    chance = (near[0] & near[1]).sum(axis=1) / near[0].sum(axis=1) / near[1].sum(axis=1)
    assert found.attack.right == pytest.approx(chance.sum(), abs=1e-9)


def test_the_chance_of_a_link_where_it_is_certain() -> None:
    one = np.array([1])
    assert chance_of_link(2, one, one, one, one, np.array([[1, 0, 0, 0]])).tolist() == [1.0]
    assert chance_of_link(1, 0 * one, 4 * one, 0 * one, 5 * one, np.array([[0, 0, 0, 2]])) == pytest.approx([0.1])


def test_inference_by_brute_force() -> None:
    y, z = PEOPLE[:300], OTHERS[:500]
    d = gower(y, z, LEFT)
    near = d <= d.min(axis=1, keepdims=True) * (1 + 1e-9) + 1e-9
    same = y["tenure"].to_numpy()[:, None] == z["tenure"].to_numpy()
    found = cf.Inference(LEFT, "tenure").attack(cf.Release.adopt(y, z))
    assert found.attack.right == pytest.approx(((near & same).sum(axis=1) / near.sum(axis=1)).sum(), abs=1e-9)
    assert found.naive.right == pytest.approx(same.mean(axis=1).sum(), abs=1e-9)
    a, b = y["property_value"].to_numpy().astype(float), z["property_value"].to_numpy().astype(float)
    close = np.abs(b - a[:, None]) <= 0.1 * np.abs(a[:, None]) * (1 + 1e-9)
    numbers = cf.Inference(LEFT, "property_value", within=0.1).attack(cf.Release.adopt(y, z))
    assert numbers.attack.right == pytest.approx(((near & close).sum(axis=1) / near.sum(axis=1)).sum(), abs=1e-9)
    assert numbers.naive.right == pytest.approx(close.mean(axis=1).sum(), abs=1e-9)


def test_an_attack_no_better_than_guessing_says_so() -> None:
    file = pl.DataFrame({"a": ["u", "v"] * 100, "b": ["p", "p", "q", "q"] * 50})
    found = cf.Inference("a", "b").attack(cf.Release.adopt(file, file))
    assert "no better than naive guessing" in repr(found)
    assert "No people were held out" in repr(found)
