"""How many records are alike on some keys, by each rule for missing values.

Notation: z_jv the released value of record j on key v, t_iv the true value of record i's person.

    own       z_i = z_j, where missing is a value like any other
    person    z_jv missing or z_jv = t_iv, for all v
    wildcard  z_iv missing or z_jv missing or z_iv = z_jv, for all v

Records are counted by their patterns of missing keys: one of pattern P agrees with one of pattern Q where their values
are equal on the keys outside of both, which a table of counts tells. So n records with p patterns take O(n p) steps,
and no two records are compared.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from confide.core.errors import InputError
from confide.frames.columns import F64, I64
from confide.frames.distinct import Distinct

MOST = 62
"""Keys that one integer has room for."""
OWN, PERSON, WILDCARD = "own", "person", "wildcard"
RULES = {
    OWN: "a missing value is a category of its own",
    PERSON: "a record counts for a person if its values that are there are the person's true ones",
    WILDCARD: "a missing value agrees with every value",
}
"""The rules for missing values, in words."""


def alike(keys: Sequence[I64], n: int, count: F64 | None = None) -> F64:
    """How many records have each record's values, missing as a value; shape (n,). `count`: records that each row is.

    >>> alike([np.array([0, 0, -1, -1])], 4).tolist()
    [2.0, 2.0, 2.0, 2.0]
    """
    classes = Distinct.rows(keys, n, count)
    return classes.count[classes.of]


def compatible(asked: Sequence[I64], records: Sequence[I64], weight: F64 | None = None, open_asked: bool = True) -> F64:
    """How many records agree with each one that is asked about, where missing (-1) of a record agrees with anything.

    `open_asked`: whether a missing value of the one asked about agrees with anything as well; else with missing alone.
    `weight`: how much each record counts. Shape: that of a column of `asked`.

    >>> a, x = np.array([0, 0, 0, 1, -1]), np.array([0, -1, 1, 0, 0])
    >>> compatible([a, x], [a, x]).tolist()
    [3.0, 4.0, 2.0, 2.0, 4.0]
    """
    if len(records) > MOST:
        raise InputError(f"Patterns of missing values are counted for {MOST} keys at most, not {len(records)}.")
    own, theirs = Distinct.rows(asked, len(asked[0])), Distinct.rows(records, len(records[0]), weight)
    mine, known = [c[own.first] for c in asked], [c[theirs.first] for c in records]
    patterns = _patterns(mine) if open_asked else np.zeros(len(own), dtype=np.int64)
    total = np.zeros(len(own))
    for p, rows in _by(patterns):
        closed = _patterns(known) | p
        for union, there in _by(closed):
            kept = [v for v in range(len(mine)) if not union >> v & 1]
            total[rows] += _matched([mine[v][rows] for v in kept], [known[v][there] for v in kept],
                                    theirs.count[there], len(rows))  # fmt: skip
    return total[own.of]


def _patterns(keys: Sequence[I64]) -> I64:
    """Which keys are missing, a bit each."""
    bits = np.zeros(len(keys[0]), dtype=np.int64)
    for v, codes in enumerate(keys):
        bits |= (codes < 0).astype(np.int64) << v
    return bits


def _by(patterns: I64) -> list[tuple[int, I64]]:
    """The rows of each pattern."""
    order = np.argsort(patterns, kind="stable")
    known, first = np.unique(patterns[order], return_index=True)
    return [(int(p), rows) for p, rows in zip(known, np.split(order, first[1:]), strict=True)]


def _matched(asked: Sequence[I64], records: Sequence[I64], count: F64, n: int) -> F64:
    """How much weight the records have that equal each one asked about."""
    if not asked:
        return np.full(n, count.sum())
    both = Distinct.rows([np.concatenate(pair) for pair in zip(asked, records, strict=True)], n + len(count)).of
    weight = np.bincount(both[n:], weights=count, minlength=int(both.max()) + 1).astype(np.float64)
    return weight[both[:n]]
