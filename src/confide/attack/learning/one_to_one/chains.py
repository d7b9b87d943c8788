r"""A sampler of matchings, for components too large for sums.

A step picks a target t. It lets go of its record h (or was absent) and takes one drawn from its own row of R, absence
with weight :math:`w_0` among them; whoever owned that record draws in the same way, and so on, until somebody, u,

| draws | what has happened | chance |
| --- | --- | --- |
| h | a cycle | :math:`(1 - q_{th}) / (1 - q_{uh})` |
| a record that is free | a path | 1; if t was absent :math:`w_0 / \rho(s + 1)` |
| absence | one pair less | :math:`\rho(s) / w_0`; if t was absent 1 |
| nothing: the walk stops | u gets h, or is absent | :math:`\bar R_{uh}\, q_{th} / (\bar R_{th}\, q_{uh})` |

with chances cut at 1, else all is undone. Here s is the number of pairs and :math:`\rho(s) = N - T - r + s` the weight
of breaking one; :math:`\bar R` are rows over their sums with :math:`w_0` (for absence, 1 over that sum). A walk stops
before u draws with chance

.. math:: q_{uh} = \kappa + (1 - \kappa) \min(1, \bar R_{uh} / \max_v \bar R_{vh})

where everybody has a record and no record is free, else with :math:`\kappa`. Walked backwards, from u to t, every walk
has the same chances but for those in the table, so that each kind is in balance with its reverse: a draw of j by u,
:math:`R_{uj} / Z_u`, answers one of j by whoever had it, and the R are those that the weight of the matching gains and
loses. Two matchings differ by cycles and paths, any of which may be walked, so that each leads to each.

In a sweep there are as many steps as targets. Targets t are picked from one window of neighbours after another, which
keeps what is needed at hand; a walk whose last one, u, lies outside is undone, since its reverse would begin there.
Where windows begin is drawn for every sweep.
"""

from __future__ import annotations

from math import lgamma
from typing import Any, NamedTuple

import numpy as np

from confide.core.run.compile import compiled
from confide.frames.columns import F64, I64


class Rows(NamedTuple):
    """What is drawn from. Edges of type a: start[a]..start[a+1]-1, by rising `col`, with `log_r` and `share`, one
    record's part of the row's sum with absence; `absent`: (A,) that of weight 1 of absence. `cut`, `other`: a draw
    falls on an edge of the row, and moves to `other` if its rest is not below `cut`."""

    start: I64
    col: I64
    log_r: F64
    share: F64
    absent: F64
    cut: F64
    other: I64


class Parts(NamedTuple):
    """Components: targets first[c]..first[c+1]-1 of types `type_of`, records of type b from begin[b] to begin[b+1]-1.
    `base`: N - T - r; `least`: the fewest pairs that the prior allows; `w0`: (C,) the weight with which absence is
    drawn; `stop`: (C,) the chance to stop anywhere; `peak`: (B,) the largest share of a type, or infinite where walks
    stop at the same chance everywhere; `wide`: targets of a window."""

    first: I64
    type_of: I64
    begin: I64
    base: F64
    least: I64
    w0: F64
    stop: F64
    peak: F64
    wide: int


class State(NamedTuple):
    """One chain. `edge`, `record`: (T,) of each target, -1 for none; `owner`: (r,) -1 for none; `pairs`: (C,);
    `draws`: (1,) the random numbers' state; `path`: (3, L) targets of a walk, their edges and records before."""

    edge: I64
    record: I64
    owner: I64
    pairs: I64
    draws: Any
    path: I64


