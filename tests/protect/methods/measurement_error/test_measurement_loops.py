"""Unknown bias and noise: compiled loops against the plain formula, and posteriors of any file."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import confide as cf
from tests.helpers.measurement_twin import (
    SEVERAL,
    check_units,
    density,
    elite_like,
    error_step,
    mixed_file,
    posterior,
    released,
    values_of,
)

few = settings(
    max_examples=6, deadline=None, derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.differing_executors],
)  # fmt: skip


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


@pytest.mark.slow
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


@pytest.mark.slow
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
