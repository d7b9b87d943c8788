"""Frames as plain data: what a result file may hold."""

from __future__ import annotations

import math
from typing import Any

import polars as pl


def rows_of(frame: pl.DataFrame, *columns: str) -> list[dict[str, Any]]:
    """Rows by column; a number that is none is None."""
    return [{k: finite(v) for k, v in row.items()} for row in frame.select(columns or frame.columns).to_dicts()]


def finite(value: Any) -> Any:
    """The value, or None for a number that is no number or has no end."""
    return None if isinstance(value, float) and not math.isfinite(value) else value
