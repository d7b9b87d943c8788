r"""Errors of unknown size where nearly every record counts: log densities as a product of two thin matrices.

Of one variable the log density of a target's value x around record j is a smooth function :math:`f_j(x)`. On the range
of the targets' values it is a polynomial in Chebyshev's form to rounding; and the records' polynomials, thousands of
them, are combinations of few,

.. math:: f_j(x) = \sum_{m} a_{mj} T_m(x) = \sum_{r \le R} \phi_r(x)\, c_{rj} + \varepsilon, \qquad
    |\varepsilon| \le 5 \cdot 10^{-11},

the leading left singular vectors of a. So the logs of all pairs are one product of matrices over the variables' R
together, 10 to 13 each, and a pair costs one exponential instead of one for every node of every variable.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from confide.attack.engine import kernels
from confide.attack.engine.kernel_plan import KernelPlan
from confide.attack.engine.kernels.arguments import Errors, Given, Into
from confide.attack.engine.ranges import own_room
from confide.attack.engine.room import room, spread_room
from confide.core.run.threads import one_blas_thread, run_pieces
from confide.frames.columns import F64

DEGREES = (16, 32, 64, 128)
"""Terms of Chebyshev's series that are tried."""
ERROR = 5e-11
"""What a log density of one variable may be off."""
ENTRIES = 20_000_000
"""Numbers in the largest array of a series' terms by records; beyond, pairs are too many for a product too."""
TARGETS = 1_024
"""Distinct targets of a block below which the loop is quick enough."""
TRIED = 64
"""Targets by which it is counted how many records the loop would visit."""
SHARE = 1 / 6
"""Share of pairs that the loop must visit for a product of all to be quicker."""
TILE = 128
"""Targets in one product at most."""
HELD = 4_000_000
"""Pairs in one product at most."""


@dataclass(frozen=True, eq=False)
class Factors:
    """`phi`: (targets, R) and `c`: (R, records), whose product has the logs; `never`: records that no target can be."""

    phi: F64
    c: F64
    never: F64

    def __repr__(self) -> str:
        return f"Factors: rank {self.phi.shape[1]}, {self.phi.shape[0]:,} targets, {self.c.shape[1]:,} records"


def factors(errors: Errors, targets: slice, records: slice) -> Factors | None:
    """Of all variables of some targets and records; None where a series would need too many terms."""
    phi, c = [], []
    never = np.zeros(records.stop - records.start)
    for v in range(errors.x.shape[1]):
        found = _thin(errors, v, targets, records)
        if found is None:
            return None
        phi.append(found[0])
        c.append(found[1])
        there = errors.there[v, records]
        never[(there == 0) & (errors.coef[v, 0, records] == 0)] = -np.inf
        if not there.all():
            phi.append(errors.add[targets, v : v + 1])
            c.append(there[None])
    everywhere = errors.there[:, records].all(axis=1)
    phi.append(errors.add[targets][:, everywhere].sum(axis=1, keepdims=True))
    c.append(np.ones((1, len(never))))
    return Factors(np.ascontiguousarray(np.hstack(phi)), np.ascontiguousarray(np.vstack(c)), never)


