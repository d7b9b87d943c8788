r"""Medians where records say sets of values that follow one another, without writing laws out for all values.

A law has a weight on every set, shared inside it as is believed,

.. math:: p(y) = W_c\, \frac{e(y)}{\sum_{v \in c} e(v)}, \qquad y \in c.

Sums of weights are those of all people of whom the same is known, and only the set in which a median lies, or the true
value, is looked at value by value. A set of which the person alone has a value says one point (`novel`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from confide.attack.learning.attributes.loss import TIE
from confide.attack.learning.attributes.people import Believed
from confide.attack.learning.attributes.support import Nodes
from confide.core.run.compile import compiled
from confide.frames.columns import F64, I64


@dataclass(frozen=True, eq=False)
class Sets:
    """Sets of nodes in rising order: `order`: their numbers as records have them; `first`, `last`: the nodes of each;
    `several`: those with more than one; `point`: what a set says of who alone is in it. `runs` (6 arrays): parts of
    sets in one bin, and `start`, where those of each set begin; `gone`: the number of the set of missing ones, or -1.
    """

    order: I64
    first: I64
    last: I64
    several: I64
    point: F64
    run_bin: I64
    run_share: F64
    run_moment: F64
    start: I64
    gone: int

    @classmethod
    def of(cls, code: I64, many: int, point: F64, nodes: Nodes) -> Sets | None:
        """`code`: each node's set, missing last; None where sets do not follow one another, or one has no node."""
        used = np.flatnonzero(code[:-1] >= 0)
        mine = code[used]
        edge = np.flatnonzero(np.diff(mine, prepend=-1))
        order, gone = mine[edge], int(code[-1])
        if len(np.unique(order)) < len(order) or len(order) + (gone >= 0) < many or not (nodes.count > 0).all():
            return None
        stop = np.append(edge[1:], len(used))
        if not np.array_equal(used[stop - 1] - used[edge] + 1, stop - edge):
            return None
        place = np.empty(many, dtype=np.int64)
        place[order] = np.arange(len(order))
        keys = place[mine] * (int(nodes.bin.max(initial=0)) + 1) + nodes.bin[used]
        run = np.flatnonzero(np.diff(keys, prepend=-1))
        share = nodes.share[used]
        return cls(
            order, used[edge], used[stop - 1] + 1, np.flatnonzero(stop - edge > 1), point[order], nodes.bin[used][run],
            _sums(share, run), _sums(share * nodes.values[used], run),
            np.append(np.searchsorted(run, edge), len(run)), gone,
        )  # fmt: skip

    def places(self, sets: I64) -> I64:
        """Numbers of sets as places in rising order; their number for that of missing ones, -1 for none."""
        back = np.full(len(self.order) + 2, -1)
        back[self.order] = np.arange(len(self.order))
        if self.gone >= 0:
            back[self.gone] = len(self.order)
        return np.where(sets >= 0, back[np.maximum(sets, 0)], -1)


def _sums(x: F64, begin: I64) -> F64:
    return np.add.reduceat(x, begin) if len(begin) else np.zeros(0)


@dataclass(frozen=True, eq=False)
class Read:
    """What is asked of laws, of each person: medians and the expected distance; medians without the own record; what
    lies at the true value, and below it among those that are there; the same without the own record; and missing."""

    guess: F64
    expected: F64
    other: F64
    p: F64
    p_other: F64
    below: F64
    missing: F64

    @classmethod
    def none(cls) -> Read:
        """Of nobody."""
        return cls(*np.zeros((7, 0)))

    @classmethod
    def joined(cls, parts: Sequence[Read]) -> Read:
        """Of several people after one another."""
        names = [f.name for f in fields(cls)]
        return cls(*(np.concatenate([getattr(x, n) for x in (*parts, cls.none())]) for n in names))


