"""The paper's intruder of quantile regression against the slow twin."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import confide as cf
from tests.helpers.synthetic_twin import (
    Quantiles,
    check,
    numbers,
    posterior,
    released,
    same_block,
    small_file,
)

A = cf.QuantileRegression("a", given=["sex", "age"], quantiles=9)
B = cf.QuantileRegression("b", given=["sex", "age", "a"], quantiles=9)


def attack_of(release, knows, **options):
    return cf.Intruder(knows=knows, **options).attack(release)


def targets_of(attack):
    return attack.release.original[attack.truth]


# -- quantile regression: known ------------------------------------------------------------------------------------

TAUS = ["known", "estimated", 0.3, 0.5, "random"]


@pytest.mark.parametrize("zeros", [0.0, 0.3])
@pytest.mark.parametrize("tau", TAUS)
def test_quantile_regression_known(tau, zeros):
    release = released(small_file(30, 3, zeros), A)
    attack = attack_of(release, ["sex", "a"], guesses={"tau": tau})
    twin = Quantiles(release, A, tau)
    targets = targets_of(attack)
    check(attack, same_block(release, targets, ["sex"]) + twin.logs(targets))


@pytest.mark.parametrize("others", ["sdl", "ignore"])
@pytest.mark.parametrize("as_printed", [False, True])
@pytest.mark.parametrize("widen", [False, True])
@pytest.mark.parametrize("tau", ["known", 0.7])
def test_quantile_regression_variants(tau, widen, as_printed, others):
    release = released(small_file(25, 4), A)
    attack = attack_of(release, ["a"], guesses={"tau": tau, "widen": widen}, as_printed=as_printed, others=others)
    twin = Quantiles(release, A, tau, widen, as_printed)
    check(attack, twin.logs(targets_of(attack), others=others == "sdl"))


def test_tau_is_estimated_unless_said():
    release = released(small_file(25, 5), A)
    check(attack_of(release, ["a"]), Quantiles(release, A, "estimated").logs(release.original[np.sort(release.link)]))


def test_a_random_tau_is_always_the_same_and_not_the_others():
    release = released(small_file(40, 6), A)
    every = [
        attack_of(release, ["a"], guesses={"tau": tau}).units["p_true"].to_numpy()
        for tau in ("random", "random", "known", 0.5)
    ]
    assert np.array_equal(every[0], every[1])
    assert not np.allclose(every[0], every[2])
    assert not np.allclose(every[0], every[3])


def test_guesses_by_variable():
    release = released(small_file(30, 7), A, B)
    attack = attack_of(release, ["a", "b"], guesses={"tau": {"a": 0.4}, "widen": {"b": True}})
    targets = targets_of(attack)
    check(attack, Quantiles(release, A, 0.4).logs(targets) + Quantiles(release, B, widen=True).logs(targets))


@pytest.mark.parametrize("tau", ["known", "estimated", 0.5])
def test_a_missing_released_value_rules_out_who_has_one(tau):
    release = released(small_file(40, 8, zeros=0.2, gaps=0.2), A)
    assert 0 < release.frame["a"].null_count() < 40
    attack = attack_of(release, ["sex", "a"], guesses={"tau": tau})
    targets = targets_of(attack)
    logs = Quantiles(release, A, tau).logs(targets)
    logs[np.isnan(numbers(targets, "a"))] = 0.0  # a target whose value is not known
    rows = np.isnan(numbers(targets, "a"))
    blind = attack_of(release, ["sex"])
    for i in np.flatnonzero(rows):  # nothing known of a: age is not known either, so no prediction
        np.testing.assert_allclose(posterior(attack, i), posterior(blind, i), rtol=1e-12)
    check(attack, same_block(release, targets, ["sex"]) + logs)


@pytest.mark.parametrize("tau", ["known", "estimated", 0.5])
def test_an_average_intruder_fits_the_release(tau):
    release = released(small_file(40, 9), A)
    attack = attack_of(
        release, ["a"], available="average", unavailable="average", others="average", guesses={"tau": tau}
    )
    check(attack, Quantiles(release, A, tau, level="average").logs(targets_of(attack)))


@pytest.mark.parametrize("tau", ["known", "estimated"])
def test_the_last_digits_of_released_values_do_not_matter(tau):
    """Half a step beyond the last line or on it: a record through which the line was fitted is on it."""
    file = small_file(30, 3)
    release = released(file, A)
    nudge = pl.Series(np.random.default_rng(1).choice([-1.0, 1.0], 30) * 1e-12)
    moved = cf.Release.adopt(file, release.frame.with_columns(pl.col("a") + nudge), release.plan, link=release.link)
    a, b = (attack_of(r, ["sex", "a"], guesses={"tau": tau}) for r in (release, moved))
    assert max(abs(posterior(a, i) - posterior(b, i)).max() for i in range(30)) < 1e-6


# -- quantile regression: not known ----------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("zeros", [0.0, 0.4])
@pytest.mark.parametrize("tau", TAUS)
def test_quantile_regression_not_known(tau, zeros):
    release = released(small_file(30, 10, zeros), A)
    attack = attack_of(release, ["sex", "age"], guesses={"tau": tau})
    targets = targets_of(attack)
    check(attack, same_block(release, targets, ["sex", "age"]) + Quantiles(release, A, tau).logs(targets, known=False))


@pytest.mark.parametrize("tau", ["known", "estimated", 0.6])
def test_one_known_and_one_predicted_from_it(tau):
    """b is not known, but sex, age and a are: its prediction is from the target's own a, not from a released one."""
    file = small_file(30, 11).with_columns(age=pl.lit(40) + pl.int_range(30) % 3)
    release = released(file, A, B)
    attack = attack_of(release, ["sex", "age", "a"], guesses={"tau": tau})
    targets = targets_of(attack)
    logs = same_block(release, targets, ["sex", "age"]) + Quantiles(release, A, tau).logs(targets)
    check(attack, logs + Quantiles(release, B, tau).logs(targets, known=False))


