"""Compiled loops along the rows of laws: medians, and sums up to a place, in one pass without copies.

The order of additions is that of `np.cumsum`. Tests hold them to plain NumPy.
"""

from __future__ import annotations

import numpy as np

from confide.core.run.compile import compiled
from confide.frames.columns import F64, I64

FEW = 12
"""Groups up to which sums by group are a product of matrices."""


def medians(values: F64, p: F64, tie: float) -> tuple[F64, F64]:
    """The middle of the medians of each row of `p` (n, V) on rising `values`, and the expected absolute distance."""
    guess, expected = np.empty(len(p)), np.empty(len(p))
    if not len(values):
        return np.full(len(p), np.nan), np.full(len(p), np.nan)
    _medians(np.ascontiguousarray(values), p, tie, guess, expected)
    return guess, expected


def sums_upto(p: F64, of: I64, at: I64) -> F64:
    """The sum of row `of` of `p` before place `at`, of each of several, shape (n,)."""
    order = np.lexsort((at, of))
    out = np.empty(len(of))
    _sums_upto(p, of, at, order, out)
    return out


def medians_less(values: F64, p: F64, of: I64, at: I64, share: F64, tie: float) -> F64:
    """The middle of the medians of rows `of` of `p`, each of which has lost a `share` at one place (`at`), (n,)."""
    guess = np.full(len(of), np.nan)
    if len(values):
        order = np.argsort(of, kind="stable")
        _medians_less(np.ascontiguousarray(values), p, of, at, share, order, tie, np.empty(p.shape[1]), guess)
    return guess


def added_up(w: F64, kind: I64, count: F64, of: I64, many: int) -> F64:
    """Columns `kind` of `w` (n, kinds), each `count` times, added up by group `of`, shape (n, many)."""
    if many <= FEW:  # a product with how many records of each kind each group has
        held = np.bincount(kind * many + of, weights=count, minlength=w.shape[1] * many)
        return np.asarray(w @ held.reshape(w.shape[1], many))
    out = np.zeros((len(w), many))
    _added_up(w, kind, count, of, out)
    return out


@compiled
def _added_up(w, kind, count, of, out):  # type: ignore[no-untyped-def]
    for i in range(len(w)):
        for j in range(len(kind)):
            out[i, of[j]] += w[i, kind[j]] * count[j]


@compiled
def _medians(values, p, tie, guess, expected):  # type: ignore[no-untyped-def]
    last = len(values) - 1
    for i in range(len(p)):
        below, weighted = 0.0, 0.0
        low, high = -1, -1
        share, upto = 0.0, 0.0
        for v in range(last + 1):
            below += p[i, v]
            weighted += p[i, v] * values[v]
            if low < 0 and not below < 0.5 - tie:
                low, share, upto = v, below, weighted
            if high < 0 and not below < 0.5 + tie:
                high = v
        if low < 0:
            low, share, upto = last, below, weighted
        if high < 0:
            high = last
        g = 0.5 * (values[low] + values[high])
        guess[i] = g
        expected[i] = max(g * (2 * share - below) + weighted - 2 * upto, 0.0)


@compiled
def _sums_upto(p, of, at, order, out):  # type: ignore[no-untyped-def]
    row, done, total = -1, 0, 0.0
    for u in order:
        if of[u] != row:
            row, done, total = of[u], 0, 0.0
        while done < at[u]:
            total += p[row, done]
            done += 1
        out[u] = total


@compiled
def _medians_less(values, p, of, at, share, order, tie, upto, guess):  # type: ignore[no-untyped-def]
    row, last = -1, len(values) - 1
    for u in order:
        if of[u] != row:
            row, below = of[u], 0.0
            for v in range(last + 1):
                below += p[row, v]
                upto[v] = below
        left = upto[last] - share[u]
        low = _reaches(upto, (0.5 - tie) * left, share[u], at[u])
        high = _reaches(upto, (0.5 + tie) * left, share[u], at[u])
        guess[u] = 0.5 * (values[min(low, last)] + values[min(high, last)])


@compiled(inner=True)
def _reaches(upto, half, share, at):  # type: ignore[no-untyped-def]
    """The first place up to which there is `half`, if a share is missing from one place on."""
    under = np.searchsorted(upto, half)
    return under if under < at else max(at, np.searchsorted(upto, half + share))
