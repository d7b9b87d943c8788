r"""Pr(joint category given cell): one factor per variable, each a multinomial regression.

.. math:: \Pr(k_1, \dots, k_d \mid c) = \prod_v \Pr(k_v \mid c, k_1, \dots, k_{v-1})

The regression of :math:`k_v` has the indicators of what is certain (the cell) and of the variables before it: alone,
crossed with each other, or also those of two certain ones together; and as much smoothing as makes held-out records
likeliest; or nothing predicts it. Variables with few categories come first. A joint category that nobody has gets a
probability too. From that of one that somebody has, what a single record adds is taken off: neither the target nor the
owner of a record may pass for a reason to expect somebody like them.

Notation
--------
c : cell, a pattern of what is certain
u : prefix, the categories of the variables before
eta : linear predictor: a part for cells, one for prefixes, one for both
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from confide.attack.beliefs.class_factors import MOST_COEFFICIENTS, Cell, Factor, Prefix
from confide.attack.beliefs.held_out import Held
from confide.attack.beliefs.multinomial import LARGE, coefficients, fit_coefficients, judged
from confide.attack.beliefs.own_records import own_weight
from confide.core.run.memory import remembered
from confide.core.run.threads import one_blas_thread
from confide.frames.columns import F64, I64
from confide.frames.distinct import Distinct

PRESENT = 1e-3
"""Records that a category without any counts as, where nothing predicts it."""


def log_class_probabilities(
    design: sp.csr_matrix, cell: I64, classes: I64, k: int, held: Held | float, weight: F64 | None = None
) -> F64:
    """log Pr(k given cell), shape (cells, K), of one variable.

    `cell`, `classes`: of the reference's rows; `weight`: how much each counts (None: 1); `held`: the records that
    decide on the penalty, or a penalty.
    """
    nothing = Prefix(np.zeros((0, 1), dtype=np.int64), ())
    nowhere = np.zeros(len(cell), dtype=np.int64)
    asked = np.zeros(k, dtype=np.int64), np.arange(k)
    return _log_next(Cell(design, design), nothing, cell, nowhere, classes, k, weight, asked, held)


def log_given_classes(
    design: sp.csr_matrix, cell: I64, classes: I64, k: int, codes: I64, size: int, held: Held | float,
    weight: F64 | None = None,
) -> F64:  # fmt: skip
    """log Pr(code given cell and class), shape (cells, K, size): indicators of both, side by side.

    `cell`, `classes`, `codes`: of the reference's rows, of K classes and so many codes.
    """
    given = design, cell, classes, k, codes, size, held, weight
    by = [design.shape, design.indices, design.indptr, *given[1:6], *_of(held), weight]
    return remembered(_log_given, *given, by=by)


def scores_given_classes(
    design: sp.csr_matrix, cell: I64, classes: I64, k: int, codes: I64, size: int, penalty: float,
    weight: F64 | None = None,
) -> tuple[F64, F64]:  # fmt: skip
    """The same with a given penalty, as two tables that are added, (cells, size) and (K, size): the log of what codes'
    probabilities are proportional to. All of cells times classes times codes would take gigabytes."""
    before = _one_of(k)
    prefix = np.zeros(len(cell), dtype=np.int64) if k == 1 else classes
    made = _next(Cell(design, design), before, cell, prefix, codes, size, weight, penalty)
    if isinstance(made, Factor):
        return made.scores
    return np.tile(made, (design.shape[0], 1)), np.zeros((k, size))


def _one_of(k: int) -> Prefix:
    """A class of so many as the variable before; none where there is one only."""
    return Prefix(np.zeros((0, 1), dtype=np.int64), ()) if k == 1 else Prefix(np.arange(k)[None, :], (k,), False)


def _log_given(
    design: sp.csr_matrix, cell: I64, classes: I64, k: int, codes: I64, size: int, held: Held | float,
    weight: F64 | None,
) -> F64:  # fmt: skip
    asked = np.repeat(np.arange(k), size), np.tile(np.arange(size), k)
    prefix = np.zeros(len(cell), dtype=np.int64) if k == 1 else classes
    found = _log_next(Cell(design, design), _one_of(k), cell, prefix, codes, size, weight, asked, held)
    return found.reshape(design.shape[0], k, size)


def log_joint_probabilities(
    design: sp.csr_matrix, patterns: I64, cell: I64, own: I64, classes: I64, sizes: Sequence[int],
    held: Held, weight: F64 | None = None,
) -> F64:  # fmt: skip
    """log Pr(joint category given cell), shape (cells, K).

    `design`, `patterns`: of the cells; `cell`, `own`: each reference row's cell and joint category; `classes`:
    (variables, K), the joint categories as codes of their variables, which have so many `sizes`.
    """
    given = design, patterns, cell, own, classes, tuple(sizes), held, weight
    return remembered(_log_joint, *given, by=[*given[1:6], *_of(held), weight])


def _of(held: Held | float) -> list[Any]:
    """Held-out records as what a result is remembered by."""
    return [held.rows, held.digest, held.copies] if isinstance(held, Held) else [held]


def _log_joint(*given: Any) -> F64:
    out = np.zeros((given[0].shape[0], 1))
    for link in chain_of(*given):
        out = out[:, link.asked[0]]
        out += link.log_p(link.asked)
    return np.asarray(out[:, link.of])


@dataclass(frozen=True, eq=False)
class Link:
    """One variable of the chain: its `factor`, or log shares (K,) where nothing predicts it, for so many `cells`;
    `asked`: the pairs of a prefix and a category that are the next prefixes; `of`: (joint categories,) which of them
    each has."""

    factor: Factor | F64
    cells: int
    asked: tuple[I64, I64]
    of: I64

    def log_p(self, asked: tuple[I64, I64], cells: I64 | None = None) -> F64:
        """log Pr for pairs of a prefix and a category, shape (cells, pairs); `cells`: only these, rising."""
        if isinstance(self.factor, Factor):
            return self.factor.log_p(*asked, cells)
        return np.tile(self.factor[asked[1]], (self.cells if cells is None else len(cells), 1))


def chain_of(
    design: sp.csr_matrix, patterns: I64, cell: I64, own: I64, classes: I64, sizes: Sequence[int],
    held: Held, weight: F64 | None,
) -> Iterator[Link]:  # fmt: skip
    """The factors of joint categories, those of the variable with the fewest categories first."""
    of = np.zeros(classes.shape[1], dtype=np.int64)  # the prefix of each class
    before = Prefix(np.zeros((0, 1), dtype=np.int64), ())
    for v in np.argsort(sizes, kind="stable"):
        k, code = sizes[v], classes[v]
        child = Distinct.rows([of, code], len(of))
        asked = of[child.first], code[child.first]
        made = _next(Cell.of(design, patterns, k), before, cell, of[own], code[own], k, weight, held)
        yield Link(made, design.shape[0], asked, child.of)
        of, before = child.of, Prefix(np.vstack([before.codes[:, asked[0]], asked[1]]), (*before.sizes, k))


def _log_next(
    certain: Cell, before: Prefix, cell: I64, prefix: I64, codes: I64, k: int, weight: F64 | None,
    asked: tuple[I64, I64], held: Held | float,
) -> F64:  # fmt: skip
    """log Pr(next variable's category given cell and prefix) for pairs (prefix, category), shape (cells, pairs)."""
    made = _next(certain, before, cell, prefix, codes, k, weight, held)
    return Link(made, certain.alone.shape[0], asked, codes).log_p(asked)


def _next(
    certain: Cell, before: Prefix, cell: I64, prefix: I64, codes: I64, k: int, weight: F64 | None, held: Held | float
) -> Factor | F64:
    """What the next variable's category depends on; log shares where that is nothing."""
    present = np.bincount(codes, weights=weight, minlength=k).astype(float)
    if (certain.alone.shape[0] == 1 and not before.sizes) or (present > 0).sum() == 1:
        there = np.maximum(present, PRESENT)
        return np.asarray(np.log(there / there.sum()))
    with one_blas_thread():
        return _factor(certain, before, cell, prefix, codes, k, weight, held)


def _factor(
    certain: Cell, before: Prefix, cell: I64, prefix: I64, codes: I64, k: int, weight: F64 | None,
    held: Held | float,
) -> Factor:  # fmt: skip
    at = Distinct.rows([cell, prefix], len(cell))
    c, u = cell[at.first], prefix[at.first]
    alone, prefixes = certain.alone[c], before.alone[u]
    designs = [sp.hstack([alone, prefixes]).tocsr()]
    crosses = before.crosses and 0 < sum(before.sizes) * alone.shape[1] * k <= MOST_COEFFICIENTS
    if crosses:
        designs.append(sp.hstack([designs[0], before.crossed(alone, u)]).tocsr())
    if certain.paired is not certain.alone:
        more = sp.csr_matrix(certain.paired[c][:, alone.shape[1] :])
        designs.append(sp.hstack([designs[-1], more]).tocsr())
    b, own = _coefficients(designs, at.of, codes, k, weight, held)
    return replace(_parts(b, certain, before, crosses), own=own, at=(c, u))


def _coefficients(
    designs: Sequence[sp.csr_matrix], of: I64, codes: I64, k: int, weight: F64 | None, held: Held | float
) -> tuple[F64, sp.csr_matrix]:
    """Those of the best design; with held-out records patterns, columns and categories are ordered by digests, so that
    it does not matter how they were numbered."""
    n = designs[0].shape[0]

    def counted(weights: F64 | None) -> F64:
        return np.bincount(of * k + codes, weights=weights, minlength=n * k).reshape(n, k).astype(float)

    counts = counted(weight)
    if not isinstance(held, Held):
        return remembered(fit_coefficients, designs[0], counts, held), sp.csr_matrix((n, k))
    key, name = (np.full(size, np.iinfo(np.uint64).max, dtype=np.uint64) for size in (n, k))
    np.minimum.at(key, of, held.digest if n <= judged(k) else held.apart)
    np.minimum.at(name, codes, held.digest)
    rows, categories = np.argsort(key, kind="stable"), np.argsort(name, kind="stable")
    designs = [sp.csr_matrix((n, 0)), *designs]  # perhaps nothing says anything
    columns = [np.arange(design.shape[1]) if n >= LARGE else _by_keys(design, key) for design in designs]
    ordered = [design[rows][:, column] for design, column in zip(designs, columns, strict=True)]
    both = (a[rows][:, categories] for a in (counts, np.rint(counted(held.rows))))
    found = remembered(_fitted, *both, held.copies, *ordered)
    b, penalty = found[:-1], float(found[-1, 0])
    column = next(c for c in columns if len(c) + 1 == len(b))
    out = np.zeros((max(len(b), 1 + designs[1].shape[1]), k))
    out[np.ix_(np.concatenate([[0], column + 1]), categories)] = b
    design = next(d for d in designs if d.shape[1] + 1 == len(b))
    return out, held.copies * own_weight(design, counts, out[: len(b)], penalty)


def _by_keys(design: sp.csr_matrix, key: NDArray[np.uint64]) -> I64:
    """The order of columns by the sums of their patterns' keys."""
    total = np.zeros(design.shape[1], dtype=np.uint64)
    np.add.at(total, design.indices, np.repeat(key, np.diff(design.indptr)))
    return np.argsort(total, kind="stable")


def _fitted(counts: F64, held: F64, copies: float, *designs: sp.csr_matrix) -> F64:
    return coefficients(designs, counts, held, copies)


def _parts(b: F64, certain: Cell, before: Prefix, crosses: bool) -> Factor:
    """Coefficients in the order of designs: constant, certain alone, prefixes alone, both crossed, certain in pairs."""
    p, q = certain.alone.shape[1], sum(before.sizes)
    cells, prefixes, rest = b[1 : 1 + p], b[1 + p : 1 + p + q], b[1 + p + q :]
    both = rest[: p * q].reshape(q, p, -1) if crosses and len(rest) else None
    pairs = rest[p * q :] if both is not None else rest
    nobody = sp.csr_matrix((0, b.shape[1])), (np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))
    if not len(pairs):
        return Factor(certain.alone, before, b[0], cells, prefixes, both, *nobody)
    return Factor(certain.paired, before, b[0], np.vstack([cells, pairs]), prefixes, both, *nobody)
