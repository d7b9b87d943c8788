"""Medians by sums over bins agree with laws that are written out for all values."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest

from confide.attack.learning.attributes.likelihood_medians import read_likelihoods
from confide.attack.learning.attributes.likelihood_table import LEAST, Table
from confide.attack.learning.attributes.people import Believed
from confide.attack.learning.attributes.row_sums import medians
from confide.attack.learning.attributes.support import Nodes
from confide.frames.columns import F64

N, RECORDS, BINS = 40, 7, 5


def _nodes(rng: np.random.Generator) -> Nodes:
    bins = np.sort(np.append(np.arange(BINS), rng.integers(0, BINS, 120)))
    share = rng.random(len(bins))
    share /= np.bincount(bins, weights=share)[bins]
    return Nodes(np.sort(rng.normal(0, 50, len(bins)).round(1)), bins, share, np.zeros(0, dtype=np.int64), np.zeros(0))


def _law(p: F64, values: F64) -> tuple[F64, F64]:
    return medians(values, np.ascontiguousarray(p[:, :-1] / p[:, :-1].sum(axis=1, keepdims=True)), 1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_medians_are_those_of_laws_written_out(seed: int) -> None:
    rng = np.random.default_rng(seed)
    nodes = _nodes(rng)
    many = len(nodes.values)
    turned = rng.random((many + 1, RECORDS)) * (rng.random((many + 1, RECORDS)) < 0.7)
    turned[0] = 0.3
    table = Table(turned, np.zeros(0, dtype=np.int64), np.zeros((0, many), dtype=bool), nodes)
    e, at = rng.dirichlet(np.ones(BINS + 1), 6), rng.integers(-1, many, 6)
    b = Believed(e, at, np.where(at >= 0, 0.4 * e[np.arange(6), nodes.bin[at]] * nodes.share[at], 0.0))
    m = rng.random((6, RECORDS))
    row, own, place = rng.integers(0, 6, N), rng.integers(-1, RECORDS, N), rng.integers(-1, many + 1, N)
    scale = np.where(own >= 0, m[row, own] * rng.random(N), 0.0)
    found = read_likelihoods(b, m, table, row, own, scale, place)
    p = b.on(nodes)[row] * (m @ turned.T)[row]
    rest = p - b.on(nodes)[row] * np.where(own >= 0, scale * turned[:, own], 0.0).T
    np.testing.assert_allclose([found.guess, found.expected], _law(p, nodes.values), rtol=1e-9)
    np.testing.assert_allclose(found.other, _law(rest, nodes.values)[0], rtol=1e-9)
    each, told = np.arange(N), place >= 0
    np.testing.assert_allclose(found.missing, p[:, -1] / p.sum(axis=1), rtol=1e-9)
    np.testing.assert_allclose(found.p[told], (p / p.sum(axis=1, keepdims=True))[each, place][told], rtol=1e-9)
    np.testing.assert_allclose(found.p_other[told], (rest / rest.sum(axis=1, keepdims=True))[each, place][told],
                               rtol=1e-9, atol=1e-12)  # fmt: skip
    there = np.flatnonzero(told & (place < many))
    below = [p[u, : place[u]].sum() / p[u, :-1].sum() for u in there]
    np.testing.assert_allclose(found.below[there], below, rtol=1e-9, atol=1e-12)
    assert np.isnan(found.below[place == many]).all()


def test_nothing_but_missing_has_no_median() -> None:
    nodes = _nodes(np.random.default_rng(9))
    turned = np.zeros((len(nodes.values) + 1, 2))
    turned[-1] = 1.0
    table = Table(turned, np.zeros(0, dtype=np.int64), np.zeros((0, len(nodes.values)), dtype=bool), nodes)
    b = Believed(np.full((1, BINS + 1), 1 / (BINS + 1)), np.array([-1]), np.zeros(1))
    zero = np.zeros(1, dtype=np.int64)
    found = read_likelihoods(b, np.ones((1, 2)), table, zero, zero, np.ones(1), zero)
    assert np.isnan([found.guess[0], found.expected[0], found.other[0]]).all()
    assert found.missing[0] == 1
    assert found.p[0] == 0


def test_tables_of_some_records_are_cut_from_that_of_all() -> None:
    rng = np.random.default_rng(3)
    nodes = replace(_nodes(rng), count=np.ones(125))
    logs = rng.normal(0, 6, (126, RECORDS))
    whole = Table.of(logs.copy(), nodes)
    room: dict[str, F64] = {}
    for some in (np.array([5, 0, 2]), np.arange(RECORDS), np.array([6, 1])):  # room that grows, and is used again
        cut, made = whole.only(some, room), Table.of(logs[:, some].copy(), nodes)
        for name in ("turned", "sums", "near", "few"):
            order = np.argsort(cut.few) if name in ("near", "few") else slice(None)
            np.testing.assert_allclose(getattr(cut, name)[order], getattr(made, name), rtol=1e-12, err_msg=name)
        np.testing.assert_allclose(cut.upto[0], made.upto[0], rtol=1e-12)
    assert 0 < len(whole.few) < RECORDS


def test_what_lies_outside_of_windows_is_not_missed() -> None:
    rng = np.random.default_rng(4)
    nodes, records = replace(_nodes(rng), count=np.ones(125)), 700
    shown = np.sort(rng.normal(0, 60, records))
    logs = -0.5 * ((shown - np.append(nodes.values, 0.0)[:, None]) / 3) ** 2
    logs[-1] = -np.inf
    narrow, wide = Table.of(logs.copy(), nodes, LEAST), Table.of(logs, nodes)
    assert len(narrow.chunks) > 1 == len(wide.chunks)
    assert np.diff(narrow.rows[1]).mean() < 0.6 * records
    assert sum((b - a) * (last - first) for a, b, first, last in narrow.chunks) < records * (BINS + 1)
    e, at = rng.dirichlet(np.ones(BINS + 1), 6), rng.integers(-1, 125, 6)
    b = Believed(e, at, np.where(at >= 0, 0.4 * e[np.arange(6), nodes.bin[at]] * nodes.share[at], 0.0))
    m, d = rng.random((6, records)), np.empty((2, 6, records))
    row, own, place = rng.integers(0, 6, N), rng.integers(-1, records, N), rng.integers(-1, 125, N)
    scale = np.where(own >= 0, m[row, own] * rng.random(N), 0.0)
    for table, out in zip((narrow, wide), d, strict=True):
        table.believed(e, out)
    np.testing.assert_allclose(d[0], d[1], rtol=1e-12)
    found, twin = (read_likelihoods(b, m, table, row, own, scale, place) for table in (narrow, wide))
    for f in fields(found):
        np.testing.assert_allclose(getattr(found, f.name), getattr(twin, f.name), rtol=1e-9, atol=1e-12)
