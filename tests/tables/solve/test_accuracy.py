"""Floats against exact fractions: the risk and what is left of 1 both keep their relative accuracy."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from math import comb

import numpy as np
import pytest

import confide as cf
from confide.tables.solve import nested_kernels
from confide.tables.solve.nested import chance_known, nested_fractions, nested_risk
from confide.tables.solve.routes import nest_of

NEAR = Fraction(1, 10**12)


def floats(nest, most):
    """What the floats say of the risk, and of its complement before it is subtracted from 1."""
    seen = []
    run = nested_kernels.nested_risk

    def watched(*arguments):
        seen.append(run(*arguments))
        return seen[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(nested_kernels, "nested_risk", watched)
        risk = nested_risk(nest, most)
    safe, hit = seen[0][:3].sum(axis=0), seen[0][3]
    return risk, safe / (safe + hit)


def near(found, exact):
    """The relative error is at most 1e-12, down to where floats lose their digits."""
    return abs(Fraction(float(found)) - exact) <= NEAR * max(exact, Fraction(1, 10**290))


def check(nest, most, exact):
    """`exact`: n -> fraction."""
    risk, rest = floats(nest, most)
    assert len(risk) == most + 1
    for n, value in exact.items():
        assert near(risk[n], value), (n, float(value))
        assert near(rest[n], 1 - value), (n, float(1 - value))
        assert (risk[n] == 1) == (value == 1)
        assert 0 <= risk[n] <= 1
    assert (np.diff(risk) >= -1e-12 * risk[:-1]).all()


def nest(published, targets=None):
    assert published.layout.laminar
    size = published.table.counts.size
    return nest_of(published, np.ones(size, bool) if targets is None else np.isin(np.arange(size), targets))


# The twin of a list of exact cells: samples that exhaust none, counted


def times(a, b, most):
    """The product of two polynomials in whole numbers, cut after x^most."""
    out = [0] * min(len(a) + len(b) - 1, most + 1)
    for j, y in enumerate(b):
        if y:
            for i in range(min(len(a), len(out) - j)):
                out[i + j] += a[i] * y
    return out


def counted(counts, loose, most):
    """The share of samples that exhaust one of `counts`, among N = their sum + `loose` people: n -> fraction."""
    safe = [comb(loose, k) for k in range(min(loose, most) + 1)]
    for c in counts:
        safe = times(safe, [comb(c, k) - (k == c) for k in range(min(c, most) + 1)], most)
    people = sum(counts) + loose
    safe += [0] * (most + 1 - len(safe))
    return {n: 1 - Fraction(safe[n], comb(people, n)) for n in range(most + 1)}


def included(counts, loose, ns):
    """The same by inclusion and exclusion, for few cells and any n."""
    people = sum(counts) + loose
    sets = [s for k in range(1, len(counts) + 1) for s in combinations(counts, k)]
    terms = [((-1) ** (len(s) - 1), sum(s)) for s in sets]
    return {n: Fraction(sum(w * comb(people - t, n - t) for w, t in terms if t <= n), comb(people, n)) for n in ns}


def one_list(counts, loose):
    """Exact cells, and one of which nothing is known."""
    table = cf.Table(np.array([*counts, loose]))
    return nest(cf.Published.of(table, [([i], c, c) for i, c in enumerate(counts)]))


@pytest.mark.parametrize(
    ("counts", "loose", "most"),
    [
        ([2, 1, 3], 0, 6),
        ([1, 1, 2, 2, 3, 5, 8, 13], 60, 95),
        ([2, 2, 2, 7, 9, 30], 10**6, 60),
        (200 * [1] + 100 * [2] + [3], 99, 40),
    ],
)
def test_exact_cells(counts, loose, most):
    check(one_list(counts, loose), most, counted(counts, loose, most))


@pytest.mark.parametrize(
    ("counts", "loose", "most"),
    [
        ([300, 5, 2000, 12, 40], 4000, 700),
        ([1500, 1800], 2500, 3300),
        ([900, 1100], 10**6, 1000),
        ([400, 700, 250, 650], 0, 2000),
        ([3, 3, 4000, 60], 10**6, 2500),
    ],
)
def test_few_exact_cells_and_many_known_people(counts, loose, most):
    ns = sorted({0, most, *(n for c in (*counts, most) for n in (c - 1, c, c + 1, c // 2, c // 3) if 0 <= n <= most)})
    check(one_list(counts, loose), most, included(counts, loose, ns))


def test_every_number_of_people_there_can_be():
    counts = [1, 2, 2, 3, 5, 8, 13, 40]
    loose = 2000 - sum(counts)
    check(one_list(counts, loose), 2000, counted(counts, loose, 2000))


def test_the_twins_count_samples():
    assert [counted([2, 1, 3], 0, 6)[n] for n in range(7)] == [
        Fraction(x) for x in ["0", "1/6", "2/5", "7/10", "1", "1", "1"]
    ]
    assert included([2, 1, 3, 3], 4, range(14)) == counted([2, 1, 3, 3], 4, 13)


# Trees


def random_release(rng, shape, people, schemes):
    """Cells in groups in larger groups, each level by a scheme of its own; counts from 0 to many."""
    counts = rng.choice([0, 1, 2, 3, 4, 5, 6, 7, 9, 12, 25], size=shape).astype(np.int64)
    counts.flat[rng.integers(counts.size)] += people
    table = cf.Table(counts, names=["a", "b", "c"])
    cells, groups, areas, total = schemes
    release = table.publish(cells, seed=int(rng.integers(99)))
    for scheme, margin in ((groups, ["a", "b"]), (areas, ["a"]), (total, [])):
        if scheme is not None:
            release = release.beside(table.publish(scheme, margins=[margin], cells=False, seed=int(rng.integers(99))))
    return release


WAYS = [
    (cf.RoundCells(5), cf.RoundCells(5), cf.RoundCells(5), cf.RoundCells(5)),
    (cf.RoundCells(3, how="random"), cf.Exact(), cf.RoundCells(3), cf.Exact()),
    (cf.RoundCells(5, how="random"), cf.RoundCells(5, how="random"), None, cf.RoundCells(5, how="random")),
    (cf.SmallCounts(3), cf.RoundCells(3), cf.RoundCells(5), None),
    (cf.CellKey.of(largest=2, variance=1.0), cf.Exact(), None, None),
]


@pytest.mark.parametrize("ways", range(len(WAYS)))
@pytest.mark.parametrize(("people", "most"), [(0, 60), (5000, 40), (10**6, 60)])
def test_random_trees(ways, people, most):
    rng = np.random.default_rng([ways, people])
    release = random_release(rng, (2, 3, 4), people, WAYS[ways])
    here = nest(release, rng.choice(24, size=20, replace=False))
    most = min(most, release.table.total)
    check(here, most, dict(enumerate(nested_fractions(here, most))))


@pytest.mark.parametrize("ways", [0, 1])
def test_hierarchy_of_2400_cells(ways):
    rng = np.random.default_rng(ways)
    counts = rng.poisson(6.0, size=(20, 10, 12)) + 3
    table = cf.Table(counts, names=["a", "b", "c"])
    scheme = [cf.RoundCells(5), cf.RoundCells(5, how="random")][ways]
    release = table.publish(scheme, margins=[["a", "b"], ["a"], []], seed=1)
    here = nest(release)
    check(here, 30, dict(enumerate(nested_fractions(here, 30))))


def test_cells_far_larger_than_the_sample():
    """They cannot be exhausted, but whether they can fall decides whether others are pinned."""
    counts = np.array([[3, 5000, 2], [4, 1, 2]])
    table = cf.Table(counts, names=["a", "b"])
    for low in (5000, 4999):
        cells = [([1], low, 6000), ([0], 0, 9), ([2], 0, 9), ([0, 1, 2], 5005, 5005), ([3, 4, 5], 5, 7)]
        here = nest(cf.Published.of(table, cells))
        check(here, 12, dict(enumerate(nested_fractions(here, 12))))


# Tiny


@pytest.mark.parametrize(("size", "below"), [(20, 1e-90), (30, 1e-140), (45, 1e-200)])
def test_tiny_probabilities(size, below):
    here = one_list([size, size + 2], 10**6)
    exact = counted([size, size + 2], 10**6, 60)
    assert 0 < exact[size] < below
    check(here, 60, exact)


def test_tiny_survival():
    """Nearly every sample exhausts one of many single cells."""
    counts = 150 * [1]
    exact = counted(counts, 80, 79)
    assert 0 < 1 - exact[79] < Fraction(1, 10**40)
    check(one_list(counts, 80), 79, exact)


# One cell


@pytest.mark.parametrize("people", [30, 10**6])
def test_chance_that_people_are_known(people):
    totals = np.array([0, 1, 2, 7, 29, 30, 2**62])
    found = chance_known(totals, people, 30)
    for n in range(31):
        for k, t in enumerate(totals.tolist()):
            exact = Fraction(comb(people - t, n - t), comb(people, n)) if t <= n else Fraction(0)
            assert near(found[n, k], exact)
