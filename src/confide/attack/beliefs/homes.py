r"""What one row of a unit says of its other rows.

Each variable of a unit has a *home* h that its rows are drawn around, independently of each other given h:

.. math:: \Pr(y_i = c \mid h) = \kappa\, 1[c = h] + (1 - \kappa)\, \pi_c, \qquad h \sim \pi

for a category: a row is at home, or anywhere as frequencies say; and, for the normal score s of a number,

.. math:: s_i \mid h \sim N(\sqrt\rho\, h,\; 1 - \rho), \qquad h \sim N(0, 1).

Any row by itself then has the file's own distribution, and :math:`\kappa^2` and :math:`\rho` are what two rows of one
unit have in common: the excess of agreement over chance, the correlation of scores, both counted in the original
file. With the likelihood of the released value, row i says :math:`\ell_i(h) = \sum_y \Pr(y \mid h) \Pr(z_i \mid y)`.

Notation
--------
G : homes that are told apart: the categories, or a grid of scores
r : released rows
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp, ndtr, ndtri

from confide.attack.evidence.gather import Uncertain
from confide.frames.columns import F64, I64, Records
from confide.frames.distinct import Distinct
from confide.protect.seam.likelihood import take

MOST = 400
"""Categories beyond which other rows are left aside."""
GRID = 128
"""Homes of a number: so many at most, from -4.5 to 4.5."""
NODES = 1000
"""Believed values of a number, at most."""
PAIRS = 1_000_000
"""Pairs of a released row and a believed value in one go."""
NEAR_ONE = 0.9999


@dataclass(frozen=True, eq=False)
class Homes:
    """`log_seen`: (r, G) log l_i(h); `log_prior`: (G,) log Pr(h); `log_given`: (targets, G) log Pr(h given t)."""

    log_seen: F64
    log_prior: F64
    log_given: F64


def category_homes(u: Uncertain, reference: Records, targets: Records, unit: I64, r: int) -> Homes | None:
    """Homes of the categories that one step alters (jointly, where it alters several); None where there are too many.

    `reference`, `targets`: as the step met them; `unit`: of the reference's rows.
    """
    names = u.variables
    n = reference.n
    both = [np.concatenate([reference[v].values, targets[v].values]) for v in names]
    found = Distinct.rows(both, n + targets.n)
    known, of = np.unique(found.of[:n], return_inverse=True)
    own = np.searchsorted(known, found.of[n:])
    own = np.where(known[np.minimum(own, len(known) - 1)] == found.of[n:], own, -1)
    if len(known) > MOST:
        return None
    pi = np.bincount(of) / n
    kappa = _at_home(of, unit, pi)
    if kappa is None:
        return None
    first = np.unique(of, return_index=True)[1].astype(np.int64)
    values = u.like.target(reference.select(names).take(first))
    seen = np.exp(_log_likelihoods(u, values, len(known), np.arange(r)))
    given = pi * np.where(
        own[:, None] >= 0, (1 - kappa) * pi[own][:, None] + kappa * (own[:, None] == np.arange(len(pi))), 1
    )
    with np.errstate(divide="ignore"):
        log_seen = np.log(kappa * seen + (1 - kappa) * (seen @ pi)[:, None])
        return Homes(log_seen, np.log(pi), np.log(given / given.sum(axis=1, keepdims=True)))


def _at_home(of: I64, unit: I64, pi: F64) -> float | None:
    """kappa, from how often two rows of one unit agree; None where no unit has two rows."""
    together = Distinct.rows([unit, of], len(of)).count
    rows = np.bincount(unit).astype(float)
    pairs = float((rows * (rows - 1)).sum())
    if not pairs:
        return None
    chance = float((pi**2).sum())
    excess = (float((together * (together - 1)).sum()) / pairs - chance) / max(1 - chance, 1e-12)
    return float(np.sqrt(np.clip(excess, 0.0, NEAR_ONE)))


def number_homes(u: Uncertain, reference: Records, targets: Records, unit: I64, r: int) -> Homes | None:
    """Homes of a number that one step alters; None where nothing can be said."""
    (v,) = u.variables
    altered = np.flatnonzero(u.like.altered(u.like.target(reference)) & ~reference[v].missing)
    y, mine = reference[v].values[altered], unit[altered]
    if not len(y):
        return None
    values, inverse, count = np.unique(y, return_inverse=True, return_counts=True)
    share = np.concatenate([[0.0], np.cumsum(count) / len(y)])
    score = ndtri(0.5 * (share[1:] + share[:-1]))
    rho = _correlation(score[inverse], mine)
    if rho is None:
        return None
    home = np.linspace(-4.5, 4.5, int(np.clip(np.ceil(6 / np.sqrt(1 - rho)), 31, GRID)))
    rho = min(rho, 1 - (2 * 4.5 / len(home) / 1.5) ** 2)  # the grid must resolve what is left over
    nodes, edges = _thinned(u, values, count, share)
    p = np.diff(ndtr((edges[:, None] - np.sqrt(rho) * home) / np.sqrt(1 - rho)), axis=0)
    log_prior = -0.5 * home**2
    own = np.interp(targets[v].values, values, score)
    log_given = -0.5 * (home - np.sqrt(rho) * own[:, None]) ** 2 / (1 - rho)
    moved = np.flatnonzero(u.like.moved(np.arange(r)))
    believed = u.like.target(Records([reference[v].with_values(nodes)]))
    log_seen = np.zeros((r, len(home)))
    for rows in np.array_split(moved, max(len(moved) * len(nodes) // PAIRS, 1)):
        log_l = _log_likelihoods(u, believed, len(nodes), rows)
        top = log_l.max(axis=1, keepdims=True, initial=-1e300)
        log_seen[rows] = top + np.log(np.maximum(np.exp(log_l - top) @ p, 1e-300))
    return Homes(log_seen, _summing_to_one(log_prior), _summing_to_one(log_given))


def _correlation(score: F64, unit: I64) -> float | None:
    """Correlation of the scores of two rows of one unit; None where no unit has two rows."""
    s = (score - score.mean()) / max(float(score.std()), 1e-12)
    _, at = np.unique(unit, return_inverse=True)
    rows, total, squares = (np.bincount(at, weights=w) for w in (np.ones(len(s)), s, s * s))
    pairs = float((rows * (rows - 1)).sum())
    return float(np.clip((total**2 - squares).sum() / pairs, 0.0, NEAR_ONE)) if pairs else None


def _thinned(u: Uncertain, values: F64, count: I64, share: F64) -> tuple[F64, F64]:
    """Values that the noise can hardly tell apart as one, at their mean; and the scores between them."""
    steps = u.like.in_steps(values, 4)
    wide = max((steps[-1] - steps[0]) / NODES, 1.0)
    group = np.floor(steps / wide)
    first = np.flatnonzero(np.concatenate([[True], group[1:] != group[:-1]]))
    total = np.add.reduceat(count.astype(float), first)
    with np.errstate(divide="ignore"):
        return np.add.reduceat(values * count, first) / total, ndtri(np.append(share[first], 1.0))


def _log_likelihoods(u: Uncertain, values: object, n: int, rows: I64) -> F64:
    """log Pr(z_j given each of n true values), shape (rows, n)."""
    z = take(u.like.record, np.repeat(rows, n))
    return u.like.log(take(values, np.tile(np.arange(n), len(rows))), z).reshape(len(rows), n)  # type: ignore[arg-type]


def _summing_to_one(logs: F64) -> F64:
    return np.asarray(logs - logsumexp(logs, axis=-1, keepdims=True))
