"""Draw the very file: once, with the project's vault; attack it and measure it as the comparison did."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl

import confide as cf
from confide.app.work.compare import cautions_of
from confide.app.work.data import data_of
from confide.app.work.verdict import ruled
from confide.app.worker import Work

VAULT = "vault"
FEWEST, ABOVE, TIMES = 10, 3, 5
"""A group that is told of has so many people, of whom so many are exposed, and so many times the share of all."""


def run(work: Work) -> dict[str, Any]:
    """What is found in this very file, and lost by it. The same plan and vault give the same file again, so that it is
    kept by its private record alone, which lies in the vault."""
    name = str(work.given["name"])
    work.progress(0, 3, "drawing")
    result = ruled(work.folder / work.given["folder"], work.given["choice"])
    release = cf.Plan.from_dict(work.given["plan"]).protect(data_of(work.folder), vault=work.folder / VAULT)
    record = release.record()
    digest = record["released"]["sha256"]
    kept = f"{VAULT}/record-{digest[:16]}.json"
    release.save_record(work.folder / kept, private=True, overwrite=True)
    work.progress(1, 3, "attacking and measuring")
    drawn = result.check(release, name)
    work.progress(2, 3, "looking at groups")
    targets = result.summary().filter(plan=name, measure="targets")
    found = {
        "name": name, "sha256": digest, "record": kept, "rows": release.frame.height,
        "variables": release.frame.width, "of": result.info.rows, "broken": list(drawn.broken),
        "threshold": result.info.threshold, "repeats": result.info.repeats,
        "who": _by_intruder(drawn.frame), "kept": _kept(drawn.frame),
        "targets": dict(targets.select("intruder", "mean").iter_rows()),
        "cautions": cautions_of(result, name),
        "groups": exposed_groups(result, name), "private": _private(release, work.given["plan"]),
        "random": result.random[name], "households": together(release, work.given["plan"], result.intruders),
    }  # fmt: skip
    work.progress(3, 3, "looking at groups")
    return found


def _by_intruder(frame: pl.DataFrame) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for row in frame.filter(kind="risk").iter_rows(named=True):
        if row["intruder"] is not None:
            who = out.setdefault(row["intruder"], {"level": row["level"]})
            who[row["measure"]] = {k: row[k] for k in ("value", "mean", "low", "high")}
    return out


def _kept(frame: pl.DataFrame) -> dict[str, Any]:
    rows = frame.filter(kind="utility").iter_rows(named=True)
    return {r["measure"]: {k: r[k] for k in ("value", "mean", "low", "high")} for r in rows}


def _private(release: cf.Release, plan: dict[str, Any]) -> dict[str, bool]:
    """Whether what must not go out is gone: identifiers, the order of rows, where the draws came from."""
    gone = [*plan.get("identifiers", []), *plan.get("drop", [])]
    link = release.link
    same = link is not None and len(link) > 1 and bool(np.all(np.diff(link) > 0))
    return {
        "identifiers": not any(v in release.frame.columns for v in gone), "shuffled": not same,
        "seed": "private" not in release.record() and not release.refusal,
    }  # fmt: skip


def together(
    release: cf.Release, plan: Mapping[str, Any], intruders: Mapping[str, cf.Intruder]
) -> dict[str, Any] | None:
    """Where rows are of units that can be put together: the intruder who knows most of whole units, and the share of
    people in units that no other has alike, released values taken as true. None where rows stand alone."""
    unit, frame = plan.get("unit"), release.frame
    if unit is None or unit not in frame.columns:
        return None
    best: dict[str, Any] | None = None
    for name, who in intruders.items():
        known = [v for v in who.knows if v in frame.columns and v != unit]
        if known:
            member = frame.select(pl.col(unit), member=pl.struct(pl.col(known).cast(pl.String)).hash(seed=1))
            each = member.group_by(unit).agg(pl.col("member").sort(), people=pl.len())
            alone = each.filter(pl.len().over("member") == 1)["people"].sum() / max(frame.height, 1)
            if best is None or alone > best["share"]:
                best = {"share": float(alone), "by": name}
    return best


def exposed_groups(result: cf.StudyResult, plan: str) -> list[dict[str, Any]]:
    """Groups in which far more people than elsewhere have a likeliest record above the threshold, the worst first;
    means over draws."""
    means = result.summary().filter(plan=plan).filter(pl.col("measure").is_in(["over_threshold", "targets"]))
    totals = {(r["intruder"], r["measure"]): r["mean"] for r in means.iter_rows(named=True)}
    best: dict[tuple[str, str], dict[str, Any]] = {}
    for row in result.groups.filter(plan=plan).iter_rows(named=True):
        over, people = row["over_threshold"], row["targets"]
        all_over, all_people = (totals[row["intruder"], m] for m in ("over_threshold", "targets"))
        if people < FEWEST or over < ABOVE or not all_over or over / people < TIMES * all_over / all_people:
            continue
        group = {"variable": row["variable"], "level": row["level"], "people": people, "share": over / people,
                 "average": all_over / all_people, "intruder": row["intruder"]}  # fmt: skip
        held = best.get((row["variable"], row["level"]))
        if held is None or held["share"] < group["share"]:
            best[row["variable"], row["level"]] = group
    return sorted(best.values(), key=lambda g: -g["share"])[:12]