def read_sets(
    sets: Sets, nodes: Nodes, believed: Believed, weight: F64, of: I64, own: I64, mine: F64, novel: I64, place: I64
) -> Read:
    """`weight` (targets, sets): as records number them. By person: `of`, its target; `own`, the set that its record
    says (-1: none), of weight `mine`; `novel`: the set of which it alone has a value; `place`: of the true value."""
    w = np.ascontiguousarray(weight[:, sets.order])
    there = np.zeros(w.shape[1], dtype=bool)
    there[sets.several] = True
    value = np.where(there, 0.0, nodes.values[sets.first]) if len(sets.first) else np.zeros(0)
    upto, moment = (np.pad(np.cumsum(x, axis=1), ((0, 0), (1, 0))) for x in (w, w * value))
    gone = weight[:, sets.gone] if sets.gone >= 0 else np.zeros(len(w))
    n = len(of)
    out = np.full((6, n), np.nan)
    of_place = np.searchsorted(sets.last, place, side="right")
    _read_sets(
        (believed.bins, believed.at, believed.mass), (nodes.values, nodes.bin, nodes.share),
        (sets.first, sets.last, sets.several, sets.point, sets.run_bin, sets.run_share, sets.run_moment, sets.start),
        (w, upto, moment, gone), of, sets.places(own), mine, sets.places(novel), place, of_place, TIE, out,
    )  # fmt: skip
    whole = upto[:, -1] + gone
    return Read(out[0], out[1], out[2], out[3], out[4], out[5], (gone / np.maximum(whole, 1e-300))[of])


@compiled(inner=True)
def _believed(v, e, at, mass, bins, share):  # type: ignore[no-untyped-def]
    return mass if v == at else e[bins[v]] * share[v]


@compiled(inner=True)
def _within(c, e, at, mass, values, bins, share, first, last, run_bin, run_share, run_moment, start):  # type: ignore[no-untyped-def]
    """Belief in a set, and the same times values."""
    d, m = 0.0, 0.0
    for r in range(start[c], start[c + 1]):
        d += e[run_bin[r]] * run_share[r]
        m += e[run_bin[r]] * run_moment[r]
    if first[c] <= at < last[c]:
        more = mass - e[bins[at]] * share[at]
        d += more
        m += more * values[at]
    return d, m


@compiled(inner=True)
def _median(half, w, upto, lost, share_lost, novel, e, at, mass, nodes, sets):  # type: ignore[no-untyped-def]
    """Where sums reach a half, if a set has lost a share: the set, the value, and sums up to it within the set."""
    values, bins, share = nodes
    first, last, _, point, run_bin, run_share, run_moment, start = sets
    c, end = 0, len(w) - 1
    while c < end:
        mid = (c + end) >> 1
        if upto[mid + 1] - (share_lost if lost <= mid else 0.0) < half:
            c = mid + 1
        else:
            end = mid
    held = w[c] - (share_lost if lost == c else 0.0)
    if c == novel:
        return c, point[c], held, held * point[c]
    if last[c] - first[c] == 1:
        return c, values[first[c]], held, held * values[first[c]]
    before = upto[c] - (share_lost if lost < c else 0.0)
    d, _ = _within(c, e, at, mass, values, bins, share, first, last, run_bin, run_share, run_moment, start)
    below, sums = 0.0, 0.0
    for v in range(first[c], last[c]):
        here = held * _believed(v, e, at, mass, bins, share) / d
        below += here
        sums += here * values[v]
        if v == last[c] - 1 or not before + below < half:
            return c, values[v], below, sums
    return c, values[last[c] - 1], below, sums


