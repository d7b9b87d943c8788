r"""People of a cell who are not in the sample: F - f given f, Poisson or overdispersed.

A person of the population who meets a cell is right with 1 / E(F); a record is right with E(1 / F), which is larger,
since large cells hold more people. Both are written as 1 / (f + others).
"""

from __future__ import annotations

import numpy as np

from confide.frames.columns import F64

NODES, WEIGHTS = np.polynomial.legendre.leggauss(64)
CHUNK = 8192
"""Cells whose integrands are in memory together."""
FAR = 40.0
"""The integrand is left out where it is below exp(-FAR)."""


def expected_others(f: F64, x: F64, spread: F64, behind: bool) -> F64:
    """N_t - f of cells with f records: x for targets from the population, 1 / E(1 / F) - f for people behind records.

    `x`: the mean of F - f. `spread`: its variance is x (1 + spread); 0 for Poisson.

    >>> f, x, none = np.ones(1), np.array([1.8]), np.zeros(1)
    >>> [float((1 / (f + expected_others(f, x, none, behind)))[0].round(4)) for behind in (False, True)]
    [0.3571, 0.4637]
    """
    return np.asarray(np.maximum(1 / mean_inverse(f, x, spread) - f, 0.0)) if behind else x


def mean_inverse(f: F64, x: F64, spread: F64) -> F64:
    r"""E(1 / F) for f >= 1 and F - f negative binomial with mean x and variance :math:`x (1 + \theta)`.

    .. math:: E(1/F) = \int_0^1 v^{f-1} E(v^{F-f})\, dv = \int (1 - u)^{f-1} e^{-(x - \theta) t}\, dt,
        \quad u = (e^{\theta t} - 1)/\theta \in [0, 1]

    by Gauss and Legendre's rule where the integrand is not negligible; for :math:`\theta \to 0`, Poisson, u = t.
    """
    ends = range(0, len(f), CHUNK)
    return np.concatenate([np.zeros(0), *(_integral(*(a[i : i + CHUNK] for a in (f, x, spread))) for i in ends)])


def _integral(f: F64, x: F64, spread: F64) -> F64:
    theta = np.maximum(spread, 1e-12)
    rate = x - theta
    end = np.minimum(np.log1p(theta) / theta, FAR / np.maximum(rate + f - 1, 1e-300))
    t = end[:, None] * ((NODES + 1) / 2)
    rest = np.clip(1 - np.expm1(theta[:, None] * t) / theta[:, None], 0.0, 1.0)
    with np.errstate(divide="ignore"):
        log = np.where(f[:, None] > 1, (f[:, None] - 1) * np.log(rest), 0.0) - rate[:, None] * t
    return np.asarray(np.exp(log) @ WEIGHTS * (end / 2))
