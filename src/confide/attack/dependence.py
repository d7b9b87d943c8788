"""Dependence between several known noisy numbers in part A, on the normal-score scale.

Given cell and class the scores of the true values are jointly normal with the correlation of the regression's
residuals; noise, seen on that scale through the local slope, adds its own variance (and correlation). The joint
probability of the released values is then the product of the single ones times a normal copula.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from confide.frames.columns import F64, I64
from confide.protect.evidence import Normal

if TYPE_CHECKING:
    from confide.attack.posterior import Number, Scene


def log_dependence(scene: Scene, numbers: Sequence[Number], rows: I64) -> F64:
    """log copula density of the released values, shape (rows, K); 0 for records with fewer than two noisy values."""
    d, k = len(numbers), scene.classes.size
    residual = _residual_correlation(scene, numbers)
    noise = _noise_correlation(scene, numbers)
    cell = scene.cells_r.of_records[rows]
    e, spread, inside = np.zeros((d, len(rows), k)), np.zeros((d, len(rows))), np.zeros((d, len(rows)), dtype=bool)
    for i, n in enumerate(numbers):
        like, belief = n.like_a, n.belief
        assert isinstance(like, Normal)
        assert belief is not None
        low, high = like.low[scene.rows][rows], like.high[scene.rows][rows]
        inside[i] = like.inside[scene.rows][rows] & np.isfinite(low) & np.isfinite(high)
        z = np.where(inside[i], 0.5 * (low + high), belief.values[0])
        slope = (belief.score(z + like.sd) - belief.score(z - like.sd)) / 2
        spread[i] = np.sqrt(belief.tau**2 + slope**2)
        e[i] = (belief.score(z)[:, None] - belief.mu[cell]) / spread[i][:, None]
    out = np.zeros((len(rows), k))
    for pattern in np.unique(inside.T, axis=0):
        which = np.flatnonzero(pattern)
        if len(which) < 2:
            continue
        at = np.flatnonzero((inside.T == pattern).all(axis=1))
        out[at] = _log_copula(e[which][:, at], spread[which][:, at], numbers, which, residual, noise)
    return out


def _log_copula(
    e: F64, spread: F64, numbers: Sequence[Number], which: I64, residual: F64, noise: F64
) -> F64:
    """The copula for records whose noisy variables are `which`; correlations attenuated record by record."""
    tau = np.array([numbers[i].belief.tau for i in which])  # type: ignore[union-attr]
    share = tau[:, None] / spread  # of each score's spread that is not noise
    rest = np.sqrt(np.maximum(1 - share**2, 0.0))
    r = residual[np.ix_(which, which)][:, :, None] * share[:, None] * share[None, :]
    r = r + noise[np.ix_(which, which)][:, :, None] * rest[:, None] * rest[None, :]
    m = np.moveaxis(r, 2, 0)
    idx = np.arange(len(which))
    m[:, idx, idx] = 1.0
    inverse = np.linalg.inv(m) - np.eye(len(which))
    quadratic = np.einsum("ink,nij,jnk->nk", e, inverse, e)
    return np.asarray(-0.5 * quadratic - 0.5 * np.linalg.slogdet(m)[1][:, None])


def _residual_correlation(scene: Scene, numbers: Sequence[Number]) -> F64:
    """Correlation of the scores' residuals over reference rows where both values are altered."""
    d, n = len(numbers), int(scene.cells_r.of_reference.shape[0])
    full = np.full((d, n), np.nan)
    for i, number in enumerate(numbers):
        assert number.belief is not None
        if len(number.belief.rows):
            full[i, number.belief.rows] = number.belief.residual
    out = np.eye(d)
    for a in range(d):
        for b in range(a):
            both = ~np.isnan(full[a]) & ~np.isnan(full[b])
            if both.sum() > 2:
                r = float(np.mean(full[a, both] * full[b, both]))
                out[a, b] = out[b, a] = float(np.clip(r, -0.99, 0.99))
    return out


def _noise_correlation(scene: Scene, numbers: Sequence[Number]) -> F64:
    """Correlation of the noise itself, for variables that one step altered jointly."""
    d = len(numbers)
    out = np.eye(d)
    for a in range(d):
        for b in range(a):
            if numbers[a].item == numbers[b].item:
                u = scene.uncertain[numbers[a].item]
                rho = np.asarray(u.like.rho)  # type: ignore[attr-defined]
                i, j = u.variables.index(numbers[a].variable), u.variables.index(numbers[b].variable)
                out[a, b] = out[b, a] = rho[i, j]
    return out
