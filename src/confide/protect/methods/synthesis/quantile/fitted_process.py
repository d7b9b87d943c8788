"""A fitted quantile process: its lines, draws from it, and what it says about a value."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from confide.core.run.threads import one_blas_thread
from confide.frames.columns import F64, I64
from confide.protect.methods.synthesis.quantile.solver import fit_process
from confide.protect.shared.predictors import times

ROWS = 20_000
"""Records whose lines are held at once."""


@dataclass(frozen=True, eq=False)
class Process:
    """`taus`: (q,); `beta`: (p, q). `range`: lowest and highest value of the file it was fitted on.

    `below`, `above`: sorted distances of values outside the first and the last line. `middle`: lines at the mean of the
    predictors, rising; `inverse`: pseudo-inverse of X'X; `n`: records used; `least`: the smallest standard error.
    """

    taus: F64
    beta: F64
    range: tuple[float, float]
    below: F64
    above: F64
    middle: F64
    inverse: F64
    n: int
    least: float

    @classmethod
    def fit(cls, x: F64, y: F64, taus: F64, step: float) -> Process:
        beta = fit_process(x, y, taus)
        with one_blas_thread():
            first, last = (np.sort(x @ beta[:, [0, -1]], axis=1)).T
            inverse = np.asarray(np.linalg.pinv(x.T @ x, hermitian=True), dtype=np.float64)
        spread = float(np.ptp(y))
        return cls(
            taus, beta, (float(y.min()), float(y.max())),
            np.sort((first - y)[y < first]), np.sort((y - last)[y > last]), np.sort(x.mean(axis=0) @ beta), inverse,
            len(y), max(0.5 * step, 1e-9 * (spread or 1.0)),
        )  # fmt: skip

    def lines(self, x: F64) -> F64:
        """Predictions at all taus, those that cross put in order, shape (n, q)."""
        return np.asarray(np.sort(times(x, self.beta), axis=1))

    def between(self, lines: F64, tau: F64) -> F64:
        """Each row's line at its own tau, by interpolation; the outermost lines beyond the grid."""
        at, share = self._places(tau)
        rows = np.arange(len(tau))
        low, high = lines[rows, at], lines[rows, at + 1]
        return np.asarray(low + share * (high - low))

    def crossed(self, lines: F64, tau: F64) -> F64:
        """The same of every row at every tau, shape (rows, taus)."""
        at, share = self._places(tau)
        low, high = lines[:, at], lines[:, at + 1]
        return np.asarray(low + share * (high - low))

    def _places(self, tau: F64) -> tuple[I64, F64]:
        """The line before each tau, and how far it is on the way to the next."""
        at = np.clip(np.searchsorted(self.taus, tau) - 1, 0, len(self.taus) - 2)
        return at, np.clip((tau - self.taus[at]) / (self.taus[at + 1] - self.taus[at]), 0.0, 1.0)

    def at(self, x: F64, tau: F64) -> F64:
        """Predictions at one tau a record."""
        out = np.empty(len(x))
        for a in range(0, len(x), ROWS):
            rows = slice(a, a + ROWS)
            out[rows] = self.between(self.lines(x[rows]), tau[rows])
        return out

    def draw(self, x: F64, tau: F64, u: F64) -> F64:
        """Values at each record's tau; beyond the outermost lines u says how far."""
        z = self.at(x, tau)
        low, high = tau < self.taus[0], tau > self.taus[-1]
        z[low] -= _smoothed(self.below, u[low])
        z[high] += _smoothed(self.above, u[high])
        return np.asarray(np.clip(z, *self.range))

    def tau_of(self, x: F64, z: F64) -> F64:
        """The tau at which each record's line passes through its value; the middle one where it is flat there."""
        q, near = len(self.taus), 1e-9 * ((self.range[1] - self.range[0]) or 1.0)  # a line runs through some values
        out = np.empty(len(x))
        for a in range(0, len(x), ROWS):
            lines, value = self.lines(x[a : a + ROWS]), z[a : a + ROWS, None]
            under, upto = (lines < value - near).sum(axis=1), (lines <= value + near).sum(axis=1)
            rows = np.arange(len(lines))
            low, high = lines[rows, np.maximum(under - 1, 0)], lines[rows, np.minimum(under, q - 1)]
            t_low, t_high = self.taus[np.maximum(under - 1, 0)], self.taus[np.minimum(under, q - 1)]
            with np.errstate(divide="ignore", invalid="ignore"):
                tau = t_low + (value[:, 0] - low) / (high - low) * (t_high - t_low)
            flat = upto > under
            tau = np.where(flat, 0.5 * (self.taus[np.minimum(under, q - 1)] + self.taus[np.maximum(upto - 1, 0)]), tau)
            tau = np.where(upto == 0, 0.5 * self.taus[0], tau)
            out[a : a + ROWS] = np.where(under == q, 0.5 * (1 + self.taus[-1]), tau)
        return out

    def omega(self, tau: F64) -> F64:
        r"""Square root of tau (1 - tau) times the sparsity 1 / f(F^{-1}(tau)).

        The sparsity is a difference quotient of the lines at the mean of the predictors, over Hall and Sheather's
        bandwidth.
        """
        normal = ndtri(tau)
        density = np.exp(-0.5 * normal**2) / np.sqrt(2 * np.pi)
        h = self.n ** (-1 / 3) * ndtri(0.975) ** (2 / 3) * (1.5 * density**2 / (2 * normal**2 + 1)) ** (1 / 3)
        h = np.maximum(h, 1.0 / (len(self.taus) + 1))
        low = np.clip(tau - h, self.taus[0], self.taus[-2])
        high = np.clip(tau + h, self.taus[1], self.taus[-1])
        rise = np.interp(high, self.taus, self.middle) - np.interp(low, self.taus, self.middle)
        return np.asarray(np.sqrt(tau * (1 - tau)) * rise / (high - low))

    def variance(self, x: F64, tau: F64, as_printed: bool = False) -> F64:
        """Squared standard error of each record's prediction; as printed x'x / n stands for x'(X'X)^-1 x."""
        with one_blas_thread():
            form = np.einsum("ij,ij->i", x, x) / self.n if as_printed else np.einsum("ij,ij->i", x @ self.inverse, x)
        return np.asarray(np.maximum(self.omega(tau) ** 2 * np.maximum(form, 0.0), self.least**2))


def _smoothed(sorted_distances: F64, u: F64) -> F64:
    """Quantiles of distances, interpolated from 0 to the largest, so that no single one is repeated."""
    if not len(sorted_distances):
        return np.zeros(len(u))
    grid = np.linspace(0, 1, len(sorted_distances) + 1)
    return np.asarray(np.interp(u, grid, np.concatenate([[0.0], sorted_distances])))
