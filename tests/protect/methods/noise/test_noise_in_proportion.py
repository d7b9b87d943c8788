"""Noise that grows with the value: the protection step, with its likelihood and its part A."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from scipy import stats

import confide as cf
from tests.helpers.measurement_twin import check_units, log_normal, mixed_file, posterior, released, values_of


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
