"""The propensity score by logistic regression, with main effects and interactions of pairs of variables.

Notation: X (N, k) with a first column of ones, y (N,) 1 for released rows, w (N,) weights of mean 1, c the share of
released weight, p (N,) propensity scores. X is built in blocks of rows, turned on its side
(k, rows): N k numbers would not fit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import combinations, pairwise
from typing import Protocol

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from confide.frames.columns import F64, I64, Bools
from confide.measure.utility.fitting import chance, independent
from confide.measure.utility.stacked import Stacked

COLUMNS = 400
"""Interactions are added, those with fewest columns first, while there are no more columns than this."""
BLOCK = 1024
STEPS = 60
LEAST = 1e-12
"""The ridge, as a share of the diagonal, that a Hessian has at least."""
SLOW = 0.02
"""A Hessian is renewed where a step gains more than this share of what the last one gained: a pass over all rows takes
as long as a Hessian, and steps with that of the first converge by a third at a time."""
SETTLED = 1e-6
"""Steps end when pMSE changes by no more than this share."""


Residual = Callable[[slice, F64], F64]
"""From some rows and their linear predictor to their residuals."""


class Regressors(Protocol):
    """X, in whatever form: what Newton's steps need of it."""

    @property
    def width(self) -> int: ...
    def only(self, kept: Bools) -> Regressors: ...
    def scored(self, b: F64, residual: Residual) -> tuple[F64, F64]: ...
    def gram(self, w: F64) -> F64: ...


@dataclass(frozen=True, eq=False)
class Terms:
    """`main`: columns of variables, shape (q, N). `own`: those of them in X; `left`, `right`: those that make
    interactions. `without`: how many pairs of variables have no interaction, so as not to have too many columns.
    `numbers`: by place in `main`, the variable that a column of numbers is of."""

    main: F64
    own: I64
    left: I64
    right: I64
    without: int
    numbers: Mapping[int, str]

    def blocks(self) -> Iterator[tuple[slice, F64]]:
        """Rows and their part of X, shape (k, rows)."""
        q, n = len(self.own), self.main.shape[1]
        for start in range(0, n, BLOCK):
            rows = slice(start, min(start + BLOCK, n))
            m = np.ascontiguousarray(self.main[:, rows])
            x = np.ones((self.width, m.shape[1]))
            x[1 : 1 + q] = m[self.own]
            np.multiply(m[self.left], m[self.right], out=x[1 + q :])
            yield rows, x

    def only(self, kept: Bools) -> Terms:
        """Some of the columns; the first is always among them."""
        own, crossed = kept[1 : 1 + len(self.own)], kept[1 + len(self.own) :]
        return replace(self, own=self.own[own], left=self.left[crossed], right=self.right[crossed])

    @property
    def width(self) -> int:
        """k, the columns of X."""
        return 1 + len(self.own) + len(self.left)

    def scored(self, b: F64, residual: Residual) -> tuple[F64, F64]:
        """The linear predictor Xb, shape (N,), and X'r with the residual r that it leads to, shape (k,)."""
        eta, gradient = np.empty(self.main.shape[1]), np.zeros(len(b))
        for rows, x in self.blocks():
            eta[rows] = b @ x
            gradient += x @ residual(rows, eta[rows])
        return eta, gradient

    def gram(self, w: F64) -> F64:
        """X'WX, shape (k, k)."""
        total = np.zeros((self.width, self.width))
        for rows, x in self.blocks():
            total += (x * w[rows]) @ x.T
        return total


