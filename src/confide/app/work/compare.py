"""Compare candidates: each carried out several times, met by every intruder, measured by what analysts need."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import confide as cf
from confide.app.work.studies import study_of
from confide.app.worker import Work

EVERYTHING = "release everything"
"""The study's own anchor. The file as it is, is among the candidates, so this one is not shown."""


def run(work: Work) -> dict[str, Any]:
    """The numbers of every candidate. The result itself stays in a private folder of the project."""
    table = work.given["study"]
    result = study_of(work.folder, table).run(
        work.folder / "work" / "study", overwrite=True, progress=work.progress
    )  # fmt: skip
    result.save(work.folder / work.given["folder"], overwrite=True)
    return {**numbers(result), "table": table, "at": datetime.now(UTC).isoformat(timespec="seconds")}


def cautions_of(result: cf.StudyResult, plan: str) -> list[str]:
    """The study's cautions on one plan."""
    return replace(result, claims=result.claims.filter(plan=plan)).cautions()


def numbers(result: cf.StudyResult) -> dict[str, Any]:
    """What a study found, as plain data: by plan, each intruder's people found and each measure's mean."""
    levels = {(p, who): level for p, who, level in result.frame.select("plan", "intruder", "level").iter_rows()}
    plans: dict[str, dict[str, Any]] = {name: {"who": {}, "kept": {}, "why": {}} for name in result.plans}
    for row in result.summary().iter_rows(named=True):
        plan = plans.get(row["plan"])
        if plan is None:
            continue
        ends = {k: row[k] for k in ("mean", "low", "high")}
        if row["kind"] == "utility":
            plan["kept"][row["measure"]] = ends
        elif row["measure"] in ("found", "found_share", "targets"):
            who = plan["who"].setdefault(row["intruder"], {"level": levels.get((row["plan"], row["intruder"]))})
            who[row["measure"]] = ends
    for name, measure, said in result.details.iter_rows():
        if name in plans:
            plans[name]["why"][measure] = said
    return {
        "plans": plans, "rows": result.info.rows, "repeats": result.info.repeats, "seconds": result.info.seconds,
        "cautions": {name: cautions_of(result, name) for name in result.plans},
    }  # fmt: skip
