r"""Medians where a record shows its owner's value or somebody's, without writing laws out for all values.

A law is what is believed, with a point where each record j lies, at value :math:`v_j` (same and different: the
likelihoods of showing the true value, and any other one),

.. math:: p(v) = A\, e(v) + \sum_{j: v_j = v} B_j, \qquad
    d_j = \text{diff}_j (1 - e(v_j)) + \text{same}_j\, e(v_j), \quad
    A = w_\text{absent} + \sum_j \frac{w_j}{d_j} \text{diff}_j, \quad
    B_j = \frac{w_j}{d_j} (\text{same}_j - \text{diff}_j)\, e(v_j)

so that one pass over records and one over bins is enough; only bins in which a median lies, or the true value, are
looked at value by value. A record whose value nobody else has says that value (`novel`): :math:`B_j = w_j`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from confide.attack.learning.attributes.loss import TIE
from confide.attack.learning.attributes.novel import FAR
from confide.attack.learning.attributes.people import Believed
from confide.attack.learning.attributes.set_medians import Read
from confide.attack.learning.attributes.support import Nodes
from confide.core.run.compile import compiled
from confide.frames.columns import F64, I64, Bools


@dataclass(frozen=True, eq=False)
class Shown:
    """Records that are somebody's value, in rising order of it: `at`, its node; `order`: their places among all;
    `back`: the place of each of all among these; `same`, `diff`. Records that show no value come first, at -1."""

    at: I64
    order: I64
    back: I64
    same: F64
    diff: F64

    @classmethod
    def of(cls, at: I64, same: F64, diff: F64) -> Shown:
        """Sorted."""
        order = np.argsort(at, kind="stable").astype(np.int64)
        back = np.empty_like(order)
        back[order] = np.arange(len(order))
        return cls(at[order], order, back, same[order], diff[order])


@dataclass(frozen=True, eq=False)
class Others:
    """Per person: the own record (-1: none) among all, its weight `mine`; the weight of absence, and `after` without
    the record; `fine`: whether any other record is left."""

    own: I64
    mine: F64
    absent: F64
    after: F64
    fine: Bools


def read_matches(
    believed: Believed, nodes: Nodes, shown: Shown, weight: F64, of: I64, others: Others, place: I64
) -> Read:
    """`weight` (targets, records); `of`: each person's row of it; `place`: of the true value, -1 for none. Nothing is
    missing."""
    n, many = believed.bins.shape
    share = np.bincount(nodes.bin, weights=nodes.share, minlength=many)
    moment = np.bincount(nodes.bin, weights=nodes.share * nodes.values, minlength=many)
    start, there = np.searchsorted(nodes.bin, np.arange(many)), np.maximum(shown.at, 0)
    own = np.where(others.own >= 0, shown.back[np.maximum(others.own, 0)], -1)
    out = np.zeros((7, n))
    out[5] = np.nan
    _read_matches(
        (believed.bins, believed.at, believed.mass), (nodes.values, nodes.bin, nodes.share, start, share, moment),
        (shown.at, nodes.bin[there], nodes.share[there], nodes.values[there], shown.same, shown.diff),
        np.ascontiguousarray(weight[:, shown.order]), of, own, others.mine, others.absent, others.after, others.fine,
        place, TIE, np.exp(FAR), out,
    )  # fmt: skip
    return Read(*out)


@compiled(inner=True)
def _sums(w, e, at, mass, records, certain, points, parts):  # type: ignore[no-untyped-def]
    """What records say beside beliefs: `points` of each, and the sum of the rest; `parts`, weights over beliefs."""
    node, bins, share, _, same, diff = records
    loose = 0.0
    for j in range(len(w)):
        here = e[bins[j]] * share[j]
        here = here if node[j] != at else mass
        here = here if node[j] >= 0 else 0.0
        between = diff[j] * (1.0 - here) + same[j] * here
        part = w[j] / (between if between > 1e-300 else 1e-300)
        parts[j] = part
        points[j] = part * (same[j] - diff[j]) * here
        loose += part * diff[j]
    for j in range(len(w)):
        if points[j] <= 0.0 and node[j] >= 0 and same[j] > certain * diff[j]:
            here = mass if node[j] == at else e[bins[j]] * share[j]
            if here <= 0.0:
                loose -= parts[j] * diff[j]
                parts[j], points[j] = 0.0, w[j]
    return loose


@compiled(inner=True)
def _reach(half, p, moment, a, e, at, mass, nodes, records, begin, points, lost, taken):  # type: ignore[no-untyped-def]
    """The first node up to which a law (bins: `p`) has `half`, and the sums up to it; the record `lost` has `taken`
    less."""
    values, _, share, start, _, _ = nodes
    node = records[0]
    below, weighted, found = 0.0, 0.0, len(values) - 1
    for b in range(len(p)):
        if not below + p[b] < half:
            j = begin[b]
            for v in range(start[b], start[b + 1]):
                here = a * (mass if v == at else e[b] * share[v])
                while j < len(node) and node[j] == v:
                    here += points[j] - (taken if j == lost else 0.0)
                    j += 1
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
def _at_truth(v, p, a, e, at, mass, nodes, records, begin, points, lost, taken):  # type: ignore[no-untyped-def]
    """The law at a node, and before it."""
    _, bins, share, start, _, _ = nodes
    node = records[0]
    below, b = 0.0, bins[v]
    for k in range(b):
        below += p[k]
    j, here = begin[b], 0.0
    for k in range(start[b], v + 1):
        here = a * (mass if k == at else e[b] * share[k])
        while j < len(node) and node[j] == k:
            here += points[j] - (taken if j == lost else 0.0)
            j += 1
        here = max(here, 0.0)
        if k < v:
            below += here
    return here, below


@compiled(inner=True)
def _in_bins(a, e, at, mass, nodes, p, moment):  # type: ignore[no-untyped-def]
    """Beliefs times a, added to sums over bins."""
    values, bins, share, _, whole, first = nodes
    for b in range(len(p)):
        p[b] += a * e[b] * whole[b]
        moment[b] += a * e[b] * first[b]
    if at >= 0:
        more = a * (mass - e[bins[at]] * share[at])
        p[bins[at]] += more
        moment[bins[at]] += more * values[at]


@compiled
def _read_matches(  # type: ignore[no-untyped-def]
    beliefs, nodes, records, weight, of, own, mine, absent, after, fine, place, tie, certain, out
):
    e_, at_, mass_ = beliefs
    values, _, _, start, _, _ = nodes
    node, bins, _, shown, _, diff = records
    last, many = e_.shape[1] - 1, weight.shape[1]
    points, parts, none = np.empty(many), np.empty(many), np.zeros(many)
    p, moment, q, other = np.empty(last), np.empty(last), np.empty(last), np.empty(last)
    begin = np.empty(last, dtype=np.int64)
    for b in range(last):
        begin[b] = np.searchsorted(node, start[b])
    for u in range(len(of)):
        e, at, mass = e_[u], at_[u], mass_[u]
        a = absent[u] + _sums(weight[of[u]], e, at, mass, records, certain, points, parts)
        p[:], moment[:] = 0.0, 0.0
        for j in range(many):
            if points[j] != 0.0:
                p[bins[j]] += points[j]
                moment[bins[j]] += points[j] * shown[j]
        q[:], other[:] = p, moment
        _in_bins(a, e, at, mass, nodes, p, moment)
        whole, weighted = 0.0, 0.0
        for b in range(last):
            whole += p[b]
            weighted += moment[b]
        low, held, upto = _reach((0.5 - tie) * whole, p, moment, a, e, at, mass, nodes, records, begin, points, -1, 0.0)
        high, _, _ = _reach((0.5 + tie) * whole, p, moment, a, e, at, mass, nodes, records, begin, points, -1, 0.0)
        guess = 0.5 * (values[low] + values[high])
        out[0, u] = guess
        out[1, u] = max((guess * (2 * held - whole) + weighted - 2 * upto) / whole, 0.0)
        if place[u] >= 0:
            here, below = _at_truth(place[u], p, a, e, at, mass, nodes, records, begin, points, -1, 0.0)
            out[3, u], out[5, u] = here / whole, below / whole
        # Without the own record; what is believed where no other is left.
        lost, taken, said = own[u], 0.0, points
        if fine[u]:
            a += after[u] - absent[u]
            if lost >= 0:
                a -= mine[u] / weight[of[u], lost] * parts[lost] * diff[lost] if parts[lost] > 0.0 else 0.0
                taken = mine[u] / weight[of[u], lost] * points[lost] if weight[of[u], lost] > 0.0 else 0.0
                q[bins[lost]] -= taken
        else:
            a, lost, said = 1.0, -1, none
            q[:] = 0.0
        _in_bins(a, e, at, mass, nodes, q, other)
        left = 0.0
        for b in range(last):
            q[b] = max(q[b], 0.0)
            left += q[b]
        low, _, _ = _reach((0.5 - tie) * left, q, other, a, e, at, mass, nodes, records, begin, said, lost, taken)
        high, _, _ = _reach((0.5 + tie) * left, q, other, a, e, at, mass, nodes, records, begin, said, lost, taken)
        out[2, u] = 0.5 * (values[low] + values[high])
        if place[u] >= 0:
            here, _ = _at_truth(place[u], q, a, e, at, mass, nodes, records, begin, said, lost, taken)
            out[4, u] = here / left
