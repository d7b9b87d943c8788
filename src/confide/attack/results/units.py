"""The table of targets: from log weights to probabilities."""

from __future__ import annotations

import numpy as np
import polars as pl

from confide.attack.targets import UNKNOWN
from confide.frames.columns import F64, I64

STATUS = ("ok", "no candidate", "contradiction", "not released")


def make_units(columns: dict[str, F64], own_row: I64, certain: bool) -> tuple[pl.DataFrame, F64, F64]:
    """From log weights to the table of targets; also the log of the sum of all weights relative to the largest, and the
    weight of absence."""
    n_t, people = columns["n_t"], columns["people"]
    # With N_t: prior 1/N_t, absence (N_t - n_t)/N_t; both multiplied by N_t here.
    absent = np.zeros(len(n_t)) if certain else np.maximum(people - n_t, 0.0)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        alive = np.isfinite(columns["log_sum"])
        # Everything relative to the largest weight, which is tiny beyond measure for a target far from all records.
        scale = np.logaddexp(columns["log_sum"], np.log(absent) - columns["log_max"])
        p_max = np.where(alive, np.exp(-scale), 0.0)
        p_true = np.where(alive, np.exp(columns["log_true"] - columns["log_max"] - scale), 0.0)
        p_absent = np.where(alive, np.exp(np.log(absent) - columns["log_max"] - scale), np.nan if certain else 1.0)
    if certain:
        p_absent = np.where(alive, 0.0, np.nan)
    released, unknown = own_row >= 0, own_row == UNKNOWN
    has_true = released & alive & np.isfinite(columns["log_true"])
    hit = has_true & (columns["above"] == 0)
    status = np.where(alive, 0, 2 if certain else np.where(n_t == 0, 1, 2))
    status = np.where(alive & ~released & ~unknown, 3, status)
    frame = pl.DataFrame({
        "target": np.arange(len(n_t)), "candidates": n_t.astype(np.int64), "p_true": p_true, "p_max": p_max,
        "n_max": np.where(alive, np.round(columns["n_max"]), 0).astype(np.int64), "hit": hit,
        "as_likely": np.round(columns["likely"]).astype(np.int64),
        "rank": (1 + np.round(columns["above"])).astype(np.int64), "p_absent": p_absent,
        "status": pl.Series(STATUS).gather(status),
    })  # fmt: skip
    mask = pl.Series(released)
    ranked = pl.Series(has_true)
    frame = frame.with_columns(
        p_true=pl.when(mask).then(pl.col("p_true")), hit=pl.when(pl.Series(~unknown)).then(pl.col("hit")),
        as_likely=pl.when(ranked).then(pl.col("as_likely")), rank=pl.when(ranked).then(pl.col("rank")),
        p_absent=pl.col("p_absent").fill_nan(None),
    )  # fmt: skip
    return frame, scale, absent


ALIKE = "alike"
"""The column of a table of units that says how many targets each row stands for; without it each stands for one."""


def added_up(units: pl.DataFrame, values: pl.Series) -> float:
    """The sum of what each row of a table of units has, over all targets.

    >>> added_up(pl.DataFrame({ALIKE: [3, 1]}), pl.Series([0.5, 1.0])), added_up(pl.DataFrame(), pl.Series([0.5, 1.0]))
    (2.5, 1.5)
    """
    return float((values * units[ALIKE] if ALIKE in units.columns else values).sum())


def many_targets(units: pl.DataFrame, which: pl.Series | None = None) -> int:
    """How many targets a table of units has, or those rows of it for which something holds."""
    if ALIKE not in units.columns:
        return units.height if which is None else int(which.sum())
    return int((units[ALIKE] if which is None else units[ALIKE].filter(which.fill_null(False))).sum())


def right_matches(units: pl.DataFrame) -> pl.Series:
    """How many right matches each target gives on average if one of its likeliest records is picked: hit / n_max."""
    return units["hit"].cast(pl.Float64) / units["n_max"].clip(lower_bound=1)


def all_released(units: pl.DataFrame) -> bool:
    """Whether every target is known to be in the release: the targets are the people behind records."""
    return not units["p_true"].null_count()


def found_matches(units: pl.DataFrame, behind: bool | None = None) -> pl.Series:
    """Right matches that count: r_t = hit / n_max, times 1 - p_absent where the targets are the people behind records.

    Then the intruder's doubt stands for people who could be meant and are not among the targets. Where absent people
    are among them, these score 0 themselves, and doubt would be counted twice. `behind`: which of the two holds for all
    targets, where `units` has only some of them; by default it is asked of `units`.

    >>> both = {"hit": [True, False], "n_max": [2, 1], "p_absent": [0.2, 0.9]}
    >>> found_matches(pl.DataFrame({**both, "p_true": [0.4, 0.1]})).to_list()
    [0.4, 0.0]
    >>> found_matches(pl.DataFrame({**both, "p_true": [0.4, None]})).to_list()
    [0.5, 0.0]
    """
    right = right_matches(units)
    weighed = all_released(units) if behind is None else behind
    return right * (1 - units["p_absent"].fill_null(0.0)) if weighed else right


def spread_out(units: pl.DataFrame, of: I64 | None) -> pl.DataFrame:
    """One row per target from one row per unit; `of`: each target's unit, None where they are the same."""
    if of is None:
        return units
    every = pl.int_range(len(of), dtype=pl.Int64, eager=True).alias("target")
    return units.select(pl.exclude("target").gather(of)).insert_column(0, every)
