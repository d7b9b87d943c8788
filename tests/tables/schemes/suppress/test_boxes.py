"""Annealing by boxes: against a plain twin that counts the whole energy again at every step, and what it must keep."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from math import log

import numpy as np
import pytest

from confide.tables.layout import UNBOUNDED
from confide.tables.schemes.suppress.boxes import Grid, exchanged
from confide.tables.schemes.suppress.boxes_kernel import SAME, SEED, STEPS, annealed
from confide.tables.schemes.suppress.pattern import Pattern
from tests.helpers.layouts import layout_of

SHAPE = (3, 3, 3)
LAYOUT = layout_of(SHAPE)


def pattern_of(seed):
    """A pattern that protects, made as if all counts were equally dear; no zeros, each hidden count is 1 or more."""
    counts = np.random.default_rng(seed).integers(1, 12, 27)
    true = LAYOUT.sums(counts)
    every = np.ones(len(true), dtype=bool)
    pattern = Pattern(LAYOUT, counts, every[:27], true < 3, every, true * 0 + 1, true * 0 + UNBOUNDED, 1)
    order = pattern._threatened()
    pattern.things.price[:] = 1.0
    assert all(pattern._protect(int(k), True) for k in order)
    needed = np.zeros(pattern.things.size, dtype=bool)
    needed[order] = True
    return pattern, true[pattern.things.quantity], needed


def extended(counts):
    """A table with the total of each variable as its last level."""
    for axis in range(counts.ndim):
        counts = np.concatenate([counts, counts.sum(axis=axis, keepdims=True)], axis=axis)
    return counts.ravel()


class Chance:
    """The same random numbers, by Python's own whole numbers."""

    def __init__(self):
        self.state = SEED

    def draw(self):
        z = self.state
        z ^= (z << 13) & (2**64 - 1)
        z ^= z >> 7
        z ^= (z << 17) & (2**64 - 1)
        self.state = z
        return z >> 32

    def below(self, n):
        return self.draw() * n >> 32


def energy(tables, price, long):
    changed = tables != 0
    return price[changed.any(axis=0)].sum() + long * (changed * (1 + price / 15)).sum()


def plain_box(shape, a, b, chance):
    """What a box that holds places a and b changes."""
    a, b = np.unravel_index(a, shape), None if b < 0 else np.unravel_index(b, shape)
    levels = []
    for v, n in enumerate(shape):
        other = a[v] if b is None else b[v]
        if other == a[v]:
            other = chance.below(n - 1)
            other += other >= a[v]
        levels.append((a[v], other))
    out = np.zeros(shape, dtype=np.int64)
    for corner in product((0, 1), repeat=len(shape)):
        turns = sum(c and max(two) < n - 1 for c, two, n in zip(corner, levels, shape, strict=True))
        out[tuple(two[c] for c, two in zip(corner, levels, strict=True))] = (-1) ** turns
    return out.ravel()


def plain_annealed(shape, up, down, price, needed, tables, heats):
    """`annealed`, with lists and whole energies."""
    chance = Chance()
    held = [list(np.flatnonzero(t)) for t in tables]
    for (hot, long), _ in product(heats, range(STEPS // SAME)):
        t = chance.below(len(tables))
        for _ in range(SAME):
            mine = held[t]
            if not mine:
                break
            a = mine[chance.below(len(mine))]
            b = mine[chance.below(len(mine))] if chance.below(4) else -1
            step = plain_box(shape, a, b, chance)
            step *= -1 if (tables[t, a] > 0) != (chance.below(8) == 0) else 1
            bar = -hot * log((chance.draw() + 1) / 2**32)
            tried = tables.copy()
            tried[t] += step
            legal = np.all(tried[t] <= up) and np.all(tried[t] >= -down) and np.all(tried.any(axis=0) | ~needed)
            if legal and energy(tried, price, long) - energy(tables, price, long) <= bar:
                follow(mine, tables[t], tried[t], shape, a, step)
                tables[:] = tried


def follow(mine, old, new, shape, a, step):
    """What a move changes, in the order in which the compiled loop keeps it: corner by corner."""
    start = np.unravel_index(a, shape)
    places = np.array(np.unravel_index(np.flatnonzero(step), shape)).T
    away = [sum(int(p[v] != start[v]) << v for v in range(len(shape))) for p in places]
    for c in np.flatnonzero(step)[np.argsort(away)]:
        if old[c] == 0:
            mine.append(c)
        elif new[c] == 0:
            at = mine.index(c)
            mine[at] = mine[-1]
            mine.pop()


@pytest.mark.parametrize("seed", [1, 2])
def test_twin(seed):
    pattern, people, needed = pattern_of(seed)
    grid, things = Grid.of(LAYOUT), pattern.things
    place = grid.at[things.quantity]
    spread = [np.zeros(grid.size, dtype=f.dtype) for f in (things.up, things.down, 1.0 * people, needed)]
    for out, f in zip(spread, (things.up, things.down, people + 9.0, needed), strict=True):
        out[place] = f
    spread[2][place[things.primary]] = 0.0
    one = np.zeros((len(pattern.moves), grid.size), dtype=np.int64)
    one[:, place] = pattern.moves
    other, heats = one.copy(), np.array([[20.0, 0.1]])
    before = one.copy()
    assert annealed(grid.shape, grid.codes, *spread, one, heats) > 0
    plain_annealed(tuple(grid.shape), *spread, other, heats)
    np.testing.assert_array_equal(one, other)
    assert not np.array_equal(one, before)


def test_places_of_the_grid():
    counts = np.random.default_rng(3).integers(0, 9, SHAPE)
    grid = Grid.of(LAYOUT)
    np.testing.assert_array_equal(extended(counts)[grid.at], LAYOUT.sums(counts.ravel()))
    assert Grid.of(layout_of((3, 4), margins=[(0,), (1,)])) is None


def test_less_is_hidden_and_all_stays_protected():
    cheaper = 0
    for seed in range(6):
        pattern, people, needed = pattern_of(seed)
        grid, things = Grid.of(LAYOUT), pattern.things
        found = exchanged(grid, things, people, pattern.moves, needed, 2_000)
        if found is not None:
            cheaper += 1
            old, new = (m.any(axis=0) & ~things.primary for m in (pattern.moves, found))
            assert all(things.fits(move) for move in found)
            assert np.all(found.any(axis=0) | ~needed)
            assert new.sum() <= old.sum()
            assert people[new].sum() <= people[old].sum()
            assert (new.sum(), people[new].sum()) != (old.sum(), people[old].sum())
            np.testing.assert_array_equal(found, exchanged(grid, things, people, pattern.moves, needed, 2_000))
    assert cheaper >= 3


def test_what_is_too_large_or_empty_is_left():
    pattern, people, needed = pattern_of(1)
    grid = Grid.of(LAYOUT)
    assert exchanged(grid, pattern.things, people, pattern.moves[:0], needed, 2_000) is None
    assert (
        exchanged(
            grid, replace(pattern.things, quantity=pattern.things.quantity - 1), people, pattern.moves, needed, 2_000
        )
        is None
    )
