"""Marginals of components by four chains, with what tells whether to trust them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from confide.attack.learning.one_to_one.chains import Parts, Rows, State, sweeps
from confide.core.run.threads import run_pieces
from confide.frames.columns import F64, I64

CHAINS, BATCHES = 4, 10
"""Chains, and batches of each, whose means give standard errors."""
WALKS = 45_000_000
"""Walks in all that are taken by default; twice as many where somebody is absent or something free, since sweeps are
further from independent there, and where there are few candidates, since walks are quick there."""
FEWEST, MOST, MANY = 200, 2_000, 10
"""Sweeps of each chain, the fewest twice as many there, too; and candidates of a target from which these are many."""
TRUSTED = 1.01
"""R-hat up to which chains are taken to agree."""
BURN, FIRST = 0.1, 30
"""Share of as many sweeps that come before and are not counted, and the fewest."""


@dataclass(frozen=True, eq=False)
class Sampled:
    """`p`: (E,) of one target and one record of the edge's types, `error` its standard error; `halves`: (2, E) the same
    from two chains each; `absent`: (A,).

    Per component: `r_hat` of the log weight; `spread`: the variance of the number of right targets, if the matching
    that was asked about is declared; `sweeps` of each chain.
    """

    p: F64
    error: F64
    halves: F64
    absent: F64
    r_hat: F64
    spread: F64
    sweeps: int


def sweeps_for(targets: int, edges: int, closed: bool) -> int:
    """Sweeps of each chain that a number of targets gets by default; `closed`: all have a record, and all records an
    owner."""
    times = 1 if closed and edges > MANY * targets else 2
    return int(np.clip(times * WALKS // (CHAINS * max(targets, 1)), times * FEWEST, MOST))


def sample(
    rows: Rows, parts: Parts, start: State, right: F64, sizes: tuple[I64, I64], many: int, seed: int, threads: int
) -> Sampled:
    """`start`: the best assignment; `right`: (E,) what an edge counts if the best assignment is declared; `sizes`: how
    many targets there are of each type, and records."""
    size = max(many // BATCHES, 1)
    c, e = len(parts.first) - 1, len(rows.col)
    sums = np.zeros((2, 2, e + len(rows.absent)))
    traces, overlaps = np.empty((CHAINS, c, size * BATCHES)), np.empty((CHAINS, c, size * BATCHES))
    for half in range(2):
        own = np.zeros((2, *sums.shape[1:]))

        def work(k: int, _: int, half: int = half, own: F64 = own) -> None:
            chain = 2 * half + k
            _run(rows, parts, start, right, size, seed * CHAINS + chain, own[k], traces[chain], overlaps[chain])

        run_pieces(work, [(0, 1), (1, 2)], threads, lambda _: None)
        sums[half] = own[0] + own[1]
    n = CHAINS * BATCHES
    mean, square = (sums[0] + sums[1]) / n
    error = np.sqrt(np.maximum(square - mean**2, 0.0) / (n - 1))
    each = sizes[0][np.repeat(np.arange(len(sizes[0])), np.diff(rows.start))] * sizes[1][rows.col]
    return Sampled(
        mean[:e] / each, error[:e] / each, 2 * sums[:, 0, :e] / n / each, mean[e:] / sizes[0],
        np.array([r_hat(traces[:, k]) for k in range(c)]), overlaps.var(axis=(0, 2)), size * BATCHES,
    )  # fmt: skip


def _run(
    rows: Rows, parts: Parts, start: State, right: F64, size: int, seed: int, sums: F64, trace: F64, overlap: F64
) -> None:
    """One chain: its first sweeps are forgotten; then batch after batch, whose means are added up in `sums`."""
    e, a, c = len(rows.col), len(rows.absent), len(parts.first) - 1
    key = np.random.SeedSequence([20_011, seed]).generate_state(1, np.uint64)
    state = State(
        start.edge.copy(), start.record.copy(), start.owner.copy(), start.pairs.copy(), key, start.path.copy()
    )
    for batch in range(-1, BATCHES):
        many = size if batch >= 0 else max(int(BURN * size * BATCHES), FIRST)
        counts, away, lines = np.zeros(e), np.zeros(a), np.empty((2, c, many))
        sweeps(many, rows, parts, state, right, counts, away, lines[0], lines[1])
        if batch >= 0:
            trace[:, batch * size : (batch + 1) * size], overlap[:, batch * size : (batch + 1) * size] = lines
            mean = np.concatenate([counts, away]) / many
            sums[0] += mean
            sums[1] += mean**2


def r_hat(chains: F64) -> float:
    r"""How far chains are apart: :math:`\hat R = \sqrt{(W (n-1)/n + B/n) / W}`, each chain cut in two halves.

    Sweeps that do not count (NaN) are left out. A number that never changes has 1.

    >>> r_hat(np.tile([0.0, 1.0], (4, 50))) < 1.01, r_hat(np.repeat([[0.0], [1.0]], 50, axis=1)) > 10
    (True, True)
    """
    halves = [part[np.isfinite(part)] for line in chains for part in np.array_split(line, 2)]
    n = min((len(h) for h in halves), default=0)
    if n < 2:
        return float("nan")
    cut = np.array([h[:n] for h in halves])
    within, between = float(cut.var(axis=1, ddof=1).mean()), float(cut.mean(axis=1).var(ddof=1))
    if within <= 1e-18 * max(1.0, float(np.abs(cut).max()) ** 2):
        return 1.0 if between <= 1e-18 * max(1.0, float(np.abs(cut).max()) ** 2) else float("inf")
    return float(np.sqrt((n - 1) / n + between / within))
