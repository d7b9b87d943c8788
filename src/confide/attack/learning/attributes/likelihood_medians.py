r"""Medians where records are read through likelihoods, without writing laws out for all values.

With weights over what is believed of each record, :math:`m_j = w_j / \sum_v e(v) L_{jv}`, a law is

.. math:: p(v) = e(v) \sum_j m_j L_{jv}, \qquad p(b) = e_b \sum_j m_j \bar L_{jb}

where the second one is over bins, in which beliefs are e_b times shares. Only bins in which a median lies, or the true
value, are looked at value by value.
"""

from __future__ import annotations

import numpy as np

from confide.attack.learning.attributes.loss import TIE
from confide.attack.learning.attributes.people import Believed
from confide.attack.learning.attributes.set_medians import Read
from confide.attack.learning.attributes.support import Nodes
from confide.core.run.compile import compiled, summing
from confide.frames.columns import F64, I64


def read_likelihoods(
    believed: Believed, nodes: Nodes, m: F64, tables: tuple[F64, F64, F64], row: I64, own: I64, scale: F64, place: I64
) -> Read:
    """`m` (rows, records); `tables`: likelihoods (nodes and missing, records), their averages over bins (bins and
    missing, records), and these with those of values times likelihoods under them. By person: `row`, whose law; `own`:
    the record (-1: none) that takes `scale` times its likelihood away; `place`: of the true value."""
    turned, bins, both = tables
    many, n = len(bins), len(row)
    out = np.full((7, n), np.nan)
    sums = m @ both.T
    start = np.searchsorted(nodes.bin, np.arange(many))
    order = np.argsort(row, kind="stable")
    _read_likelihoods(
        (believed.bins, believed.at, believed.mass, m, sums),
        (nodes.values, nodes.bin, nodes.share, start), (turned, bins), row[order], own[order], scale[order],
        place[order], order, TIE, out,
    )  # fmt: skip
    return Read(*out)


@summing
def _dot(a, b):  # type: ignore[no-untyped-def]
    total = 0.0
    for j in range(len(a)):
        total += a[j] * b[j]
    return total


@compiled(inner=True)
def _fill(b, m, start, turned, q, there):  # type: ignore[no-untyped-def]
    """Sums over records of weights times likelihoods, of the nodes of a bin, unless they are there."""
    if not there[b]:
        there[b] = True
        for v in range(start[b], start[b + 1]):
            q[v] = _dot(m, turned[v])


@compiled(inner=True)
def _at(v, b, e, at, mass, share, q, turned, own, scale):  # type: ignore[no-untyped-def]
    """The law at a node, without the own record's part."""
    believed = mass if v == at else e[b] * share[v]
    return believed * max(q[v] - (scale * turned[v, own] if scale > 0 else 0.0), 0.0)


@compiled(inner=True)
def _reach(half, p, moment, e, at, mass, m, nodes, turned, q, there, own, scale):  # type: ignore[no-untyped-def]
    """The first node up to which a law (bins: `p`) has `half`, and the sums up to it."""
    values, _, share, start = nodes
    below, weighted, found = 0.0, 0.0, len(values) - 1
    for b in range(len(p)):
        if not below + p[b] < half:
            _fill(b, m, start, turned, q, there)
            for v in range(start[b], start[b + 1]):
                here = _at(v, b, e, at, mass, share, q, turned, own, scale)
                if here > 0:
                    below += here
                    weighted += here * values[v]
                    found = v
                    if not below < half:
                        break
            return found, below, weighted
        below += p[b]
        weighted += moment[b]
    return found, below, weighted


@compiled(inner=True)
def _upto(v, p, e, at, mass, m, nodes, turned, q, there):  # type: ignore[no-untyped-def]
    """The sum of a law before a node."""
    _, bins, share, start = nodes
    below, b = 0.0, bins[v]
    for k in range(b):
        below += p[k]
    _fill(b, m, start, turned, q, there)
    for k in range(start[b], v):
        below += _at(k, b, e, at, mass, share, q, turned, 0, 0.0)
    return below


@compiled
def _read_likelihoods(beliefs, nodes, tables, row, own, scale, place, order, tie, out):  # type: ignore[no-untyped-def]
    e_, at_, mass_, m_, sums_ = beliefs
    values, bins, share, _ = nodes
    turned, averages = tables
    last = e_.shape[1] - 1  # missing
    q, there = np.empty(len(values)), np.zeros(last, dtype=np.bool_)
    p, moment, less = np.empty(last), np.empty(last), np.empty(last)
    i, more, mine, gone, whole, guess, expected = -1, 0.0, -1, 0.0, 0.0, np.nan, np.nan
    for s in range(len(row)):
        u = order[s]
        if row[s] != i:
            i = row[s]
            e, at, mass, m = e_[i], at_[i], mass_[i], m_[i]
            there[:] = False
            for b in range(last):
                p[b], moment[b] = e[b] * sums_[i, b], e[b] * sums_[i, last + 1 + b]
            mine = -1
            if at >= 0:
                mine = bins[at]
                more = mass - e[mine] * share[at]
                _fill(mine, m, nodes[3], turned, q, there)
                p[mine] = max(p[mine] + more * q[at], 0.0)
                moment[mine] += more * q[at] * values[at]
            gone, whole, weighted, guess, expected = e[last] * sums_[i, last], 0.0, 0.0, np.nan, np.nan
            for b in range(last):
                whole += p[b]
                weighted += moment[b]
            if whole > 1e-12 * (whole + gone):
                low, held, upto = _reach(
                    (0.5 - tie) * whole, p, moment, e, at, mass, m, nodes, turned, q, there, 0, 0.0
                )
                high, _, _ = _reach((0.5 + tie) * whole, p, moment, e, at, mass, m, nodes, turned, q, there, 0, 0.0)
                guess = 0.5 * (values[low] + values[high])
                expected = max((guess * (2 * held - whole) + weighted - 2 * upto) / whole, 0.0)
        j, lost = max(own[s], 0), scale[s] if own[s] >= 0 else 0.0
        left, rest = 0.0, gone - lost * e[last] * averages[last, j]
        for b in range(last):
            taken = lost * e[b] * averages[b, j]
            if b == mine:
                taken += lost * more * turned[at, j]
            less[b] = max(p[b] - taken, 0.0)
            left += less[b]
        out[0, u], out[1, u], out[2, u] = guess, expected, guess
        if lost > 0:
            out[2, u] = np.nan
            if left > 1e-12 * (left + rest):
                low, _, _ = _reach((0.5 - tie) * left, less, moment, e, at, mass, m, nodes, turned, q, there, j, lost)
                high, _, _ = _reach((0.5 + tie) * left, less, moment, e, at, mass, m, nodes, turned, q, there, j, lost)
                out[2, u] = 0.5 * (values[low] + values[high])
        every, others = max(gone + whole, 1e-300), max(left + rest, 1e-300)
        out[3, u], out[4, u], out[6, u] = 0.0, 0.0, gone / every
        v = place[s]
        if v == len(values):
            out[3, u], out[4, u] = out[6, u], rest / others
        elif v >= 0:
            out[5, u] = _upto(v, p, e, at, mass, m, nodes, turned, q, there) / max(whole, 1e-300)
            out[3, u] = _at(v, bins[v], e, at, mass, share, q, turned, 0, 0.0) / every
            out[4, u] = _at(v, bins[v], e, at, mass, share, q, turned, j, lost) / others
