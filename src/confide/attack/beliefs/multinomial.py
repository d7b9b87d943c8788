r"""Multinomial regression on distinct patterns, with the amount of smoothing chosen by held-out likelihood.

.. math:: \Pr(k \mid g) \propto \exp(a_k + x_g' b_k), \qquad
   \min_{a, b} \; -\sum_{g, k} n_{gk} \log \Pr(k \mid g) + \frac{\lambda}{2} \sum_k \lVert b_k \rVert^2

Notation
--------
g : pattern of predictors, x_g its indicators
k : category
n_gk : how many records have both
lambda : the penalty, in units of one record; a is free
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp
from scipy.optimize import minimize

from confide.core.run.threads import one_blas_thread
from confide.frames.columns import F64

PENALTIES = (100.0, 30.0, 10.0, 3.0, 1.0, 0.3)
"""Penalties that are tried, the smoothest first."""
HELD_OUT = 1 / 3
"""Share of the records on which penalties are judged."""
WORSE = 2.0
"""Nats below the best at which less smoothing is not tried any more."""
TRIED = 500_000
"""Patterns times categories beyond which penalties are judged on some of the patterns."""
STEPS, PRECISION = 200, 1e-9


def coefficients(designs: Sequence[sp.csr_matrix], counts: F64) -> F64:
    """a and b, shape (1 + columns, K), of the design and penalty under which held-out records are likeliest.

    `designs`: (g, columns) each, the smallest first; the number of columns of the result says which was taken.
    `counts`: (g, K).
    """
    design, penalty = _chosen(designs, counts)
    return fit_coefficients(design, counts, penalty)


def fit_coefficients(design: sp.csr_matrix, counts: F64, penalty: float, start: F64 | None = None) -> F64:
    """The same for one design and penalty."""
    x = _with_constant(design)
    p, k = x.shape[1], counts.shape[1]
    back, rows, total = x.T.tocsr(), counts.sum(axis=1, keepdims=True), float(counts.sum())
    seen = np.asarray(back @ counts)
    ridge = np.full((p, 1), penalty)
    ridge[0] = 1e-8

    def loss(flat: F64) -> tuple[float, F64]:
        b = flat.reshape(p, k)
        eta = np.asarray(x @ b)
        top = eta.max(axis=1, keepdims=True)
        weight = np.exp(eta - top)
        norm = weight.sum(axis=1, keepdims=True)
        value = float((rows * (top + np.log(norm))).sum() - (b * seen).sum() + 0.5 * (ridge * b * b).sum())
        weight *= rows / norm
        return value / total, ((np.asarray(back @ weight) - seen + ridge * b) / total).ravel()

    if start is None:
        start = np.zeros((p, k))
        start[0] = np.log((counts.sum(axis=0) + 0.5) / (total + 0.5 * k))
    with one_blas_thread():
        found = minimize(
            loss, start.ravel(), jac=True, method="L-BFGS-B",
            options={"maxiter": STEPS, "ftol": PRECISION, "gtol": 1e-7},
        )  # fmt: skip
    return np.asarray(found.x.reshape(p, k))


def log_probabilities(design: sp.csr_matrix, b: F64) -> F64:
    """log Pr(k given g), shape (g, K)."""
    eta = np.asarray(_with_constant(design) @ b)
    eta -= eta.max(axis=1, keepdims=True)
    return np.asarray(eta - np.log(np.exp(eta).sum(axis=1, keepdims=True)))


def _chosen(designs: Sequence[sp.csr_matrix], counts: F64) -> tuple[sp.csr_matrix, float]:
    """The design and penalty of the fit to two thirds of the records that makes the others likeliest.

    Which records are held out depends on counts alone, not on the order of rows.
    """
    rng = np.random.default_rng(20_050_101)
    kept = np.arange(len(counts))
    if counts.size > TRIED:
        kept = np.sort(rng.permutation(len(counts))[: max(TRIED // counts.shape[1], 1)])
    whole = np.rint(counts[kept])
    out = rng.binomial(whole.astype(np.int64), HELD_OUT).astype(float)
    best, found = -np.inf, (designs[0], PENALTIES[-1])
    for design in designs:
        start, top = None, -np.inf
        for penalty in PENALTIES:
            start = fit_coefficients(design[kept], whole - out, penalty, start)
            value = float((out * log_probabilities(design[kept], start)).sum())
            if value > best:
                best, found = value, (design, penalty)
            if value < top - WORSE:
                break
            top = max(top, value)
    return found


def _with_constant(design: sp.csr_matrix) -> sp.csr_matrix:
    return sp.hstack([np.ones((design.shape[0], 1)), design]).tocsr()
