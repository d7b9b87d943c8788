"""The tree: splits of the fast grower are those of a plain search, and no division of categories is better."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from confide.protect.methods.synthesis.cart.grower import DEEPEST, grow
from confide.protect.methods.synthesis.cart.tree import impurity


def worth(y, classes):
    """What is left of the impurity, with the sign turned and without a constant: larger is better."""
    if not classes:
        return y.sum() ** 2 / len(y)
    return (np.bincount(y.astype(int), minlength=classes) ** 2).sum() / len(y)


def divisions(x, levels):
    """All ways to send values left: up to a value of a number, or any group of categories that holds the first."""
    here = np.unique(x)
    if not levels:
        return [x <= a for a in here[:-1]]
    rest = here[1:]
    return [np.isin(x, [here[0], *some]) for k in range(len(rest)) for some in combinations(rest, k)]


def best_gain(values, levels, y, classes, leaf):
    """The largest gain of any division of any predictor."""
    gains = [0.0]
    for x, many in zip(values, levels, strict=True):
        for left in divisions(x, many):
            if leaf <= left.sum() <= len(y) - leaf:
                gains.append(worth(y[left], classes) + worth(y[~left], classes) - worth(y, classes))
    return max(gains)


def paths(nodes, values):
    """The records of each node, from the definition of a node."""
    rows = {0: np.arange(values.shape[1])}
    for node, j in enumerate(nodes.feature):
        if j >= 0:
            x = values[j, rows[node]]
            left = nodes.goes[nodes.start[node] + x.astype(int)] if nodes.levels[j] else x <= nodes.limit[node]
            rows[nodes.child[node]], rows[nodes.child[node] + 1] = rows[node][left], rows[node][~left]
    return rows


def file(seed, n, classes, categories=4):
    rng = np.random.default_rng(seed)
    values = np.stack([rng.integers(0, 9, n) * 1.5, rng.integers(0, categories, n), rng.normal(size=n)]).astype(float)
    signal = values[0] / 5 + np.array([0.0, 2.0, -1.0, 1.0, 0.5])[values[1].astype(int)]
    if not classes:
        y = signal + rng.normal(size=n)
        return values, np.array([0, categories, 0]), y - y.mean()
    return values, np.array([0, categories, 0]), np.clip(np.round(signal + rng.normal(size=n)), 0, classes - 1)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10_000), classes=st.sampled_from([0, 2]), leaf=st.integers(1, 6))
def test_each_split_is_the_best_there_is(seed, classes, leaf):
    """Of numbers and of two classes no division is better, not even of 2^k groups of categories; and leaves are those
    nodes that no division improves, or that are too small to be divided."""
    values, levels, y = file(seed, 60, classes)
    least, split = 1e-8 * impurity(y, classes), 3 * leaf
    nodes = grow(values, levels, y, classes, leaf, split, least)
    for node, rows in paths(nodes, values).items():
        best = best_gain(values[:, rows], levels, y[rows], classes, leaf) if len(rows) >= split else 0.0
        if nodes.feature[node] < 0:
            assert best <= least * (1 + 1e-6) + 1e-9
            continue
        left = np.isin(rows, paths(nodes, values)[nodes.child[node]])
        gain = worth(y[rows][left], classes) + worth(y[rows][~left], classes) - worth(y[rows], classes)
        np.testing.assert_allclose(gain, best, rtol=1e-9)
        assert min(left.sum(), (~left).sum()) >= leaf


def test_many_classes_are_divided_nearly_as_well_as_can_be():
    """Categories are cut in the order of a principal component: on average nearly what the search of all groups has."""
    shares = []
    for seed in range(40):
        values, levels, y = file(seed, 200, 5, categories=5)
        values, levels = values[1:2], levels[1:2]
        nodes = grow(values, levels, y, 5, 5, 200, 0.0)
        left = np.isin(np.arange(200), paths(nodes, values)[1])
        gain = worth(y[left], 5) + worth(y[~left], 5) - worth(y, 5)
        shares.append(gain / best_gain(values, levels, y, 5, 5))
    assert max(shares) <= 1 + 1e-9
    assert np.mean(shares) > 0.98


def test_records_end_where_the_definition_leads():
    values, levels, y = file(3, 500, 0)
    nodes = grow(values, levels, y, 0, 5, 15, 0.0)
    found = nodes.ends(values)
    rows = paths(nodes, values)
    for node in nodes.leaves:
        assert np.array_equal(np.flatnonzero(found == node), np.sort(rows[node]))
    halfway = values.copy()
    halfway[0] += 0.7  # a value that the file does not have goes with the nearer one
    assert np.array_equal(nodes.ends(halfway), nodes.ends(values))


@pytest.mark.parametrize("classes", [0, 3])
def test_the_order_of_rows_does_not_matter(classes):
    values, levels, y = file(5, 300, classes)
    mixed = np.random.default_rng(1).permutation(300)
    ends = [grow(values[:, r], levels, y[r], classes, 5, 15, 0.0).ends(values) for r in (np.arange(300), mixed)]
    assert np.array_equal(*(np.unique(e, return_inverse=True)[1] for e in ends))


def test_no_tree_is_deeper_than_the_limit():
    n = 4000
    values = np.arange(n, dtype=float)[None]
    y = np.where(np.arange(n) % 2, 1.0, -1.0) * 2.0 ** -np.arange(n).clip(0, 900)  # each split cuts off one end
    nodes = grow(values, np.array([0]), y, 0, 1, 2, 0.0)
    depth = np.zeros(len(nodes.feature), dtype=int)
    for node, c in enumerate(nodes.child):
        if c >= 0:
            depth[c : c + 2] = depth[node] + 1
    assert depth.max() == DEEPEST
