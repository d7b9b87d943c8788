"""Unknown bias and noise: drawing the truth, beliefs from ranges and verified people, plans as documents."""

from __future__ import annotations

import json
import math
import tomllib

import numpy as np
import pandas as pd
import polars as pl
import pytest

import confide as cf
from tests.helpers.measurement_twin import (
    BELIEFS,
    SEVERAL,
    elite_like,
    error_step,
    log_gamma_of_log,
    log_normal,
    posterior,
    released,
    values_of,
)

# -- drawing the truth ---------------------------------------------------------------------------------------


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


@pytest.mark.slow
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


# -- beliefs from ranges, and from verified people -----------------------------------------------------------


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


# -- documents -----------------------------------------------------------------------------------------------


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
    doc = plan.to_dict()
    again = cf.Plan.from_dict(doc)
    assert again == plan
    assert again.to_dict() == doc
    assert cf.Plan.from_dict(json.loads(json.dumps(doc, allow_nan=False))) == plan
    text = "\n".join(f"[[steps]]\n{toml_lines(step)}" for step in doc["steps"])
    assert tomllib.loads(text) == doc
    file = tmp_path / "plan.toml"
    file.write_text(text)
    assert cf.Plan.load(file) == plan
    assert cf.Plan.load(file).parts == plan.parts


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
    again = cf.Plan.from_dict(json.loads(json.dumps(plan.to_dict())))
    one, two = (cf.Intruder(knows=["u"]).attack(p.protect(file, seed=1)).units for p in (plan, again))
    assert one.equals(two)
