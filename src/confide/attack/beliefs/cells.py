"""Cells: patterns of what is certain (and of what helps), by which beliefs differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from confide.core.errors import InputError
from confide.core.run.alongside import alongside
from confide.frames.columns import F64, I64, combine
from confide.frames.distinct import by_code

FINE = 100
"""Predictors with at most this many codes enter as they are; others in bins of about equal counts."""
BINS = 32


@dataclass(frozen=True, eq=False)
class Cells:
    """`design`: sparse indicators, one row per cell. `cuts`: per predictor the lower ends of its bins but the first,
    None where codes enter as they are. `patterns`: shape (predictors, cells), each cell's codes or bins, -1 for none.
    """

    design: sp.csr_matrix
    cuts: tuple[I64 | None, ...]
    patterns: I64

    def __len__(self) -> int:
        return int(self.design.shape[0])

    @classmethod
    def fit(
        cls, files: Sequence[Sequence[I64]], sizes: Sequence[int], lengths: Sequence[int], weight: F64 | None = None
    ) -> tuple[Cells, list[I64]]:
        """The patterns of several files' predictors, the first of which is the reference that bins are cut by; and the
        cell of each row of each file. `weight`: of the reference's rows.
        """
        if not sizes:
            one = cls(sp.csr_matrix(np.ones((1, 1))), (), np.zeros((0, 1), dtype=np.int64))
            return one, [np.zeros(n, dtype=np.int64) for n in lengths]
        cuts = tuple(cuts_of(codes, size, weight) for codes, size in zip(files[0], sizes, strict=True))
        columns = [np.concatenate([binned(f[i], cut) for f in files]) for i, cut in enumerate(cuts)]
        widths = [size if cut is None else len(cut) + 1 for size, cut in zip(sizes, cuts, strict=True)]
        first, inverse = by_code(combine(columns, widths))
        patterns = np.stack([c[first] for c in columns])
        starts = np.concatenate([[0], np.cumsum([w + 1 for w in widths])])
        at = (patterns + 1 + starts[:-1, None]).T
        rows = np.repeat(np.arange(len(first)), at.shape[1])
        design = sp.csr_matrix((np.ones(at.size), (rows, at.ravel())), shape=(len(first), int(starts[-1])))
        keep = np.asarray(design.sum(axis=0)).ravel() > 0
        ends = np.cumsum(lengths)[:-1]
        return cls(design[:, keep], cuts, patterns), np.split(inverse, ends)

    def place(self, codes: Sequence[I64], n: int) -> I64:
        """The cell of each of n rows, given its codes of all predictors."""
        if not self.cuts:
            return np.zeros(n, dtype=np.int64)
        columns = [
            np.concatenate([p, binned(c, cut)]) for p, c, cut in zip(self.patterns, codes, self.cuts, strict=True)
        ]
        whole = combine(columns, [int(c.max(initial=-1)) + 1 for c in columns])
        known, asked = whole[: len(self)], whole[len(self) :]
        order = np.argsort(known, kind="stable")
        at = order[np.clip(np.searchsorted(known, asked, sorter=order), 0, len(known) - 1)]
        if not np.array_equal(known[at], asked):
            raise InputError(
                "Some rows have certain values in a combination for which no belief was fitted; fit again."
            )
        return np.asarray(at)


def cuts_of(reference: I64, size: int, weight: F64 | None) -> I64 | None:
    """Bins of about equal counts in the reference (codes rise with values); None where codes are few enough."""
    if size <= FINE:
        return None
    return alongside(_even_cuts, reference) if weight is None else _even_cuts(reference, weight)


def _even_cuts(reference: I64, weight: F64 | None = None) -> I64:
    known = np.sort(reference[reference >= 0]) if weight is None else _repeated(reference, weight)
    if not len(known):
        return np.zeros(0, dtype=np.int64)
    return np.unique(known[(np.arange(1, BINS) * len(known)) // BINS])


def _repeated(reference: I64, weight: F64) -> I64:
    """The codes of all rows in rising order, given how often each is there."""
    there = reference >= 0
    count = np.bincount(reference[there], weights=weight[there]).astype(np.int64)
    return np.repeat(np.arange(len(count)), count)


def binned(codes: I64, cuts: I64 | None) -> I64:
    return codes if cuts is None else alongside(_in_bins, codes, also=cuts.tobytes(), given=(cuts,))


def _in_bins(codes: I64, cuts: I64) -> I64:
    return np.where(codes < 0, -1, np.searchsorted(cuts, codes, side="right"))
