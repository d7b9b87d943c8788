"""Unknown bias and noise: people who may not be in the file, against quadrature over a new person."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from scipy import stats
from scipy.special import logsumexp

import confide as cf
from tests.helpers.measurement_twin import (
    SEVERAL,
    absent,
    absent_by_hand,
    density,
    elite_like,
    error_step,
    evidence,
    log_gamma_of_log,
    log_normal,
    posterior,
    released,
    values_of,
)
from tests.helpers.scenes import scenes

ABSENT = {
    "normal": "normal",
    "student": "student",
    "conjugate": cf.Conjugate(mean=40, worth=5, sd=20, sd_worth=8),
}


@pytest.mark.slow
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
    attack = cf.Intruder(knows=["u", "c"], membership=cf.Unsure(total=200, model="proportional")).attack(
        release, file, truth=range(40)
    )
    z = values_of(release, "u")[:, 0]
    label = release.frame["c"].to_numpy()
    ((_, scene),) = scenes(attack)
    for i in (0, 20):
        mine, x = label == c[i], file["u"][i]
        ratio = np.log(density(x, z[mine], *SEVERAL["u"])) - math.log(absent(z, x, *SEVERAL["u"], "normal"))
        ratio = ratio - scene.side.log_absent[i]  # what the label says of x
        p = absent_by_hand(ratio, 200 * mine.sum() / 40)
        assert attack.units["p_absent"][i] == pytest.approx(p[-1], rel=1e-5)
        assert attack.units["p_true"][i] == pytest.approx(p[:-1][release.link[mine] == i][0], rel=1e-5)
