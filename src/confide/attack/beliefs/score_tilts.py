r"""How several numbers depend on cell and class: which of them are at a spike, and where the others lie.

A value that more than a twentieth of rows has (zero, a minimum wage) is a spike: no continuous score describes who has
it. The rows fall into *patterns*, by which numbers are at which spike. A pattern has a probability given cell and
class, by multinomial regression; inside a pattern the file's own combinations are tilted towards the cell and class,

.. math:: \Pr(y_g \mid c, k) = \Pr(p_g \mid c, k)\; \frac{n_g\, r_g(c, k)}{\sum_{h \in p_g} n_h\, r_h(c, k)}, \qquad
          r_g(c, k) = \frac{N(s_g;\ \mu_{p c k}, \Sigma_p)}{N(s_g;\ \bar s_p, S_p)}

with s the normal scores of the numbers that are at no spike, :math:`\mu` their regression on cell and class among the
pattern's rows, :math:`\Sigma` the covariance of what it leaves over, and :math:`\bar s, S` the scores' own mean and
covariance there.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from confide.attack.beliefs.class_factors import indicators
from confide.attack.beliefs.class_model import log_given_classes
from confide.attack.beliefs.held_out import Held
from confide.attack.beliefs.regressions import FEWEST, SPIKE
from confide.attack.beliefs.score_fit import PENALTY
from confide.attack.beliefs.tilted_sums import log_tilted_sums
from confide.core.run.threads import one_blas_thread
from confide.frames.columns import F64, I64
from confide.frames.distinct import Distinct

FEW = 20
"""Patterns with fewer rows than this times the numbers that vary are not tilted."""
SMALL = 1e-6
"""Added to variances, so that numbers may repeat each other."""


@dataclass(frozen=True, eq=False)
class Predictors:
    """The reference's cells and classes: `design` (cells, columns); `cell`, `classes` of its rows, of `k` classes;
    `held`: which of them decide on smoothing."""

    design: sp.csr_matrix
    cell: I64
    classes: I64
    k: int
    held: Held

    def of(self, rows: I64) -> sp.csr_matrix:
        """Indicators of the cells and classes of rows."""
        cells = self.design[self.cell[rows]]
        return cells if self.k == 1 else sp.hstack([cells, indicators(self.classes[rows], self.k)]).tocsr()

    def by_cell(self, beta: F64) -> F64:
        """Predictions of several numbers for every cell and class, shape (numbers, cells, K)."""
        split = self.design.shape[1]
        of_class = beta[split:] if self.k > 1 else np.zeros((1, beta.shape[1]))
        return np.asarray((self.design @ beta[:split]).T[:, :, None] + of_class.T[:, None, :])


@dataclass(frozen=True, eq=False)
class Tilts:
    """`of`: (n,) the pattern of each row; `log_share`: (P, cells, K); `mu`: (P, d, cells, K), `precision` and
    `own_precision`: (P, d, d) of what regressions leave over and of the scores, 0 for numbers at a spike; `mean`: (P,
    d)."""

    of: I64
    log_share: F64
    mu: F64
    precision: F64
    mean: F64
    own_precision: F64

    @classmethod
    def fit(cls, values: F64, scores: F64, rows: I64, about: Predictors) -> Tilts:
        """Of the reference's rows given, with their values and scores, shape (d, n)."""
        d, n = values.shape
        spikes = [_spikes(y) for y in values]
        patterns = Distinct.rows(spikes, n)
        each, many = about.of(rows), len(patterns)
        mu = np.zeros((many, d, about.design.shape[0], about.k))
        precision, own_precision, mean = np.zeros((many, d, d)), np.zeros((many, d, d)), np.zeros((many, d))
        for p, first in enumerate(patterns.first):
            mine = np.flatnonzero(patterns.of == p)
            free = np.flatnonzero([spike[first] == 0 for spike in spikes])
            if not len(free) or len(mine) < FEW * len(free):
                continue
            s = scores[np.ix_(free, mine)]
            beta = _ridge(each[mine], s.T)
            left = s - (each[mine] @ beta).T
            at = np.ix_(free, free)
            precision[p][at], own_precision[p][at] = _inverse(left @ left.T / len(mine)), _inverse(np.cov(s))
            mean[p, free], mu[p, free] = s.mean(axis=1), about.by_cell(beta)
        own = about.design, about.cell[rows], about.classes[rows], about.k, patterns.of
        log_share = np.moveaxis(log_given_classes(*own, many, about.held.take(rows)), 2, 0)
        return cls(patterns.of, log_share, mu, precision, mean, own_precision)

    def log_own(self, scores: F64, of: I64) -> F64:
        """log of the density that the scores of combinations have anyway, but for a constant, shape (G,)."""
        gap = scores - self.mean[of].T
        return np.asarray(-0.5 * np.einsum("ig,gij,jg->g", gap, self.own_precision[of], gap))


def _spikes(y: F64) -> I64:
    """0 for a value that few rows have, else the number of its spike."""
    _, of, count = np.unique(y, return_inverse=True, return_counts=True)
    many = (count > SPIKE * len(y)) & (count >= FEWEST)
    return np.where(many, np.cumsum(many), 0)[of]


def _ridge(design: sp.csr_matrix, y: F64) -> F64:
    gram = (design.T @ design).toarray()
    gram[np.diag_indices_from(gram)] += PENALTY
    with one_blas_thread():
        return np.asarray(np.linalg.solve(gram, design.T @ y))


def _inverse(covariance: F64) -> F64:
    wide = np.atleast_2d(covariance)
    return np.asarray(np.linalg.inv(wide + SMALL * np.eye(len(wide))))


def log_norms(log_n: F64, scores: F64, of: I64, tilts: Tilts) -> F64:
    """log of the sum of masses of each pattern in every cell and class, shape (P, cells, K)."""
    many, d, cells, k = tilts.mu.shape
    out = np.full((many, cells * k), -np.inf)
    for p in range(many):
        mine = np.flatnonzero((of == p) & np.isfinite(log_n))
        if not len(mine):
            continue
        s, precision, mu = scores[:, mine], tilts.precision[p], tilts.mu[p].reshape(d, -1)
        base = log_n[mine] - 0.5 * np.einsum("ig,ij,jg->g", s, precision, s)
        slope, own = precision @ mu, -0.5 * np.einsum("ic,ij,jc->c", mu, precision, mu)
        out[p] = log_tilted_sums(base, s, slope) + own
    return out.reshape(many, cells, k)
