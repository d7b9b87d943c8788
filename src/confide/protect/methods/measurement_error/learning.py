r"""What verified people teach about the size of an error: the posterior of both variances, on a grid.

.. math:: p(\varphi, \sigma^2 \mid x, z) \propto p(\varphi)\, p(\sigma^2) \prod_i N(x_i;\ z_i,\ \sigma^2 + z_i^2\varphi)

The grid lies in the logarithms of both variances, where equal steps integrate to high accuracy, and closes in on where
the posterior is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import gammaincinv, gammaln

from confide.core.errors import InputError
from confide.frames.columns import F64
from confide.protect.methods.measurement_error.variances import Gamma, Learnt

POINTS = 81
"""Grid points on each axis."""
DEEP = 30.0
"""Points below exp(-DEEP) of the highest are outside the grid; the last grid keeps those above exp(-KEPT)."""
KEPT = 23.0
GROUPS = 500
"""So many groups of people with nearly equal values stand for all of them where there are more."""


def learnt_from(
    file: F64, truth: F64, noise: float | Gamma | None, bias: float | Gamma | None, variable: str
) -> Learnt:
    """The posterior of (noise variance, bias variance) given aligned values of the file and true ones."""
    _check(file, truth, noise, bias, variable)
    both = np.isfinite(file) & np.isfinite(truth)
    people = _grouped(file[both] ** 2, (truth[both] - file[both]) ** 2)
    typical = float(people.square.sum() / people.count.sum())
    size = float(people.z2 @ people.count / people.count.sum())
    axes = [_first_axis(noise, typical), _first_axis(bias, typical / max(size, 1e-300))]
    for _ in range(8):
        log_p = _log_posterior(axes, (noise, bias), people)
        closer = [_closer(axis, log_p, i) for i, axis in enumerate(axes)]
        settled = all(abs(np.ptp(a) - np.ptp(b)) <= 0.3 * np.ptp(b) for a, b in zip(closer, axes, strict=True))
        axes = closer
        if settled:
            break
    log_p = _log_posterior(axes, (noise, bias), people)
    p = np.exp(log_p - log_p.max())
    keep = p > np.exp(-KEPT)
    a, b = (_variance(axis, given) for axis, given in zip(axes, (noise, bias), strict=True))
    first, second = np.broadcast_arrays(a[:, None], b[None, :])
    weight = p[keep] / p[keep].sum()
    return Learnt(tuple(first[keep].tolist()), tuple(second[keep].tolist()), tuple(weight.tolist()))


@dataclass(frozen=True, eq=False)
class _People:
    """Verified people in groups: the square of the file's value, the sum of squared errors, how many."""

    z2: F64
    square: F64
    count: F64


def _grouped(z2: F64, square: F64) -> _People:
    if len(z2) <= GROUPS:
        return _People(z2, square, np.ones(len(z2)))
    order = np.argsort(z2)
    first = np.unique(np.linspace(0, len(z2), GROUPS, endpoint=False).astype(int))
    count = np.diff([*first, len(z2)]).astype(float)
    return _People(np.add.reduceat(z2[order], first) / count, np.add.reduceat(square[order], first), count)


def _check(file: F64, truth: F64, noise: float | Gamma | None, bias: float | Gamma | None, variable: str) -> None:
    if not isinstance(noise, Gamma) and not isinstance(bias, Gamma):
        raise InputError(
            f'learn: both variances of "{variable}" are fixed, so there is nothing to learn; use Gamma(...).'
        )
    if len(file) != len(truth):
        raise InputError(
            f'learn: "{variable}" has {len(file)} values of the file but {len(truth)} true ones; they go row by row.'
        )
    both = np.isfinite(file) & np.isfinite(truth)
    if not both.any():
        raise InputError(f'learn: no verified person has both values of "{variable}".')
    if noise is None and bool((file[both] == 0).any()):
        raise InputError(f'learn: "{variable}" holds zeros, where a bias has no effect; give noise_variance as well.')


def _first_axis(given: float | Gamma | None, seen: float) -> F64:
    """Logs of variances to begin with: the prior's whole range, and around what the data say."""
    if not isinstance(given, Gamma):
        return np.zeros(1)
    low, high = gammaincinv(given.shape, [1e-12, 1 - 1e-12]) / given.rate
    low = max(low, given.mean * 1e-12)
    near = seen if seen > 0 else given.mean
    return np.linspace(np.log(min(low, near / 1e3)), np.log(max(high, near * 1e3)), 2 * POINTS)


def _variance(axis: F64, given: float | Gamma | None) -> F64:
    return np.exp(axis) if isinstance(given, Gamma) else np.array([float(given or 0.0)])


def _log_posterior(axes: list[F64], given: tuple[float | Gamma | None, float | Gamma | None], people: _People) -> F64:
    """Up to a constant, with respect to the logarithms of both variances, shape (noise, bias)."""
    noise, bias = (_variance(axis, g) for axis, g in zip(axes, given, strict=True))
    out = np.zeros((len(noise), len(bias)))
    for i, v in enumerate(noise):
        total = v + bias[:, None] * people.z2
        out[i] = -0.5 * (people.square / total + people.count * np.log(total)).sum(axis=1)
    for i, (axis, g) in enumerate(zip(axes, given, strict=True)):
        if isinstance(g, Gamma):
            prior = g.shape * (axis + np.log(g.rate)) - g.rate * np.exp(axis) - gammaln(g.shape)
            out += prior[:, None] if i == 0 else prior
    return out


def _closer(axis: F64, log_p: F64, i: int) -> F64:
    """The part of an axis where the posterior is, with as many points as ever."""
    if len(axis) == 1:
        return axis
    along = log_p.max(axis=1 - i)
    at = np.flatnonzero(along > along.max() - DEEP)
    step = axis[1] - axis[0]
    low, high = axis[at[0]] - step, axis[at[-1]] + step
    return np.linspace(max(low, axis[0]), min(high, axis[-1]), POINTS)
