r"""Rows and columns of R brought to their sums by turns (Sinkhorn's scaling), for what a sampler proposes.

.. math:: u_a = -\log \sum_b m_b R_{ab} e^{-p_b}, \qquad p_b = \log \sum_a n_a R_{ab} e^{u_a}

Where everybody has a record and every record an owner, a factor for each row and one for each column change the weights
of all matchings alike. With these, a target's row is close to its marginals, so that few proposals are refused. Any
factors are right, so that a few rounds are enough.
"""

from __future__ import annotations

import numpy as np

from confide.core.run.compile import compiled


@compiled
def balance(start, col, log_r, n, m, price, top, total, rounds):  # type: ignore[no-untyped-def]
    """So many rounds; `price` (B,) is changed. To work in: `top`, `total` (B,)."""
    for _ in range(rounds):
        for b in range(len(m)):
            top[b], total[b] = -np.inf, 0.0
        for a in range(len(n)):
            lo, hi = start[a], start[a + 1]
            peak, mass = -np.inf, 0.0
            for i in range(lo, hi):
                peak = max(peak, log_r[i] - price[col[i]])
            for i in range(lo, hi):
                mass += m[col[i]] * np.exp(log_r[i] - price[col[i]] - peak)
            u = -peak - np.log(mass)
            for i in range(lo, hi):
                b, value = col[i], log_r[i] + u
                if value > top[b]:
                    total[b] = total[b] * np.exp(top[b] - value) + n[a]
                    top[b] = value
                else:
                    total[b] += n[a] * np.exp(value - top[b])
        for b in range(len(m)):
            if total[b] > 0.0:
                price[b] = top[b] + np.log(total[b])
