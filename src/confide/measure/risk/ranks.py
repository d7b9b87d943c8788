"""Where the true record stands among an intruder's candidates, and what a rule for declaring matches achieves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from confide.attack.engine.kernel_plan import KernelPlan
from confide.attack.engine.loops import carry_out
from confide.attack.engine.other_rows import other_rows
from confide.attack.engine.unit_sums import carry_out_units
from confide.attack.results.again import prepared
from confide.attack.results.units import added_up, found_matches, many_targets, right_matches
from confide.core.checks import fraction
from confide.core.errors import InputError
from confide.core.run.threads import thread_count
from confide.frames.columns import F64
from confide.measure.risk.identification import MARGIN

if TYPE_CHECKING:
    from confide.attack.results.attack import Attack


MOST = 10_000
"""Ranks that a table lists."""


def rank_table(attack: Attack, top: int = 10) -> pl.DataFrame:
    """Targets by the rank of their own record (Fienberg, Makov and Sanil 1997, Tables 4.3 to 4.6).

    One row for each rank up to `top`, one for all beyond, and, where there are any, one for targets whose own record is
    no candidate. `p_true`: mean probability of the own record; `p_top`: mean sum of the `top` largest probabilities;
    each with its standard deviation; `share`: of all targets. Records tied with the own one do not push it back.
    """
    if isinstance(top, bool) or not isinstance(top, (int, np.integer)) or not 1 <= top <= MOST:
        raise InputError(f"top must be a whole number from 1 upwards, at most {MOST:,}.")
    if attack.units["hit"].null_count():
        raise InputError("Ranks need the truth: give link= to Release.adopt, or truth= to attack.")
    units = attack.units.select("rank", "p_true").with_columns(p_top=pl.Series(top_sums(attack, int(top))))
    beyond = f">{top}"
    names = [*(str(k) for k in range(1, top + 1)), beyond]
    label = pl.when(pl.col("rank") <= top).then(pl.col("rank").cast(pl.String)).otherwise(pl.lit(beyond))
    units = units.with_columns(rank=pl.when(pl.col("rank").is_null()).then(pl.lit("none")).otherwise(label))
    found = units.group_by("rank").agg(
        targets=pl.len().cast(pl.Int64), p_true=pl.mean("p_true"), p_true_sd=pl.std("p_true"),
        p_top=pl.mean("p_top"), p_top_sd=pl.std("p_top"),
    )  # fmt: skip
    order = [*names, *(["none"] if "none" in units["rank"] else [])]
    table = pl.DataFrame({"rank": order}).join(found, on="rank", how="left", maintain_order="left")
    table = table.with_columns(pl.col("targets").fill_null(0))
    return table.with_columns(share=pl.col("targets") / max(attack.units.height, 1))


def top_sums(attack: Attack, top: int) -> F64:
    """Sum of each target's `top` largest probabilities."""
    ready = prepared(attack)
    out, threads = np.zeros(len(ready.own)), thread_count(None)
    for mine, scene, units in ready.scenes():
        if ready.groups is None:
            found = carry_out(KernelPlan.of(scene, units), units, threads, lambda _: None, top=top)
        else:
            unit = ready.groups.released
            found, _ = carry_out_units(scene, units, unit, other_rows(scene, unit), threads, lambda _: None, top)
        with np.errstate(invalid="ignore"):
            p = np.exp(found.log_top - attack.log_scale[mine])
        out[mine] = np.where(np.isfinite(found.log_top), p, 0.0)
    out = np.minimum(out, 1.0)
    return out if attack.of is None else out[attack.of]


def declare_table(units: pl.DataFrame, thresholds: float | Sequence[float]) -> pl.DataFrame:
    """What comes of declaring a match wherever the largest probability exceeds a threshold.

    `declared`: targets for whom a match is declared; `claimed`: how many of those the intruder expects to be right;
    `right`, `wrong`: how many are (one of several equally likely records is picked at random); `share_right`: of those
    declared, None where there are none; `found`: right ones that count (as in `summary()`) as a share of all targets;
    `share_declared`: of targets.
    """
    given: list[Any] = [thresholds] if np.ndim(thresholds) == 0 else list(np.ravel(thresholds))
    if not given:
        raise InputError("threshold is a probability, or a list of them.")
    known = not units["hit"].null_count()
    right, count = (each(units).fill_null(0.0) for each in (right_matches, found_matches))
    rows, n = [], max(many_targets(units), 1)
    for threshold in given:
        limit = fraction(threshold, "threshold")
        over = units["p_max"] > limit * (1 + MARGIN)
        mine = units.filter(over)
        declared, hits = many_targets(mine), added_up(mine, right.filter(over))
        found = added_up(mine, count.filter(over)) / n
        rows.append({
            "threshold": limit, "declared": declared, "claimed": added_up(mine, mine["p_max"]),
            "right": hits if known else None, "wrong": declared - hits if known else None,
            "share_right": hits / declared if known and declared else None,
            "found": found if known else None, "share_declared": declared / n,
        })  # fmt: skip
    real = dict.fromkeys(("threshold", "claimed", "right", "wrong", "share_right", "found"), pl.Float64)
    return pl.DataFrame(rows, schema_overrides=real)
