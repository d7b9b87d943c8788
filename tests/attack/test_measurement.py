"""Unknown bias and noise against a slow twin: the formula of methods.md, section 3, with plain NumPy and SciPy.

Given that record j is the target's, x_k is normal around z_jk with variance s2_k + z_jk^2 phi_k, averaged over what is
believed of both variances. A record's weight is the product of f(x_k given z_jk) / f(x_k given absent); absence has the
weight N - n. The twin integrates over the logarithms of the variances and over z, and reads nothing of the package.
"""

from __future__ import annotations

import json
import math
import tomllib
from itertools import product

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import integrate, stats
from scipy.special import gammaln, logsumexp

import confide as cf
from confide.frames.columns import encode
from confide.protect.document import load_plan, plan_from_dict, plan_to_dict
from confide.protect.evidence import take

few = settings(
    max_examples=6, deadline=None, derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.differing_executors],
)  # fmt: skip

# -- the twin ------------------------------------------------------------------------------------------------------


def log_normal(x, mean, variance):
    return -0.5 * (x - mean) ** 2 / variance - 0.5 * np.log(2 * np.pi * variance)


def log_gamma_of_log(s, belief):
    """Density of log v where v is gamma."""
    return belief.shape * (s + math.log(belief.rate)) - belief.rate * np.exp(s) - gammaln(belief.shape)


def axis_of(belief):
    """Variances all over a gamma's mass, in equal steps of their logs, with weights; a fixed one is a single point."""
    if not isinstance(belief, cf.Gamma):
        return np.array([0.0 if belief is None else float(belief)]), np.ones(1)
    low, high = (f(1e-30, belief.shape, scale=1 / belief.rate) for f in (stats.gamma.ppf, stats.gamma.isf))
    step = min(0.2, 0.45 / math.sqrt(belief.shape))
    s = np.arange(math.log(max(low, 1e-24 * belief.mean)), math.log(high), step)
    return np.exp(s), np.exp(log_gamma_of_log(s, belief)) * step


def points_of(noise, bias):
    """Noise variances, bias variances and weights of the joint belief."""
    (a, p), (b, q) = axis_of(noise), axis_of(bias)
    w = np.outer(p, q).ravel()
    keep = w > 1e-28 * w.max()
    return np.repeat(a, len(b))[keep], np.tile(b, len(a))[keep], w[keep]


def density(x, z, noise, bias):
    """f(x given z) by a fine sum over the logs of both variances; x and z broadcast."""
    a, b, w = points_of(noise, bias)
    x, z = np.broadcast_arrays(np.asarray(x, float), np.asarray(z, float))
    out = np.empty(x.shape)
    for i in np.ndindex(x.shape):
        out[i] = w @ np.exp(log_normal(x[i], z[i], a + z[i] ** 2 * b))
    return out


def integrated(x, z, noise, bias):
    """f(x given z) by adaptive quadrature over the log of each uncertain variance."""
    beliefs = [g for g in (noise, bias) if isinstance(g, cf.Gamma)]
    constants = [g.shape * math.log(g.rate) - math.lgamma(g.shape) for g in beliefs]

    def value(*logs):
        at, prior, parts = 0, 0.0, []
        for g in (noise, bias):
            if isinstance(g, cf.Gamma):
                v = math.exp(logs[at])
                prior += constants[at] + g.shape * logs[at] - g.rate * v
                parts.append(v)
                at += 1
            else:
                parts.append(float(g or 0.0))
        variance = parts[0] + z * z * parts[1]
        power = prior - 0.5 * (x - z) ** 2 / variance
        return math.exp(power) / math.sqrt(2 * math.pi * variance) if power > -600 else 0.0

    if not beliefs:
        return value()
    grids = []
    for g in beliefs:
        low = max(math.log(g.mean) - 14 / math.sqrt(g.shape) - 45 / g.shape, -55 + math.log(g.mean))
        grids.append(np.linspace(low, math.log(g.mean) + 14 / math.sqrt(g.shape), 61))
    table = np.array([value(*s) for s in product(*grids)]).reshape([61] * len(beliefs))
    limits = []
    for i, grid in enumerate(grids):
        along = table.max(axis=tuple(k for k in range(len(grids)) if k != i))
        at = np.flatnonzero(along > 1e-13 * along.max())
        limits.append((grid[max(at[0] - 1, 0)], grid[min(at[-1] + 1, 60)]))
    if len(beliefs) == 1:
        return integrate.quad(value, *limits[0], epsabs=0, epsrel=1e-11, limit=400)[0]
    return integrate.dblquad(lambda t, s: value(s, t), *limits[0], *limits[1], epsabs=0, epsrel=1e-10)[0]


