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

from confide.attack.beliefs.newton import EXACT, Patterns, minimised
from confide.core.run.memory import remembered
from confide.core.run.threads import one_blas_thread
from confide.frames.columns import F64, I64

PENALTIES = (300.0, 100.0, 30.0, 10.0, 3.0, 1.0)
"""Penalties that are tried, the smoothest first."""
WORSE = 2.0
"""Nats below the best at which less smoothing is not tried any more."""
TRIED, FEWEST = 30_000, 4_000
"""Penalties are judged on the first patterns: so many times categories, and no fewer patterns than that."""
FITTED = 4_000_000
"""Patterns times categories up to which the last fit has them all. Else it has the first of them, and its constants are
then set so that all categories have their shares in the file."""
CHUNK = 5_000
"""Patterns whose leverages are computed at once."""
COLUMNS = 1_000
"""Up to so many, what a record adds to its own category takes into account how columns overlap."""
ROUGH, PRECISE = 1e-6, 1e-8
"""Relative change of the loss at which a fit ends: one that is only judged, and the last one."""
LARGE = 5_000
"""Patterns from which on a fit goes to the minimum itself, by Newton's method: nearly one per record, so that rounding
would decide where steps along slopes end. With fewer patterns those end near it; among hundreds of categories that is
smoother than the minimum, and better calibrated."""
ENOUGH = {ROUGH: 1e-4, PRECISE: EXACT}
"""The same for large fits: nats per record that the last step may have gained."""


def coefficients(designs: Sequence[sp.csr_matrix], counts: F64, held: F64, copies: float = 1.0) -> F64:
    """a and b, and the penalty in a last row, shape (2 + columns, K), of the design and penalty under which held-out
    records are likeliest.

    `designs`: (g, columns) each, the smallest first; the number of columns of the result says which was taken.
    `counts`: (g, K). `held`: (g, K) those of records that are held out; `copies`: how many records say the same, since
    they are of one unit: penalties are then in units of so many. Patterns are in an order that has to do with nothing.
    """
    design, penalty, start = _chosen(designs, counts, held, copies)
    many = FITTED // counts.shape[1]
    b = fit_coefficients(design[:many], counts[:many], penalty, start)
    b = b if len(counts) <= many else _with_shares(design, counts, b)
    return np.vstack([b, np.full(b.shape[1], penalty)])


def judged(k: int) -> int:
    """Patterns that penalties are judged on, at most, given the number of categories."""
    return max(TRIED // k, FEWEST)


def own_weight(design: sp.csr_matrix, counts: F64, b: F64, penalty: float) -> sp.csr_matrix:
    """How much one of the records adds to the linear predictor of its own pattern and category, where there is one.

    To first order, category by category: its leverage times what is left of it, 1 - p. The part of the constant stays:
    what the whole file has does not depend on one record.
    """
    added = remembered(_added, design, counts, b, penalty)
    return sp.csr_matrix((added, np.nonzero(counts)), shape=counts.shape)


def _added(design: sp.csr_matrix, counts: F64, b: F64, penalty: float) -> F64:
    """The same for each pattern and category that has a record, in order."""
    x, rows = _with_constant(design), counts.sum(axis=1)
    added, at = np.zeros(np.count_nonzero(counts)), np.nonzero(counts)
    log_sum = _log_sums(x, b)
    for k, mine in _by_category(at[1]):
        p = np.exp(np.asarray(x @ b[:, k]) - log_sum)
        curvature, seen = rows * p * (1 - p), at[0][mine]
        leverage = _leverages(x, curvature, penalty, seen) - 1 / max(float(curvature.sum()), 1e-300)
        added[mine] = np.maximum(leverage, 0.0) * (1 - p[seen])
    return added


def _by_category(codes: I64) -> list[tuple[int, I64]]:
    order = np.argsort(codes, kind="stable")
    cuts = np.flatnonzero(np.diff(codes[order])) + 1
    return [(int(codes[mine[0]]), mine) for mine in np.split(order, cuts) if len(mine)]


def _log_sums(x: sp.csr_matrix, b: F64) -> F64:
    """log of the sum over categories, shape (g,), some patterns at a time."""
    step, out = max(FITTED // b.shape[1], 1), np.empty(x.shape[0])
    for at in range(0, x.shape[0], step):
        eta = np.asarray(x[at : at + step] @ b)
        top = eta.max(axis=1)
        out[at : at + step] = top + np.log(np.exp(eta - top[:, None]).sum(axis=1))
    return out


def _leverages(x: sp.csr_matrix, curvature: F64, penalty: float, seen: I64) -> F64:
    """x' H^-1 x of some patterns; where there are very many columns, as if these did not overlap."""
    ridge = np.full(x.shape[1], penalty)
    ridge[0] = 1e-8
    if x.shape[1] > COLUMNS:
        return np.asarray(x[seen] @ (1 / (np.asarray(x.T @ curvature) + ridge)))
    h = (x.T @ x.multiply(curvature[:, None]).tocsr()).toarray()
    h[np.diag_indices_from(h)] += ridge
    with one_blas_thread():
        inverse, some = np.linalg.inv(h), x[seen]
    return np.concatenate([_products(some[a : a + CHUNK], inverse) for a in range(0, len(seen), CHUNK)])


def _products(x: sp.csr_matrix, inverse: F64) -> F64:
    """x' H^-1 x of every row of indicators: sums of a few numbers of H^-1."""
    at = np.repeat(np.arange(x.shape[0]), np.diff(x.indptr))
    return np.bincount(at, weights=x.data * (x @ inverse)[at, x.indices], minlength=x.shape[0]).astype(float)


def fit_coefficients(
    design: sp.csr_matrix, counts: F64, penalty: float, start: F64 | None = None, precision: float = PRECISE,
    patterns: Patterns | None = None,
) -> F64:  # fmt: skip
    """The same for one design and penalty; `patterns`: made of the design, where they are there."""
    if len(counts) >= LARGE:
        return minimised(patterns or design, counts, penalty, start, ENOUGH[precision])
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
    """The design and penalty of the fit to the other records that makes those held out likeliest, and that fit."""
    many = judged(counts.shape[1])
    whole, out = counts[:many], held[:many]
    penalties = [copies * p for p in PENALTIES]
    best = -np.inf
    found: tuple[sp.csr_matrix, float, F64 | None] = (designs[0], penalties[-1], None)
    for design in designs:
        some, start, top = design[:many], None, -np.inf
        patterns = Patterns.of(some) if len(whole) >= LARGE else None
        for penalty in penalties[:1] if design.shape[1] == 0 else penalties:
            start = fit_coefficients(some, whole - out, penalty, start, ROUGH, patterns)
            value = float((out * log_probabilities(some, start)).sum())
            if value > best:
                best, found = value, (design, penalty, start)
            if value < top - WORSE:
                break
            top = max(top, value)
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
