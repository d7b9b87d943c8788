"""Values behind coarser labels, in few enough groups."""

from __future__ import annotations

import numpy as np

from confide.frames.columns import F64, I64, Bools
from confide.frames.distinct import Distinct


def grouped(value: I64, label: I64, ordered: bool, weight: F64 | None, most: int) -> I64:
    """Group of each value's code, at most so many behind one label: of numbers that lie together, about equally many
    records in each; of others, the commonest by themselves and the rest together. Groups are numbered label by label.

    `value`, `label`: codes of reference records; shape of the result: (codes,), -1 for codes that nobody has.
    """
    n = np.bincount(value, weights=weight).astype(float)
    codes = np.flatnonzero(n)
    of = np.zeros(len(n), dtype=np.int64)
    of[value] = label
    out = np.full(len(n), -1, dtype=np.int64)
    begun = 0
    for mine in _by_label(codes, of[codes]):
        group = np.arange(len(mine))
        if len(mine) > most:
            group = _even(n[mine], most) if ordered else _common(n[mine], most)
        out[mine] = begun + group
        begun += int(group.max()) + 1
    return out


def _by_label(codes: I64, label: I64) -> list[I64]:
    order = np.argsort(label, kind="stable")
    return np.split(codes[order], np.flatnonzero(np.diff(label[order])) + 1)


def _even(n: F64, most: int) -> I64:
    """Neighbours together, about equally many records in each group."""
    middle = np.cumsum(n) - 0.5 * n
    return np.unique(np.minimum((middle * most / n.sum()).astype(np.int64), most - 1), return_inverse=True)[1]


def _common(n: F64, most: int) -> I64:
    """The commonest by themselves, the rest as the last group."""
    out = np.full(len(n), most - 1)
    out[np.argsort(-n, kind="stable")[: most - 1]] = np.arange(most - 1)
    return out


def several(label: I64, group: I64) -> Bools:
    """Of each record, whether its label has several groups of values behind it; of a label that no released record has
    (-1), nothing is to be told apart."""
    pairs = Distinct.rows([label, group], len(label))
    return np.asarray((np.bincount(label[pairs.first] + 1, minlength=1)[label + 1] > 1) & (label >= 0))
