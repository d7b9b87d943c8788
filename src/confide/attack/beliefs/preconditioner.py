r"""About the inverse of the second derivatives of a large multinomial regression: for conjugate gradients.

Each category is by itself: its block of H differs from H by a factor of about two once what all categories have in
common, on which no probability depends, is left out. In that block the columns with the most weight are held together
and the others, which few records have, are each by itself beside them:

.. math:: \begin{pmatrix} A & B \\ B' & D \end{pmatrix}, \qquad S = A - B D^{-1} B'

Only S is factored. D is diagonal and not below what it stands for, so that all of it stays positive.

Notation
--------
h, t : columns that are held together, and the others
w : n p (1 - p) of patterns and categories, (g, K)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from confide.attack.beliefs import pattern_sums
from confide.attack.beliefs.whole_newton import factored
from confide.core.run.threads import run_pieces, thread_count
from confide.frames.columns import F64, I64

F32 = NDArray[np.float32]
WIDEST = 200
"""Columns that are held together, at most."""
HELD = 12_000_000
"""Numbers that the matrices of all categories may have together."""
ALONE = 2_000_000
"""Numbers in all matrices below which one thread works on them."""
RAISED = 1e-6
"""Of a diagonal: by so much it is raised, since single precision may take off too much."""
PATTERNS = 2_500
"""Patterns that they are made of, at least, where there are so many; more of them would help little."""


def balanced(b: F64) -> F64:
    """Without what all categories have in common."""
    return np.asarray(b - b.mean(axis=1, keepdims=True))


@dataclass(frozen=True, eq=False)
class Preconditioner:
    """Columns `head` and `tail`, indicators of some patterns in each with their transposes, their weights `w`, by which
    columns and categories are scaled (`scale`, so that the diagonal is that of all patterns), D of the tail (`d`) and
    the factors of S (K, h, h)."""

    head: I64
    tail: I64
    of_head: tuple[sp.csr_matrix, sp.csr_matrix]
    of_tail: tuple[sp.csr_matrix, sp.csr_matrix]
    w: F64
    scale: F64
    d: F64
    factors: F32

    @classmethod
    def of(cls, x: sp.csr_matrix, rows: F64, p: F64, ridge: F64) -> Preconditioner:
        """`ridge`: (columns, 1)."""
        whole = rows[:, None] * p * (1 - p)
        diagonal = np.asarray(x.T @ whole)
        some = slice(None, None, max(len(rows) // PATTERNS, 1))
        own, w = x[some], np.ascontiguousarray(whole[some])
        seen = np.asarray(own.T @ w)
        scale = np.sqrt(np.divide(diagonal, seen, out=np.zeros_like(seen), where=seen > 1e-9 * diagonal))
        wide = int(np.clip(np.sqrt(HELD / p.shape[1]), 1, WIDEST))
        order = np.argsort(-diagonal.sum(axis=1), kind="stable")
        head, tail = np.sort(order[:wide]), np.sort(order[wide:])
        of_head, of_tail = own[:, head].sorted_indices(), own[:, tail]
        # No row of what D stands for adds up to more.
        d = scale[tail] * np.asarray(of_tail.T @ (w * np.asarray(of_tail @ scale[tail])))
        d = np.maximum(d, diagonal[tail]) + ridge[tail] + 1e-8
        held = _eliminated(of_head, of_tail, w, scale[head], scale[tail], d, diagonal[head] + ridge[head] + 1e-8)
        first, rest = ((one, one.T.tocsr()) for one in (of_head, of_tail))
        return cls(head, tail, first, rest, w, scale, d, factored(held).astype(np.float32))

    def solve(self, r: F64) -> F64:
        """The system with r (columns, K) on its right, among what sums to 0 over categories."""
        out, r = np.empty_like(r), balanced(r)
        s_h, s_t = self.scale[self.head], self.scale[self.tail]
        rest = r[self.tail] / self.d
        first = r[self.head]
        if len(self.tail):
            first = first - s_h * (self.of_head[1] @ (self.w * (self.of_tail[0] @ (s_t * rest))))
        held = np.ascontiguousarray(first.T, dtype=np.float32)
        shared_out(lambda a, b: pattern_sums.solved(a, b, 0, self.factors, held), r.shape[1], self.factors.size)
        out[self.head] = found = held.T.astype(float)
        if len(self.tail):
            rest -= s_t * (self.of_tail[1] @ (self.w * (self.of_head[0] @ (s_h * found)))) / self.d
        out[self.tail] = rest
        return balanced(out)


def _eliminated(
    of_head: sp.csr_matrix, of_tail: sp.csr_matrix, w: F64, s_h: F64, s_t: F64, d: F64, diagonal: F64
) -> F64:
    """S of each category, (K, h, h), on and below the diagonal."""
    (h, k), (start, at), place = s_h.shape, _places(of_head), np.diag_indices(s_h.shape[0])
    held, out = np.zeros((1, h, h, k)), np.empty((k, h, h))
    given, beside = (start, np.zeros_like(at), at), _places(of_tail)
    share = (s_t / np.sqrt(d)).astype(np.float32)

    def work(first: int, last: int) -> None:
        pattern_sums.blocks(first, last, *given, w, held)
        for i in range(first, last):
            out[i] = held[0, :, :, i] * s_h[:, i, None] * s_h[:, i]
            out[i][place] = (1 + RAISED) * diagonal[:, i]
            if len(share):
                between = np.zeros((h, len(share)), dtype=np.float32)
                pattern_sums.crossed(i, start, at, *beside, w, between)
                between *= s_h[:, i, None].astype(np.float32) * share[:, i]
                out[i] -= between @ between.T

    shared_out(work, k, held.size)
    return out


def _places(x: sp.csr_matrix) -> tuple[I64, I64]:
    return x.indptr.astype(np.int64), x.indices.astype(np.int64)


def shared_out(work: Callable[[int, int], None], k: int, numbers: int) -> None:
    """Categories in two parts, where somebody works on each and there are numbers enough for both."""
    threads = 1 if numbers < ALONE else thread_count(None)
    halves = [(0, k)] if threads == 1 else [(0, -(-k // 2)), (-(-k // 2), k)]
    run_pieces(work, halves, threads, lambda _: None)
