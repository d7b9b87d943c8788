"""Densities of noisy numbers for all pairs of some true and some released values, compiled."""

from __future__ import annotations

import numpy as np

from confide.attack.engine import kernels
from confide.frames.columns import F64, Bools
from confide.protect.likelihoods.normal import Normal
from confide.protect.seam.likelihood import Columns


def add_normal(like: Normal, true: Columns, record: Columns, out: F64) -> None:
    """Add log Pr(z given y) to `out`, shape (true values, records); as `Normal.log` of every pair."""
    kernels.add_normal_pairs(0, len(out), of_targets(like, true), of_records(record), out)


def of_targets(like: Normal, true: Columns) -> tuple[F64, Bools, F64, F64]:
    """Values, which of them are noisy, what is added to logs, and standard deviations."""
    y = np.where(true["inside"], true["y"], 0.0)
    sd = like.sd_at(y) * true.get("wider", np.ones(1))
    return y, true["inside"], -true["log_allowed"], np.where(sd > 0, sd, 1.0)


def of_records(record: Columns) -> tuple[F64, F64, Bools, F64, F64, F64]:
    """Ends of cells, which are noisy, middles, -inf for others, and the extent: one width (NaN for several), the least
    middle and the largest."""
    low, high, noisy = record["low"], record["high"], record["inside"]
    with np.errstate(invalid="ignore"):
        middle = np.where(noisy, 0.5 * (low + high), 0.0)
        width = (high - low)[noisy]
    extent = np.array([np.nan, 0.0, 0.0])
    if len(width) and np.isfinite(middle).all():
        even = bool(np.ptp(width) <= 1e-12 * width.max())
        extent = np.array([width[0] if even else np.nan, middle[noisy].min(), middle[noisy].max()])
    return low, high, noisy, middle, np.where(noisy, 0.0, -np.inf), extent
