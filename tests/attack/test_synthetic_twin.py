"""The paper's intruders of synthetic files, and rank swaps, against the slow twin."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from synthetic_twin import (
    Quantiles,
    check,
    file_shares,
    log,
    near,
    near_logs,
    normal_logs,
    numbers,
    posterior,
    predicted_ranks,
    rank_swap_table,
    ranks_of,
    released,
    same_block,
    small_file,
    with_others,
)

import confide as cf

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


# -- hot deck ----------------------------------------------------------------------------------------------------------

DECK = cf.HotDeck(["c"], match=["a"], within=["sex"], window=3)


def own_ranks(file, targets, v):
    y = [t for t in numbers(file, v) if not np.isnan(t)]
    return y, [ranks_of(t, y) for t in numbers(targets, v)]


def deck_logs(release, targets, v, window):
    y, ranks = own_ranks(release.original, targets, v)
    return near_logs(y, numbers(release.frame, v), ranks, window)


@pytest.mark.parametrize("others", ["sdl", "ignore"])
@pytest.mark.parametrize("as_printed", [False, True])
@pytest.mark.parametrize("window", [None, 0, 1, 7])
def test_hot_deck_known(window, as_printed, others):
    release = released(small_file(36, 20), A, DECK)
    options = {} if window is None else {"guesses": {"window": window}}
    attack = attack_of(release, ["sex", "c"], as_printed=as_printed, others=others, **options)
    targets = targets_of(attack)
    check(
        attack,
        same_block(release, targets, ["sex"]) + deck_logs(release, targets, "c", 3 if window is None else window),
    )


def test_the_constant_of_a_window():
    """1/(2d+1), or 1/(2d) as printed, shows where A is left out beside a record that says nothing."""
    file = small_file(40, 21).with_columns(c=pl.when(pl.int_range(40) % 7 == 0).then(None).otherwise(pl.col("c")))
    release = released(file, A, DECK)
    gone = release.frame["c"].is_null().to_numpy()
    assert 0 < gone.sum() < 40
    for as_printed, chance in ((False, 1 / 7), (True, 1 / 6)):
        attack = attack_of(release, ["c"], as_printed=as_printed, others="ignore", unavailable="ignore")
        targets = targets_of(attack)
        known = ~targets["c"].is_null().to_numpy()
        y = [t for t in numbers(file, "c") if not np.isnan(t)]
        logs = np.zeros((40, 40))
        ranks = [ranks_of(t, y) for t in numbers(targets, "c")[known]]
        logs[known] = near_logs(y, numbers(release.frame, "c"), ranks, 3) + np.where(gone, 0.0, np.log(chance))
        check(attack, logs)
        whole = attack_of(release, ["c"], as_printed=as_printed, unavailable="ignore")
        check(whole, logs - np.where(known[:, None] & ~gone[None, :], np.log(chance), 0.0))


def test_several_variables_multiply():
    deck = cf.HotDeck(["b", "c", "d"], match=["a"], within=["sex"], window=4)
    release = released(small_file(40, 22), A, deck)
    attack = attack_of(release, ["b", "c", "d"])
    targets = targets_of(attack)
    logs = deck_logs(release, targets, "b", 4) + deck_logs(release, targets, "c", 4)
    check(attack, logs + same_block(release, targets, ["d"]))
    two = attack_of(release, ["c", "d"])
    check(two, deck_logs(release, targets, "c", 4) + same_block(release, targets, ["d"]))
    by_variable = attack_of(release, ["b", "c"], guesses={"window": {"b": 9}})
    check(by_variable, deck_logs(release, targets, "b", 9) + deck_logs(release, targets, "c", 4))


def test_a_category_taken_from_a_donor_is_compared():
    release = released(small_file(30, 23), A, cf.HotDeck("d", match=["a"], within=["sex"]))
    attack = attack_of(release, ["d"])
    check(attack, same_block(release, targets_of(attack), ["d"]))
    np.testing.assert_allclose(
        attack_of(release, ["sex"]).units["p_true"], 1 / attack_of(release, ["sex"]).units["candidates"]
    )


@pytest.mark.parametrize("window", [3, 6])
def test_hot_deck_not_known_by_a_predicted_rank(window):
    file = small_file(36, 24).with_columns(c=pl.col("a").rank() * 5 + pl.col("c"))
    release = released(file, A, DECK)
    attack = attack_of(release, ["sex", "a"], guesses={"window": window, "tau": 0.5})
    targets = targets_of(attack)
    y = list(numbers(file, "c"))
    ranks = predicted_ranks(file, "c", ["a", "sex"], targets)
    logs = same_block(release, targets, ["sex"]) + Quantiles(release, A, 0.5).logs(targets)
    check(attack, logs + near_logs(y, numbers(release.frame, "c"), ranks, window))
    # Without sex there is nothing to predict the rank from.
    blind = attack_of(release, ["a"], guesses={"tau": 0.5})
    check(blind, Quantiles(release, A, 0.5).logs(targets))


@pytest.mark.parametrize("n", [40, 260])
def test_an_average_intruder_ranks_the_release_and_guesses_the_window(n):
    release = released(small_file(n, 25), A, cf.HotDeck("c", match=["a"], within=["sex"], window=6))
    attack = attack_of(release, ["c"], available="average", unavailable="average", others="average")
    z = list(numbers(release.frame, "c"))
    targets = targets_of(attack)
    logs = near_logs(z, np.array(z), [ranks_of(t, z) for t in numbers(targets, "c")], max(1, round(n / 100)))
    check(attack, logs)


def by_parts(release, knows, *others):
    """Log weights of an attack as the sum over attacks that know one part of it each."""
    with np.errstate(divide="ignore"):
        return sum(
            np.log(
                [
                    posterior(cf.Intruder(knows=k, unavailable="ignore").attack(release), i)
                    for i in range(release.frame.height)
                ]
            )
            for k in (knows, *others)
        )


def test_hot_deck_beside_quantile_regressions_and_a_swap():
    steps = [
        cf.QuantileRegression("a", given="sex", quantiles=9),
        cf.HotDeck("c", match=["a"], within=["sex"], window=8),
    ]
    release = released(small_file(36, 26).drop("age", "b"), *steps, cf.Swap("d", rate=0.3))
    attack = attack_of(release, ["sex", "a", "c", "d"], unavailable="ignore")
    targets = targets_of(attack)
    logs = same_block(release, targets, ["sex"]) + Quantiles(release, steps[0]).logs(targets)
    check(attack, logs + deck_logs(release, targets, "c", 8) + by_parts(release, ["sex", "d"]))


def test_what_a_synthesis_reads_is_no_evidence_about_a_swap():
    """At sdl a kept variable that is not known counts 1 (print); a swap's belief reads only what the swap read."""
    steps = [cf.QuantileRegression("a", given="sex", quantiles=9), cf.Swap("d", rate=0.3)]
    release = released(small_file(36, 27).select("sex", "a", "d"), *steps)
    check(attack_of(release, ["a", "d"]), by_parts(release, ["a"], ["d"]))


