"""Known noisy numbers, as the loops want them."""

from __future__ import annotations

import numpy as np

from confide.attack.engine.kernel_plan import KernelPlan, noisy_by_block
from confide.attack.engine.kernels.arguments import Noisy
from confide.frames.columns import F64
from confide.protect.likelihoods.normal import Normal


def known_numbers(plan: KernelPlan) -> Noisy:
    """Known noisy numbers, as the loops want them."""
    s = plan.scene
    known = [(n.like, n.target) for n in s.numbers if isinstance(n.like, Normal) and n.target is not None]
    n, d, rows = len(plan.first), len(known), plan.record_rows
    y, t_log, sd = np.zeros((n, d)), np.zeros((n, d)), np.ones((n, d))
    low, high = np.zeros((d, len(rows))), np.zeros((d, len(rows)))
    noisy, even, half = np.zeros((s.n_blocks, d), dtype=bool), np.zeros(d, dtype=bool), np.zeros(d)
    for v, (like, target) in enumerate(known):
        y[:, v] = np.where(target["inside"], target["y"], 0.0)[plan.first]
        t_log[:, v] = -target["log_allowed"][plan.first]
        spread = like.sd_at(y[:, v])
        sd[:, v] = np.where(spread > 0, spread, 1.0)  # a target that is not noisy has no use for it
        low[v], high[v] = like.low[rows], like.high[rows]
        noisy[:, v] = noisy_by_block(s, plan.records, plan.block_r, like)[0]
        even[v], half[v] = _even(low[v][like.inside[rows]], high[v][like.inside[rows]])
    return Noisy(y, t_log, noisy, low, high, sd, even, half)


def _even(low: F64, high: F64) -> tuple[bool, float]:
    """Whether cells are finite and of one width, as far as numbers of their size can say, and half of that width."""
    if not len(low) or not (np.all(np.isfinite(low)) and np.all(np.isfinite(high))):
        return False, 0.0
    width = high - low
    exact = 4 * np.finfo(float).eps * float(max(np.abs(low).max(), np.abs(high).max()))
    same = bool(np.ptp(width) <= 1e-9 * float(width.max()) + exact)
    return same, 0.5 * float(np.mean(width)) if same else 0.0