@compiled(inner=True)
def uniform(draws):  # type: ignore[no-untyped-def]
    """A number between 0 and 1 by splitmix64; every chain has its own."""
    draws[0] += np.uint64(0x9E3779B97F4A7C15)
    z = draws[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return float(z >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@compiled(inner=True)
def find(values, lo, hi, wanted):  # type: ignore[no-untyped-def]
    """Where a number is among rising ones in lo..hi-1, -1 where it is not; at once where none is missing between."""
    end, guess = hi, lo + wanted - values[lo]
    if guess < lo:
        return -1
    if guess < hi:
        if values[guess] == wanted:
            return guess
        hi = guess
    while lo < hi:
        middle = (lo + hi) // 2
        if values[middle] < wanted:
            lo = middle + 1
        else:
            hi = middle
    return lo if lo < end and values[lo] == wanted else -1


@compiled
def aliases(start, weight, cut, other, room):  # type: ignore[no-untyped-def]
    """Walker's tables: each place of a row is drawn as often, and stays or moves to `other` so that weights are met."""
    for a in range(len(start) - 1):
        lo, hi = start[a], start[a + 1]
        total = 0.0
        for i in range(lo, hi):
            total += weight[i]
        small, large = 0, 0
        for i in range(lo, hi):
            cut[i], other[i] = weight[i] * (hi - lo) / total, i
            if cut[i] < 1.0:
                room[0, small] = i
                small += 1
            else:
                room[1, large] = i
                large += 1
        while small > 0 and large > 0:
            small -= 1
            i, k = room[0, small], room[1, large - 1]
            other[i] = k
            cut[k] -= 1.0 - cut[i]
            if cut[k] < 1.0:
                large -= 1
                room[0, small] = k
                small += 1
        for i in range(small):
            cut[room[0, i]] = 1.0
        for i in range(large):
            cut[room[1, i]] = 1.0


@compiled(inner=True)
def breaking(c, s, parts):  # type: ignore[no-untyped-def]
    """The weight of breaking one of s pairs of a component."""
    return parts.base[c] + s if s > parts.least[c] else 0.0


@compiled(inner=True)
def stopping(c, b, share, parts):  # type: ignore[no-untyped-def]
    """The chance to stop at a target with this share of the record that is to be had."""
    close = share / parts.peak[b]
    return parts.stop[c] + (1.0 - parts.stop[c]) * (close if close < 1.0 else 1.0)


@compiled(inner=True)
def draw(a, rows, draws):  # type: ignore[no-untyped-def]
    """An edge of type a."""
    lo, hi = rows.start[a], rows.start[a + 1]
    x = uniform(draws) * (hi - lo)
    edge = min(lo + int(x), hi - 1)
    return rows.other[edge] if x - (edge - lo) >= rows.cut[edge] else edge


@compiled(inner=True)
def put(t, edge, j, state):  # type: ignore[no-untyped-def]
    """Target t gets a record by an edge, or none (-1)."""
    state.edge[t], state.record[t] = edge, j
    if j >= 0:
        state.owner[j] = t


@compiled(inner=True)
def undo(many, state):  # type: ignore[no-untyped-def]
    """All as it was before a walk of so many, whose last one's record has its owner back."""
    for k in range(many - 1, -1, -1):
        put(state.path[0, k], state.path[1, k], state.path[2, k], state)


@compiled(inner=True)
def drawn_record(b, parts, draws):  # type: ignore[no-untyped-def]
    """One of the records of type b."""
    j = parts.begin[b]
    wide = parts.begin[b + 1] - j
    return j + int(uniform(draws) * wide) if wide > 1 else j


@compiled(inner=True)
def walk(t, c, lo, hi, rows, parts, state):  # type: ignore[no-untyped-def]
    """One walk from target t of component c, which must end in lo..hi-1."""
    start, h, w0, s = state.edge[t], state.record[t], parts.w0[c], state.pairs[c]
    u, edge, j, many, near = t, start, h, 0, -1  # u had record j by this edge
    q, b = parts.stop[c], 0
    if start >= 0:
        state.owner[h], b = -1, rows.col[start]
        q = stopping(c, b, rows.share[start], parts)
    first = q
    while many < state.path.shape[1]:
        a = parts.type_of[u]
        inside = lo <= u < hi
        if many > 0:
            if start >= 0:
                near = find(rows.col, rows.start[a], rows.start[a + 1], b)
                share = rows.share[near] if near >= 0 else 0.0
                q = stopping(c, b, share, parts)
                chance = share * first / (rows.share[start] * q)
            else:
                chance = rows.absent[a] / rows.absent[parts.type_of[t]]
            if uniform(state.draws) < q:
                if inside and uniform(state.draws) < chance:
                    put(u, near, h, state)
                    return
                break
        state.path[0, many], state.path[1, many], state.path[2, many] = u, edge, j
        many += 1
        if w0 > 0.0 and uniform(state.draws) < w0 * rows.absent[a]:
            if not inside or (start >= 0 and uniform(state.draws) * w0 >= breaking(c, s, parts)):
                undo(many, state)
            else:
                put(u, -1, -1, state)
                state.pairs[c] -= start >= 0
            return
        new = draw(a, rows, state.draws)
        j = drawn_record(rows.col[new], parts, state.draws)
        o = state.owner[j]
        if o < 0:
            if start < 0:
                good = uniform(state.draws) * breaking(c, s + 1, parts) < w0
            else:
                good = q >= first or uniform(state.draws) * (1.0 - q) < 1.0 - first
            if good and inside:
                put(u, new, j, state)
                state.pairs[c] += start < 0
            else:
                undo(many, state)
            return
        put(u, new, j, state)
        u, edge = o, state.edge[o]
    state.owner[j] = u
    undo(many, state)


@compiled(inner=True)
def sweep(c, rows, parts, state):  # type: ignore[no-untyped-def]
    """As many walks as a component has targets, window after window."""
    first, last = parts.first[c], parts.first[c + 1]
    lo, hi = first, last
    if last - first > parts.wide:
        hi = first + 1 + int(uniform(state.draws) * parts.wide)
    while lo < last:
        for _ in range(lo, hi):
            walk(lo + int(uniform(state.draws) * (hi - lo)), c, lo, hi, rows, parts, state)
        lo, hi = hi, min(hi + parts.wide, last)


@compiled
def sweeps(many, rows, parts, state, right, counts, away, trace, overlap):  # type: ignore[no-untyped-def]
    """So many sweeps of all components.

    After each sweep `counts` (E,) and `away` (A,) add up where targets are; `trace`: (C, many) the log weight of each
    component; `overlap`: (C, many) the sum over its targets of `right` (E,).
    """
    for k in range(many):
        for c in range(len(parts.first) - 1):
            sweep(c, rows, parts, state)
            same, log_w = 0.0, 0.0
            for t in range(parts.first[c], parts.first[c + 1]):
                edge = state.edge[t]
                if edge >= 0:
                    counts[edge] += 1
                    same += right[edge]
                    log_w += rows.log_r[edge]
                else:
                    away[parts.type_of[t]] += 1
            trace[c, k] = log_w - lgamma(parts.base[c] + max(state.pairs[c], parts.least[c]) + 1.0)
            overlap[c, k] = same
