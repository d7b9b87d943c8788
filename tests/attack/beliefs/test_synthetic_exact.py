"""Level "exact": synthetic values say nothing by themselves, and kept values that nobody knows say something."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import confide as cf
from tests.helpers.synthetic_twin import (
    check,
    copy_chances,
    log,
    near,
    numbers,
    posterior,
    ranks_of,
    released,
    same_block,
)


def people(n, seed, rows=1):
    """Keys g and h, numbers x, y, w and a category k that go together; a category s that goes with all of them."""
    rng = np.random.default_rng(seed)
    s = rng.choice(["s0", "s1", "s2"], n, p=[0.5, 0.3, 0.2])
    at = np.select([s == "s0", s == "s1"], [0.0, 3.0], 6.0)
    x = (at + rng.normal(0, 1, n)).round(2)
    y = (x + rng.normal(0, 1, n)).round(2)
    k = np.where(rng.random(n) < 0.2, rng.choice(["k0", "k1"], n), np.where(at > 2, "k1", "k0"))
    file = pl.DataFrame({
        "g": rng.choice(["g0", "g1"], n), "h": rng.choice(["h0", "h1", "h2"], n), "x": x, "y": y,
        "w": rng.gamma(2, 5, n).round(1), "k": k, "s": s,
    })  # fmt: skip
    return pl.concat([file] * rows)


def exact(release, knows, **options):
    return cf.Intruder.at("exact", knows=knows, **options).attack(release)


def all_alike(attack):
    units = attack.units
    np.testing.assert_allclose(units["p_true"], 1 / units["candidates"], rtol=1e-12)
    np.testing.assert_allclose(units["p_max"], 1 / units["candidates"], rtol=1e-12)
    assert (units["n_max"] == units["candidates"]).all()
    for i in range(0, units.height, 7):
        p = posterior(attack, i)
        np.testing.assert_allclose(p[p > 0], 1 / units["candidates"][i], rtol=1e-12)


# Each step is drawn from keys and from what comes before it in the chain.
CHAIN = {
    "x": lambda before: cf.QuantileRegression("x", given=before, quantiles=9),
    "y": lambda before: cf.NormalSynthesis("y", given=before, scale="ranks"),
    "k": lambda before: cf.CartSynthesis("k", given=before),
}


@pytest.mark.parametrize("order", list(permutations(CHAIN)))
@pytest.mark.parametrize("deck", [True, False])
def test_where_all_else_is_synthetic_every_candidate_is_alike(order, deck):
    file = people(120, 1).drop("s")
    before, steps = ["g", "h"], []
    for v in order:
        steps.append(CHAIN[v](list(before)))
        before.append(v)
    steps.append(
        cf.HotDeck("w", match=list(order), within="g", window=5) if deck else cf.CartSynthesis("w", given=before)
    )
    release = released(file, *steps)
    for knows in (["g", "h"], ["g", "h", "x"], ["g", "h", "x", "y", "k", "w"], ["g", "h", "w", "k"]):
        all_alike(exact(release, knows))


METHODS = ["quantile", "normal", "ranks", "tree", "deck"]


def step_of(method, v, before, drawn):
    if method == "deck" and drawn:
        return cf.HotDeck(v, match=drawn, within="g", window=4)
    if v == "k" or method in ("tree", "deck"):
        return cf.CartSynthesis(v, given=before)
    if method == "quantile":
        return cf.QuantileRegression(v, given=before, quantiles=9)
    return cf.NormalSynthesis(v, given=before, scale="ranks" if method == "ranks" else "values")


@pytest.mark.slow
@settings(max_examples=12, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(
    st.permutations(["x", "y", "w", "k"]), st.lists(st.sampled_from(METHODS), min_size=4, max_size=4),
    st.sets(st.sampled_from(["x", "y", "w", "k"])), st.integers(0, 99),
)  # fmt: skip
def test_any_chain_of_methods(order, methods, known, seed):
    before, drawn, steps = ["g", "h"], [], []
    for v, method in zip(order, methods, strict=True):
        steps.append(step_of(method, v, list(before), list(drawn)))
        before.append(v)
        drawn.append(v)
    release = released(people(60, seed).drop("s"), *steps, seed=seed)
    all_alike(exact(release, ["g", "h", *sorted(known)]))


def test_a_kept_number_that_is_known_is_no_help_either():
    file = people(150, 3).with_columns(w=(pl.col("w") / 10).round() * 10).drop("s")
    release = released(
        file,
        cf.QuantileRegression("x", given=["g", "w"], quantiles=9),
        cf.CartSynthesis("y", given=["x"]),
        cf.CartSynthesis("k", given=["x"]),
    )
    all_alike(exact(release, ["g", "h", "w", "x", "y", "k"]))


@pytest.mark.parametrize("knows", [["x"], ["x", "y"], ["g", "x"], ["g", "k"], ["x", "y", "k"]])
def test_a_kept_value_that_is_not_known_helps(knows):
    """s predicts x, y and k: whoever knows those of the target knows something about its s."""
    file = people(300, 4)
    steps = [
        cf.QuantileRegression("x", given=["g", "s"], quantiles=19),
        cf.NormalSynthesis("y", given=["x"]),
        cf.CartSynthesis("k", given=["x"]),
    ]
    release = released(file.drop("h", "w"), *steps)
    attack = exact(release, knows)
    alike = (1 / attack.units["candidates"]).sum()
    assert attack.units["p_true"].sum() > 1.3 * alike
    assert attack.summary().expected_matches > 1.3 * alike
    assert attack.units["p_max"].sum() > 1.3 * alike
    for i in range(0, 300, 50):
        assert posterior(attack, i).sum() == pytest.approx(1.0)
    check_order(attack)


def check_order(attack):
    """Records with the target's own s are likelier, on the whole, than others of its block."""
    release, own, other = attack.release, [], []
    s = release.frame["s"].to_numpy()
    for i in range(0, attack.units.height, 10):
        p = posterior(attack, i)
        mine = (s == release.original["s"][int(attack.truth[i])]) & (p > 0)
        own.append(p[mine].mean())
        other.append(p[(p > 0) & ~mine].mean() if ((p > 0) & ~mine).any() else np.nan)
    assert np.mean(own) > np.nanmean(other)


