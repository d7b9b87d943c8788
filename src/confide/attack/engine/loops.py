"""The last stage: a kernel plan carried out, on threads, and its results spread out to everybody."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confide.attack.engine import kernels
from confide.attack.engine.blocks import starts
from confide.attack.engine.kernel_plan import KernelPlan, Units, noisy_by_block
from confide.attack.engine.kernels.arguments import Codes, Into, Mixed, Near, Noisy, Own, Pairs, Tables
from confide.attack.engine.nearest import axes, scales
from confide.attack.engine.plain_loops import MIXED, plain_loops, plainly
from confide.attack.engine.record_side import log_unknown
from confide.attack.engine.room import room, spread_room, tops
from confide.attack.engine.spreads import spread_arrays
from confide.attack.engine.target_side import log_belief, log_limits, log_normaliser, no_class_fits
from confide.core.run.threads import run_pieces
from confide.frames.columns import F64
from confide.protect.likelihoods.match import Match
from confide.protect.likelihoods.normal import Normal
from confide.protect.likelihoods.table import Table

PIECE = 512
"""Distinct targets in one piece of work."""


@dataclass(frozen=True, eq=False)
class Outcome:
    """Per unit: log of the sum of its target's weights relative to the largest, log of the largest, how many share it.

    `log_top`: log of the sum of the largest weights, as many as were asked for, relative to the largest. Of the true
    record: its log weight (-inf where it is no candidate), how many lie strictly above it and how many
    others are at least as likely. `pairs`: pairs in all blocks, and pairs visited after equal ones were merged and
    hopeless ones skipped.
    """

    log_sum: F64
    log_max: F64
    n_max: F64
    log_top: F64
    log_true: F64
    above: F64
    likely: F64
    pairs: tuple[float, float]

    def __repr__(self) -> str:
        return f"Outcome: {len(self.log_sum):,} units, {self.pairs[1]:,.0f} of {self.pairs[0]:,.0f} pairs visited"


def carry_out(plan: KernelPlan, units: Units, threads: int, done: Callable[[int], None], top: int = 0) -> Outcome:
    """Summaries of every unit's posterior. `top`: how many of the largest weights to add up (0: none)."""
    n = len(plan.targets)
    out, truth = np.full((n, 4), -np.inf), np.zeros((len(plan.own.at), 3))
    out[:, 2], truth[:, 0] = 0.0, -np.inf
    into, total = Into(tops(top), out, truth), int(units.count.sum())
    told = [0, 0]

    def advance(k: int) -> None:
        told[0] += k
        upto = total * told[0] // max(n, 1)
        done(upto - told[1])
        told[1] = upto

    if plan.loop == "mixture":
        visited = _mixture(plan, into, threads, advance)
    else:
        seen: list[float] = []
        work = partial(_counting, _work(plan, into), seen)
        run_pieces(work, [(a, min(a + PIECE, n)) for a in range(0, n, PIECE)], threads, advance)
        visited = sum(seen)
    done(total - told[1])
    return _spread_out(plan, units, into, visited)


def _counting(work: Callable[[int, int], float], seen: list[float], first: int, last: int) -> None:
    seen.append(work(first, last))


def _work(plan: KernelPlan, into: Into) -> Callable[[int, int], float]:
    """What does the work for distinct targets first..last-1, and says how many pairs it visited."""
    if plan.loop == "any":
        return plain_loops(plan, into)
    return _nearest(plan, into) if plan.loop == "nearest" else _direct(plan, into)


def _own_room(into: Into) -> Into:
    """The same results with room of its own to work in, for one thread."""
    return into._replace(tops=np.empty_like(into.tops))


def _pairs_of(plan: KernelPlan) -> Pairs:
    log_m = plan.scene.log_m[plan.records.first]
    return Pairs(plan.block_t, plan.class_t, plan.offsets, plan.records.count, log_m)


def _nearest(plan: KernelPlan, into: Into) -> Callable[[int, int], float]:
    s = plan.scene
    y = np.ascontiguousarray(axes(s, s.targets.take(plan.first)).T)
    near, pairs = Near(y, axes(s, s.released.take(plan.records.first)), scales(s)), _pairs_of(plan)

    def work(first: int, last: int) -> float:
        space = room(2, plan.block_t[first:last], plan.offsets)
        kernels.attack_nearest(first, last, pairs, near, plan.own, _own_room(into), space)
        return plan.pairs(first, last)

    return work


