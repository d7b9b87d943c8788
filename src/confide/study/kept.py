"""A study's result in one file, from which it comes back whole: tables, statements, and what the study was."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import polars as pl

from confide.attack.intruder import Intruder
from confide.core.documents.plain import Reader
from confide.core.errors import InputError, raise_all
from confide.frames import private_folder, write
from confide.measure.utility.registry import as_measure
from confide.protect.plan import Plan
from confide.study.pieces.sealed import read_sealed, write_sealed
from confide.study.result import Info, StudyResult
from confide.study.statement.document import measure_table
from confide.study.statement.file_risks import as_file_risk, file_risk_table
from confide.study.statement.learns import Learns
from confide.study.statement.learns_document import learns_tables, stated_learns
from confide.study.statement.rule import Rule

FRAME, SUMMARY, FILE = "frame.parquet", "summary.csv", "result.json"
WORK = "work"
"""Where `confide study` keeps it."""
TYPES = {str(t): t for t in (pl.String, pl.Float64, pl.Int64, pl.Boolean)}
TABLES = (
    "frame", "distribution", "groups", "details", "timings", "audit", "levels", "calibration", "claims",
    "distributions", "kinds", "released", "group_utility",
)  # fmt: skip
LEARNT = ("learnt", "learnt_groups")
"""Tables of a study that says what must not be learnt; others leave them out."""


def save_tables(result: StudyResult, place: Path, overwrite: bool = False) -> list[Path]:
    """Write the frame and the summary, for their owner alone; a new folder is private as well."""
    if not place.is_dir():
        private_folder(place)
    frame = write(result.frame, place / FRAME, overwrite=overwrite, private=True)
    return [frame, write(result.summary(), place / SUMMARY, overwrite=overwrite, private=True)]


def keep(result: StudyResult, folder: Path, overwrite: bool = True) -> Path:
    """Write the result for its owner alone: it holds the study's seed."""
    path, content = folder / FILE, json.loads(json.dumps(_stated(result)))
    if path.exists() and not overwrite and read_sealed(path, FILE) != content:
        raise InputError(f"{path} exists and is not overwritten; write overwrite=True to replace it.")
    write_sealed(path, FILE, content)
    return path


def kept(folder: Path) -> StudyResult:
    """The result in a folder that `save`, `Study.run` or `confide study` left."""
    found = next((c for place in (folder, folder / WORK) if (c := read_sealed(place / FILE, FILE)) is not None), None)
    if found is None:
        raise InputError(f"{folder} holds no {FILE} that is whole; StudyResult.save and Study.run(folder) leave one.")
    _check_stated(found)
    try:
        return _restored(found)
    except (KeyError, TypeError, ValueError):
        raise InputError(f"{folder / FILE} was made by another version; run the study again.") from None


def _stated(result: StudyResult) -> dict[str, Any]:
    tables = (*TABLES, *LEARNT) if result.learns else TABLES
    stated: dict[str, Any] = {"learns": learns_tables(result.learns)} if result.learns else {}
    if result.file_risks:
        stated["file_risks"] = {r.name: _or_none(file_risk_table, r) for r in result.file_risks}
    return {
        "info": asdict(result.info),
        "plans": {name: _or_none(Plan.to_dict, plan) for name, plan in result.plans.items()},
        "intruders": {name: _or_none(Intruder.to_dict, who) for name, who in result.intruders.items()},
        "measures": {m.name: _or_none(measure_table, m) for m in result.measures},
        "rule": None if result.rule is None else asdict(result.rule),
        "copies": dict(result.copies),
        "statements": {k: list(v) for k, v in result.statements.items()},
        "tables": {t: [[s.name, str(s.dtype), s.to_list()] for s in getattr(result, t)] for t in tables},
        **stated,
    }


def _check_stated(found: Mapping[str, Any]) -> None:
    for what in ("plans", "intruders", "measures", "file_risks"):
        for name, stated in found.get(what, {}).items():
            if stated is None:
                raise InputError(
                    f'The file cannot hold "{name}" of the {what}, which no document could state. Run the study again '
                    "in its folder: what is finished is not computed again."
                )


def _restored(found: Mapping[str, Any]) -> StudyResult:
    tables = {
        t: pl.DataFrame([pl.Series(n, values, dtype=TYPES[kind]) for n, kind, values in found["tables"][t]])
        for t in (*TABLES, *(LEARNT if "learns" in found else ()))
    }
    return StudyResult(
        **tables,
        plans={name: Plan.from_dict(p) for name, p in found["plans"].items()},
        intruders={name: Intruder.from_dict(i) for name, i in found["intruders"].items()},
        file_risks=tuple(as_file_risk(r) for r in found.get("file_risks", {}).values()),
        measures=tuple(as_measure(m) for m in found["measures"].values()),
        info=Info(**found["info"]),
        rule=None if found["rule"] is None else Rule(**found["rule"]),
        copies=found["copies"],
        learns=_learns(found.get("learns", [])),
        statements={k: [(i, f, n) for i, f, n in v] for k, v in found["statements"].items()},
    )


def _learns(tables: list[Any]) -> tuple[Learns, ...]:
    reader = Reader()
    made = stated_learns(reader, tables)
    raise_all(reader.problems)
    return tuple(made)


def _or_none(state: Any, what: Any) -> Any:
    try:
        return state(what)
    except InputError:
        return None
