"""Known numbers beside records that show more: the compiled loop against the formula, pair by pair."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import confide as cf
from confide.attack.engine import helped_loops, kernel_plan, noise_sums

KEYS = ["sex", "race", "marital"]
COLUMNS = ["p_true", "p_max", "n_max", "hit", "as_likely", "rank", "p_absent"]
INCOME, VALUE = "hh_income", "property_value"
SYNTHETIC = [cf.QuantileRegression(INCOME, given=KEYS), cf.CartSynthesis(VALUE, given=KEYS)]
NOISY = [cf.Noise(VALUE, relative=0.1), cf.Swap("race", rate=0.3)]
PLANS = {
    "one synthetic number": (SYNTHETIC[:1], [*KEYS, INCOME]),
    "two synthetic numbers": (SYNTHETIC, [*KEYS, INCOME, VALUE]),
    "a noisy one": (NOISY, [*KEYS, VALUE]),
    "two noisy ones": ([*NOISY, cf.Noise(INCOME, relative=0.1)], [*KEYS, INCOME, VALUE]),
    "noisy and synthetic": ([*NOISY, *SYNTHETIC[:1]], [*KEYS, INCOME, VALUE]),
    "narrow and wide cells in large blocks": ([cf.Noise(VALUE, relative=0.1)], ["sex", VALUE]),
    "classes that nobody knows": ([*NOISY, cf.Swap("tenure", rate=0.3), *SYNTHETIC[:1]], ["sex", INCOME, VALUE]),
}


def heads(n: int = 700) -> pl.DataFrame:
    kept = ["id", *KEYS, "age", "tenure", INCOME, VALUE]
    return cf.demo("heads").head(n).select(kept).with_columns(pl.col("age") // 20)


def attack(data: pl.DataFrame, plan: str, *, threads: int = 1, **options: object) -> cf.Attack:
    steps, knows = PLANS[plan]
    release = cf.Plan(steps, identifiers=["id"]).protect(data, seed=1)
    return cf.Intruder.at("exact", knows=knows, **options).attack(release, threads=threads, progress=False)


def same(a: cf.Attack, b: cf.Attack, tolerance: float) -> None:
    for name in COLUMNS:
        one, other = (x.frame[name].cast(pl.Float64).to_numpy() for x in (a, b))
        np.testing.assert_allclose(one, other, rtol=0, atol=tolerance, err_msg=name)


def loops(monkeypatch: pytest.MonkeyPatch, instead: str = "") -> list[str]:
    """The loops that are chosen from here on; `instead`: the one that is taken in their place."""
    seen: list[str] = []
    choose = kernel_plan._loop

    def chosen(*given: object) -> str:
        seen.append(choose(*given))
        return instead or seen[-1]

    monkeypatch.setattr(kernel_plan, "_loop", chosen)
    return seen


@pytest.mark.parametrize("plan", PLANS)
def test_the_loop_is_the_formula(plan: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fast = attack(heads(), plan)
    seen = loops(monkeypatch, "any")
    slow = attack(heads(), plan)
    assert seen == ["helped"]
    same(fast, slow, 1e-9)


def test_missing_values_and_unsure_membership(monkeypatch: pytest.MonkeyPatch) -> None:
    gaps = heads().with_columns(pl.when(pl.int_range(pl.len()) % 7 > 0).then(pl.col(INCOME)).alias(INCOME))
    options = {"membership": cf.Unsure(total=20_000)}
    fast = attack(gaps, "two synthetic numbers", **options)
    loops(monkeypatch, "any")
    same(fast, attack(gaps, "two synthetic numbers", **options), 1e-9)


def test_ranges_of_blocks_and_threads_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = attack(heads(), "noisy and synthetic")
    monkeypatch.setattr(helped_loops, "ENTRIES", 5_000)
    monkeypatch.setattr(noise_sums, "PIECE", 50)
    same(attack(heads(), "noisy and synthetic", threads=3), whole, 1e-12)


def test_values_that_the_reference_does_not_hold_go_by_the_formula(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = loops(monkeypatch)
    steps, knows = PLANS["a noisy one"]
    release = cf.Plan(steps, identifiers=["id"]).protect(heads(), seed=1)
    others = heads().with_columns(pl.col(VALUE) + 0.25)
    found = cf.Intruder.at("exact", knows=knows).attack(release, others, np.arange(700), progress=False)
    assert seen == ["any"]
    assert found.summary().expected_matches > 0


@pytest.mark.parametrize("plan", ["two synthetic numbers", "a noisy one"])
def test_large_fits_find_what_small_ones_find(plan: str, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = attack(heads(), plan).summary().expected_matches
    monkeypatch.setattr("confide.attack.beliefs.multinomial.LARGE", 0)
    monkeypatch.setattr("confide.attack.beliefs.class_model.LARGE", 0)
    assert attack(heads(), plan).summary().expected_matches == pytest.approx(slow, rel=0.02)