def _direct(plan: KernelPlan, into: Into) -> Callable[[int, int], float]:
    """Every class is known: matches, tables and densities multiply."""
    given = _pairs_of(plan), *_lookups(plan)
    numbers = _known_numbers(plan)
    errors = spread_arrays(plan.spreads, plan.first, plan.record_rows)

    def work(first: int, last: int) -> float:
        blocks, visited, mine = plan.block_t[first:last], np.zeros(1), _own_room(into)
        if plan.loop == "plain":
            kernels.attack_plain(first, last, *given, plan.own, mine, room(2, blocks, plan.offsets))
            return plan.pairs(first, last)
        if plan.loop == "spread":
            places = spread_room(blocks, plan.offsets)
            kernels.attack_spread(first, last, *given, numbers, errors, plan.own, mine, *places, visited)
        else:
            space = room(4, blocks, plan.offsets)
            kernels.attack_noisy(first, last, *given, numbers, plan.own, mine, space, visited)
        return float(visited[0])

    return work


def _known_numbers(plan: KernelPlan) -> Noisy:
    """Known noisy numbers, as the loops want them."""
    s = plan.scene
    known = [(n.like, n.target) for n in s.numbers if isinstance(n.like, Normal) and n.target is not None]
    n, d, rows = len(plan.first), len(known), plan.record_rows
    y, t_log, sd = np.zeros((n, d)), np.zeros((n, d)), np.ones((n, d))
    low, high = np.zeros((d, len(rows))), np.zeros((d, len(rows)))
    noisy, even, half = np.zeros((s.n_blocks, d), dtype=bool), np.zeros(d, dtype=bool), 0.0
    for v, (like, target) in enumerate(known):
        y[:, v] = np.where(target["inside"], target["y"], 0.0)[plan.first]
        t_log[:, v] = -target["log_allowed"][plan.first]
        spread = like.sd_at(y[:, v])
        sd[:, v] = np.where(spread > 0, spread, 1.0)  # a target that is not noisy has no use for it
        low[v], high[v] = like.low[rows], like.high[rows]
        noisy[:, v] = noisy_by_block(s, plan.records, plan.block_r, like)[0]
        width = (high[v] - low[v])[like.inside[rows]]
        even[v] = len(width) > 0 and np.all(np.isfinite(width)) and np.ptp(width) <= 1e-9 * (width.max() + 1e-300)
        if v == 0 and even[v]:
            half = 0.5 * float(width.max())
    return Noisy(y, t_log, noisy, low, high, sd, even, half)


def _lookups(plan: KernelPlan) -> tuple[Codes, Tables]:
    """Arrays of all matches and tables, in the loops' layout."""
    s, n, r = plan.scene, len(plan.first), len(plan.records)
    t_code, code, same, diff = [], [], [], []
    t_row, column, flat, begin, width = [], [], [np.zeros(0)], [], []
    for i, u in enumerate(s.uncertain):
        t, z = s.known_t[i], s.records[i]
        if s.fit.numeric[i] or t is None:
            continue
        if isinstance(u.like, Match):
            t_code.append(t["code"][plan.first])
            code.append(z["code"][plan.records.first])
            same.append(z["same"][plan.records.first])
            diff.append(z["diff"][plan.records.first])
        elif isinstance(u.like, Table):
            t_row.append(t["row"][plan.first])
            column.append(z["column"][plan.records.first])
            begin.append(sum(len(f) for f in flat))
            width.append(u.like.log_p.shape[1])
            flat.append(u.like.log_p.ravel())

    def stacked(parts: list[Any], kind: Any, size: int) -> NDArray[Any]:
        return np.ascontiguousarray(np.array(parts, dtype=kind).reshape(len(parts), size))

    def by_target(parts: list[Any]) -> NDArray[Any]:
        return np.ascontiguousarray(stacked(parts, np.int64, n).T)

    codes = Codes(by_target(t_code), stacked(code, np.int64, r), stacked(same, float, r), stacked(diff, float, r))
    ends = np.array(begin, dtype=np.int64), np.array(width, dtype=np.int64)
    return codes, Tables(by_target(t_row), stacked(column, np.int64, r), np.concatenate(flat), *ends)


