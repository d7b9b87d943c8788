"""Arithmetic at its ends: the fast exp, narrow and far cells, large amounts, targets far from all records."""

import numba
import numpy as np
import polars as pl
import pytest
from scipy.integrate import quad

import confide as cf
from confide.attack.engine.kernels import arithmetic
from confide.measure.risk.calibration import calibrate
from confide.protect.likelihoods.normal import log_cell


@numba.njit
def scaled_exp(values, counts, top, out):
    """A way in from Python, which the loop itself has not."""
    arithmetic.scaled_exp(values, counts, top, out)


@numba.njit
def compiled_cell(low, high, mean, sd):
    return arithmetic.log_cell(low, high, mean, sd)


def test_fast_exp_is_exp() -> None:
    x = np.concatenate([np.linspace(-700, 0, 200_001), -np.logspace(-300, 2.8, 5000)])
    out = np.empty(len(x))
    scaled_exp(x, np.ones(len(x)), 0.0, out)
    np.testing.assert_allclose(out, np.exp(x), rtol=1e-15)
    scaled_exp(np.array([-np.inf, -1e6]), np.ones(2), 0.0, out[:2])
    assert (out[:2] < 1e-303).all()


@pytest.mark.parametrize("width", [1e-9, 1e-4, 0.0199, 0.0201, 0.5, 3.0])
@pytest.mark.parametrize("x", [0.0, 0.3, -4.0, 12.0, -37.0, 300.0])
def test_the_area_of_a_cell(width: float, x: float) -> None:
    # The integrand relative to its value in the middle, so that quad sees numbers near 1.
    inside = quad(lambda s: np.exp(-x * s - s * s / 2), -width / 2, width / 2, epsabs=0, epsrel=1e-12)[0]
    expected = np.log(inside) - x * x / 2 - 0.5 * np.log(2 * np.pi)
    sd, mean = 7.0, 100.0
    low, high = mean + sd * (x - width / 2), mean + sd * (x + width / 2)
    slow = log_cell(np.array([low]), np.array([high]), np.array([mean]), sd)[0]
    wobble = 1e-9 if width >= 1e-4 else 1e-3  # the edges themselves are rounded
    assert slow == pytest.approx(expected, rel=1e-12, abs=wobble)
    assert compiled_cell(low, high, mean, sd) == pytest.approx(slow, rel=1e-12, abs=1e-9)


def test_a_target_far_from_all_records_still_has_a_posterior() -> None:
    heads = cf.demo("heads").head(1000)
    for sd, far in ((1, 10**9), (1e4, 10**15)):
        release = cf.Plan([cf.Noise("hh_income", sd=sd)]).protect(heads, seed=1)
        attack = cf.Intruder(knows="hh_income").attack(release, targets=pl.DataFrame({"hh_income": [far]}), truth=[-1])
        assert attack.posterior(0)["p"].sum() == pytest.approx(1)
        assert attack.units["p_max"][0] * attack.units["n_max"][0] <= 1 + 1e-9


@pytest.mark.parametrize("relative", [0.01, 0.1, 10])
def test_large_amounts_lose_no_digits(relative: float) -> None:
    rng = np.random.default_rng(1)
    data = pl.DataFrame({"g": rng.choice(list("ab"), 1500), "x": rng.lognormal(29, 1, 1500).round(0).astype(np.int64)})
    release = cf.Plan([cf.Noise("x", relative=relative)]).protect(data, seed=1)
    attack = cf.Intruder(knows=["g", "x"]).attack(release)
    for i in (0, 7, 400):
        p = attack.posterior(i)["p"]
        assert p.sum() == pytest.approx(1, abs=1e-9)
        assert p[0] == pytest.approx(attack.units["p_max"][i], abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(
    "steps",
    [
        [cf.Swap("hh_income", rate=0.3), cf.Swap("wage_income", rate=0.3)],
        [cf.Swap("hh_income", rate=0.3), cf.Noise("wage_income", sd=3000, keep_zeros=True)],
        [cf.Noise(["hh_income", "wage_income"], sd=3000, correlation=0.5)],
    ],
    ids=["two swaps", "swap and noise", "correlated noise"],
)
def test_numbers_that_hang_together_are_believed_together(steps: list) -> None:
    heads = cf.demo("heads").head(8000)
    units = []
    for seed in range(2):
        release = cf.Plan(steps).protect(heads, seed=seed)
        units.append(cf.Intruder(knows=["sex", "hh_income", "wage_income"]).attack(release).units)
    found = calibrate(units)  # claims run one or two percent high where one number holds the other
    assert found.true == pytest.approx(found.claimed, rel=0.03)


@pytest.mark.slow
def test_correlated_noise_of_which_a_part_is_known() -> None:
    heads = cf.demo("heads").head(4000)
    steps = [cf.Noise(["hh_income", "wage_income", "other_income"], sd=20_000, correlation=0.9)]
    units = []
    for seed in (1, 2):
        release = cf.Plan(steps).protect(heads, seed=seed)
        units.append(cf.Intruder(knows=["sex", "hh_income", "wage_income"]).attack(release).units)
    assert abs(calibrate(units).z) < 3.5


def test_intervals_count_the_people_whom_the_release_would_show() -> None:
    heads = cf.demo("heads").head(4000)
    release = cf.Plan([cf.Sample(0.5), cf.Recode("age", width=10)], identifiers="id").protect(heads, seed=1)
    low = heads["age"] // 3 * 3
    targets = heads.with_columns(low=low, high=low + 2)
    who = cf.Intruder(knows=["sex", "race", "state"], between={"age": ("low", "high")}, membership="in_file")
    assert abs(who.attack(release, targets=targets).calibration().z) < 3.5


def test_a_sample_after_a_swap_leaves_nobody_impossible() -> None:
    y = pl.DataFrame({"g": list("aabb"), "c": list("pqrs")})
    z = pl.DataFrame({"g": ["a", "b"], "c": ["q", "r"]})
    plan = cf.Plan([cf.Swap("c", rate=1.0, within="g"), cf.Sample(0.5)])
    units = cf.Intruder(knows=["g", "c"]).attack(cf.Release.adopt(y, z, plan, link=[0, 3])).units
    assert units["p_true"].to_list() == [1.0, 1.0]


@pytest.mark.slow
@pytest.mark.parametrize("bias_sd", [None, 0.05])
def test_few_records_with_several_noisy_numbers_are_not_their_own_reason(bias_sd: float | None) -> None:
    """In four dimensions a record is often its own only neighbour; a belief made of such points claims too little."""
    elites = cf.demo("elites").drop("attitude")
    sd = {v: 0.05 * (elites[v].max() - elites[v].min()) for v in elites.columns}
    plan = cf.Plan([cf.Noise(elites.columns, sd=sd, bias_sd=bias_sd)])
    who = cf.Intruder(knows=elites.columns)
    assert abs(calibrate([who.attack(plan.protect(elites, seed=seed)).units for seed in range(8)]).z) < 4