# -- normal and tree synthesis ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", ["values", "ranks"])
@pytest.mark.parametrize("others", ["sdl", "ignore"])
@pytest.mark.parametrize("known", [True, False])
def test_normal_synthesis(known, others, scale):
    step = cf.NormalSynthesis("b", given=["sex", "age"], scale=scale)
    release = released(small_file(30, 30).drop("a"), step)
    attack = attack_of(release, ["sex", "b"] if known else ["sex", "age"], others=others)
    targets = targets_of(attack)
    block = same_block(release, targets, ["sex"] if known else ["sex", "age"])
    check(attack, block + normal_logs(release, step, targets, known, others == "sdl"))


@pytest.mark.parametrize("scale", ["values", "ranks"])
def test_normal_synthesis_with_zeros_apart(scale):
    """A record that stands apart is as its own prediction says, as in quantile regression: no target is near it but zeros."""
    file = small_file(60, 32, zeros=0.3).select("sex", "age", "a")
    release = released(file, cf.NormalSynthesis("a", given=["sex", "age"], scale=scale))
    attack = attack_of(release, ["sex", "a"])
    zero = numbers(release.frame, "a") == 0
    on_zeros = np.array([posterior(attack, i)[zero].sum() for i in range(60)])
    own = numbers(targets_of(attack), "a") == 0
    np.testing.assert_allclose(on_zeros[own], 1.0, atol=1e-3)
    assert on_zeros[~own].max() < 0.05


TREES = [cf.CartSynthesis("a", given=["sex"]), cf.CartSynthesis("d", given=["sex", "a"])]


