"""What an intruder believes about a number it does not know, given cell and class.

The number is one of few common values, the spikes, with probabilities by a multinomial regression; or it is none of
them, and its normal score among those is linear in the indicators of cell and class, mapped back through the reference
file's own values.

Notation
--------
c : cell, a distinct pattern of predictors
k : class, one of K joint categories
s : normal score of a number, the normal quantile of its rank in the reference file
S : number of spikes
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp
from scipy.special import log_ndtr, ndtr, ndtri

from confide.attack.beliefs.class_model import log_given_classes
from confide.attack.beliefs.held_out import Held
from confide.attack.beliefs.points import Groups, Merging, Points, every, score_edges
from confide.attack.beliefs.score_fit import Rows, interval_fit, plain_fit
from confide.frames.columns import F64, I64, codes_of_numbers

SPIKE, FEWEST = 0.05, 20
"""A spike is a value that more than this share of the altered reference rows have, and at least so many of them."""


@dataclass(frozen=True, eq=False)
class Fitted:
    """The reference rows that a belief was fitted on, their values, and what the regression of their scores left over:
    for beliefs in several numbers together, and dropped once those are made."""

    rows: I64
    y: F64
    residual: F64


@dataclass(frozen=True, eq=False)
class Law:
    """Pr(value given cell and class). `log_spike`: (cells, K, S+1) of each spike, and of none; what is no spike has a
    score s ~ N(mu[c, k], tau^2) on the scale of values that are no spikes."""

    log_spike: F64
    mu: F64
    tau: float

    def mass(self, points: Points, at: I64, cell: I64) -> F64:
        """Of points given by their places, aligned with cells, shape (n, K)."""
        area = self._area(points.edges[at], points.edges[at + 1], cell)
        if self.log_spike.shape[2] == 1:
            return area
        spike = points.spike[at]
        log_p = self.log_spike[cell, :, spike]  # -1: none of them
        return np.asarray(np.exp(log_p) * np.where(spike[:, None] < 0, area, 1.0))

    def log_between(self, points: Points, low: float, high: float, cell: I64) -> F64:
        """log of the mass on points in [low, high], shape (n, K)."""
        at = np.flatnonzero(points.inside(low, high))
        if not len(at):
            return np.full((len(cell), self.mu.shape[1]), -np.inf)
        first, last = (np.full(len(cell), points.edges[e]) for e in (at[0], at[-1] + 1))
        total = np.exp(self.log_spike[cell, :, -1]) * self._area(first, last, cell)
        for s in points.spike[at][points.spike[at] >= 0]:
            total = total + np.exp(self.log_spike[cell, :, s])
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(total))

    def log_mass(self, points: Points, at: I64, cell: I64, k: I64 | int) -> F64:
        """log of the mass of one point each in one class each, also where it is too small for a number, shape (n,)."""
        spike = points.spike[at]
        a, b = self._scaled(points.edges[at], cell, k), self._scaled(points.edges[at + 1], cell, k)
        with np.errstate(divide="ignore", invalid="ignore"):
            upper = a + b > 0
            low, high = log_ndtr(np.where(upper, -b, a)), log_ndtr(np.where(upper, -a, b))
            area = high + np.log1p(-np.exp(low - high))
        return np.asarray(self.log_spike[cell, k, spike] + np.where(spike < 0, area, 0.0))

    def log_density(self, s: F64, cell: I64, k: I64 | int) -> F64:
        """log density of a score that is no spike's."""
        x = self._scaled(s, cell, k)
        return np.asarray(self.log_spike[cell, k, -1] - 0.5 * x * x - np.log(self.tau))

    def _scaled(self, s: F64, cell: I64, k: I64 | int) -> F64:
        return np.asarray((s - self.mu[cell, k]) / self.tau)

    def _area(self, low: F64, high: F64, cell: I64) -> F64:
        a, b = ((e[:, None] - self.mu[cell]) / self.tau for e in (low, high))
        with np.errstate(invalid="ignore"):  # -inf + inf where one point holds everything
            upper = a + b > 0
        return np.asarray(np.where(upper, ndtr(-a) - ndtr(-b), ndtr(b) - ndtr(a)))


