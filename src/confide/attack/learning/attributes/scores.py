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
        weighed = x.multiply(many[:, None]).T.tocsr()
        inverse = np.linalg.inv((weighed @ x).toarray() + RIDGE * np.eye(x.shape[1]))
        beta = inverse @ (weighed @ score[y])
        h = _leverage(x, inverse)
        off = (score[y] - x @ beta) / np.maximum(1 - h, 1e-6)
        within = float((count * _spread(edges, upto)).sum() / count.sum())  # of scores inside a bin
        tau = float(np.sqrt(min(many @ off**2 / many.sum() + within, 1.0)))
        return cls(edges, score, inverse, beta, tuple(sizes), max(tau, 1e-3))

    def rows(self, features: Sequence[I64], own: I64) -> F64:
        """The distribution over bins, shape (n, B); `own`: the bin to be left out, -1 for none."""
        upto = ndtr((self.edges[None, :] - self._left_out(features, own)[:, None]) / self.tau)
        return np.asarray(np.diff(upto, axis=1))

    def own(self, features: Sequence[I64], own: I64) -> F64:
        """What each row's own bin has, the row left out, shape (n,)."""
        left = self._left_out(features, own)
        return np.asarray(ndtr((self.edges[own + 1] - left) / self.tau) - ndtr((self.edges[own] - left) / self.tau))

    def _left_out(self, features: Sequence[I64], own: I64) -> F64:
        """Predicted scores, the own one left out."""
        x = _design(features, self.sizes, len(own))
        mu, h = x @ self.beta, _leverage(x, self.inverse)
        left = (mu - h * self.score[np.maximum(own, 0)]) / np.maximum(1 - h, 1e-6)
        return np.asarray(np.where(own >= 0, left, mu))


def _spread(edges: F64, upto: F64) -> F64:
    """Variance of a standard normal inside each bin."""
    e = np.where(np.isfinite(edges), edges, 0.0)
    d = np.where(np.isfinite(edges), np.exp(-0.5 * e**2) / np.sqrt(2 * np.pi), 0.0)
    p = np.maximum(np.diff(upto), 1e-300)
    mean = (d[:-1] - d[1:]) / p
    return np.asarray(np.maximum(1 + (e[:-1] * d[:-1] - e[1:] * d[1:]) / p - mean**2, 0.0))


def _design(features: Sequence[I64], sizes: Sequence[int], n: int):  # type: ignore[no-untyped-def]
    """Indicators of all codes, and a constant: sparse, shape (n, 1 + sum of sizes)."""
    import scipy.sparse as sp

    at, row, start = [np.zeros(n, dtype=np.int64)], [np.arange(n)], 1
    for code, size in zip(features, sizes, strict=True):
        there = np.flatnonzero((code >= 0) & (code < size))
        at.append(start + code[there])
        row.append(there)
        start += size
    columns, rows = np.concatenate(at), np.concatenate(row)
    return sp.csr_matrix((np.ones(len(rows)), (rows, columns)), shape=(n, start))


def _leverage(x, inverse: F64) -> F64:  # type: ignore[no-untyped-def]
    """x_i' (X'X + alpha I)^-1 x_i of every row."""
    return np.asarray(x.multiply(x @ inverse).sum(axis=1)).ravel()