def test_recoded_predictors_are_read_as_released():
    file = small_file(30, 12)
    release = released(file, cf.Round("age", base=20), A)
    attack = attack_of(release, ["sex", "age"])
    seen = pl.col("age").add(10).floordiv(20).mul(20)
    coarse = cf.Release.adopt(file.with_columns(seen), release.frame, cf.Plan([A], numeric="age"), link=release.link)
    targets = file[np.sort(release.link)].with_columns(seen)
    check(attack, same_block(release, targets, ["sex", "age"]) + Quantiles(coarse, A).logs(targets, known=False))


@pytest.mark.parametrize("guesses", [{}, {"caliper": 5.0}])
def test_no_prediction_without_what_it_is_made_from(guesses):
    release = released(small_file(30, 13), A, B)
    attack = attack_of(release, ["sex"], guesses=guesses)
    np.testing.assert_allclose(attack.units["p_true"], 1 / attack.units["candidates"], rtol=1e-12)


@pytest.mark.parametrize("zeros", [0.0, 0.4])
@pytest.mark.parametrize(("tau", "at"), [("estimated", 0.5), (0.2, 0.2)])
@pytest.mark.parametrize("size", [4.0, 30.0])
def test_calipers(size, tau, at, zeros):
    release = released(small_file(40, 14, zeros), A)
    attack = attack_of(release, ["sex", "age"], guesses={"tau": tau, "caliper": size})
    targets = targets_of(attack)
    check(attack, same_block(release, targets, ["sex", "age"]) + Quantiles(release, A).caliper(targets, size, at))


def test_calipers_use_the_prediction_also_where_the_value_is_known():
    file = small_file(40, 15).with_columns(age=pl.lit(30) + 20 * (pl.int_range(40) % 2))
    release = released(file, A)
    attack = attack_of(release, ["sex", "age", "a"], guesses={"caliper": 12.0})
    targets = targets_of(attack)
    check(attack, same_block(release, targets, ["sex", "age"]) + Quantiles(release, A).caliper(targets, 12.0))


def test_a_caliper_of_its_own_choice_leaves_neither_few_nor_all_inside():
    rng = np.random.default_rng(1)
    file = pl.DataFrame({"g": rng.choice(["u", "v"], 400), "a": rng.normal(0, 1, 400)})
    release = released(file, cf.QuantileRegression("a", given="g", quantiles=19))
    attack = attack_of(release, ["g"], guesses={"caliper": "auto"})
    inside = np.array([(posterior(attack, i) > 0).sum() for i in range(0, 400, 20)])
    assert 40 <= np.median(inside) <= 70  # cells of about 200: 200^(3/4) = 53
    for i in (0, 100):
        p = posterior(attack, i)
        np.testing.assert_allclose(p[p > 0], 1 / (p > 0).sum(), rtol=1e-12)
