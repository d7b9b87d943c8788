"""Small random tables and releases of every scheme, for tests that work everything out by enumeration."""

from __future__ import annotations

import numpy as np
from hypothesis import HealthCheck, assume, settings
from hypothesis import strategies as st

import confide as cf
from tests.helpers import brute

NAMES = ["a", "b", "c"]
SHAPES = [(2,), (3,), (4,), (2, 2), (2, 3), (3, 3), (2, 2, 2), (2, 2, 3)]
PAIRS = [(0, 1), (0, 2), (1, 2)]
MOST = 9

unhurried = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
few = settings(max_examples=20, deadline=None, suppress_health_check=unhurried)
some = settings(max_examples=40, deadline=None, suppress_health_check=unhurried)


# Random tables, schemes and margins


@st.composite
def counts_of(draw, shapes=tuple(SHAPES)):
    """A table of at most 9 people, often with empty cells."""
    shape = draw(st.sampled_from(shapes))
    size = int(np.prod(shape))
    people = draw(st.lists(st.integers(0, size - 1), min_size=1, max_size=MOST))
    return np.bincount(people, minlength=size).reshape(shape)


@st.composite
def structural_of(draw, counts):
    """No structural zeros, or some of the empty cells."""
    if draw(st.booleans()):
        return None
    marks = draw(st.lists(st.booleans(), min_size=counts.size, max_size=counts.size))
    return (counts == 0) & np.reshape(marks, counts.shape)


@st.composite
def margins_of(draw, dims):
    """Margins as axes: a name, or a list; and whether the cells are published as well."""
    lists = {
        1: [[()]],
        2: [[(0,)], [(1,)], [(0,), (1,)], [(0,), ()], [(1,), (0,), ()]],
        3: [PAIRS, PAIRS[:2], [*PAIRS, (0,)], [(0, 1), (2,)], [(0,), (1,), (2,)], [(1, 2), ()]],
    }[dims]
    margins = draw(st.sampled_from(["none", "total", "all", *lists]))
    return margins, margins == "none" or draw(st.booleans())


def spoken(margins):
    """Axes as names."""
    return margins if isinstance(margins, str) else [[NAMES[a] for a in axes] for axes in margins]


@st.composite
def scheme_of(draw, kind, cells=6):
    """A scheme of one kind and how the twin calls it; narrow intervals for many cells, as all tables are enumerated."""
    widest = 5 if cells < 8 else 3
    if kind == "exact":
        return cf.Exact(), {}
    if kind == "conventional":
        base, ties = draw(st.integers(2, widest)), draw(st.sampled_from(["up", "even"]))
        return cf.RoundCells(base, how="conventional", ties=ties), {"base": base, "ties": ties}
    if kind == "random":
        base = draw(st.integers(2, widest - 1))
        return cf.RoundCells(base, how="random"), {"base": base}
    if kind == "controlled":
        base, steps = draw(st.integers(2, widest - 1)), draw(st.integers(0, int(cells < 8)))
        return cf.ControlledRounding(base, steps=steps), {"base": base, "steps": steps}
    if kind == "small":
        base = draw(st.integers(2, widest))
        return cf.SmallCounts(base), {"base": base}
    if kind == "suppress":
        zeros, marks = draw(st.sampled_from(["hide", "show"])), draw(st.sampled_from(["apart", "same"]))
        least = 3 if (zeros, marks) == ("show", "apart") else 2  # a hidden count of 1 to 1 is no secret
        stated = {"below": draw(st.integers(least, widest)), "zeros": zeros, "marks": marks}
        return cf.Suppress(**stated), stated
    largest, variance = draw(st.sampled_from([(1, 0.5), (2, 1.0)][: 1 + (cells < 8)]))
    return cf.CellKey.of(largest=largest, variance=variance), {"largest": largest}


KINDS = ["exact", "conventional", "random", "controlled", "small", "suppress", "key"]
FLAT = tuple(s for s in SHAPES if len(s) < 3)


@st.composite
def releases(draw, kind, shapes=None):
    """A published table with all that the twin needs: counts, structural zeros, margins, scheme."""
    # in three dimensions an additive rounding need not exist
    counts = draw(counts_of(shapes or (FLAT if kind == "controlled" else tuple(SHAPES))))
    structural = draw(structural_of(counts))
    margins, cells = draw(margins_of(counts.ndim))
    scheme, options = draw(scheme_of(kind, counts.size))
    table = cf.Table(counts, names=NAMES[: counts.ndim], structural=structural)
    seed = draw(st.integers(0, 2**16))
    try:
        published = table.publish(scheme, margins=spoken(margins), cells=cells, seed=seed)
    except cf.InputError as error:
        if "Even with everything hidden" not in str(error):
            raise
        assume(False)  # nothing that may be hidden protects these few people
    return published, counts, structural, margins, cells, options


@st.composite
def any_release(draw):
    """Overlapping sets of cells with intervals round their sums: no structure that a fast path could lean on."""
    counts = draw(counts_of(((3,), (4,), (5,))))
    cell = st.integers(0, counts.size - 1)
    sets = draw(st.lists(st.sets(cell, min_size=1, max_size=4), min_size=1, max_size=6))
    slack = st.sampled_from([0, 0, 0, 1, 2])
    out = []
    for where in sets:
        total = int(counts[list(where)].sum())
        out.append((sorted(where), max(0, total - draw(slack)), total + draw(slack)))
    return counts, out


# Reading results


def claims(published):
    """What the release states: (cells, lower, upper) of every published sum."""
    sets = [frozenset(np.flatnonzero(row).tolist()) for row in published.layout.matrix.toarray()]
    uppers = [brute.finite(u) for u in published.upper]
    return list(zip(sets, (int(x) for x in published.lower), uppers, strict=True))


def enumerated(work, *args, **options):
    """What the twin finds; examples too large for it are left out."""
    try:
        return work(*args, **options)
    except brute.TooLarge:
        assume(False)


def risks(published, counts, **options):
    """SAP(0), ..., SAP(N) as exact fractions."""
    return list(published.attack(known=range(int(counts.sum()) + 1), **options).fractions)
