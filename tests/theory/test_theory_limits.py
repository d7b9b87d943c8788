"""The risk-utility theory: limits on risk, uniques, frames for plots, and a sentence for every bad input."""

from __future__ import annotations

import math
from dataclasses import FrozenInstanceError

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from confide.core.errors import InputError
from confide.theory import (
    NoiseRelease,
    OriginalRelease,
    SwapRelease,
    SyntheticRelease,
    best_rate,
    ru_anchors,
    ru_curve,
    smallest_noise,
    smallest_noise_for_uniques,
    uniques_curve,
)

some = settings(max_examples=100, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
spreads = st.floats(0.01, 100)
counts = st.integers(2, 1000)


# limits on risk


@some
@given(st.floats(0.001, 1000), spreads, spreads, st.sampled_from(["attribute", "mean", "worst", "identity"]))
def test_best_rate_is_the_smallest_within_the_limit(limit, sigma, difference, snooper):
    def risk(rate):
        release = SwapRelease(sigma, difference, rate)
        return release.worst_risk() if snooper == "worst" else release.risk(snooper)

    if limit < risk(1.0):
        with pytest.raises(InputError, match="No swapping rate"):
            best_rate(limit, sigma=sigma, difference=difference, snooper=snooper)
        return
    rate = best_rate(limit, sigma=sigma, difference=difference, snooper=snooper)
    assert risk(rate) <= limit
    if rate > 1e-6:
        assert risk(rate * (1 - 1e-6)) > limit or risk(rate) == pytest.approx(risk(0.0), rel=1e-6)


@some
@given(st.floats(0.001, 1000), counts, spreads, st.sampled_from([*NoiseRelease.snoopers, "worst"]), st.booleans())
def test_smallest_noise_is_the_smallest_within_the_limit(limit, n, sigma, snooper, member):
    if not member and snooper not in ("mean", "worst"):
        with pytest.raises(InputError, match="member must be True"):
            smallest_noise(limit, n=n, sigma=sigma, snooper=snooper, member=member)
        return
    if snooper == "shrink_known" or (snooper == "worst" and member):
        assume(not 1 - 1e-9 < limit * sigma**2 < 1 + 1e-9)
        if limit * sigma**2 < 1:
            with pytest.raises(InputError, match="somebody who knows the mean has"):
                smallest_noise(limit, n=n, sigma=sigma, snooper=snooper, member=member)
            return
    noise = smallest_noise(limit, n=n, sigma=sigma, snooper=snooper, member=member)

    def risk(noise_sd):
        release = NoiseRelease(n, sigma, noise_sd)
        return release.worst_risk(member) if snooper == "worst" else release.risk(snooper, member)

    assert risk(noise) <= limit
    if noise > 0:
        assert risk(noise * 0.999) > limit * (1 - 1e-9)


def test_worked_limits():
    assert best_rate(1.0, sigma=1.0, difference=1.0) == pytest.approx(1 / 3)
    assert best_rate(0.4, sigma=1.0, difference=1.0, snooper="identity") == pytest.approx(0.6)
    assert best_rate(2.0, sigma=1.0, difference=1.0, snooper="mean") == 0
    assert best_rate(1.0, sigma=1.0, difference=1.0, snooper="worst") == pytest.approx((1 / 3) / (7 / 9))
    assert smallest_noise(0.25, n=10, sigma=1.0) == pytest.approx(2.0)
    assert smallest_noise(0.5, n=10, sigma=1.0, snooper="mean") == pytest.approx(math.sqrt(11))
    assert smallest_noise(5.0, n=10, sigma=1.0, snooper="mean") == 0
    assert smallest_noise(2.0, n=10, sigma=1.0, snooper="shrink_known") == pytest.approx(1.0)


def test_the_sentence_names_a_limit_that_can_be_met():
    with pytest.raises(InputError, match=r"down to 0\.2: ask for 0\.3334 or more"):
        best_rate(0.2, sigma=1.0, difference=1.0)
    assert best_rate(0.3334, sigma=1.0, difference=1.0) <= 1
    assert best_rate(SwapRelease(1.0, 1.0, 1.0).risk("attribute"), sigma=1.0, difference=1.0) == 1
    with pytest.raises(InputError, match=r"down to 1: somebody who knows the mean has 1 without any record"):
        smallest_noise(1.0, n=5, sigma=1.0, snooper="worst")


# uniques


def by_hand(x, ratio, seed, repeats):
    """The definition of linkable uniques, pair by pair."""
    x = np.asarray(x, float).reshape(len(x), -1)
    s, rng, shares = x.std(axis=0), np.random.default_rng(seed), []
    for _ in range(repeats):
        y = x / s + ratio * rng.standard_normal(x.shape)
        good = 0
        for i in range(len(x)):
            if any((x[i] == x[j]).all() for j in range(len(x)) if j != i):
                continue
            far = [float(((y[j] - x[i] / s) ** 2).sum()) for j in range(len(x))]
            good += all(far[i] < far[j] for j in range(len(x)) if j != i)
        shares.append(good / len(x))
    return np.mean(shares)


@pytest.mark.parametrize("variables", [1, 3])
@pytest.mark.parametrize("ratio", [0.001, 0.1, 1.0])
def test_linkable_uniques_by_hand(ratio, variables):
    x = np.random.default_rng(5).integers(0, 40, (60, variables))
    found = uniques_curve(x, [ratio], seed=3, repeats=4)
    assert found["share"][0] == pytest.approx(by_hand(x, ratio, 3, 4))


def test_smallest_noise_for_uniques():
    x = np.random.default_rng(5).gamma(2, 10, (400, 2))
    found = smallest_noise_for_uniques(x, 0.1, seed=1)
    assert found.share <= 0.1
    assert found.noise_sd == pytest.approx(found.ratio * x.std(axis=0))
    below = found.tried.filter((pl.col("ratio") < found.ratio) & (pl.col("ratio") >= found.ratio / 1.0101))
    assert below.height
    assert (below["share"] > 0.1).all()
    again = smallest_noise_for_uniques(pd.DataFrame(x, columns=["a", "b"]), 0.1, seed=1)
    assert (again.ratio, again.share) == (found.ratio, found.share)
    for same in (pl.DataFrame(x, schema=["a", "b"]), {"a": x[:, 0], "b": x[:, 1]}, x.tolist()):
        assert smallest_noise_for_uniques(same, 0.1, seed=1).ratio == found.ratio
    assert smallest_noise_for_uniques(x, 0.05, seed=1).ratio > found.ratio


def test_uniques_do_not_depend_on_units_and_fall_with_noise():
    x = np.random.default_rng(6).normal(size=(300, 2))
    curve = uniques_curve(x, [0, 0.001, 0.01, 0.1, 1, 10], seed=1)["share"].to_numpy()
    assert curve[0] == 1
    assert (np.diff(curve) < 0.005).all()
    assert curve[-1] < 0.02
    other = uniques_curve(x * [1000, 0.25] + [4096, 2], [0.1], seed=1)["share"][0]
    assert other == pytest.approx(curve[3], abs=0.005)


def test_no_noise_where_uniques_are_few_already():
    assert smallest_noise_for_uniques([1, 1, 2, 2, 3], 0.2).noise_sd == (0.0,)
    assert uniques_curve([1, 1, 2, 2], [0, 0.5])["share"].to_list() == [0, 0]  # equal records are never unique


# frames


def test_curve_has_a_row_for_each_value_and_snooper():
    curve = ru_curve(NoiseRelease(10, 2.0, 0.0), [0, 1, 2])
    assert curve.columns == ["release", "parameter", "snooper", "risk", "utility"]
    assert curve.height == 3 * 4
    assert set(curve["release"]) == {"noise"}
    row = curve.filter((pl.col("parameter") == 1) & (pl.col("snooper") == "mean")).row(0, named=True)
    assert row["risk"] == NoiseRelease(10, 2.0, 1.0).risk("mean")
    assert row["utility"] == NoiseRelease(10, 2.0, 1.0).utility()
    outside = ru_curve(NoiseRelease(10, 2.0, 0.0), [1], member=False)
    assert outside["snooper"].to_list() == ["mean"]


def test_relative_curves_do_not_depend_on_units():
    a, b = (ru_curve(NoiseRelease(10, s, 0.0), [0.5 * s, s], relative=True) for s in (1.0, 30.0))
    assert a["risk"].to_list() == pytest.approx(b["risk"].to_list())
    assert a["utility"].to_list() == pytest.approx(b["utility"].to_list())
    assert ru_curve(NoiseRelease(10, 1.0, 0.0), [0], relative=True)["utility"][0] == 1


def test_other_parameters_can_vary():
    curve = ru_curve(
        SyntheticRelease(1.0, 0.5, 1, 10), np.array([1.0, 5.0, 20.0]), parameter="copies", snoopers="worst"
    )
    assert (curve["utility"].diff().drop_nulls() > 0).all()
    assert curve["risk"][0] == SyntheticRelease(1.0, 0.5, 1, 10).worst_risk()
    assert ru_curve(OriginalRelease(5, 1.0), [5, 50], parameter="n", snoopers="mean").height == 2
    single = ru_curve(OriginalRelease(5, 1.0))
    assert single["parameter"].to_list() == [None, None]
    identity = ru_curve(SwapRelease(2.0, 1.0, 0.0), [0.25], snoopers="identity", relative=True)
    assert identity["risk"].to_list() == [0.75]


def test_anchors():
    rows = {(r, s): (risk, u) for r, _, s, risk, u in ru_anchors(10, 2.0).rows()}
    assert rows["release everything", "mean"] == (pytest.approx(10 / 36), 2.5)
    assert rows["release everything", "linked"] == (math.inf, 2.5)
    assert rows["release nothing", "nobody"] == (0, 0)
    assert ru_anchors(10, 2.0, relative=True)["utility"].to_list() == [1, 1, 0]


# bad input


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: OriginalRelease(1, 1.0), "n is a whole number from 2 upwards: the mean of one record"),
        (lambda: NoiseRelease(0, 1.0, 1.0), "n is a whole number from 2 upwards"),
        (lambda: NoiseRelease(2.5, 1.0, 1.0), "n is a whole number"),
        (lambda: NoiseRelease(True, 1.0, 1.0), "n is a whole number"),
        (lambda: OriginalRelease(10**10, 1.0), "at most 1,000,000,000"),
        (lambda: OriginalRelease(5, 0.0), "sigma is the standard deviation of the records, a finite number above 0"),
        (lambda: OriginalRelease(5, math.nan), "sigma is"),
        (lambda: OriginalRelease(5, 1e200), "another unit"),
        (lambda: NoiseRelease(5, 1.0, -1.0), "noise_sd is the standard deviation of the noise, a finite number from 0"),
        (lambda: NoiseRelease(5, 1.0, "1"), "noise_sd is"),
        (lambda: NoiseRelease(1, -1.0, -1.0), "Several things are wrong"),
        (lambda: SyntheticRelease(1.0, -0.1, 1, 1), "alpha is the standard deviation of mu_i"),
        (lambda: SyntheticRelease(1.0, 0.1, 1, 0), "size is a whole number from 1 upwards"),
        (lambda: SyntheticRelease(1.0, 0.1, 0, 1), "copies is a whole number from 1 upwards"),
        (lambda: SyntheticRelease(1.0, 0.1, 1, 1, n=1), "n is a whole number from 2"),
        (lambda: SwapRelease(1.0, 1.0, 30), "rate is a fraction from 0 to 1: for 30 percent write 0.3"),
        (lambda: SwapRelease(1.0, 1.0, -0.1), "rate is a fraction from 0 to 1"),
        (lambda: SwapRelease(1.0, math.inf, 0.1), "difference is that of the two areas' means"),
        (lambda: SwapRelease(1.0, 1.0, 0.1, sizes=(3,)), "sizes are two whole numbers"),
        (lambda: SwapRelease(1.0, 1.0, 0.1, sizes=(3, 0)), "Each of sizes is a whole number from 1"),
        (lambda: OriginalRelease(5, 1.0).risk("men"), 'one of "mean", "linked". Did you mean "mean"'),
        (lambda: OriginalRelease(5, 1.0).risk(3), "snooper of the original release must be one of"),
        (lambda: OriginalRelease(5, 1.0).risk("linked", member=False), "member must be True"),
        (lambda: OriginalRelease(5, 1.0).risk("mean", member="no"), "member must be True or False"),
        (lambda: OriginalRelease(5, 1.0).worst_risk(linked=1), "linked must be True or False"),
        (lambda: SwapRelease(1.0, 1.0, 0.1).risk("identity", member=False), "member must be True"),
        (lambda: SyntheticRelease(1.0, 0.1, 1, 1).original_utility(), "give n"),
        (lambda: OriginalRelease(5, 1.0).simulate(10), "draws is a whole number from 100"),
        (lambda: OriginalRelease(10**8, 1.0).simulate(1000), "at most 19 draws"),
        (lambda: OriginalRelease(5, 1.0).simulate(seed=-1), "seed is a whole number"),
        (lambda: OriginalRelease(5, 1.0).simulate(shape="normale"), 'Did you mean "normal"'),
        (lambda: best_rate(0.0, sigma=1.0, difference=1.0), "limit is the largest tolerable risk"),
        (lambda: best_rate(math.nan, sigma=1.0, difference=1.0), "limit is the largest tolerable risk"),
        (lambda: best_rate(1.0, sigma=-1.0, difference=1.0), "sigma is"),
        (lambda: best_rate(1.0, sigma=1.0, difference=1.0, snooper="linked"), "snooper must be one of"),
        (lambda: smallest_noise(-1.0, n=5, sigma=1.0), "limit is the largest tolerable risk"),
        (lambda: smallest_noise(1.0, n=1, sigma=1.0), "n is a whole number from 2"),
        (lambda: ru_curve("noise"), "release must be one of the theory's releases"),
        (lambda: ru_curve(OriginalRelease(5, 1.0), [1]), "nothing to vary"),
        (lambda: ru_curve(NoiseRelease(5, 1.0, 0.0), [1], parameter="noise"), 'Did you mean "noise_sd"'),
        (lambda: ru_curve(NoiseRelease(5, 1.0, 0.0), parameter="noise_sd"), "give values"),
        (lambda: ru_curve(NoiseRelease(5, 1.0, 0.0), [1], snoopers=[]), "names nobody"),
        (lambda: ru_curve(NoiseRelease(5, 1.0, 0.0), [-1]), "noise_sd is"),
        (lambda: uniques_curve([1, 2], [-1]), "ratios are noise"),
        (lambda: uniques_curve(["a", "b"], [1]), "values must be numbers"),
        (lambda: uniques_curve([1], [1]), "at least two records"),
        (lambda: uniques_curve([[1, 2, 3], [4, 5, 6]], [1]), "2 rows and 3 columns"),
        (lambda: uniques_curve([[1, 2], [1]], [1]), "columns equally long"),
        (lambda: uniques_curve({"a": [1, 2], "b": [1]}, [1]), "columns equally long"),
        (lambda: uniques_curve([1, np.nan, 3], [1]), "1 records have something missing"),
        (lambda: uniques_curve([[1, 2], [1, 3]], [1]), "Variable 1 has no usable spread"),
        (lambda: uniques_curve([1, 2], [1], repeats=1), "repeats is a whole number from 2"),
        (lambda: smallest_noise_for_uniques([1, 2], 20), "limit is a fraction from 0 to 1: for 20 percent write 0.2"),
        (lambda: smallest_noise_for_uniques([1, 2], 0.2, precision=0), "precision is"),
        (lambda: smallest_noise_for_uniques(np.arange(50.0), 0.001), r"1 in 50 .* Ask for 0\.02 or more"),
    ],
)  # fmt: skip
def test_bad_input(make, sentence):
    with pytest.raises(InputError, match=sentence):
        make()


def test_releases_are_frozen():
    with pytest.raises(FrozenInstanceError):
        OriginalRelease(5, 1.0).n = 6
    assert NoiseRelease(5, 1.0, 0.5) == NoiseRelease(n=5, sigma=1.0, noise_sd=0.5)
