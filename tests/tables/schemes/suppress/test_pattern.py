"""Steps of the search on small tables, against every change of the cells by 1, 0 or -1.

In a two-way table whose counts have no upper end no other change needs to be looked at: what can move at all moves by 1
along a cycle of rows and columns.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from confide.tables.layout import UNBOUNDED
from confide.tables.schemes.suppress import pattern as search
from confide.tables.schemes.suppress.pattern import Pass, Pattern
from tests.helpers.layouts import layout_of

LAYOUT = layout_of((3, 3))
CHANGES = LAYOUT.sums(np.array(list(product((-1, 0, 1), repeat=9))))


def pattern_of(seed):
    """Of a table without zeros, where primary and secondary counts look alike: each is 1 or more."""
    counts = np.random.default_rng(seed).integers(1, 15, 9)
    true = LAYOUT.sums(counts)
    every = np.ones(len(true), dtype=bool)
    return Pattern(LAYOUT, counts, every[:9], true < 4, every, true * 0 + 1, true * 0 + UNBOUNDED, 1), true


def unsafe(hidden, true):
    """How many small counts no change moves."""
    fit = np.all((CHANGES == 0) | hidden, axis=1) & np.all(true + CHANGES >= 1, axis=1)
    return int(((true < 4) & ~CHANGES[fit].any(axis=0)).sum())


def price(hidden, true):
    return float((true[hidden & (true >= 4)] ** 1.6).sum())


def wasteful(seed):
    """A pattern that protects, made as if large counts were the cheap ones; and the small counts."""
    pattern, true = pattern_of(seed)
    things, order = pattern.things, pattern._threatened()
    pattern.things = replace(things, price=1_000 / things.price)
    assert all(pattern._protect(int(k), False) for k in order)
    pattern.things = things
    pattern.open = pattern._used()
    return pattern, true, order


@pytest.mark.parametrize("seed", range(20))
def test_exchanged_secondaries_protect_as_well_and_cost_no_more(seed):
    pattern, true, order = wasteful(seed)
    before = pattern.hidden
    assert unsafe(before, true) == 0
    pattern._exchange(order)
    assert unsafe(pattern.hidden, true) == 0
    assert price(pattern.hidden, true) <= price(before, true)
    assert all(pattern.things.fits(move) for move in pattern.moves)
    assert np.all((pattern.most - pattern.least)[order] >= 1)


def test_exchange_gains():
    gained = 0
    for seed in range(20):
        pattern, true, order = wasteful(seed)
        before = pattern.hidden
        pattern._exchange(order)
        gained += price(pattern.hidden, true) < price(before, true)
    assert gained >= 10


@pytest.mark.parametrize("seed", range(20))
def test_what_large_tables_try_protects_small_ones(seed, monkeypatch):
    monkeypatch.setattr(search, "TOGETHER", 0)
    pattern, true = pattern_of(seed)
    assert pattern.search() == 0
    assert unsafe(pattern.hidden, true) == 0


def test_nothing_above_the_limit_of_a_pass_is_hidden(monkeypatch):
    """Where small counts suffice. What the search hides before and after such a pass is left out."""
    monkeypatch.setattr(search, "TOGETHER", 0)
    monkeypatch.setattr(search, "PASSES", {False: (Pass(5.0, 8, 1_500, True),)})
    monkeypatch.setattr(Pattern, "_exchange", lambda *_: None)
    exact = []
    protect = Pattern._protect
    monkeypatch.setattr(Pattern, "_protect", lambda p, k, last: (last and exact.append(k)) or protect(p, k, last))
    limited = 0
    for seed in range(20):
        exact.clear()
        pattern, true = pattern_of(seed)
        assert pattern.search() == 0
        if not exact:
            limited += 1
            assert np.all(true[pattern.hidden] <= 8)
    assert limited
