"""Known numbers beside records that show more than is known of the target: what each record says of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from confide.attack.engine import kernels
from confide.attack.engine.blocks import starts
from confide.attack.engine.kernel_plan import KernelPlan
from confide.attack.engine.kernels.arguments import Believed, Into, Mixed, Synthetic
from confide.attack.engine.known_noise import known_numbers
from confide.attack.engine.ranges import Part, log_records, own_room, parts, pieces_of, without_class
from confide.attack.engine.record_beliefs import believed_in, places
from confide.attack.engine.room import room
from confide.attack.engine.target_side import log_belief, log_normaliser, met_value
from confide.core.run.threads import run_pieces
from confide.frames.columns import F64, I64, Bools
from confide.frames.distinct import Distinct

ENTRIES = 4_000_000
"""Numbers that the largest array of a range of blocks may have."""


def helped(plan: KernelPlan, into: Into, threads: int, advance: Callable[[int], None]) -> float:
    """All targets, a range of blocks at a time; the pairs visited."""
    s, noisy = plan.scene, known_numbers(plan)
    width = sum(n.binned.log_p.shape[2] + 1 for n in s.numbers if n.binned is not None)
    width += sum(n.belief.law.log_spike.shape[2] + 1 for n in s.numbers if n.known and n.belief is not None)
    visited = 0.0
    for part in parts(plan, into, ENTRIES // (s.classes.size * max(width, 1))):
        log_e, log_w = log_belief(s, part.first), log_records(part)
        at, which = np.nonzero(log_e > -np.inf)
        mixed = Mixed(np.ascontiguousarray(log_w.T), starts(at, len(log_e)), which.astype(np.int64), log_e[at, which])
        given = (
            part.pairs(np.zeros(0)),
            mixed,
            part.tables,
            _synthetic(part),
            _believed(part),
            part.numbers(noisy),
            part.own,
        )
        many = 2 + int(np.diff(mixed.start).max(initial=0))
        _run(part, given, many, threads, advance)
        part.add(-log_normaliser(s, part.first))
        visited += part.pairs_visited + without_class(part)
    return visited


def _run(part: Part, given: tuple[Any, ...], many: int, threads: int, advance: Callable[[int], None]) -> None:
    pairs, into = given[0], part.into

    def work(first: int, last: int) -> None:
        space = room(many, pairs.block_of[first:last], pairs.offsets)
        kernels.attack_helped(first, last, *given, own_room(into), space)

    run_pieces(work, pieces_of(len(pairs.block_of)), threads, advance)


def _synthetic(part: Part) -> Synthetic:
    """Known synthetic numbers of a part's targets, and what its records say of them."""
    s = part.plan.scene
    numbers = [n for n in s.numbers if n.binned is not None]
    values = np.array([met_value(s, n, part.first) for n in numbers]).reshape(len(numbers), len(part.first))
    cell, k = s.cell_r[part.rows], s.classes.size
    width = max((n.binned.log_p.shape[2] + 1 for n in numbers if n.binned is not None), default=1)
    log_p, u = np.zeros((2, len(numbers), k, width, len(cell)))
    bins = np.zeros((len(part.first), len(numbers)), dtype=np.int64)
    for v, n in enumerate(numbers):
        assert n.binned is not None
        many = n.binned.log_p.shape[2]
        log_p[v, :, :many] = np.moveaxis(n.binned.log_p[cell], 0, 2)
        u[v, :, :many] = np.moveaxis(n.binned.u[cell], 0, 2)
        if n.fit.log_there is not None:
            log_p[v, :, :many] += n.fit.log_there[0, cell].T[:, None]
            log_p[v, :, many] = n.fit.log_there[1, cell].T
        missing = np.isnan(values[v])
        bins[:, v] = np.where(missing, many, np.searchsorted(n.binned.cuts, values[v], side="right"))
    return Synthetic(bins, log_p, u, *_copulas(s.fit.believed.correlation, ~np.isnan(values), len(part.first)))


def _copulas(r: F64 | None, there: Bools, n: int) -> tuple[I64, F64, F64]:
    """Which values each target has, and by that the excess of the inverse correlation and half the log determinant."""
    patterns = Distinct.rows(list(there), n)
    excess, half = np.zeros((max(len(patterns), 1), len(there), len(there))), np.zeros(max(len(patterns), 1))
    for i, row in enumerate(patterns.first):
        which = np.flatnonzero(there[:, row])
        if r is not None and len(which):
            own = r[np.ix_(which, which)]
            excess[i][np.ix_(which, which)] = np.linalg.inv(own) - np.eye(len(which))
            half[i] = 0.5 * np.linalg.slogdet(own)[1]
    return patterns.of, excess, half


def _believed(part: Part) -> Believed:
    """Known noisy numbers of a part's targets, and what its records say of them."""
    s = part.plan.scene
    numbers, cell, k = believed_in(s), s.cell_r[part.rows], s.classes.size
    laws = [belief.law for _, belief in numbers]
    width = max((law.log_spike.shape[2] for law in laws), default=1)
    spike = np.full((len(part.first), len(numbers)), -2, dtype=np.int64)
    edges = np.zeros((*spike.shape, 2))
    log_spike, mu = np.zeros((len(numbers), k, width, len(cell))), np.zeros((len(numbers), k, len(cell)))
    for v, (n, belief) in enumerate(numbers):
        points, law = belief.every, belief.law
        at, asked = places(s, n, belief, part.first)
        spike[asked, v] = points.spike[at[asked]]
        edges[:, v, 0], edges[:, v, 1] = points.edges[np.maximum(at, 0)], points.edges[np.maximum(at, 0) + 1]
        own = np.moveaxis(law.log_spike[cell], 0, 2)
        log_spike[v, :, : own.shape[1] - 1], log_spike[v, :, -1] = own[:, :-1], own[:, -1]
        mu[v] = law.mu[cell].T
    return Believed(spike, edges, log_spike, mu, np.array([law.tau for law in laws]))
