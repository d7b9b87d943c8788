"""What a study found at the levels that it books, over all repeats."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import polars as pl

from confide.measure.risk.calibration import in_errors
from confide.study.evaluate import Evaluated
from confide.study.levels import booked
from confide.study.meeting import BINS, CALIBRATION, Met
from confide.study.tradeoff.repeats import interval

WHO = {"plan": pl.String, "intruder": pl.String}


def booked_levels(pieces: Iterable[tuple[str, Evaluated]]) -> dict[tuple[str, str], str | None]:
    """By plan and intruder, the level at which the intruder is right most often over all repeats."""
    every: dict[tuple[str, str], list[Mapping[str, Met]]] = {}
    for plan, found in pieces:
        for who, ways in found.met.items():
            every.setdefault((plan, who), []).append(ways)
    return {key: booked(repeats) for key, repeats in every.items()}


class Booked:
    """What was found at the levels that are booked: (plan, intruder, level, what was met), over all pieces."""

    def __init__(self, met: Iterable[tuple[str, Evaluated]]) -> None:
        pieces = list(met)
        levels = booked_levels(pieces)
        self.met = [
            (plan, who, level, ways[level])
            for plan, found in pieces
            for who, ways in found.met.items()
            if (level := levels[plan, who]) is not None
        ]

    def distribution(self) -> pl.DataFrame:
        """Targets in ranges of their largest probability, means over repeats."""
        rows = [
            (plan, who, name, count)
            for plan, who, _, met in self.met
            for name, count in zip(BINS, met.distribution, strict=True)
        ]
        frame = pl.DataFrame(rows, schema={**WHO, "bin": pl.String, "targets": pl.Float64}, orient="row")
        return frame.group_by("plan", "intruder", "bin", maintain_order=True).agg(pl.col("targets").mean())

    def groups(self, random: Mapping[str, bool]) -> pl.DataFrame:
        """Groups of people, means over repeats, with the interval of found: of `random` plans over repeats."""
        rows = [(plan, who, *row) for plan, who, _, met in self.met for row in met.groups]
        numbers = ("targets", "over_threshold", "expected_matches", "found", "claimed")
        schema = {**WHO, "variable": pl.String, "level": pl.String, **dict.fromkeys(numbers, pl.Float64)}
        frame = pl.DataFrame(rows, schema=schema, orient="row")
        by = ("plan", "intruder", "variable", "level")
        found = frame.group_by(by, maintain_order=True).agg(pl.col(numbers).mean(), each=pl.col("found"))
        ends = [
            interval(each, random.get(plan, True), (0.0, most))
            for plan, each, most in found.select("plan", "each", "targets").iter_rows()
        ]
        low, high = ([None if e is None else getattr(e, k) for e in ends] for k in ("low", "high"))
        return found.drop("each").with_columns(
            pl.Series("low", low, dtype=pl.Float64), pl.Series("high", high, dtype=pl.Float64)
        )

    def calibration(self) -> pl.DataFrame:
        """Sums over repeats of what was claimed and true, in ranges of the largest probability."""
        rows = [(plan, who, level, *row) for plan, who, level, met in self.met for row in met.claims[1:]]
        schema = {**WHO, "level": pl.String, **dict.fromkeys(CALIBRATION, pl.Float64)}
        by = ("plan", "intruder", "level", "high")
        frame = pl.DataFrame(rows, schema=schema, orient="row").group_by(by, maintain_order=True)
        found = frame.agg(pl.col("low").min(), pl.col(CALIBRATION[2:]).sum())
        place = found.select("plan", "intruder").unique(maintain_order=True).with_row_index("place")
        return found.join(place, on=("plan", "intruder")).sort("place", "high").select(*schema)

    def claims(self) -> pl.DataFrame:
        """Means over repeats of what was claimed and true in all, and their difference in standard errors of one."""
        rows = [(plan, who, level, *met.claims[0][2:]) for plan, who, level, met in self.met if met.claims]
        schema = {**WHO, "level": pl.String, **dict.fromkeys(CALIBRATION[2:], pl.Float64)}
        frame = pl.DataFrame(rows, schema=schema, orient="row")
        found = frame.group_by("plan", "intruder", "level", maintain_order=True).agg(pl.col(CALIBRATION[2:]).mean())
        gaps = (found["true"] - found["claimed"]).to_list()
        errors = found["variance"].sqrt().to_list()
        z = pl.Series("z", [in_errors(gap, error) for gap, error in zip(gaps, errors, strict=True)], dtype=pl.Float64)
        return found.with_columns(pl.Series("error", errors, dtype=pl.Float64), z).drop("variance")
