"""Patterns of large tables: elimination against its definition in fractions, and moves against the table."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from confide.tables.layout import UNBOUNDED
from confide.tables.schemes.suppress import pattern as search
from confide.tables.schemes.suppress.elimination import _arrays, started
from confide.tables.schemes.suppress.elimination_kernel import ONEWAY, eliminated
from confide.tables.schemes.suppress.pattern import Pattern
from tests.helpers.layouts import layout_of

SHAPE = (3, 3, 3)
LAYOUT = layout_of(SHAPE)


def pattern_of(seed):
    counts = np.random.default_rng(seed).integers(1, 12, 27)
    true = LAYOUT.sums(counts)
    every = np.ones(len(true), dtype=bool)
    return Pattern(LAYOUT, counts, every[:27], true < 3, every, true * 0 + 1, true * 0 + UNBOUNDED, 1)


def rank(rows):
    """By elimination in fractions."""
    left = [[Fraction(int(v)) for v in row] for row in rows]
    found = 0
    for j in range(len(left[0]) if left else 0):
        k = next((k for k in range(found, len(left)) if left[k][j]), None)
        if k is None:
            continue
        left[found], left[k] = left[k], left[found]
        for r in range(found + 1, len(left)):
            f = left[r][j] / left[found][j]
            left[r] = [a - f * b for a, b in zip(left[r], left[found], strict=True)]
        found += 1
    return found


def plain(rows, order, needed):
    """What is hidden: what would bring one of `needed` into the span of what is published."""
    out, hide = [], np.zeros(len(rows), dtype=bool)
    for c in order:
        tried = [*out, rows[c]]
        own = rank(tried)
        hide[c] = any(rank([*tried, rows[p]]) == own for p in np.flatnonzero(needed))
        out = out if hide[c] else tried
    return hide


@pytest.mark.parametrize("seed", range(3))
def test_twin(seed):
    rng = np.random.default_rng(seed)
    rows = LAYOUT.matrix.toarray()
    needed = np.zeros(len(rows), dtype=bool)
    needed[rng.choice(27, 3, replace=False)] = True
    order = rng.permutation(np.flatnonzero(~needed))
    start, at, by = eliminated(*_arrays(csr_matrix(rows)), order, needed, np.zeros(27, dtype=np.int64), 0, False)
    hide = plain(rows, order, needed)
    np.testing.assert_array_equal(np.diff(start) > 0, hide | needed)
    left = csr_matrix((by, at, start), shape=rows.shape).toarray()
    for cell in np.flatnonzero(left.any(axis=0)):  # each free cell gives a change that what is published does not see
        own = left[:27, cell]
        np.testing.assert_array_equal(rows @ own, left[:, cell])


def test_a_sum_of_cells_that_only_rise_is_hidden():
    rows = csr_matrix(np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0], [1, 0, 1]]))
    needed = np.array([True, True, False, False, False])
    for kind, shown in (([ONEWAY, ONEWAY, 0], [2]), ([0, 0, 0], [2, 3])):
        start, *_ = eliminated(*_arrays(rows), np.array([3, 2, 4]), needed, np.array(kind), 4, False)
        assert list(np.flatnonzero(np.diff(start) == 0)) == shown


@pytest.mark.parametrize("seed", range(10))
def test_moves_fit_and_reach_small_counts(seed):
    pattern = pattern_of(seed)
    order = pattern._threatened()
    moves = started(LAYOUT, pattern.things, pattern._people, order)
    assert all(pattern.things.fits(move) for move in moves)
    assert np.mean(moves.any(axis=0)[order]) > 0.9


def test_nothing_that_is_tried_last_can_be_shown_alone(monkeypatch):
    """Less is hidden once secondaries were tried again, and the same small counts still move."""
    from confide.tables.schemes.suppress import elimination

    gained = 0
    for seed in range(10):
        pattern = pattern_of(seed)
        order = pattern._threatened()
        hidden = []
        for times in (0, 2):
            monkeypatch.setattr(elimination, "SPARED", times)
            moved = started(LAYOUT, pattern.things, pattern._people, order).any(axis=0)
            hidden.append((moved & ~pattern.things.primary, moved[order]))
        np.testing.assert_array_equal(hidden[0][1], hidden[1][1])
        assert not np.any(hidden[1][0] & ~hidden[0][0])
        gained += hidden[1][0].sum() < hidden[0][0].sum()
    assert gained


@pytest.mark.parametrize("seed", range(5))
def test_a_large_table_is_protected(seed, monkeypatch):
    monkeypatch.setattr(search, "TOGETHER", 0)
    pattern = pattern_of(seed)
    assert pattern.search() == 0
    assert all(pattern.things.fits(move) for move in pattern.moves)
    assert not pattern.moves.any(axis=0)[~pattern.open].any()
    assert np.all((pattern.most - pattern.least)[pattern._threatened()] >= 1)
