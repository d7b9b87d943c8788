"""The regression that analysts need, judged by confide before anything is computed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl

import confide as cf
from confide.app.web import Wrong

ROWS, LONGEST, CROSSED = 240, 2_000, 8


def checked_formula(text: str, facts: Mapping[str, Any] | None) -> str:
    """The formula, or confide's own sentence on what is wrong with it. It is tried on made-up records that have the
    names and kinds of the file, so that no value of the file is needed, or told."""
    formula = " ".join(text.split())
    if len(formula) > LONGEST or formula.count("*") + formula.count(":") > CROSSED:
        raise Wrong(formula=f"A formula has at most {LONGEST:,} characters and {CROSSED} products here.")
    if not formula or facts is None:
        return formula
    draw = np.random.default_rng(1)
    columns = {
        v["name"]: draw.uniform(1, 9, ROWS) if v["kind"] == "numeric" else draw.choice(["a", "b"], ROWS)
        for v in facts["variables"]
    }  # fmt: skip
    made = pl.DataFrame(columns)
    try:
        cf.RegressionOverlap(formula)(made, made)
    except RecursionError:
        raise Wrong(formula="This formula has too many brackets in each other.") from None
    except cf.InputError as error:
        raise Wrong(formula=str(error)) from None
    return formula
