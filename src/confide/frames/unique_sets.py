"""Minimal unique sets of all records of a file at once: how many each record has of each size, and of each set.

The sets of `minimal_sets`, which asks for one record. Here sets of variables are taken in levels by their size, each
counted once for all records. Who is unique on a set is unique on every larger one, so that such a record agrees with
nobody there: it is neither asked again nor counted for others, and what is left to count becomes less with every level.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

from confide.core.errors import InputError
from confide.core.run.compile import compiled
from confide.frames.columns import F64, I64
from confide.frames.distinct import Distinct

ALL = 12
"""With more variables the largest size of a set must be stated."""
SETS = 10_000
"""Sets of variables at most."""

Words = NDArray[np.uint64]


@dataclass(frozen=True, eq=False)
class UniqueSets:
    """`by_size`: (d, largest) how many minimal unique sets of sizes 1, 2, ... each distinct row has; `of`: (n,) each
    record's distinct row. `sets`: sets that are minimal for some record, `count` for how many.
    """

    by_size: I64
    of: I64
    sets: tuple[tuple[int, ...], ...]
    count: I64
    unique: NDArray[np.bool_]

    @property
    def sizes(self) -> I64:
        """How many minimal unique sets of sizes 1, 2, ... the file has."""
        return np.asarray(self.by_size.sum(axis=0))


def unique_sets(
    codes: Sequence[I64], n: int, largest: int | None = None, missing_counts: bool = True, count: F64 | None = None
) -> UniqueSets:
    """Of n records with these codes, one array per variable, -1 for missing; `count`: how many records each stands for.

    `largest`: the largest size that is looked at (None: all). `missing_counts`: missing is a value like any other;
    otherwise a set with a missing value is never a record's, nor is the record counted there for others.

    >>> rows = np.array([[0, 0], [0, 1], [1, 1], [1, 1]])
    >>> found = unique_sets(list(rows.T), 4)
    >>> found.by_size[found.of].tolist(), found.sets, found.count.tolist()
    ([[1, 0], [0, 1], [0, 0], [0, 0]], ((1,), (0, 1)), [1, 1])
    """
    width = len(codes)
    top = check_sizes(width, largest)
    rows = Distinct.rows(list(codes), n, count)
    table = np.array([np.asarray(c)[rows.first] for c in codes], dtype=np.int64).reshape(width, len(rows)).T.copy()
    single = rows.count == 1
    known = _bits(table < 0) if not missing_counts else np.zeros((width, -(-len(rows) // 64)), dtype=np.uint64)
    by_size, found, many = np.zeros((len(rows), max(top, 1)), dtype=np.int64), list[tuple[int, ...]](), list[int]()
    place: dict[tuple[int, ...], int] = {(v,): v for v in range(width)}
    slots = np.empty(1 << max(int(2 * len(rows) - 1).bit_length(), 1), dtype=np.int64)
    for size in range(1, top + 1):
        sets = list(combinations(range(width), size))
        parents = [[place[s[:i] + s[i + 1 :] or s] for i in range(size)] for s in sets]
        kept = len(sets) if size < top else 1  # nothing reads who is done on the largest sets
        now, new = np.empty((kept, known.shape[1]), dtype=np.uint64), np.zeros(len(sets), dtype=np.int64)
        _level(table, single, np.array(sets), np.array(parents), known, now, slots, by_size[:, size - 1], new)
        known, place = now, {s: i for i, s in enumerate(sets)}
        found += [s for s, k in zip(sets, new, strict=True) if k]
        many += [int(k) for k in new if k]
    return UniqueSets(by_size, rows.of, tuple(found), np.array(many, dtype=np.int64), single[rows.of])


def check_sizes(width: int, largest: int | None) -> int:
    """The largest size of sets; refused where there would be too many of them.

    >>> check_sizes(6, None), check_sizes(20, 3)
    (6, 3)
    """
    if largest is None and width > ALL:
        fit = max(s for s in range(1, width + 1) if _sets(width, s) <= SETS or s == 1)
        raise InputError(
            f"With {width} variables there are {2.0**width:,.0f} sets of them; all are looked at for {ALL} variables "
            f"at most. Say the largest size of a set, such as largest={min(fit, 4)} (up to {fit} is possible here), or "
            "take fewer."
        )
    top = width if largest is None else min(largest, width)
    if _sets(width, top) > SETS:
        fit = max((s for s in range(1, width + 1) if _sets(width, s) <= SETS), default=0)
        raise InputError(
            f"With {width} variables there are {_sets(width, top):,} sets of up to {top}; {SETS:,} are looked at at "
            f"most. Say largest={max(fit, 1)}, or take fewer variables."
        )
    return top


def _sets(width: int, top: int) -> int:
    return sum(comb(width, s) for s in range(1, top + 1))


def _bits(flags: NDArray[np.bool_]) -> Words:
    """Columns of flags, (d, m), as rows of bits, (m, d / 64)."""
    padded = np.zeros((flags.shape[1], -(-flags.shape[0] // 64) * 64), dtype=bool)
    padded[:, : flags.shape[0]] = flags.T
    return np.packbits(padded, axis=1, bitorder="little").view(np.uint64)


@compiled
def _level(table, single, sets, parents, known, now, slots, by_size, new):  # type: ignore[no-untyped-def]
    """All sets of one size. `known`: a bit for each row that is done, for the sets one smaller; `now`: for these,
    or one row that each overwrites where none is asked for later."""
    rows, words, one = table.shape[0], known.shape[1], np.uint64(1)
    alone = np.empty(rows, dtype=np.bool_)
    left = np.empty(rows, dtype=np.int64)
    for q in range(sets.shape[0]):
        at = min(q, now.shape[0] - 1)
        for w in range(words):
            done = np.uint64(0)
            for p in range(parents.shape[1]):
                done |= known[parents[q, p], w]
            now[at, w] = done
        there = 0
        for r in range(rows):
            if not (now[at, r >> 6] >> np.uint64(r & 63)) & one:
                left[there] = r
                there += 1
        _alone(table, single, sets[q], left[:there], slots, alone)
        for i in range(there):
            r = left[i]
            if alone[r]:
                now[at, r >> 6] |= one << np.uint64(r & 63)
                by_size[r] += 1
                new[q] += 1


@compiled(inner=True)
def _alone(table, single, variables, left, slots, alone):  # type: ignore[no-untyped-def]
    """Which of the rows that are left are alone on some variables: a table of rows by a hash of their codes."""
    size = 2
    while size < 2 * len(left):
        size *= 2
    mask = np.uint64(size - 1)
    for s in range(size):
        slots[s] = -1
    for i in range(len(left)):
        r = left[i]
        alone[r] = single[r]
        key = np.uint64(0)
        for v in variables:
            key = (key ^ np.uint64(table[r, v])) * np.uint64(0x9E3779B97F4A7C15)
            key ^= key >> np.uint64(29)
        at = key & mask
        while slots[at] >= 0:
            other = slots[at]
            same = True
            for v in variables:
                if table[r, v] != table[other, v]:
                    same = False
                    break
            if same:
                alone[other] = False
                alone[r] = False
                break
            at = (at + np.uint64(1)) & mask
        if slots[at] < 0:
            slots[at] = r
