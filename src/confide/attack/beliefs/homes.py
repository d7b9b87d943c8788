r"""What one row of a unit says of its other rows.

Each variable of a unit has a *home* h that its rows are drawn around, independently of each other given h and their
own labels. A category is the home, or anything, as frequencies say among rows with the same labels (cell c):

.. math:: \Pr(y_i = b \mid h) = \kappa\, 1[b = h] + (1 - \kappa)\, \pi_b(c_i), \qquad h \sim \pi(c).

The normal score s of a number lies around what labels predict, moved by as much as the unit is above or below that:

.. math:: s_i \mid h \sim N(\mu(c_i) + h,\; (1 - \rho)\tau^2), \qquad h \sim N(0,\; \rho\tau^2).

A row by itself then has the distribution of its cell, as in part A, and :math:`\kappa^2` and :math:`\rho` are what two
rows of one unit have in common beyond their labels: the excess of agreement over chance, the correlation of what labels
leave over, both counted in the original file. With the likelihood of the released value, row i says
:math:`\ell_i(h) = \sum_y \Pr(y \mid h) \Pr(z_i \mid y)`.

Notation
--------
G : homes that are told apart: the categories, or a grid
r : released rows
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.special import logsumexp, ndtr, ndtri

from confide.attack.evidence.gather import Uncertain
from confide.core.run.threads import one_blas_thread
from confide.frames.columns import F64, I64, Records
from confide.frames.distinct import Distinct
from confide.protect.seam.likelihood import Columns, take

MOST = 400
"""Categories beyond which other rows are left aside."""
GRID, FINEST, ROOM = 128, 1024, 16_000_000
"""Homes of a number: so many at most in a large file, and in a small one, where rows times homes fit into so many."""
NODES = 1000
"""Believed values of a number, at most."""
PAIRS = 1_000_000
"""Pairs of a released row and a believed value in one go."""
REACH = 4.5
"""How many standard deviations a grid of homes goes out."""
NEAR_ONE = 0.9999


@dataclass(frozen=True, eq=False)
class Places:
    """The cells of rows of the reference file (`original`), of the release (-1: no candidate) and of targets, and
    the unit of every reference row. `design`: one row per cell, the indicators of its labels."""

    design: sp.csr_matrix
    original: I64
    released: I64
    targets: I64
    unit: I64


@dataclass(frozen=True, eq=False)
class Homes:
    """`log_seen`: (r, G) log l_i(h); `log_prior`: (r, G) or (1, G) log Pr(h given the row's cell); `log_given`:
    (targets, G) log Pr(h given t)."""

    log_seen: F64
    log_prior: F64
    log_given: F64


def category_homes(
    u: Uncertain, values: Records, p: F64, reference: Records, targets: Records, at: Places
) -> Homes | None:
    """Homes of the categories that one step alters, jointly where it alters several; None where there are too many.

    `values`: the categories; `p`: (cells, G) how probable each is; `reference` and `targets` are as the step met them.
    """
    if values.n > MOST:
        return None
    of, own = _codes(u, values, reference), _codes(u, values, targets)
    kappa = _at_home(of, p[at.original], at.unit)
    if kappa is None:
        return None
    seen = np.exp(_log_likelihoods(u, u.like.target(values), values.n, np.arange(len(at.released))))
    elsewhere = np.einsum("rg,rg->r", seen, p[at.released])
    mine = p[at.targets]
    value = np.where(own >= 0, mine[np.arange(len(own)), own], 1.0)
    given = mine * ((1 - kappa) * value[:, None] + kappa * (own[:, None] == np.arange(values.n)))
    with np.errstate(divide="ignore"):
        log_seen = np.log(kappa * seen + (1 - kappa) * elsewhere[:, None])
        return Homes(log_seen, np.log(p[at.released]), _summing_to_one(np.log(given)))


def _codes(u: Uncertain, values: Records, records: Records) -> I64:
    """The place of each record's categories among the values, -1 where they are not there."""
    both = [np.concatenate([values[v].values, records[v].values]) for v in u.variables]
    found = Distinct.rows(both, values.n + records.n).of
    place = np.full(int(found.max()) + 1, -1, dtype=np.int64)
    place[found[: values.n]] = np.arange(values.n)
    return place[found[values.n :]]


def _at_home(of: I64, p: F64, unit: I64) -> float | None:
    """kappa, from how often two rows of one unit agree, beyond chance; None where no unit has two rows."""
    first, size = _pairs(unit)
    if not size:
        return None
    order = np.argsort(unit, kind="stable")
    sums = np.add.reduceat(p[order], first, axis=0)
    chance = float((sums**2).sum() - (p**2).sum()) / size
    together = Distinct.rows([unit, of], len(of)).count
    excess = (float((together * (together - 1)).sum()) / size - chance) / max(1 - chance, 1e-12)
    return float(np.sqrt(np.clip(excess, 0.0, NEAR_ONE)))


def _pairs(unit: I64) -> tuple[I64, float]:
    """Where each unit begins among rows sorted by unit, and how many ordered pairs of rows of one unit there are."""
    first = np.flatnonzero(np.diff(np.sort(unit), prepend=-1))
    rows = np.diff(np.append(first, len(unit))).astype(float)
    return first, float((rows * (rows - 1)).sum())


def number_homes(u: Uncertain, reference: Records, targets: Records, at: Places) -> Homes | None:
    """Homes of a number that one step alters; None where nothing can be said."""
    (v,) = u.variables
    altered = np.flatnonzero(u.like.altered(u.like.target(reference)) & ~reference[v].missing)
    y, unit = reference[v].values[altered], at.unit[altered]
    _, pairs = _pairs(unit)
    if not pairs:
        return None
    values, inverse, count = np.unique(y, return_inverse=True, return_counts=True)
    share = np.concatenate([[0.0], np.cumsum(count) / len(y)])
    score = ndtri(0.5 * (share[1:] + share[:-1]))
    mu = _means(at.design, at.original[altered], score[inverse])
    left = score[inverse] - mu[at.original[altered]]
    between, within = _variances(left, unit)
    home = np.sqrt(between) * np.linspace(
        -REACH, REACH, int(np.clip(np.ceil(6 * np.sqrt(1 + between / within)), 31, _most(len(at.released))))
    )
    within = max(within, ((home[1] - home[0]) / 1.5) ** 2)  # the grid must resolve what is left over
    own = np.interp(targets[v].values, values, score) - mu[at.targets]
    log_prior = _summing_to_one(-0.5 * home**2 / between)
    log_given = _summing_to_one(log_prior - 0.5 * (own[:, None] - home) ** 2 / within)
    seen = _seen(u, reference.select([v]), (values, count, share), np.sqrt(within))
    return Homes(_around(*seen, mu[at.released], home), log_prior[None], log_given)


def _means(design: sp.csr_matrix, cell: I64, score: F64) -> F64:
    """What labels predict of the score in each cell: least squares on their indicators, with a ridge of one row."""
    rows = design[cell]
    gram = (rows.T @ rows).toarray()
    gram[np.diag_indices_from(gram)] += 1.0
    with one_blas_thread():
        return np.asarray(design @ np.linalg.solve(gram, rows.T @ score))


def _most(rows: int) -> int:
    """Homes that there may be in a file of so many rows."""
    return int(np.clip(ROOM // max(rows, 1), GRID, FINEST))


def _variances(left: F64, unit: I64) -> tuple[float, float]:
    """Variance between units and within them: the latter around the units' own means."""
    _, of, rows = np.unique(unit, return_inverse=True, return_counts=True)
    total = float((left**2).mean())
    means = np.bincount(of, weights=left) / rows
    within = float(((left - means[of]) ** 2).sum()) / max(float((rows - 1).sum()), 1.0)
    between = float(np.clip(total - within, 1e-6 * total, NEAR_ONE * total))
    return max(between, 1e-12), max(total - between, 1e-12)


def _seen(u: Uncertain, reference: Records, held: tuple[F64, I64, F64], sd: float) -> tuple[F64, F64]:
    """A grid of scores, and log Pr(z_j) of every released row around each of them, shape (r, grid)."""
    nodes, edges = _thinned(u, *held)
    r = len(next(iter(u.like.record.values())))
    grid = np.linspace(-6.0, 6.0, int(np.clip(np.ceil(12 / sd), 61, 2 * _most(r))))
    p = np.diff(ndtr((edges[:, None] - grid) / sd), axis=0)
    believed = u.like.target(Records([c.with_values(nodes) for c in reference.values()]))
    moved, out = np.flatnonzero(u.like.moved(np.arange(r))), np.zeros((r, len(grid)))
    for rows in np.array_split(moved, max(len(moved) * len(nodes) // PAIRS, 1)):
        log_l = _log_likelihoods(u, believed, len(nodes), rows)
        top = log_l.max(axis=1, keepdims=True, initial=-1e300)
        out[rows] = top + np.log(np.maximum(np.exp(log_l - top) @ p, 1e-300))
    return grid, out


def _around(grid: F64, logs: F64, mu: F64, home: F64) -> F64:
    """The same at mu + h for every row and home, between points of the grid, shape (r, G)."""
    place = np.clip((mu[:, None] + home - grid[0]) / (grid[1] - grid[0]), 0.0, len(grid) - 1.000001)
    low = place.astype(np.int64)
    part = place - low
    return np.asarray(
        (1 - part) * np.take_along_axis(logs, low, axis=1) + part * np.take_along_axis(logs, low + 1, axis=1)
    )


def _thinned(u: Uncertain, values: F64, count: I64, share: F64) -> tuple[F64, F64]:
    """Values that the noise can hardly tell apart as one, at their mean; and the scores between them."""
    steps = u.like.in_steps(values, 4)
    wide = max((steps[-1] - steps[0]) / NODES, 1.0)
    group = np.floor(steps / wide)
    first = np.flatnonzero(np.concatenate([[True], group[1:] != group[:-1]]))
    total = np.add.reduceat(count.astype(float), first)
    with np.errstate(divide="ignore"):
        return np.add.reduceat(values * count, first) / total, ndtri(np.append(share[first], 1.0))


def _log_likelihoods(u: Uncertain, values: Columns, n: int, rows: I64) -> F64:
    """log Pr(z_j given each of n true values), shape (rows, n)."""
    z = take(u.like.record, np.repeat(rows, n))
    return u.like.log(take(values, np.tile(np.arange(n), len(rows))), z).reshape(len(rows), n)


def _summing_to_one(logs: F64) -> F64:
    return np.asarray(logs - logsumexp(logs, axis=-1, keepdims=True))
