"""What rows of units and targets say of homes (`homes`): of the rows at hand, whatever part of a release they are.

Notation
--------
G : homes that are told apart
r : released rows
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol, Self

import numpy as np
from scipy.special import logsumexp

from confide.attack.beliefs.homes import CategoryHome, NumberHome
from confide.attack.evidence.gather import Uncertain
from confide.frames.columns import F64, I64, Records
from confide.protect.seam.likelihood import Columns, take

PAIRS = 1_000_000
"""Pairs of a released row and a believed value in one go."""


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

    def asked(self, targets: Records, cell: I64) -> Self:
        """The same for other targets, as the step met them, in these cells."""


@dataclass(frozen=True, eq=False)
class CategoryHomes:
    """`fit`: what was fitted; `believed`: the categories; `cell`: of released rows, -1 for no candidate; `own`, `at`:
    the place of each target's categories, -1 for none, and its cell. See `Homes`."""

    u: Uncertain
    fit: CategoryHome
    believed: Columns
    cell: I64
    own: I64
    at: I64

    @classmethod
    def of(cls, u: Uncertain, fit: CategoryHome, cell: I64, targets: Records, at: I64) -> CategoryHomes:
        """Released rows in these cells, and targets as the step met them."""
        return cls(u, fit, u.like.target(fit.values), cell, fit.codes(u, targets), at)

    def asked(self, targets: Records, cell: I64) -> Self:
        return replace(self, own=self.fit.codes(self.u, targets), at=cell)

    @property
    def size(self) -> int:
        return self.fit.size

    def log_seen(self, rows: I64) -> F64:
        seen = np.exp(_log_likelihoods(self.u, self.believed, self.size, rows))
        elsewhere = np.einsum("rg,rg->r", seen, self.fit.p[self.cell[rows]])
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.fit.kappa * seen + (1 - self.fit.kappa) * elsewhere[:, None]))

    def log_prior(self, rows: I64) -> F64:
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.fit.p[self.cell[rows]]))

    def log_given(self, t: I64) -> F64:
        mine, own = self.fit.p[self.at[t]], self.own[t]
        value = np.where(own >= 0, mine[np.arange(len(own)), own], 1.0)
        at_home, kappa = own[:, None] == np.arange(self.size), self.fit.kappa
        with np.errstate(divide="ignore"):
            return _summing_to_one(np.log(mine * ((1 - kappa) * value[:, None] + kappa * at_home)))


@dataclass(frozen=True, eq=False)
class NumberHomes:
    """`fit`: what was fitted; `believed`: its values; `prior`: log Pr(h) of each home; `cell`: of released rows, -1 for
    no candidate; `own`: how far each target lies from what its labels predict, missing where its value says nothing of
    a home since it is never altered (zero, say). See `Homes`."""

    u: Uncertain
    fit: NumberHome
    believed: Columns
    prior: F64
    cell: I64
    own: F64

    @classmethod
    def of(cls, u: Uncertain, fit: NumberHome, cell: I64, targets: Records, at: I64) -> NumberHomes:
        """Released rows in these cells, and targets as the step met them."""
        prior = _summing_to_one(-0.5 * fit.home**2 / fit.between)
        made = cls(u, fit, u.like.target(Records([fit.nodes])), prior, cell, np.zeros(0))
        return made.asked(targets, at)

    def asked(self, targets: Records, cell: I64) -> Self:
        (v,) = self.u.variables
        altered = np.asarray(self.u.like.altered(self.u.like.target(targets)) & ~targets[v].missing)
        own = np.interp(targets[v].values, self.fit.values, self.fit.score) - self.fit.mu[cell]
        return replace(self, own=np.where(altered, own, np.nan))

    @property
    def size(self) -> int:
        return self.fit.size

    def log_seen(self, rows: I64) -> F64:
        moved, nodes = np.flatnonzero(self.u.like.moved(rows)), len(self.fit.p)
        out = np.zeros((len(rows), len(self.fit.grid)))
        for some in np.array_split(moved, max(len(moved) * nodes // PAIRS, 1)):
            log_l = _log_likelihoods(self.u, self.believed, nodes, rows[some])
            top = log_l.max(axis=1, keepdims=True, initial=-1e300)
            out[some] = top + np.log(np.maximum(np.exp(log_l - top) @ self.fit.p, 1e-300))
        return _around(self.fit.grid, out, self.fit.mu[self.cell[rows]], self.fit.home)

    def log_prior(self, _: I64) -> F64:
        return self.prior[None]

    def log_given(self, t: I64) -> F64:
        own = self.own[t][:, None]
        told = np.where(np.isnan(own), 0.0, 0.5 * (own - self.fit.home) ** 2 / self.fit.within)
        return _summing_to_one(self.prior - told)


def _around(grid: F64, logs: F64, mu: F64, home: F64) -> F64:
    """The same at mu + h for every row and home, between points of the grid, shape (r, G)."""
    place = np.clip((mu[:, None] + home - grid[0]) / (grid[1] - grid[0]), 0.0, len(grid) - 1.000001)
    low = place.astype(np.int64)
    part = place - low
    return np.asarray(
        (1 - part) * np.take_along_axis(logs, low, axis=1) + part * np.take_along_axis(logs, low + 1, axis=1)
    )


def _log_likelihoods(u: Uncertain, values: Columns, n: int, rows: I64) -> F64:
    """log Pr(z_j given each of n true values), shape (rows, n)."""
    z = take(u.like.record, np.repeat(rows, n))
    return u.like.log(take(values, np.tile(np.arange(n), len(rows))), z).reshape(len(rows), n)


def _summing_to_one(logs: F64) -> F64:
    return np.asarray(logs - logsumexp(logs, axis=-1, keepdims=True))
