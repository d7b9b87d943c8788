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
from typing import Protocol

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


class Homes(Protocol):
    """What a step's released values and targets say of homes, for those rows that are asked about: of a whole file that
    would be G numbers for each of its rows, several times over."""

    @property
    def size(self) -> int:
        """G."""

    def log_seen(self, rows: I64) -> F64:
        """log l_i(h) of released rows, shape (len(rows), G)."""

    def log_prior(self, rows: I64) -> F64:
        """log Pr(h given the row's cell), shape (len(rows), G) or (1, G)."""

    def log_given(self, t: I64) -> F64:
        """log Pr(h given t) of targets, shape (len(t), G)."""


@dataclass(frozen=True, eq=False)
class CategoryHomes:
    """`believed`: the categories; `p`: (cells, G) how probable each is; `own`: that of each target, -1 for none; `at`:
    where rows stand. See `Homes`."""

    u: Uncertain
    believed: Columns
    p: F64
    kappa: float
    own: I64
    at: Places

    @property
    def size(self) -> int:
        return int(self.p.shape[1])

    def log_seen(self, rows: I64) -> F64:
        seen = np.exp(_log_likelihoods(self.u, self.believed, self.size, rows))
        elsewhere = np.einsum("rg,rg->r", seen, self.p[self.at.released[rows]])
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.kappa * seen + (1 - self.kappa) * elsewhere[:, None]))

    def log_prior(self, rows: I64) -> F64:
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.p[self.at.released[rows]]))

    def log_given(self, t: I64) -> F64:
        mine, own = self.p[self.at.targets[t]], self.own[t]
        value = np.where(own >= 0, mine[np.arange(len(own)), own], 1.0)
        at_home = own[:, None] == np.arange(self.size)
        with np.errstate(divide="ignore"):
            return _summing_to_one(np.log(mine * ((1 - self.kappa) * value[:, None] + self.kappa * at_home)))


def category_homes(
    u: Uncertain, values: Records, p: F64, reference: Records, targets: Records, at: Places
) -> CategoryHomes | None:
    """Homes of the categories that one step alters, jointly where it alters several; None where there are too many.

    `values`: the categories; `p`: (cells, G) how probable each is; `reference` and `targets` are as the step met them.
    """
    if values.n > MOST:
        return None
    kappa = _at_home(_codes(u, values, reference), p, at.original, at.unit)
    if kappa is None:
        return None
    return CategoryHomes(u, u.like.target(values), p, kappa, _codes(u, values, targets), at)


def _codes(u: Uncertain, values: Records, records: Records) -> I64:
    """The place of each record's categories among the values, -1 where they are not there."""
    both = [np.concatenate([values[v].values, records[v].values]) for v in u.variables]
    found = Distinct.rows(both, values.n + records.n).of
    place = np.full(int(found.max()) + 1, -1, dtype=np.int64)
    place[found[: values.n]] = np.arange(values.n)
    return place[found[values.n :]]


def _at_home(of: I64, p: F64, cell: I64, unit: I64) -> float | None:
    """kappa, from how often two rows of one unit agree, beyond chance; None where no unit has two rows."""
    first, size = _pairs(unit)
    if not size:
        return None
    cells, chance = cell[np.argsort(unit, kind="stable")], 0.0
    starts, step = np.append(first, len(cells)), max(PAIRS // p.shape[1], 1)
    for some in np.split(np.arange(len(first)), np.searchsorted(first, np.arange(step, len(cells), step))):
        if len(some):
            low, high = starts[some[0]], starts[some[-1] + 1]
            sums = np.add.reduceat(p[cells[low:high]], first[some] - low, axis=0)
            chance += float((sums**2).sum())
    chance = (chance - float((p**2).sum(axis=1)[cells].sum())) / size
    together = Distinct.rows([unit, of], len(of)).count
    excess = (float((together * (together - 1)).sum()) / size - chance) / max(1 - chance, 1e-12)
    return float(np.sqrt(np.clip(excess, 0.0, NEAR_ONE)))


def _pairs(unit: I64) -> tuple[I64, float]:
    """Where each unit begins among rows sorted by unit, and how many ordered pairs of rows of one unit there are."""
    first = np.flatnonzero(np.diff(np.sort(unit), prepend=-1))
    rows = np.diff(np.append(first, len(unit))).astype(float)
    return first, float((rows * (rows - 1)).sum())


@dataclass(frozen=True, eq=False)
class NumberHomes:
    """`home`: the grid of homes; `prior`: log Pr(h) of each; `mu`: what labels predict in each cell; `own`: how far
    each target lies from that; `within`: variance around homes. `believed`, `p`: values, and how probable each is
    around each score of `grid`, shape (values, grid). See `Homes`."""

    u: Uncertain
    believed: Columns
    p: F64
    grid: F64
    home: F64
    prior: F64
    mu: F64
    own: F64
    within: float
    at: Places

    @property
    def size(self) -> int:
        return len(self.home)

    def log_seen(self, rows: I64) -> F64:
        moved, nodes = np.flatnonzero(self.u.like.moved(rows)), len(self.p)
        out = np.zeros((len(rows), len(self.grid)))
        for some in np.array_split(moved, max(len(moved) * nodes // PAIRS, 1)):
            log_l = _log_likelihoods(self.u, self.believed, nodes, rows[some])
            top = log_l.max(axis=1, keepdims=True, initial=-1e300)
            out[some] = top + np.log(np.maximum(np.exp(log_l - top) @ self.p, 1e-300))
        return _around(self.grid, out, self.mu[self.at.released[rows]], self.home)

    def log_prior(self, _: I64) -> F64:
        return self.prior[None]

    def log_given(self, t: I64) -> F64:
        return _summing_to_one(self.prior - 0.5 * (self.own[t][:, None] - self.home) ** 2 / self.within)


def number_homes(u: Uncertain, reference: Records, targets: Records, at: Places) -> NumberHomes | None:
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
    nodes, edges = _thinned(u, values, count, share)
    sd = np.sqrt(within)
    grid = np.linspace(-6.0, 6.0, int(np.clip(np.ceil(12 / sd), 61, 2 * _most(len(at.released)))))
    p = np.diff(ndtr((edges[:, None] - grid) / sd), axis=0)
    believed = u.like.target(Records([c.with_values(nodes) for c in reference.select([v]).values()]))
    return NumberHomes(u, believed, p, grid, home, _summing_to_one(-0.5 * home**2 / between), mu, own, within, at)


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
