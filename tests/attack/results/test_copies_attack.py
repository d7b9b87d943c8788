"""Several copies of one file: likelihoods multiply where rows are linked, averages describe where they are not."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import polars as pl
import pytest

import confide as cf
from tests.helpers.synthetic_twin import (
    check,
    file_shares,
    log,
    near,
    noise_chance,
    numbers,
    posterior,
    rank_swap_table,
    released,
    with_others,
)


def file_of(n, seed, whole=False):
    rng = np.random.default_rng(seed)
    x = rng.normal(50, 10, n)
    return pl.DataFrame({"x": x.round() if whole else x, "g": rng.choice(["u", "v"], n), "id": np.arange(n)})


def copies_of(file, *steps, m=3, linked=True, seed=1, **options):
    return cf.Plan(list(steps), **{"numeric": ["x"], **options}).protect(file, seed=seed, copies=m, linked=linked)


def noisy_chance(copies, sd, step=0.0):
    z = [numbers(r.frame, "x") for r in copies]
    return lambda y, j: math.prod(noise_chance(c[j], y, sd, step) for c in z)


# -- linked ------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("m", [2, 3, 5])
@pytest.mark.parametrize("whole", [False, True])
def test_noise_in_linked_copies(m, whole):
    """C is the product over copies, A one joint sum over the file's values of that product."""
    file = file_of(40, m, whole).select("x")
    copies = copies_of(file, cf.Noise("x", sd=6.0), m=m)
    attack = cf.Intruder(knows=["x"]).attack(copies)
    values = list(numbers(file, "x"))
    t = [values[i] for i in attack.truth]
    chance = noisy_chance(copies, 6.0, 1.0 if whole else 0.0)
    check(attack, with_others(chance, t, *file_shares(values), 40))
    without = cf.Intruder(knows=["x"], others="ignore").attack(copies)
    check(without, [[log(chance(y, j)) for j in range(40)] for y in t])


def test_noise_in_linked_copies_of_many_values():
    """Beyond a hundred values the belief is a model of normal scores, close to the file's own distribution."""
    file = file_of(200, 7).select("x")
    copies = copies_of(file, cf.Noise("x", sd=6.0))
    attack = cf.Intruder(knows=["x"]).attack(copies)
    values = list(numbers(file, "x"))
    logs = with_others(noisy_chance(copies, 6.0), [values[i] for i in attack.truth], *file_shares(values), 200)
    near(attack, logs, 0.02)


def test_zeros_are_a_block_in_every_copy():
    file = (
        file_of(200, 8).select("x").with_columns(x=pl.when(pl.int_range(200) % 4 == 0).then(0.0).otherwise(pl.col("x")))
    )
    copies = copies_of(file, cf.Noise("x", sd=6.0, keep_zeros=True))
    units = cf.Intruder(knows=["x"]).attack(copies).units
    zero = units["candidates"] == 50
    assert zero.sum() == 50
    np.testing.assert_allclose(units.filter(zero)["p_true"], 1 / 50, rtol=1e-9)
    assert units["p_true"].is_finite().all()


@pytest.mark.parametrize("exchange", [False, True])
def test_rank_swap_in_linked_copies(exchange):
    file = pl.DataFrame({"x": np.random.default_rng(9).integers(1, 15, 30) * 10.0})
    copies = copies_of(file, cf.RankSwap("x", window=3, exchange=exchange))
    attack = cf.Intruder(knows=["x"]).attack(copies)
    values = list(numbers(file, "x"))
    table = rank_swap_table(values, 3, exchange)
    z = [numbers(r.frame, "x") for r in copies]
    logs = with_others(
        lambda y, j: math.prod(table[y, c[j]] for c in z), [values[i] for i in attack.truth], *file_shares(values), 30
    )
    check(attack, logs)
    assert (attack.units["p_true"] > 0).all()


def left_alone(what, exchange, seed=1):
    """More than a hundred values, so that the belief is a model of numbers; a quarter is not moved."""
    x = pl.Series(np.random.default_rng(10).permutation(200) + 1.0)
    file = pl.DataFrame({"x": x, "i": np.arange(200)}).select(
        x=pl.when(pl.col("i") % 4 == 0).then(0.0 if what == "zeros" else None).otherwise(pl.col("x")),
        g=pl.when(pl.col("i") % 2 == 0).then(pl.lit("u")).otherwise(pl.lit("v")),
    )
    return copies_of(file, cf.RankSwap("x", window=5, exchange=exchange), seed=seed)


@pytest.mark.parametrize("exchange", [False, True])
def test_rank_swap_in_linked_copies_leaves_zeros_alone(exchange):
    attack = cf.Intruder(knows=["x"]).attack(left_alone("zeros", exchange))
    units = attack.units
    assert units["p_true"].is_finite().all()
    np.testing.assert_allclose(units.filter(units["candidates"] == 50)["p_true"], 1 / 50, rtol=1e-9)
    assert all(posterior(attack, i).sum() == pytest.approx(1.0) for i in range(0, 200, 10))


