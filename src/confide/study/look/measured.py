"""The customary measures of a look, each by its own statement, and what of them goes into the table of records."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl

from confide.frames.columns import F64, I64
from confide.measure.risk.file_risks.k_anonymity import KAnonymity
from confide.measure.risk.file_risks.result import FileRiskResult
from confide.study.look.asked import Asked

POPULATION: dict[str, Any] = {
    "estimator": pl.String, "tau1": pl.Float64, "tau2": pl.Float64, "uniques": pl.Float64,
}  # fmt: skip


def customary(asked: Asked) -> dict[str, FileRiskResult]:
    """Every customary measure that the roles allow, by name."""
    return {}


def individual_risk(asked: Asked, measures: Mapping[str, FileRiskResult], alike: I64) -> F64:
    """For each row the probability that a match with it is right."""
    return np.asarray(1.0 / alike)


def suda_scores(measures: Mapping[str, FileRiskResult], rows: int) -> F64:
    """For each row its SUDA2 score."""
    return np.zeros(rows)


def population_frame(measures: Mapping[str, FileRiskResult]) -> pl.DataFrame:
    """One row per estimator of the population."""
    return pl.DataFrame(schema=POPULATION)
