"""Plans met by all intruders, in one study of drafts: what each is found to be, as plain data."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

import confide as cf
from confide.app.documents import SEED
from confide.app.work.data import data_of
from confide.app.work.plain import finite
from confide.app.worker import Work

SUFFERS = re.compile(r"(?:most|least): (.*?) \([^()]*\)(?:;|$)")
"""Where a measure's remark says what it is furthest off for."""


def intruders_of(tables: Sequence[Mapping[str, Any]]) -> dict[str, cf.Intruder]:
    """Intruders by name, from the tables of a study file."""
    return {t["name"]: cf.Intruder.from_dict({k: v for k, v in t.items() if k != "name"}) for t in tables}


def drafted(
    work: Work, folder: str, plans: Mapping[str, cf.Plan], intruders: Mapping[str, cf.Intruder]
) -> cf.StudyResult:
    """The study of these plans, each carried out once; what was carried out before is taken from the folder."""
    study = cf.Study(data_of(work.folder), plans, intruders, work.given["utility"], repeats=1, seed=SEED)
    return study.run(
        work.folder / folder, overwrite=True, progress=lambda done, total, _: work.progress(done, total, "releases")
    )


def effect(result: cf.StudyResult, plan: str) -> dict[str, Any]:
    """What each intruder finds in a plan, who finds most, and what is kept, in the numbers of the study."""
    rows = result.frame.filter(pl.col("plan") == plan)
    found = [
        {"name": r["intruder"], "found": finite(r["found"]), "share": finite(r["found_share"]), "of": r["targets"]}
        for r in rows.iter_rows(named=True)
    ]
    first = rows.row(0, named=True)
    details = dict(result.details.filter(pl.col("plan") == plan).select("measure", "detail").iter_rows())
    seconds = result.timings.filter(pl.col("plan") == plan).select("protect", "attack", "utility")
    return {
        "found": found, "worst": max(found, key=lambda r: -1.0 if r["found"] is None else r["found"]),
        "measures": {m.name: finite(first[m.name]) for m in result.measures},
        "suffers": {m.name: _suffers(details.get(m.name, "")) for m in result.measures},
        "seconds": float(sum(seconds.row(0))) if seconds.height else 0.0,
    }  # fmt: skip


def _suffers(detail: str) -> str:
    found = SUFFERS.search(detail)
    return "" if found is None else found[1]