@compiled(inner=True)
def _expected(g, c, held, sums, w, upto, moment, novel, e, at, mass, nodes, sets):  # type: ignore[no-untyped-def]
    """The sum of weights times distances to g, the lower median, which lies in set c."""
    values, bins, share = nodes
    first, last, several, point, run_bin, run_share, run_moment, start = sets
    whole, below = moment[len(w)], moment[c]
    more = mass - e[bins[at]] * share[at] if at >= 0 else 0.0
    for i in range(len(several)):
        k = several[i]
        if w[k] > 0:
            d, m = 0.0, 0.0  # as `_within` has it; so many calls would take longer than the sums
            for r in range(start[k], start[k + 1]):
                d += e[run_bin[r]] * run_share[r]
                m += e[run_bin[r]] * run_moment[r]
            if first[k] <= at < last[k]:
                d, m = d + more, m + more * values[at]
            part = w[k] * (point[k] if k == novel else m / d)
            whole += part
            below += part if k < c else 0.0
    if novel >= 0 and last[novel] - first[novel] == 1:
        part = w[novel] * (point[novel] - values[first[novel]])
        whole += part
        below += part if novel < c else 0.0
    return max(g * (2 * (upto[c] + held) - upto[len(w)]) + whole - 2 * (below + sums), 0.0)


@compiled(inner=True)
def _at_value(v, c, novel, e, at, mass, nodes, sets):  # type: ignore[no-untyped-def]
    """Shares of a set at one of its nodes, and below it."""
    values, bins, share = nodes
    first, last, _, point, run_bin, run_share, run_moment, start = sets
    if c == novel:
        return 1.0 if values[v] == point[c] else 0.0, 1.0 if point[c] < values[v] else 0.0
    d, _ = _within(c, e, at, mass, values, bins, share, first, last, run_bin, run_share, run_moment, start)
    below = 0.0
    for k in range(first[c], v):
        below += _believed(k, e, at, mass, bins, share)
    return _believed(v, e, at, mass, bins, share) / d, below / d


@compiled
def _read_sets(beliefs, nodes, sets, weights, of, own, mine, novel, place, of_place, tie, out):  # type: ignore[no-untyped-def]
    bins, ats, masses = beliefs
    w_t, upto_t, moment_t, gone_t = weights
    many, missing = w_t.shape[1], len(nodes[0])
    for u in range(len(of)):
        t = of[u]
        e, at, mass = bins[u], ats[u], masses[u]
        w, upto, moment = w_t[t], upto_t[t], moment_t[t]
        there, all_ = upto[many], upto[many] + gone_t[t]
        if there > 1e-12 * all_:
            c, low, held, sums = _median((0.5 - tie) * there, w, upto, many, 0.0, novel[u], e, at, mass, nodes, sets)
            _, high, _, _ = _median((0.5 + tie) * there, w, upto, many, 0.0, novel[u], e, at, mass, nodes, sets)
            g = 0.5 * (low + high)
            out[0, u] = g
            out[1, u] = _expected(g, c, held, sums, w, upto, moment, novel[u], e, at, mass, nodes, sets) / there
        left, rest = there - (mine[u] if 0 <= own[u] < many else 0.0), all_ - (mine[u] if own[u] >= 0 else 0.0)
        if left > 1e-12 * rest:
            lost = own[u] if own[u] >= 0 else many
            _, low, _, _ = _median((0.5 - tie) * left, w, upto, lost, mine[u], novel[u], e, at, mass, nodes, sets)
            _, high, _, _ = _median((0.5 + tie) * left, w, upto, lost, mine[u], novel[u], e, at, mass, nodes, sets)
            out[2, u] = 0.5 * (low + high)
        out[3, u], out[4, u] = 0.0, 0.0
        c = of_place[u]
        if place[u] == missing:
            out[3, u] = gone_t[t] / all_
            out[4, u] = (gone_t[t] - (mine[u] if own[u] == many else 0.0)) / rest
        elif place[u] >= 0:
            out[5, u] = upto[c] / there
            if c < many and place[u] >= sets[0][c]:
                here, below = _at_value(place[u], c, novel[u], e, at, mass, nodes, sets)
                out[3, u] = w[c] * here / all_
                out[4, u] = (w[c] - (mine[u] if own[u] == c else 0.0)) * here / rest
                out[5, u] += w[c] * below / there
