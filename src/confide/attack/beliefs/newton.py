r"""Large multinomial regressions, by Newton's method: to the minimum itself, in few passes over the patterns.

The loss of `multinomial.py` has second derivatives

.. math:: H = \sum_g n_g\, (\mathrm{diag}\, p_g - p_g p_g') \otimes x_g x_g' + \lambda

which are never held: each Newton step is solved by conjugate gradients, from products of H with vectors. These are
preconditioned by the blocks of H of each category by itself, which differ from H by a factor of about two once what all
categories have in common, on which no probability depends, is left out.

Notation
--------
b : coefficients, (columns, K), the constant first; they sum to 0 over K
p : probabilities (g, K)
decrement : how much the loss would fall by the next step, were it quadratic, times 2
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from confide.attack.beliefs import pattern_sums
from confide.attack.beliefs.combined_columns import Columns
from confide.core.run.threads import one_blas_thread, run_pieces, thread_count
from confide.frames.columns import F64, I64

F32 = NDArray[np.float32]
PIECES = 8
"""Parts of the patterns, whose sums are added up in their order: so many at most, whatever the number of threads."""
PIECE = 100_000
"""Patterns times categories in one part at least."""
BLOCKS = 12_000_000
"""Numbers that the blocks of all categories may have together."""
WIDEST = 640
"""Columns of one block, at most."""
STEPS, INNER = 60, 200
"""Newton steps and products with H in each, at most."""
CLOSE = 1e-3, 0.1
"""A Newton step is solved until so much of the decrement is left, the less the nearer the minimum is."""
STALE = 10
"""Products in one step after which the preconditioner is made again."""
PATTERNS = 6_000
"""Patterns that blocks are made of, at least, where there are so many; more of them would help little."""
FIRST, SMOOTHER, ROUGHLY = 8, 100.0, 1e-3
"""A first fit has one pattern in so many, so many times the penalty, and need not be more exact, in nats per record."""
EXACT = 1e-6
"""The decrement, in nats per record, below which a step is the last one; at most a thousandth of it is left."""


@dataclass(frozen=True, eq=False)
class Patterns:
    """Indicators `x`, the constant first, with their `columns` taken together."""

    x: sp.csr_matrix
    columns: Columns

    @classmethod
    def of(cls, design: sp.csr_matrix) -> Patterns:
        x = sp.hstack([np.ones((design.shape[0], 1)), design]).tocsr().sorted_indices()
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

    def pieces(self) -> list[tuple[int, int]]:
        n = len(self.rows)
        many = int(np.clip(n * self.seen.shape[1] // PIECE, 1, PIECES))
        return [(n * i // many, n * (i + 1) // many) for i in range(many)]

    def added_up(self, work: Callable[[int, int, F64], None]) -> F64:
        """What parts of the patterns add to an array (columns, K)."""
        pieces, shape = self.pieces(), (self.columns.joined.shape[0], self.seen.shape[1])
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
        value = sum(values[first] for first, _ in self.pieces()) - float((b * self.seen).sum())
        return value + 0.5 * float((self.ridge * b * b).sum()), slope

    def curved(self, p: F32, v: F64) -> F64:
        """H v, about as exact as `p`: it gives directions only."""
        joined = (self.columns.joined @ v).astype(np.float32)

        def work(first: int, last: int, out: F64) -> None:
            pattern_sums.curved(first, last, self.columns.start, self.columns.at, self.rows, p, joined, out)

        return self.added_up(work) + self.ridge * v

    def preconditioner(self, p: F64) -> Callable[[F64], F64]:
        """About the inverse of H, among what sums to 0 over categories: of one category, and of columns near each
        other, at a time."""
        c, k = self.seen.shape
        many = -(-c // int(np.clip(BLOCKS // (c * k), 1, WIDEST)))
        edges = c * np.arange(many + 1) // many
        factors = self._factors(p, edges)

        def solve(r: F64) -> F64:
            out = np.ascontiguousarray(_balanced(r).T, dtype=np.float32)

            def work(first: int, last: int) -> None:
                for a, held in factors.items():
                    pattern_sums.solved(first, last, a, held, out)

            run_pieces(work, _halves(k), thread_count(None), lambda _: None)
            return _balanced(out.T.astype(float))

        return solve

    def _factors(self, p: F64, edges: I64) -> dict[int, F32]:
        """Of the blocks of some patterns, brought to the diagonal of all of them: by their first column, (K, columns,
        columns)."""
        k, some = p.shape[1], slice(None, None, max(len(self.rows) // PATTERNS, 1))
        x, own, wide = self.x[some], np.ascontiguousarray(p[some]), int(np.diff(edges).max())
        held = np.zeros((len(edges) - 1, wide, wide, k))
        block = np.searchsorted(edges, x.indices, side="right") - 1
        given = x.indptr.astype(np.int64), block, x.indices - edges[block], self.rows[some], own, held
        run_pieces(lambda i, j: pattern_sums.blocks(i, j, *given), _halves(k), thread_count(None), lambda _: None)
        full = np.asarray(self.x.T @ (self.rows[:, None] * p * (1 - p)))
        out = {}
        for at, (a, b) in enumerate(pairwise(edges.tolist())):
            each = np.ascontiguousarray(np.moveaxis(held[at, : b - a, : b - a], 2, 0))
            for one, diagonal in zip(each, full[a:b].T, strict=True):
                _with_diagonal(one, diagonal, self.ridge[a:b, 0] + 1e-8)
            out[a] = np.linalg.cholesky(each).astype(np.float32)
        return out


def _with_diagonal(held: F64, diagonal: F64, ridge: F64) -> None:
    """Rows and columns of a matrix, given on and below its diagonal, scaled to another one; with a ridge."""
    place = np.diag_indices(len(held))
    scale = np.sqrt(np.divide(diagonal, held[place], out=np.zeros(len(held)), where=held[place] > 0))
    held *= scale[:, None] * scale
    held[place] = diagonal + ridge


def _halves(k: int) -> list[tuple[int, int]]:
    """Categories in two parts."""
    return [(0, -(-k // 2)), (-(-k // 2), k)]


def _balanced(b: F64) -> F64:
    """Without what all categories have in common."""
    return np.asarray(b - b.mean(axis=1, keepdims=True))


def minimised(
    given: Patterns | sp.csr_matrix, counts: F64, penalty: float, start: F64 | None = None, enough: float = EXACT
) -> F64:
    """Coefficients (columns, K) at the minimum of the loss, the constant first.

    `given`: indicators, or patterns made of them where several fits have the same. `enough`: the decrement below which
    a step is the last, in nats per record.
    """
    patterns = given if isinstance(given, Patterns) else Patterns.of(given)
    if start is None:
        n, c = patterns.x.shape
        start = np.zeros((c, counts.shape[1]))
        start[0] = np.log(counts.sum(axis=0) + 0.5)
        if n > FIRST * PATTERNS // 4 and c > 1:
            start = minimised(patterns.x[::FIRST, 1:], counts[::FIRST], SMOOTHER * penalty, start, ROUGHLY)
    with one_blas_thread():
        problem = Problem.of(patterns, counts, penalty)
        return _newton(problem, _balanced(start), enough * float(counts.sum()))


def _newton(problem: Problem, b: F64, enough: float) -> F64:
    p, tried = np.empty((2, len(problem.rows), b.shape[1]))
    value, slope = problem.loss(b, p)
    solve, products = problem.preconditioner(p), 0
    for _ in range(STEPS):
        solve = problem.preconditioner(p) if products > STALE else solve
        step, products = _step(problem, p.astype(np.float32), slope, solve)
        decrement, size = -float((slope * step).sum()), 1.0
        moved = b + step
        reached, new = problem.loss(moved, tried)
        while reached > value - 1e-4 * size * decrement and decrement > enough and size > 1e-6:
            size *= 0.5
            moved = b + size * step
            reached, new = problem.loss(moved, tried)
        b, value, slope, p, tried = moved, reached, new, tried, p
        if decrement <= enough:
            break
    return b


def _step(problem: Problem, p: F32, slope: F64, solve: Callable[[F64], F64]) -> tuple[F64, int]:
    """The Newton step by conjugate gradients, and how many products it took."""
    step, left = np.zeros_like(slope), -_balanced(slope)
    nearer = solve(left)
    way, size = nearer, float((left * nearer).sum())
    enough = size * float(np.clip(size / problem.rows.sum(), *CLOSE))
    many = 0
    while size > enough and many < INNER:
        bent = problem.curved(p, way)
        along = size / max(float((way * bent).sum()), 1e-300)
        step, left, many = step + along * way, left - along * bent, many + 1
        nearer = solve(left)
        before, size = size, float((left * nearer).sum())
        way = nearer + size / before * way
    return step, many