@dataclass(frozen=True, eq=False)
class NumberBelief:
    """A number given cell and class. `every`: all reference values; `nodes`: the same merged as far as the noise cannot
    tell them apart; `law`: their probabilities.

    For beliefs in several numbers together: `middle`, normal scores of all reference values, spikes among them, and
    `mu`, (cells, K), and `tau`, their regression. `logs`: the scores are logarithms, as printed. `groups`: the values
    that nodes stand for, None where each is a node of its own.
    """

    every: Points
    nodes: Points
    law: Law
    middle: F64
    mu: F64
    tau: float
    logs: bool = False
    groups: Groups | None = None

    @classmethod
    def fit(
        cls, design: sp.csr_matrix, cell: I64, classes: I64, k: int, y: F64, rows: I64, how: Merging,
        held: Held, logs: bool = False, weight: F64 | None = None,
    ) -> tuple[NumberBelief, Fitted]:  # fmt: skip
        """Fit on the reference rows given (those whose value the step alters).

        `cell`, `classes`, `held`, `weight`: of all reference rows. With `logs` the scores are logarithms, as printed,
        instead of normal scores, and there are no spikes.
        """
        values, inverse = np.unique(y, return_inverse=True)
        own = None if weight is None else weight[rows]
        count = np.bincount(inverse, weights=own).astype(float)
        middle = np.log(values) if logs else middle_scores(score_edges(count))
        about = design, cell[rows], classes[rows], k, own
        each = Rows.make(*about)
        beta, tau, residual = plain_fit(each, middle[inverse])
        mu = _by_cell(design, beta)
        spike = np.full(len(values), -1) if logs else _spikes(count)
        edges = _log_edges(values) if logs else score_edges(np.where(spike < 0, count, 0.0))
        whole = every(values, edges, spike)
        law = (
            Law(np.zeros((*mu.shape, 1)), mu, tau)
            if logs
            else _law(about, each, whole, inverse, (beta, tau), held.take(rows))
        )
        groups = Groups.of(whole, count, how, even=not logs)
        nodes = whole if groups is None else groups.points(how.limits)
        return cls(whole, nodes, law, middle, mu, tau, logs, groups), Fitted(rows, y, residual)

    def within(self, limits: tuple[float, float]) -> NumberBelief:
        """The same belief, with nodes of which none lies on both sides of an end of an interval."""
        return self if self.groups is None else replace(self, nodes=self.groups.points(limits))

    def score(self, y: F64) -> F64:
        """Normal scores of any values, by interpolation between reference values."""
        return np.interp(y, self.every.values, self.middle)

    def log_density(self, y: F64, cell: I64, k: I64 | int) -> F64:
        """log Pr(y given cell and class), up to a term that is the same for all cells and classes.

        A value that the reference does not hold has the density of its score, interpolated; as printed every one has.
        """
        if self.logs:
            return self.law.log_density(self.score(y), cell, k)
        at = codes_of_numbers(y, self.every.values)
        found = self.law.log_mass(self.every, np.maximum(at, 0), cell, k)
        if np.all(at >= 0):
            return found
        plain = np.flatnonzero(self.every.spike < 0)
        if not len(plain):
            return np.where(at >= 0, found, -np.inf)
        between = np.interp(y, self.every.values[plain], middle_scores(self.every.edges)[plain])
        return np.where(at >= 0, found, self.law.log_density(between, cell, k))

    def log_point(self, y: F64, cell: I64) -> F64:
        """log Pr(this very value given cell, k), shape (n, K); -inf for values the reference does not hold."""
        at = codes_of_numbers(y, self.every.values)
        mass = self.law.mass(self.every, np.maximum(at, 0), cell)
        with np.errstate(divide="ignore"):
            return np.where(at[:, None] >= 0, np.log(np.maximum(mass, 1e-300)), -np.inf)


def _law(
    about: tuple[sp.csr_matrix, I64, I64, int, F64 | None], each: Rows, whole: Points, of: I64,
    start: tuple[F64, float], held: Held,
) -> Law:  # fmt: skip
    """Probabilities of spikes, and the interval regression of what is none; `of`: each row's value."""
    design, cell, classes, k, weight = about
    n_cells, rest = design.shape[0], np.flatnonzero(whole.spike[of] < 0)
    log_spike = _log_spikes(design, cell, classes, k, whole.spike[of], weight, None if each.alone else held)
    if each.alone or not len(rest):
        return Law(log_spike, np.zeros((n_cells, k)), 1.0)
    if len(rest) < len(of):
        each = Rows.make(design, cell[rest], classes[rest], k, None if weight is None else weight[rest])
        start = plain_fit(each, middle_scores(whole.edges)[of[rest]])[:2]
    beta, tau = interval_fit(each, whole.edges[of[rest]], whole.edges[of[rest] + 1], *start)
    return Law(log_spike, _by_cell(design, beta), tau)


def _spikes(count: F64) -> I64:
    """Which spike each value is, -1 for none."""
    common = (count > SPIKE * count.sum()) & (count >= FEWEST)
    return np.where(common, np.cumsum(common) - 1, -1)


def _log_spikes(
    design: sp.csr_matrix, cell: I64, classes: I64, k: int, spike: I64, weight: F64 | None, held: Held | None
) -> F64:
    """log Pr(spike given cell, class), and of none, which comes last; shape (cells, K, S+1).

    `held`: None where all rows are of one cell and class, so that shares are their own.
    """
    n_cells, size = design.shape[0], int(spike.max(initial=-1)) + 1
    if size == 0:
        return np.zeros((n_cells, k, 1))
    code = np.where(spike < 0, size, spike)
    if held is None:
        count = np.bincount(code, weights=weight, minlength=size + 1)
        with np.errstate(divide="ignore"):
            return np.tile(np.log(count / count.sum()), (n_cells, k, 1))
    return log_given_classes(design, cell, classes, k, code, size + 1, held, weight)


def _by_cell(design: sp.csr_matrix, beta: F64) -> F64:
    """Predictions for every cell and class."""
    split = design.shape[1]
    return np.asarray((design @ beta[:split])[:, None] + beta[None, split:])


def _log_edges(values: F64) -> F64:
    """Boundaries half way between logarithms of neighbouring values."""
    logs = np.log(values)
    return np.concatenate([[-np.inf], 0.5 * (logs[1:] + logs[:-1]), [np.inf]])


def middle_scores(edges: F64) -> F64:
    """The score in the middle of each value's share of ranks."""
    return np.asarray(ndtri(0.5 * (ndtr(edges[:-1]) + ndtr(edges[1:]))))
