"""Rank swaps against the slow twin."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import confide as cf
from tests.helpers.scenes import scenes
from tests.helpers.synthetic_twin import (
    check,
    file_shares,
    log,
    near,
    numbers,
    posterior,
    rank_swap_table,
    ranks_of,
    released,
    with_others,
)

A = cf.QuantileRegression("a", given=["sex", "age"], quantiles=9)


def attack_of(release, knows, **options):
    return cf.Intruder(knows=knows, **options).attack(release)


def targets_of(attack):
    return attack.release.original[attack.truth]


# -- rank swaps ----------------------------------------------------------------------------------------------------------

few = settings(
    max_examples=25, deadline=None, derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.differing_executors],
)  # fmt: skip


def swapped(values, window, exchange, *more, seed=1, **columns):
    file = pl.DataFrame({"x": values, **columns}).with_columns(pl.col("x").cast(pl.Float64))
    return released(file, cf.RankSwap("x", window=window, exchange=exchange), *more, seed=seed)


def rank_logs(release, targets, window, exchange, image=lambda y: y, shares=None):
    """C and its joint A, with the file's own distribution as belief; zeros are a block of their own."""
    file, z, t = (list(numbers(f, "x")) for f in (release.original, release.frame, targets))
    moved = [y for y in file if y != 0]
    table = rank_swap_table(moved, window, exchange, image)
    believed, weights = file_shares(moved) if shares is None else shares
    out = with_others(lambda y, j: table.get((y, z[j]), 0.0), t, believed, weights, len(z))
    for i, y in enumerate(t):
        for j, seen in enumerate(z):
            if y == 0 or seen == 0:
                out[i, j] = 0.0 if y == seen else -np.inf
    return out


@pytest.mark.parametrize("exchange", [False, True])
@pytest.mark.parametrize("window", [1, 2, 3, 4, 30])
@pytest.mark.parametrize("ties", [False, True])
def test_rank_swap_known(window, exchange, ties):
    n = 20 if not (exchange and window == 30) else 7
    rng = np.random.default_rng(window)
    values = rng.integers(1, 8, n) * 10.0 if ties else rng.permutation(np.arange(1, n + 1)) ** 2.0
    release = swapped(values, window, exchange)
    attack = attack_of(release, ["x"])
    targets = targets_of(attack)
    check(attack, rank_logs(release, targets, window, exchange))
    without = attack_of(release, ["x"], others="ignore")
    table = rank_swap_table(list(values), window, exchange)
    z, t = numbers(release.frame, "x"), numbers(targets, "x")
    check(without, [[log(table[y, seen]) for seen in z] for y in t])


