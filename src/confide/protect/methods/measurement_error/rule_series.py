r"""Gauss rules of very many values from those of a few.

The variance around a value z is :math:`\bar\sigma^2(z) \{(1 - r) a + r b\}`, with a and b the noise and bias variances
over their means and :math:`r = z^2 \bar b / (\bar a + z^2 \bar b)`. So but for the mean variance a rule depends on r
alone, and smoothly: its nodes, and the logs of its weights, are Chebyshev series in r. They are tried against rules
that were made directly, and used where they agree to rounding.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

F64 = NDArray[np.float64]

TERMS = (32, 48, 64, 96)
"""Terms of a series that are tried."""
NODES, WEIGHTS = 1e-12, 1e-11
"""What logs of nodes and of weights may be off."""
TRIED = 13
"""Values at which a series is compared."""
FEWEST = 500
"""Values from which a series is sought."""
AT_ONCE = 50_000


def rules_by_series(
    z: F64, noise: float, bias: float, rules: Callable[[F64], tuple[F64, F64]]
) -> tuple[F64, F64] | None:  # fmt: skip
    """Variances and probabilities for each value, shapes (len(z), K); None where no series will do.

    `noise`, `bias`: mean variances; `rules`: the same, made directly.
    """
    if len(z) < FEWEST or not np.isfinite(z).all() or noise <= 0 or bias <= 0:
        return None
    r = bias * z**2 / (noise + bias * z**2)
    middle, half = 0.5 * (r.max() + r.min()), 0.5 * (r.max() - r.min())
    if not half > 0 or middle + half > 1 - 1e-9:
        return None

    def logs(share: F64) -> F64:
        """Logs of nodes over the mean variance, then of weights, of values with these r."""
        at = np.sqrt(noise * share / (bias * (1 - share)))
        v, w = rules(at)
        with np.errstate(divide="ignore"):
            return np.hstack([np.log(v / (noise + bias * at**2)[:, None]), np.log(w)])

    tried = np.linspace(-1.0, 1.0, TRIED)
    wanted = logs(middle + half * tried)
    allowed = np.repeat([NODES, WEIGHTS], wanted.shape[1] // 2)
    for m in TERMS:
        c = _series(logs, middle, half, m)
        if np.isfinite(c).all() and bool((np.abs(_value(c, tried) - wanted) <= allowed).all()):
            x = (r - middle) / half
            made = np.exp(np.vstack([_value(c, x[i : i + AT_ONCE]) for i in range(0, len(x), AT_ONCE)]))
            k = made.shape[1] // 2
            return made[:, :k] * (noise + bias * z**2)[:, None], made[:, k:]
    return None


def _series(logs: Callable[[F64], F64], middle: float, half: float, m: int) -> F64:
    """Coefficients of m terms, shape (m, 2 K)."""
    angle = np.pi * (np.arange(m) + 0.5) / m
    turn = 2 / m * np.cos(np.arange(m)[:, None] * angle)
    turn[0] /= 2
    return np.asarray(turn @ logs(middle + half * np.cos(angle)))


def _value(c: F64, x: F64) -> F64:
    """The series at x in [-1, 1], shape (len(x), 2 K)."""
    angle = np.arccos(np.clip(x, -1.0, 1.0))
    return np.asarray(np.cos(angle[:, None] * np.arange(len(c))) @ c)
