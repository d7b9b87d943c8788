r"""Multinomial regression on distinct patterns, with the amount of smoothing chosen by held-out likelihood.

.. math:: \Pr(k \mid g) \propto \exp(a_k + x_g' b_k), \qquad
   \min_{a, b} \; -\sum_{g, k} n_{gk} \log \Pr(k \mid g) + \frac{\lambda}{2} \sum_k \lVert b_k \rVert^2

Notation
--------
g : pattern of predictors, x_g its indicators
k : category
n_gk : how many records have both
lambda : the penalty, in units of one record; a is free
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from confide.attack.beliefs.combined_columns import with_constant
from confide.attack.beliefs.newton import EXACT, Patterns, minimised
from confide.frames.columns import F64

PENALTIES = (300.0, 100.0, 30.0, 10.0, 3.0, 1.0)
"""Penalties that are tried, the smoothest first."""
WORSE = 2.0
"""Nats below the best at which less smoothing is not tried any more."""
TRIED, FEWEST = 30_000, 4_000
"""Penalties are judged on the first patterns: so many times categories, and no fewer patterns than that."""
FITTED = 4_000_000
"""Patterns times categories up to which the last fit has them all. Else it has the first of them, and its constants are
then set so that all categories have their shares in the file."""
ROUGH = 1e-5
"""Nats per record that are left in a fit that is only judged."""
LARGE = 5_000
"""Patterns from which on columns stay in the order of their numbers, which hardly moves where a fit ends."""


def coefficients(designs: Sequence[sp.csr_matrix], counts: F64, held: F64, copies: float = 1.0) -> F64:
    """a and b, and the penalty in a last row, shape (2 + columns, K), of the design and penalty under which held-out
    records are likeliest.

    `designs`: (g, columns) each, the smallest first; the number of columns of the result says which was taken.
    `counts`: (g, K). `held`: (g, K) those of records that are held out; `copies`: how many records say the same, since
    they are of one unit: penalties are then in units of so many. Patterns are in an order that has to do with nothing.
    """
    design, penalty, start = _chosen(designs, counts, held, copies)
    many = FITTED // counts.shape[1]
    b = fit_coefficients(design[:many], counts[:many], penalty, start)
    b = b if len(counts) <= many else _with_shares(design, counts, b)
    return np.vstack([b, np.full(b.shape[1], penalty)])


def judged(k: int) -> int:
    """Patterns that penalties are judged on, at most, given the number of categories."""
    return max(TRIED // k, FEWEST)


def fit_coefficients(
    design: sp.csr_matrix | Patterns, counts: F64, penalty: float, start: F64 | None = None, enough: float = EXACT
) -> F64:
    """The same for one design and penalty, at the minimum of the loss; `enough`: see `minimised`."""
    return minimised(design, counts, penalty, start, enough)


def log_probabilities(design: sp.csr_matrix, b: F64) -> F64:
    """log Pr(k given g), shape (g, K)."""
    eta = np.asarray(with_constant(design) @ b)
    eta -= eta.max(axis=1, keepdims=True)
    return np.asarray(eta - np.log(np.exp(eta).sum(axis=1, keepdims=True)))


def _chosen(
    designs: Sequence[sp.csr_matrix], counts: F64, held: F64, copies: float
) -> tuple[sp.csr_matrix, float, F64 | None]:
    """The design and penalty of the fit to the other records that makes those held out likeliest, and that fit."""
    many = judged(counts.shape[1])
    whole, out = counts[:many], held[:many]
    if not (whole - out).any():  # a few records, all of them held out
        return designs[0], copies * PENALTIES[0], None
    best = -np.inf
    found: tuple[sp.csr_matrix, float, F64 | None] = (designs[0], copies * PENALTIES[-1], None)
    for design in designs:
        penalties = [copies * p for p in (PENALTIES[:1] if design.shape[1] == 0 else PENALTIES)]
        trial = _Trial(design[:many], whole - out, out)
        value, penalty, b = _near(trial, penalties, found)
        if value > best:
            best, found = value, (design, penalty, b)
    return found


@dataclass(frozen=True, eq=False)
class _Trial:
    """Some patterns `x`, with the records that are fitted and those that are held out."""

    x: sp.csr_matrix
    counts: F64
    out: F64

    @cached_property
    def patterns(self) -> Patterns:
        return Patterns.of(self.x)

    def fit(self, penalty: float, start: F64 | None) -> tuple[float, F64]:
        """How likely records that are held out are, and the fit."""
        b = fit_coefficients(self.patterns, self.counts, penalty, start, ROUGH)
        return float((self.out * log_probabilities(self.x, b)).sum()), b


Judged = tuple[float, float, F64 | None]
"""How likely the records held out are, at best, with the penalty and the fit."""


def _near(trial: _Trial, penalties: Sequence[float], before: tuple[sp.csr_matrix, float, F64 | None]) -> Judged:
    """Penalties from the one that was best for a smaller design on, or a middle one: smoother ones until one is worse
    than the best, and, unless these were better, less smooth ones. Where a fit ends does not depend on where it began,
    so that none need be tried from afar."""
    design, penalty, b = before
    known = b is not None and design.shape[1] > 0
    middle = penalties.index(penalty) if known else len(penalties) // 2
    first = trial.fit(penalties[middle], _padded(b, trial.x.shape[1]) if known and b is not None else None)
    best: Judged = (first[0], penalties[middle], first[1])
    for ahead in (penalties[:middle][::-1], penalties[middle + 1 :]):
        start = first[1]
        for penalty in ahead if best[0] <= first[0] + WORSE else ():
            value, start = trial.fit(penalty, start)
            if value < best[0] - WORSE:
                break
            best = max(best, (value, penalty, start), key=lambda each: each[0])
    return best


def _padded(b: F64, columns: int) -> F64:
    """Coefficients of a design as those of one that has more columns after its own."""
    return np.vstack([b, np.zeros((columns + 1 - len(b), b.shape[1]))])


def _with_shares(design: sp.csr_matrix, counts: F64, b: F64) -> F64:
    """Constants under which every category is expected as often as it is there, after a few rounds."""
    b, there, rows = b.copy(), counts.sum(axis=0), counts.sum(axis=1)
    step = max(FITTED // counts.shape[1], 1)
    for _ in range(3):
        expected = np.zeros(len(there))
        for at in range(0, len(rows), step):
            expected += rows[at : at + step] @ np.exp(log_probabilities(design[at : at + step], b))
        b[0] += np.log((there + 0.5) / (expected + 0.5))
    return b
