"""Panels: several rows per unit, with labels that stay, a category that may change, and a number that drifts."""

from __future__ import annotations

import numpy as np
import polars as pl


def panel(
    units: int = 800, rows: int = 4, change: float = 0.05, drift: float = 0.2, seed: int = 1, ragged: bool = False
) -> pl.DataFrame:
    """`units` times `rows` records of households, in the order of units and quarters.

    `region` and `sex` never change; `job` (8 categories, some rare) changes with probability `change` from one quarter to the
    next, to any of them; the logarithm of `income` is normal (sd 0.7) with steps of standard deviation
    `drift` from quarter to quarter. With `ragged` a unit has from 1 to `rows` quarters.
    """
    rng = np.random.default_rng(seed)
    region, sex = rng.choice(6, units, p=[0.3, 0.25, 0.2, 0.12, 0.08, 0.05]), rng.integers(0, 2, units)
    share = np.array([0.3, 0.22, 0.16, 0.12, 0.08, 0.06, 0.04, 0.02])
    moves = rng.random((units, rows)) < change
    moves[:, 0] = True
    drawn = rng.choice(8, (units, rows), p=share)
    last = np.maximum.accumulate(np.where(moves, np.arange(rows), 0), axis=1)
    job = np.take_along_axis(drawn, last, axis=1)
    level = 10.3 + 0.2 * sex + 0.7 * rng.standard_normal(units)
    walk = np.cumsum(rng.standard_normal((units, rows)) * drift, axis=1)
    income = np.exp(level[:, None] + walk)
    frame = pl.DataFrame({
        "household": np.repeat(np.arange(units) + 10_000, rows), "quarter": np.tile(np.arange(rows) + 1, units),
        "region": np.repeat(region, rows), "sex": np.repeat(sex, rows), "job": job.ravel(),
        "income": np.round(income.ravel(), -1),
    })  # fmt: skip
    if not ragged:
        return frame
    keep = rng.integers(1, rows + 1, units)
    return frame.filter(pl.Series(np.tile(np.arange(rows), units) < np.repeat(keep, rows)))
