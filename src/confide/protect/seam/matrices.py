"""Steps as matrices: what A, B and C of M = A X B + C are for a step that is a product of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from confide.frames.columns import I64, Column

if TYPE_CHECKING:
    import scipy.sparse as sp


@dataclass(frozen=True, eq=False)
class Parts:
    """A step as a product of matrices, M = A X B + C; None for the identity, or for nothing added.

    `columns`: as the step itself releases them, for the type and precision of the product; none where that follows
    from the values.
    """

    a: Any = None
    b: Any = None
    c: Any = None
    columns: tuple[Column, ...] = ()


def selection(rows: I64, n: int) -> sp.csr_array:
    """The matrix that takes the rows given: a permutation, or where fewer than n are given a sub-permutation.

    >>> import numpy as np
    >>> selection(np.array([1, 0]), 3).toarray()
    array([[0., 1., 0.],
           [1., 0., 0.]])
    """
    from scipy.sparse import csr_array

    return csr_array((np.ones(len(rows)), rows, np.arange(len(rows) + 1)), shape=(len(rows), n))
