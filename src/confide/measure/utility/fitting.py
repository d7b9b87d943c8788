"""Linear and logistic regressions with weights and robust variances.

Notation: X (n, k) regressors, y (n,), w (n,) weights, b (k,) coefficients, H = X'WX (or X'W p(1-p) X).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from confide.core.errors import InputError
from confide.frames.columns import F64, Bools
from confide.measure.utility.design import Matrices

ALIASED = 1e-11
"""A column of which no more than this share of its square is left after those before it has no coefficient."""
STEPS = 40


@dataclass(frozen=True, eq=False)
class Fit:
    """`coefficients` and `variances`, shape (k,), NaN where a column is a combination of those before it."""

    coefficients: F64
    variances: F64

    @property
    def known(self) -> Bools:
        """Coefficients that the data determine."""
        return np.asarray(~np.isnan(self.coefficients))


def independent(gram: F64) -> Bools:
    """Columns that are no combination of earlier ones, from X'WX: a Cholesky factor that skips, shape (k,).

    >>> import numpy as np
    >>> x = np.array([[1.0, 0, 1], [1, 1, 0], [1, 1, 0]])
    >>> independent(x.T @ x)
    array([ True,  True, False])
    """
    scale = np.sqrt(np.diag(gram))
    safe = np.where(scale > 0, scale, 1.0)
    left = gram / np.outer(safe, safe)
    kept = np.zeros(len(gram), dtype=bool)
    for j in range(len(gram)):
        pivot = left[j, j]
        if scale[j] > 0 and pivot > ALIASED:
            kept[j] = True
            row = left[j].copy()
            left -= np.outer(row, row / pivot)
    return kept


def chance(eta: F64) -> tuple[F64, F64]:
    """p = 1 / (1 + exp(-eta)), and -log(1 - p).

    >>> import numpy as np
    >>> chance(np.array([-800.0, 0.0, 800.0]))[0]
    array([0. , 0.5, 1. ])
    """
    e = np.exp(-np.abs(eta))
    return np.where(eta >= 0, 1.0, e) / (1.0 + e), np.maximum(eta, 0.0) + np.log1p(e)


def fit(m: Matrices, family: str, intercept: bool, where: str) -> Fit:
    r"""Coefficients and their robust variances.

    .. math:: V = \frac{n}{n-k} H^{-1} \Big(\sum_i w_i^2 e_i^2 x_i x_i'\Big) H^{-1}

    with residuals e = y - Xb or y - p: the variance for weighted samples (Binder 1983), White's (1980) without weights.
    """
    w = m.w * m.count
    x, shift, scale = _scaled(m.x, w, intercept)
    gram = (x * w[:, None]).T @ x
    kept = independent(gram)
    n = m.count.sum()
    if not kept.any() or kept.sum() >= n:
        raise InputError(f"{where}: there are too few records, or nothing varies, so no coefficient can be estimated.")
    z, gram = (x, gram) if kept.all() else (x[:, kept], gram[np.ix_(kept, kept)])
    b, residual, hessian = _linear(z, m.y, w, gram) if family == "linear" else logistic(z, m.y, w, where)
    score = z * (m.w * residual * np.sqrt(m.count))[:, None]
    k = z.shape[1]
    inverse = np.linalg.inv(hessian)
    cov = n / (n - k) * inverse @ (score.T @ score) @ inverse
    back = np.diag(1 / scale[kept])
    if intercept:
        back[0] -= np.where(np.arange(k) > 0, shift[kept] / scale[kept], 0.0)
    coefficients, variances = np.full(len(kept), np.nan), np.full(len(kept), np.nan)
    coefficients[kept] = back @ b
    variances[kept] = np.maximum(np.einsum("ij,jk,ik->i", back, cov, back), 0.0)
    return Fit(coefficients, variances)


def _scaled(x: F64, w: F64, intercept: bool) -> tuple[F64, F64, F64]:
    """Columns of mean 0 (where there is an intercept, column 0) and mean square 1, for the sake of rounding."""
    shift = w @ x / w.sum() if intercept else np.zeros(x.shape[1])
    if intercept:
        shift[0] = 0.0
    centred = x - shift
    size = np.sqrt(w @ centred**2 / w.sum())
    largest = np.maximum(x.max(axis=0), -x.min(axis=0))
    scale = np.where(size > 1e-13 * largest, size, 0.0)
    centred[:, scale == 0] = 0.0
    scale = np.where(scale > 0, scale, 1.0)
    centred /= scale
    return centred, shift, scale


def _linear(x: F64, y: F64, w: F64, hessian: F64) -> tuple[F64, F64, F64]:
    b = np.linalg.solve(hessian, x.T @ (w * y))
    b += np.linalg.solve(hessian, x.T @ (w * (y - x @ b)))  # one refinement: normal equations lose digits
    return np.asarray(b), y - x @ b, hessian


def logistic(x: F64, y: F64, w: F64, where: str) -> tuple[F64, F64, F64]:
    """Maximum likelihood by Newton's steps (IRLS), halved where they overshoot. Coefficients, residuals, Hessian.

    Where some combination of regressors predicts the response perfectly (separation), coefficients grow without end and
    do not exist: that is refused, not reported as large numbers.
    """
    if not 0 < float(np.average(y, weights=w)) < 1:
        raise InputError(f"{where}: the response has one value only in one of the files.")
    b, at = np.zeros(x.shape[1]), -np.inf
    step: F64 = np.zeros_like(b)
    for _ in range(STEPS):
        for half in range(12):
            trial = b + step * 0.5**half
            eta = x @ trial
            p, log_not = chance(eta)
            now = float(w @ (y * eta - log_not))
            if now >= at - 1e-9 * abs(at):
                break
        b, at = trial, now
        hessian = (x * (w * p * (1 - p))[:, None]).T @ x
        if not independent(hessian).all():
            break
        step = np.asarray(np.linalg.solve(hessian, x.T @ (w * (y - p))), dtype=float)
        if np.abs(step).max() < 1e-9 * (1 + np.abs(b).max()):
            return b, y - p, hessian
    raise InputError(
        f"{where}: the regressors predict the response perfectly for some records (separation), so that coefficients "
        "do not exist. Leave out the term that does it, or merge small categories."
    )
