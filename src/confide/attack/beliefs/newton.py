r"""Multinomial regressions by Newton's method: to the minimum itself, in few passes over the patterns.

The loss of `multinomial.py` has second derivatives

.. math:: H = \sum_g n_g\, (\mathrm{diag}\, p_g - p_g p_g') \otimes x_g x_g' + \lambda

Few coefficients have them in one matrix, which is factored (`whole_newton.py`). Of many they are never held: each
Newton step is solved by conjugate gradients, from products of H with vectors, which `preconditioner.py` makes few.

Notation
--------
b : coefficients, (columns, K), the constant first; they sum to 0 over K
p : probabilities (g, K)
decrement : how much the loss would fall by the next step, were it quadratic, times 2
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from confide.attack.beliefs import pattern_sums
from confide.attack.beliefs.combined_columns import Columns, with_constant
from confide.attack.beliefs.preconditioner import Preconditioner, balanced
from confide.attack.beliefs.whole_newton import Whole, whole_fits
from confide.core.run.threads import one_blas_thread, run_pieces, thread_count
from confide.frames.columns import F64

Floats = NDArray[np.floating]
PIECES = 8
"""Parts of the patterns, whose sums are added up in their order: so many at most, whatever the number of threads."""
PIECE = 100_000
"""Patterns times categories in one part at least."""
STEPS, INNER = 60, 200
"""Newton steps and products with H in each, at most."""
ABSENT = 1e-6
"""Records that a category without any counts as where a fit begins: about what it ends with."""
CLOSE = 1e-3, 0.1
"""A Newton step is solved until so much of the decrement is left, the less the nearer the minimum is."""
STALE = 10
"""Products in one step after which the preconditioner is made again."""
FIRST, MANY, SMOOTHER, ROUGHLY = 8, 12_000, 100.0, 1e-3
"""A first fit has one pattern in so many, where there are more than so many, so many times the penalty, and need not be
more exact, in nats per record."""
EXACT = 1e-9
"""The decrement, in nats per record, at which a fit ends; by the preconditioner, whose scale may be wrong by some
factor. The loss is then above its minimum by less than 1e-8 per record."""
SINGLE = 1e6
"""Records per unit of penalty up to which products with H are in single precision."""
ROUNDING = 1e-13
"""Of the loss, by which a step may seem to raise it."""


@dataclass(frozen=True, eq=False)
class Patterns:
    """Indicators `x`, the constant first, with their `columns` taken together."""

    x: sp.csr_matrix
    columns: Columns

    @classmethod
    def of(cls, design: sp.csr_matrix) -> Patterns:
        x = with_constant(design)
        return cls(x, Columns.of(x))


@dataclass(frozen=True, eq=False)
class Problem:
    """Patterns `x` with their `columns`, records `rows`, what is `seen` of each column and category, and the `ridge` of
    each column."""

    x: sp.csr_matrix
    columns: Columns
    rows: F64
    seen: F64
    ridge: F64

    @classmethod
    def of(cls, given: Patterns, counts: F64, penalty: float) -> Problem:
        ridge = np.full((given.x.shape[1], 1), penalty)
        ridge[0] = 1e-8
        return cls(given.x, given.columns, counts.sum(axis=1), np.asarray(given.x.T @ counts), ridge)

    @cached_property
    def pieces(self) -> list[tuple[int, int]]:
        n = len(self.rows)
        many = int(np.clip(n * self.seen.shape[1] // PIECE, 1, PIECES))
        return [(n * i // many, n * (i + 1) // many) for i in range(many)]

    def added_up(self, work: Callable[[int, int, F64], None]) -> F64:
        """What parts of the patterns add to an array (columns, K)."""
        pieces, shape = self.pieces, (self.columns.joined.shape[0], self.seen.shape[1])
        if len(pieces) == 1:
            work(*pieces[0], whole := np.zeros(shape))
            return np.asarray(self.columns.back @ whole)
        parts = {first: np.zeros(shape) for first, _ in pieces}
        run_pieces(lambda a, b: work(a, b, parts[a]), pieces, thread_count(None), lambda _: None)
        return np.asarray(self.columns.back @ sum(parts[first] for first, _ in pieces))

    def loss(self, b: F64, p: F64) -> tuple[float, F64]:
        """The loss and its slope; probabilities into `p`."""
        values: dict[int, float] = {}
        own = self.columns.start, self.columns.at
        joined = self.columns.joined @ b

        def work(first: int, last: int, slope: F64) -> None:
            top = pattern_sums.linear(first, last, *own, joined, p)
            np.exp(p[first:last], out=p[first:last])
            values[first] = pattern_sums.normalised(first, last, *own, self.rows, top, p, slope)

        slope = self.added_up(work) - self.seen + self.ridge * b
        value = sum(values[first] for first, _ in self.pieces) - float((b * self.seen).sum())
        return value + 0.5 * float((self.ridge * b * b).sum()), slope

    def curved(self, p: Floats, v: F64) -> F64:
        """H v, about as exact as `p`: it gives directions only."""
        joined = (self.columns.joined @ v).astype(p.dtype)

        def work(first: int, last: int, out: F64) -> None:
            pattern_sums.curved(first, last, self.columns.start, self.columns.at, self.rows, p, joined, out)

        return self.added_up(work) + self.ridge * v


def minimised(
    given: Patterns | sp.csr_matrix, counts: F64, penalty: float, start: F64 | None = None, enough: float = EXACT
) -> F64:
    """Coefficients (columns, K) at the minimum of the loss, the constant first.

    `given`: indicators, or patterns made of them where several fits have the same. `enough`: the decrement at which it
    ends, in nats per record.
    """
    patterns = given if isinstance(given, Patterns) else Patterns.of(given)
    (n, c), k = patterns.x.shape, counts.shape[1]
    shares = np.zeros((c, k))
    shares[0] = np.log(np.maximum(counts.sum(axis=0), ABSENT))
    if c == 1 or k == 1:  # nothing predicts anything
        return balanced(shares)
    if start is None:
        start = shares
        if n > MANY:
            start = minimised(patterns.x[::FIRST, 1:], counts[::FIRST], SMOOTHER * penalty, start, ROUGHLY)
    with one_blas_thread():
        problem = Problem.of(patterns, counts, penalty)
        return _newton(problem, balanced(start), enough * float(counts.sum()))


def _newton(problem: Problem, b: F64, enough: float) -> F64:
    p, tried = np.empty((2, len(problem.rows), b.shape[1]))
    value, slope = problem.loss(b, p)
    way: Whole | _Iterated = _Iterated(problem, enough <= EXACT * float(problem.rows.sum()))
    if whole_fits(*b.shape):
        way = Whole(problem.x, problem.rows, problem.ridge[:, 0])
    for _ in range(STEPS):
        step = way.step(p, slope, enough)
        if step is None:
            break
        decrement, size = -float((slope * step).sum()), 1.0
        moved = b + step
        reached, new = problem.loss(moved, tried)
        while reached > value - 1e-4 * size * decrement + ROUNDING * abs(value) and size > 1e-6:
            size *= 0.5
            moved = b + size * step
            reached, new = problem.loss(moved, tried)
        if not reached <= value + ROUNDING * abs(value):  # rounding is all that is left
            break
        b, value, slope, p, tried = moved, reached, new, tried, p
    return b


class _Iterated:
    """Newton steps by conjugate gradients, with a preconditioner that is made again when it has become poor, and
    before an exact fit ends: what is left is judged by it."""

    def __init__(self, problem: Problem, exact: bool) -> None:
        self.problem, self.exact = problem, exact
        self.solve: Callable[[F64], F64] | None = None
        self.products = 0
        wide = problem.rows.sum() > SINGLE * problem.ridge[-1, 0]
        self.kind: type[np.floating] = np.float64 if wide else np.float32

    def step(self, p: F64, slope: F64, enough: float) -> F64 | None:
        """The step; None where so small a decrement is left."""
        fresh = self.solve is None or self.products > STALE
        solve = self._made(p) if self.solve is None or fresh else self.solve
        left = -balanced(slope)
        nearer = solve(left)
        size = float((left * nearer).sum())
        if 0.01 * enough < size <= enough and self.exact and not fresh:
            solve = self._made(p)
            nearer = solve(left)
            size = float((left * nearer).sum())
        return None if size <= enough else self._solved(p, solve, left, nearer, size, enough)

    def _made(self, p: F64) -> Callable[[F64], F64]:
        given = self.problem
        self.solve = Preconditioner.of(given.x, given.rows, p, given.ridge).solve
        return self.solve

    def _solved(
        self, p: F64, solve: Callable[[F64], F64], left: F64, nearer: F64, size: float, enough: float
    ) -> F64:  # fmt: skip
        step, way, narrow = np.zeros_like(left), nearer, p.astype(self.kind)
        until = max(size * float(np.clip(size / self.problem.rows.sum(), *CLOSE)), 0.1 * enough)
        self.products = 0
        while size > until and self.products < INNER:
            bent = self.problem.curved(narrow, way)
            across = float((way * bent).sum())
            if not across > 0:  # rounding is all that is left of it
                break
            step, left = step + size / across * way, left - size / across * bent
            nearer, self.products = solve(left), self.products + 1
            before, size = size, float((left * nearer).sum())
            way = nearer + size / before * way
        return step if self.products else nearer
