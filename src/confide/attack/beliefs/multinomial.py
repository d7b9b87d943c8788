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

PENALTIES = (100.0, 30.0, 10.0, 3.0, 1.0)
"""Penalties that are tried, the smoothest first."""
WORSE = 2.0
"""Nats below the best at which less smoothing is not tried any more."""
TRIED, FEWEST = 150_000, 4_000
"""Penalties are judged on the first patterns: so many times categories, and no fewer patterns than that."""
FITTED = 4_000_000
"""Patterns times categories up to which the last fit has them all. Else it has the first of them, and its constants are
then set so that all categories have their shares in the file."""
ROUGH, PRECISE = 1e-6, 1e-8
"""Relative change of the loss at which a fit ends: one that is only judged, and the last one."""


def coefficients(designs: Sequence[sp.csr_matrix], counts: F64, held: F64, copies: float = 1.0) -> F64:
    """a and b, shape (1 + columns, K), of the design and penalty under which held-out records are likeliest.

    `designs`: (g, columns) each, the smallest first; the number of columns of the result says which was taken.
    `counts`: (g, K). `held`: (g, K) those of records that are held out; `copies`: how many records say the same, since
    they are of one unit: penalties are then in units of so many. Patterns are in an order that has to do with nothing.
    """
    design, penalty, start = _chosen(designs, counts, held, copies)
    many = FITTED // counts.shape[1]
    b = fit_coefficients(design[:many], counts[:many], penalty, start)
    return b if len(counts) <= many else _with_shares(design, counts, b)


def fit_coefficients(
    design: sp.csr_matrix, counts: F64, penalty: float, start: F64 | None = None, precision: float = PRECISE
) -> F64:
    """The same for one design and penalty."""
    x = _with_constant(design)
    p, k = x.shape[1], counts.shape[1]
    back, rows, total = x.T.tocsr(), counts.sum(axis=1, keepdims=True), float(counts.sum())
    seen, share = np.asarray(back @ counts), counts.sum(axis=0) / total
    ridge = np.full((p, 1), penalty)
    ridge[0] = 1e-8
    # About the square roots of the curvatures: steps are then of one size in all directions.
    scale = np.sqrt((np.asarray(back @ rows) * np.maximum(share * (1 - share), 1e-4) + ridge + 1e-3) / total)

    def loss(flat: F64) -> tuple[float, F64]:
        b = flat.reshape(p, k) / scale
        eta = np.asarray(x @ b)
        top = eta.max(axis=1, keepdims=True)
        weight = np.exp(eta - top)
        norm = weight.sum(axis=1, keepdims=True)
        value = float((rows * (top + np.log(norm))).sum() - (b * seen).sum() + 0.5 * (ridge * b * b).sum())
        weight *= rows / norm
        return value / total, ((np.asarray(back @ weight) - seen + ridge * b) / (total * scale)).ravel()

    if start is None:
        start = np.zeros((p, k))
        start[0] = np.log((counts.sum(axis=0) + 0.5) / (total + 0.5 * k))
    with one_blas_thread():
        options = {"maxiter": 300, "ftol": precision, "gtol": 1e-7}
        found = minimize(loss, (start * scale).ravel(), jac=True, method="L-BFGS-B", options=options)
    return np.asarray(found.x.reshape(p, k) / scale)


def log_probabilities(design: sp.csr_matrix, b: F64) -> F64:
    """log Pr(k given g), shape (g, K)."""
    eta = np.asarray(_with_constant(design) @ b)
    eta -= eta.max(axis=1, keepdims=True)
    return np.asarray(eta - np.log(np.exp(eta).sum(axis=1, keepdims=True)))


def _chosen(
    designs: Sequence[sp.csr_matrix], counts: F64, held: F64, copies: float
) -> tuple[sp.csr_matrix, float, F64 | None]:
    """The design and penalty of the fit to the other records that makes those held out likeliest, and that fit.

    A larger design is not tried with less smoothing than is best for a smaller one.
    """
    many = max(TRIED // counts.shape[1], FEWEST)
    whole, out = counts[:many], held[:many]
    penalties = [copies * p for p in PENALTIES]
    best, least = -np.inf, 0.0
    found: tuple[sp.csr_matrix, float, F64 | None] = (designs[0], penalties[-1], None)
    for design in designs:
        some, start, top = design[:many], None, -np.inf
        for penalty in (p for p in penalties if least <= p <= 10 * (least or np.inf)):
            start = fit_coefficients(some, whole - out, penalty, start, ROUGH)
            value = float((out * log_probabilities(some, start)).sum())
            if value > best:
                best, found = value, (design, penalty, start)
            if value < top - WORSE:
                break
            top = max(top, value)
        least = found[1]
    return found


def _with_shares(design: sp.csr_matrix, counts: F64, b: F64) -> F64:
    """Constants under which every category is expected as often as it is there, after a few rounds."""
    b, there, rows = b.copy(), counts.sum(axis=0), counts.sum(axis=1)
    step = max(FITTED // counts.shape[1], 1)
    for _ in range(3):
        expected = np.zeros(len(there))
        for at in range(0, len(rows), step):
            expected += rows[at : at + step] @ np.exp(log_probabilities(design[at : at + step], b))
        b[0] += np.log((there + 0.5) / (expected + 0.5))
    return b


def _with_constant(design: sp.csr_matrix) -> sp.csr_matrix:
    return sp.hstack([np.ones((design.shape[0], 1)), design]).tocsr()