@pytest.mark.parametrize("level", ["sdl", "average", "exact", "ignore"])
def test_a_tree_says_nothing(level):
    release = released(small_file(40, 31).select("sex", "a", "d"), *TREES)
    for knows in (["sex"], ["sex", "a"], ["sex", "a", "d"]):
        units = cf.Intruder.at(level, knows=knows).attack(release).units
        np.testing.assert_allclose(units["p_true"], 1 / units["candidates"], rtol=1e-12)
        assert (units["n_max"] == units["candidates"]).all()


@pytest.mark.parametrize("level", ["sdl", "average"])
def test_a_tree_says_nothing_where_what_it_reads_is_not_known(level):
    release = released(small_file(40, 31).select("sex", "a", "d"), *TREES)
    units = cf.Intruder.at(level, knows=["a"]).attack(release).units
    np.testing.assert_allclose(units["p_true"], 1 / 40, rtol=1e-12)


# -- rank swaps ----------------------------------------------------------------------------------------------------------

few = settings(
    max_examples=25, deadline=None, derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.differing_executors],
)  # fmt: skip


def swapped(values, window, exchange, *more, seed=1, **columns):
    file = pl.DataFrame({"x": values, **columns}).with_columns(pl.col("x").cast(pl.Float64))
    return released(file, cf.RankSwap("x", window=window, exchange=exchange), *more, seed=seed)


def rank_logs(release, targets, window, exchange, image=lambda y: y, shares=None):
    """C and its joint A, with the file's own distribution as belief; zeros are a block of their own."""
    file, z, t = (list(numbers(f, "x")) for f in (release.original, release.frame, targets))
    moved = [y for y in file if y != 0]
    table = rank_swap_table(moved, window, exchange, image)
    believed, weights = file_shares(moved) if shares is None else shares
    out = with_others(lambda y, j: table.get((y, z[j]), 0.0), t, believed, weights, len(z))
    for i, y in enumerate(t):
        for j, seen in enumerate(z):
            if y == 0 or seen == 0:
                out[i, j] = 0.0 if y == seen else -np.inf
    return out


@pytest.mark.parametrize("exchange", [False, True])
@pytest.mark.parametrize("window", [1, 2, 3, 4, 30])
@pytest.mark.parametrize("ties", [False, True])
def test_rank_swap_known(window, exchange, ties):
    n = 20 if not (exchange and window == 30) else 7
    rng = np.random.default_rng(window)
    values = rng.integers(1, 8, n) * 10.0 if ties else rng.permutation(np.arange(1, n + 1)) ** 2.0
    release = swapped(values, window, exchange)
    attack = attack_of(release, ["x"])
    targets = targets_of(attack)
    check(attack, rank_logs(release, targets, window, exchange))
    plain = rank_logs(release, targets, window, exchange, shares=file_shares(list(values), 0.0))
    near(attack, plain, 1e-3)  # beside a thousandth of a record that is the file's own distribution
    without = attack_of(release, ["x"], others="ignore")
    table = rank_swap_table(list(values), window, exchange)
    z, t = numbers(release.frame, "x"), numbers(targets, "x")
    check(without, [[log(table[y, seen]) for seen in z] for y in t])