def _thin(errors: Errors, v: int, targets: slice, records: slice) -> tuple[F64, F64] | None:
    """phi (targets, R) and c (R, records) of one variable."""
    x = errors.x[targets, v]
    middle, half = 0.5 * (x.max() + x.min()), 0.5 * (x.max() - x.min())
    half = half if half > 0 else 1.0
    mine = [np.ascontiguousarray(a[v][..., records]) for a in (errors.z, errors.flat, errors.coef, errors.steep)]
    for m in [m for m in DEGREES if m * (records.stop - records.start) <= ENTRIES]:
        angle = np.pi * (np.arange(m) + 0.5) / m
        logs = np.empty((m, records.stop - records.start))
        kernels.log_on_grid(0, logs.shape[1], middle + half * np.cos(angle), *mine, int(errors.nodes[v]), logs)
        turn = 2 / m * np.cos(np.arange(m)[:, None] * angle)
        turn[0] /= 2
        a = turn @ logs
        if np.abs(a[-m // 4 :]).sum(axis=0).max(initial=0.0) <= ERROR / 4:
            break
    else:
        return None
    u = np.linalg.svd(np.asarray(np.linalg.qr(a.T, mode="r")).T)[0]
    c = u.T @ a
    rank = _rank(np.cos(angle[:, None] * np.arange(m)) @ u, c)
    if np.abs(a).max(initial=0.0) * m * np.finfo(float).eps > ERROR:
        return None
    at = np.arccos(np.clip((x - middle) / half, -1.0, 1.0))
    return np.cos(at[:, None] * np.arange(m)) @ u[:, :rank], c[:rank]


def _rank(on_grid: F64, c: F64) -> int:
    """How many combinations are needed for an error below ERROR / 2 at every value of the grid and every record."""
    left_out, rank = np.zeros((len(on_grid), c.shape[1])), len(c)
    while rank > 1:
        left_out += on_grid[:, rank - 1, None] * c[rank - 1]
        if np.abs(left_out).max(initial=0.0) > ERROR / 2:
            break
        rank -= 1
    return rank


def attack_by_products(
    plan: KernelPlan, given: Given, errors: Errors, into: Into, threads: int, advance: Callable[[int], None]
) -> tuple[list[tuple[int, int]], float]:
    """Do the blocks for which it pays. The ranges of targets that are left, and the pairs visited."""
    left, begin, visited = [], 0, 0.0
    many = np.bincount(plan.block_t, minlength=plan.scene.n_blocks)
    for b in np.flatnonzero((many >= TARGETS) & ~given.numbers.noisy.any(axis=1)):
        first = int(np.searchsorted(plan.block_t, b))
        last = first + int(many[b])
        with one_blas_thread():
            if not _pays(plan, given, errors, into, first, last):
                continue
            found = factors(errors, slice(first, last), slice(int(plan.offsets[b]), int(plan.offsets[b + 1])))
            if found is None:
                continue
            _multiply(plan, given, found, into, first, last, threads, advance)
        left.append((begin, first))
        begin, visited = last, visited + plan.pairs(first, last)
    return [*left, (begin, len(plan.targets))], visited


def _pays(plan: KernelPlan, given: Given, errors: Errors, into: Into, first: int, last: int) -> bool:
    """Whether the loop would visit so many records of some targets."""
    visited, pairs = np.zeros(1), 0.0
    for t in range(first, last, max((last - first) // TRIED, 1)):
        places = spread_room(plan.block_t[t : t + 1], plan.offsets)
        kernels.attack_spread(t, t + 1, *given, errors, plan.own, own_room(into), *places, visited)
        pairs += plan.pairs(t, t + 1)
    return bool(visited[0] > SHARE * pairs)


def _multiply(
    plan: KernelPlan, given: Given, found: Factors, into: Into, first: int, last: int, threads: int,
    advance: Callable[[int], None],
) -> None:  # fmt: skip
    n = found.c.shape[1]
    tile = max(min(TILE, HELD // max(n, 1)), 1)
    log_m = given.pairs.log_m.copy()
    b = plan.block_t[first]
    log_m[plan.offsets[b] : plan.offsets[b + 1]] -= found.never
    pairs = given.pairs._replace(log_m=log_m)

    def work(begin: int, end: int) -> None:
        weights, space, mine = (
            np.empty((tile, n)),
            room(2, plan.block_t[begin : begin + 1], plan.offsets),
            own_room(into),
        )
        for a in range(begin, end, tile):
            e = min(a + tile, end)
            np.matmul(found.phi[a - first : e - first], found.c, out=weights[: e - a])
            kernels.finish_rows(a, e, weights[: e - a], pairs, given.codes, given.tables, plan.own, mine, space)

    run_pieces(work, [(a, min(a + 8 * tile, last)) for a in range(first, last, 8 * tile)], threads, advance)
