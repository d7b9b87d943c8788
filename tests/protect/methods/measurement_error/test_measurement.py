"""Unknown bias and noise: densities and posteriors against the slow twin."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

import confide as cf
from confide.protect.seam.likelihood import take
from tests.helpers.measurement_twin import (
    BELIEFS,
    SEVERAL,
    absent,
    absent_by_hand,
    check_units,
    density,
    elite_like,
    error_step,
    evidence,
    integrated,
    mixed_file,
    posterior,
    released,
    values_of,
)

# -- quadrature ----------------------------------------------------------------------------------------------


@pytest.mark.slow
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


# -- Monte Carlo ---------------------------------------------------------------------------------------------

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


def test_every_posterior_against_draws(small):
    release, targets, who = small
    attack = cf.Intruder(knows=list(FOUR)).attack(release, targets, truth=who)
    z, x = values_of(release, *FOUR), targets.select(list(FOUR)).to_numpy()
    draws, size = 60, 5_000
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


@pytest.mark.slow
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


# -- agreement with known cases ------------------------------------------------------------------------------


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


# -- missing values ------------------------------------------------------------------------------------------


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
    asked = cf.Intruder(knows=["u", "v"], membership=who, knows_missing=False)
    attack = asked.attack(release, targets, truth=[0, 1, 2, 3])
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


# -- beside other steps --------------------------------------------------------------------------------------


@pytest.mark.slow
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
        found = np.append(posterior(full, i, r), full.units["p_absent"][i] or 0.0)
        if membership != "certain" and "sex" in knows:  # what labels say of u and v moves absence, and no record
            weights, found = weights[:-1], found[:-1]
        np.testing.assert_allclose(found / found.sum(), weights / weights.sum(), rtol=1e-5, atol=1e-12)


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
