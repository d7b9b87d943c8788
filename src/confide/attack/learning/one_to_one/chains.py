r"""A sampler of matchings, for components too large for sums.

The chain starts at the best assignment. One step: pick a target t, draw a record from its own row of R (absence with
weight :math:`w_0 = N - r`). With s pairs at present, where :math:`\rho(s) = N - T - r + s` is the weight of breaking
one,

| draw | what happens | chance |
| --- | --- | --- |
| a free record | t takes it | 1; from absence :math:`w_0 / \rho(s + 1)` |
| the record of o | they swap | :math:`R_{o,\text{old}} / R_{o,\text{new}}` |
| the record of o, t absent | t takes it, o becomes absent | :math:`Z_t / Z_o`, the rows' sums with :math:`w_0` |
| absence | t gives its record up | :math:`\rho(s) / w_0` |

with chances cut at 1; detailed balance holds for each pair of moves. Where the prior leaves no room (everybody is known
to be there), swaps alone need not connect all matchings if some R are 0: then one target more may be unplaced,
with a constant weight in the place of :math:`\rho` and :math:`w_0`, and only the states without it are counted.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from confide.core.run.compile import compiled
from confide.frames.columns import F64, I64


class Rows(NamedTuple):
    """What is drawn from. Edges of type a: start[a]..start[a+1]-1, by rising `col`, with `log_r`; `upto`: (E,) the
    cumulated shares of each row's records; `total`: (A,) the rows' sums without absence."""

    start: I64
    col: I64
    log_r: F64
    upto: F64
    total: F64


class Parts(NamedTuple):
    """Components: targets first[c]..first[c+1]-1 of types `type_of`, records of type b from begin[b] to begin[b+1]-1.
    `base`: N - T - r; `least`: the fewest pairs that the prior allows; `w0`: (C,) the weight with which absence is
    drawn; `hole`: (C,) that of breaking one pair more than allowed, 0 for never."""

    first: I64
    type_of: I64
    begin: I64
    base: F64
    least: I64
    w0: F64
    hole: F64


class State(NamedTuple):
    """One chain. `edge`, `record`: (T,) of each target, -1 for none; `owner`: (r,) -1 for none; `pairs`: (C,);
    `log_w`: (C,) log weight of the matching; `draws`: (1,) the random numbers' state."""

    edge: I64
    record: I64
    owner: I64
    pairs: I64
    log_w: F64
    draws: Any


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
    """The first place in lo..hi-1 of sorted values that is not below what is wanted."""
    while lo < hi:
        middle = (lo + hi) // 2
        if values[middle] < wanted:
            lo = middle + 1
        else:
            hi = middle
    return lo


@compiled(inner=True)
def breaking(c, s, parts):  # type: ignore[no-untyped-def]
    """The weight of breaking one of s pairs of a component."""
    if s > parts.least[c]:
        return parts.base[c] + s
    return parts.hole[c] if s == parts.least[c] else 0.0


@compiled(inner=True)
def give_up(t, c, rows, parts, state):  # type: ignore[no-untyped-def]
    """Target t leaves its record, if the prior lets it."""
    weight = breaking(c, state.pairs[c], parts)
    if weight <= 0.0 or uniform(state.draws) * parts.w0[c] >= weight:
        return
    state.log_w[c] += np.log(weight) - rows.log_r[state.edge[t]]
    state.owner[state.record[t]] = -1
    state.edge[t], state.record[t] = -1, -1
    state.pairs[c] -= 1


@compiled(inner=True)
def take_free(t, c, edge, j, rows, parts, state):  # type: ignore[no-untyped-def]
    """Target t takes a record that nobody has."""
    if state.edge[t] >= 0:
        state.owner[state.record[t]] = -1
        state.log_w[c] -= rows.log_r[state.edge[t]]
    else:
        weight = breaking(c, state.pairs[c] + 1, parts)
        if uniform(state.draws) * weight >= parts.w0[c]:
            return
        state.log_w[c] -= np.log(weight)
        state.pairs[c] += 1
    state.log_w[c] += rows.log_r[edge]
    state.edge[t], state.record[t], state.owner[j] = edge, j, t


@compiled(inner=True)
def take_owned(t, o, c, edge, j, rows, parts, state):  # type: ignore[no-untyped-def]
    """Target t takes the record of o, which gets that of t, or none."""
    a, mine = parts.type_of[o], state.edge[o]
    if state.edge[t] < 0:
        if uniform(state.draws) * (rows.total[a] + parts.w0[c]) >= rows.total[parts.type_of[t]] + parts.w0[c]:
            return
        state.log_w[c] += rows.log_r[edge] - rows.log_r[mine]
        state.edge[o], state.record[o] = -1, -1
    else:
        old, b = state.edge[t], rows.col[state.edge[t]]
        new = find(rows.col, rows.start[a], rows.start[a + 1], b)
        if new == rows.start[a + 1] or rows.col[new] != b:
            return
        if uniform(state.draws) >= np.exp(rows.log_r[new] - rows.log_r[mine]):
            return
        state.log_w[c] += rows.log_r[edge] + rows.log_r[new] - rows.log_r[old] - rows.log_r[mine]
        state.edge[o], state.record[o] = new, state.record[t]
        state.owner[state.record[t]] = o
    state.edge[t], state.record[t], state.owner[j] = edge, j, t


@compiled(inner=True)
def step(t, c, rows, parts, state):  # type: ignore[no-untyped-def]
    """One draw for target t of component c."""
    a = parts.type_of[t]
    lo, hi = rows.start[a], rows.start[a + 1]
    if parts.w0[c] > 0.0 and uniform(state.draws) * (rows.total[a] + parts.w0[c]) < parts.w0[c]:
        if state.edge[t] >= 0:
            give_up(t, c, rows, parts, state)
        return
    edge = find(rows.upto, lo, hi, uniform(state.draws))
    if edge == hi:
        edge = hi - 1
    b = rows.col[edge]
    j = parts.begin[b] + int(uniform(state.draws) * (parts.begin[b + 1] - parts.begin[b]))
    o = state.owner[j]
    if o < 0:
        take_free(t, c, edge, j, rows, parts, state)
    elif o != t:
        take_owned(t, o, c, edge, j, rows, parts, state)


@compiled
def sweeps(many, rows, parts, state, right, counts, away, valid, trace, overlap):  # type: ignore[no-untyped-def]
    """So many sweeps of all components; in each, as many steps as the component has targets.

    After each sweep that left a component in a state that counts: `counts` (E,) and `away` (A,) add up where its
    targets are, `valid` (C,) how often; `trace`: (C, many) its log weight, NaN where it does not count; `overlap`: (C,
    many) the sum over its targets of `right` (E,).
    """
    for k in range(many):
        for c in range(len(parts.first) - 1):
            first, last = parts.first[c], parts.first[c + 1]
            for _ in range(last - first):
                step(first + int(uniform(state.draws) * (last - first)), c, rows, parts, state)
            if state.pairs[c] < parts.least[c]:
                trace[c, k], overlap[c, k] = np.nan, np.nan
                continue
            valid[c] += 1
            same = 0.0
            for t in range(first, last):
                edge = state.edge[t]
                if edge >= 0:
                    counts[edge] += 1
                    same += right[edge]
                else:
                    away[parts.type_of[t]] += 1
            trace[c, k], overlap[c, k] = state.log_w[c], same
