"""Likelihoods that see all pairs of targets and records at once say of each what they say of it alone, to the last bit."""

from __future__ import annotations

import numpy as np
import pytest

from confide.protect.likelihoods.spread import Spread
from confide.protect.likelihoods.window import Near
from confide.protect.methods.synthesis.quantile.fitted_process import Process
from confide.protect.seam.likelihood import Columns, Likelihood
from confide.protect.shared.predictors import times

TARGETS, RECORDS = 40, 70


def spread(rng: np.random.Generator, gap: float, nodes: int) -> tuple[Likelihood, Columns]:
    z, there = rng.normal(size=RECORDS) * 10, rng.random(RECORDS) < 0.8
    like = Spread.sized(z, there, rng.gamma(2, size=RECORDS), lambda _: np.zeros(0), gap, rng.random(RECORDS) + 0.1)
    if nodes > 1:
        rule, variance = np.arange(RECORDS), rng.gamma(2, size=(RECORDS, nodes))
        like = Spread(z, there, rule, variance, rng.random((RECORDS, nodes)), (9.0, 0.0), lambda _: z, None, gap=gap)
    return like, {"x": rng.normal(size=TARGETS) * 10, "log_absent": rng.normal(size=TARGETS)}


def near(rng: np.random.Generator, gap: float) -> tuple[Likelihood, Columns]:
    low, theirs = rng.integers(0, 99, RECORDS).astype(float), rng.integers(0, 99, TARGETS).astype(float)
    like = Near(low, low + 2, rng.random(RECORDS) < 0.8, lambda _: (low, low), 20, 0.3, gap)
    return like, {"low": theirs, "high": theirs + rng.integers(0, 9, TARGETS)}


@pytest.mark.parametrize("gap", [0.0, -np.inf])
@pytest.mark.parametrize("kind", ["one variance", "two variances", "ranks"])
def test_all_pairs_are_each_pair(kind: str, gap: float) -> None:
    rng = np.random.default_rng(7)
    like, t = near(rng, gap) if kind == "ranks" else spread(rng, gap, 1 + (kind == "two variances"))
    i, j = (a.ravel() for a in np.meshgrid(np.arange(TARGETS), np.arange(RECORDS), indexing="ij"))
    each = like.log({k: v[i] for k, v in t.items()}, {k: v[j] for k, v in like.record.items()})
    np.testing.assert_array_equal(like.log_every(t, like.record).ravel(), each)
    assert len(np.unique(each)) > 1


def test_lines_of_all_targets_at_the_tau_of_every_record() -> None:
    rng = np.random.default_rng(8)
    x = np.column_stack([np.ones(300), rng.normal(size=300)])
    process = Process.fit(x, x[:, 1] + rng.normal(size=300), np.linspace(0.1, 0.9, 9), 0.0)
    lines, tau = process.lines(x[:TARGETS]), np.concatenate([rng.random(RECORDS - 2), [0.01, 0.99]])
    each = [[process.between(lines[[i]], tau[[j]])[0] for j in range(RECORDS)] for i in range(TARGETS)]
    np.testing.assert_array_equal(process.crossed(lines, tau), each)


@pytest.mark.parametrize("rows", [1, 7, 5_000])
def test_products_of_a_part_are_those_of_the_whole(rows: int) -> None:
    rng = np.random.default_rng(9)
    x, beta = rng.normal(size=(5_000, 4)), rng.normal(size=(4, 33))
    whole = times(x, beta)
    np.testing.assert_array_equal(times(x[-rows:], beta), whole[-rows:])
    np.testing.assert_allclose(whole, x @ beta, rtol=1e-12, atol=1e-12)