@pytest.mark.parametrize("what", ["zeros", "missing"])
def test_an_unknown_rank_swap_in_copies_changes_nothing_by_itself(what):
    copies = next(c for c in (left_alone(what, False, seed) for seed in range(50)) if c[0].frame["x"][0] in (0.0, None))
    units = cf.Intruder(knows=["g"]).attack(copies).units
    np.testing.assert_allclose(units["p_true"], 1 / units["candidates"], rtol=1e-9)


def test_swap_in_linked_copies():
    file = pl.DataFrame({"c": np.random.default_rng(11).choice(["p", "q", "r"], 40, p=[0.6, 0.3, 0.1])})
    copies = copies_of(file, cf.Swap("c", rate=0.4), numeric=[], m=4)
    attack = cf.Intruder(knows=["c"]).attack(copies)
    values, n = file["c"].to_list(), 40
    pi = 2 * math.floor(0.4 * n / 2) / n
    z = [r.frame["c"].to_list() for r in copies]

    def one(a, b):
        return (1 - pi) * (a == b) + pi * (values.count(b) - (a == b)) / (n - 1)

    logs = with_others(
        lambda y, j: math.prod(one(y, c[j]) for c in z), [values[i] for i in attack.truth], *file_shares(values), n
    )
    check(attack, logs)


def test_copies_tell_more_than_one_of_them():
    file = file_of(300, 12).select("x")
    copies = copies_of(file, cf.Noise("x", sd=3.0), m=5)
    who = cf.Intruder(knows=["x"])
    together = who.attack(copies).units["p_true"].sum()
    alone = [who.attack(r).units["p_true"].sum() for r in copies]
    assert together > 1.5 * max(alone)


@pytest.mark.parametrize("level", ["sdl", "exact"])
def test_synthetic_in_copies(level):
    """The paper's readings multiply too; level exact finds nothing in any number of copies."""
    file = file_of(60, 13).with_columns(y=pl.col("x") + pl.col("id") % 7)
    steps = [cf.QuantileRegression("x", given="g", quantiles=9), cf.NormalSynthesis("y", given=["g", "x"])]
    copies = copies_of(file, *steps, identifiers=["id"])
    attack = cf.Intruder.at(level, knows=["g", "x", "y"]).attack(copies)
    if level == "exact":
        np.testing.assert_allclose(attack.units["p_true"], 1 / attack.units["candidates"], rtol=1e-12)
        return
    single = [cf.Intruder(knows=["g", "x", "y"]).attack(r) for r in copies]
    with np.errstate(divide="ignore"):
        check(attack, sum(np.log([posterior(a, i) for i in range(60)]) for a in single), tolerance=1e-8)


def test_what_is_the_same_in_every_copy_counts_once():
    """The truth differs from the file, not one copy from another; nor does a mistake of the intruder's own."""
    error, noise = cf.MeasurementError("x", noise_sd=3.0), cf.Noise("y", sd=4.0)
    with pytest.raises(cf.InputError, match="all copies would be the same"):
        copies_of(file_of(40, 14).select("x"), error)
    file = file_of(40, 14).select("x", "g").with_columns(y=np.random.default_rng(2).normal(50, 9, 40).round(1))
    both = cf.Intruder(knows=["x", "y"]).attack(copies_of(file, error, noise))
    parts = [cf.Intruder(knows=[v]).attack(copies_of(file, error, noise)) for v in ("x", "y")]
    one = cf.Intruder(knows=["x"]).attack(copies_of(file, error, noise)[0])
    np.testing.assert_allclose(parts[0].units["p_true"], one.units["p_true"], rtol=1e-9)
    product = np.array([posterior(parts[0], i) * posterior(parts[1], i) for i in range(40)])
    found = np.array([posterior(both, i) for i in range(40)])
    np.testing.assert_allclose(found, product / product.sum(axis=1, keepdims=True), atol=1e-9)
    wrong = cf.Intruder(knows=["g"], errors={"g": 0.2})
    together, alone = (wrong.attack(r).units["p_true"] for r in (copies_of(file, noise), copies_of(file, noise)[0]))
    np.testing.assert_allclose(together, alone, rtol=1e-9)


def test_a_naive_intruder_is_told_that_copies_contradict_each_other():
    copies = copies_of(file_of(30, 14).select("x"), cf.Noise("x", sd=3.0))
    with pytest.raises(cf.InputError, match="contradict each other"):
        cf.Intruder.at("naive", knows=["x"]).attack(copies)


# -- not linked -----------------------------------------------------------------------------------------------------------------


def test_copies_in_orders_of_their_own_are_averaged():
    file = file_of(50, 15)
    copies = copies_of(file, cf.Noise("x", sd=5.0), linked=False, drop=["id"])
    assert copies.linkable() < 1
    who = cf.Intruder(knows=["g", "x"])
    found = who.attack(copies)
    each = [who.attack(r) for r in copies]
    for name, column in (("p_true", "p_true"), ("p_max", "p_max"), ("hits", "hit")):
        want = np.mean([a.units[column].cast(pl.Float64).to_numpy() for a in each], axis=0)
        np.testing.assert_allclose(found.units[name], want, rtol=1e-12)
    summary = found.summary()
    assert summary["copy"].to_list() == [1, 2, 3, None]
    claimed = np.mean([a.summary().expected_matches for a in each])
    assert summary["expected_matches"][3] == pytest.approx(claimed)


