"""What is believed of one number: the file's own distribution where nothing predicts it, spikes, ties and intervals."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp
from scipy.integrate import quad
from scipy.special import logsumexp, ndtr, ndtri

import confide as cf
from confide.attack.beliefs.points import Merging, every, gauss_rule, merged, score_edges
from confide.attack.beliefs.regressions import NumberBelief
from confide.attack.beliefs.score_fit import Rows, interval_fit, plain_fit
from confide.attack.beliefs.uniform import uniform_belief
from confide.protect.likelihoods.normal import logs
from confide.protect.seam.likelihood import take
from tests.helpers.held_out import held
from tests.helpers.scenes import scenes


def money(n=700, zeros=0.0, base=200.0, wage=0.0, seed=0):
    """Rounded incomes, with a share of zeros and of one other common value that depend on sex and ownership."""
    rng = np.random.default_rng(seed)
    sex, own = rng.integers(0, 2, n), rng.integers(0, 2, n)
    y = np.maximum(np.round(np.exp(10.3 + 0.4 * sex + 0.7 * rng.normal(size=n)) / base), 1) * base
    y = np.where(rng.random(n) < 2 * wage * (1 - sex), 22_000.0, y)
    y = np.where(rng.random(n) < zeros + (0.9 - zeros) * zeros * np.where(own == 1, -1, 1), 0.0, y)
    return pl.DataFrame({"sex": np.array(["m", "f"])[sex], "own": np.array(["no", "yes"])[own], "y": y})


FILES = {
    "distinct": {"base": 0.01},
    "ties": {"base": 800.0},
    "36 percent zeros": {"zeros": 0.36},
    "75 percent zeros": {"zeros": 0.75},
    "a spike that is not zero": {"wage": 0.15},
    "two spikes": {"zeros": 0.3, "wage": 0.15},
}
STEPS = {
    "noise": [cf.Noise("y", sd=12_000, keep_zeros=False)],
    "little noise": [cf.Noise("y", sd=900, keep_zeros=False)],
    "noise, zeros kept": [cf.Noise("y", sd=12_000, keep_zeros=True)],
    "noise in bounds": [cf.Noise("y", sd=12_000, keep_zeros=False, bounds=(0, None))],
    "noise, then rounded": [cf.Noise("y", sd=12_000, keep_zeros=False), cf.Round("y", base=5000)],
    "noise across a topcode": [cf.Noise("y", sd=12_000, keep_zeros=False, sequential=True), cf.Topcode("y", at=60_000)],
    "factors": [cf.LognormalNoise("y", sd=0.4)],
    "ranks": [cf.RankSwap("y", window=20, keep_zeros=False)],
    "far ranks": [cf.RankSwap("y", window=100, keep_zeros=False)],
    "exchanged ranks": [cf.RankSwap("y", window=100, exchange=True, keep_zeros=False)],
    "swap": [cf.Swap("y", rate=0.3)],
}


def likelihoods(scene, number, like):
    """log L(z_j given y_i) of altered records j and altered original values i, from the likelihood itself."""
    y = scene.uncertain[number.item].met(scene.case.original)
    t = like.target(y)
    who = np.flatnonzero(like.altered(t) & ~y[number.variable].missing)
    seen = np.flatnonzero(like.moved(scene.rows))
    log_l = [like.log(take(t, who), take(like.record, np.full(len(who), scene.rows[j]))) for j in seen]
    return seen, y[number.variable].values[who], np.array(log_l)


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("name", STEPS)
def test_with_no_predictors_the_belief_is_the_file(name, file):
    y = money(**FILES[file]).select("y")
    release = cf.Plan(STEPS[name], numeric=["y"]).protect(y, seed=1)
    ((_, scene),) = scenes(cf.Intruder(knows=["y"]).attack(release))
    (number,) = scene.numbers
    seen, _, log_l = likelihoods(scene, number, number.like_a)
    by_definition = logsumexp(log_l, axis=1) - np.log(log_l.shape[1])
    np.testing.assert_allclose(np.expm1(scene.log_m[seen] - by_definition), 0, atol=1e-8)


@pytest.mark.parametrize("limits", [(30_000, None), (15_000, 30_000), (0, 22_000), (22_000, 22_000)])
@pytest.mark.parametrize("name", ["noise", "noise in bounds", "far ranks", "swap"])
def test_intervals_split_merged_values_exactly(name, limits):
    y = money(**FILES["two spikes"]).select("y")
    low, high = limits[0], np.inf if limits[1] is None else limits[1]
    release = cf.Plan(STEPS[name], numeric=["y"]).protect(y, seed=2)
    rows = np.flatnonzero(y["y"].is_between(low, high).to_numpy())
    targets = pl.DataFrame({"low": [float(low)] * len(rows), "high": [limits[1]] * len(rows)}, schema_overrides={"high": pl.Float64})  # fmt: skip
    attack = cf.Intruder(knows=[], between={"y": ("low", "high")}).attack(release, targets=targets, truth=rows)
    ((_, scene),) = scenes(attack)
    (number,) = scene.numbers
    _, values, log_l = likelihoods(scene, number, number.like)
    inside = (values >= low) & (values <= high)
    log_w = logsumexp(log_l[:, inside], axis=1) - logsumexp(log_l, axis=1)
    p = np.exp(log_w - logsumexp(log_w))
    own = np.argsort(release.link)
    np.testing.assert_allclose(attack.units["p_true"], p[own[rows]], rtol=1e-8)


@pytest.mark.parametrize("file", FILES)
def test_beliefs_sum_to_one_and_know_who_has_a_spike(file):
    y = money(800, **FILES[file])
    cell, design = (y["own"] == "yes").to_numpy().astype(np.int64), sp.csr_matrix(np.eye(2))
    value, nobody = y["y"].to_numpy(), np.zeros(800, dtype=np.int64)
    how = Merging(lambda v: v / 1000)
    belief, fitted = NumberBelief.fit(design, cell, nobody, 1, value, np.arange(800), how, held(cell, value))
    for points in (belief.every, belief.nodes):
        assert np.all(np.diff(points.values) > 0)
        for c in range(2):
            mass = belief.law.mass(points, np.arange(len(points)), np.full(len(points), c))
            assert mass.sum() == pytest.approx(1, abs=1e-9)
        np.testing.assert_allclose(belief.law.log_between(points, 0, np.inf, np.arange(2)), 0, atol=1e-9)
    if "zeros" in FILES[file]:
        shares = [np.mean(value[cell == c] == 0) for c in range(2)]
        found = np.exp(belief.log_point(np.zeros(2), np.arange(2))).ravel()
        np.testing.assert_allclose(found, shares, atol=0.03)
        assert shares[0] > shares[1] + 0.05
    assert len(fitted.residual) == 800


def test_log_density_is_the_mass_of_a_value_and_goes_on_between_values():
    y = money(800, zeros=0.3, wage=0.15, base=1000.0)
    cell, design = (y["own"] == "yes").to_numpy().astype(np.int64), sp.csr_matrix(np.eye(2))
    belief, _ = NumberBelief.fit(
        design, cell, 0 * cell, 1, y["y"].to_numpy(), np.arange(800), Merging(), held(cell, y["y"].to_numpy())
    )
    both = np.arange(2)
    for value in (0.0, 22_000.0, 31_000.0):
        found = belief.log_density(np.full(2, value), both, 0)
        np.testing.assert_allclose(found, belief.log_point(np.full(2, value), both)[:, 0], rtol=1e-9)
    near, there = (belief.log_density(np.full(2, v), both, 0) for v in (31_001.0, 31_000.0))
    assert np.diff(near)[0] == pytest.approx(np.diff(there)[0], abs=0.02)


def test_groups_keep_their_moments():
    rng = np.random.default_rng(3)
    x, count = np.sort(rng.gamma(2.0, size=60)), rng.integers(1, 5, 60).astype(float)
    group = np.repeat(np.arange(6), 10)
    points, weights = gauss_rule(x, count, group, 6)
    for g in range(6):
        mine = group == g
        for r in range(8):
            exact = np.sum(count[mine] * x[mine] ** r)
            assert np.sum(weights[g] * points[g] ** r) == pytest.approx(exact, rel=1e-9)


def test_nothing_is_merged_across_spikes_and_ends():
    values = np.arange(40.0)
    spike = np.where(values == 7, 0, -1)
    count = np.where(values == 7, 100.0, 1.0)
    whole = every(values, score_edges(np.where(spike < 0, count, 0)), spike)
    how = Merging(lambda v: v, limits=(12.0, 30.0))
    nodes = merged(whole, count, how, even=True)
    assert 20 < len(nodes) < 40
    assert nodes.values[nodes.spike == 0].tolist() == [7.0]
    share = np.diff(ndtr(nodes.edges))
    assert share[nodes.inside(12, 30)].sum() == pytest.approx(19 / 39)
    assert share[nodes.values < 7].sum() == pytest.approx(7 / 39)


def test_ties_neither_narrow_nor_shift_the_regression():
    """Scores seen only as one of five classes: least squares on middles is too narrow, the interval fit is right."""
    rng = np.random.default_rng(4)
    n, truth = 20_000, np.array([-0.6, 0.6])
    cell = rng.integers(0, 2, n)
    s = truth[cell] + 0.8 * rng.normal(size=n)
    edges = ndtri(np.array([0, 0.3, 0.5, 0.7, 0.9, 1.0]))
    of = np.searchsorted(edges, s) - 1
    rows = Rows.make(sp.csr_matrix(np.eye(2)), cell, 0 * cell, 1, None)
    middle = ndtri(0.5 * (ndtr(edges[1:]) + ndtr(edges[:-1])))
    beta, tau, _ = plain_fit(rows, middle[of])
    assert tau < 0.72
    beta, tau = interval_fit(rows, edges[of], edges[of + 1], beta, tau)
    assert tau == pytest.approx(0.8, abs=0.02)
    np.testing.assert_allclose(beta[:2] + beta[2], truth, atol=0.03)


def test_a_uniform_belief_follows_the_scale_of_the_noise():
    def density(y):
        return np.exp(-0.5 * ((np.log(3.0) - np.log(y)) / 0.2) ** 2)

    belief = uniform_belief(0.0, 100.0, 1, 1, Merging(lambda y: 16 * logs(y) / 0.2, limits=(2.5, 50.0)))
    at = np.arange(len(belief.nodes))
    mass = belief.law.mass(belief.nodes, at, 0 * at)[:, 0]
    for low, high in ((0.0, 100.0), (2.5, 50.0)):
        inside = belief.nodes.inside(low, high)
        exact = quad(density, low or 1e-12, high, points=[1, 2, 3, 4, 6], limit=200)[0] / 100
        assert np.sum(mass[inside] * density(belief.nodes.values[inside])) == pytest.approx(exact, rel=1e-6)
        assert np.exp(belief.law.log_between(belief.nodes, low, high, np.zeros(1, dtype=np.int64)))[
            0, 0
        ] == pytest.approx((high - low) / 100)


@pytest.mark.parametrize("file", ["36 percent zeros", "75 percent zeros", "two spikes"])
@pytest.mark.parametrize("name", ["noise", "ranks", "swap"])
def test_claims_are_true_with_spikes(name, file):
    y = money(4000, **FILES[file])
    spike = y["y"].is_in([0.0, 22_000.0])
    for knows in (["y"], ["sex", "own", "y"]):
        releases = [cf.Plan(STEPS[name], numeric=["y"]).protect(y, seed=s) for s in range(6)]
        units = [cf.Intruder(knows=knows).attack(r).units for r in releases]
        for who in (spike | True, spike, ~spike):
            assert abs(cf.calibrate([u.filter(who) for u in units]).z) < 3


@pytest.mark.parametrize("knows", [["sex", "age"], ["sex", "marital", "state"]])
def test_claims_about_a_bracket_with_round_ends_are_true(knows):
    y = cf.demo("heads").sample(4000, seed=5).with_columns(top=pl.lit(None, dtype=pl.Float64), low=pl.lit(500_000.0))
    rows = np.flatnonzero((y["property_value"] >= 500_000).to_numpy())
    plan = cf.Plan([cf.Noise("property_value", sd=50_000, keep_zeros=True, bounds=(0, None))], drop=["top", "low"])
    intruder = cf.Intruder(knows=knows, between={"property_value": ("low", "top")})
    attacks = [intruder.attack(plan.protect(y, seed=s), targets=y[rows], truth=rows) for s in range(3)]
    assert abs(cf.calibrate([a.units for a in attacks]).z) < 3
