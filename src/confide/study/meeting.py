"""What an intruder finds in one release, at each level that could find more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl

from confide.attack.intruder import Intruder
from confide.attack.results.attack import Attack
from confide.attack.results.copies import Averaged
from confide.attack.results.units import ALIKE
from confide.attack.targets import default_rows
from confide.core.errors import InputError
from confide.frames.columns import F64, I64
from confide.measure.risk.calibration import calibrate
from confide.measure.risk.identification import MARGIN, summarise
from confide.protect.copies import Copies
from confide.protect.release import Release
from confide.study.groups import Groups
from confide.study.statement.checks import RISKS

EDGES = (0.0, 0.001, 0.01, 0.05, 0.2, 0.5, 1.0)
"""Limits of the ranges of probability in which targets are counted; a range holds its upper limit."""

BINS = tuple(f"{a:g} to {b:g}" for a, b in pairwise(EDGES))

CALIBRATION = ("low", "high", "targets", "claimed", "true", "variance")
"""Of a row that compares claims with the truth: sums over targets, and the variance of the difference of both sums."""


@dataclass(frozen=True)
class Met:
    """What came of one intruder at one level.

    `risks`: the numbers named in `RISKS`. `distribution`: targets in each of `BINS`. `groups`: rows of (variable,
    level, targets, over_threshold, expected_matches, found, claimed). `claims`: rows of `CALIBRATION`, by range of the
    largest probability; the first is of all targets.
    """

    risks: dict[str, float | None]
    distribution: list[float]
    groups: list[list[Any]]
    claims: list[list[float]]

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return asdict(self)


def meet(
    ways: Mapping[str, Intruder], release: Release | Copies, threshold: float, threads: int | None,
    groups: Groups | None, held: dict[str, tuple[Attack, ...]] | None = None, sample: I64 | None = None,
) -> tuple[dict[str, Met], dict[str, str]]:  # fmt: skip
    """Attack a release by one intruder in each of several ways, by the name of its level.

    Also, by level, why it could not attack. Where the first way cannot, the intruder's risk is not known at all.
    `held` takes the attacks by level, for those who need them again. `sample`: original rows, the only targets.
    """
    met, refused = {}, {}
    for level, who in ways.items():
        try:
            attacks = attacks_of(who, release, threads, sample)
            met[level] = _met(attacks, who, threshold, groups)
            if held is not None:
                held[level] = attacks
        except InputError as e:
            refused[level] = str(e)
            if not met:
                break
    return met, refused


def _met(attacks: Sequence[Attack], who: Intruder, threshold: float, groups: Groups | None) -> Met:
    rows = [] if groups is None else groups.rows(attacks, who, threshold)
    return Met(
        mean_risks([_risks(a, threshold) for a in attacks]),
        np.mean([counts_by_bin(a.units) for a in attacks], axis=0).tolist(),
        rows,
        claims_of([a.units for a in attacks]),
    )


def attacks_of(
    who: Intruder, release: Release | Copies, threads: int | None, sample: I64 | None = None
) -> tuple[Attack, ...]:
    """One attack, or, on copies whose rows cannot be linked, one per copy. `sample`: original rows, the only targets;
    those among them are looked for who would be without it."""
    if sample is not None and isinstance(release, Release):
        rows = np.intersect1d(sample, default_rows(who, release))
        return (who.attack(release, release.original[rows], rows, threads=threads, progress=False),)
    attack = who.attack(release, threads=threads, progress=False)
    return attack.attacks if isinstance(attack, Averaged) else (attack,)


def _risks(attack: Attack, threshold: float) -> dict[str, float | None]:
    return risks_of(attack.units, threshold)


def risks_of(units: pl.DataFrame, threshold: float) -> dict[str, float | None]:
    """The numbers named in `RISKS`, from the table of targets."""
    summary = summarise(units, threshold)
    found = {**summary.to_dict(), "found_share": summary.found_share}
    return {k: None if found[k] is None else float(found[k]) for k in RISKS}


def mean_risks(each: Sequence[Mapping[str, float | None]]) -> dict[str, float | None]:
    """The mean over attacks; unknown where it is unknown for one of them."""
    out: dict[str, float | None] = {}
    for k in RISKS:
        known = [v for v in (e[k] for e in each) if v is not None]
        out[k] = float(np.mean(known)) if len(known) == len(each) else None
    return out


def counts_by_bin(units: pl.DataFrame) -> F64:
    """Targets whose largest probability lies in each of `BINS`."""
    # One in five comes out of log space a hair above 0.2; that much does not move it to the next range.
    at = np.searchsorted(np.asarray(EDGES) * (1 + MARGIN), units["p_max"].to_numpy(), side="left") - 1
    alike = units[ALIKE].cast(pl.Float64).to_numpy() if ALIKE in units.columns else None
    return np.bincount(np.clip(at, 0, len(BINS) - 1), alike, len(BINS)).astype(np.float64)


def claims_of(units: list[pl.DataFrame]) -> list[list[float]]:
    """Rows of `CALIBRATION`; none where the truth is not known, or nobody has a candidate."""
    if any(u["hit"].null_count() or not (u["n_max"] > 0).any() for u in units):
        return []
    frame = pl.concat([calibrate(units, bins).frame for bins in (1, 10)])
    n = pl.col("targets").cast(pl.Float64)
    sums = frame.select("low", "high", n, pl.col("claimed") * n, pl.col("true") * n, (pl.col("error") * n) ** 2)
    return [list(row) for row in sums.rows()]