@pytest.mark.parametrize("level", ["sdl", "exact"])
def test_kept_values_that_nobody_shares_link_copies(level):
    """The same posterior as with rows in one order: of each person's record, wherever it stands."""
    file = file_of(40, 16)
    options = {"steps": [cf.Noise("x", sd=5.0)], "numeric": ["x"]}
    linked, loose = (
        cf.Plan(**options).protect(file, 3, draws="shared", copies=3, linked=flag) for flag in (True, False)
    )
    assert loose.linkable() == 1.0
    assert not np.array_equal(loose[0].link, loose[1].link)
    who = cf.Intruder.at(level, knows=["x"])
    a, b = who.attack(linked), who.attack(loose)
    for i in range(40):
        p, q = posterior(a, i), posterior(b, i)
        of_p, of_q = a.release.frame["id"].to_numpy(), b.release.frame["id"].to_numpy()
        np.testing.assert_allclose(q[np.argsort(of_q)], p[np.argsort(of_p)], rtol=1e-9, atol=1e-15)
    for name in ("p_true", "p_max", "n_max", "rank", "hit"):
        np.testing.assert_allclose(a.units[name].cast(pl.Float64), b.units[name].cast(pl.Float64), rtol=1e-9)


def test_rows_of_relinked_copies_are_rows_of_the_attacked_release():
    file = file_of(30, 17)
    loose = copies_of(file, cf.Noise("x", sd=0.5), linked=False)
    attack = cf.Intruder(knows=["x"]).attack(loose)
    for i in range(30):
        row = int(attack.posterior(i)["row"][0])
        p = posterior(attack, i)
        assert p[row] == p.max()
        assert attack.release.link[attack.own_rows[i]] == attack.truth[i]


# -- the grid --------------------------------------------------------------------------------------------------------------------

LEVELS = ("sdl", "average", "naive", "ignore")


def small_release():
    rng = np.random.default_rng(18)
    file = pl.DataFrame(
        {
            "g": rng.choice(["u", "v"], 60),
            "c": rng.choice(["p", "q"], 60),
            "d": rng.choice(["m", "n", "o"], 60),
            "x": rng.normal(size=60),
        }
    )
    return released(
        file, cf.Swap("c", rate=0.3), cf.Swap("d", rate=0.3), cf.QuantileRegression("x", given="g", quantiles=9)
    )


@pytest.mark.slow
@pytest.mark.parametrize(("level", "rows"), [("sdl", 64), ("average", 27), ("naive", 8)])
def test_the_grid_is_every_single_attack(level, rows):
    release = small_release()
    grid = cf.Intruder.at(level, knows=["g", "c", "x"]).attack(release).grid(progress=False).frame
    assert grid.height == rows
    allowed = LEVELS[LEVELS.index(level) :]
    combinations = list(product(allowed, repeat=3))
    assert list(grid.select("available", "unavailable", "others").iter_rows()) == combinations
    for row, (c, b, a) in zip(grid.iter_rows(named=True), combinations, strict=True):
        attack = cf.Intruder(knows=["g", "c", "x"], available=c, unavailable=b, others=a).attack(release)
        assert row["claimed"] == pytest.approx(attack.units["p_max"].sum(), rel=1e-12)
        assert row["right"] == pytest.approx(attack.summary().expected_matches, rel=1e-12)
        assert row["unique_matches"] == attack.summary().unique_matches
        assert row["p_true"] == pytest.approx(attack.units["p_true"].mean(), rel=1e-12)
        assert row["contradictions"] == (attack.units["status"] == "contradiction").sum()
        assert row["coherent"] == is_coherent(c, b, a), (c, b, a)


def is_coherent(c, b, a):
    """Parts that reason do so about one plan, and A is there exactly where C or B is; a naive B or A is left out."""
    b, a = ("ignore" if level == "naive" else level for level in (b, a))
    if c == "naive":
        return (b, a) == ("ignore", "ignore")
    reasoned = {level for level in (c, b) if level != "ignore"}
    return (a == "ignore") if not reasoned else reasoned == {a}


def test_the_grid_of_copies_notes_what_is_refused():
    file = file_of(30, 19).select("x", "g")
    copies = copies_of(file, cf.Noise("x", sd=5.0))
    frame = cf.Intruder(knows=["g", "x"]).attack(copies).grid(progress=False).frame
    refused = frame.filter(pl.col("available") == "naive")
    assert refused["claimed"].null_count() == refused.height == 16
    assert refused["note"].str.contains("contradict").all()
    one = frame.row(0, named=True)
    assert one["claimed"] == pytest.approx(cf.Intruder(knows=["g", "x"]).attack(copies).units["p_max"].sum())
