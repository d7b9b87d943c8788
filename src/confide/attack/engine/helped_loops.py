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
from confide.attack.engine.ranges import Part, Weights, own_room, parts, pieces_of, without_class
from confide.attack.engine.record_beliefs import believed_in, places
from confide.attack.engine.room import room
from confide.attack.engine.synthetic_shares import in_turn
from confide.attack.engine.target_side import log_agree, log_belief, log_normaliser
from confide.core.run.threads import run_pieces
from confide.frames.columns import I64

ENTRIES = 4_000_000
"""Numbers that the largest array of a range of blocks may have."""


def helped(plan: KernelPlan, into: Into, threads: int, advance: Callable[[int], None]) -> float:
    """All targets, a range of blocks at a time; the pairs visited."""
    s, noisy = plan.scene, known_numbers(plan)
    width = sum(n.belief.law.log_spike.shape[2] + 1 for n in s.numbers if n.known and n.belief is not None)
    visited = 0.0
    for part in parts(plan, into, ENTRIES // (s.classes.size * max(width, 1))):
        agree = log_agree(s, part.first)
        log_e = log_belief(s, part.first, agree)
        at, which = np.nonzero(log_e > -np.inf)
        weights = Weights.of(part, which)
        of = starts(at, len(log_e))
        mixed = Mixed(
            np.ascontiguousarray(weights.log_w.T), of, weights.place(which).astype(np.int64), log_e[at, which]
        )
        rest = part.tables, _believed(part, weights.classes), part.numbers(noisy), part.own
        many = 2 + int(np.diff(of).max(initial=0))
        for a, b, synthetic in in_turn(part, of, which):
            _run(part, (mixed, *rest), synthetic, (a, b), many, threads, advance)
        part.add(-log_normaliser(s, part.first, agree))
        visited += part.pairs_visited + without_class(part, agree)
    return visited


def _run(
    part: Part, given: tuple[Any, ...], synthetic: Synthetic, span: tuple[int, int], many: int, threads: int,
    advance: Callable[[int], None],
) -> None:  # fmt: skip
    pairs, into = part.pairs(np.zeros(0)), part.into
    mixed, tables, believed, noisy, own = given
    begin, end = span

    def work(first: int, last: int) -> None:
        first, last = begin + first, begin + last
        space = room(many, pairs.block_of[first:last], pairs.offsets)
        kernels.attack_helped(
            first, last, pairs, mixed, tables, synthetic, believed, noisy, own, own_room(into), space
        )  # fmt: skip

    run_pieces(work, pieces_of(0, end - begin), threads, advance)


def _believed(part: Part, classes: I64 | None) -> Believed:
    """Known noisy numbers of a part's targets, and what its records say of them in some classes (None: all)."""
    s = part.plan.scene
    numbers, cell = believed_in(s), s.cell_r[part.rows]
    classes = np.arange(s.classes.size) if classes is None else classes
    k = len(classes)
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
        own = np.moveaxis(law.log_spike[np.ix_(cell, classes)], 0, 2)
        log_spike[v, :, : own.shape[1] - 1], log_spike[v, :, -1] = own[:, :-1], own[:, -1]
        mu[v] = law.mu[np.ix_(cell, classes)].T
    return Believed(spike, edges, log_spike, mu, np.array([law.tau for law in laws]))
