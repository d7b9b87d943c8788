"""A logistic propensity score and what main effects do not see: numbers beyond all others, another spread."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import confide as cf
from confide.measure.utility.pair import Pair
from confide.measure.utility.propensity_logistic import logistic_scores, terms
from confide.measure.utility.stacked import Stacked


def people(n: int = 1500, seed: int = 7) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    age = np.clip(rng.normal(47, 18, n).round(), 16, 95)
    income = np.exp(rng.normal(10, 0.8, n)).round(-2)
    income[rng.random(n) < 0.12] = 0
    return pl.DataFrame({
        "age": age, "sex": rng.choice(["f", "m"], n), "marital": rng.choice(["a", "b", "c"], n, p=[0.6, 0.3, 0.1]),
        "income": income, "weight": np.exp(rng.normal(3, 0.3, n)).round(2),
    })  # fmt: skip


def rated(*steps: cf.extend.Mechanism, seed: int = 1, **more: object) -> tuple[float, str]:
    release = cf.Plan(list(steps), weight="weight").protect(people(), seed=seed)
    value, detail = cf.utility(release, cf.Propensity(**more))["value", "detail"].row(0)
    return value, detail


@pytest.mark.parametrize("interactions", [True, False])
def test_more_noise_never_rates_better_and_noise_alone_rates_terribly(interactions: bool) -> None:
    sds = (10, 1e3, 1e4, 1e5, 1e6, 1e7, 1e9)
    found = [np.mean([rated(cf.Noise("income", sd=sd), seed=s, interactions=interactions)[0] for s in (1, 2)])
             for sd in sds]  # fmt: skip
    assert (np.diff(found) > -0.1).all(), found
    worst = cf.utility(cf.Plan([], drop=["income"], weight="weight").protect(people(), seed=1),
                       cf.Propensity(interactions=interactions))["value"].item()  # fmt: skip
    assert 0.8 * worst < found[-1] <= worst


def test_files_without_values_beyond_the_others_have_the_columns_they_had() -> None:
    frame = people()
    released = cf.Plan([cf.Noise("income", sd=5_000, bounds=(0, None), keep_zeros=True), cf.RankSwap("age", window=50)])
    data = released.protect(frame, seed=1).data.with_columns(pl.col("income").clip(0, frame["income"].max()))
    rows = Stacked.of(Pair.of_frames(frame, data, "weight"), ["age", "sex", "marital", "income"], "test")
    assert not rows.outside
    beyond = data.with_columns(income=pl.when(pl.int_range(pl.len()) < 3).then(1e7).otherwise(pl.col("income")))
    more = Stacked.of(Pair.of_frames(frame, beyond, "weight"), rows.names, "test")
    assert {v: int(x.sum()) for v, x in more.outside.items()} == {"income": 3}
    with_one, without = terms(more, True), terms(replace(more, outside={}), True)
    assert (with_one.width - without.width, with_one.without) == (1, without.without)
    assert len(with_one.left) == len(without.left)
    found = logistic_scores(with_one, more.y, more.w)
    assert found.p[more.outside["income"]].min() > 0.99


def test_middles_of_intervals_are_not_beyond_the_range() -> None:
    release = cf.Plan([cf.Recode("age", width=50, start=0)]).protect(people(), seed=1)
    pair = Pair.of_release(release, None)
    assert pair.numbers("age", 1).min() < 25
    assert not Stacked.of(replace(pair), ["age"], "test").outside


def test_a_spread_that_main_effects_do_not_see_is_said() -> None:
    frame = people()
    mean = np.average(frame["income"], weights=frame["weight"])
    shrunk = cf.Release.adopt(frame, frame.with_columns(income=mean + 0.3 * (pl.col("income") - mean)))
    asked = [cf.Propensity(), cf.Propensity(ratio=False), cf.Propensity(model="cart", permutations=2)]
    found = cf.utility(shrunk, asked, weight="weight")
    assert found["value"][0] < 2
    for detail in found["detail"][:2]:
        assert "caution: main effects do not see that the spread is another: income (0.3 times)" in detail
        assert 'model="cart"' in detail
    assert "caution" not in found["detail"][2]
    for step in (cf.Noise("income", sd=100, bounds=(0, None), keep_zeros=True), cf.Noise("income", sd=1e9)):
        assert "caution" not in rated(step)[1]
