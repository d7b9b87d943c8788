"""Moves: sums stated by their parts against sums of cells, multiples of fractions, and patterns checked from outside."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

import confide as cf
from benchmarks.peers.tables import TABLES, householders
from confide.tables.layout import UNBOUNDED, Layout, Part
from confide.tables.schemes.suppress.moves import Things
from tests.helpers.layouts import layout_of


def things_of(layout, counts):
    true = layout.sums(counts)
    may = true > 0
    return Things.of(
        layout, counts, np.ones(layout.cells, bool), may & (true < 4), may, true * 0 + 1, true * 0 + UNBOUNDED
    )


def with_groups():
    """Cells without quantities of their own, in groups that divide others, groups that do not, and some left out."""
    fine, coarse = np.array([0, 0, 1, 1, 2, 2, 3, 3]), np.array([0, 0, 0, 0, 1, 1, 1, 1])
    across, some = np.array([0, 1, 0, 1, 0, 1, 0, 1]), np.array([0, 0, 0, -1, -1, -1, -1, -1])
    parts = [Part((str(k),), entry, entry.max() + 1) for k, entry in enumerate((coarse, across, some, fine))]
    return Layout(8, (*parts, Part((), np.zeros(8, dtype=np.int64), 1)))


@pytest.mark.parametrize("layout", [layout_of((3, 4, 2)), layout_of((3, 5)), layout_of((2, 2, 3, 2)), with_groups()])
@pytest.mark.parametrize("seed", range(5))
def test_sums_by_their_parts_change_as_their_cells_do(layout, seed):
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 5, layout.cells) * rng.integers(0, 2, layout.cells)
    things = things_of(layout, counts)
    n = len(things.cells)
    table = np.zeros(layout.cells, dtype=np.int64)
    table[things.cells] = rng.integers(-4, 5, n)
    move = np.concatenate([table[things.cells], layout.sums(table)[things.quantity[n:]]])
    assert not (things.rows @ move).any()
    for k in range(n, things.size):  # and no other change of a sum does
        move[k] += 1
        assert (things.rows @ move).any()
        move[k] -= 1


def test_rows_are_short():
    layout = layout_of((3, 4, 5, 2))
    things = things_of(layout, np.full(layout.cells, 9))
    assert np.diff(things.rows.indptr).max() == 6  # five parts at most, and the sum


def test_multiples_of_fractions_that_fit():
    things = things_of(layout_of((2, 3)), np.array([5, 2, 9, 9, 9, 9]))
    cells = np.array([0.5, -0.5, 0, -0.5, 0.5, 0])
    move = np.zeros(things.size)
    move[:6] = cells
    assert things.scaled(move)[:6].tolist() == [1, -1, 0, -1, 1, 0]
    assert things.scaled(4 * move) is None  # falls by 2, from 2
    assert things.scaled(move / 7) is None  # 14 times over: too many
    assert things.scaled(move + 0.5) is None  # no move at all


def reach(published, q):
    """How far quantity q can lie from its true count, in fractions: linear programmes from the published values alone."""
    layout, hidden = published.layout, ~published.shown
    matrix = layout.matrix.toarray().astype(float)
    cost = matrix[q]
    own = published.shown[:, None]
    most = np.where((matrix * own * (published.values == 0)[:, None]).any(axis=0), 0, None)
    low = np.where(most == 0, 0, 1)  # every cell that is not shown to be 0 is 1 or more: zeros are shown
    bounds = list(zip(low, most, strict=True))
    rows = {"A_eq": matrix[~hidden], "b_eq": published.values[~hidden]}
    ends = [linprog(sign * cost, bounds=bounds, **rows) for sign in (1, -1)]
    assert ends[0].status == 0
    return np.inf if ends[1].status == 3 else -ends[1].fun - ends[0].fun


def test_every_small_count_of_the_householders_is_protected():
    """448 cells; the other tables by benchmarks/suppression.py."""
    table = cf.Table.of(householders(), by=TABLES["448"])
    published = table.publish(cf.Suppress(below=4, zeros="show", marks="same"), margins="all")
    small = np.flatnonzero((published.truth > 0) & (published.truth < 4))
    second = ~published.shown & (published.truth >= 4)
    assert not published.shown[small].any()
    assert min(reach(published, q) for q in small) > 1 - 1e-6
    assert second.sum() <= 54
    assert published.truth[second].sum() <= 396
