"""Claims about a file with error of unknown size are true, where the truth is drawn as the model says.

Targets are drawn around the file (`simulate_targets`), each with variances of its own, so that targets are independent
and their number says how exact the check is. Several draws and releases are pooled.
"""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import confide as cf

pytestmark = pytest.mark.slow

FIVES = cf.Recode("age", width=5)
KEYS = ["sex", "race", "marital", "age"]


def around(variable, sd, bias, shape=20.0, **options):
    """Error of about this size, variances believed with a gamma of this shape."""
    return cf.MeasurementError(
        variable, noise_variance=cf.Gamma(shape, shape / sd**2),
        bias_variance=None if bias is None else cf.Gamma(shape, shape / bias**2), **options,
    )  # fmt: skip


INCOME = around("hh_income", 2000, 0.05)
WAGE = around("wage_income", 3000, 0.1)


def pooled(file, steps, knows, repeats, shared=False, **options):
    """Calibration of an attack on several releases, the truth drawn anew for each."""
    plan, units = cf.Plan(steps), []
    for seed in range(repeats):
        release = plan.protect(file, seed=100 + seed)
        targets = cf.simulate_targets(file, plan, seed=900 + seed, shared=shared)
        truth = np.arange(file.height)
        units.append(cf.Intruder(knows=knows, **options).attack(release, targets, truth).units)
    return cf.calibrate(units)


def check(result):
    assert abs(result.z) < 3, result
    assert result.frame["z"].abs().max() < 4.5, result


