"""Intervals that are known of targets: all of them at once give what one attack per interval gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import confide as cf
from confide.attack.beliefs.numbers import Apart
from confide.attack.beliefs.points import Groups, Merging, every, merged, score_edges

N = 500
SWAPS = [cf.Recode("age", width=5), cf.Swap("race", rate=0.3), cf.Swap("marital", rate=0.3)]
NOISE = cf.Noise("hh_income", sd=2000)
AGE, INCOME = {"age": ("low", "high")}, {"hh_income": ("from", "to")}
EXACT: dict[str, Any] = dict.fromkeys(("available", "unavailable", "others"), "exact")
CASES: dict[str, tuple[list[Any], dict[str, Any]]] = {
    "kept": ([*SWAPS, cf.Sample(fraction=0.7)], {"knows": ["sex", "race"], "between": AGE}),
    "in file": ([*SWAPS, cf.Sample(fraction=0.7)], {"knows": ["sex", "race"], "between": AGE, "membership": "in_file"}),
    "altered": ([*SWAPS, NOISE], {"knows": ["sex", "race"], "between": INCOME, "membership": cf.Unsure(total=9_000)}),
    "both": ([*SWAPS, NOISE], {"knows": ["sex", "race"], "between": {**INCOME, **AGE}}),
    "beside noise": ([NOISE], {"knows": ["sex", "hh_income"], "between": AGE}),
    "mistakes": ([*SWAPS, NOISE], {"knows": ["sex", "race", "size"], "between": INCOME, "errors": {"size": 1}}),
    "mistakes, kept": (SWAPS, {"knows": ["sex", "size"], "between": AGE, "errors": {"size": 1}, "membership": "in_file"}),
    "exact": ([*SWAPS, NOISE], {"knows": ["sex", "race"], "between": INCOME, **EXACT}),
    "covered": ([cf.Noise("hh_income", sd=2000, bounds=(0, 90_000)), cf.Topcode("hh_income", at=90_000)], {"knows": ["sex"], "between": INCOME}),
    "swapped": ([cf.Swap("hh_income", rate=0.3)], {"knows": ["sex", "race"], "between": INCOME}),
    "ranks": ([cf.RankSwap("hh_income", window=100)], {"knows": ["sex", "race"], "between": INCOME}),
    "uniform": ([NOISE], {"knows": ["sex", "race"], "between": INCOME, "beliefs": cf.Uniform()}),
    "naive": ([NOISE], {"knows": ["sex", "race"], "between": INCOME, "available": "naive"}),
}  # fmt: skip


def people() -> pl.DataFrame:
    """A part of the demonstration file, with gaps."""
    gap = pl.int_range(pl.len())
    made = cf.demo("heads").sample(N, seed=3).select("sex", "race", "marital", "age", "hh_income", size="n_persons")
    return made.with_columns(pl.when(gap % 23 > 0).then(pl.col("age")), pl.when(gap % 31 > 0).then(pl.col("hh_income")))


def targets(file: pl.DataFrame) -> tuple[pl.DataFrame, np.ndarray]:
    """Some of them, with three or four different intervals of each number, and ends that are not known."""
    rows, gap = np.arange(0, N, 9), pl.int_range(pl.len())
    age, income = pl.col("age").fill_null(30) // 30 * 30, pl.col("hh_income").fill_null(0) // 60_000 * 60_000
    ends = {"low": age, "high": age + 33, "from": income - 4_001, "to": income + 61_003}
    some = (pl.when(gap % 4 != k).then(x.clip(-5_000, 130_000)).alias(v) for k, (v, x) in enumerate(ends.items()))
    return file[rows].with_columns(some), rows


@pytest.mark.parametrize("case", CASES)
def test_all_at_once_is_one_after_the_other(case: str) -> None:
    steps, who = CASES[case]
    file = people()
    release, intruder = cf.Plan(steps).protect(file, seed=1), cf.Intruder(**who)
    frame, rows = targets(file)
    names = [c for pair in intruder.between.values() for c in pair]
    whole = intruder.attack(release, frame, rows, progress=False)
    groups = frame.with_row_index("at").group_by(names, maintain_order=True).agg("at")["at"].to_list()
    assert len(groups) >= 6
    for at in groups:
        alone = intruder.attack(release, frame[at], rows[at], progress=False).units.drop("target")
        mine = whole.units[at].drop("target")
        floats = ["p_true", "p_max", "p_absent"]
        assert mine.drop(floats).equals(alone.drop(floats))
        for v in floats:
            a, b = (u[v].cast(pl.Float64).fill_null(-1.0).to_numpy() for u in (alone, mine))
            np.testing.assert_allclose(b, a, rtol=1e-9, atol=1e-300)


@pytest.mark.parametrize(
    "how", [Merging(lambda v: v / 7), Merging(lambda v: v / 7, runs=True), Merging(lambda v: v / 900)]
)
@pytest.mark.parametrize("even", [True, False])
def test_groups_cut_by_an_interval_are_those_merged_anew(how: Merging, even: bool) -> None:
    rng = np.random.default_rng(5)
    values = np.unique(rng.integers(0, 4_000, 900).astype(float))
    count = rng.integers(1, 9, len(values)).astype(float)
    spike = np.where(values == values[200], 0, -1)
    whole = every(values, score_edges(np.where(spike < 0, count, 0.0)), spike)
    groups = Groups.of(whole, count, how, even)
    assert groups is not None
    for limits in (None, (-np.inf, np.inf), (100.0, 3_000.5), (values[7], values[9]), (50.0, 50.5), (values[200], 9e9)):
        found = groups.points(limits)
        anew = merged(whole, count, Merging(how.steps, how.runs, limits), even)
        for v in ("values", "edges", "spike", "first", "last"):
            np.testing.assert_allclose(getattr(found, v), getattr(anew, v), rtol=1e-12, err_msg=v)


def test_the_share_of_values_apart_that_lie_in_an_interval() -> None:
    value, label = np.array([0.0, 0.0, 5.0, 9.0, np.nan]), np.array([1, 1, 2, 2, 2])
    apart = Apart.of(value, label, np.array([1.0, 2.0, 1.0, 4.0, 3.0]), np.array([2, 1, 7]))
    np.testing.assert_allclose(apart.log_share(1, 5), np.array([np.log(1 / 8), -np.inf, -np.inf]))
    np.testing.assert_allclose(apart.log_share(-np.inf, np.inf), np.array([np.log(5 / 8), 0.0, -np.inf]))
