r"""Medians where records are read through likelihoods, without writing laws out for all values.

With weights over what is believed of each record, :math:`m_j = w_j / \sum_v e(v) L_{jv}`, a law is

.. math:: p(v) = e(v) \sum_j m_j L_{jv}, \qquad p(b) = e_b \sum_j m_j \bar L_{jb}

where the second one is over bins, in which beliefs are e_b times shares. Of the bins in which a median lies, or the
true value, sums before each part of a few values are looked at, and then the values of one part.
"""

from __future__ import annotations

import numpy as np

from confide.attack.learning.attributes.likelihood_table import Table
from confide.attack.learning.attributes.loss import TIE
from confide.attack.learning.attributes.people import Believed
from confide.attack.learning.attributes.set_medians import Read
from confide.core.run.compile import compiled, summing
from confide.frames.columns import F64, I64


def read_likelihoods(believed: Believed, m: F64, table: Table, row: I64, own: I64, scale: F64, place: I64) -> Read:
    """`m` (rows, records). By person: `row`, whose law; `own`: the record (-1: none) that takes `scale` times its
    likelihood away; `place`: of the true value."""
    nodes = table.nodes
    out = np.full((7, len(row)), np.nan)
    order = np.argsort(row, kind="stable")
    begin, first = table.parts
    _read_likelihoods(
        (believed.bins, believed.at, believed.mass, m, table.summed(m)), (nodes.values, nodes.bin, nodes.share),
        (begin, np.append(begin[1:], len(nodes.values)), first), (*table.rows, *table.upto), table.by_record,
        row[order], own[order], scale[order], place[order], order, TIE, out,
    )  # fmt: skip
    return Read(*out)


@summing
def _dot(a, table, v, low, high):  # type: ignore[no-untyped-def]
    total = 0.0
    for j in range(low, high):
        total += a[j] * table[v, j]
    return total


@compiled(inner=True)
def _row_sum(v, m, table, window):  # type: ignore[no-untyped-def]
    """The sum over records of weights times a row."""
    return _dot(m, table, np.uint64(v), np.uint64(window[v, 0]), np.uint64(window[v, 1]))  # none counts from the end


@compiled(inner=True)
def _sum(v, m, table, window, kept, when, i):  # type: ignore[no-untyped-def]
    """The same; that of law i is kept."""
    if when[v] != i:
        when[v] = i
        kept[v] = _row_sum(v, m, table, window)
    return kept[v]


@compiled(inner=True)
def _at(v, b, law, share, turned, window, own, scale, room):  # type: ignore[no-untyped-def]
    """The law at a node, without the own record's part."""
    i, e, at, mass, m, _ = law
    believed = mass if v == at else e[b] * share[v]
    return believed * max(
        _sum(v, m, turned, window, room[0], room[1], i) - (scale * turned[v, own] if scale > 0 else 0.0), 0.0
    )


@compiled(inner=True)
def _before_part(k, b, law, nodes, parts, tables, own, scale, room):  # type: ignore[no-untyped-def]
    """The sum of a law over the nodes of bin b before its part k."""
    i, e, at, _, m, more = law
    if k == parts[2][b]:
        return 0.0
    turned, window, upto, before = tables
    below = e[b] * (_sum(k, m, upto, before, room[2], room[3], i) - (scale * upto[k, own] if scale > 0 else 0.0))
    if at >= 0 and nodes[1][at] == b and at < parts[0][k]:
        mine = _sum(at, m, turned, window, room[0], room[1], i)
        below += more * (mine - (scale * turned[at, own] if scale > 0 else 0.0))
    return max(below, 0.0)


@compiled(inner=True)
def _reach(half, p, law, nodes, parts, tables, own, scale, room):  # type: ignore[no-untyped-def]
    """The first node up to which a law (bins: `p`) has `half`, and the sum up to it; its bin and part."""
    below, last = 0.0, len(nodes[0]) - 1
    for b in range(len(p)):
        if not below + p[b] < half:
            k, end = parts[2][b], parts[2][b + 1] - 1
            while k < end:
                mid = (k + end + 1) >> 1
                if below + _before_part(mid, b, law, nodes, parts, tables, own, scale, room) < half:
                    k = mid
                else:
                    end = mid - 1
            while k >= parts[2][b]:  # once, but where sums in another order are a last bit less
                found, upto = -1, below + _before_part(k, b, law, nodes, parts, tables, own, scale, room)
                for v in range(parts[0][k], parts[1][parts[2][b + 1] - 1]):
                    here = _at(v, b, law, nodes[2], tables[0], tables[1], own, scale, room)
                    if here > 0:
                        upto += here
                        found = v
                        if not upto < half:
                            break
                if found >= 0:
                    return found, upto, b
                k -= 1
            return parts[1][parts[2][b + 1] - 1] - 1, below + p[b], b
        below += p[b]
    return last, below, len(p)


