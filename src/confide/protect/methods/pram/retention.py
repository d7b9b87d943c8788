"""Invariant PRAM of a variable with very many categories: the same mechanism without its matrix."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from confide.core.random.draws import Draws
from confide.frames.columns import F64, I64, Column, Records
from confide.protect.likelihoods.match import Match
from confide.protect.seam.evidence import Evidence
from confide.protect.seam.fitted import Applied, Fitted, View
from confide.protect.shared.category_codes import joint_codes, level_codes, rows_in


@dataclass(frozen=True, eq=False)
class FittedRetention(Fitted):
    r"""A value is kept with probability `retention`, else drawn anew from the file's distribution `p`, shape (K,).

    The matrix :math:`P = \rho I + (1-\rho) 1 p^T` has K^2 entries but only two kinds: a released category b has the
    probability :math:`\rho + (1-\rho) p_b` where it is the true one, and :math:`(1-\rho) p_b` where it is not. The last
    entry of `p` stands for missing values.
    """

    variable: str
    column: Column
    p: F64
    retention: float

    def apply(self, original: Records, current: Records, draws: Draws) -> Applied:  # noqa: ARG002
        column = current[self.variable]
        codes, size = level_codes(column, self.column)
        drawn = self.drawn(codes, draws.uniform(current.rows))
        return Applied([column.with_values(np.where(drawn == size - 1, -1, drawn))])

    def drawn(self, codes: I64, u: F64) -> I64:
        """Released categories of true ones at uniform numbers: the row of the matrix, cumulated, inverted at u."""
        below = (1 - self.retention) * np.cumsum(self.p)
        before = np.where(codes > 0, below[codes - 1], 0.0)
        others = np.searchsorted(below, np.where(u < before, u, u - self.retention), side="right")
        kept = (u >= before) & (u < below[codes] + self.retention)
        return np.where(kept, codes, np.minimum(others, len(self.p) - 1)).astype(np.int64)

    @property
    def in_parts(self) -> bool:
        return True

    def evidence(self, view: View, about: tuple[str, ...]) -> Evidence:
        file = view.counted(about).records
        code, of, size = joint_codes(file, about, view.chain_after)
        code = code[rows_in(file, view.released)]
        every = self.column.with_values(np.concatenate([np.arange(len(self.column.levels)), [-1]]))
        image = of(Records([every]))
        share = np.bincount(image + 1, weights=self.p, minlength=size + 1)[1:]  # merged categories add up
        drawn = (1 - self.retention) * share[code]
        with np.errstate(divide="ignore"):
            return Evidence(about, likelihood=Match(code, np.log(self.retention + drawn), np.log(drawn), of))
