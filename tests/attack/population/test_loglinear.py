"""Log-linear models and their search, against printed targets and plain loops."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest

import confide as cf
from confide.attack.population.loglinear import Pair, _scale, dense, expected, margin
from confide.attack.population.people import model_people
from confide.attack.population.search import bias, choose, chosen_pairs
from confide.frames.columns import F64, I64
from tests.helpers import people_twin

POPULATION = 1_016_437
A = ["sex", "race", "marital", "age"]
B = ["sex", "race", "marital", "educ", "age"]


def codes(names: list[str]) -> list[I64]:
    heads = cf.demo("heads")
    return [np.unique(heads[v].to_physical().to_numpy(), return_inverse=True)[1] for v in names]


def counted(columns: list[I64]) -> tuple[I64, F64, tuple[int, ...]]:
    sizes = tuple(int(c.max()) + 1 for c in columns)
    cell, count = np.unique(np.ravel_multi_index(columns, sizes), return_counts=True)
    return cell, count.astype(float), sizes


def taus(cell: I64, count: F64, sizes: tuple[int, ...], pairs: list[Pair]) -> tuple[float, float, float, float]:
    """tau1, tau2 by the Poisson model, z1 and z2."""
    fraction = count.sum() / POPULATION
    mu = expected(dense(cell, count, sizes), pairs)
    x = mu.ravel()[cell[count == 1]] * (1 / fraction - 1)
    return float(np.exp(-x).sum()), float((-np.expm1(-x) / x).sum()), *bias(mu, cell, count, fraction)


@pytest.mark.parametrize(
    ("keys", "model", "tau1", "tau2", "z"),
    [
        (A, "independence", 7.0, 43.4, (8.3, 19.8)), (A, "search", 9.0, 53.0, (-0.2, 0.1)),
        (A, "all", 8.0, 54.0, (-0.1, -1.1)), (B, "independence", 609.5, 1304.9, (44, 58)),
        (B, "search", 393.2, 1107.6, (0.2, 0.1)), (B, "all", 367.5, 1089.3, (-1.1, -1.8)),
    ],
)  # fmt: skip
def test_uniques_of_household_heads(
    keys: list[str], model: str, tau1: float, tau2: float, z: tuple[float, float]
) -> None:
    cell, count, sizes = counted(codes(keys))
    pairs = list(combinations(range(len(keys)), 2)) if model == "all" else []
    if model == "search":
        found = choose(cell, count, sizes, count.sum() / POPULATION)
        pairs = chosen_pairs(found)
        names = [{keys[a], keys[b]} for a, b in pairs]
        first = [{"marital", "age"}, {"race", "marital"}]
        assert names == first if keys == A else names == [
            {"marital", "age"}, {"race", "educ"}, {"educ", "age"}, {"race", "marital"}, {"race", "age"},
        ]  # fmt: skip
        np.testing.assert_allclose(found[:2], z, atol=0.06)
    found_tau1, found_tau2, *found_z = taus(cell, count, sizes, pairs)
    assert found_tau1 == pytest.approx(tau1, abs=0.06)
    assert found_tau2 == pytest.approx(tau2, abs=0.06)
    np.testing.assert_allclose(found_z, z, atol=0.5 if max(z) > 40 else 0.06)


def test_the_order_of_levels_changes_nothing() -> None:
    columns, rng = codes(A), np.random.default_rng(1)
    mixed = [rng.permutation(int(c.max()) + 1)[c] for c in columns]
    one, two = (choose(*counted(c), len(c[0]) / POPULATION) for c in (columns, mixed))
    np.testing.assert_allclose(one, two, rtol=1e-6)


@pytest.mark.parametrize("shape", [(3,), (3, 4), (2, 3, 4), (2, 1, 3, 5), (1, 1, 3), (4, 2, 3, 2, 5)])
def test_margins_and_scaling_are_those_of_numpy(shape: tuple[int, ...]) -> None:
    rng, axes = np.random.default_rng(1), range(len(shape))
    table = rng.random(shape)
    for keep in (k for size in range(4) for k in combinations(axes, size)):
        wanted = table.sum(axis=tuple(i for i in axes if i not in keep), keepdims=True)
        np.testing.assert_allclose(margin(table, keep), wanted, rtol=1e-13)
        np.testing.assert_allclose(margin(np.asfortranarray(table), keep), wanted, rtol=1e-13)
        aim, scaled = rng.random(wanted.shape), table.copy()
        gap = _scale(scaled, wanted, aim)
        np.testing.assert_allclose(scaled, table * (aim / wanted), rtol=1e-13)
        assert gap == np.abs(wanted - aim).max()


def small(seed: int, n: int = 160) -> tuple[list[I64], people_twin.Table]:
    """Three variables, two of them dependent, and their table with all empty cells."""
    rng = np.random.default_rng(seed)
    a = rng.choice(3, n, p=[0.6, 0.3, 0.1])
    b = (a + rng.choice(4, n, p=[0.7, 0.1, 0.1, 0.1])) % 4
    c = rng.choice(5, n, p=[0.4, 0.3, 0.2, 0.07, 0.03])
    table = dict.fromkeys(product(range(3), range(4), range(5)), 0.0)
    for key in zip(a.tolist(), b.tolist(), c.tolist(), strict=True):
        table[key] += 1
    return [a, b, c], table


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_search_is_the_one_that_fits_every_pair(seed: int) -> None:
    columns, table = small(seed)
    found = choose(*counted(columns), 0.05)
    pairs, z = people_twin.search(table, 0.05)
    assert [tuple(p) for p in chosen_pairs(found)] == pairs
    np.testing.assert_allclose(found[:2], z, rtol=2e-3, atol=2e-3)


@pytest.mark.parametrize("behind", [True, False])
@pytest.mark.parametrize("seed", [1, 4])
def test_n_t_is_the_formula(seed: int, behind: bool) -> None:
    columns, table = small(seed)
    cell, count, sizes = counted(columns)
    blocks = [np.asarray(c, dtype=np.int64) for c in np.unravel_index(cell, sizes)]
    people, model = model_people("abc", blocks, [False] * 3, count, count * 20, behind)
    pairs = [("abc".index(a), "abc".index(b)) for a, b in model.pairs]
    twin = people_twin.people(table, pairs, 20.0, behind)
    np.testing.assert_allclose(
        people, [twin[key] for key in zip(*(c.tolist() for c in blocks), strict=True)], rtol=1e-8
    )
