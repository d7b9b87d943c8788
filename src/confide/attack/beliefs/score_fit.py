r"""Regression of normal scores that are known only up to the share of ranks that a value holds.

A value's tied ranks are an interval of scores, cut where the file's own shares cut a standard normal. The score given
cell and class is :math:`s \sim N(\mu_{ck}, \tau^2)` and what is seen is the interval, so that the likelihood is

.. math:: \prod_i \left[ \Phi\left(\frac{e_{v_i + 1} - \mu_i}{\tau}\right)
          - \Phi\left(\frac{e_{v_i} - \mu_i}{\tau}\right) \right]

and its maximum comes by expectation and maximisation. The same cut points are used when the belief is read off: with
nothing to predict from, mu = 0 and tau = 1, and the belief is the file's distribution however many values are tied.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.linalg import cho_factor, cho_solve
from scipy.special import ndtr

from confide.attack.beliefs.class_factors import indicators
from confide.core.run.threads import one_blas_thread
from confide.frames.columns import F64, I64

PENALTY = 1.0
"""Ridge on the coefficients, in units of one record."""
ROUNDS, ENOUGH = 200, 1e-5
"""Rounds at most, and the change of mu and tau at which they stop."""
PART = 2**16
"""Rows that are looked at together, so that what is computed of them stays small."""
NARROWEST = 1e-3
"""The least tau."""


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of a regression by their distinct pairs of cell and class: `of` is each row's pair, `each` the predictors of
    a pair, `weight` of a row (None: 1). `solve` is the ridge regression of numbers on the predictors."""

    of: I64
    each: sp.csr_matrix
    weight: F64 | None
    factor: tuple[F64, bool]

    @classmethod
    def make(cls, design: sp.csr_matrix, cell: I64, classes: I64, k: int, weight: F64 | None) -> Rows:
        pair, of = np.unique(cell * k + classes, return_inverse=True)
        each = sp.hstack([design[pair // k], indicators(pair % k, k)]).tocsr()
        gram = (each.T @ sp.diags(np.bincount(of, weights=weight).astype(float)) @ each).toarray()
        gram[np.diag_indices_from(gram)] += PENALTY
        with one_blas_thread():
            return cls(of, each, weight, cho_factor(gram))

    @property
    def alone(self) -> bool:
        """Whether all rows are of one cell and class: then there is nothing to predict from."""
        return bool(self.each.shape[0] == 1)

    def solve(self, s: F64) -> F64:
        total = np.bincount(self.of, weights=s if self.weight is None else s * self.weight)
        with one_blas_thread():
            return np.asarray(cho_solve(self.factor, self.each.T @ total))

    def predict(self, beta: F64) -> F64:
        return np.asarray((self.each @ beta)[self.of])


def plain_fit(rows: Rows, score: F64) -> tuple[F64, float, F64]:
    """Least squares on scores as they are: coefficients, tau and residuals."""
    beta = rows.solve(score)
    residual = score - rows.predict(beta)
    return beta, _tau(residual**2, rows.weight), residual


def interval_fit(rows: Rows, low: F64, high: F64, beta: F64, tau: float) -> tuple[F64, float]:
    """Coefficients and tau for scores known to lie between low and high, from a first guess."""
    mean, spread = np.empty(len(low)), np.empty(len(low))
    parts = [slice(at, at + PART) for at in range(0, len(low), PART)]
    for _ in range(ROUNDS):
        mu = rows.each @ beta
        for some in parts:
            mean[some], spread[some] = _between(low[some], high[some], mu[rows.of[some]], tau)
        last, was = beta, tau
        beta = rows.solve(mean)
        mu = rows.each @ beta
        for some in parts:
            spread[some] += (mean[some] - mu[rows.of[some]]) ** 2
        tau = _tau(spread, rows.weight)
        if abs(tau - was) < ENOUGH and np.abs(beta - last).max() < ENOUGH:
            break
    return beta, tau


def _between(low: F64, high: F64, mu: F64, tau: float) -> tuple[F64, F64]:
    """Mean and variance of a normal score between two bounds."""
    a, b = (low - mu) / tau, (high - mu) / tau
    with np.errstate(invalid="ignore"):  # -inf + inf where one value holds everything
        upper = a + b > 0
    a, b = np.where(upper, -b, a), np.where(upper, -a, b)
    mass = ndtr(b) - ndtr(a)
    at_a, at_b = _density(a), _density(b)
    with np.errstate(divide="ignore", invalid="ignore"):
        shift = (at_a - at_b) / mass
        spread = 1 + (_times(a, at_a) - _times(b, at_b)) / mass - shift**2
    far = ~np.isfinite(shift) | (mass <= 0)  # so far off that only the nearer bound counts
    shift, spread = np.where(far, b, np.clip(shift, a, b)), np.where(far, 0.0, np.clip(spread, 0.0, 1.0))
    return mu + tau * np.where(upper, -shift, shift), tau * tau * spread


def _density(x: F64) -> F64:
    return np.asarray(np.exp(-0.5 * x * x) * 0.3989422804014327)


def _times(x: F64, density: F64) -> F64:
    return np.where(np.isinf(x), 0.0, np.where(np.isinf(x), 0.0, x) * density)


def _tau(square: F64, weight: F64 | None) -> float:
    return max(float(np.sqrt(np.average(square, weights=weight))), NARROWEST)