def _mixture(plan: KernelPlan, into: Into, threads: int, advance: Callable[[int], None]) -> float:
    """Unknown classes are averaged over, a range of blocks at a time."""
    s = plan.scene
    numbers, errors = _known_numbers(plan), spread_arrays(plan.spreads, plan.first, plan.record_rows)
    most, visited = max(MIXED // max(s.classes.size, 1), 1), 0.0
    edges = [0]
    while edges[-1] < s.n_blocks:
        upto = int(np.searchsorted(plan.offsets, plan.offsets[edges[-1]] + most, side="right")) - 1
        edges.append(min(max(upto, edges[-1] + 1), s.n_blocks))
    for b0, b1 in pairwise(edges):
        t0, t1 = (int(x) for x in np.searchsorted(plan.block_t, [b0, b1]))
        if t0 == t1:
            continue
        _mixed_blocks(plan, into, (b0, b1), (t0, t1), numbers, errors, threads, advance)
        visited += plan.pairs(t0, t1)
        for t in t0 + np.flatnonzero(no_class_fits(s, plan.first[t0:t1])):
            visited += plainly(plan, into, int(t), int(t) + 1)
    return visited


def _mixed_blocks(
    plan: KernelPlan, into: Into, blocks: tuple[int, int], targets: tuple[int, int], numbers: Noisy, errors: Any,
    threads: int, advance: Callable[[int], None],
) -> None:  # fmt: skip
    """The targets t0..t1-1 and records of blocks b0..b1-1."""
    s, (b0, b1), (t0, t1) = plan.scene, blocks, targets
    r0, r1 = int(plan.offsets[b0]), int(plan.offsets[b1])
    w, shift = _weights_of(plan, r0, r1, b0, b1)
    e = np.exp(log_belief(s, plan.first[t0:t1]))
    at, which = np.nonzero(e > 0)
    mixed = Mixed(w, starts(at, t1 - t0), which.astype(np.int64), e[at, which])
    block_of = plan.block_t[t0:t1] - b0
    pairs = Pairs(block_of, block_of, plan.offsets[b0 : b1 + 1] - r0, plan.records.count[r0:r1], shift)
    lo, hi = plan.own.start[t0], plan.own.start[t1]
    begin, at_record = plan.own.start[t0 : t1 + 1] - lo, plan.own.at[lo:hi]
    own = Own(begin, np.where(at_record >= 0, at_record - r0, -1))
    mine = _cut(numbers, ("y", "t_log", "sd"), slice(t0, t1), ("low", "high"), slice(r0, r1))
    mine = mine._replace(noisy=numbers.noisy[b0:b1])
    wrong = _cut(errors, ("x", "add"), slice(t0, t1), ("z", "there", "flat", "coef", "steep"), slice(r0, r1))
    part = Into(into.tops, into.out[t0:t1], into.truth[lo:hi])

    def work(first: int, last: int) -> None:
        space = room(3, block_of[first:last], pairs.offsets)
        kernels.attack_mixture(first, last, pairs, mixed, mine, wrong, own, _own_room(part), space)

    run_pieces(work, [(a, min(a + PIECE, t1 - t0)) for a in range(0, t1 - t0, PIECE)], threads, advance)
    add = shift[block_of] - log_normaliser(s, plan.first[t0:t1])
    part.out[:, 1] += add
    part.truth[:, 0] += np.repeat(add, np.diff(begin))


def _cut(arrays: Any, by_target: tuple[str, ...], t: slice, by_record: tuple[str, ...], r: slice) -> Any:
    """The same arrays for some targets and records."""
    some = {name: np.ascontiguousarray(getattr(arrays, name)[t]) for name in by_target}
    some |= {name: np.ascontiguousarray(getattr(arrays, name)[..., r]) for name in by_record}
    return arrays._replace(**some)


def _weights_of(plan: KernelPlan, r0: int, r1: int, b0: int, b1: int) -> tuple[F64, F64]:
    """exp(log w_kj - shift of the block), shape (K, records), and the shifts."""
    s, rows = plan.scene, plan.records.first[r0:r1]
    log_w = log_unknown(s, rows) - s.log_m[rows][:, None]
    if s.fit.helped:
        cell = s.cell_r[rows]
        log_w = log_w + s.fit.believed.log_pi_r[cell] + log_limits(s, cell, s.numbers)
    block = plan.block_r[r0:r1] - b0
    shift = np.full(b1 - b0, -np.inf)
    np.maximum.at(shift, block, log_w.max(axis=1))
    shift = np.where(np.isfinite(shift), shift, 0.0)
    return np.ascontiguousarray(np.exp(log_w - shift[block][:, None]).T), shift


def _spread_out(plan: KernelPlan, units: Units, into: Into, visited: float) -> Outcome:
    """From distinct targets and records back to every unit."""
    s = plan.scene
    at = np.full(s.targets.n, -1, dtype=np.int64)
    at[plan.met] = plan.targets.of
    # One row more than there are, for units without a candidate.
    out = np.vstack([into.out, [-np.inf, -np.inf, 0.0, -np.inf]])[at[units.target]]
    truth = np.vstack([into.truth, [-np.inf, 0.0, 0.0]])[plan.unit_own]
    sizes = np.bincount(s.block_r, weights=s.count, minlength=max(s.n_blocks, 1))
    block = s.block_t[units.target]
    total = float((units.count * np.where(block >= 0, sizes[np.maximum(block, 0)], 0.0)).sum())
    log_sum, log_max, n_max, log_top = out.T
    absent = s.side.log_absent[units.target]
    return Outcome(
        log_sum, log_max - absent, n_max, log_top, truth[:, 0] - absent, truth[:, 1], truth[:, 2], (total, visited)
    )