def test_kept_values_that_go_with_nothing_help_nobody():
    """Close to 1/n_t, though what a small file shows by chance is taken for real."""
    rng = np.random.default_rng(5)
    file = pl.DataFrame({"x": rng.normal(size=4000).round(2), "s": rng.choice(["u", "v"], 4000)})
    release = released(file, cf.CartSynthesis("x"))
    attack = exact(release, ["x"])
    assert attack.units["p_max"].max() < 1.35 / 4000
    assert attack.units["p_true"].sum() == pytest.approx(1.0, abs=0.05)


def test_exact_is_as_informed_where_nothing_is_synthetic():
    file = people(80, 6).select("g", "k")
    release = released(file, cf.Swap("k", rate=0.4))
    a, b = exact(release, ["g", "k"]), cf.Intruder(knows=["g", "k"]).attack(release)
    np.testing.assert_allclose(a.units["p_true"], b.units["p_true"], rtol=1e-12)


# -- hot deck ------------------------------------------------------------------------------------------------------------


def decked(n, seed, match_kept=True, window=3, ties=1):
    """`m` finds the donors: unique numbers, or each held by so many."""
    rng = np.random.default_rng(seed)
    m = rng.permutation(np.repeat(np.arange(n // ties), ties)).astype(float) * 3
    file = pl.DataFrame({"g": rng.choice(["u", "v"], n), "m": m, "v": rng.permutation(np.arange(1, n + 1)) * 2.0})
    first = [] if match_kept else [cf.QuantileRegression("m", given="g", quantiles=9)]
    return released(file, *first, cf.HotDeck("v", match="m", window=window), numeric=["m"])


@pytest.mark.parametrize("window", [1, 4])
def test_donors_by_kept_unique_values_are_oneself(window):
    """Then the move alone protects: the window around the target's own rank, as in a rank swap."""
    release = decked(30, 1, window=window)
    attack = cf.Intruder(knows=["g", "v"], available="exact", unavailable="ignore", others="ignore").attack(release)
    targets = release.original[attack.truth]
    y = list(numbers(release.original, "v"))
    chances, z = copy_chances(30, window), numbers(release.frame, "v")
    rows = [[log(chances[ranks_of(t, y)[0], ranks_of(seen, y)[0]]) for seen in z] for t in numbers(targets, "v")]
    check(attack, np.array(rows) + same_block(release, targets, ["g"]))
    assert (attack.units["p_true"] > 0).all()


def test_values_that_stand_apart_stay():
    """Zeros are not moved: a record with a zero is one of those with a zero."""
    rng = np.random.default_rng(2)
    y = np.where(np.arange(40) % 4 == 0, 0.0, rng.permutation(40) + 1.0)
    file = pl.DataFrame({"m": rng.permutation(40) * 3.0, "v": y})
    release = released(file, cf.HotDeck("v", match="m", window=3), numeric=["m", "v"])
    attack = cf.Intruder(knows=["v"], available="exact", unavailable="ignore", others="ignore").attack(release)
    others = list(y[y != 0])
    chances = copy_chances(30, 3)

    def chance(t, z):
        if t == 0 or z == 0:
            return float(t == z)
        return chances[ranks_of(t, others)[0], ranks_of(z, others)[0]]

    check(attack, [[log(chance(t, z)) for z in release.frame["v"]] for t in y[attack.truth]])


def test_donors_by_kept_values_that_several_have():
    """Any of those with the same m may have been the donor, and the value is taken to say nothing."""
    release = decked(40, 2, ties=2)
    all_alike(cf.Intruder(knows=["v"], available="exact", unavailable="ignore", others="ignore").attack(release))
    all_alike(exact(release, ["g", "m", "v"]))


def test_the_true_record_stays_possible_where_donors_are_oneself():
    release = decked(200, 3)
    attack = exact(release, ["v"])
    assert (attack.units["p_true"] > 0).all()
    assert attack.summary().expected_matches > 10
    sdl = cf.Intruder(knows=["v"]).attack(release)
    assert sdl.units["p_true"].sum() > 0


def test_donors_by_drawn_values_are_nobody_in_particular():
    all_alike(exact(decked(60, 4, match_kept=False), ["g", "v"]))


def test_kept_and_drawn_match_variables_are_refused():
    file = people(80, 7).drop("s")
    steps = [
        cf.QuantileRegression("x", given="g", quantiles=9),
        cf.HotDeck("w", match=["x", "y"], within="g", window=3),
    ]
    release = released(file, *steps)
    with pytest.raises(cf.InputError, match="no closed form"):
        exact(release, ["g", "w"])
    altered = released(file, cf.Noise("y", sd=1.0), cf.HotDeck("w", match="y", window=3))
    with pytest.raises(cf.InputError, match="no closed form"):
        exact(altered, ["g", "w"])
    cf.Intruder(knows=["g", "w"]).attack(release)  # the paper's intruder does not mind


def test_levels_of_b_and_a_go_together():
    with pytest.raises(cf.InputError, match="go together"):
        cf.Intruder(knows=["x"], unavailable="exact")


# -- by hand ---------------------------------------------------------------------------------------------------------------


def test_the_bayes_intruder_of_a_kept_category_by_hand():
    """p_j goes with Pr(target's k given record's s): frequencies of the file, but for a slight ridge."""
    file = people(600, 8).select("k", "s")
    release = released(file, cf.CartSynthesis("k", given="s"))
    attack = exact(release, ["k"])
    share = {
        (k, s): file.filter((pl.col("k") == k) & (pl.col("s") == s)).height / file.filter(pl.col("s") == s).height
        for k in ("k0", "k1")
        for s in ("s0", "s1", "s2")
    }
    logs = [[log(share[k, s]) for s in release.frame["s"]] for k in file[attack.truth]["k"]]
    near(attack, logs, 0.05 / 600)
