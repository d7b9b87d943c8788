"""Steps as matrices: what A, B and C of M = A X B + C are for a swap, a sample, noise and microaggregation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from confide.frames.columns import F64, I64, Column


@dataclass(frozen=True, eq=False)
class Parts:
    """A, B and C; None for the identity, or for nothing added. `columns`: as the step itself releases them, for the
    type and precision of the product; none where that follows from the values."""

    a: Any = None
    b: Any = None
    c: Any = None
    columns: tuple[Column, ...] = ()


def transposition(n: int, i: int, j: int) -> sp.csr_array:
    """The n x n matrix that exchanges rows i and j."""
    rows = np.arange(n)
    rows[[i, j]] = rows[[j, i]]
    return selection(rows, n)


def selection(rows: I64, n: int) -> sp.csr_array:
    """The matrix that takes the rows given: a permutation, or where fewer than n are given a sub-permutation."""
    return sp.csr_array((np.ones(len(rows)), rows, np.arange(len(rows) + 1)), shape=(len(rows), n))


def swap_matrix(partner: I64) -> sp.csr_array:
    """The product of the transpositions of all pairs; `partner` is each record's, itself where it has none.

    >>> import numpy as np
    >>> swap_matrix(np.array([1, 0, 2])).toarray()
    array([[0., 1., 0.],
           [1., 0., 0.],
           [0., 0., 1.]])
    """
    return selection(partner, len(partner))


def sample_matrix(rows: I64, n: int) -> sp.csr_array:
    """A sub-permutation: the sampled rows of an identity matrix."""
    return selection(rows, n)


def noise_matrices(x: F64, noisy: F64) -> F64:
    """C, the noise that was added to X; 0 where a value is missing."""
    return np.nan_to_num(noisy - x)


def microaggregation_matrix(group: I64) -> sp.csr_array:
    """A with 1/(size of the group) where two records are in one group; a record in none (-1) is left alone.

    >>> import numpy as np
    >>> microaggregation_matrix(np.array([0, 1, 0])).toarray()
    array([[0.5, 0. , 0.5],
           [0. , 1. , 0. ],
           [0.5, 0. , 0.5]])
    """
    n = len(group)
    own = np.where(group >= 0, group, group.max(initial=-1) + 1 + np.arange(n))
    code = np.unique(own, return_inverse=True)[1]
    member = sp.csr_array((np.ones(n), (np.arange(n), code)), shape=(n, int(code.max()) + 1))
    share = sp.csr_array((1.0 / np.bincount(code)[code], (np.arange(n), code)), shape=member.shape)
    return sp.csr_array(share @ member.T)
