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
from scipy.special import ndtr, ndtri

from confide.attack.beliefs.unit_rows import UnitRows
from confide.attack.evidence.gather import Uncertain
from confide.core.run.threads import one_blas_thread
from confide.frames.columns import F64, I64, Bools, Column, Records
from confide.frames.distinct import Distinct

MOST = 400
"""Categories beyond which other rows are left aside."""
GRID, FINEST, ROOM = 128, 1024, 16_000_000
"""Homes of a number: so many at most in a large file, and in a small one, where rows times homes fit into so many."""
NODES = 1000
"""Believed values of a number, at most."""
PAIRS = 1_000_000
"""Pairs of a row and a home in one go."""
REACH = 4.5
"""How many standard deviations a grid of homes goes out."""
NEAR_ONE = 0.9999
NEARLY = 1e-6
"""What rounding may add to a number of homes."""


@dataclass(frozen=True, eq=False)
class Reference:
    """The rows that beliefs are fitted on, those that are alike once: the `cell` of each, how many it stands for
    (`weight`), and which rows of the file are of one `unit`. `design`: one row per cell, indicators of its labels."""

    design: sp.csr_matrix
    cell: I64
    weight: F64
    unit: UnitRows


@dataclass(frozen=True, eq=False)
class CategoryHome:
    """Homes of the categories that one step alters. `values`: these; `p`: (cells, G) how probable each is; `kappa`."""

    values: Records
    p: F64
    kappa: float

    @property
    def size(self) -> int:
        """G."""
        return int(self.p.shape[1])

    def codes(self, u: Uncertain, records: Records) -> I64:
        """The place of each record's categories among the values, -1 where they are not there."""
        both = [np.concatenate([self.values[v].values, records[v].values]) for v in u.variables]
        found = Distinct.rows(both, self.values.n + records.n).of
        place = np.full(int(found.max()) + 1, -1, dtype=np.int64)
        place[found[: self.values.n]] = np.arange(self.values.n)
        return place[found[self.values.n :]]


@dataclass(frozen=True, eq=False)
class NumberHome:
    """Homes of a number that one step alters. `home`: the grid of homes; `between`: variance between units; `mu`: what
    labels predict in each cell; `within`: variance around homes. `nodes`, `p`: values, and how probable each is around
    each score of `grid`, shape (values, grid). `values`, `score`: those of the file, with their normal scores."""

    nodes: Column
    p: F64
    grid: F64
    home: F64
    between: float
    within: float
    mu: F64
    values: F64
    score: F64

    @property
    def size(self) -> int:
        """G."""
        return len(self.home)


def category_home(u: Uncertain, values: Records, p: F64, met: Records, about: Reference) -> CategoryHome | None:
    """Of the categories that one step alters, jointly where it alters several; None where there are too many, or where
    no unit has two rows. `p`: (cells, G) how probable each is; `met`: the reference as the step met it."""
    if values.n > MOST:
        return None
    made = CategoryHome(values, p, 0.0)
    kappa = _at_home(made.codes(u, met), p, about)
    return None if kappa is None else CategoryHome(values, p, kappa)


