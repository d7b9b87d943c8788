"""The paper's intruder of hot decks against the slow twin; normal and tree synthesis."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import confide as cf
from tests.helpers.synthetic_twin import (
    Quantiles,
    check,
    near_logs,
    normal_logs,
    numbers,
    posterior,
    predicted_ranks,
    ranks_of,
    released,
    same_block,
    small_file,
)

A = cf.QuantileRegression("a", given=["sex", "age"], quantiles=9)


def attack_of(release, knows, **options):
    return cf.Intruder(knows=knows, **options).attack(release)


def targets_of(attack):
    return attack.release.original[attack.truth]


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


@pytest.mark.slow
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
