r"""How likely it is to know what is known of somebody who is not in the release, given what is certain of them.

A record's evidence about values x that the intruder may have wrong, or that the file has wrong, is
:math:`\Pr(x \mid z_j)`. Beside the prior weight of absence it must be divided by the same for somebody unseen,

.. math:: \Pr(x \mid c) = \sum_k \Pr(k \mid c) \prod_v \Pr(x_v \mid k_v)

with c the cell of certain labels and k the joint categories of the variables in the form in which they are released;
numbers are put into bins, and :math:`\Pr(x \mid k)` is the mean over the file's values in the bin. Where a method
divides by a density of its own, over the whole file, only what the labels add to it is needed: the logarithm of the sum
given c, less that over the file (a tilt).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from confide.attack.beliefs.cells import Cells
from confide.attack.beliefs.class_model import log_joint_probabilities
from confide.attack.beliefs.held_out import Held
from confide.frames.columns import F64, I64
from confide.frames.distinct import Distinct

BINS = (32, 20, 12, 7)
"""Bins of about equal counts that each number is put into: the most that leave few enough joint categories."""
COMMON = 0.02
"""Values with at least this share of the file have a bin of their own."""
PER_SD, REACH = 8.0, 6.5
"""Values of the file are merged in so many steps per standard deviation of an error, and so many are looked at."""
TOGETHER = 400_000
"""Pairs of a known value and one of the file in one go."""
MOST = 3000
"""Joint categories beyond which variables are taken one by one."""


@dataclass(frozen=True, eq=False)
class Error:
    """How far known values of a number lie from the file's: the variance is a + b y^2."""

    a: float
    b: float = 0.0

    def steps(self, y: F64) -> F64:
        """Values on a scale on which every spread is so many units."""
        noise, slope = np.sqrt(max(self.a, 1e-12 * self.b, 1e-300)), np.sqrt(self.b)
        even = y / noise if not slope else np.arcsinh(slope * y / noise) / slope
        return np.asarray(PER_SD * even)

    def sd(self, y: F64) -> F64:
        """The standard deviation around each value."""
        return np.sqrt(np.maximum(self.a + self.b * y**2, 1e-300))


@dataclass(frozen=True, eq=False)
class Bins:
    """A number's values in the file, merged as far as its error cannot tell them apart, in rising order: `share` of
    each in its bin; `starts`: where bins begin, shape (bins,)."""

    values: F64
    share: F64
    starts: I64
    error: Error

    @classmethod
    def of(cls, y: F64, weight: F64 | None, most: int, error: Error) -> tuple[Bins, I64]:
        """About so many bins of values y; and the bin of each."""
        values, at = np.unique(y, return_inverse=True)
        count = np.bincount(at, weights=weight).astype(float)
        total, below = count.sum(), np.cumsum(count) - count
        common = count >= max(COMMON * total, 2.0)
        new = np.floor(below / total * most) > np.floor(np.append(-1.0, below[:-1] / total * most))
        new |= common | np.append(False, common[:-1])
        new[0] = True
        of = np.cumsum(new) - 1
        step = np.floor(error.steps(values))
        first = np.flatnonzero(new | np.append(True, step[1:] != step[:-1]))
        merged = np.add.reduceat(count, first)
        nodes, bins = np.add.reduceat(values * count, first) / merged, of[first]
        share = merged / np.bincount(bins, weights=merged)[bins]
        return cls(nodes, share, np.searchsorted(bins, np.arange(of[-1] + 1)), error), of[at]

    def log_known(self, x: F64) -> F64:
        """log of the mean density of known values x around the values of each bin, shape (n, bins)."""
        out = np.full((len(x), len(self.starts)), -np.inf)
        sd = self.error.sd(self.values)
        reach, order = REACH * float(sd.max()), np.argsort(x, kind="stable")
        most = max(TOGETHER // len(self.values), 64)
        bin_of = np.searchsorted(self.starts, np.arange(len(self.values)), side="right") - 1
        for i in range(0, len(x), most):
            rows = order[i : i + most]
            low, high = x[rows[0]], x[rows[-1]]
            first = min(np.searchsorted(self.values, low - reach), max(np.searchsorted(self.values, low) - 1, 0))
            last = max(np.searchsorted(self.values, high + reach), min(np.searchsorted(self.values, high) + 1, len(sd)))
            some = slice(int(first), int(last))
            log_f = -0.5 * ((x[rows][:, None] - self.values[some]) / sd[some]) ** 2 + np.log(
                self.share[some] / sd[some]
            )
            top = log_f.max(axis=1, keepdims=True)
            begin = np.flatnonzero(np.diff(bin_of[some], prepend=-1))
            with np.errstate(divide="ignore"):
                found = top + np.log(np.add.reduceat(np.exp(log_f - top), begin, axis=1))
            out[np.ix_(rows, bin_of[some][begin])] = found - 0.5 * np.log(2 * np.pi)
        return out


@dataclass(frozen=True, eq=False)
class Belief:
    """Joint categories of some variables given the cell: `codes` (variables, K), `log_pi` (cells, K); `log_large`: (K,)
    their shares in the file."""

    codes: I64
    log_pi: F64
    log_large: F64

    @classmethod
    def fit(
        cls, cells: Cells, cell: I64, parts: Sequence[I64], sizes: Sequence[int], held: Held, weight: F64 | None
    ) -> Belief:
        """From the reference rows' categories of each variable; `held`: records that decide how much is smoothed."""
        found = Distinct.rows(list(parts), len(cell), weight)
        codes = np.array([p[found.first] for p in parts])
        log_pi = log_joint_probabilities(cells.design, cells.patterns, cell, found.of, codes, sizes, held, weight)
        log_pi = log_pi - logsumexp(log_pi, axis=1, keepdims=True)
        return cls(codes, log_pi, np.log(found.count / found.count.sum()))

    def log(self, known: Sequence[F64], cell: I64 | None) -> F64:
        """log Pr(x given cell), shape (n,); `known`: per variable log Pr(x given category), shape (n, categories). At
        large where there is no cell."""
        joint = np.zeros((len(known[0]), self.codes.shape[1]))
        for log_x, code in zip(known, self.codes, strict=True):
            joint += log_x[:, code]
        return np.asarray(logsumexp(joint + (self.log_large if cell is None else self.log_pi[cell]), axis=1))