@pytest.mark.parametrize("exchange", [False, True])
def test_rank_swap_leaves_zeros_alone(exchange):
    """A certain label: with it the belief is a regression on two cells, the file's own distribution but for its ridge."""
    values = np.where(np.arange(30) % 3 == 0, 0.0, np.arange(30) // 2 * 5.0)
    release = swapped(values, 3, exchange)
    attack = attack_of(release, ["x"])
    scene = next(scenes(attack))[1]
    cell = int(scene.cell_r[np.flatnonzero(numbers(release.frame, "x") != 0)[0]])
    weights = np.exp(scene.fit.believed.log_pi[cell])
    believed = sorted(set(values))
    check(attack, rank_logs(release, targets_of(attack), 3, exchange, shares=(believed, list(weights))))
    near(attack, rank_logs(release, targets_of(attack), 3, exchange, shares=file_shares(list(values))), 0.02)
    assert (
        attack.units["candidates"].to_numpy()
        == np.where(numbers(targets_of(attack), "x") == 0, (values == 0).sum(), (values != 0).sum())
    ).all()


@pytest.mark.parametrize("window", [1, 5])
def test_rank_swap_with_a_guessed_window(window):
    release = swapped(np.arange(1.0, 21.0), 3, False)
    attack = attack_of(release, ["x"], guesses={"window": window})
    check(attack, rank_logs(release, targets_of(attack), window, False))


def test_an_average_intruder_takes_ranks_and_belief_about_the_window_from_the_release():
    release = swapped(np.random.default_rng(2).integers(1, 12, 40) * 10.0, 4, False)
    attack = attack_of(release, ["x"], available="average", others="average", unavailable="average")
    z, t = list(numbers(release.frame, "x")), list(numbers(targets_of(attack), "x"))
    table = rank_swap_table(z, 1)
    known = sorted(set(z))

    def chance(y, j):
        if y in known:
            return table[y, z[j]]
        at = ranks_of(y, z)[0]  # a value that the release has lost is at its neighbour's nearest rank
        inside = [p for p in range(40) if abs(p - at) <= 1]
        return sum(sorted(z)[p] == z[j] for p in inside) / len(inside)

    believed, weights = file_shares(list(numbers(release.original, "x")))
    check(attack, with_others(chance, t, believed, weights, 40))


LATER = {
    "round": (cf.Round("x", base=25), lambda y: 25 * math.floor(y / 25 + 0.5)),
    "topcode": (cf.Topcode("x", at=70), lambda y: min(y, 70)),
    "bottomcode": (cf.Bottomcode("x", at=40), lambda y: max(y, 40)),
}


@pytest.mark.parametrize("exchange", [False, True])
@pytest.mark.parametrize("later", LATER)
def test_rank_swap_before_a_coarsening(later, exchange):
    step, image = LATER[later]
    release = swapped(np.random.default_rng(3).integers(1, 12, 26) * 10.0 + 3, 3, exchange, step)
    attack = attack_of(release, ["x"])
    check(attack, rank_logs(release, targets_of(attack), 3, exchange, image))


@pytest.mark.slow
@few
@given(
    st.lists(st.one_of(st.just(0), st.integers(-4, 60), st.none()), min_size=6, max_size=24).filter(lambda v: any(v)),
    st.integers(1, 9), st.booleans(), st.sampled_from([None, "round", "topcode", "recode"]), st.booleans(), st.integers(0, 50),
)  # fmt: skip
def test_the_true_record_is_always_possible(values, window, exchange, later, keep_zeros, seed):
    step = {
        "round": cf.Round("x", base=7),
        "topcode": cf.Topcode("x", at=31),
        "recode": cf.Recode("x", width=9),
        None: None,
    }[later]
    file = pl.DataFrame(
        {"x": pl.Series(values, dtype=pl.Float64), "g": ["u", "v"] * (len(values) // 2) + ["u"] * (len(values) % 2)}
    )
    steps = [cf.RankSwap("x", window=window, exchange=exchange, keep_zeros=keep_zeros), *([step] if step else [])]
    try:
        release = released(file, *steps, seed=seed)
    except cf.InputError as refused:
        if "merges moved values" not in str(refused):
            raise
        return
    for knows in (["x"], ["g", "x"]):
        units = attack_of(release, knows).units
        assert (units["p_true"] > 0).all()
        assert units["p_true"].is_finite().all()
        assert (units["p_max"] <= 1 + 1e-12).all()
        assert (units["status"] == "ok").all()


@pytest.mark.parametrize("exchange", [False, True])
@pytest.mark.parametrize("n", [30, 300])
def test_an_unknown_rank_swap_changes_nothing_by_itself(n, exchange):
    rng = np.random.default_rng(4)
    x = np.where(rng.random(n) < 0.3, 0, rng.permutation(n) + 1.0)
    release = swapped(x, 4, exchange, g=list(rng.choice(["u", "v"], n)))
    for options in ({}, {"others": "exact", "unavailable": "exact"}):
        units = attack_of(release, ["g"], **options).units
        np.testing.assert_allclose(units["p_true"], 1 / units["candidates"], rtol=1e-9)


@pytest.mark.parametrize("exchange", [False, True])
@pytest.mark.parametrize(
    "options", [{"guesses": {"window": 1}}, {"available": "average", "unavailable": "average", "others": "average"}]
)
def test_a_window_that_is_believed_too_small(options, exchange):
    """Records that nobody can have led to are impossible; for a target without others no record is possible."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=30).round(2)
    file = pl.DataFrame({"x": x, "y": (x + rng.normal(size=30)).round(2)})
    release = released(file, cf.RankSwap(["x", "y"], window=9, exchange=exchange))
    attack = attack_of(release, ["x", "y"], **options)
    units = attack.units
    assert units["p_true"].fill_null(0.0).is_finite().all()
    for i in range(30):
        assert posterior(attack, i).sum() == pytest.approx(float(units["status"][i] == "ok"), abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("exchange", [False, True])
def test_a_swapped_number_known_as_an_interval(exchange):
    """C is the mean chance of the record's value over what the interval holds of the file; A over all of it."""
    y = np.random.default_rng(4).permutation(150) * 2.0 + 1
    release = cf.Plan([cf.RankSwap("x", window=6, exchange=exchange)]).protect(pl.DataFrame({"x": y}), seed=1)
    ends = pl.DataFrame({"low": [41.0, 1.0, 250.0], "high": [61.0, 299.0, 251.0]})
    attack = cf.Intruder(between={"x": ("low", "high")}).attack(release, ends, truth=[-1, -1, -1])
    chance = rank_swap_table(y.tolist(), 6, exchange)
    z = numbers(release.frame, "x")
    for i, (low, high) in enumerate(ends.iter_rows()):
        inside = [v for v in y if low <= v <= high]
        w = np.array([np.mean([chance[v, r] for v in inside]) / np.mean([chance[v, r] for v in y]) for r in z])
        # The belief in a number is a normal-score regression on the cell: close to the file's distribution, not equal.
        np.testing.assert_allclose(posterior(attack, i), w / w.sum(), atol=1e-3)
