"""Draws from leaves: even, independent, by the bootstrap; and smoothed numbers."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import confide as cf
from confide.protect.methods.synthesis.cart.leaf_draws import evenly, smoothed

ONE = pl.DataFrame({"x": np.random.default_rng(0).normal(100, 10, 40)})


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(0, 4), min_size=1, max_size=40), st.integers(0, 1000))
def test_one_record_in_each_part_of_its_leaf(leaves, seed):
    leaf, rng = np.array(leaves), np.random.default_rng(seed)
    u = evenly(leaf, rng.random(len(leaf)), rng.random(len(leaf)))
    for one in np.unique(leaf):
        mine = u[leaf == one]
        assert sorted((mine * len(mine)).astype(int)) == list(range(len(mine)))


def test_each_draw_is_uniform_by_itself():
    rng, leaf = np.random.default_rng(1), np.array([0, 1, 1, 1, 0, 1])
    u = np.array([evenly(leaf, rng.random(6), rng.random(6)) for _ in range(4000)])
    for part in np.linspace(0.1, 0.9, 9):
        assert np.abs((u < part).mean(axis=0) - part).max() < 4.5 * np.sqrt(part * (1 - part) / 4000)


def made(y, step, copies, seed=1):
    return cf.Plan([step]).protect(y, seed=seed, copies=copies, linked=True)


def test_even_draws_use_every_value_once():
    """As many records as values: a leaf keeps its values; and each record has each of them as often as any other."""
    y = ONE.head(5)
    copies = made(y, cf.CartSynthesis("x"), 1000)
    z = np.stack([c.data["x"].to_numpy()[np.argsort(c.link)] for c in copies])
    assert (np.sort(z, axis=1) == np.sort(y["x"].to_numpy())).all()
    share = np.mean(z[:, :, None] == y["x"].to_numpy(), axis=0)
    assert np.abs(share - 0.2).max() < 4.5 * np.sqrt(0.2 * 0.8 / 1000)  # every record, every value


@pytest.mark.parametrize(("draw", "expected"), [("independent", 1.0), ("bootstrap", 2.0)])
def test_the_mean_of_a_leaf_varies_as_stated(draw, expected):
    """Over copies it has the variance of a mean of draws; by the bootstrap twice that, for weights and for draws."""
    copies = made(ONE, cf.CartSynthesis("x", leaf=40, draw=draw), 800)
    ratio = np.var([c["x"].mean() for c in copies.data]) / (ONE["x"].var(ddof=0) / 40)
    assert abs(ratio / expected - 1) < 0.15  # 800 copies: known to 5 percent


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(-50, 50), min_size=1, max_size=30), st.integers(0, 100))
def test_smoothed_numbers_stay_between_their_neighbours(numbers, seed):
    file = np.array(numbers, dtype=float)
    z = smoothed(file, file, np.random.default_rng(seed).random(len(file)))
    values, count = np.unique(file, return_counts=True)
    for before, after in zip(file, z, strict=True):
        i = np.searchsorted(values, before)
        low, high = values[max(i - 1, 0)], values[min(i + 1, len(values) - 1)]
        assert (low + before) / 2 <= after <= (high + before) / 2
        assert count[i] < 3 or after == before
    assert z.min() >= file.min()
    assert z.max() <= file.max()


def test_smooth_repeats_fewer_numbers_of_single_people():
    rng = np.random.default_rng(2)
    pay = np.concatenate([np.exp(rng.normal(10, 1, 900)).round(2), np.full(100, 1000.0)])
    y = pl.DataFrame({"age": rng.integers(18, 80, 1000), "pay": pay})
    repeated = {}
    for smooth in (False, True):
        z = cf.Plan([cf.CartSynthesis("pay", given="age", smooth=smooth)]).protect(y, seed=1).data["pay"].to_numpy()
        assert (z == 1000).sum() > 80  # a peak stays
        repeated[smooth] = np.isin(z[z != 1000], pay).mean()
        assert np.allclose(np.quantile(z, [0.1, 0.5, 0.9]), np.quantile(pay, [0.1, 0.5, 0.9]), rtol=0.05)
    assert repeated[False] == 1
    assert repeated[True] < 0.05


def test_smooth_is_for_numbers():
    y = pl.DataFrame({"a": ["x", "y"] * 20})
    with pytest.raises(cf.InputError, match="smooth is for numbers"):
        cf.Plan([cf.CartSynthesis("a", smooth=True)]).protect(y, seed=1)
