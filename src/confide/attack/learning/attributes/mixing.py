"""Small steps by which laws are put together: sums at places, likelihoods, laws without the own record."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from confide.attack.learning.attributes.coarse import LEAST
from confide.attack.learning.attributes.row_sums import added_up
from confide.frames.columns import F64, I64

SPARSE = 0.05
"""Share of possible pairs of records and values below which the others are not stored."""


def places_among(use: I64, many: int) -> I64:
    """Where each of many places is among those in use, -1 for none."""
    back = np.full(many, -1)
    back[use] = np.arange(len(use))
    return back


def thin(found: F64) -> Any:
    """Likelihoods of pairs, sparse where few of them are possible."""
    return sp.csr_matrix(found) if np.count_nonzero(found) < SPARSE * found.size else found


def by_group(weight: F64, of: I64, many: int) -> F64:
    """Columns added up by group."""
    return spread(weight, of, many)


def spread(weight: F64, at: I64, many: int) -> F64:
    """Columns added up at their places, shape (n, many)."""
    if len(at) and len(np.unique(at)) == len(at):  # each has its own
        back = np.full(many, -1)
        back[at] = np.arange(len(at))
        found = np.take(weight, back, axis=1)
        found[:, back < 0] = 0.0
        return found
    return added_up(weight, np.arange(len(at)), np.ones(len(at)), at, many)


def own_worth(mine: F64, left: F64, total: F64, after: F64 | float = 0.0) -> F64:
    """The own record's weight beside the others', NaN where no other record is left."""
    records = left - after > LEAST * total
    return np.where(records, mine / np.where(records, left, 1.0), np.nan)


def without_own(cut: F64, left: F64, total: F64, e: F64) -> F64:
    """Laws without the own record; what is believed where no record is left."""
    cut = np.maximum(cut, 0.0)
    whole = cut.sum(axis=1)
    fine = (left > LEAST * total) & (whole > 0)
    return np.where(fine[:, None], cut / np.where(whole > 0, whole, 1.0)[:, None], e)