CASES = {
    "kept and recoded": (20_000, [FIVES, INCOME], [*KEYS, "hh_income"], 2, {}),
    "two of them": (12_000, [FIVES, INCOME, WAGE], ["sex", "age", "hh_income", "wage_income"], 2, {}),
    "a swap known": (12_000, [FIVES, cf.Swap("race", rate=0.3), INCOME], ["sex", "race", "age", "hh_income"], 3, {}),
    "a swap not known": (12_000, [FIVES, cf.Swap("race", rate=0.3), INCOME], ["sex", "age", "hh_income"], 3, {}),
    "added noise beside": (
        12_000,
        [FIVES, cf.Noise("property_value", relative=0.1, keep_zeros=True, bounds=(0, None)), INCOME],
        ["sex", "age", "property_value", "hh_income"], 2, {},
    ),
    "part of the file released, a skewed number": (
        6_000, [cf.Sample(0.5), around("hh_income", 1000, 0.05, absent="file")], ["hh_income"], 3,
        {"membership": "in_file"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_claims_on_heads_are_true(case: str) -> None:
    rows, steps, knows, repeats, options = CASES[case]
    heads = cf.demo("heads").head(rows).drop("id")
    check(pooled(heads, steps, knows, repeats, **options))


def test_a_normal_curve_is_not_true_of_a_skewed_number() -> None:
    heads = cf.demo("heads").head(6_000).drop("id")
    steps = [cf.Sample(0.5), around("hh_income", 1000, 0.05, absent="student")]
    result = pooled(heads, steps, ["hh_income"], 3, membership="in_file")
    assert result.z < -2, result
    assert result.frame["z"].min() < -4.5, result


ELITES = ["age", "civil", "can_us", "income"]


@pytest.mark.parametrize("shared", [True, False])
def test_claims_on_elites_are_true(shared: bool) -> None:
    """Shared variances are drawn once a file, so only repeated files tell."""
    elites = cf.demo("elites")
    steps = [cf.MeasurementError(v, **cf.prior_from_range(elites[v])) for v in ELITES]
    check(pooled(elites, steps, ELITES, 20, shared=shared))


def test_vague_beliefs_about_elites() -> None:
    """Each target its own variance, from almost nothing to far more than expected."""
    elites, names = cf.demo("elites"), ["age", "civil"]
    plan = cf.Plan([around("age", 0.5, None, shape=1.0), around("civil", 0.3, None, shape=2.0)])
    sure = cf.Plan([around("age", 0.5, None, shape=4000.0), around("civil", 0.3, None, shape=4000.0)])
    found = []
    for believed in (plan, sure):
        units = []
        for seed in range(8):
            targets = cf.simulate_targets(elites, plan, seed=seed, shared=False)
            release = believed.protect(elites, seed=seed)
            units.append(cf.Intruder(knows=names).attack(release, targets, np.arange(elites.height)).units)
        found.append(cf.calibrate(units))
    check(found[0])
    assert abs(found[1].z) > 4, found[1]  # one who takes the mean variance for certain is wrong


# -- people who are not in the file ------------------------------------------------------------------------------------


def correlated(n, seed):
    rng = np.random.default_rng(seed)
    root = np.linalg.cholesky([[1, 0.9, 0.8], [0.9, 1, 0.7], [0.8, 0.7, 1]])
    return pl.DataFrame(rng.standard_normal((n, 3)) @ root.T * [10, 4, 2] + [50, 13, 8], schema=["u", "v", "w"])


def three(absent):
    noise = {"u": cf.Gamma(20, 5), "v": cf.Gamma(20, 31.25), "w": cf.Gamma(20, 125)}
    return cf.MeasurementError(["u", "v", "w"], noise_variance=noise, absent=absent)


def test_attributes_that_go_together_need_a_joint_model_of_absence() -> None:
    people = correlated(2000, 1)
    found = {
        absent: pooled(people, [cf.Sample(0.3), three(absent)], ["u", "v", "w"], 3, membership="in_file")
        for absent in ("joint", "student")
    }
    check(found["joint"])
    assert found["student"].z < -8, found["student"]


def test_a_population_of_which_only_the_size_is_known() -> None:
    people = correlated(3000, 2)
    found = {}
    for absent in ("joint", "student"):
        plan, units = cf.Plan([three(absent)]), []
        for seed in range(3):
            rows = np.random.default_rng(seed).choice(3000, 900, replace=False)
            truth = np.full(3000, -1)
            truth[rows] = np.arange(900)
            release = plan.protect(people[rows], seed=seed)
            targets = cf.simulate_targets(people, plan, seed=50 + seed, shared=False)
            who = cf.Intruder(knows=["u", "v", "w"], membership=cf.Unsure(total=3000))
            units.append(who.attack(release, targets, truth).units)
        found[absent] = cf.calibrate(units)
        if absent == "joint":
            gone = pl.concat(units)["p_absent"].sum()
            assert gone == pytest.approx(3 * 2100, rel=0.02)
    check(found["joint"])
    assert found["student"].z < -8, found["student"]


# -- noise in proportion, as a protection step ---------------------------------------------------------------------------


@pytest.mark.parametrize("sizes", [{"sd": 20_000, "bias_sd": 0.3}, {"bias_sd": 0.3}])
def test_noise_in_proportion_needs_its_a(sizes: dict[str, float]) -> None:
    heads = cf.demo("heads").head(20_000).drop("id")
    plan = cf.Plan([FIVES, cf.Noise("property_value", keep_zeros=True, bounds=(0, None), **sizes)])
    releases = [plan.protect(heads, seed=seed) for seed in range(3)]
    knows = [*KEYS, "property_value"]
    check(cf.calibrate([cf.Intruder(knows=knows).attack(r).units for r in releases]))
    without = cf.calibrate([cf.Intruder(knows=knows, others="ignore").attack(r).units for r in releases])
    assert without.z > 4, without  # it could do better than it claims


def test_noise_in_proportion_in_a_sample() -> None:
    heads = cf.demo("heads").head(12_000).drop("id")
    plan = cf.Plan(
        [cf.Sample(0.5), FIVES, cf.Noise("property_value", sd=20_000, bias_sd=0.1, keep_zeros=True, bounds=(0, None))]
    )
    who = cf.Intruder(knows=["sex", "age", "property_value"], membership="in_file")
    check(cf.calibrate([who.attack(plan.protect(heads, seed=seed)).units for seed in range(3)]))


@pytest.mark.slow
def test_dependent_variables_are_calibrated_at_both_levels():
    """Whether a home is owned says much about its value: counting that twice would claim too much."""
    heads = cf.demo("heads").head(10_000).select("sex", "age", "tenure", "property_value")
    error = cf.MeasurementError("property_value", noise_sd=5_000, bias_sd=0.1)
    plan = cf.Plan([cf.Recode("age", width=5), cf.Swap("tenure", rate=0.3), error])
    found = {"sdl": [], "exact": []}
    for seed in range(5):
        release, truth = plan.protect(heads, seed=seed), cf.simulate_targets(heads, plan, seed=seed)
        for level, units in found.items():
            who = cf.Intruder(knows=heads.columns, unavailable=level, others=level)
            units.append(who.attack(release, truth, truth=range(heads.height)).units)
    for units in found.values():
        assert abs(cf.calibrate(units).z) < 3


@pytest.mark.slow
def test_two_numbers_with_noise_in_proportion_are_calibrated_together():
    heads = cf.demo("heads").head(10_000).select("sex", "age", "hh_income", "property_value")
    plan = cf.Plan([cf.Recode("age", width=5), cf.Noise(["hh_income", "property_value"], sd=2_000, bias_sd=0.15)])
    who = cf.Intruder(knows=heads.columns)
    found = cf.calibrate([who.attack(plan.protect(heads, seed=seed)).units for seed in range(3)])
    assert abs(found.z) < 3
    assert found.frame["z"].abs().max() < 4.5
