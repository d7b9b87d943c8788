"""Marginals of components by four chains, with what tells whether to trust them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

from confide.attack.learning.one_to_one.chains import Parts, Rows, State, sweeps
from confide.core.run.threads import run_pieces
from confide.frames.columns import F64, I64

CHAINS, BATCHES = 4, 20
"""Chains, and batches of each, whose means give standard errors."""
TRIES, COUNTING = 20, 0.8
"""How often a constant is tuned before sweeps count, and the share of sweeps that should."""
STEPS = 40_000_000
"""Steps in all that are taken by default."""
FEWEST, MOST = 300, 4_000
"""Sweeps of each chain."""
BURN = 0.5
"""Share of as many sweeps that come before, and are not counted."""


@dataclass(frozen=True, eq=False)
class Sampled:
    """`p`: (E,) of one target and one record of the edge's types, `error` its standard error; `halves`: (2, E) the same
    from two chains each; `absent`: (A,).

    Per component: `r_hat` of the log weight; `spread`: the variance of the number of right targets, if the matching
    that was asked about is declared; `sweeps` of each chain; `held`: the share of sweeps that count.
    """

    p: F64
    error: F64
    halves: F64
    absent: F64
    r_hat: F64
    spread: F64
    sweeps: int
    held: F64


def sweeps_for(targets: int) -> int:
    """Sweeps of each chain that a number of targets gets by default."""
    return int(np.clip(STEPS // (CHAINS * max(targets, 1)), FEWEST, MOST))


def sample(
    rows: Rows, parts: Parts, start: State, right: F64, sizes: tuple[I64, I64], many: int, seed: int, threads: int
) -> Sampled:
    """`start`: the best assignment; `right`: (E,) what an edge counts if the best assignment is declared; `sizes`: how
    many targets there are of each type, and records."""
    size = max(many // BATCHES, 1)
    c, e = len(parts.first) - 1, len(rows.col)
    sums = np.zeros((2, 3, e + len(rows.total)))
    traces, overlaps = np.empty((CHAINS, c, size * BATCHES)), np.empty((CHAINS, c, size * BATCHES))
    for half in range(2):
        own = np.zeros((2, *sums.shape[1:]))

        def work(k: int, _: int, half: int = half, own: F64 = own) -> None:
            chain = 2 * half + k
            _run(rows, parts, start, right, size, seed * CHAINS + chain, own[k], traces[chain], overlaps[chain])

        run_pieces(work, [(0, 1), (1, 2)], threads, lambda _: None)
        sums[half] = own[0] + own[1]
    with np.errstate(invalid="ignore", divide="ignore"):  # no sweep counts: unknown, and not 0
        halves = sums[:, 0] / sums[:, 2]
    total, squares, n = sums[0] + sums[1]
    halves = np.where(np.isnan(halves), total / np.where(n > 0, n, np.nan), halves)
    n = np.where(n > 0, n, np.nan)
    error = np.sqrt(np.maximum(squares / n - (total / n) ** 2, 0.0) / np.maximum(n - 1, 1))
    each = sizes[0][np.repeat(np.arange(len(sizes[0])), np.diff(rows.start))] * sizes[1][rows.col]
    good = np.isfinite(overlaps)
    many_good = np.maximum(good.sum(axis=(0, 2)), 1)
    mean = np.where(good, overlaps, 0.0).sum(axis=(0, 2)) / many_good
    spread = np.where(good, (overlaps - mean[None, :, None]) ** 2, 0.0).sum(axis=(0, 2)) / many_good
    return Sampled(
        total[:e] / n[:e] / each, error[:e] / each, halves[:, :e] / each, total[e:] / n[e:] / sizes[0],
        np.array([r_hat(traces[:, k]) for k in range(c)]), spread, size * BATCHES, good.mean(axis=(0, 2)),
    )  # fmt: skip


def _run(
    rows: Rows, parts: Parts, start: State, right: F64, size: int, seed: int, sums: F64, trace: F64, overlap: F64
) -> None:
    """One chain: its first sweeps are forgotten; then batch after batch, whose means are added up in `sums`."""
    e, a, c = len(rows.col), len(rows.total), len(parts.first) - 1
    key = np.random.SeedSequence([20_011, seed]).generate_state(1, np.uint64)
    state = State(
        start.edge.copy(), start.record.copy(), start.owner.copy(), start.pairs.copy(), start.log_w.copy(), key
    )
    of_type = np.zeros(a, dtype=np.int64)
    of_type[parts.type_of] = np.repeat(np.arange(c), np.diff(parts.first))
    of = np.concatenate([np.repeat(of_type, np.diff(rows.start)), of_type])
    parts = _settled(rows, parts, state, right, max(int(BURN * size * BATCHES), TRIES))
    for batch in range(BATCHES):
        counts, away, valid = np.zeros(e), np.zeros(a), np.zeros(c)
        lines = np.empty((2, c, size))
        sweeps(size, rows, parts, state, right, counts, away, valid, lines[0], lines[1])
        trace[:, batch * size : (batch + 1) * size], overlap[:, batch * size : (batch + 1) * size] = lines
        there = valid[of]
        mean = np.concatenate([counts, away]) / np.maximum(there, 1.0)
        sums[0] += mean
        sums[1] += mean**2
        sums[2] += there > 0


def _settled(rows: Rows, parts: Parts, state: State, right: F64, many: int) -> Parts:
    """The sweeps before those that count; meanwhile the constant weight of one target more unplaced is set so that
    about
    `COUNTING` of all sweeps count. Any weight is right; most are slow."""
    c, tuned = len(parts.first) - 1, parts.hole == parts.w0
    for _ in range(TRIES):
        counts, away, valid = np.zeros(len(rows.col)), np.zeros(len(rows.total)), np.zeros(c)
        size = max(many // TRIES, 1)
        lines = np.empty((2, c, size))
        sweeps(size, rows, parts, state, right, counts, away, valid, lines[0], lines[1])
        odds = (size - valid + 0.5) / (valid + 0.5) * COUNTING / (1 - COUNTING)
        hole = parts.hole * np.where(tuned, np.clip(1 / odds, 0.1, 4.0), 1.0)
        parts = parts._replace(hole=hole, w0=np.where(tuned, hole, parts.w0))
    state.log_w[:] = _log_weights(rows, parts, state)
    return parts


def _log_weights(rows: Rows, parts: Parts, state: State) -> F64:
    """The log weight of each component's matching, log g(s) + the sum of log R; chains had different constants so
    far."""
    of = np.repeat(np.arange(len(parts.base)), np.diff(parts.first))
    placed = state.edge >= 0
    log_w = np.bincount(of[placed], weights=rows.log_r[state.edge[placed]], minlength=len(parts.base))
    log_g = -gammaln(parts.base + np.maximum(state.pairs, parts.least) + 1)
    with np.errstate(divide="ignore"):
        broken = np.where(state.pairs < parts.least, np.log(parts.hole), 0.0)
    return np.asarray(log_w + log_g + broken)


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
