"""Unknown bias and noise once more, slowly: the formula with plain NumPy and SciPy, and helpers of its tests.

Given that record j is the target's, x_k is normal around z_jk with variance s2_k + z_jk^2 phi_k, averaged over what is
believed of both variances. A record's weight is the product of f(x_k given z_jk) / f(x_k given absent); absence has the
weight N - n. The twin integrates over the logarithms of the variances and over z, and reads nothing of the package.
"""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import polars as pl
import pytest
from scipy import integrate, stats
from scipy.special import gammaln

import confide as cf
from tests.helpers.columns import encode


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


SEVERAL = {"u": (cf.Gamma(20, 2), cf.Gamma(20, 8_000)), "v": (cf.Gamma(5, 2), None)}


def absent_by_hand(ratios, total):
    """p of each record and of absence from log ratios, shape (records,)."""
    weights = np.append(np.exp(ratios), total - len(ratios))
    return weights / weights.sum()


def mixed_file(n, seed):
    rng = np.random.default_rng(seed)
    race = rng.choice(["p", "q", "r"], n, p=[0.6, 0.3, 0.1])
    return pl.DataFrame({
        "sex": rng.choice(["f", "m"], n), "race": race, "age": rng.integers(20, 80, n),
        "money": rng.gamma(3, 9, n) + 5 * (race == "q"), "u": rng.normal(50, 10, n), "v": rng.normal(13, 4, n),
    })  # fmt: skip
