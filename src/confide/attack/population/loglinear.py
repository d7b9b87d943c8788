r"""Poisson log-linear models with main effects and pairs: expected counts of all cells of a cross table.

Cells of a sample have counts :math:`f \sim \mathrm{Poisson}(\mu)`, :math:`\log \mu` a sum of one term per variable and
one per chosen pair of variables. Iterative proportional fitting gives the maximum likelihood estimate.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from confide.core.run.compile import compiled, summing
from confide.frames.columns import F64, I64

SWEEPS = 200
"""Rounds of fitting at most; a decomposable model needs two."""
ROUNDS = 100
"""Rounds for the dispersion at most."""
CLOSE = 1e-10
"""Largest difference of a fitted margin that is left, as a share of the total."""

Pair = tuple[int, int]


def dense(cells: I64, count: F64, sizes: tuple[int, ...]) -> F64:
    """A table of all cells from the flat numbers of the occupied ones."""
    return np.bincount(cells, weights=count, minlength=int(np.prod(sizes))).reshape(sizes).astype(float)


def expected(table: F64, pairs: Sequence[Pair], start: F64 | None = None, close: float = CLOSE) -> F64:
    """Expected counts of all cells. `start`: a fit of some of the pairs, to go on from; `close`: as `CLOSE`.

    >>> expected(np.array([[3.0, 1.0], [2.0, 4.0]]), [])
    array([[2., 2.],
           [3., 3.]])
    """
    terms = _terms(table.ndim, pairs)
    wanted = [margin(table, t) for t in terms]
    total = float(table.sum())
    mu = np.full(table.shape, total / table.size) if start is None else start.copy()
    for _ in range(SWEEPS):
        gap = 0.0
        for term, aim in zip(terms, wanted, strict=True):
            gap = max(gap, _scale(mu, margin(mu, term), aim))
        if gap <= close * total:
            break
    return mu


def dispersion(table: F64, mu: F64) -> float:
    r"""The squared coefficient of variation of true cell means about the model's, 0 for a model that fits.

    :math:`\phi = \sum w [(f-\mu)^2 - f] / \sum w \mu^2` with :math:`w = (1 + \phi\mu)^{-2}`, at a fixed point.
    """
    excess, square, phi = (table - mu) ** 2 - table, mu * mu, 0.0
    for _ in range(ROUNDS):
        weight = (1 + phi * mu) ** -2
        now = max(float((weight * excess).sum()) / max(float((weight * square).sum()), 1e-300), 0.0)
        if abs(now - phi) <= 1e-11 * phi:
            break
        phi = now
    return phi


def allowance(table: F64, pairs: Sequence[Pair]) -> F64:
    """About the squared relative error of fitted means: 1 / n of a cell's pairs, less what they share, at every cell.

    Exact in large samples for decomposable models.
    """
    out = np.zeros(table.shape)
    for term in _terms(table.ndim, pairs):
        out += 1 / np.maximum(margin(table, term), 1.0)
    for v in {v for pair in pairs for v in pair}:
        out -= (sum(v in pair for pair in pairs) - 1) / np.maximum(margin(table, (v,)), 1.0)
    return np.maximum(out, 0.0)


def with_pair(mu: F64, table: F64, pair: Pair) -> F64:
    """A fit moved to one more pair's margin: the first step towards the fit with it."""
    out = mu.copy()
    _scale(out, margin(mu, pair), margin(table, pair))
    return out


def margin(table: F64, keep: Sequence[int]) -> F64:
    """Sums over all axes but some, which stay in place."""
    if len(keep) > 2:
        return np.asarray(table.sum(axis=tuple(i for i in range(table.ndim) if i not in keep), keepdims=True))
    out = np.zeros([size if i in keep else 1 for i, size in enumerate(table.shape)])
    folded = _folded(np.ascontiguousarray(table), keep)
    _sum(folded, out.reshape(folded.shape[1], folded.shape[3]))
    return out


def _scale(mu: F64, now: F64, aim: F64) -> float:
    """Multiply `mu`, in place, so that a margin becomes `aim`; the largest difference before."""
    factor = np.divide(aim, now, out=np.zeros_like(aim), where=now > 0)
    keep = [i for i, size in enumerate(now.shape) if size > 1]
    if len(keep) > 2 or not mu.flags.c_contiguous:
        mu *= factor
    else:
        folded = _folded(mu, keep)
        _multiply(folded, factor.reshape(folded.shape[1], folded.shape[3]))
    return float(np.abs(now - aim).max(initial=0.0))


def _folded(table: F64, keep: Sequence[int]) -> F64:
    """A table with the axes before, between and after the one or two that are kept as one each: five axes."""
    a, *rest = keep or (0,)
    b = rest[0] if rest else table.ndim
    sizes, at = table.shape, [0, a, a + 1, b, b + 1, table.ndim]
    if not keep:
        return table.reshape(table.size, 1, 1, 1, 1)
    return table.reshape([math.prod(sizes[i:j]) for i, j in pairwise(at)])


def _terms(variables: int, pairs: Sequence[Pair]) -> list[tuple[int, ...]]:
    """The margins that a model fits: its pairs, and the variables that are in none."""
    paired = {v for pair in pairs for v in pair}
    return [*((v,) for v in range(variables) if v not in paired), *pairs]


@compiled
def _sum(table, out):  # type: ignore[no-untyped-def]
    for p in range(table.shape[0]):
        for i in range(table.shape[1]):
            for q in range(table.shape[2]):
                if table.shape[4] == 1:
                    _add(table[p, i, q, :, 0], out[i])
                else:
                    for j in range(table.shape[3]):
                        out[i, j] += _total(table[p, i, q, j])


@compiled(inner=True)
def _add(values, out):  # type: ignore[no-untyped-def]
    for j in range(len(values)):
        out[j] += values[j]


@summing
def _total(values):  # type: ignore[no-untyped-def]
    total = 0.0
    for r in range(len(values)):
        total += values[r]
    return total


@compiled
def _multiply(table, factor):  # type: ignore[no-untyped-def]
    for p in range(table.shape[0]):
        for i in range(table.shape[1]):
            for q in range(table.shape[2]):
                if table.shape[4] == 1:
                    for j in range(table.shape[3]):
                        table[p, i, q, j, 0] *= factor[i, j]
                else:
                    for j in range(table.shape[3]):
                        by = factor[i, j]
                        for r in range(table.shape[4]):
                            table[p, i, q, j, r] *= by
