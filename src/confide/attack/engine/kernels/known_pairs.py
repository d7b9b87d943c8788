"""Compiled loop over all pairs of some targets and some records: one known noisy number.

Notation as in `common`: targets t, records j.
"""

from __future__ import annotations

import numpy as np

from confide.attack.engine.kernels.arithmetic import log_cell
from confide.core.run.compile import compiled


@compiled
def add_normal_pairs(first, last, y, noisy_t, t_log, sd, low, high, noisy_j, out):  # type: ignore[no-untyped-def]
    """log Pr(z_j given y_t) of targets first..last-1, added to `out` (targets, records): 0 where neither is noisy, -inf
    where one of them is. `t_log` is added to each noisy target's."""
    for t in range(first, last):
        for j in range(len(low)):
            if noisy_t[t] and noisy_j[j]:
                out[t, j] += t_log[t] + log_cell(low[j], high[j], y[t], sd[t])
            elif noisy_t[t] or noisy_j[j]:
                out[t, j] = -np.inf
