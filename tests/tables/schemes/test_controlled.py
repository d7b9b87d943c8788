"""Controlled rounding: adds up, stays near, is nearest (by enumeration), and says so when there is none."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import confide.tables.schemes.controlled as controlled
from confide.core.errors import InputError
from confide.core.random.draws import Counter
from confide.tables.layout import Layout, Part
from confide.tables.schemes.controlled import ControlledRounding
from confide.tables.schemes.scheme import TableScheme
from tests.helpers.layouts import layout_of

seeds = st.integers(0, 2**32 - 1)


def nearest(layout, counts, free, base, steps):
    """The least distance of a rounding that adds up, by enumeration; None where there is none."""
    top = counts.max() // base + 2 + steps
    true = layout.sums(counts)
    every = np.array(list(product(*(range(top + 1) if f else (0,) for f in free)))) * base
    sums = layout.sums(every)
    fits = np.all(np.abs(sums - true) < (steps + 1) * base, axis=1)
    return np.abs(sums[fits] - true).sum(axis=1).min() if fits.any() else None


def settle(scheme, layout, counts, free=None, seed=0):
    free = np.ones(layout.cells, dtype=bool) if free is None else free
    return scheme.settle(layout, np.asarray(counts, dtype=np.int64), free, Counter(seed.to_bytes(16)))


def check(scheme, layout, counts, free, done):
    """What is promised of every rounding."""
    true = layout.sums(counts)
    assert np.all(done.values % scheme.base == 0)
    assert np.all(done.values >= 0)
    assert np.all(np.abs(done.values - true) < (scheme.steps + 1) * scheme.base)
    if scheme.steps == 0:
        stays = true % scheme.base == 0
        assert np.array_equal(done.values[stays], true[stays])
    own = next((s for p, s in zip(layout.parts, layout.slices, strict=True) if p.size == layout.cells), None)
    if own is not None:
        assert np.array_equal(layout.sums(done.values[own]), done.values)
        assert not done.values[own][~free].any()
    assert np.all(done.lower <= true)
    assert np.all(true <= done.upper)
    assert done.shown.all()
    assert done.additive
    assert done.audit["distance"][0] == np.abs(done.values - true).sum()


@given(seeds, st.sampled_from([(4,), (2, 2), (2, 3)]), st.integers(2, 4), st.integers(0, 1), st.booleans())
@settings(deadline=None, max_examples=50)
def test_the_rounding_is_the_nearest_that_adds_up(seed, shape, base, steps, cells):
    rng = np.random.default_rng(seed)
    layout = layout_of(shape, cells=cells)
    counts = rng.integers(0, 5, layout.cells)
    free = rng.random(layout.cells) < 0.8
    counts[~free] = 0
    done = settle(ControlledRounding(base, steps), layout, counts, free)
    check(ControlledRounding(base, steps), layout, counts, free, done)
    assert done.audit["distance"][0] == nearest(layout, counts, free, base, steps)
    assert done.audit.rows() == [(layout.quantities, *2 * [done.audit["distance"][0]], True, steps)]


@pytest.mark.slow
@given(seeds, st.integers(2, 3), st.integers(0, 1))
@settings(deadline=None, max_examples=15)
def test_three_variables_are_nearest_or_refused(seed, base, steps):
    rng = np.random.default_rng(seed)
    layout = layout_of((2, 2, 2))
    counts = rng.integers(0, 4, 8)
    free = np.ones(8, dtype=bool)
    least = nearest(layout, counts, free, base, steps)
    if least is None:
        with pytest.raises(InputError, match="steps=1"):
            settle(ControlledRounding(base, steps), layout, counts)
    else:
        done = settle(ControlledRounding(base, steps), layout, counts)
        check(ControlledRounding(base, steps), layout, counts, free, done)
        assert done.audit["distance"][0] == least


@given(seeds)
@settings(deadline=None, max_examples=10)
def test_larger_tables_add_up(seed):
    rng = np.random.default_rng(seed)
    layout = layout_of((12, 9))
    counts = rng.poisson(10_000 * rng.random(layout.cells) ** 8)
    free = np.ones(layout.cells, dtype=bool)
    check(ControlledRounding(5), layout, counts, free, settle(ControlledRounding(5), layout, counts))


def test_groupings_on_one_side():
    rng = np.random.default_rng(4)
    rows, columns = np.indices((6, 4)).reshape(2, -1)
    broad = Part(("broad",), rows // 2, 3)
    both = Part(("broad", "b"), rows // 2 * 4 + columns, 12)
    layout = Layout(24, (*layout_of((6, 4)).parts, broad, both))
    assert len(layout.families) == 2
    counts = rng.integers(0, 30, 24)
    check(ControlledRounding(7), layout, counts, np.ones(24, bool), settle(ControlledRounding(7), layout, counts))


def test_three_variables_may_have_no_zero_restricted_rounding():
    """Found by search, proven by enumeration: ones at three corners of a cube, to be rounded to base 2."""
    layout, counts = layout_of((2, 2, 2)), np.array([1, 0, 0, 1, 0, 0, 1, 0])
    assert nearest(layout, counts, np.ones(8, bool), 2, 0) is None
    with pytest.raises(InputError, match=r"ControlledRounding\(2, steps=1\) allows"):
        settle(ControlledRounding(2), layout, counts)
    assert settle(ControlledRounding(2, steps=1), layout, counts).audit["nearest"][0]


def test_a_seed_gives_one_table_and_seeds_choose_between_equals():
    layout, counts = layout_of((6, 6)), np.full(36, 2)
    one = [settle(ControlledRounding(4), layout, counts, seed=s).values for s in (1, 1, 2)]
    assert np.array_equal(one[0], one[1])
    assert not np.array_equal(one[0], one[2])
    cube = layout_of((3, 3, 3))
    two = [settle(ControlledRounding(4), cube, np.full(27, 2), seed=s).values for s in (1, 1, 2)]
    assert np.array_equal(two[0], two[1])


def test_intervals_and_structural_zeros():
    layout = layout_of((2, 2))
    done = settle(ControlledRounding(3), layout, [0, 4, 7, 1], np.array([False, True, True, True]))
    assert (done.lower[0], done.upper[0]) == (0, 0)
    for value, low, high in zip(done.values[1:], done.lower[1:], done.upper[1:], strict=True):
        assert (low, high) == (max(value - 2, 0), value + 2)
    wide = settle(ControlledRounding(3, steps=1), layout, [5, 4, 7, 1])
    assert np.array_equal(wide.upper, wide.values + 5)


def test_a_time_limit_is_told(monkeypatch):
    """A rounding that was found in time is valid, but not proven nearest; without one, a near one is published."""
    rng = np.random.default_rng(1)
    layout = layout_of((9, 9, 9))
    counts = rng.poisson(4, layout.cells)
    full = settle(ControlledRounding(5), layout_of((3, 3, 3)), counts[:27])
    assert full.audit["nearest"][0]

    def stopped(self, *_args):
        answer = _nearest(self, *_args)
        return controlled.Answer("unproven", answer.value, answer.bound - 40, answer.x)

    _nearest = controlled._Rounding.nearest
    monkeypatch.setattr(controlled._Rounding, "nearest", stopped)
    done = settle(ControlledRounding(5), layout_of((3, 3, 3)), counts[:27])
    (_, distance, least, proven, _) = done.audit.row(0)
    assert not proven
    assert least <= full.audit["distance"][0] <= distance
    monkeypatch.setattr(controlled, "SECONDS", 0.0)
    monkeypatch.setattr(controlled._Rounding, "nearest", _nearest)
    near = settle(ControlledRounding(5), layout, counts)
    assert not near.audit["nearest"][0]
    check(ControlledRounding(5, steps=near.audit["steps"][0]), layout, counts, np.ones(layout.cells, bool), near)


def test_a_wrong_answer_is_caught(monkeypatch):
    def wrong(self, *_args):
        return controlled.Answer("optimal", 0.0, 0.0, np.full(self.layout.cells, 7.0))

    monkeypatch.setattr(controlled._Rounding, "nearest", wrong)
    with pytest.raises(RuntimeError, match="fault in confide"):
        settle(ControlledRounding(3), layout_of((2, 2)), [1, 2, 3, 4])


def test_the_scheme_is_stated_in_full():
    assert isinstance(ControlledRounding(3), TableScheme)
    assert ControlledRounding(np.int64(3)) == ControlledRounding(3, steps=0)
    assert ControlledRounding(3).random


@pytest.mark.parametrize("base", [0, 1, -3, 2.5, 3.0, True, "3", None])
def test_bad_bases(base):
    with pytest.raises(InputError, match="ControlledRounding"):
        ControlledRounding(base)


@pytest.mark.parametrize("steps", [-1, 0.5, True, "1", None])
def test_bad_steps(steps):
    with pytest.raises(InputError, match="whole number from 0"):
        ControlledRounding(3, steps=steps)
