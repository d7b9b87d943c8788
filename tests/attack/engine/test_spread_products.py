"""Products of thin matrices against the loop over nodes: errors of unknown size where every record counts."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import confide as cf
from confide.attack.engine import kernels, spread_products
from confide.attack.engine.kernel_plan import KernelPlan
from confide.attack.engine.kernels.arguments import Errors
from confide.attack.engine.loops import Outcome, carry_out
from confide.attack.engine.prepare import prepare
from confide.attack.engine.spread_products import factors


def logs(e: Errors) -> Any:
    """The formula: log densities of every target and record, variable by variable, node by node."""
    total = np.zeros((e.x.shape[0], e.z.shape[1]))
    for v in range(e.x.shape[1]):
        q = (e.x[:, v, None] - e.z[v]) ** 2
        density = sum(e.coef[v, k] * np.exp(-(e.flat[v] + e.steep[v, k]) * q) for k in range(e.nodes[v]))
        with np.errstate(divide="ignore"):
            total += np.where(e.there[v] > 0, e.add[:, v, None] + np.log(density), np.log(e.coef[v, 0]))
    return total


def drawn(seed: int, missing: float, gap: float, wide: float) -> Errors:
    """Targets and records with two variables and three nodes each."""
    rng = np.random.default_rng(seed)
    t, r, s, k = 30, 50, 2, 3
    there = (rng.random((s, r)) >= missing).astype(float)
    variance = np.sort(wide * rng.uniform(0.5, 2.0, (s, k, r)), axis=1)[:, ::-1]
    p = rng.dirichlet(np.ones(k), (s, r)).transpose(0, 2, 1)
    coef = np.where(there[:, None] > 0, p / np.sqrt(2 * np.pi * variance), 0.0)
    coef[:, 0] = np.where(there > 0, coef[:, 0], np.exp(gap))
    flat = np.where(there > 0, 0.5 / variance[:, 0], 0.0)
    steep = np.where(there[:, None] > 0, 0.5 / variance - 0.5 / variance[:, :1], 0.0)
    x, add, z = rng.normal(size=(t, s)), rng.normal(size=(t, s)), rng.normal(size=(s, r))
    return Errors(x, add, z, there, flat, coef, steep, np.full(s, k), np.zeros(s), np.zeros(2), False)


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 10_000), st.sampled_from([0.0, 0.3, 1.0]), st.sampled_from([0.0, -2.0, -np.inf]),
    st.sampled_from([0.3, 1.0, 100.0]),
)  # fmt: skip
def test_the_product_has_the_logs(seed: int, missing: float, gap: float, wide: float) -> None:
    errors = drawn(seed, missing, gap, wide)
    found = factors(errors, slice(0, 30), slice(0, 50))
    if found is None:
        assert wide < 1.0
        return
    with np.errstate(invalid="ignore"):
        np.testing.assert_allclose(found.phi @ found.c + found.never, logs(errors), rtol=0, atol=2e-10)


def test_targets_that_all_have_one_value() -> None:
    errors = drawn(1, 0.0, 0.0, 1.0)
    errors.x[:] = 0.7
    found = factors(errors, slice(0, 30), slice(0, 50))
    assert found is not None
    np.testing.assert_allclose(found.phi @ found.c, logs(errors), rtol=0, atol=2e-10)


def test_a_part_of_the_file_is_that_part() -> None:
    errors = drawn(2, 0.0, 0.0, 1.0)
    found = factors(errors, slice(5, 20), slice(10, 40))
    assert found is not None
    np.testing.assert_allclose(found.phi @ found.c, logs(errors)[5:20, 10:40], rtol=0, atol=2e-10)


def test_an_error_that_is_too_narrow_for_a_series_is_left_to_the_loop() -> None:
    assert factors(drawn(1, 0.0, 0.0, 1e-7), slice(0, 30), slice(0, 50)) is None


KEYS = ["age", "civil"]


def ready(gaps: bool = False) -> list[tuple[KernelPlan, Any]]:
    data = cf.demo("elites").select([*KEYS, "income"]).head(240)
    if gaps:
        data = data.with_columns(
            pl.when(pl.int_range(pl.len()) % 7 == 0).then(None).otherwise(pl.col("civil")).alias("civil")
        )
    plan = cf.Plan([cf.MeasurementError(v, **cf.prior_from_range(data[v], as_printed=True)) for v in KEYS])
    release = plan.protect(data, seed=1)
    targets = cf.simulate_targets(data, plan, seed=2)
    scenes = prepare(cf.Intruder(knows=KEYS), release, targets, np.arange(240), merge=True).scenes()
    return [(KernelPlan.of(scene, units), units) for _, scene, units in scenes]


def compare(one: Outcome, other: Outcome) -> None:
    for name in ("log_sum", "log_max", "log_true", "log_top"):
        np.testing.assert_allclose(getattr(one, name), getattr(other, name), rtol=0, atol=4e-10)
    for name in ("n_max", "above", "likely"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("top", [0, 3])
def test_attacks_by_products_are_those_of_the_loop(gaps: bool, top: int, monkeypatch: pytest.MonkeyPatch) -> None:
    plans = ready(gaps)
    loop = [carry_out(plan, units, 1, lambda _: None, top=top) for plan, units in plans]
    monkeypatch.setattr(spread_products, "TARGETS", 1)
    used: list[int] = []
    inner = kernels.finish_rows
    monkeypatch.setattr(kernels, "finish_rows", lambda *a: (used.append(a[1] - a[0]), inner(*a)))
    for (plan, units), expected in zip(plans, loop, strict=True):
        heard: list[int] = []
        one, two = (carry_out(plan, units, threads, heard.append, top=top) for threads in (1, 2))
        compare(one, expected)
        assert one.pairs[1] == plan.pairs(0, len(plan.targets))
        assert sum(heard) == 2 * 240
        for name in ("log_sum", "log_max", "log_true", "n_max", "above", "likely", "log_top"):
            np.testing.assert_array_equal(getattr(one, name), getattr(two, name))
    assert used


def test_products_are_for_blocks_in_which_nearly_all_count(monkeypatch: pytest.MonkeyPatch) -> None:
    ((plan, units),) = ready()
    monkeypatch.setattr(spread_products, "TARGETS", 1)
    monkeypatch.setattr(spread_products, "SHARE", 2.0)  # more than there are
    monkeypatch.setattr(spread_products, "factors", lambda *_: pytest.fail("a product"))
    carry_out(plan, units, 1, lambda _: None)
