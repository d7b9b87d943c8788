r"""Medians of beliefs that are the same for all values of a bin up to shares, without writing them out for all values.

A belief in bins, e_b, times the share of each value within its bin; at one value per person, its own, a stated mass.
Sums over whole bins need one number each,

.. math:: \sum_{v \in b} e_b s_v = e_b S_b, \qquad \sum_{v \in b} e_b s_v v = e_b M_b,

and only the bin in which the median lies is looked at value by value.
"""

from __future__ import annotations

import numpy as np

from confide.attack.learning.attributes.people import Believed
from confide.attack.learning.attributes.support import Nodes
from confide.core.run.compile import compiled
from confide.frames.columns import F64


def bin_medians(found: Believed, nodes: Nodes, tie: float) -> tuple[F64, F64]:
    """The middle of the medians on the values that are there, and the expected absolute distance, shape (n,) each; NaN
    where all is missing."""
    n, many = found.bins.shape
    guess, expected = np.full(n, np.nan), np.full(n, np.nan)
    if len(nodes.values):
        share = np.bincount(nodes.bin, weights=nodes.share, minlength=many)
        moment = np.bincount(nodes.bin, weights=nodes.share * nodes.values, minlength=many)
        start = np.searchsorted(nodes.bin, np.arange(many))
        given = found.bins, found.at, found.mass, nodes.values, nodes.bin, nodes.share, start, share, moment
        _bin_medians(*given, tie, guess, expected)
    return guess, expected


@compiled
def _bin_medians(e, at, mass, values, bins, share, start, whole, moment, tie, guess, expected):  # type: ignore[no-untyped-def]
    last = e.shape[1] - 1  # missing
    for i in range(len(e)):
        there = 1.0 - e[i, last]
        if there <= 1e-12:
            continue
        own, more = -1, 0.0
        if at[i] >= 0:
            own = bins[at[i]]
            more = mass[i] - e[i, own] * share[at[i]]
        below, weighted = 0.0, 0.0
        low, high, held, upto = -1, -1, 0.0, 0.0
        for b in range(last):
            mine = e[i, b] * whole[b] + (more if b == own else 0.0)
            if high < 0 and not below + mine < (0.5 - tie) * there:
                first, sums = below, weighted
                for v in range(start[b], start[b + 1]):
                    here = mass[i] if v == at[i] else e[i, b] * share[v]
                    first += here
                    sums += here * values[v]
                    if low < 0 and (v == start[b + 1] - 1 or not first < (0.5 - tie) * there):
                        low, held, upto = v, first, sums
                    if high < 0 and not first < (0.5 + tie) * there:
                        high = v
            below += mine
            weighted += e[i, b] * moment[b] + (more * values[at[i]] if b == own else 0.0)
        if low < 0:
            low, held, upto = len(values) - 1, below, weighted
        if high < 0:
            high = len(values) - 1
        g = 0.5 * (values[low] + values[high])
        guess[i] = g
        expected[i] = max((g * (2 * held - below) + weighted - 2 * upto) / there, 0.0)