@pytest.mark.parametrize("exchange", [False, True])
def test_rank_swap_leaves_zeros_alone(exchange):
    """A certain label: with it the belief is a regression on two cells, the file's own distribution but for its ridge."""
    values = np.where(np.arange(30) % 3 == 0, 0.0, np.arange(30) // 2 * 5.0)
    release = swapped(values, 3, exchange)
    attack = attack_of(release, ["x"])
    scene = attack.scenes[0][1]
    cell = int(scene.cells.of_records[np.flatnonzero(numbers(release.frame, "x") != 0)[0]])
    weights = np.exp(scene.log_pi[cell])
    believed = sorted(set(values))
    check(attack, rank_logs(release, targets_of(attack), 3, exchange, shares=(believed, list(weights))))
    near(attack, rank_logs(release, targets_of(attack), 3, exchange, shares=file_shares(list(values), 0.0)), 0.02)
    assert (
        attack.units["candidates"].to_numpy()
        == np.where(numbers(targets_of(attack), "x") == 0, (values == 0).sum(), (values != 0).sum())
    ).all()


@pytest.mark.parametrize("window", [1, 5])
def test_rank_swap_with_a_guessed_window(window):
    release = swapped(np.arange(1.0, 21.0), 3, False)
    attack = attack_of(release, ["x"], guesses={"window": window})
    check(attack, rank_logs(release, targets_of(attack), window, False))


def test_an_average_intruder_takes_ranks_and_belief_about_the_window_from_the_release():
    release = swapped(np.random.default_rng(2).integers(1, 12, 40) * 10.0, 4, False)
    attack = attack_of(release, ["x"], available="average", others="average", unavailable="average")
    z, t = list(numbers(release.frame, "x")), list(numbers(targets_of(attack), "x"))
    table = rank_swap_table(z, 1)
    known = sorted(set(z))

    def chance(y, j):
        if y in known:
            return table[y, z[j]]
        at = ranks_of(y, z)[0]  # a value that the release has lost is at its neighbour's nearest rank
        inside = [p for p in range(40) if abs(p - at) <= 1]
        return sum(sorted(z)[p] == z[j] for p in inside) / len(inside)

    believed, weights = file_shares(list(numbers(release.original, "x")))
    check(attack, with_others(chance, t, believed, weights, 40))


LATER = {
    "round": (cf.Round("x", base=25), lambda y: 25 * math.floor(y / 25 + 0.5)),
    "topcode": (cf.Topcode("x", at=70), lambda y: min(y, 70)),
    "bottomcode": (cf.Bottomcode("x", at=40), lambda y: max(y, 40)),
}


@pytest.mark.parametrize("exchange", [False, True])
@pytest.mark.parametrize("later", LATER)
def test_rank_swap_before_a_coarsening(later, exchange):
    step, image = LATER[later]
    release = swapped(np.random.default_rng(3).integers(1, 12, 26) * 10.0 + 3, 3, exchange, step)
    attack = attack_of(release, ["x"])
    check(attack, rank_logs(release, targets_of(attack), 3, exchange, image))


@few
@given(
    st.lists(st.one_of(st.just(0), st.integers(-4, 60), st.none()), min_size=6, max_size=24).filter(lambda v: any(v)),
    st.integers(1, 9), st.booleans(), st.sampled_from([None, "round", "topcode", "recode"]), st.booleans(), st.integers(0, 50),
)  # fmt: skip
def test_the_true_record_is_always_possible(values, window, exchange, later, keep_zeros, seed):
    step = {
        "round": cf.Round("x", base=7),
        "topcode": cf.Topcode("x", at=31),
        "recode": cf.Recode("x", width=9),
        None: None,
    }[later]
    file = pl.DataFrame(
        {"x": pl.Series(values, dtype=pl.Float64), "g": ["u", "v"] * (len(values) // 2) + ["u"] * (len(values) % 2)}
    )
    steps = [cf.RankSwap("x", window=window, exchange=exchange, keep_zeros=keep_zeros), *([step] if step else [])]
    try:
        release = released(file, *steps, seed=seed)
    except cf.InputError as refused:
        if "merges moved values" not in str(refused):
            raise
        return
    for knows in (["x"], ["g", "x"]):
        units = attack_of(release, knows).units
        assert (units["p_true"] > 0).all()
        assert units["p_true"].is_finite().all()
        assert (units["p_max"] <= 1 + 1e-12).all()
        assert (units["status"] == "ok").all()


@pytest.mark.parametrize("exchange", [False, True])
@pytest.mark.parametrize("n", [30, 300])
def test_an_unknown_rank_swap_changes_nothing_by_itself(n, exchange):
    rng = np.random.default_rng(4)
    x = np.where(rng.random(n) < 0.3, 0, rng.permutation(n) + 1.0)
    release = swapped(x, 4, exchange, g=list(rng.choice(["u", "v"], n)))
    for options in ({}, {"others": "exact", "unavailable": "exact"}):
        units = attack_of(release, ["g"], **options).units
        np.testing.assert_allclose(units["p_true"], 1 / units["candidates"], rtol=1e-9)


@pytest.mark.parametrize("exchange", [False, True])
@pytest.mark.parametrize(
    "options", [{"guesses": {"window": 1}}, {"available": "average", "unavailable": "average", "others": "average"}]
)
def test_a_window_that_is_believed_too_small(options, exchange):
    """Records that nobody can have led to are impossible; for a target without others no record is possible."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=30).round(2)
    file = pl.DataFrame({"x": x, "y": (x + rng.normal(size=30)).round(2)})
    release = released(file, cf.RankSwap(["x", "y"], window=9, exchange=exchange))
    attack = attack_of(release, ["x", "y"], **options)
    units = attack.units
    assert units["p_true"].fill_null(0.0).is_finite().all()
    for i in range(30):
        assert posterior(attack, i).sum() == pytest.approx(float(units["status"][i] == "ok"), abs=1e-9)
