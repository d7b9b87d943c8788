"""Boxes and trees against a visit to every pair: sums, the largest weight and its ties, and the rank of the truth."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import confide as cf
from confide.attack.engine import kernels, noise_boxes
from confide.attack.engine.kernel_plan import KernelPlan
from confide.attack.engine.kernels.arguments import Codes, Into, OneNoisy, Own, Tables
from confide.attack.engine.kernels.gauss_sums import FAR, RADIUS, TERMS
from confide.attack.engine.known_noise import known_numbers
from confide.attack.engine.loops import Outcome, carry_out
from confide.attack.engine.noise_boxes import Block
from confide.attack.engine.prepare import prepare

NOTHING = np.zeros((0, 0), dtype=np.int64)
NONE = np.zeros(0, dtype=np.int64)


def by_pairs(z: Any, g: Any, c: Any, kind: Any, level: Any, y: Any, own: Any, s: float) -> tuple[Any, Any]:
    """The formula: every target with every record, in plain NumPy."""
    w = (level[:, kind] + g - 0.5 * ((z - y[:, None]) / s) ** 2) - 0.5 * math.log(2 * math.pi) - math.log(s)
    peak = w.max(axis=1)
    out, truth = np.zeros((len(y), 3)), np.zeros((len(y), 3))
    for t, mine in enumerate(w):
        if peak[t] == -np.inf:
            out[t] = -np.inf, -np.inf, 0.0
        else:
            out[t] = np.log((c * np.exp(mine - peak[t])).sum()), peak[t], c[mine >= peak[t] - 1e-9].sum()
        true = mine[own[t]]
        truth[t] = true, c[mine > true + 1e-9].sum(), c[mine >= true - 1e-9].sum() - 1
    return out, truth


def by_boxes(z: Any, g: Any, c: Any, kind: Any, level: Any, y: Any, own: Any, s: float) -> tuple[Any, Any]:
    """The same by the kernels; `kind` of records, `level` (targets, kinds) given as a match or not."""
    many = level.shape[1]
    order = np.argsort(kind, kind="stable")
    begin = np.searchsorted(kind[order], np.arange(many + 1))
    boxes = noise_boxes._boxes(z, order, begin, g, c, 1.0 / s)
    assert boxes is not None
    shelves = noise_boxes._shelves(z, order, begin, g, c, 0)
    # Kind k is code k of variable k, which every target has: what a target adds is in `same` of its own copy.
    out, truth = np.zeros((len(y), 4)), np.zeros((len(y), 3))
    for t in range(len(y)):
        codes = Codes(
            np.zeros((len(y), 1), dtype=np.int64), np.zeros((1, many), dtype=np.int64), level[t][None], level[t][None]
        )
        number = OneNoisy(y, np.zeros(len(y)), 0.5 / (s * s), 0.0, -0.5 * math.log(2 * math.pi) - math.log(s))
        block = Block(0, len(y), 0, len(z), codes, Tables(np.zeros((len(y), 0), dtype=np.int64), NOTHING, np.zeros(0), NONE, NONE),
                      number, shelves, boxes)  # fmt: skip
        plan: Any = type("Plan", (), {"class_t": np.arange(len(y)), "own": Own(np.arange(len(y) + 1), own)})
        slow, visited = block.attack(t, t + 1, plan, Into(np.empty((2, 0)), out, truth))
        assert not slow.any()
        assert visited > 0 or out[t, 1] == -np.inf
    return out[:, :3], truth


def numbers(style: str, n: int, rng: np.random.Generator) -> Any:
    z = {
        "smooth": lambda: rng.normal(size=n),
        "ties": lambda: rng.integers(0, 4, n).astype(float),
        "equal": lambda: np.full(n, 3.0),
        "spike": lambda: np.where(rng.random(n) < 0.5, 0.0, rng.exponential(5.0, n)),
        "outliers": lambda: rng.standard_cauchy(n) ** 3,
    }[style]()
    return np.sort(z)


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from(["smooth", "ties", "equal", "spike", "outliers"]),
    st.sampled_from([1, 2, 15, 16, 17, 33, 120, 400]),
    st.sampled_from([1e-3, 0.1, 1.0, 30.0, 1e4]),
    st.sampled_from(["even", "smooth", "rough", "steep"]),
    st.integers(1, 3),
    st.integers(0, 10_000),
)
def test_boxes_and_trees_are_the_sum_over_pairs(
    style: str, n: int, s: float, weights: str, kinds: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    z = numbers(style, n, rng)
    g = {
        "even": np.zeros(n), "smooth": np.log1p((z / (1 + np.abs(z).max())) ** 2), "rough": 3 * rng.normal(size=n),
        "steep": 40 * rng.random() * z / (1 + np.abs(z).max()),
    }[weights]  # fmt: skip
    c = rng.integers(1, 4, n).astype(float)
    kind = rng.integers(0, kinds, n)
    kind[: min(kinds, n)] = np.arange(kinds)[:n]  # no shelf is empty
    kinds = int(kind.max()) + 1
    own = rng.integers(0, n, 6)
    y = z[own] + s * rng.normal(size=6)
    y[-1] += 40 * s
    level = np.where(rng.random((6, kinds)) < 0.2, -np.inf, rng.normal(size=(6, kinds)))
    given_out, given_truth = by_pairs(z, g, c, kind, level, y, own, s)
    out, truth = by_boxes(z, g, c, kind, level, y, own, s)
    scale = 1 + np.abs(np.where(np.isfinite(given_out), given_out, 0.0)).max()
    np.testing.assert_allclose(out[:, 0], given_out[:, 0], rtol=1e-12, atol=1e-12 * scale)
    np.testing.assert_allclose(out[:, 1], given_out[:, 1], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(truth[:, 0], given_truth[:, 0], rtol=1e-12, atol=1e-12)
    # Counts are asked about where rounding is well below the tolerance for ties.
    clear = np.abs(np.where(np.isfinite(given_truth[:, 0]), given_truth[:, 0], 0.0)) < 1e4
    clear &= np.abs(np.where(np.isfinite(given_out[:, 1]), given_out[:, 1], 0.0)) < 1e4
    np.testing.assert_array_equal(out[clear, 2], given_out[clear, 2])
    np.testing.assert_array_equal(truth[clear, 1:], given_truth[clear, 1:])


def test_the_series_is_cut_where_its_bound_says() -> None:
    a = FAR * RADIUS
    left_out = a**TERMS / math.factorial(TERMS) / (1 - a / (TERMS + 1)) * math.exp(a)
    assert left_out < 2e-15
    assert math.exp(2 * a) * 2.0**-53 < 1e-13


def test_a_search_sees_few_nodes_where_weights_are_smooth() -> None:
    seen = []
    for n in (4_000, 16_000, 64_000):
        z = np.linspace(0.0, 100.0, n)
        begin, order = np.array([0, n]), np.arange(n)
        shelves = noise_boxes._shelves(z, order, begin, np.sin(z / 5), np.ones(n), 0)
        boxes = noise_boxes._boxes(z, order, begin, np.sin(z / 5), np.ones(n), 1.0)
        assert boxes is not None
        none = np.zeros((1, 0), dtype=np.int64)
        block = Block(0, 1, 0, n, Codes(none, np.zeros((0, 1), dtype=np.int64), np.zeros((0, 1)), np.zeros((0, 1))),
                      Tables(none, NOTHING, np.zeros(0), NONE, NONE),
                      OneNoisy(np.array([50.3]), np.zeros(1), 0.5, 0.0, 0.0), shelves, boxes)  # fmt: skip
        plan: Any = type(
            "Plan", (), {"class_t": np.zeros(1, dtype=np.int64), "own": Own(np.arange(2), np.array([n // 2]))}
        )
        seen.append(block.attack(0, 1, plan, Into(np.empty((2, 0)), np.zeros((1, 4)), np.zeros((1, 3))))[1])
    assert seen[-1] < 600
    assert seen[-1] - seen[0] < 150


def people(n: int = 900) -> pl.DataFrame:
    rng = np.random.default_rng(3)
    income = np.round(np.exp(10 + rng.normal(size=n)), 2)
    income[::9] = 0.0
    return pl.DataFrame({
        "income": income, "wage": np.round(income * rng.random(n)), "sex": rng.choice(["f", "m"], n),
        "race": rng.choice(list("abc"), n, p=[0.7, 0.2, 0.1]),
    })  # fmt: skip


PLANS = {
    "one number": ([cf.Noise("income", sd=900.0)], ["income"]),
    "zeros kept, bounds": ([cf.Noise("income", relative=0.1, keep_zeros=True, bounds=(0, None))], ["income", "sex"]),
    "beside a swap": ([cf.Swap("race", rate=0.3), cf.Noise("income", sd=900.0)], ["income", "race"]),
    "beside PRAM": ([cf.Pram("race", retention=0.6), cf.Noise("income", sd=3.0)], ["income", "race", "sex"]),
    "coarse cells": ([cf.Noise("wage", sd=60.0)], ["wage"]),
    "cells wider than the noise": ([cf.Noise("wage", sd=0.2)], ["wage"]),
    "multiplied": ([cf.LognormalNoise("income", sd=0.2)], ["income"]),
    "two numbers": ([cf.Noise("income", sd=900.0), cf.Noise("wage", sd=500.0)], ["income", "wage"]),
}


def plans_of(name: str) -> list[tuple[KernelPlan, Any]]:
    steps, known = PLANS[name]
    release = cf.Plan(steps).protect(people(), seed=1)
    scenes = prepare(cf.Intruder(knows=known), release, None, None, merge=True).scenes()
    return [(KernelPlan.of(scene, units), units) for _, scene, units in scenes]


def everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """Boxes for every block that allows them, however small."""
    monkeypatch.setattr(noise_boxes, "PAIRS", 0)
    monkeypatch.setattr(noise_boxes, "FEW", 0)
    monkeypatch.setattr(Block, "pays", lambda *_: True)


def compare(one: Outcome, other: Outcome) -> None:
    for name in ("log_sum", "log_max", "log_true"):
        np.testing.assert_allclose(getattr(one, name), getattr(other, name), rtol=1e-10, atol=1e-10)
    for name in ("n_max", "above", "likely"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


@pytest.mark.parametrize("name", PLANS)
def test_attacks_in_boxes_are_those_of_the_loop(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    ready = plans_of(name)
    loop = [carry_out(plan, units, 1, lambda _: None) for plan, units in ready]
    everywhere(monkeypatch)
    for (plan, units), expected in zip(ready, loop, strict=True):
        compare(carry_out(plan, units, 1, lambda _: None), expected)


def test_boxes_do_not_depend_on_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    everywhere(monkeypatch)
    monkeypatch.setattr(noise_boxes, "PIECE", 100)
    for plan, units in plans_of("beside a swap"):
        one, two = (carry_out(plan, units, threads, lambda _: None) for threads in (1, 2))
        for name in ("log_sum", "log_max", "log_true", "n_max", "above", "likely"):
            np.testing.assert_array_equal(getattr(one, name), getattr(two, name))


def test_boxes_are_used_where_they_pay(monkeypatch: pytest.MonkeyPatch) -> None:
    used: list[float] = []
    inner = kernels.attack_boxes
    monkeypatch.setattr(kernels, "attack_boxes", lambda *a: (used.append(a[1] - a[0]), inner(*a)))
    monkeypatch.setattr(noise_boxes, "PAIRS", 0)
    monkeypatch.setattr(noise_boxes, "DEARER", 1e9)
    ((plan, units),) = plans_of("one number")
    carry_out(plan, units, 1, lambda _: None)
    assert max(used) == 1  # tried, and found too dear
    used.clear()
    monkeypatch.setattr(noise_boxes, "DEARER", 0.0)
    monkeypatch.setattr(noise_boxes, "BUILT", 0.0)
    heard: list[int] = []
    carry_out(plan, units, 1, heard.append)
    assert used[-1] == len(plan.targets)
    assert sum(heard) == 900


def test_cells_of_fractions_are_even() -> None:
    """Their ends are rounded, so that widths of 0.01 near 100,000 differ in the tenth digit."""
    ((plan, _),) = plans_of("one number")
    known = known_numbers(plan)
    assert np.ptp(known.high - known.low) > 0
    assert known.even[0]
    assert known.half[0] == pytest.approx(0.005, rel=1e-9)
