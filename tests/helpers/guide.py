"""The example of the practice guide for statistical disclosure control: ten people, four variables."""

from __future__ import annotations

import polars as pl

NAMES = ["residence", "gender", "education", "labour"]
ROWS = "UFsie UFsie UFpin UMsce RFscu UMsce UFpcn UMpsu UFsin UFsin"


def guide() -> pl.DataFrame:
    """Urban or rural; female or male; education in two letters; employed, unemployed or not in the labour force."""
    rows = [(r[0], r[1], r[2:4], r[4]) for r in ROWS.split()]
    return pl.DataFrame(rows, schema=dict.fromkeys(NAMES, pl.String), orient="row")
