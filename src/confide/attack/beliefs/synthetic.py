r"""What known values say of a record that holds none of them: beliefs about synthetic variables.

The release tells nothing of such a variable by itself, but the target's own value goes with other things that the
record shows: a kept tenure says much about a known property value. So the belief in a value y is a multinomial
regression of the bin that holds it on all that is certain and all that helps, cell by cell and class by class; common
values are bins of their own. Several numbers hang together through a normal copula,

.. math:: \Pr(y \mid c, k) = \prod_v \Pr(b_v \mid c, k) \cdot \frac{N(u;\ 0, R)}{\prod_v N(u_v;\ 0, 1)}

with :math:`u_v` the normal score of the middle of bin b's share given c and k, and R the correlation of u in the
reference file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.special import ndtri

from confide.attack.beliefs.class_model import log_given_classes
from confide.frames.columns import F64, I64

BINS = 24
"""Bins of about equal counts, besides the values that are common enough for one of their own."""
COMMON = 0.02
PENALTY = 0.1
"""Ridge of the regression, in units of one record: with more of it known values would seem to say less than they do."""
TOGETHER = 1_000
"""Cells whose scores are made at a time: a large file has as many cells as records, and all at once take gigabytes."""


@dataclass(frozen=True, eq=False)
class BinnedBelief:
    """`cuts`: lower ends of the bins but the first; `log_p`: (cells, K, bins) log probabilities; `u`: the middles of
    bins as normal scores."""

    cuts: F64
    log_p: F64
    u: F64

    @classmethod
    def fit(
        cls, design: sp.csr_matrix, cell: I64, classes: I64, k: int, y: F64, rows: I64
    ) -> tuple[BinnedBelief, tuple[I64, F64]]:
        """Fit on the reference rows given, whose values are y; and those rows with their scores."""
        cuts = _cuts(y)
        bins = np.searchsorted(cuts, y, side="right")
        log_p = log_given_classes(design, cell[rows], classes[rows], k, bins, len(cuts) + 1, PENALTY)
        u = np.empty_like(log_p)
        for a in range(0, len(u), TOGETHER):
            p = np.exp(log_p[a : a + TOGETHER])
            u[a : a + TOGETHER] = ndtri(np.clip(np.cumsum(p, axis=2) - 0.5 * p, 1e-6, 1 - 1e-6))
        return cls(cuts, log_p, u), (rows, u[cell[rows], classes[rows], bins])

    def at(self, y: F64, cell: I64) -> tuple[F64, F64]:
        """log Pr of each value's bin given cell and class, and its normal score, both of shape (n, K)."""
        bins = np.searchsorted(self.cuts, y, side="right")
        return self.log_p[cell, :, bins], self.u[cell, :, bins]


def correlation(scores: Sequence[tuple[I64, F64]]) -> F64 | None:
    """R of the scores that several beliefs gave to reference rows; None where there is nothing to correlate."""
    if len(scores) < 2:
        return None
    rows = scores[0][0]
    for mine, _ in scores[1:]:
        rows = np.intersect1d(rows, mine, assume_unique=True)
    if len(rows) < 3:
        return None
    both = np.stack([score[np.searchsorted(mine, rows)] for mine, score in scores])
    return np.asarray(0.999 * np.corrcoef(both) + 0.001 * np.eye(len(scores)))


def log_values(parts: Sequence[tuple[BinnedBelief, F64]], cell: I64, r: F64 | None) -> F64:
    """log Pr of all known values together given cell and class, shape (n, K), those that are missing left out; `r` as
    `correlation` gave it."""
    missing = np.isnan([y for _, y in parts])
    if missing.any():
        out = np.zeros((len(cell), parts[0][0].log_p.shape[1]))
        for pattern in np.unique(missing, axis=1).T:
            at, which = np.flatnonzero((missing == pattern[:, None]).all(axis=0)), np.flatnonzero(~pattern).tolist()
            some = [(parts[i][0], parts[i][1][at]) for i in which]
            if some:
                out[at] = log_values(some, cell[at], None if r is None else r[np.ix_(which, which)])
        return out
    found = [belief.at(y, cell) for belief, y in parts]
    out = np.asarray(np.sum([log_p for log_p, _ in found], axis=0))
    if r is None:
        return out
    u = np.stack([score for _, score in found])
    excess = np.linalg.inv(r) - np.eye(len(parts))
    return np.asarray(out - 0.5 * np.einsum("ink,ij,jnk->nk", u, excess, u) - 0.5 * np.linalg.slogdet(r)[1])


def _cuts(y: F64) -> F64:
    """Where bins begin: common values stand alone, the rest is shared out evenly."""
    values, count = np.unique(y, return_counts=True)
    common = values[count >= max(COMMON * len(y), 2)]
    even = np.sort(y)[(np.arange(1, BINS) * len(y)) // BINS]
    after = values[np.minimum(np.searchsorted(values, common, side="right"), len(values) - 1)]
    cuts = np.unique(np.concatenate([even, common, after]))
    return np.asarray(cuts[cuts > values[0]])
