"""Ways to publish a table side by side. Each one that was measured is kept, so that another way costs itself alone."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import confide as cf
from confide.app.counted import REPEATS, table_given
from confide.app.documents import DATA
from confide.app.project import private, write
from confide.app.way_names import name_of
from confide.app.ways import candidate_of
from confide.app.work.table import tables_of
from confide.app.worker import Work

KEPT = ("sap", "standard_error", "worst", "at_risk", "distortion", "hidden", "additive")


def run(work: Work) -> dict[str, Any]:
    """One row per way: what `cf.compare_schemes` says of it, or why it cannot be published."""
    given, rows = work.given, []
    tables: cf.Table | cf.Tables | None = None
    for done, way in enumerate(given["ways"]):
        name = name_of(way)
        work.progress(done, len(given["ways"]), name)
        place = _place(work.folder, given, way)
        row = _kept(place)
        if row is None:
            tables = tables_of(work.folder, given) if tables is None else tables
            row = _measured(tables, name, way, given)
            write(place, json.dumps(row))
        rows.append(row)
        if done:
            work.preview({"rows": rows})
    work.progress(len(rows), len(rows), "")
    return {"rows": rows}


def _measured(tables: cf.Table | cf.Tables, name: str, way: Mapping[str, Any], given: Mapping[str, Any]) -> Any:
    try:
        found = cf.compare_schemes(
            tables, {name: candidate_of(way)}, known=given["known"], margins=given["margins"], repeats=REPEATS,
            progress=False,
        )  # fmt: skip
    except cf.InputError as error:
        return {"scheme": name, "worst": None, "said": str(error)}
    (row,) = found.frame.iter_rows(named=True)
    if not math.isfinite(row["worst"]):
        return {"scheme": name, "worst": None, "said": "Its risk could not be computed."}
    return {"scheme": name, **{k: row[k] for k in KEPT}}


def _place(folder: Path, given: Mapping[str, Any], way: Mapping[str, Any]) -> Path:
    changed = (folder / DATA).stat().st_mtime_ns
    told = [table_given(given), given["margins"], given["known"], dict(way), REPEATS, cf.__version__, changed]
    name = hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()[:32]
    return private(folder / "work" / "schemes") / f"{name}.json"


def _kept(place: Path) -> Any:
    try:
        return json.loads(place.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
