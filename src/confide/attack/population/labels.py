"""Labels as axes of a table of bounded size: codes, bins of codes, and each code's share of its bin."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from confide.frames.columns import F64, I64

CELLS = 320_000
"""Cells of a table at most."""
FINE = 128
"""Codes of one variable at most; others enter in bins."""
BROAD = 12
"""Numbers are put into bins first, down to this many, then categories."""
FEW = 5
"""Records per code or bin at least, on average."""
RARE, ENOUGH = 20, 20
"""Shares of codes with at most RARE records are smoothed, where at least ENOUGH codes have as many."""


@dataclass(frozen=True, eq=False)
class Axes:
    """Blocks as cells of a table of some `variables`, those that have more than one code or bin there, and its `sizes`.

    `cell`: each block's; `share`: each block's part of its cell, and `vague` the variance of that, relative to its
    square; `binned`: variables that enter in bins, or by their shares alone.
    """

    variables: tuple[int, ...]
    sizes: tuple[int, ...]
    cell: I64
    share: F64
    vague: F64
    binned: tuple[int, ...]

    @classmethod
    def of(cls, codes: Sequence[I64], count: F64, ordered: Sequence[bool]) -> Axes:
        """Of blocks with these codes and counts; `ordered`: where neighbouring codes are alike."""
        dense = [np.unique(c, return_inverse=True)[1].astype(np.int64) for c in codes]
        have = [int(c.max(initial=-1)) + 1 for c in dense]
        wanted = _sizes(have, ordered, int(count.sum()))
        binned = tuple(i for i, size in enumerate(have) if wanted[i] < size)
        share, vague = np.ones(len(count)), np.zeros(len(count))
        for i in binned:
            bin_of, part, more = _binned(np.bincount(dense[i], weights=count).astype(float), wanted[i], ordered[i])
            share, vague = share * part[dense[i]], vague + more[dense[i]]
            dense[i], have[i] = bin_of[dense[i]], int(bin_of.max()) + 1
        used = tuple(i for i, size in enumerate(have) if size > 1) or (0,)
        sizes = tuple(have[i] for i in used)
        return cls(used, sizes, np.ravel_multi_index([dense[i] for i in used], sizes), share, vague, binned)


def _sizes(have: Sequence[int], ordered: Sequence[bool], records: int) -> list[int]:
    """How many codes or bins each variable may have."""
    sizes = [min(s, FINE, max(records // FEW, 1)) for s in have]
    while math.prod(sizes) > CELLS:
        wide = [i for i, s in enumerate(sizes) if ordered[i] and s > BROAD] or range(len(sizes))
        at = max(wide, key=lambda i: sizes[i])
        sizes[at] = max(sizes[at] * 3 // 4, 1)
    return sizes


def _binned(count: F64, bins: int, ordered: bool) -> tuple[I64, F64, F64]:
    """The bin of each code, of about equal counts, each code's share of its bin, and how vague that is.

    Numbers: neighbours are put together; categories: those that are about as frequent.
    """
    order = np.arange(len(count)) if ordered else np.argsort(-count, kind="stable")
    middle = np.empty(len(count))
    middle[order] = np.cumsum(count[order]) - count[order] / 2
    bin_of = np.unique(np.floor(middle * (bins / count.sum())), return_inverse=True)[1].astype(np.int64)
    mean, vague = smoothed(count)
    return bin_of, mean / np.bincount(bin_of, weights=count)[bin_of], vague


def smoothed(count: F64) -> tuple[F64, F64]:
    """Expected counts of codes in another sample of the same size, by Good and Turing where codes are rare.

    Also the variance of their true means, relative to its square: Robbins' rule for the second moment.

    >>> smoothed(np.array([1.0] * 30 + [2.0] * 5 + [40.0]))[0][[0, 30, 35]]
    array([ 0.4,  2. , 40. ])
    """
    mean, vague = count.copy(), 1 / count
    for k in range(1, RARE + 1):
        at = count == k
        n, n1, n2 = (int((count == k + i).sum()) + (i > 0) for i in range(3))
        if n >= ENOUGH:
            mean[at] = (k + 1) * n1 / n
            vague[at] = max((k + 2) * n2 * n / ((k + 1) * n1 * n1) - 1, 0.0)
    return mean, vague
