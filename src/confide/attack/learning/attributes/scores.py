r"""A number given what is known: least squares on normal scores, each person left out by the hat matrix.

The score of a bin is the mean of a standard normal between the bin's quantiles. With predictors x,

.. math:: \hat s_t = x_t' (X'X + \alpha I)^{-1} X's, \qquad \hat s_{t(-t)} = \frac{\hat s_t - h_t s_t}{1 - h_t}

and the distribution over bins is a normal one around it, whose spread is that of the left-out residuals. Where nothing
predicts the number this is the file's own distribution.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, ndtri

from confide.attack.engine.kernels.tails import erfc
from confide.core.run.compile import compiled
from confide.frames.columns import F64, I64

RIDGE = 1.0
"""Added to the diagonal: as much as one record with every indicator alone."""


@dataclass(frozen=True, eq=False)
class ScoreFit:
    """`edges` (B + 1,): of the bins on the scale of scores; `score` (B,); `inverse`: (X'X + alpha I)^-1; `beta`."""

    edges: F64
    score: F64
    inverse: F64
    beta: F64
    sizes: tuple[int, ...]
    tau: float

    @classmethod
    def fit(cls, features: Sequence[I64], sizes: Sequence[int], y: I64, bins: int, many: F64) -> ScoreFit:
        """`features`: codes of each predictor, -1 for none; `y`: bins, of those that are not missing; `many`: for how
        many each row stands."""
        count = np.bincount(y, weights=many, minlength=bins).astype(float)
        upto = np.concatenate([[0.0], np.cumsum(count)]) / count.sum()
        edges = ndtri(upto)
        density = np.where(np.isfinite(edges), np.exp(-0.5 * np.where(np.isfinite(edges), edges, 0) ** 2), 0.0)
        density /= np.sqrt(2 * np.pi)
        with np.errstate(divide="ignore", invalid="ignore"):
            score = np.where(count > 0, (density[:-1] - density[1:]) / np.diff(upto), 0.0)
        x = _design(features, sizes, len(y))
        products, sums = np.eye(1 + sum(sizes)) * RIDGE, np.zeros(1 + sum(sizes))
        _add_products(x, many, score[y], products, sums)
        inverse: F64 = np.asarray(np.linalg.inv(products), dtype=np.float64)
        beta = inverse @ sums
        mu, h = _predicted(x, beta, inverse)
        off = (score[y] - mu) / np.maximum(1 - h, 1e-6)
        within = float((count * _spread(edges, upto)).sum() / count.sum())  # of scores inside a bin
        tau = float(np.sqrt(min(many @ off**2 / many.sum() + within, 1.0)))
        return cls(edges, score, inverse, beta, tuple(sizes), max(tau, 1e-3))

    def mix(self, out: F64, features: Sequence[I64], own: I64, share: float) -> None:
        """Beliefs in bins, missing last, (n, B + 1), become those of this fit with a share, missing as it is; `own`:
        the bin to be left out, -1 for none."""
        _mix(out, self._left_out(features, own), self.edges, self.tau, share)

    def own(self, features: Sequence[I64], own: I64) -> F64:
        """What each row's own bin has, the row left out, shape (n,)."""
        left = self._left_out(features, own)
        return np.asarray(ndtr((self.edges[own + 1] - left) / self.tau) - ndtr((self.edges[own] - left) / self.tau))

    def _left_out(self, features: Sequence[I64], own: I64) -> F64:
        """Predicted scores, the own one left out."""
        x = _design(features, self.sizes, len(own))
        mu, h = _predicted(x, self.beta, self.inverse)
        left = (mu - h * self.score[np.maximum(own, 0)]) / np.maximum(1 - h, 1e-6)
        return np.asarray(np.where(own >= 0, left, mu))


def _spread(edges: F64, upto: F64) -> F64:
    """Variance of a standard normal inside each bin."""
    e = np.where(np.isfinite(edges), edges, 0.0)
    d = np.where(np.isfinite(edges), np.exp(-0.5 * e**2) / np.sqrt(2 * np.pi), 0.0)
    p = np.maximum(np.diff(upto), 1e-300)
    mean = (d[:-1] - d[1:]) / p
    return np.asarray(np.maximum(1 + (e[:-1] * d[:-1] - e[1:] * d[1:]) / p - mean**2, 0.0))


def _design(features: Sequence[I64], sizes: Sequence[int], n: int) -> I64:
    """Indicators of all codes, and a constant: the columns that are 1 in each row, shape (n, 1 + features), -1 for
    none."""
    out = np.zeros((n, 1 + len(sizes)), dtype=np.int64)
    start = 1
    for k, (code, size) in enumerate(zip(features, sizes, strict=True)):
        out[:, k + 1] = np.where((code >= 0) & (code < size), start + code, -1)
        start += size
    return out


def _predicted(x: I64, beta: F64, inverse: F64) -> tuple[F64, F64]:
    """x_i' beta and x_i' (X'X + alpha I)^-1 x_i of every row."""
    mu, h = np.zeros(len(x)), np.zeros(len(x))
    _predict(x, beta, inverse, mu, h)
    return mu, h


@compiled
def _add_products(x, many, score, products, sums):  # type: ignore[no-untyped-def]
    """X'X and X's, each row as often as it stands for."""
    for i in range(len(x)):
        for at in x[i]:
            if at >= 0:
                sums[at] += many[i] * score[i]
                for other in x[i]:
                    if other >= 0:
                        products[at, other] += many[i]


@compiled
def _predict(x, beta, inverse, mu, h):  # type: ignore[no-untyped-def]
    for i in range(len(x)):
        for at in x[i]:
            if at >= 0:
                mu[i] += beta[at]
                for other in x[i]:
                    h[i] += inverse[at, other] if other >= 0 else 0.0


@compiled
def _mix(out, left, edges, tau, share):  # type: ignore[no-untyped-def]
    last, scale = out.shape[1] - 1, 0.7071067811865476 / tau
    for i in range(len(out)):
        there, below = share * (1.0 - out[i, last]), 0.5 * erfc((left[i] - edges[0]) * scale)
        for b in range(last):
            upto = 0.5 * erfc((left[i] - edges[b + 1]) * scale)
            out[i, b] = there * (upto - below) + (1.0 - share) * out[i, b]
            below = upto
