"""Claims about synthetic files, rank swaps and copies are true where the intruder reasons exactly, and not in print's way.

Several releases are pooled; z is the difference of true and claimed matches in standard errors, each target counted
once. The bound 3.5 leaves about one chance in two thousand for each case.
"""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import confide as cf
from tests.helpers.synthetic_twin import posterior

SLOW = pytest.mark.slow


def pooled(make, steps, who, repeats, copies=None):
    """Calibration over several files and releases; `make(seed)` gives the file."""
    units = []
    for seed in range(repeats):
        plan = cf.Plan(list(steps))
        made = (
            plan.protect(make(seed), seed=seed)
            if copies is None
            else plan.protect(make(seed), seed=seed, copies=copies)
        )
        units.append(who.attack(made).units)
    return cf.calibrate(units)


# -- synthetic, beside a kept category that nobody knows -----------------------------------------------------------------


def simulated(n, seed, far=2.0):
    """s moves x and y by `far` standard deviations a level."""
    rng = np.random.default_rng(seed)
    g, s = rng.choice(["u", "v", "w"], n), rng.integers(0, 4, n)
    x = far * s + rng.normal(0, 1, n) + (g == "u")
    y = 0.5 * x + rng.normal(0, 1, n) + 0.15 * far * s
    return pl.DataFrame({"g": g, "x": x.round(3), "y": y.round(3), "s": pl.Series(s).cast(pl.String)})


DRAWN = [cf.QuantileRegression("x", given=["g", "s"], quantiles=19), cf.NormalSynthesis("y", given=["g", "x"])]
CASES = {
    "one, weak": (["g", "x"], 0.25),
    "two, weak": (["g", "x", "y"], 0.25),
    "one": (["g", "x"], 2.0),
    "two": (["g", "x", "y"], 2.0),
}


@SLOW
@pytest.mark.parametrize("case", CASES)
def test_exact_is_right_on_simulated_files(case):
    knows, far = CASES[case]
    found = pooled(lambda seed: simulated(1500, seed, far), DRAWN, cf.Intruder.at("exact", knows=knows), 5)
    assert abs(found.z) < 3.5, found


@SLOW
@pytest.mark.parametrize("case", CASES)
def test_exact_claims_nothing_that_is_not_so(case):
    """Never overconfident, nor far from the truth; and far better than 1/n_t where s goes with what is known."""
    knows, far = CASES[case]
    found = pooled(lambda seed: simulated(1500, seed, far), DRAWN, cf.Intruder.at("exact", knows=knows), 5)
    assert found.z > -3.5, found
    assert found.claimed == pytest.approx(found.true, rel=0.1)
    if far > 1:
        assert found.claimed > 2 * 5 * 3  # three cells of g a file


@SLOW
def test_the_paper_claims_what_is_not_so():
    found = pooled(lambda seed: simulated(1500, seed), DRAWN, cf.Intruder(knows=["g", "x", "y"]), 3)
    assert found.z < -10, found
    assert found.claimed > 10 * found.true


FIVES = cf.Recode("age", width=10)
MONEY = [
    FIVES,
    cf.QuantileRegression("hh_income", given=["sex", "age"], quantiles=49),
    cf.QuantileRegression("property_value", given=["sex", "age", "hh_income"], quantiles=49),
]
KNOWN = ["sex", "age", "property_value", "hh_income"]


