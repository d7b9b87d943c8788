"""Earth mover's distances between the values of each class and those of the file, from sparse counts.

Notation: p the shares in a class, q those of the file, m values; P and Q cumulated. A class has few of the m values,
so sums over all values are taken over those that it has and over runs in between, never value by value.
"""

from __future__ import annotations

import numpy as np

from confide.frames.columns import F64, I64
from confide.measure.risk.file_risks.sensitive import Classes
from confide.measure.risk.file_risks.value_trees import ValueTree

CELLS = 1 << 22
"""Cells of a table of classes and values that is held at a time."""


def shares(classes: Classes) -> F64:
    """The share of each entry in its class."""
    return np.asarray(classes.count / classes.valued[classes.place])


def equal_distance(classes: Classes) -> F64:
    """Half the sum of absolute differences of shares: sum over values of the class of max(p - q, 0), shape (d,)."""
    more = np.maximum(shares(classes) - classes.overall[classes.value], 0.0)
    return np.bincount(classes.place, weights=more, minlength=len(classes.size)).astype(np.float64)


def ordered_distance(classes: Classes) -> F64:
    """sum_j |P_j - Q_j| / (m - 1), shape (d,).

    P is constant between the values that a class has, and Q rises: where a run of values crosses P is found by
    bisection, and sums of Q are differences of cumulated sums. O(entries log m), where value by value it is O(d m).
    """
    cumulated = np.cumsum(classes.overall)
    sums = np.concatenate([[0.0], np.cumsum(cumulated)])
    counted = np.concatenate([[0.0], np.cumsum(classes.count)])  # whole numbers: exact
    first = np.searchsorted(classes.place, np.arange(len(classes.size)))
    filled = np.flatnonzero(classes.valued > 0)
    level = (counted[1:] - counted[first][classes.place]) / classes.valued[classes.place]
    end = np.append(classes.value[1:], classes.levels)
    last = np.append(classes.place[1:] != classes.place[:-1], True)
    end[last] = classes.levels
    total = np.bincount(
        classes.place, weights=_run(level, classes.value, end, cumulated, sums), minlength=len(classes.size)
    )
    total[filled] += sums[classes.value[first[filled]]]  # before its first value P is 0
    return np.asarray(total / (classes.levels - 1))


def _run(level: F64, start: I64, end: I64, cumulated: F64, sums: F64) -> F64:
    """sum over j from start to end - 1 of |level - Q_j|."""
    cross = np.clip(np.searchsorted(cumulated, level), start, end)
    below = level * (cross - start) - (sums[cross] - sums[start])
    above = sums[end] - sums[cross] - level * (end - cross)
    return np.asarray(below + above)


def hierarchical_distance(classes: Classes, tree: ValueTree) -> F64:
    """sum over inner nodes of height / H times min(surplus, deficit) of their children, shape (d,).

    Masses are moved inside of a node as far as they cancel; the rest goes on to the node above. `tree` has the nodes of
    each height, level by level from the leaves.
    """
    out = np.zeros(len(classes.size))
    step = max(CELLS // classes.levels, 1)
    for low in range(0, len(out), step):
        out[low : low + step] = _moved(classes, tree, low, min(low + step, len(out)))
    return out


def _moved(classes: Classes, tree: ValueTree, low: int, high: int) -> F64:
    """The same for the classes from low to high - 1."""
    ends = np.searchsorted(classes.place, [low, high])
    mine = slice(*ends)
    extra = np.zeros((high - low, classes.levels))
    extra[classes.place[mine] - low, classes.value[mine]] = shares(classes)[mine]
    extra = np.where((classes.valued[low:high] > 0)[:, None], extra - classes.overall, 0.0)
    total = np.zeros(high - low)
    for height, parent in enumerate(tree.parents, 1):
        up, more = (np.zeros((high - low, int(parent.max()) + 1)) for _ in range(2))
        for child, node in enumerate(parent):
            more[:, node] += np.maximum(extra[:, child], 0.0)
            up[:, node] += extra[:, child]
        total += height / tree.height * np.minimum(more, more - up).sum(axis=1)  # deficit = surplus - balance
        extra = up
    return total
