"""RankSwap: what it moves, and how far."""

import numpy as np
import polars as pl
import pytest

import confide as cf


def file(n=2000, seed=0):
    rng = np.random.default_rng(seed)
    x = np.where(rng.random(n) < 0.3, 0, rng.lognormal(10, 1, n).round(-2)).astype(int)
    return pl.DataFrame({"x": x, "g": rng.choice(["a", "b"], n)})


def swapped(y, seed=1, **options):
    release = cf.Plan([cf.RankSwap("x", **options)]).protect(y, seed=seed)
    return release.data["x"].to_numpy()[np.argsort(release.link)]


@pytest.mark.parametrize("exchange", [False, True])
def test_nobody_moves_further_than_the_window_and_zeros_stay(exchange):
    y = file()["x"].to_numpy()
    z = swapped(file(), window=25, exchange=exchange)
    assert ((y == 0) == (z == 0)).all()
    every = np.sort(y[y > 0])
    low, high = (np.searchsorted(every, v) for v in (y, z))
    low_end, high_end = (np.searchsorted(every, v, side="right") - 1 for v in (y, z))
    moved = y > 0
    assert (np.maximum(low - high_end, high - low_end)[moved] <= 25).all()
    assert (y != z).mean() > 0.4
    assert set(z) <= set(y)


def test_an_exchange_keeps_the_distribution_and_a_copy_nearly():
    y = file()
    assert sorted(swapped(y, window=25, exchange=True)) == sorted(y["x"].to_list())
    z = swapped(y, window=25)
    a, b = np.quantile(y["x"], [0.4, 0.6, 0.9]), np.quantile(z, [0.4, 0.6, 0.9])
    assert np.allclose(a, b, rtol=0.03)


@pytest.mark.slow
def test_no_pile_up_at_the_ends():
    y = pl.DataFrame({"x": np.arange(1, 101)})
    lowest = np.mean([(swapped(y, seed, window=10) == 1).sum() for seed in range(300)])
    highest = np.mean([(swapped(y, seed, window=10) == 100).sum() for seed in range(300)])
    # Ranks within 10 of the end draw it with chances 1/11, 1/12, ... 1/21: 0.72 in all; clamping would give 3.3.
    expected = sum(1 / (11 + q) for q in range(10)) + 1 / 21
    assert abs(lowest - expected) < 0.2
    assert abs(highest - expected) < 0.2


def test_zeros_move_where_asked_and_missing_values_stay():
    y = file().with_columns(x=pl.when(pl.int_range(pl.len()) % 9 == 0).then(None).otherwise("x"))
    release = cf.Plan([cf.RankSwap("x", window=300, keep_zeros=False)]).protect(y, seed=1)
    z = release.data["x"][np.argsort(release.link)]
    assert z.is_null().equals(y["x"].is_null())
    assert ((z == 0) != (y["x"] == 0)).sum() > 20


def test_several_variables_are_swapped_apart():
    y = file().with_columns(w=pl.col("x") * 3 + 1)
    z = cf.Plan([cf.RankSwap(["x", "w"], window=50)]).protect(y, seed=1).data
    assert (z["w"] != 3 * z["x"] + 1).mean() > 0.5


MISTAKES = {
    "share": (lambda: cf.RankSwap("x", window=0.05), "not a share; for 0.05 of 10,000 rows write 500"),
    "negative": (lambda: cf.RankSwap("x", window=-1), "from 0 upwards"),
    "zero": (lambda: cf.RankSwap("x", window=0), "leaves every value as it is"),
    "text": (lambda: cf.RankSwap("x", window="5%"), "a whole one"),
    "category": (lambda: cf.Plan([cf.RankSwap("g", window=5)]).protect(file(), seed=1), "numbers are needed"),
    "only zeros": (
        lambda: cf.Plan([cf.RankSwap("x", window=5)]).protect(file().with_columns(x=pl.lit(0)), seed=1),
        "no value of the column would be moved",
    ),
    "merged later": (
        lambda: cf.Plan([cf.RankSwap("x", window=5), cf.Round("x", base=5000)]).protect(file(), seed=1),
        "merges moved values with those that are left alone",
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_bad_input(name):
    do, words = MISTAKES[name]
    with pytest.raises(cf.InputError, match=words):
        do()
