"""The last stage: a kernel plan carried out, on threads, and its results spread out to everybody."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confide.attack.engine import kernels
from confide.attack.engine.blocks import starts
from confide.attack.engine.helped_loops import helped
from confide.attack.engine.kernel_plan import KernelPlan, Units
from confide.attack.engine.kernels.arguments import Codes, Errors, Given, Into, Mixed, Noisy, Pairs, Tables
from confide.attack.engine.known_noise import known_numbers
from confide.attack.engine.nearest import near_records
from confide.attack.engine.noise_boxes import attack_in_boxes
from confide.attack.engine.plain_loops import MIXED, plain_loops
from confide.attack.engine.ranges import Part, Weights, own_room, parts, pieces_of, without_class
from confide.attack.engine.room import room, spread_room, tops
from confide.attack.engine.spread_products import attack_by_products
from confide.attack.engine.spreads import spread_arrays
from confide.attack.engine.target_side import log_agree, log_belief, log_normaliser
from confide.core.run.threads import run_pieces
from confide.frames.columns import F64
from confide.protect.likelihoods.match import Match
from confide.protect.likelihoods.table import Table


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

    visited = run_loops(plan, into, threads, advance)
    done(total - told[1])
    return _spread_out(plan, units, into, visited)


def run_loops(plan: KernelPlan, into: Into, threads: int, advance: Callable[[int], None]) -> float:
    """Fill the results of every distinct target; the pairs visited."""
    if plan.loop in ("mixture", "helped"):
        return (_mixture if plan.loop == "mixture" else helped)(plan, into, threads, advance)
    work, left, seen = _work(plan, into), [(0, len(plan.targets))], [0.0]
    if isinstance(work, (_Noisy, _Spread)):
        left, seen[0] = work.at_once(threads, advance)
    pieces = [piece for ends in left for piece in pieces_of(*ends)]
    run_pieces(partial(_counting, work, seen), pieces, threads, advance)
    return sum(seen)


def _counting(work: Callable[[int, int], float], seen: list[float], first: int, last: int) -> None:
    seen.append(work(first, last))


def _work(plan: KernelPlan, into: Into) -> Callable[[int, int], float]:
    """What does the work for distinct targets first..last-1, and says how many pairs it visited."""
    if plan.loop == "any":
        return plain_loops(plan, into)
    return _nearest(plan, into) if plan.loop == "nearest" else _direct(plan, into)


def _pairs_of(plan: KernelPlan) -> Pairs:
    log_m = plan.scene.log_m[plan.records.first]
    return Pairs(plan.block_t, plan.class_t, plan.offsets, plan.records.count, log_m)


def _nearest(plan: KernelPlan, into: Into) -> Callable[[int, int], float]:
    near, pairs = near_records(plan), _pairs_of(plan)
    widest = int(np.diff(near.start).max(initial=0))

    def work(first: int, last: int) -> float:
        space, places, visited = np.empty((3, widest)), np.empty(widest, dtype=np.int64), np.zeros(1)
        kernels.attack_nearest(first, last, pairs, near, plan.own, own_room(into), space, places, visited)
        return float(visited[0])

    return work


def _direct(plan: KernelPlan, into: Into) -> Callable[[int, int], float]:
    """Every class is known: matches, tables and densities multiply."""
    given = Given(_pairs_of(plan), *_lookups(plan), known_numbers(plan))
    if plan.loop == "noisy":
        return _Noisy(plan, given, into)
    if plan.loop == "spread":
        return _Spread(plan, given, spread_arrays(plan.spreads, plan.first, plan.record_rows), into)

    def work(first: int, last: int) -> float:
        space = room(2, plan.block_t[first:last], plan.offsets)
        kernels.attack_plain(first, last, given.pairs, given.codes, given.tables, plan.own, own_room(into), space)
        return plan.pairs(first, last)

    return work


@dataclass(frozen=True, eq=False)
class _Noisy:
    """The loop over pairs with known noisy numbers."""

    plan: KernelPlan
    given: Given
    into: Into

    def at_once(self, threads: int, advance: Callable[[int], None]) -> tuple[list[tuple[int, int]], float]:
        """Large blocks without a loop over pairs: the targets that are left, and what was visited."""
        return attack_in_boxes(self.plan, self.given, self.into, threads, advance)

    def __call__(self, first: int, last: int) -> float:
        plan, visited = self.plan, np.zeros(1)
        space = room(4, plan.block_t[first:last], plan.offsets)
        kernels.attack_noisy(first, last, *self.given, plan.own, own_room(self.into), space, visited)
        return float(visited[0])


@dataclass(frozen=True, eq=False)
class _Spread:
    """The loop over pairs with errors of unknown size."""

    plan: KernelPlan
    given: Given
    errors: Errors
    into: Into

    def at_once(self, threads: int, advance: Callable[[int], None]) -> tuple[list[tuple[int, int]], float]:
        """The same by products of matrices."""
        return attack_by_products(self.plan, self.given, self.errors, self.into, threads, advance)

    def __call__(self, first: int, last: int) -> float:
        plan, visited = self.plan, np.zeros(1)
        places = spread_room(plan.block_t[first:last], plan.offsets)
        kernels.attack_spread(first, last, *self.given, self.errors, plan.own, own_room(self.into), *places, visited)
        return float(visited[0])


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
    numbers, errors = known_numbers(plan), spread_arrays(plan.spreads, plan.first, plan.record_rows)
    visited = 0.0
    for part in parts(plan, into, MIXED // max(plan.scene.classes.size, 1)):
        agree = log_agree(plan.scene, part.first)
        _mixed_blocks(part, agree, numbers, errors, threads, advance)
        visited += part.pairs_visited + without_class(part, agree)
    return visited


def _mixed_blocks(
    part: Part, agree: F64, numbers: Noisy, errors: Any, threads: int, advance: Callable[[int], None]
) -> None:
    """The targets and records of a range of blocks."""
    s = part.plan.scene
    e = np.exp(log_belief(s, part.first, agree))
    at, which = np.nonzero(e > 0)
    weights = Weights.of(part, which)
    w, shift = _shifted(part, weights.log_w)
    mixed = Mixed(w, starts(at, len(e)), weights.place(which).astype(np.int64), e[at, which])
    pairs, tables, own, into = part.pairs(shift), part.tables, part.own, part.into
    mine = part.numbers(numbers)
    wrong = part.cut(errors, ("x", "add"), ("z", "there", "flat", "coef", "steep"))

    def work(first: int, last: int) -> None:
        space = room(3, pairs.block_of[first:last], pairs.offsets)
        kernels.attack_mixture(first, last, pairs, mixed, tables, mine, wrong, own, own_room(into), space)

    run_pieces(work, pieces_of(0, len(e)), threads, advance)
    part.add(shift[pairs.block_of] - log_normaliser(s, part.first, agree))


def _shifted(part: Part, log_w: F64) -> tuple[F64, F64]:
    """exp(log w_kj - shift of the block), shape (K, records), and the shifts."""
    block = part.block_of_records
    shift = np.full(part.many_blocks, -np.inf)
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
