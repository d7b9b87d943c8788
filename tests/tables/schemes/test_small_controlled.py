"""Small counts rounded together: cells keep their intervals, margins add up and stay near; never worse than one by one."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import confide as cf
from confide.core.errors import InputError
from confide.core.random.draws import Counter
from confide.tables.schemes.balance import nearest_sums
from confide.tables.schemes.scheme import TableScheme
from tests.helpers.layouts import layout_of

seeds = st.integers(0, 2**32 - 1)


def settle(scheme, layout, counts, free=None, seed=0):
    free = np.ones(layout.cells, dtype=bool) if free is None else free
    return scheme.settle(layout, np.asarray(counts, dtype=np.int64), free, Counter(seed.to_bytes(16)))


def energy(error, base):
    e = error.astype(float)
    return (e**2 + 9 * e**4 / (16 * base**2)).sum(axis=-1)


@given(seeds, st.sampled_from([(5,), (3, 4), (2, 3, 3)]), st.integers(2, 6), st.booleans())
@settings(deadline=None, max_examples=40)
def test_cells_keep_their_intervals_and_margins_add_up(seed, shape, base, cells):
    rng = np.random.default_rng(seed)
    layout = layout_of(shape, cells=cells)
    free = rng.random(layout.cells) < 0.9
    counts = rng.poisson(3, layout.cells) * free
    done = settle(cf.ControlledSmallCounts(base), layout, counts, free)
    true = layout.sums(counts)
    assert np.all((done.lower <= true) & (true <= done.upper))
    if cells:
        own = done.values[: layout.cells]
        small = (counts > 0) & (counts < base)
        assert np.array_equal(own[~small], counts[~small])
        assert set(own[small].tolist()) <= {0, base}
        assert np.array_equal(layout.sums(own), done.values)
    assert done.audit["largest"][0] == np.abs(done.values - true).max()


def test_the_search_finds_the_least_energy_of_small_tables():
    """The slow twin: every way to round up to eight cells. A search by chance misses it now and then (of 6,000 such
    tables in 1.8 percent, by half a percent on average over all)."""
    tried = [_times_the_least(seed, base) for base in (2, 3, 4, 5) for seed in range(150)]
    assert np.mean(np.array(tried) < 1 + 1e-9) > 0.96
    assert np.mean(tried) < 1.015


def _times_the_least(seed, base):
    layout = layout_of((2, 2, 2))
    counts = np.random.default_rng(seed).integers(0, 2 * base, 8)
    at = np.flatnonzero((counts > 0) & (counts < base))
    low = counts.copy()
    low[at] = 0
    every = np.tile(low, (2 ** len(at), 1))
    every[:, at] += base * np.array(list(product((0, 1), repeat=len(at))), dtype=np.int64).reshape(
        2 ** len(at), len(at)
    )
    least = energy(layout.sums(every) - layout.sums(counts), base).min()
    reach = np.full(layout.quantities, 2**62)
    found = nearest_sums(layout, counts, at, low, base, reach, Counter(bytes(16)))
    mine = energy(layout.sums(found) - layout.sums(counts), base)
    return mine / least if least else 1.0 + mine


def test_margins_are_nearer_than_one_by_one():
    rng = np.random.default_rng(1)
    table = cf.Table(rng.poisson(rng.gamma(0.5, 4, (8, 7, 6))))
    together = table.publish(cf.ControlledSmallCounts(3), margins="all", seed=1)
    alone = table.publish(cf.SmallCounts(3), margins="all", totals="summed", seed=1)
    far, near = (int(np.abs(p.values - p.truth).max()) for p in (alone, together))
    assert near <= 4 < far


def test_a_seed_gives_one_table():
    layout, counts = layout_of((6, 6)), np.random.default_rng(2).integers(0, 5, 36)
    one = [settle(cf.ControlledSmallCounts(4), layout, counts, seed=s).values for s in (1, 1, 2)]
    assert np.array_equal(one[0], one[1])
    assert not np.array_equal(one[0], one[2])


def test_large_tables_are_rounded_with_the_steps_that_it_takes():
    rng = np.random.default_rng(3)
    layout, scheme = layout_of((14, 12, 10)), cf.ControlledRounding(3)
    counts = rng.poisson(2, layout.cells)
    done = settle(scheme, layout, counts)
    true = layout.sums(counts)
    (quantities, distance, least, nearest, steps) = done.audit.row(0)
    assert quantities == layout.quantities > 1_500
    assert least <= distance == np.abs(done.values - true).sum()
    assert not nearest
    assert np.all(np.abs(done.values - true) < (steps + 1) * 3)
    assert np.all((done.lower <= true) & (true <= done.upper))
    assert np.array_equal(layout.sums(done.values[: layout.cells]), done.values)
    assert np.all(done.values % 3 == 0)


def test_the_scheme_is_stated_in_full():
    assert isinstance(cf.ControlledSmallCounts(3), TableScheme)
    assert cf.ControlledSmallCounts(3).random


@pytest.mark.parametrize("base", [0, 1, -3, 2.5, 3.0, True, "3", None])
def test_bad_bases(base):
    with pytest.raises(InputError, match="ControlledSmallCounts"):
        cf.ControlledSmallCounts(base)
