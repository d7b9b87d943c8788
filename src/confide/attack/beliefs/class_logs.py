"""Pr(joint category given cell) of many cells and many categories: made for those that somebody asks for.

Who synthesises age, sex, race and marital status at once leaves thousands of joint categories, and as many cells as
records where other variables say something of them: all at once take gigabytes. A range of targets asks for a few
categories, since most of what is known of them contradicts all others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from confide.attack.beliefs.class_model import Link, chain_of, log_joint_probabilities
from confide.attack.beliefs.held_out import Held
from confide.core.run.threads import one_blas_thread
from confide.frames.columns import F64, I64

DENSE = 12_000_000
"""Cells times joint categories up to which all are made at once, and kept."""


@dataclass(frozen=True, eq=False)
class ClassLogs:
    """Indexed like an array of shape (cells, K): by cells, and by cells and categories that are aligned with them."""

    links: tuple[Link, ...]
    shape: tuple[int, int]

    def __getitem__(self, cell: I64) -> F64:
        return self.some(cell, np.arange(self.shape[1]))

    def some(self, cell: I64, classes: I64) -> F64:
        """For cells and joint categories, rising: shape (len(cell), len(classes))."""
        cells, of = np.unique(cell, return_inverse=True)
        out = np.zeros((len(cells), 1))
        known = np.zeros(1, dtype=np.int64)  # the prefixes that columns of `out` are
        with one_blas_thread():
            for link in self.links:
                mine = np.unique(link.of[classes])
                asked = link.asked[0][mine], link.asked[1][mine]
                out = out[:, np.searchsorted(known, asked[0])] + link.log_p(asked, cells)
                known = mine
        return np.asarray(out[:, np.searchsorted(known, self.links[-1].of[classes])][of])

    def __array__(self, dtype: object = None, copy: bool | None = None) -> F64:
        """All of it, for whoever has room."""
        return self[np.arange(self.shape[0])]


def class_logs(
    design: sp.csr_matrix, patterns: I64, cell: I64, own: I64, classes: I64, sizes: Sequence[int], held: Held,
    weight: F64 | None = None,
) -> F64 | ClassLogs:  # fmt: skip
    """As `log_joint_probabilities`; where these are many, made when they are asked for."""
    given = design, patterns, cell, own, classes, tuple(sizes), held, weight
    shape = design.shape[0], classes.shape[1]
    if shape[0] * shape[1] <= DENSE:
        return log_joint_probabilities(*given)
    return ClassLogs(tuple(chain_of(*given)), shape)


def some(logs: F64 | ClassLogs, cell: I64, classes: I64 | None) -> F64:
    """For cells and categories, rising (None: all), shape (len(cell), len(classes))."""
    if classes is None:
        return np.asarray(logs[cell])
    return logs.some(cell, classes) if isinstance(logs, ClassLogs) else np.asarray(logs[np.ix_(cell, classes)])
