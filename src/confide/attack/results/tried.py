"""Whether the same intruder would find more at another level."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from confide.attack.intruder import Intruder
from confide.attack.results.stronger import level_of, levels_of
from confide.attack.results.units import all_released, found_matches
from confide.core.errors import InputError
from confide.core.result import Result
from confide.frames import to_polars
from confide.frames.columns import F64, I64

if TYPE_CHECKING:
    from confide.attack.results.attack import Attack

MOST = 4_000
"""Targets that are tried at other levels: all where there are no more, else so many at random. Never fewer records."""
ERRORS, SHARE = 2.0, 0.05
"""A level finds more where the difference exceeds so many standard errors, and this share of what is found."""


@dataclass(frozen=True, eq=False, repr=False)
class Tried(Result):
    """The levels at which an intruder was tried, on the same targets.

    `frame` has one row per level, the intruder's own first: `level`; `targets` tried; `found`, the right matches that
    count (as in `summary()`), and its `share` of targets; `claimed`; `error`, the standard error of the difference in
    found to the own level, over targets (units where they have several rows); `note`, why a level was refused.
    `intruders`: who was tried, by level. `better`: the level that finds most, where that is more than the own one by
    two standard errors and 5 percent; else empty.
    """

    frame: pl.DataFrame
    intruders: Mapping[str, Intruder]

    @property
    def better(self) -> str:
        own, others = self.frame.row(0, named=True), self.frame.tail(-1).drop_nulls("found")
        for r in others.sort("found", descending=True).iter_rows(named=True):
            gap = r["found"] - own["found"]
            if gap > ERRORS * r["error"] and gap > SHARE * own["found"]:
                return str(r["level"])
        return ""

    @property
    def strongest(self) -> Intruder:
        """The intruder at the level that finds more, else as stated."""
        return self.intruders[self.better or self.frame["level"][0]]

    def summary(self) -> pl.DataFrame:
        """The frame without notes."""
        return self.frame.drop("note")

    def __repr__(self) -> str:
        tried = self.frame["targets"][0]
        lines = [
            f"{tried:,} targets, tried at each level:",
            f"{'level':<10} {'found':>10}  {'share':>6}  {'claimed':>10}",
        ]
        for r in self.frame.iter_rows(named=True):
            shown = (
                r["note"] if r["found"] is None else f"{r['found']:>10,.1f}  {r['share']:>6.1%}  {r['claimed']:>10,.1f}"
            )
            lines.append(f"{r['level']:<10} {shown}")
        return "\n".join(lines)


def try_levels(attack: Attack) -> Tried:
    """The attack's targets, or a sample of them, attacked at every level that could find more."""
    if attack.units["hit"].null_count():
        raise InputError("Levels are compared by the truth: give link= to Release.adopt, or truth= to attack.")
    rows = _sample(attack.units.height)
    own, behind = attack.units[rows], all_released(attack.units)
    base = _found(own, behind)
    out = [{"level": level_of(attack.intruder), **_row(base, own), "error": 0.0, "note": ""}]
    intruders = variants(attack)
    for level, who in list(intruders.items())[1:]:
        try:
            units = _again(attack, who, rows, behind)
        except InputError as refused:
            out.append({"level": level, "targets": len(rows), "note": f"refused: {refused}"})
            continue
        gap = _found(units, behind) - base
        out.append({"level": level, **_row(base + gap, units), "error": _error(gap, own), "note": ""})
    kinds = {"targets": pl.Int64, **dict.fromkeys(("found", "share", "claimed", "error"), pl.Float64)}
    order = ["level", "targets", "found", "share", "claimed", "error", "note"]
    return Tried(pl.DataFrame(out, schema_overrides=kinds, infer_schema_length=None).select(order), intruders)


def variants(attack: Attack) -> dict[str, Intruder]:
    """The intruder at every level that could find more in what was attacked, as stated first."""
    several = bool(attack.given[2])
    found = levels_of(attack.intruder, attack.release)
    return {name: who for k, (name, who) in enumerate(found.items()) if not (k and several and name == "naive")}


def _sample(n: int) -> I64:
    """All targets, or as many as are tried, at random but the same every time."""
    return np.arange(n) if n <= MOST else np.sort(np.random.default_rng(n).choice(n, MOST, replace=False))


def _again(attack: Attack, who: Intruder, rows: I64, behind: bool) -> pl.DataFrame:
    """The same targets attacked by another intruder, as the part of all that they are."""
    from confide.attack.engine.run import run_attack

    targets, truth, also = attack.given
    if len(rows) < attack.units.height:
        truth = attack.truth[rows]
        targets = attack.release.original[truth] if targets is None else to_polars(targets, "targets")[rows]
    found = run_attack(who, attack.release, targets, truth, threads=None, progress=False, also=also, behind=behind)
    return found.units


def _found(units: pl.DataFrame, behind: bool) -> F64:
    return np.asarray(found_matches(units, behind).fill_null(0.0).to_numpy(), dtype=float)


def _row(found: F64, units: pl.DataFrame) -> dict[str, Any]:
    total, n = float(found.sum()), len(found)
    return {"targets": n, "found": total, "share": total / max(n, 1), "claimed": float(units["p_max"].sum())}


def _error(gap: F64, own: pl.DataFrame) -> float:
    """The standard error of a sum of differences; targets of one unit stand or fall together."""
    if "unit" in own.columns:
        _, of = np.unique(own["unit"].to_numpy(), return_inverse=True)
        gap = np.bincount(of, weights=gap).astype(float)
    return float(np.sqrt(((gap - gap.mean()) ** 2).sum())) if len(gap) else 0.0
