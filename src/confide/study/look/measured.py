"""The customary measures of a look, each by its own statement, and what of them goes into the table of records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import polars as pl

from confide.core.errors import InputError
from confide.frames.columns import F64, I64
from confide.measure.risk.file_risks.file import File
from confide.measure.risk.file_risks.household import HouseholdRisk
from confide.measure.risk.file_risks.individual_risk import IndividualRisk
from confide.measure.risk.file_risks.k_map import KMap
from confide.measure.risk.file_risks.l_diversity import LDiversity
from confide.measure.risk.file_risks.population_uniques import PopulationUniques
from confide.measure.risk.file_risks.result import FileRiskResult
from confide.measure.risk.file_risks.statement import FileRisk
from confide.measure.risk.file_risks.suda import Suda
from confide.measure.risk.file_risks.t_closeness import TCloseness
from confide.study.look.asked import Asked
from confide.study.look.sets import largest_size

SUDA, INDIVIDUAL, UNIQUES, HOUSEHOLD, K_MAP = "suda", "individual_risk", "population_uniques", "household_risk", "k_map"
L_DIVERSITY, T_CLOSENESS = "l_diversity", "t_closeness"
L, T, K = 2, 0.2, 3
POPULATION: dict[str, Any] = {
    "estimator": pl.String, "tau1": pl.Float64, "tau1_low": pl.Float64, "tau1_high": pl.Float64, "tau2": pl.Float64,
    "tau2_low": pl.Float64, "tau2_high": pl.Float64, "uniques": pl.Float64, "dis": pl.Float64, "note": pl.String,
}  # fmt: skip
COUNTED = "counted"
SUDA_KEYS = 60
"""Keys up to which SUDA2 scores are computed: factorials of more are no numbers to compare."""


def statements(asked: Asked) -> Iterator[tuple[str, FileRisk]]:
    """Every customary measure that the roles allow, by name."""
    keys = asked.keys
    most = largest_size(len(keys))
    drawn: dict[str, Any] = {}
    if asked.weight is not None:
        drawn = {"weight": asked.weight}
    elif asked.total is not None:
        drawn = {"total": asked.total}
    if len(keys) <= SUDA_KEYS:
        yield SUDA, Suda(keys, largest=None if most == len(keys) else most)
    if drawn:
        yield INDIVIDUAL, IndividualRisk(keys, **drawn)
        yield UNIQUES, PopulationUniques(keys, **drawn)
    if asked.people is not None:
        yield K_MAP, KMap(keys, asked.people.frame, k=K, count=asked.people.count, missing="own")
    for v in asked.sensitive:
        yield f"{L_DIVERSITY}_{v}", LDiversity(keys, v, l=L)
        yield f"{T_CLOSENESS}_{v}", TCloseness(keys, v, t=T)
    if asked.unit is not None:
        yield HOUSEHOLD, HouseholdRisk(keys, asked.unit)


def customary(asked: Asked, doubts: list[str]) -> dict[str, FileRiskResult]:
    """What each measure finds; one that cannot be computed is a doubt, and the look goes on."""
    out = {}
    for name, statement in statements(asked):
        try:
            file = asked.file_with(statement.variables)
            out[name] = statement.found(File(file, type(statement).__name__))
        except InputError as e:
            doubts.append(f"Not computed: {e}")
    return out


def individual_risk(measures: Mapping[str, FileRiskResult], alike: I64) -> F64:
    """For each row the probability that a match with it is right: 1 / F where the population is counted, Benedetti and
    Franconi's E(1 / F) where it is estimated, else 1 / alike."""
    if K_MAP in measures:
        people = measures[K_MAP].frame["people"].to_numpy()
        return np.asarray(1.0 / np.maximum(people, alike))
    if INDIVIDUAL in measures:
        return measures[INDIVIDUAL].frame["risk"].to_numpy()
    return np.asarray(1.0 / alike)


def suda_scores(measures: Mapping[str, FileRiskResult], rows: int) -> F64:
    """For each row its SUDA2 score."""
    return measures[SUDA].frame["score"].to_numpy() if SUDA in measures else np.zeros(rows)


def population_frame(asked: Asked, measures: Mapping[str, FileRiskResult], alike: I64) -> pl.DataFrame:
    """One row per estimator of the population; first, where there is a file of it, what is counted."""
    parts = [pl.DataFrame(schema=POPULATION)]
    if K_MAP in measures and asked.people is not None:
        uniques = asked.people.uniques(asked.keys)
        parts.append(_counted(measures[K_MAP].frame["people"].to_numpy(), alike, uniques))
    if UNIQUES in measures:
        parts.append(measures[UNIQUES].table.select(list(POPULATION)))
    return pl.concat(parts)


def _counted(people: I64, alike: I64, uniques: int) -> pl.DataFrame:
    """tau1 and tau2 as they are, with the intervals that a truth has."""
    alone = alike == 1
    tau1 = float((alone & (people <= 1)).sum())
    tau2 = float((1.0 / np.maximum(people[alone], 1)).sum())
    n = int(alone.sum())
    dis = n / max(float(people[alone].sum()), 1.0) if n else None
    row = (COUNTED, tau1, tau1, tau1, tau2, tau2, tau2, float(uniques), dis, "counted in the file of the population")
    return pl.DataFrame([row], schema=POPULATION, orient="row")
