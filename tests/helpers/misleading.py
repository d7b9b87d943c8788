"""A file and a plan that mislead everybody who reads what was altered."""

from __future__ import annotations

import numpy as np
import polars as pl

import confide as cf

KNOWS = ["sex", "area", "age"]
DECK = cf.Plan([cf.HotDeck("area", within=["sex"], coarser=[[]], donors=5)])
"""Nearly nobody keeps an own area, and few have the same."""
CELL = ["sex", "age"]
"""What is known and unaltered."""


def misleading(n: int = 400) -> pl.DataFrame:
    """People whose areas, say nothing of anything else."""
    rng = np.random.default_rng(3)
    return pl.DataFrame({
        "sex": rng.choice(["f", "m"], n), "area": rng.integers(1000, 1200, n).astype(str),
        "age": rng.integers(0, 80, n), "pay": rng.gamma(2, 1500, n).round(2),
    })  # fmt: skip
