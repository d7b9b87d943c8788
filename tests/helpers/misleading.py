"""A file and a plan that mislead everybody who reads what was altered."""

from __future__ import annotations

import numpy as np
import polars as pl

import confide as cf

KNOWS = ["sex", "area", "age"]
DECK = cf.Plan([cf.HotDeck("age", within=["sex"], coarser=[[]], donors=5)])
"""Nearly nobody keeps an own age, and few have the same."""
CELL = ["sex", "area"]
"""What is known and unaltered."""


def misleading(n: int = 150) -> pl.DataFrame:
    """Few people, whose ages say nothing of anything else, in many areas: whoever reads ages thinks that they do."""
    rng = np.random.default_rng(3)
    return pl.DataFrame({
        "sex": rng.choice(["f", "m"], n), "area": rng.integers(1000, 1060, n).astype(str),
        "age": rng.integers(0, 20, n), "pay": rng.gamma(2, 1500, n).round(2),
    })  # fmt: skip
