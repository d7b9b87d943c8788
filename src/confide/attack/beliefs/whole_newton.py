"""Newton steps of multinomial regressions with few coefficients: all second derivatives in one matrix.

Coefficients sum to 0 over categories, so that there are K - 1 for each column: those of an orthonormal basis Q of what
sums to 0. The ridge is then the same as before.

Notation
--------
Q : (K - 1, K), orthonormal rows that sum to 0
H : second derivatives, (columns (K - 1), columns (K - 1)), those of one column side by side
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from confide.attack.beliefs import pattern_sums
from confide.frames.columns import F64

WHOLE = 400
"""Coefficients up to which second derivatives are held together."""


def whole_fits(columns: int, k: int) -> bool:
    """Whether there are few enough coefficients.

    >>> whole_fits(100, 5), whole_fits(101, 5)
    (True, False)
    """
    return columns * (k - 1) <= WHOLE


class Whole:
    """Newton steps of patterns `x`, with so many records `rows`, and a `ridge` (columns,)."""

    def __init__(self, x: sp.csr_matrix, rows: F64, ridge: F64) -> None:
        self.start, self.at = x.indptr.astype(np.int64), x.indices.astype(np.int64)
        self.rows, self.ridge = rows, ridge
        self.factor: F64 | None = None

    def step(self, p: F64, slope: F64, enough: float) -> F64 | None:
        """The step; None where so small a decrement is left. Derivatives of the step before say that as well."""
        q = balanced_basis(p.shape[1])
        downhill = -slope @ q.T
        if self.factor is not None and float((downhill * self._solved(downhill)).sum()) <= enough:
            return None
        many = downhill.size
        h = np.zeros((many, many))
        pattern_sums.curvatures(self.start, self.at, self.rows, p, q, h)
        h[np.diag_indices(many)] += np.repeat(self.ridge, len(q))
        self.factor = factored(h[None])[0]
        found = self._solved(downhill)
        return None if float((downhill * found).sum()) <= enough else found @ q

    def _solved(self, downhill: F64) -> F64:
        from scipy.linalg.lapack import dpotrs

        return np.asarray(dpotrs(self.factor, downhill.ravel(), lower=1)[0].reshape(downhill.shape))


def balanced_basis(k: int) -> F64:
    """Q: the rest of each category against all before it.

    >>> balanced_basis(2).round(3).tolist()
    [[-0.707, 0.707]]
    """
    out = np.zeros((k - 1, k))
    for i in range(1, k):
        out[i - 1, :i], out[i - 1, i] = -1.0, i
        out[i - 1] /= np.sqrt(i * (i + 1))
    return out


def factored(held: F64) -> F64:
    """Lower Cholesky factors of symmetric matrices (n, c, c), given on and below their diagonals. Where rounding leaves
    one that is not positive, its diagonal is raised by as little as makes it so."""
    try:
        return np.asarray(np.linalg.cholesky(held))
    except np.linalg.LinAlgError:
        return np.stack([_raised(each) for each in held])


def _raised(held: F64) -> F64:
    place = np.diag_indices(len(held))
    size = np.maximum(np.abs(held[place]), 1e-300)
    for more in (0.0, *(10.0**power for power in range(-14, 3))):
        held = held.copy()
        held[place] += size * more
        try:
            return np.asarray(np.linalg.cholesky(held))
        except np.linalg.LinAlgError:
            continue
    raise np.linalg.LinAlgError("second derivatives are not numbers")
