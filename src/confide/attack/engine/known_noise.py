"""Known noisy numbers, as the loops want them."""

from __future__ import annotations

import numpy as np

from confide.attack.engine.kernel_plan import KernelPlan, noisy_by_block
from confide.attack.engine.kernels.arguments import Noisy
from confide.protect.likelihoods.normal import Normal


def known_numbers(plan: KernelPlan) -> Noisy:
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