@SLOW
@pytest.mark.parametrize("kept", ["tenure", "educ"])
@pytest.mark.parametrize("known", [KNOWN, KNOWN[:3]], ids=["two", "one"])
def test_exact_on_heads(known, kept):
    heads = cf.demo("heads").head(8000).select("sex", "age", kept, "property_value", "hh_income")
    found = pooled(lambda seed: heads, MONEY, cf.Intruder.at("exact", knows=known), 3)  # noqa: ARG005
    assert abs(found.z) < 3.5, found
    cells = heads.select("sex", pl.col("age") // 10).n_unique()
    assert found.true > 1.5 * 3 * cells  # what 1/n_t adds up to


@SLOW
@pytest.mark.parametrize("known", [KNOWN, KNOWN[:3]], ids=["two", "one"])
def test_the_paper_on_heads(known):
    heads = cf.demo("heads").head(8000).select("sex", "age", "tenure", "property_value", "hh_income")
    found = pooled(lambda seed: heads, MONEY, cf.Intruder(knows=known), 1)  # noqa: ARG005
    assert found.z < -10, found
    assert found.claimed > 10 * found.true


@SLOW
def test_the_paper_about_hot_decks_and_normal_synthesis():
    """A donor is not the target: the window holds its own record no more often than another's."""
    steps = [DRAWN[0], cf.HotDeck("y", match="x", within="g", window=20)]
    deck = pooled(lambda seed: simulated(1500, seed), steps, cf.Intruder(knows=["g", "x", "y"]), 2)
    assert deck.z < -10, deck
    normal = [cf.NormalSynthesis("x", given=["g", "s"]), cf.NormalSynthesis("y", given=["g", "x"])]
    found = pooled(lambda seed: simulated(1500, seed), normal, cf.Intruder(knows=["g", "x", "y"]), 3)
    assert found.z < -3.5, found


# -- rank swaps ------------------------------------------------------------------------------------------------------------


def correlated(n, seed, rho=0.8):
    rng = np.random.default_rng(seed)
    a = rng.normal(size=n)
    b = rho * a + np.sqrt(1 - rho**2) * rng.normal(size=n)
    return pl.DataFrame({"x": np.round(np.exp(a) * 1000), "y": np.round(b, 3)})


@SLOW
@pytest.mark.parametrize("window", [5, 40])
@pytest.mark.parametrize("knows", [["x"], ["x", "y"]], ids=["one", "two"])
@pytest.mark.parametrize("exchange", [False, True], ids=["copy", "exchange"])
def test_rank_swaps(exchange, knows, window):
    step = cf.RankSwap(["x", "y"], window=window, exchange=exchange)
    found = pooled(lambda seed: correlated(1000, seed), [step], cf.Intruder(knows=knows), 5)
    assert abs(found.z) < 3.5, found
    assert found.frame["z"].abs().max() < 4.5, found


@SLOW
@pytest.mark.parametrize("exchange", [False, True], ids=["copy", "exchange"])
def test_rank_swaps_with_zeros_and_keys(exchange):
    heads = cf.demo("heads").head(6000).select("sex", "age", "wage_income")
    steps = [FIVES, cf.RankSwap("wage_income", window=100, exchange=exchange)]
    found = pooled(lambda seed: heads, steps, cf.Intruder(knows=heads.columns), 3)  # noqa: ARG005
    assert abs(found.z) < 3.5, found


# -- hot decks on kept values --------------------------------------------------------------------------------------------------


@SLOW
def test_a_hot_deck_by_kept_values_that_nobody_shares():
    """The donor is the record itself: level exact is right, with what finds the donor not known."""

    def make(seed):
        rng = np.random.default_rng(seed)
        return pl.DataFrame(
            {"g": rng.choice(["u", "v"], 600), "m": rng.permutation(600) * 1.0, "v": rng.normal(size=600).round(4)}
        )

    found = pooled(make, [cf.HotDeck("v", match="m", window=15)], cf.Intruder.at("exact", knows=["g", "v"]), 4)
    assert abs(found.z) < 3.5, found
    assert found.true > 4 * 4


# -- copies ----------------------------------------------------------------------------------------------------------------------


@SLOW
def test_five_noisy_copies_together_and_on_average():
    """One joint posterior is right. The average of five claims far less than an intruder has who picks its largest."""
    units, claimed, true = [], 0.0, 0.0
    for seed in range(3):
        file = correlated(220, seed).select("y")
        copies = cf.Plan([cf.Noise("y", sd=0.15)]).protect(file, seed=seed, copies=5)
        who = cf.Intruder(knows=["y"])
        attack = who.attack(copies)
        units.append(attack.units)
        each = [who.attack(r) for r in copies]
        for i in range(220):
            p = np.mean([posterior(a, i) for a in each], axis=0)
            best = p >= p.max() * (1 - 1e-9)
            claimed += p.max()
            true += best[attack.own_rows[i]] / best.sum()
    found = cf.calibrate(units)
    assert abs(found.z) < 3.5, found
    assert claimed < 0.6 * true
    assert true < found.true