def _at_home(of: I64, p: F64, about: Reference) -> float | None:
    """kappa, from how often two rows of one unit agree, beyond chance; None where no unit has two rows."""
    size = agree = chance = 0.0
    for first, at in about.unit.ranges(max(PAIRS // p.shape[1], 1)):
        rows = np.diff(np.append(first, len(at)))
        sums = np.add.reduceat(p[about.cell[at]], first, axis=0)
        chance += float((sums**2).sum())
        together = Distinct.rows([np.repeat(np.arange(len(first)), rows), of[at]], len(at)).count
        agree += float((together * (together - 1)).sum())
        size += float((rows * (rows - 1)).sum())
    if not size:
        return None
    chance = (chance - float(((p**2).sum(axis=1)[about.cell] * about.weight).sum())) / size
    excess = (agree / size - chance) / max(1 - chance, 1e-12)
    return float(np.sqrt(np.clip(excess, 0.0, NEAR_ONE)))


def number_home(u: Uncertain, met: Records, about: Reference) -> NumberHome | None:
    """Of a number that one step alters; None where no unit has two rows that say something. `met`: as above."""
    (v,) = u.variables
    altered = np.asarray(u.like.altered(u.like.target(met)) & ~met[v].missing)
    if not _several(about.unit, altered):
        return None
    at = np.flatnonzero(altered)
    cell, weight = about.cell[at], about.weight[at]
    values, inverse = np.unique(met[v].values[at], return_inverse=True)
    count = np.bincount(inverse, weights=weight).astype(np.float64)
    share = np.concatenate([[0.0], np.cumsum(count) / count.sum()])
    score = ndtri(0.5 * (share[1:] + share[:-1]))
    mu = _means(about.design, cell, score[inverse], weight)
    left = np.zeros(len(altered))
    left[at] = score[inverse] - mu[cell]
    between, within = _variances(left, altered, about)
    many = _most(about.unit.released)
    finest = np.ceil(6 * np.sqrt(1 + between / within) - NEARLY)
    home = np.sqrt(between) * np.linspace(-REACH, REACH, int(np.clip(finest, 31, many)))
    within = max(within, ((home[1] - home[0]) / 1.5) ** 2)  # the grid must resolve what is left over
    nodes, edges = _thinned(u, values, count, share)
    sd = np.sqrt(within)
    grid = np.linspace(-6.0, 6.0, int(np.clip(np.ceil(12 / sd - NEARLY), 61, 2 * many)))
    p = np.diff(ndtr((edges[:, None] - grid) / sd), axis=0)
    return NumberHome(met[v].with_values(nodes), p, grid, home, between, within, mu, values, score)


def most_homes(rows: int, categories: int | None) -> int:
    """How many homes a step may have, at most: of so many joint categories, or of a number (None)."""
    if categories is None:
        return _most(rows)
    return min(categories, MOST)


def _most(rows: int) -> int:
    """Homes of a number that there may be in a file of so many rows."""
    return int(np.clip(ROOM // max(rows, 1), GRID, FINEST))


def _several(unit: UnitRows, altered: Bools) -> bool:
    """Whether some unit has two rows that were altered."""
    return any(len(first) < len(at) for first, at in unit.ranges(PAIRS, altered))


def _means(design: sp.csr_matrix, cell: I64, score: F64, weight: F64) -> F64:
    """What labels predict of the score in each cell: least squares on their indicators, with a ridge of one row."""
    cells = design.shape[0]
    many, sums = (np.bincount(cell, weights=w, minlength=cells) for w in (weight, weight * score))
    gram = (design.T @ sp.diags(many) @ design).toarray()
    gram[np.diag_indices_from(gram)] += 1.0
    with one_blas_thread():
        return np.asarray(design @ np.linalg.solve(gram, design.T @ sums))


def _variances(left: F64, altered: Bools, about: Reference) -> tuple[float, float]:
    """Variance between units and within them: the latter around the units' own means."""
    weight = np.where(altered, about.weight, 0.0)
    total = float((weight * left**2).sum() / weight.sum())
    around = rows = 0.0
    for first, at in about.unit.ranges(PAIRS, altered):
        many = np.diff(np.append(first, len(at)))
        means = np.add.reduceat(left[at], first) / many
        around += float(((left[at] - np.repeat(means, many)) ** 2).sum())
        rows += float((many - 1).sum())
    within = around / max(rows, 1.0)
    between = float(np.clip(total - within, 1e-6 * total, NEAR_ONE * total))
    return max(between, 1e-12), max(total - between, 1e-12)


def _thinned(u: Uncertain, values: F64, count: F64, share: F64) -> tuple[F64, F64]:
    """Values that the noise can hardly tell apart as one, at their mean; and the scores between them."""
    steps = u.like.in_steps(values, 4)
    wide = max((steps[-1] - steps[0]) / NODES, 1.0)
    group = np.floor(steps / wide)
    first = np.flatnonzero(np.concatenate([[True], group[1:] != group[:-1]]))
    total = np.add.reduceat(count, first)
    with np.errstate(divide="ignore"):
        return np.add.reduceat(values * count, first) / total, ndtri(np.append(share[first], 1.0))