@compiled(inner=True)
def _moment(v, b, law, nodes, parts, tables, room):  # type: ignore[no-untyped-def]
    """The sum of a law times values over the nodes of bin b up to v."""
    i, e, at, _, m, more = law
    values, bins, share = nodes
    k, many = parts[2][b], len(parts[0])
    while parts[1][k] <= v:
        k += 1
    total = 0.0
    if k > parts[2][b]:
        total = e[b] * _row_sum(many + k, m, tables[2], tables[3])
        if at >= 0 and bins[at] == b and at < parts[0][k]:
            total += more * values[at] * _sum(at, m, tables[0], tables[1], room[0], room[1], i)
    for w in range(parts[0][k], v + 1):
        total += values[w] * _at(w, b, law, share, tables[0], tables[1], 0, 0.0, room)
    return total


@compiled(inner=True)
def _upto(v, p, law, nodes, parts, tables, room):  # type: ignore[no-untyped-def]
    """The sum of a law before a node."""
    below, b = 0.0, nodes[1][v]
    for k in range(b):
        below += p[k]
    part = parts[2][b]
    while parts[1][part] <= v:
        part += 1
    below += _before_part(part, b, law, nodes, parts, tables, 0, 0.0, room)
    for k in range(parts[0][part], v):
        below += _at(k, b, law, nodes[2], tables[0], tables[1], 0, 0.0, room)
    return below


@compiled
def _read_likelihoods(beliefs, nodes, parts, tables, averages, row, own, scale, place, order, tie, out):  # type: ignore[no-untyped-def]
    e_, at_, mass_, m_, sums_ = beliefs
    values, bins, share = nodes
    turned, window, upto, _ = tables
    last = e_.shape[1] - 1  # missing
    room = (
        np.empty(len(values)), np.full(len(values), -1), np.empty(len(upto) // 2), np.full(len(upto) // 2, -1),
    )  # fmt: skip
    p, moment, less = np.empty(last), np.empty(last), np.empty(last)
    i, more, mine, at, mass, gone, whole, guess, expected = -1, 0.0, -1, -1, 0.0, 0.0, 0.0, np.nan, np.nan
    e, m = e_[0], m_[0]
    for s in range(len(row)):
        u = order[s]
        if row[s] != i:
            i = row[s]
            e, at, mass, m = e_[i], at_[i], mass_[i], m_[i]
            for b in range(last):
                p[b], moment[b] = e[b] * sums_[i, 2 * b], e[b] * sums_[i, 2 * b + 1]
            mine, more = -1, 0.0
            if at >= 0:
                mine = bins[at]
                more = mass - e[mine] * share[at]
                here = _sum(at, m, turned, window, room[0], room[1], i)
                p[mine] = max(p[mine] + more * here, 0.0)
                moment[mine] += more * here * values[at]
            law = i, e, at, mass, m, more
            gone, whole, weighted, guess, expected = e[last] * sums_[i, 2 * last], 0.0, 0.0, np.nan, np.nan
            for b in range(last):
                whole += p[b]
                weighted += moment[b]
            if whole > 1e-12 * (whole + gone):
                low, held, b = _reach((0.5 - tie) * whole, p, law, nodes, parts, tables, 0, 0.0, room)
                high, _, _ = _reach((0.5 + tie) * whole, p, law, nodes, parts, tables, 0, 0.0, room)
                first = weighted
                if b < last:
                    first = _moment(low, b, law, nodes, parts, tables, room)
                    for k in range(b):
                        first += moment[k]
                guess = 0.5 * (values[low] + values[high])
                expected = max((guess * (2 * held - whole) + weighted - 2 * first) / whole, 0.0)
        law = i, e, at, mass, m, more
        j, lost = max(own[s], 0), scale[s] if own[s] >= 0 else 0.0
        left, rest = 0.0, gone - lost * e[last] * averages[j, last]
        for b in range(last):
            taken = lost * e[b] * averages[j, b]
            if b == mine:
                taken += lost * more * turned[at, j]
            less[b] = max(p[b] - taken, 0.0)
            left += less[b]
        out[0, u], out[1, u], out[2, u] = guess, expected, guess
        if lost > 0:
            out[2, u] = np.nan
            if left > 1e-12 * (left + rest):
                low, _, _ = _reach((0.5 - tie) * left, less, law, nodes, parts, tables, j, lost, room)
                high, _, _ = _reach((0.5 + tie) * left, less, law, nodes, parts, tables, j, lost, room)
                out[2, u] = 0.5 * (values[low] + values[high])
        every, others = max(gone + whole, 1e-300), max(left + rest, 1e-300)
        out[3, u], out[4, u], out[6, u] = 0.0, 0.0, gone / every
        v = place[s]
        if v == len(values):
            out[3, u], out[4, u] = out[6, u], rest / others
        elif v >= 0:
            out[5, u] = _upto(v, p, law, nodes, parts, tables, room) / max(whole, 1e-300)
            out[3, u] = _at(v, bins[v], law, share, turned, window, 0, 0.0, room) / every
            out[4, u] = _at(v, bins[v], law, share, turned, window, j, lost, room) / others