def absent(values, x, noise, bias, form="student"):
    """f(x given absent) of one attribute: an integral over a new person's z, in many short stretches."""
    n, mean = len(values), float(np.mean(values))
    square = float(((values - mean) ** 2).sum())
    if isinstance(form, cf.Conjugate):
        worth, df = form.worth + n, form.sd_worth + n
        square += form.sd_worth * form.sd**2 + form.worth * n / worth * (mean - form.mean) ** 2
        mean = (form.worth * form.mean + n * mean) / worth
        new = stats.t(df, mean, math.sqrt(square / df * (1 + 1 / worth)))
    else:
        scale = math.sqrt(square / (n - 1) * (1 + 1 / n))
        new = stats.norm(mean, scale) if form == "normal" else stats.t(n - 1, mean, scale)
    a, b, w = points_of(noise, bias)
    width, scale = math.sqrt(w @ a + x * x * (w @ b)), float(new.interval(0.68)[1] - mean)
    far = np.array([0.3, 1, 2, 3, 4.5, 6, 9, 14, 25, 60, 200, 1000])
    cuts = np.unique(
        np.concatenate([x + width * far, x - width * far, mean + scale * far, mean - scale * far, [x, mean]])
    )
    node, weight = np.polynomial.legendre.leggauss(16)
    half = 0.5 * np.diff(cuts)
    z = (cuts[:-1, None] + half[:, None] * (1 + node)).ravel()
    w_z = (half[:, None] * weight).ravel() * new.pdf(z)
    z, w_z = z[w_z > 0], w_z[w_z > 0]
    total = 0.0
    for part in np.array_split(np.arange(len(z)), max(len(z) * len(a) // 500_000, 1)):
        variance = a + z[part, None] ** 2 * b
        total += float(w_z[part] @ (np.exp(log_normal(x, z[part, None], variance)) @ w))
    return total


# -- helpers -------------------------------------------------------------------------------------------------------


def elite_like(n, seed, **extra):
    rng = np.random.default_rng(seed)
    frame = pl.DataFrame({
        "u": rng.normal(50, 10, n), "v": rng.normal(13, 4, n), "w": 3 + rng.gamma(4, 1.2, n), "t": rng.normal(-20, 6, n),
    })  # fmt: skip
    return frame.with_columns(**extra)


def released(frame, *steps, seed=1, **options):
    return cf.Plan(list(steps), **options).protect(frame, seed=seed)


def values_of(release, *names):
    return np.column_stack([release.frame[v].cast(pl.Float64).fill_null(np.nan).to_numpy() for v in names])


def posterior(attack, i, r):
    """p of every released row, 0 for rows that are no candidates."""
    found, out = attack.posterior(i), np.zeros(r)
    out[found["row"].to_numpy()] = found["p"].to_numpy()
    return out


def evidence(release, step=0, variables=None):
    """The likelihood that a fitted step offers, and a function that makes its target's side from values."""
    plan = release.plan
    names = list(variables or plan.parts[step].variables)
    found = (
        release.compiled.fitted[step]
        .evidence(release.compiled.view(plan.encode(release.frame)), tuple(names))
        .likelihood
    )
    return found, lambda **x: found.target(encode(pl.DataFrame(x), names, numeric=names))


def check_units(attack, tolerance=1e-10):
    """What the compiled loops say of every target, against its posterior worked out plainly."""
    units = attack.units
    for i in range(units.height):
        p = posterior(attack, i, attack.release.frame.height)
        row = units.row(i, named=True)
        gone = row["p_absent"] or 0.0
        assert p.sum() + gone == pytest.approx(1.0, abs=tolerance)
        assert row["p_max"] == pytest.approx(p.max(), rel=tolerance, abs=1e-300)
        assert row["n_max"] == (p >= p.max() * (1 - 1e-9)).sum()
        own = attack.own_rows[i]
        if own >= 0:
            assert row["p_true"] == pytest.approx(p[own], rel=tolerance * 10, abs=1e-14)
            if p[own] > 1e-250:
                above = p > p[own] * (1 + 1e-9)
                assert row["rank"] == 1 + above.sum()
                assert row["hit"] == (not above.any())


BELIEFS = {
    "gamma, gamma": (cf.Gamma(400, 100), cf.Gamma(400, 160_000)),
    "gamma, fixed": (cf.Gamma(400, 100), 0.002),
    "fixed, gamma": (4.0, cf.Gamma(400, 160_000)),
    "fixed, fixed": (4.0, 0.002),
    "noise only": (cf.Gamma(400, 100), None),
    "bias only": (None, cf.Gamma(400, 160_000)),
    "noise 20": (cf.Gamma(20, 5), None),
    "noise 5": (cf.Gamma(5, 1.25), None),
    "noise 2": (cf.Gamma(2, 0.5), None),
    "noise 1": (cf.Gamma(1, 0.25), None),
    "bias 5": (None, cf.Gamma(5, 2_000)),
    "bias 1": (None, cf.Gamma(1, 400)),
    "20 and 20": (cf.Gamma(20, 5), cf.Gamma(20, 8_000)),
    "5 and 5": (cf.Gamma(5, 1.25), cf.Gamma(5, 2_000)),
    "2 and 1": (cf.Gamma(2, 0.5), cf.Gamma(1, 400)),
    "1 and 400": (cf.Gamma(1, 0.25), cf.Gamma(400, 160_000)),
    "1 and 1": (cf.Gamma(1, 0.25), cf.Gamma(1, 400)),
}


def error_step(name, beliefs, **options):
    noise, bias = beliefs
    return cf.MeasurementError(name, noise_variance=noise, bias_variance=bias, **options)


# -- quadrature ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", BELIEFS)
def test_density_against_adaptive_quadrature(name):
    """Each pair's density, to 1e-9 up to five standard deviations away."""
    file = elite_like(12, 3)
    release = released(file, error_step("u", BELIEFS[name]))
    like, target = evidence(release)
    z = values_of(release, "u")[:, 0]
    assert (z != 0).all()
    noise, bias = ((g.mean if isinstance(g, cf.Gamma) else g or 0.0) for g in BELIEFS[name])
    slow = name in ("2 and 1", "1 and 1")
    for j, far in ((8, 4.0),) if slow else ((0, 0.0), (3, 1.0), (5, -2.5), (8, 5.0)):
        x = z[j] + far * math.sqrt(noise + z[j] ** 2 * bias)
        t = dict(target(u=[x]))
        found = float(like.log(t, take(like.record, [j]))[0] + t["log_absent"][0])
        assert math.exp(found) == pytest.approx(integrated(x, z[j], *BELIEFS[name]), rel=1e-9)


@pytest.mark.parametrize("name", ["gamma, gamma", "gamma, fixed", "bias only", "noise 1", "noise 2", "20 and 20"])
def test_posterior_ratios_against_adaptive_quadrature(name):
    file = elite_like(6, 4).with_columns(u=pl.Series([44.0, 47.5, 50.0, 52.0, 55.0, 61.0]))
    release = released(file, error_step("u", BELIEFS[name]))
    attack = cf.Intruder(knows=["u"]).attack(release, pl.DataFrame({"u": [49.0, 58.5]}), truth=[2, 4])
    z = values_of(release, "u")[:, 0]
    for i, x in enumerate((49.0, 58.5)):
        p = posterior(attack, i, 6)
        f = np.array([integrated(x, v, *BELIEFS[name]) for v in z])
        np.testing.assert_allclose(p, f / f.sum(), rtol=1e-9)


@pytest.mark.parametrize("name", [b for b in BELIEFS if b not in ("2 and 1", "1 and 1")])
def test_fine_sums_of_the_twin_are_themselves_exact(name):
    x, z = 47.0, 52.0
    assert density(x, z, *BELIEFS[name]) == pytest.approx(integrated(x, z, *BELIEFS[name]), rel=1e-9)


# -- Monte Carlo -----------------------------------------------------------------------------------------------------

FOUR = {
    "u": (cf.Gamma(400, 40), cf.Gamma(400, 160_000)),
    "v": (cf.Gamma(20, 8), cf.Gamma(20, 4_000)),
    "w": (cf.Gamma(5, 10), None),
    "t": (None, cf.Gamma(5, 250)),
}


@pytest.fixture(scope="module")
def small():
    """30 records, 4 attributes and 10 targets drawn around the file."""
    file = elite_like(30, 8)
    plan = cf.Plan([error_step(v, b) for v, b in FOUR.items()])
    who = np.random.default_rng(2).choice(30, 10, replace=False)
    return plan.protect(file, seed=1), cf.simulate_targets(file, plan, seed=3, shared=False)[who], who


def test_every_posterior_against_a_million_draws(small):
    release, targets, who = small
    attack = cf.Intruder(knows=list(FOUR)).attack(release, targets, truth=who)
    z, x = values_of(release, *FOUR), targets.select(list(FOUR)).to_numpy()
    draws, size = 100, 10_000
    rng = np.random.default_rng(11)
    batches = np.zeros((4, draws, 10, 30))
    for k, (noise, bias) in enumerate(FOUR.values()):
        for b in range(draws):
            s2, phi = (
                rng.gamma(g.shape, 1 / g.rate, size) if isinstance(g, cf.Gamma) else np.full(size, g or 0.0)
                for g in (noise, bias)
            )
            for j in range(30):
                v = s2 + z[j, k] ** 2 * phi
                steep, height = (-0.5 / v).astype(np.float32), (1 / np.sqrt(v)).astype(np.float32)
                far = ((x[:, k] - z[j, k]) ** 2).astype(np.float32)
                batches[k, b, :, j] = np.exp(np.maximum(np.multiply.outer(far, steep), -80)) @ height / size
    mean = batches.mean(axis=1)
    w = mean.prod(axis=0)
    p = w / w.sum(axis=1, keepdims=True)
    g = batches / np.where(mean > 0, mean, 1.0)[:, None]
    move = p * (g - (g * p).sum(axis=-1, keepdims=True))
    error = np.sqrt((move.var(axis=1, ddof=1) / draws).sum(axis=0))
    found = np.array([posterior(attack, i, 30) for i in range(10)])
    assert (np.abs(found - p) <= 1e-6 + 5 * error).all(), np.abs(found - p).max()
    assert error.max() < 2e-3


def test_its_own_monte_carlo_agrees_within_its_errors(small):
    release, targets, who = small
    attack = cf.Intruder(knows=list(FOUR)).attack(release, targets, truth=who)
    z = []
    for seed in range(6):
        found = attack.monte_carlo(draws=4000, seed=seed)
        assert found["target"].to_list() == list(range(10))
        for p in ("p_true", "p_max"):
            z.append(((found[p] - attack.units[p]) / found[f"{p}_error"]).to_numpy())
    z = np.abs(np.concatenate(z))
    assert z.max() < 5
    assert 0.5 < (z < 1).mean() < 0.85  # 0.68 expected
    assert (z < 2).mean() > 0.88


def test_monte_carlo_beside_absence_and_other_steps():
    file = elite_like(60, 5, c=pl.Series(np.random.default_rng(1).choice(["p", "q", "r"], 60)))
    plan = cf.Plan(
        [
            error_step("u", (cf.Gamma(5, 0.5), None)),
            error_step("v", (cf.Gamma(5, 2), cf.Gamma(20, 8_000))),
            cf.Swap("c", rate=0.3),
        ]
    )
    targets = cf.simulate_targets(file, plan, seed=3)
    release = plan.protect(file, seed=1)
    for knows, membership in (
        (["u", "v", "c"], cf.Unsure(total=400)),
        (["u", "v"], "certain"),
        (["v"], cf.Unsure(total=90)),
    ):
        attack = cf.Intruder(knows=knows, membership=membership).attack(release, targets, truth=range(60))
        found = attack.monte_carlo(draws=3000, seed=5, targets=[3, 7, 20])
        rows = attack.units[[3, 7, 20]]
        for p in ("p_true", "p_max"):
            assert (np.abs(found[p] - rows[p]) < 5 * found[f"{p}_error"] + 1e-12).all()
    same = attack.monte_carlo(draws=50, seed=5, targets=[3])
    assert same.equals(attack.monte_carlo(draws=50, seed=5, targets=[3]))


def test_monte_carlo_of_a_target_far_from_every_record():
    file = elite_like(10, 5)
    release = released(file, error_step("u", (cf.Gamma(20, 20), None)))
    attack = cf.Intruder(knows=["u"]).attack(release, pl.DataFrame({"u": [400.0]}), truth=[2])
    found = attack.monte_carlo(draws=200, seed=1)
    assert 0 <= found["p_max"][0] <= 1


# -- agreement with known cases ---------------------------------------------------------------------------------------


def test_fixed_noise_is_classical_noise_without_a():
    file = elite_like(60, 6)
    berkson = released(file, cf.MeasurementError("u", noise_sd=3.0))
    same = cf.Release.adopt(file, berkson.frame, cf.Plan([cf.Noise("u", sd=3.0)]), link=berkson.link)
    x = file["u"].to_numpy()[:20] + 0.37
    (one, target), (two, other) = evidence(berkson), evidence(same)
    t, s = target(u=x), other(u=x)
    i, j = np.repeat(np.arange(20), 60), np.tile(np.arange(60), 20)
    found = one.log(take(t, i), take(one.record, j)) + t["log_absent"][i]
    np.testing.assert_allclose(found, two.log(take(s, i), take(two.record, j)), rtol=1e-13, atol=1e-12)
    targets = pl.DataFrame({"u": x})
    a = cf.Intruder(knows=["u"]).attack(berkson, targets, truth=range(20))
    b = cf.Intruder(knows=["u"], others="ignore").attack(same, targets, truth=range(20))
    for name in ("p_true", "p_max", "rank", "n_max"):
        np.testing.assert_allclose(a.units[name], b.units[name], rtol=1e-12)
    for k in range(20):
        np.testing.assert_allclose(posterior(a, k, 60), posterior(b, k, 60), rtol=1e-11, atol=1e-300)


@pytest.mark.parametrize("errors", [{"noise_sd": 1e-7}, {"bias_sd": 1e-9}, {"noise_sd": 1e-7, "bias_sd": 1e-9}, {"noise_variance": cf.Gamma(400, 4e16)}])  # fmt: skip
def test_no_error_is_exact_matching(errors):
    file = pl.DataFrame({"u": [10.0, 11.0, 11.5, 20.0, 20.0, 20.0, -4.0]})
    attack = cf.Intruder(knows=["u"]).attack(released(file, cf.MeasurementError("u", **errors)), file, truth=range(7))
    np.testing.assert_allclose(attack.units["p_true"], [1, 1, 1, 1 / 3, 1 / 3, 1 / 3, 1], atol=1e-12)
    assert attack.units["n_max"].to_list() == [1, 1, 1, 3, 3, 3, 1]
    assert attack.units["hit"].all()
    kept = cf.Intruder(knows=["u"]).attack(released(file), file, truth=range(7))
    assert attack.summary() == kept.summary()


def test_huge_error_is_not_knowing():
    file = elite_like(40, 9, c=pl.Series(["a", "b"] * 20))
    release = released(file, cf.MeasurementError("u", noise_sd=1e7))
    a = cf.Intruder(knows=["u", "c"]).attack(release, file, truth=range(40))
    b = cf.Intruder(knows=["c"]).attack(release, file, truth=range(40))
    np.testing.assert_allclose(a.units["p_true"], b.units["p_true"], rtol=1e-9)


def test_an_average_intruder_guesses_from_ranges():
    file = elite_like(50, 10)
    release = released(file, cf.MeasurementError(["u", "v"], noise_sd=1.0, bias_sd=0.01))
    guess = {v: cf.prior_from_range(file[v]) for v in ("u", "v")}
    told = released(file, *(cf.MeasurementError(v, **guess[v]) for v in guess))
    a = cf.Intruder(knows=["u", "v"], available="average", others="average").attack(release)
    b = cf.Intruder(knows=["u", "v"]).attack(told)
    np.testing.assert_allclose(a.units["p_true"], b.units["p_true"], rtol=1e-9)
    believed = cf.Intruder(
        knows=["u"], available="average", others="average",
        believes=[cf.MeasurementError("u", noise_sd=5.0), cf.MeasurementError("v", noise_sd=5.0)],
    ).attack(release)  # fmt: skip
    other = cf.Intruder(knows=["u"]).attack(released(file, cf.MeasurementError("u", noise_sd=5.0)))
    np.testing.assert_allclose(believed.units["p_true"], other.units["p_true"], rtol=1e-12)


# -- membership --------------------------------------------------------------------------------------------------------

ABSENT = {
    "normal": "normal",
    "student": "student",
    "conjugate": cf.Conjugate(mean=40, worth=5, sd=20, sd_worth=8),
}
SEVERAL = {"u": (cf.Gamma(20, 2), cf.Gamma(20, 8_000)), "v": (cf.Gamma(5, 2), None)}


def absent_by_hand(ratios, total):
    """p of each record and of absence from log ratios, shape (records,)."""
    weights = np.append(np.exp(ratios), total - len(ratios))
    return weights / weights.sum()


@pytest.mark.parametrize("form", ABSENT)
@pytest.mark.parametrize("n", [5, 40])
def test_absence_against_quadrature_over_a_new_person(form, n):
    file = elite_like(n, 12)
    release = released(file, *(error_step(v, b, absent=ABSENT[form]) for v, b in SEVERAL.items()))
    targets = pl.DataFrame({"u": [file["u"][0], 51.0, 95.0, -10.0], "v": [file["v"][0] + 1, 12.0, 30.0, 13.0]})
    attack = cf.Intruder(knows=["u", "v"], membership=cf.Unsure(total=7 * n)).attack(
        release, targets, truth=[0, -1, -1, -1]
    )
    z, x = values_of(release, "u", "v"), targets.to_numpy()
    for i in range(4):
        ratios = np.zeros(n)
        for k, b in enumerate(SEVERAL.values()):
            ratios += np.log(density(x[i, k], z[:, k], *b)) - math.log(absent(z[:, k], x[i, k], *b, ABSENT[form]))
        p = absent_by_hand(ratios, 7 * n)
        assert attack.units["p_absent"][i] == pytest.approx(p[-1], rel=1e-5, abs=1e-12)
        np.testing.assert_allclose(posterior(attack, i, n), p[:-1], rtol=1e-5, atol=1e-12)


@pytest.mark.parametrize("beliefs", [(cf.Gamma(20, 2), cf.Gamma(20, 8_000)), (9.0, None), (None, 0.01), (1e-4, None)])
@pytest.mark.parametrize("many", [False, True])
def test_absence_for_few_and_for_many_targets(beliefs, many):
    """More than a few hundred targets are interpolated."""
    file = elite_like(40, 13)
    x = np.linspace(10, 95, 400 if many else 40)
    release = released(file, error_step("u", beliefs))
    _, target = evidence(release)
    found = target(u=x)["log_absent"]
    z = values_of(release, "u")[:, 0]
    for i in (0, len(x) // 3, len(x) // 2, len(x) - 1):
        assert found[i] == pytest.approx(math.log(absent(z, x[i], *beliefs)), abs=2e-6)


@pytest.mark.parametrize("beliefs", [(cf.Gamma(20, 20), None), (4.0, 0.0004), (cf.Gamma(2, 0.5), cf.Gamma(20, 8000)), (cf.Gamma(1, 0.25), None), (None, cf.Gamma(20, 8000)), (0.01, None), (cf.Gamma(5, 0.05), cf.Gamma(20, 200))])  # fmt: skip
@pytest.mark.parametrize("many", [False, True])
def test_absence_as_in_the_file_itself(beliefs, many):
    rng = np.random.default_rng(4)
    file = pl.DataFrame({"u": np.round(np.exp(rng.normal(3, 1, 120)), 4)})
    release = released(file, error_step("u", beliefs, absent="file"))
    _, target = evidence(release)
    x = np.sort(cf.simulate_targets(file, cf.Plan(list(release.plan.steps)), seed=4)["u"].to_numpy())
    x = np.repeat(x, 20) if many else x[::10]
    found = target(u=x)["log_absent"]
    z = file["u"].to_numpy()
    exact = np.array([math.log(density(a, z, *beliefs).mean()) for a in x[:: len(x) // 6]])
    np.testing.assert_allclose(found[:: len(x) // 6], exact, atol=5e-3)


@pytest.mark.parametrize("x", [12.0, 20.0, 25.0, 60.0, 500.0, 980.0])
def test_absence_of_somebody_in_a_gap_of_the_file(x):
    z = np.append(np.linspace(0, 10, 50), [1000.0, 1001.0])
    release = released(pl.DataFrame({"u": z}), cf.MeasurementError("u", noise_sd=1.0, absent="file"))
    attack = cf.Intruder(knows=["u"], membership=cf.Unsure(total=520)).attack(
        release, pl.DataFrame({"u": [x]}), truth=[-1]
    )
    log_f = log_normal(x, z, 1.0)
    p = absent_by_hand(log_f - (logsumexp(log_f) - math.log(52)), 520)
    assert attack.units["p_absent"][0] == pytest.approx(p[-1], rel=2e-3)


@pytest.mark.parametrize("belief", [cf.Gamma(400, 400), cf.Gamma(20, 20), cf.Gamma(2, 2)])
@pytest.mark.parametrize("far", [5.0, 10.0, 12.0, 15.0, 20.0])
def test_absence_of_somebody_beyond_the_file(belief, far):
    """Whatever the distance, absence as in the file itself cannot fall below (N - n) / N by more than rounding."""
    z, x = np.linspace(0, 10, 50), 10 + far
    s = np.linspace(math.log(belief.mean) - 6, math.log(belief.mean) + 6, 20_001)
    log_f = np.array(
        [logsumexp(log_gamma_of_log(s, belief) + log_normal(x, v, np.exp(s))) + math.log(s[1] - s[0]) for v in z]
    )
    p = absent_by_hand(log_f - (logsumexp(log_f) - math.log(50)), 500)
    release = released(pl.DataFrame({"u": z}), error_step("u", (belief, None), absent="file"))
    unsure = cf.Intruder(knows=["u"], membership=cf.Unsure(total=500))
    attack = unsure.attack(release, pl.DataFrame({"u": [x]}), truth=[-1])
    assert p[-1] == pytest.approx(0.9)
    assert attack.units["p_absent"][0] == pytest.approx(p[-1], rel=5e-3)
    sure = cf.Intruder(knows=["u"]).attack(release, pl.DataFrame({"u": [x]}), truth=[49])
    if far <= 12:
        assert sure.units["p_max"][0] == pytest.approx(p[:-1].max() / p[:-1].sum(), rel=1e-3)


@pytest.mark.parametrize("known", [["u", "v", "w"], ["u", "v"], ["v"]])
def test_joint_absence_against_brute_force(known):
    rng = np.random.default_rng(15)
    root = np.array([[10, 0, 0], [3, 2, 0], [-0.5, 0.5, 0.8]])
    file = pl.DataFrame((rng.standard_normal((60, 3)) @ root.T + [50, 13, 8]), schema=["u", "v", "w"])
    beliefs = {"u": (cf.Gamma(20, 0.4), cf.Gamma(20, 8_000)), "v": (cf.Gamma(5, 2), None), "w": (0.25, 0.004)}
    noise, bias = ({v: b[i] for v, b in beliefs.items() if b[i] is not None} for i in (0, 1))
    release = released(
        file, cf.MeasurementError(["u", "v", "w"], noise_variance=noise, bias_variance=bias, absent="joint")
    )
    targets = pl.DataFrame({"u": [50.0, 62.0, 41.0], "v": [13.0, 14.5, 16.0], "w": [8.2, 7.0, 9.0]})
    attack = cf.Intruder(knows=known, membership=cf.Unsure(total=600)).attack(release, targets, truth=[-1] * 3)
    z, x, d, n = values_of(release, *known), targets.select(known).to_numpy(), len(known), 60
    square = (z - z.mean(axis=0)).T @ (z - z.mean(axis=0))
    size = 400_000
    new = (
        stats.multivariate_t(z.mean(axis=0), square * (n + 1) / (n * (n - d)), n - d)
        .rvs(size, random_state=rng)
        .reshape(size, d)
    )
    variance = np.empty((size, d))
    for k, v in enumerate(known):
        s2, phi = (
            rng.gamma(g.shape, 1 / g.rate, size) if isinstance(g, cf.Gamma) else np.full(size, g or 0.0)
            for g in beliefs[v]
        )
        variance[:, k] = s2 + new[:, k] ** 2 * phi
    for i in range(3):
        drawn = np.exp(log_normal(x[i], new, variance).sum(axis=1))
        mean, error = drawn.mean(), drawn.std() / math.sqrt(size)
        f = np.prod([density(x[i, k], z[:, k], *beliefs[v]) for k, v in enumerate(known)], axis=0)
        p = absent_by_hand(np.log(f) - math.log(mean), 600)
        assert attack.units["p_absent"][i] == pytest.approx(p[-1], rel=1e-2)
        assert attack.units["p_absent"][i] == pytest.approx(p[-1], abs=5 * error / mean * p[-1] * (1 - p[-1]) + 1e-3)
        np.testing.assert_allclose(posterior(attack, i, n), p[:-1], rtol=2e-2, atol=1e-12)


@pytest.mark.parametrize(
    "absent", ["normal", "student", "file", "joint", cf.Conjugate(mean=50, worth=3, sd=9, sd_worth=4)]
)
def test_a_population_that_is_the_file_leaves_nobody_absent(absent):
    file = elite_like(25, 14)
    step = cf.MeasurementError(["u", "v"], noise_variance={"u": cf.Gamma(20, 2), "v": 2.0}, absent=absent)
    release = released(file, step)
    targets = cf.simulate_targets(file, release.plan, seed=2)
    a = cf.Intruder(knows=["u", "v"], membership=cf.Unsure(total=25)).attack(release, targets, truth=range(25))
    b = cf.Intruder(knows=["u", "v"]).attack(release, targets, truth=range(25))
    assert (a.units["p_absent"] == 0).all()
    np.testing.assert_allclose(a.units["p_true"], b.units["p_true"], rtol=1e-9)


def test_a_total_is_shared_out_over_blocks():
    """N_t = N n_t / r with a certain label, prior 1/N_t and (N_t - n_t)/N_t."""
    c = np.array(["a"] * 10 + ["b"] * 30)
    file = elite_like(40, 16, c=pl.Series(c))
    release = released(file, error_step("u", SEVERAL["u"], absent="normal"))
    attack = cf.Intruder(knows=["u", "c"], membership=cf.Unsure(total=200)).attack(release, file, truth=range(40))
    z = values_of(release, "u")[:, 0]
    label = release.frame["c"].to_numpy()
    for i in (0, 20):
        mine, x = label == c[i], file["u"][i]
        ratio = np.log(density(x, z[mine], *SEVERAL["u"])) - math.log(absent(z, x, *SEVERAL["u"], "normal"))
        p = absent_by_hand(ratio, 200 * mine.sum() / 40)
        assert attack.units["p_absent"][i] == pytest.approx(p[-1], rel=1e-5)
        assert attack.units["p_true"][i] == pytest.approx(p[:-1][release.link[mine] == i][0], rel=1e-5)


# -- missing values --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("membership", ["certain", "unsure"])
def test_missing_values_of_records_and_of_targets(membership):
    file = elite_like(24, 17)
    file = file.with_columns(
        u=pl.Series([None if i % 5 == 0 else x for i, x in enumerate(file["u"])]),
        v=pl.Series([None if i % 7 == 3 else x for i, x in enumerate(file["v"])]),
    )
    beliefs = {"u": (cf.Gamma(20, 5), None), "v": (1.0, cf.Gamma(20, 8_000))}
    release = released(file, *(error_step(v, b) for v, b in beliefs.items()))
    targets = pl.DataFrame({"u": [50.0, None, 44.0, None], "v": [13.0, 12.0, None, None]}).cast(pl.Float64)
    total = 24 if membership == "certain" else 100
    who = "certain" if membership == "certain" else cf.Unsure(total=total)
    attack = cf.Intruder(knows=["u", "v"], membership=who).attack(release, targets, truth=[0, 1, 2, 3])
    z, x = values_of(release, "u", "v"), targets.to_numpy().astype(float)
    for i in range(4):
        ratios = np.zeros(24)
        for k, b in enumerate(beliefs.values()):
            there = ~np.isnan(z[:, k])
            if not np.isnan(x[i, k]):
                f = np.log(density(x[i, k], z[there, k], *b))
                ratios[there] += f - math.log(absent(z[there, k], x[i, k], *b))
        p = absent_by_hand(ratios, total)
        np.testing.assert_allclose(posterior(attack, i, 24), p[:-1], rtol=1e-5, atol=1e-12)
    np.testing.assert_allclose(posterior(attack, 3, 24), 1 / total, rtol=1e-12)
    assert attack.units["candidates"].to_list() == [24] * 4
    check_units(attack)


# -- beside other steps ------------------------------------------------------------------------------------------------


def mixed_file(n, seed):
    rng = np.random.default_rng(seed)
    race = rng.choice(["p", "q", "r"], n, p=[0.6, 0.3, 0.1])
    return pl.DataFrame({
        "sex": rng.choice(["f", "m"], n), "race": race, "age": rng.integers(20, 80, n),
        "money": rng.gamma(3, 9, n) + 5 * (race == "q"), "u": rng.normal(50, 10, n), "v": rng.normal(13, 4, n),
    })  # fmt: skip


@pytest.mark.parametrize("membership", ["certain", "unsure", "in_file"])
@pytest.mark.parametrize("knows", [("sex", "race", "age", "money"), ("sex", "age"), ("race", "money"), ("money",)])
def test_one_ratio_a_variable_beside_every_other_step(membership, knows):
    """The rest of the plan as the engine weighs it without u and v, times the twin's own ratios."""
    file = mixed_file(80, 20)
    beliefs = {"u": (cf.Gamma(20, 2), None), "v": (1.0, cf.Gamma(20, 8_000))}
    release = released(
        file, cf.Sample(0.7), cf.Recode("age", width=20), cf.Swap("race", rate=0.3), cf.Noise("money", sd=3.0),
        *(error_step(v, b) for v, b in beliefs.items()),
    )  # fmt: skip
    who = cf.Unsure(total=300) if membership == "unsure" else membership
    targets = cf.simulate_targets(file, release.plan, seed=6)
    r = release.frame.height
    full = cf.Intruder(knows=[*knows, "u", "v"], membership=who).attack(release, targets, truth=range(80))
    rest = cf.Intruder(knows=knows, membership=who).attack(release, targets, truth=range(80))
    z, x = values_of(release, "u", "v"), targets.select("u", "v").to_numpy()
    for i in (0, 13, 44, 79):
        weights = np.append(posterior(rest, i, r), rest.units["p_absent"][i] or 0.0)
        for k, b in enumerate(beliefs.values()):
            f = density(x[i, k], z[:, k], *b)
            weights[:-1] *= f / absent(z[:, k], x[i, k], *b)
        if weights.sum() == 0:
            assert full.units["n_max"][i] == 0
            continue
        weights /= weights.sum()
        np.testing.assert_allclose(posterior(full, i, r), weights[:-1], rtol=1e-5, atol=1e-12)
        assert full.units["p_absent"][i] == pytest.approx(weights[-1], rel=1e-5, abs=1e-12)


@pytest.mark.parametrize("total", [50, 400])
def test_beside_a_swap_by_hand(total):
    """C of the swap is L[a, b], its A is n / n_b: a swap keeps counts (the belief is fitted, to 1e-4)."""
    file = mixed_file(50, 21)
    release = released(file, cf.Swap("race", rate=0.4), error_step("u", SEVERAL["u"]))
    targets = cf.simulate_targets(file, release.plan, seed=6)
    attack = cf.Intruder(knows=["race", "u"], membership=cf.Unsure(total=total)).attack(
        release, targets, truth=range(50)
    )
    z, b = values_of(release, "u")[:, 0], release.frame["race"].to_numpy()
    n_b = np.array([(b == v).sum() for v in b])
    pi = 2 * math.floor(0.4 * 50 / 2) / 50
    for i in (0, 7, 31):
        same = b == file["race"][i]
        swap = ((1 - pi) * same + pi * (n_b - same) / 49) / (n_b / 50)
        f = density(targets["u"][i], z, *SEVERAL["u"]) / absent(z, targets["u"][i], *SEVERAL["u"])
        p = absent_by_hand(np.log(swap * f), total)
        np.testing.assert_allclose(posterior(attack, i, 50), p[:-1], rtol=2e-4, atol=1e-12)
        assert attack.units["p_absent"][i] == pytest.approx(p[-1], rel=2e-4, abs=1e-12)


# -- compiled loops against the plain formula ------------------------------------------------------------------------------

LOOPS = {
    "alone": ([], ["u", "v"]),
    "one of two": ([], ["u"]),
    "blocks": ([], ["sex", "u", "v"]),
    "recoded": ([cf.Recode("age", width=20)], ["age", "u", "v"]),
    "swap": ([cf.Swap("race", rate=0.3)], ["race", "u", "v"]),
    "swap not known": ([cf.Swap("race", rate=0.3)], ["sex", "u", "v"]),
    "pram": ([cf.Pram("race", retention=0.7)], ["race", "u"]),
    "noise": ([cf.Noise("money", sd=3.0)], ["sex", "money", "u"]),
    "noise not known": ([cf.Noise("money", sd=3.0)], ["sex", "u"]),
    "noise and swap": ([cf.Swap("race", rate=0.3), cf.Noise("money", sd=3.0)], ["race", "money", "u"]),
    "noise and unknown swap": ([cf.Swap("race", rate=0.3), cf.Noise("money", sd=3.0)], ["money", "u", "v"]),
}  # fmt: skip


@pytest.mark.parametrize("membership", ["certain", "unsure", "in_file"])
@pytest.mark.parametrize("case", LOOPS)
def test_compiled_loops_are_the_formula(case, membership):
    steps, knows = LOOPS[case]
    file = mixed_file(70, 23)
    file = pl.concat([file, file.head(8), file.head(3)]).with_columns(  # equal records
        v=pl.when(pl.int_range(81) % 9 == 4).then(None).otherwise(pl.Series(np.append(file["v"], file["v"].head(11))))
    )
    plan = cf.Plan([cf.Sample(0.8), *steps, error_step("u", SEVERAL["u"]), error_step("v", SEVERAL["v"])])
    release = plan.protect(file, seed=2)
    targets = cf.simulate_targets(file, plan, seed=9)
    rows = np.r_[np.arange(0, 81, 3), 5, 5, 5]  # equal targets
    who = cf.Unsure(total=500) if membership == "unsure" else membership
    intruder = cf.Intruder(knows=knows, membership=who)
    attack = intruder.attack(release, targets[rows], truth=rows, threads=2)
    check_units(attack)
    one = intruder.attack(release, targets[rows], truth=rows, threads=1)
    assert attack.units.equals(one.units)
    shuffled = np.random.default_rng(1).permutation(len(rows))
    again = intruder.attack(release, targets[rows[shuffled]], truth=rows[shuffled]).units
    np.testing.assert_array_equal(again["p_max"], attack.units["p_max"].to_numpy()[shuffled])


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("membership", ["certain", "unsure"])
def test_records_too_far_away_are_skipped(membership, missing):
    file = elite_like(2000, 24)
    if missing:
        file = file.with_columns(v=pl.when(pl.int_range(2000) % 50 == 7).then(None).otherwise("v"))
    step = cf.MeasurementError(
        ["u", "v"], noise_variance={"u": cf.Gamma(20, 400), "v": cf.Gamma(400, 4000)}, bias_sd={"u": 0.005}
    )
    plan = cf.Plan([step])
    release, targets = plan.protect(file, seed=1), cf.simulate_targets(file, plan, seed=2)
    who = cf.Unsure(total=9000) if membership == "unsure" else "certain"
    attack = cf.Intruder(knows=["u", "v"], membership=who).attack(release, targets[:300], truth=range(300))
    total, visited = attack.pairs
    assert visited < 0.5 * total
    z, x = values_of(release, "u", "v"), targets[:300].select("u", "v").to_numpy()
    for i in range(0, 300, 30):
        p = posterior(attack, i, 2000)
        assert p.sum() + (attack.units["p_absent"][i] or 0) == pytest.approx(1, abs=1e-10)
        assert attack.units["p_true"][i] == pytest.approx(p[release.link == i][0], abs=1e-10)
        near = np.argsort(-p)[:5]
        if membership == "certain" and not np.isnan(z[near]).any() and not np.isnan(x[i]).any():
            f = density(x[i, 0], z[near, 0], cf.Gamma(20, 400), 0.000025)
            f = f * density(x[i, 1], z[near, 1], cf.Gamma(400, 4000), None)
            np.testing.assert_allclose(p[near] / p[near[0]], f / f[0], rtol=1e-8, atol=1e-12)
    one = cf.Intruder(knows=["u", "v"], membership=who).attack(release, targets[:300], truth=range(300), threads=1)
    assert one.units.equals(attack.units)


def test_far_targets_stay_finite():
    file = elite_like(50, 25)
    release = released(file, error_step("u", SEVERAL["u"]), error_step("v", SEVERAL["v"]))
    targets = pl.DataFrame({"u": [1e4, -1e6, 50.0], "v": [13.0, 13.0, -1e5]})
    for who in ("certain", cf.Unsure(total=1000)):
        units = cf.Intruder(knows=["u", "v"], membership=who).attack(release, targets, truth=[-1] * 3).units
        assert units["p_max"].is_finite().all()
        assert units["p_max"].is_between(0, 1 + 1e-12).all()
        assert (units["p_max"] > 0).all() if who == "certain" else units["p_absent"].is_finite().all()


@few
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(5, 40),
    shape=st.sampled_from([1, 2, 5, 20, 400]),
    scale=st.floats(0.05, 30),
)
def test_posteriors_of_any_file(seed, n, shape, scale):
    rng = np.random.default_rng(seed)
    file = pl.DataFrame({"u": rng.normal(0, 10, n), "v": 1 + rng.gamma(2, 3, n)})
    beliefs = {"u": (cf.Gamma(shape, shape / scale), cf.Gamma(20, 2000)), "v": (None, cf.Gamma(shape, shape * 80))}
    plan = cf.Plan([error_step(v, b) for v, b in beliefs.items()])
    release, targets = plan.protect(file, seed=1), cf.simulate_targets(file, plan, seed=seed, shared=False)
    attack = cf.Intruder(knows=["u", "v"]).attack(release, targets, truth=range(n))
    check_units(attack)
    z, x = values_of(release, "u", "v"), targets.to_numpy()
    for i in range(0, n, 10):
        f = np.prod([density(x[i, k], z[:, k], *b) for k, b in enumerate(beliefs.values())], axis=0)
        np.testing.assert_allclose(posterior(attack, i, n), f / f.sum(), rtol=1e-6, atol=1e-9)


# -- drawing the truth ---------------------------------------------------------------------------------------------------


def test_simulated_targets():
    file = elite_like(500, 26, c=pl.Series(["a"] * 500), k=pl.Series(range(500)))
    file = file.with_columns(u=pl.when(pl.int_range(500) % 10 == 0).then(None).otherwise("u"))
    plan = cf.Plan(
        [error_step("u", SEVERAL["u"]), error_step("v", SEVERAL["v"]), cf.Swap("c", rate=0.1), cf.Sample(0.5)]
    )
    one, two, other = (cf.simulate_targets(file, plan, seed=s) for s in (1, 1, 2))
    assert one.equals(two)
    assert not one.equals(other)
    assert one.columns == file.columns
    assert one.select("w", "t", "c", "k").equals(file.select("w", "t", "c", "k"))
    assert one["u"].null_count() == 50
    assert (one["u"].is_null() == file["u"].is_null()).all()
    assert cf.simulate_targets(file, plan, seed=1, shared=False).columns == file.columns
    assert not cf.simulate_targets(file, plan)["v"].equals(cf.simulate_targets(file, plan)["v"])


def test_simulated_targets_come_back_in_the_frame_they_came_in():
    file = elite_like(50, 27).to_pandas()
    file["k"] = range(50)
    file.index = range(100, 150)
    found = cf.simulate_targets(file, cf.Plan([cf.MeasurementError(["u", "k"], noise_sd=1.0)]), seed=1)
    assert isinstance(found, pd.DataFrame)
    assert list(found.columns) == list(file.columns)
    assert np.array_equal(found["v"], file["v"])
    assert abs(found["k"] - file["k"].to_numpy()).max() < 6
    assert isinstance(
        cf.simulate_targets(file, cf.Plan([cf.MeasurementError("u", noise_sd=1.0)]), seed=1), pd.DataFrame
    )


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("name", ["fixed, fixed", "fixed, gamma", "noise 5", "bias 5", "2 and 1"])
def test_moments_of_simulated_targets(name, shared):
    """Mean 0, variance s2 + z^2 phi; a shared variance is drawn once and so moves by its own spread."""
    noise, bias = BELIEFS[name]
    n = 200_000
    z = np.repeat([5.0, 40.0, -80.0], n)
    file = pl.DataFrame({"u": z})
    plan = cf.Plan([error_step("u", BELIEFS[name])])
    found = []
    for seed in range(1 if not shared else 12):
        d = cf.simulate_targets(file, plan, seed=seed, shared=shared)["u"].to_numpy() - z
        for k in range(3):
            part = d[k * n : (k + 1) * n]
            assert abs(part.mean()) < 5 * part.std() / math.sqrt(n)
        found.append([(d[k * n : (k + 1) * n] ** 2).mean() for k in range(3)])
    means = [g.mean if isinstance(g, cf.Gamma) else g or 0.0 for g in (noise, bias)]
    spread = [g.sd if isinstance(g, cf.Gamma) else 0.0 for g in (noise, bias)]
    for k, value in enumerate((5.0, 40.0, -80.0)):
        expected = means[0] + value**2 * means[1]
        sd = math.hypot(spread[0], value**2 * spread[1])
        if shared:
            np.testing.assert_allclose(
                np.mean(found, axis=0)[k], expected, atol=5 * sd / math.sqrt(12) + 0.01 * expected
            )
            if sd:
                assert np.std(found, axis=0)[k] > 0.2 * sd
        else:
            np.testing.assert_allclose(found[0][k], expected, rtol=0.05)


# -- beliefs from ranges, and from verified people ---------------------------------------------------------------------------


def test_beliefs_of_table_4_2():
    ranges, printed = [64.1, 20.6, 15.1, 11.4], [3.5, 34, 63, 110]
    for size, rate in zip(ranges, printed, strict=True):
        values = np.linspace(7.0, 7.0 + size, 30)
        found = cf.prior_from_range(values, as_printed=True)
        assert (found["noise_variance"].shape, found["bias_variance"].shape) == (400, 400)
        assert found["noise_variance"].rate == pytest.approx(rate, rel=0.02)
        assert found["noise_variance"].mean == pytest.approx((size / 6) ** 2, rel=1e-12)
        assert round(found["bias_variance"].rate, -3) == 5000
        assert found["bias_variance"].rate == pytest.approx(4800, rel=1e-12)
        usual = cf.prior_from_range(pl.Series(values))
        assert usual["noise_variance"] == found["noise_variance"]
        assert usual["bias_variance"].mean == pytest.approx(found["bias_variance"].mean ** 2, rel=1e-12)
        cf.MeasurementError("age", **usual)
    other = cf.prior_from_range([0.0, np.nan, 6.0], theta=(0.4, 1.6), ratio=10)
    assert other["noise_variance"].mean == pytest.approx(1.0)
    assert other["noise_variance"].mean / other["noise_variance"].sd == pytest.approx(10)
    assert other["bias_variance"].mean == pytest.approx(0.04)


def brute(z, x, noise, bias):
    """Posterior of both variances on a wide and even grid: variances and weights."""
    axes = [
        np.linspace(math.log(g.mean) - 10, math.log(g.mean) + 5, 500) if isinstance(g, cf.Gamma) else None
        for g in (noise, bias)
    ]
    a, b = (np.array([g or 0.0]) if s is None else np.exp(s) for s, g in zip(axes, (noise, bias), strict=True))
    log_p = np.zeros((len(a), len(b)))
    for i in range(len(z)):
        log_p += log_normal(x[i], z[i], a[:, None] + b * z[i] ** 2)
    for i, (s, g) in enumerate(zip(axes, (noise, bias), strict=True)):
        if s is not None:
            log_p += log_gamma_of_log(s, g)[:, None] if i == 0 else log_gamma_of_log(s, g)
    p = np.exp(log_p - log_p.max())
    return a, b, p / p.sum()


LEARN = {
    "both": (cf.Gamma(2, 0.5), cf.Gamma(2, 1000)),
    "noise": (cf.Gamma(2, 0.5), None),
    "noise beside fixed bias": (cf.Gamma(2, 0.5), 0.002),
    "bias": (None, cf.Gamma(2, 1000)),
    "bias beside fixed noise": (4.0, cf.Gamma(2, 1000)),
    "narrow": (cf.Gamma(400, 100), cf.Gamma(400, 160_000)),
}


@pytest.mark.parametrize("name", LEARN)
@pytest.mark.parametrize("n", [1, 30, 200])
def test_learning_against_a_fine_grid(name, n):
    noise, bias = LEARN[name]
    rng = np.random.default_rng(31)
    z = rng.normal(50, 15, n)
    x = z * (1 + 0.05 * rng.standard_normal(n)) + 2 * rng.standard_normal(n)
    step = error_step("u", LEARN[name]).learn(z, x)
    found = step.learnt["u"]
    a, b, p = brute(z, x, noise, bias)
    means = float(p.sum(axis=1) @ a), float(p.sum(axis=0) @ b)
    np.testing.assert_allclose(found.means, means, rtol=1e-3)
    # A plan with the learnt step averages the density over the posterior.
    file = pl.DataFrame({"u": [40.0, 45.0, 47.0, 52.0, 60.0]})
    release = released(file, step)
    y = np.array([44.0, 51.0, 58.0])
    attack = cf.Intruder(knows=["u"]).attack(release, pl.DataFrame({"u": y}), truth=[1, 3, 4])
    records = values_of(release, "u")[:, 0]
    for i in range(3):
        f = np.array([(p * np.exp(log_normal(y[i], r, a[:, None] + b * r * r))).sum() for r in records])
        np.testing.assert_allclose(posterior(attack, i, 5), f / f.sum(), rtol=1e-4, atol=1e-9)


def test_much_to_learn_from_ends_at_the_truth():
    rng = np.random.default_rng(32)
    vague = error_step("u", (cf.Gamma(1, 0.01), cf.Gamma(1, 10)))
    spread = []
    for n in (30, 300, 3000):
        z = rng.normal(50, 25, n)
        x = z * (1 + 0.05 * rng.standard_normal(n)) + 2 * rng.standard_normal(n)
        learnt = vague.learn(z, x).learnt["u"]
        w, a, b = (np.array(part) for part in (learnt.weight, learnt.noise, learnt.bias))
        spread.append([float(np.sqrt(w @ v**2 - (w @ v) ** 2)) for v in (a, b)])
    np.testing.assert_allclose(learnt.means, (4.0, 0.0025), rtol=0.3)
    assert (np.diff(spread, axis=0) < 0).all()
    gap = np.abs(np.array(learnt.means) - (4.0, 0.0025))
    assert (gap < 4 * np.array(spread[-1])).all()


def test_learning_several_from_frames_and_without_the_missing():
    rng = np.random.default_rng(33)
    file = elite_like(200, 34).select("u", "v")
    truth = file.with_columns(u=pl.col("u") + 2 * rng.standard_normal(200), v=pl.col("v") + rng.standard_normal(200))
    step = cf.MeasurementError(["u", "v"], noise_variance=cf.Gamma(1, 0.1))
    both = step.learn(file, truth)
    assert set(both.learnt) == {"u", "v"}
    alone = cf.MeasurementError("u", noise_variance=cf.Gamma(1, 0.1)).learn(file["u"], truth["u"])
    assert alone.learnt["u"].means == both.learnt["u"].means
    assert step.learn(file.to_pandas(), truth.to_pandas()).learnt == both.learnt
    gaps = truth.with_columns(u=pl.when(pl.int_range(200) < 50).then(None).otherwise("u"))
    fewer = step.learn(file, gaps).learnt["u"]
    part = cf.MeasurementError("u", noise_variance=cf.Gamma(1, 0.1)).learn(file["u"][50:], truth["u"][50:]).learnt["u"]
    np.testing.assert_allclose(fewer.means, part.means, rtol=1e-12)


# -- ranks and declarations ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("membership", ["certain", "unsure", "in_file"])
@pytest.mark.parametrize("top", [1, 3, 10])
def test_the_rank_table(membership, top):
    file = mixed_file(60, 35)
    file = pl.concat([file, file.head(15), file.head(4)])
    plan = cf.Plan([cf.Sample(0.8), cf.Swap("race", rate=0.2), error_step("u", (cf.Gamma(20, 1), None))])
    release, targets = plan.protect(file, seed=2), cf.simulate_targets(file, plan, seed=9)
    who = cf.Unsure(total=300) if membership == "unsure" else membership
    attack = cf.Intruder(knows=["sex", "race", "u"], membership=who).attack(release, targets, truth=range(79))
    table = attack.ranks(top)
    beyond = f">{top}"
    assert table["rank"].to_list()[: top + 1] == [*map(str, range(1, top + 1)), beyond]
    assert table["targets"].sum() == 79
    units = attack.units
    sums = np.array([posterior(attack, i, release.frame.height) for i in range(79)])
    sums = np.sort(sums, axis=1)[:, ::-1][:, :top].sum(axis=1)
    for row in table.iter_rows(named=True):
        if row["rank"] == "none":
            mine = units["rank"].is_null().to_numpy()
        elif row["rank"] == beyond:
            mine = (units["rank"] > top).fill_null(False).to_numpy()
        else:
            mine = (units["rank"] == int(row["rank"])).fill_null(False).to_numpy()
        assert row["targets"] == mine.sum()
        if mine.any():
            assert row["p_top"] == pytest.approx(sums[mine].mean(), rel=1e-9)
            if row["rank"] != "none":
                p = units["p_true"].to_numpy()[mine]
                assert row["p_true"] == pytest.approx(p.mean(), rel=1e-12)
                if mine.sum() > 1:
                    assert row["p_true_sd"] == pytest.approx(p.std(ddof=1), rel=1e-6, abs=1e-12)
                    assert row["p_top_sd"] == pytest.approx(sums[mine].std(ddof=1), rel=1e-6, abs=1e-9)
    assert ("none" in table["rank"]) == bool(units["rank"].null_count())
    assert "none" in table["rank"]  # not released, all of them targets


@pytest.mark.parametrize("thresholds", [0.5, (0.1, 0.2, 0.5, 0.9), [0, 1]])
def test_declarations(thresholds):
    file = mixed_file(60, 36)
    file = pl.concat([file, file.head(10)])
    plan = cf.Plan([error_step("u", (cf.Gamma(20, 10), None)), error_step("v", (cf.Gamma(20, 10), None))])
    targets = cf.simulate_targets(file, plan, seed=9)
    attack = cf.Intruder(knows=["u", "v"], membership=cf.Unsure(total=140)).attack(
        plan.protect(file, seed=2), targets, truth=range(70)
    )
    table = attack.declare(thresholds)
    given_ = [thresholds] if isinstance(thresholds, float) else list(thresholds)
    assert table["threshold"].to_list() == given_
    for row, limit in zip(table.iter_rows(named=True), given_, strict=True):
        mine = attack.units.filter(pl.col("p_max") > limit)
        right = sum(h / n for h, n in mine.select("hit", "n_max").iter_rows())
        assert row["declared"] == mine.height
        assert row["claimed"] == pytest.approx(mine["p_max"].sum(), abs=1e-12)
        assert row["right"] == pytest.approx(right, abs=1e-12)
        assert row["wrong"] == pytest.approx(mine.height - right, abs=1e-12)
        assert row["found"] == pytest.approx(right / 70, abs=1e-12)
        assert row["share_right"] == (pytest.approx(right / mine.height) if mine.height else None)


# -- exposure -------------------------------------------------------------------------------------------------------------


def test_exposure_grows_with_what_is_known_and_what_is_released():
    file = elite_like(300, 37)
    plan = cf.Plan([cf.MeasurementError(["u", "v", "w"], noise_sd={"u": 1.0, "v": 0.5, "w": 0.3})])
    found = cf.exposure(file, plan, ["u", "v", "w"], shares=[1, 0.3], seed=1, repeats=2).frame
    assert found["known"].to_list() == [1, 2, 3, 1, 2, 3]
    assert found["share"].to_list() == [1.0] * 3 + [0.3] * 3
    assert found["knows"].to_list()[2] == "u, v, w"
    for share in (1.0, 0.3):
        part = found.filter(share=share)
        assert part["first"].is_sorted()
        assert part["p_true"].is_sorted()
        assert (part["first"] <= part["top"]).all()
    assert (found.filter(share=1.0)["p_absent"] == 0).all()
    assert (found.filter(share=0.3)["p_absent"] > 0.3).all()
    assert found.equals(cf.exposure(file, plan, ["u", "v", "w"], shares=[1, 0.3], seed=1, repeats=2).frame)


# -- documents -------------------------------------------------------------------------------------------------------------


def measured_plans():
    z = np.linspace(20, 80, 30)
    verified = z + np.sin(z)
    yield cf.Plan([cf.MeasurementError("a", noise_variance=cf.Gamma(400, 3.5), bias_variance=cf.Gamma(400, 4800))])
    yield cf.Plan([cf.MeasurementError("a", noise_variance=2.5, bias_sd=0.05)])
    yield cf.Plan([cf.MeasurementError(["a", "b"], noise_variance={"a": cf.Gamma(20, 3), "b": 4.0}, absent="joint")])
    yield cf.Plan(
        [
            cf.MeasurementError(
                ["a", "b"], noise_sd={"a": 1.0, "b": 2.0}, bias_variance={"a": cf.Gamma(5, 900)}, absent="file"
            )
        ]
    )
    yield cf.Plan([cf.MeasurementError(["a", "b"], noise_sd=1, bias_sd=0.1, absent="normal"), cf.Swap("c", rate=0.1)])
    yield cf.Plan([cf.MeasurementError("a", noise_sd=1, absent=cf.Conjugate(mean=48, worth=10, sd=11, sd_worth=5.5))])
    yield cf.Plan([cf.MeasurementError("a", noise_variance=cf.Gamma(2, 0.5)).learn(z, verified)])
    yield cf.Plan([cf.MeasurementError(["shape", "rate"], noise_variance={"shape": 2.0, "rate": cf.Gamma(2, 3)})])
    yield cf.Plan([cf.Noise("a", sd=3, bias_sd=0.05), cf.Noise("b", bias_sd=0.1, keep_zeros=True)])
    yield cf.Plan([cf.Noise(["a", "b"], relative=0.2, bias_sd={"a": 0.05, "b": 0.2}, bounds=(0, 1e6))])


@pytest.mark.parametrize("i", range(10))
def test_documents_hold_every_form(i, tmp_path):
    plan = list(measured_plans())[i]
    doc = plan_to_dict(plan)
    again = plan_from_dict(doc)
    assert again == plan
    assert plan_to_dict(again) == doc
    assert plan_from_dict(json.loads(json.dumps(doc, allow_nan=False))) == plan
    text = "\n".join(f"[[steps]]\n{toml_lines(step)}" for step in doc["steps"])
    assert tomllib.loads(text) == doc
    file = tmp_path / "plan.toml"
    file.write_text(text)
    assert load_plan(file) == plan
    assert load_plan(file).parts == plan.parts


def toml_lines(table):
    return "\n".join(f"{json.dumps(k)} = {toml_value(v)}" for k, v in table.items())


def toml_value(value):
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(k)} = {toml_value(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml_value, value)) + "]"
    return json.dumps(value)


def test_a_learnt_plan_attacks_the_same_after_its_document():
    file = elite_like(40, 38)
    rng = np.random.default_rng(1)
    step = cf.MeasurementError("u", noise_variance=cf.Gamma(2, 0.5), bias_variance=cf.Gamma(2, 1000))
    step = step.learn(file["u"], file["u"].to_numpy() + rng.standard_normal(40))
    plan = cf.Plan([step])
    again = plan_from_dict(json.loads(json.dumps(plan_to_dict(plan))))
    one, two = (cf.Intruder(knows=["u"]).attack(p.protect(file, seed=1)).units for p in (plan, again))
    assert one.equals(two)


# -- the protection step -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "sizes", [{"sd": 0.3, "bias_sd": 0.08}, {"bias_sd": 0.08}, {"relative": 0.05, "bias_sd": 0.02}]
)
def test_noise_in_proportion_on_a_continuum(sizes):
    file = mixed_file(50, 39)
    release = released(file, cf.Noise("money", **sizes))
    attack = cf.Intruder(knows=["money"], others="ignore").attack(release)
    z, y = values_of(release, "money")[:, 0], file["money"].to_numpy()
    sd = sizes.get("sd", sizes.get("relative", 0.0) * y.std(ddof=1))
    for i in range(0, 50, 7):
        f = np.exp(log_normal(z, y[i], sd**2 + (sizes["bias_sd"] * y[i]) ** 2))
        np.testing.assert_allclose(posterior(attack, i, 50), f / f.sum(), rtol=1e-9, atol=1e-250)
    check_units(attack)
    check_units(cf.Intruder(knows=["sex", "money"], membership=cf.Unsure(total=200)).attack(release))


@pytest.mark.parametrize("keep", [False, True])
def test_noise_in_proportion_on_whole_numbers(keep):
    """Areas of rounding cells, over those of all values that may be drawn."""
    rng = np.random.default_rng(40)
    y = np.where(rng.random(60) < 0.2, 0, rng.integers(1, 60, 60))
    file = pl.DataFrame({"m": y, "c": rng.choice(["a", "b"], 60)})
    release = released(file, cf.Noise("m", sd=2.0, bias_sd=0.2, keep_zeros=keep, bounds=(0, 120)))
    z = values_of(release, "m")[:, 0]
    assert (z == np.round(z)).all()
    assert z.min() >= 0
    if keep:
        assert ((z == 0) == (y[release.link] == 0)).all()
    attack = cf.Intruder(knows=["m"], others="ignore").attack(release)
    allowed = np.arange(1 if keep else 0, 121)
    for i in range(0, 60, 6):
        s = math.hypot(2.0, 0.2 * y[i])
        area = stats.norm.cdf((allowed + 0.5 - y[i]) / s) - stats.norm.cdf((allowed - 0.5 - y[i]) / s)
        area = dict(zip(allowed.tolist(), area / area.sum(), strict=True))
        kept = keep and y[i] == 0
        f = (z == 0).astype(float) if kept else np.array([area.get(v, 0.0) for v in z.astype(int)])
        np.testing.assert_allclose(posterior(attack, i, 60), f / f.sum(), rtol=1e-6, atol=1e-10)
    check_units(attack)


def test_bias_alone_keeps_zeros_only_knowingly():
    file = pl.DataFrame({"m": [0.0, 0.0, 3.5, 8.25, 11.1, 2.7]})
    with pytest.raises(cf.InputError, match="2 values are zero"):
        released(file, cf.Noise("m", bias_sd=0.1))
    release = released(file, cf.Noise("m", bias_sd=0.1, keep_zeros=True))
    attack = cf.Intruder(knows=["m"]).attack(release)
    assert attack.units["candidates"].to_list() == [2, 2, 4, 4, 4, 4]
    np.testing.assert_allclose(attack.units["p_true"][:2], 0.5, rtol=1e-9)


def test_noise_in_proportion_has_the_right_spread():
    y = np.repeat([10.5, 100.25, -40.125], 60_000)
    release = released(pl.DataFrame({"m": y}), cf.Noise("m", sd=2.0, bias_sd=0.1))
    d = values_of(release, "m")[:, 0] - y[release.link]
    for value in (10.5, 100.25, -40.125):
        part = d[y[release.link] == value]
        assert abs(part.mean()) < 5 * part.std() / math.sqrt(60_000)
        assert part.var() == pytest.approx(4 + 0.01 * value**2, rel=0.03)


def test_a_of_noise_in_proportion_is_the_mean_over_the_belief():
    """One variable, no label: A_j = 1 / mean over the file of N(z_j; y, sd^2 + bias^2 y^2), up to the belief's smoothing."""
    rng = np.random.default_rng(41)
    y = np.exp(rng.normal(6, 0.7, 3000))
    release = released(pl.DataFrame({"m": y}), cf.Noise("m", sd=20.0, bias_sd=0.1))
    z = values_of(release, "m")[:, 0]
    with_a = cf.Intruder(knows=["m"]).attack(release)
    without = cf.Intruder(knows=["m"], others="ignore").attack(release)
    mean = np.array([np.exp(log_normal(v, y, 400 + 0.01 * y * y)).mean() for v in z])
    for i in range(0, 3000, 500):
        p = posterior(without, i, 3000) / mean
        near = p > 1e-3 * p.max()
        np.testing.assert_allclose(posterior(with_a, i, 3000)[near], (p / p.sum())[near], rtol=0.02)
