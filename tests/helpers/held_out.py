"""Held-out records, for tests of models that are chosen by them."""

from __future__ import annotations

import numpy as np
import polars as pl

from confide.attack.beliefs.held_out import Held
from confide.frames.columns import Column, Records


def held(*values: np.ndarray, weight: np.ndarray | None = None) -> Held:
    """Of records that hold these numbers."""
    columns = [Column(f"v{i}", "numeric", v.astype(float), pl.Float64()) for i, v in enumerate(values)]
    return Held.of(Records(columns), weight)
