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

from confide.attack.beliefs import shares
from confide.attack.beliefs.class_model import scores_given_classes
from confide.frames.columns import F64, I64, Bools

BINS = 24
"""Bins of about equal counts, besides the values that are common enough for one of their own."""
COMMON = 0.02
PENALTY = 0.1
"""Ridge of the regression, in units of one record: with more of it known values would seem to say less than they do."""
LEAST = 1e-6
"""How far a bin's middle is from either end, at least, as a share of all."""


@dataclass(frozen=True, eq=False)
class BinnedBelief:
    """`cuts`: lower ends of the bins but the first. Pr(bin given cell and class) is proportional to the product of
    `of_cells`, (bins, cells), and `of_classes`, (K, bins)."""

    cuts: F64
    of_cells: F64
    of_classes: F64

    @property
    def bins(self) -> int:
        return len(self.of_cells)

    @classmethod
    def fit(
        cls, design: sp.csr_matrix, cell: I64, classes: I64, k: int, y: F64, rows: I64, weight: F64 | None = None
    ) -> tuple[BinnedBelief, tuple[I64, F64]]:
        """Fit on the reference rows given, whose values are y, and which stand for so many; and those rows with their
        scores."""
        cuts = _cuts(y, weight)
        made = cls(cuts, *_products(
            *scores_given_classes(design, cell[rows], classes[rows], k, np.searchsorted(cuts, y, side="right"),
                                  len(cuts) + 1, PENALTY, weight)
        ))  # fmt: skip
        return made, (rows, made.at(y, cell[rows], classes[rows])[1])

    def of(self, y: F64) -> I64:
        """The bin of each value."""
        return np.asarray(np.searchsorted(self.cuts, y, side="right"))

    def at(self, y: F64, cell: I64, k: I64) -> tuple[F64, F64]:
        """log Pr of each value's bin given cell and class, aligned, and its normal score."""
        p, middle = np.empty((2, len(y)))
        shares.aligned(self.of_cells, self.of_classes, cell, k, self.of(y), p, middle)
        return np.log(p), scored(middle)


def scored(middle: F64) -> F64:
    """Normal scores of the middles of bins, as shares of all below them."""
    return np.asarray(ndtri(np.clip(middle, LEAST, 1 - LEAST)))


def _products(on_cells: F64, on_classes: F64) -> tuple[F64, F64]:
    """Exponentials of scores that are added, the largest of each cell and class 1."""
    cells, classes = (np.exp(each - each.max(axis=1, keepdims=True)) for each in (on_cells, on_classes))
    return np.ascontiguousarray(cells.T), np.ascontiguousarray(classes)


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


def log_values(parts: Sequence[tuple[BinnedBelief, F64]], cell: I64, r: F64 | None, asked: Bools | None = None) -> F64:
    """log Pr of all known values together given cell and class, shape (n, K), those that are missing left out; `r` as
    `correlation` gave it; `asked`: in which classes, of the same shape (None: all), 0 elsewhere."""
    shape = len(cell), len(parts[0][0].of_classes)
    out = np.zeros(shape)
    at, k = np.nonzero(np.ones(shape, dtype=bool) if asked is None else asked)
    there = ~np.isnan([y[at] for _, y in parts])
    log_p, u = np.zeros((2, len(parts), len(at)))
    for v, (belief, y) in enumerate(parts):
        mine = np.flatnonzero(there[v])
        log_p[v, mine], u[v, mine] = belief.at(y[at[mine]], cell[at[mine]], k[mine])
    out[at, k] = log_p.sum(axis=0)
    if r is None:
        return out
    for pattern in np.unique(there, axis=1).T:
        which, mine = np.flatnonzero(pattern), np.flatnonzero((there == pattern[:, None]).all(axis=0))
        own = r[np.ix_(which, which)]
        excess = np.linalg.inv(own) - np.eye(len(which))
        some = u[np.ix_(which, mine)]
        out[at[mine], k[mine]] -= 0.5 * (np.einsum("in,ij,jn->n", some, excess, some) + np.linalg.slogdet(own)[1])
    return out


def _cuts(y: F64, weight: F64 | None = None) -> F64:
    """Where bins begin: common values stand alone, the rest is shared out evenly."""
    values, of = np.unique(y, return_inverse=True)
    count = np.bincount(of, weight)
    n = int(count.sum())
    common = values[count >= max(COMMON * n, 2)]
    even = values[np.searchsorted(np.cumsum(count), (np.arange(1, BINS) * n) // BINS, side="right")]
    after = values[np.minimum(np.searchsorted(values, common, side="right"), len(values) - 1)]
    cuts = np.unique(np.concatenate([even, common, after]))
    return np.asarray(cuts[cuts > values[0]])
