"""Walks over small lattices, against all nodes looked at one by one."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from confide.study.search.lattice.walk import Lattice, best_first, loss_of

SHAPES = st.lists(st.integers(1, 4), min_size=1, max_size=3).map(tuple)


@st.composite
def monotone_sets(draw: st.DrawFn) -> tuple[tuple[int, ...], set[tuple[int, ...]]]:
    """A lattice, and all nodes above some of its nodes."""
    shape = draw(SHAPES)
    nodes = list(itertools.product(*map(range, shape)))
    seeds = draw(st.lists(st.sampled_from(nodes), max_size=4))
    return shape, {n for n in nodes if any(all(a >= b for a, b in zip(n, s, strict=True)) for s in seeds)}


@given(monotone_sets())
def test_all_nodes_are_known_and_minimal_ones_found(case: tuple[tuple[int, ...], set[tuple[int, ...]]]) -> None:
    shape, good = case
    lattice = Lattice(shape, good.__contains__)
    lattice.settle()
    assert set(lattice.meeting()) == good
    below = {n: [(*n[:v], n[v] - 1, *n[v + 1 :]) for v in range(len(n)) if n[v]] for n in good}
    assert set(lattice.minimal()) == {n for n in good if not any(b in good for b in below[n])}
    assert set(lattice.minimal()) <= {n for n, met in lattice.visited.items() if met}


@given(SHAPES, st.data())
def test_best_first_is_best_for_any_condition(shape: tuple[int, ...], data: st.DataObject) -> None:
    nodes = list(itertools.product(*map(range, shape)))
    good = set(data.draw(st.lists(st.sampled_from(nodes), max_size=6)))
    steps = [data.draw(st.lists(st.integers(0, 3), min_size=k, max_size=k)) for k in shape]
    losses = [np.cumsum([0, *s[1:]]).astype(float) for s in steps]
    found, before = best_first(Lattice(shape, good.__contains__, monotone=False), losses)
    least = min((loss_of(n, losses) for n in good), default=None)
    assert set(found) == {n for n in good if loss_of(n, losses) == least}
    assert before <= len(nodes)
