"""Marginals of components by four chains, with what tells whether to trust them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from confide.attack.learning.one_to_one.chains import Parts, Rows, State, sweeps
from confide.core.run.threads import run_pieces
from confide.frames.columns import F64, I64

CHAINS, BATCHES = 4, 25
"""Chains, and batches of each, whose means give standard errors."""
TOGETHER = 2
"""Chains whose sums are held at once."""
STEPS = 120_000_000
"""Steps in all that are taken by default."""
FEWEST, MOST = 500, 20_000
"""Sweeps of each chain."""
BURN = 0.2
"""Share of as many sweeps that come before, and are not counted."""


@dataclass(frozen=True, eq=False)
class Sampled:
    """`p`: (E,) of one target and one record of the edge's types, `error` its standard error; `absent`: (A,).

    Per component: `r_hat` of the log weight; `spread`: the variance of the number of right targets, if the matching
    that was asked about is declared; `sweeps` of each chain; `held`: the share of sweeps that count.
    """

    p: F64
    error: F64
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
    c = len(parts.first) - 1
    total = np.zeros((3, len(rows.col) + len(rows.log_z)))
    traces, overlaps = np.empty((CHAINS, c, size * BATCHES)), np.empty((CHAINS, c, size * BATCHES))
    for some in (range(k, min(k + TOGETHER, CHAINS)) for k in range(0, CHAINS, TOGETHER)):
        sums = {k: np.zeros_like(total) for k in some}

        def work(first: int, _last: int, sums: dict[int, F64] = sums) -> None:
            _run(rows, parts, start, right, size, seed * CHAINS + first, sums[first], traces[first], overlaps[first])

        run_pieces(work, [(k, k + 1) for k in some], threads, lambda _: None)
        for k in some:
            total += sums[k]
    n = np.maximum(total[2], 1.0)
    mean = total[0] / n
    variance = np.maximum(total[1] / n - mean**2, 0.0) * n / np.maximum(n - 1, 1)
    error, e = np.sqrt(variance / n), len(rows.col)
    a = np.repeat(np.arange(len(sizes[0])), np.diff(rows.start))
    each = sizes[0][a] * sizes[1][rows.col]
    good = np.isfinite(overlaps)
    with np.errstate(invalid="ignore"):
        spread = np.nanvar(np.where(good, overlaps, np.nan), axis=(0, 2)) if c else np.zeros(0)
    return Sampled(
        mean[:e] / each, error[:e] / each, mean[e:] / sizes[0], np.array([r_hat(traces[:, k]) for k in range(c)]),
        np.nan_to_num(spread), size * BATCHES, good.mean(axis=(0, 2)),
    )  # fmt: skip


def _run(
    rows: Rows, parts: Parts, start: State, right: F64, size: int, seed: int, sums: F64, trace: F64, overlap: F64
) -> None:
    """One chain: its first sweeps are forgotten; then batch after batch, whose means are added up in `sums`."""
    e, a, c = len(rows.col), len(rows.log_z), len(parts.first) - 1
    key = np.random.SeedSequence([20_011, seed]).generate_state(1, np.uint64)
    state = State(*(np.array(x) for x in start[:-1]), key)
    of_type = np.zeros(a, dtype=np.int64)
    of_type[parts.type_of] = np.repeat(np.arange(c), np.diff(parts.first))
    of = np.concatenate([np.repeat(of_type, np.diff(rows.start)), of_type])
    early = max(int(BURN * size * BATCHES), 1)
    for batch in range(-1, BATCHES):
        many = early if batch < 0 else size
        counts, away, valid = np.zeros(e), np.zeros(a), np.zeros(c)
        lines = np.empty((2, c, many))
        sweeps(many, rows, parts, state, right, counts, away, valid, lines[0], lines[1])
        if batch < 0:
            continue
        trace[:, batch * size : (batch + 1) * size], overlap[:, batch * size : (batch + 1) * size] = lines
        there = valid[of]
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = np.where(there > 0, np.concatenate([counts, away]) / there, 0.0)
        sums[0] += mean
        sums[1] += mean**2
        sums[2] += there > 0


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
