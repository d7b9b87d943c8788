"""The risk-utility theory: every formula against a simulation, numbers of the paper, limits, monotony."""

from __future__ import annotations

import math
from dataclasses import replace

import polars as pl
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from confide.theory import (
    NoiseRelease,
    OriginalRelease,
    SwapRelease,
    SyntheticRelease,
    ru_curve,
)

some = settings(max_examples=100, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
spreads = st.floats(0.01, 100)
counts = st.integers(2, 1000)

RELEASES = [
    OriginalRelease(n=2, sigma=3.0),
    OriginalRelease(n=7, sigma=0.5),
    NoiseRelease(n=2, sigma=1.0, noise_sd=2.0),
    NoiseRelease(n=6, sigma=2.0, noise_sd=0.7),
    NoiseRelease(n=4, sigma=1.0, noise_sd=0.0),
    SyntheticRelease(sigma=2.0, alpha=1.0, copies=3, size=4),
    SyntheticRelease(sigma=1.0, alpha=0.5, copies=1, size=1),
    SyntheticRelease(sigma=1.0, alpha=2.0, copies=2, size=5, n=4),
    SwapRelease(sigma=1.0, difference=1.0, rate=0.3),
    SwapRelease(sigma=2.0, difference=-5.0, rate=0.9, sizes=(4, 3)),
    SwapRelease(sigma=1.0, difference=2.0, rate=0.0, sizes=(1, 2)),
]


def mse(found: pl.DataFrame, snooper: str | None, member: bool | None = True) -> tuple[float, float]:
    """A simulated mean squared error with its standard error."""
    rows = found.filter(pl.col("snooper").eq_missing(snooper))
    row = (rows if snooper is None else rows.filter(pl.col("member") == member)).row(0, named=True)
    return 1 / row["simulated"], row["standard_error"] / row["simulated"] ** 2


def rejected(found: pl.DataFrame, snooper: str | None, wrong: float, member: bool | None = True) -> bool:
    mean, error = mse(found, snooper, member)
    return abs(mean - wrong) > 8 * error


# simulation


@pytest.mark.parametrize("shape", ["normal", "uniform", "exponential"])
@pytest.mark.parametrize("release", RELEASES, ids=repr)
def test_simulation_equals_theory(release, shape):
    found = release.simulate(draws=60_000, seed=12, shape=shape)
    assert found["z"].abs().max() < 4
    asked = {s for s in release.snoopers if s not in release.linking}
    assert {s for s, m in found.select("snooper", "member").rows() if m} == set(release.snoopers)
    assert {s for s, m in found.select("snooper", "member").rows() if m is False} == asked
    assert found["quantity"].to_list().count("utility") == 1


def test_same_seed_same_numbers_and_chunks_do_not_matter(monkeypatch):
    release = NoiseRelease(5, 1.0, 0.5)
    assert release.simulate(500, 3).equals(release.simulate(500, 3))
    assert not release.simulate(500, 3).equals(release.simulate(500, 4))
    monkeypatch.setattr("confide.theory.simulation.AT_ONCE", 1000)
    assert release.simulate(20_000, 3)["z"].abs().max() < 4


def test_what_print_assigns_to_one_synthetic_value_is_rejected():
    release = SyntheticRelease(sigma=1.0, alpha=0.5, copies=3, size=4)
    found = release.simulate(draws=50_000, seed=1)
    assert rejected(found, "value", 1.0 + 0.25)  # sigma^2 + alpha^2 is that of mu_i
    assert not rejected(found, "mu", 1.0 + 0.25)


def test_the_condition_of_print_is_not_about_one_synthetic_value():
    """alpha^2 > sigma^2/(k(m-1)) decides between the grand mean and mu_i; one value loses to the mean regardless."""
    below = SyntheticRelease(sigma=1.0, alpha=0.1, copies=2, size=5)  # 0.01 < 0.2
    found = below.simulate(draws=50_000, seed=1)
    assert not below.prefers_mean()
    assert mse(found, "grand_mean")[0] > mse(found, "mu")[0]
    assert mse(found, "grand_mean")[0] < mse(found, "value")[0]
    assert below.prefers_mean(over="value")


@pytest.mark.parametrize(
    ("release", "snooper", "member", "wrong"),
    [
        (OriginalRelease(5, 1.0), "mean", True, 1.2),  # the target's own part in the mean forgotten
        (OriginalRelease(5, 1.0), "mean", False, 0.8),
        (NoiseRelease(5, 1.0, 1.0), "mean", True, 1.4),
        (NoiseRelease(5, 1.0, 1.0), "shrink_known", True, 0.6),  # that of the sample mean
        (NoiseRelease(5, 1.0, 1.0), "shrink_sample", True, 0.5),
        (NoiseRelease(5, 1.0, 1.0), None, None, 0.2),
        (SyntheticRelease(1.0, 0.5, 3, 4, n=5), None, None, 0.25 / 3 + 1 / 12),  # as if mu were known
        (SwapRelease(1.0, 2.0, 0.5), None, None, 5 / 6 + 5 / 6 * 0.5 * 4),  # 5/6 not squared
        (SwapRelease(1.0, 2.0, 0.5), "attribute", True, 0.5 * (1 + 4)),
        (SwapRelease(1.0, 2.0, 0.5), "mean", True, 2 / 3 + 0.5 * 4 / 9),
    ],
)
def test_wrong_formulas_are_rejected(release, snooper, member, wrong):
    assert rejected(release.simulate(draws=50_000, seed=2), snooper, wrong, member)


def test_print_promises_more_from_synthetic_data_than_the_records_hold():
    """With mu_i about the true mean, ten copies beat the original; about the sample mean they cannot."""
    as_printed = SyntheticRelease(sigma=1.0, alpha=0.1, copies=10, size=100)
    assert as_printed.utility() == pytest.approx(500)
    assert as_printed.utility() > OriginalRelease(100, 1.0).utility()
    assert replace(as_printed, n=100).utility() == pytest.approx(1 / (0.01 + 0.001 + 0.001))


# numbers of the paper


def test_table_by_hand():
    assert OriginalRelease(4, 2.0).utility() == 1
    assert OriginalRelease(4, 2.0).risk("mean") == pytest.approx(4 / (3 * 4))
    assert OriginalRelease(4, 2.0).risk("mean", member=False) == pytest.approx(4 / (5 * 4))
    assert OriginalRelease(4, 2.0).risk("linked") == math.inf
    noise = NoiseRelease(4, 2.0, 1.0)
    assert noise.utility() == pytest.approx(4 / 5)
    assert noise.risk("mean") == pytest.approx(4 / 13)
    assert noise.risk("mean", member=False) == pytest.approx(1 / (4 + 5 / 4))
    assert noise.risk("linked") == 1
    assert noise.risk("shrink_known") == pytest.approx(1 + 1 / 4)
    assert noise.risk("shrink_sample") == pytest.approx(5 / (4 + 1 / 4))
    synthetic = SyntheticRelease(2.0, 1.0, copies=2, size=4)
    assert synthetic.utility() == pytest.approx(1 / (1 / 2 + 4 / 8))
    assert [synthetic.risk(s) for s in synthetic.snoopers] == pytest.approx([1 / 9, 1 / 5, 1 / 6, 1 / 5])
    swap = SwapRelease(1.0, 2.0, 0.5)
    assert swap.utility() == pytest.approx(1 / (5 / 6 + 25 / 36 * 0.5 * 4))
    assert swap.risk("attribute") == pytest.approx(1 / (0.5 * 6))
    assert swap.risk("identity") == 0.5


def test_the_figure_of_the_paper():
    """Its axis runs from 0.6 to 1.2: sigma = 1 and a difference of 1 give 0.65 to 1.2."""
    curve = ru_curve(SwapRelease(1.0, 1.0, 0.0), [0, 1], snoopers="attribute")
    assert curve["utility"].to_list() == pytest.approx([1.2, 36 / 55])
    assert curve["risk"].to_list() == [math.inf, pytest.approx(1 / 3)]


# limits and monotony


@some
@given(counts, spreads)
def test_no_noise_is_the_original(n, sigma):
    original, noise = OriginalRelease(n, sigma), NoiseRelease(n, sigma, 0.0)
    assert noise.utility() == pytest.approx(original.utility())
    for member in (True, False):
        assert noise.risk("mean", member) == pytest.approx(original.risk("mean", member))
    assert noise.worst_risk() == original.worst_risk() == math.inf
    tiny = NoiseRelease(n, sigma, 1e-9 * sigma)
    assert tiny.utility() == pytest.approx(original.utility())
    assert tiny.risk("linked") > 1e17 / sigma**2


@some
@given(counts, spreads, spreads, spreads)
def test_noise_lowers_risk_and_utility(n, sigma, a, b):
    assume(abs(a - b) > 1e-3 * max(a, b, sigma / 10))
    less, more = (NoiseRelease(n, sigma, s) for s in sorted((a, b)))
    assert more.utility() < less.utility()
    for snooper in less.snoopers:
        assert more.risk(snooper) <= less.risk(snooper) * (1 + 1e-12)
    assert more.risk("linked") < less.risk("linked")
    assert more.worst_risk() <= less.worst_risk()


@some
@given(counts, spreads, spreads)
def test_a_member_is_at_more_risk_and_shrinking_is_best(n, sigma, noise_sd):
    release = NoiseRelease(n, sigma, noise_sd)
    assert release.risk("mean", member=True) > release.risk("mean", member=False)
    assert release.risk("shrink_known") >= max(release.risk(s) for s in release.snoopers) * (1 - 1e-12)
    assert release.risk("shrink_sample") >= max(release.risk("linked"), release.risk("mean")) * (1 - 1e-12)
    assert release.worst_risk(linked=False) == release.risk("mean")
    assert release.best_snooper(member=False) == "mean"


@some
@given(counts, spreads, spreads)
def test_when_the_mean_is_the_better_guess(n, sigma, noise_sd):
    assume(abs(sigma - noise_sd) > 1e-6 * sigma)
    release = NoiseRelease(n, sigma, noise_sd)
    assert release.prefers_mean() == (release.risk("mean") >= release.risk("linked"))
    assert NoiseRelease(n, sigma, sigma).prefers_mean()


@some
@given(spreads, spreads, st.integers(1, 20), st.integers(1, 50), st.none() | counts)
def test_when_the_grand_mean_is_the_better_guess(sigma, alpha, m, k, n):
    assume(abs(alpha**2 * k * (m - 1) - sigma**2) > 1e-6 * sigma**2)
    release = SyntheticRelease(sigma, alpha, m, k, n)
    for other in ("mu", "value", "copy_mean"):
        assert release.prefers_mean(other) == (release.risk("grand_mean") >= release.risk(other) * (1 - 1e-12))
    assert release.risk("value") <= min(release.risk(s) for s in release.snoopers) * (1 + 1e-12)


@some
@given(spreads, spreads, st.floats(0, 1), st.integers(1, 9))
def test_when_the_area_mean_is_the_better_guess(sigma, difference, rate, a):
    release = SwapRelease(sigma, difference, rate, sizes=(a, 2))
    assume(abs(rate - release.mean_from()) > 1e-6)
    assert release.prefers_mean() == (release.risk("mean") >= release.risk("attribute") * (1 - 1e-12))
    assert release.worst_risk() == max(release.risk("mean"), release.risk("attribute"))


@some
@given(spreads, spreads, st.floats(0, 1), st.floats(0, 1))
def test_swapping_lowers_risk_and_utility(sigma, difference, a, b):
    less, more = (SwapRelease(sigma, difference, r) for r in sorted((a, b)))
    assert more.utility() <= less.utility()
    assert all(more.risk(s) <= less.risk(s) for s in less.snoopers)


def test_rate_zero_has_unbounded_attribute_risk():
    release = SwapRelease(1.0, 1.0, 0.0)
    assert release.risk("attribute") == math.inf == release.worst_risk()
    assert (release.risk("identity"), release.best_snooper()) == (1, "attribute")
    assert release.utility() == release.original_utility() == pytest.approx(1.2)
    assert SwapRelease(1.0, -1.0, 0.4).utility() == SwapRelease(1.0, 1.0, 0.4).utility()


def test_large_releases_approach_what_the_mean_tells():
    assert NoiseRelease(10**8, 2.0, 3.0).risk("mean") == pytest.approx(0.25)
    assert SyntheticRelease(2.0, 0.0, 1000, 1000).risk("grand_mean") == pytest.approx(0.25, rel=1e-5)
