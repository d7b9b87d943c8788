"""Units of several rows, asked of distinct rows with each row's unit and place: the same as of all rows, by loops."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp

from confide.attack.beliefs import unit_rows
from confide.attack.beliefs.held_out import HELD_OUT, digests, evenly, mixed
from confide.attack.beliefs.homes import Reference, _at_home, _variances
from confide.attack.beliefs.unit_rows import UnitRows
from confide.frames.columns import Column, Records
from confide.frames.distinct import Distinct
from tests.helpers.unit_twin import at_home

N = 400


def file() -> tuple[Records, Distinct, np.ndarray]:
    """Rows of two numbers, many of them alike; and units of one to forty rows, whose numbers have gaps."""
    rng = np.random.default_rng(5)
    columns = [Column(v, "numeric", rng.integers(0, 4, N).astype(float), pl.Float64()) for v in ("a", "b")]
    records = Records(columns, n=N)
    unit = np.where(np.arange(N) % 10 == 0, 7, 3 * rng.integers(5, 90, N))
    return records, Distinct.rows([c.values for c in columns], N), unit


@pytest.mark.parametrize("together", [50, 2_000_000])
def test_whole_units_are_held_out(together: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unit_rows, "TOGETHER", together)
    records, found, unit = file()
    digest, held = digests(records), np.zeros(len(found))
    for u in set(unit.tolist()):
        mine = np.flatnonzero(unit == u)
        whole = np.array([sum(int(d) for d in digest[mine]) % 2**64], dtype=np.uint64)
        if evenly(mixed(whole))[0] < HELD_OUT:
            for i in mine:
                held[found.of[i]] += 1
    assert 0 < held.sum() < N
    distinct = UnitRows(unit, found.of.astype(np.uint32), N).held(records.take(found.first))
    assert distinct.rows.tolist() == held.tolist()
    assert distinct.copies == N / len(set(unit.tolist()))
    every = UnitRows(unit, None, N).held(records)
    assert np.bincount(found.of, weights=every.rows).tolist() == held.tolist()


@pytest.mark.parametrize("together", [50, 2_000_000])
def test_what_rows_have_in_common(together: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unit_rows, "TOGETHER", together)
    monkeypatch.setattr("confide.attack.beliefs.homes.PAIRS", together)
    _, found, unit = file()
    rng = np.random.default_rng(6)
    kind, place = rng.integers(0, 2, len(found)), found.of.astype(np.uint32)
    unit = np.where(rng.random(N) < 0.8, 1_000 * kind[place] + unit % 40, unit)  # so that rows of a unit agree
    p, cell = rng.dirichlet(np.ones(2), 3), rng.integers(0, 3, len(found))
    design = sp.csr_matrix(np.eye(3))
    about = Reference(design, cell, found.count, UnitRows(unit, place, N))
    kappa = at_home(kind[place].tolist(), unit.tolist(), [p[c] for c in cell[place]])
    assert kappa > 0.1
    assert _at_home(kind, p, about) == pytest.approx(kappa, rel=1e-12)
    each = Reference(design, cell[place], np.ones(N), UnitRows(unit, None, N))
    assert _at_home(kind[place], p, each) == pytest.approx(kappa, rel=1e-12)
    left, altered = kind + 0.5 * rng.standard_normal(len(found)), rng.random(len(found)) < 0.9
    rows = [(int(u), left[i]) for u, i in zip(unit, place, strict=True) if altered[i]]
    total = float(np.mean([x**2 for _, x in rows]))
    groups = [[x for u, x in rows if u == v] for v in {u for u, _ in rows}]
    around = sum(sum((x - np.mean(g)) ** 2 for x in g) for g in groups) / sum(len(g) - 1 for g in groups)
    assert total > around
    assert _variances(left, altered, about) == pytest.approx((total - around, around), rel=1e-12)