def terms(stacked: Stacked, interactions: bool, rows: I64 | slice = slice(None)) -> Terms:
    """Columns of every variable in some rows, and which pairs of them are multiplied. Columns of numbers outside the
    range of the original come last, and make no interactions."""
    named = {v: c for v in stacked.names if (c := stacked.columns(v, rows)).shape[1]}
    parts = list(named.values())
    main = np.concatenate(parts, axis=1) if parts else np.zeros((len(stacked.y[rows]), 0))
    ends = np.cumsum([0, *(c.shape[1] for c in parts)])
    numbers = {int(at): v for at, v in zip(ends, named, strict=False) if v in stacked.scaled}
    spans = [np.arange(a, b) for a, b in pairwise(ends)]
    pairs = list(combinations(range(len(parts)), 2)) if interactions else []
    pairs.sort(key=lambda ij: len(spans[ij[0]]) * len(spans[ij[1]]))
    room = min(COLUMNS, len(stacked.y) // 10) - main.shape[1] - 1
    left: list[I64] = []
    right: list[I64] = []
    for i, j in pairs:
        room -= len(spans[i]) * len(spans[j])
        if room < 0:
            break
        left.append(np.repeat(spans[i], len(spans[j])))
        right.append(np.tile(spans[j], len(spans[i])))
    none = np.zeros(0, dtype=np.int64)
    main = np.concatenate([main, *(x[rows][:, None].astype(float) for x in stacked.outside.values())], axis=1)
    own, out = np.arange(main.shape[1]), len(pairs) - len(left)
    crossed = np.concatenate([none, *left]), np.concatenate([none, *right])
    return Terms(np.ascontiguousarray(main.T), own, *crossed, out, numbers)


@dataclass(frozen=True, eq=False)
class Scores:
    """`p`: shape (N,). `columns`: k, those that are independent. `expected`: pMSE of two samples of one population."""

    p: F64
    columns: int
    expected: float


def logistic_scores(t: Regressors, y: F64, w: F64) -> Scores:
    """Maximum likelihood. Where the two files are separated, scores run to 0 and 1, and that is their value."""
    gram = t.gram(w)
    kept = independent(gram)
    t, gram = t.only(kept), gram[np.ix_(kept, kept)]
    square = gram if bool((w == 1).all()) else t.gram(w * w)
    c = float(w @ y / w.sum())
    p = _fitted(t, gram, c, y, w)
    return Scores(p, int(kept.sum()), c * (1 - c) * _freedom(gram, square) / float(w.sum()))


def _freedom(gram: F64, square: F64) -> float:
    """tr((X'WX)^-1 X'W^2X) with X centred: k - 1 where all weights are 1."""
    total = gram[0, 0]
    m, a = gram[0] / total, square[0]
    one = (gram - total * np.outer(m, m))[1:, 1:]
    two = (square - np.outer(a, m) - np.outer(m, a) + square[0, 0] * np.outer(m, m))[1:, 1:]
    return float(np.trace(np.linalg.solve(one, two))) if len(one) else 0.0


def _fitted(t: Regressors, gram: F64, c: float, y: F64, w: F64) -> F64:
    """Newton's steps with the Hessian of the first (which bounds all others where c = 1/2), renewed where slow, and
    damped where, as under separation, a step leads nowhere."""
    b = np.zeros(t.width)
    b[0] = np.log(c / (1 - c))
    solve, damping = _solver(c * (1 - c) * gram), LEAST
    eta, p, gradient, at = _pass(t, b, y, w)
    before, spread = np.inf, 0.0
    for _ in range(STEPS):
        step = solve(gradient)
        gain = float(gradient @ step)
        if gain > SLOW * before:
            solve = _solver(t.gram(p * chance(-eta)[0] * w), damping)
            step = solve(gradient)
            gain = float(gradient @ step)
        before = gain
        found = _ahead(t, b, step, at, y, w)
        if found is None:
            damping, before = max(1e-6, damping * 100), 0.0
            if damping > 1:
                break
            continue
        b, eta, p, gradient, at = found
        old, spread = spread, float(w @ (p - c) ** 2)
        if abs(spread - old) <= SETTLED * spread + 1e-20 * len(y):
            break
    return p


def _ahead(t: Regressors, b: F64, step: F64, at: float, y: F64, w: F64) -> tuple[F64, F64, F64, F64, float] | None:
    """Coefficients after a step, halved until the likelihood does not fall, and what comes of them; None if it does."""
    for _ in range(8):
        found = _pass(t, b + step, y, w)
        if found[-1] >= at - 1e-12 * abs(at):
            return b + step, *found
        step = step / 2
    return None


def _pass(t: Regressors, b: F64, y: F64, w: F64) -> tuple[F64, F64, F64, float]:
    """Linear predictor, probabilities, gradient and log likelihood."""
    p, log_not = np.empty((2, len(y)))

    def residual(rows: slice, eta: F64) -> F64:
        p[rows], log_not[rows] = chance(eta)
        return np.asarray(w[rows] * (y[rows] - p[rows]))

    eta, gradient = t.scored(b, residual)
    return eta, p, gradient, float(w @ (y * eta - log_not))


class _solver:
    """Solves with a matrix that may be singular to rounding, as it is under separation."""

    def __init__(self, matrix: F64, ridge: float = LEAST) -> None:
        while True:
            try:
                self.factor = cho_factor(matrix + ridge * np.diag(np.diag(matrix) + 1e-12 * matrix[0, 0]))
                return
            except LinAlgError:
                ridge *= 100

    def __call__(self, right: F64) -> F64:
        return np.asarray(cho_solve(self.factor, right))
