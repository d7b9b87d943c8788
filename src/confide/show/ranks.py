"""Charts of ranks: where true records stand, and how that depends on what is released and known."""

from __future__ import annotations

from typing import Any

import polars as pl


def exposure_chart(frame: pl.DataFrame) -> Any:
    raise NotImplementedError
