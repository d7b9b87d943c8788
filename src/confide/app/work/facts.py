"""Read a file into the project, and say what it is: rows, variables, their guessed roles, and small counts."""

from __future__ import annotations

import hashlib
import os
import time
from pathlib import Path
from typing import Any

import polars as pl

import confide as cf
from confide.app.documents import DATA
from confide.app.worker import Work

FEWEST = 3
"""A value that fewer people have is not named."""

BINS, MOST = 18, 48


def run(work: Work) -> dict[str, Any]:
    """The file as the project's copy, and what is known of it."""
    began = time.perf_counter()
    source = str(work.given["source"])
    work.progress(0, 3, "reading")
    data = cf.demo(source.removeprefix("demo:")) if source.startswith("demo:") else cf.read(source)
    frame = data if isinstance(data, pl.DataFrame) else data.to_polars()
    if not frame.width or not frame.height:
        raise cf.InputError("The file has no rows." if frame.width else "The file has no columns.")
    work.progress(1, 3, "keeping a private copy")
    _keep(data, work.folder / DATA)
    work.progress(2, 3, "looking at variables")
    found = cf.roles(data)
    missing = found.frame.filter(pl.col("missing") > 0)
    labels = sum(1 for v in cf.schema(data).variables.values() if v.value_labels)
    said = {
        "rows": frame.height, "columns": frame.width, "who": "people", "seconds": time.perf_counter() - began,
        "format": Path(source).suffix.lstrip(".").upper() if not source.startswith("demo:") else "shipped with confide",
        "bytes": os.stat(source).st_size if os.path.exists(source) else 0, "labels": labels,
        "missing": missing["variable"].to_list()[:20], "with_missing": missing.height,
        "numbering": [v for v in found.identifiers if found.row(v)["values"] == frame.height],
        "repeated": found.unit, "digest": _digest(work.folder / DATA),
        "variables": [_variable(frame, row) for row in found.frame.iter_rows(named=True)],
    }  # fmt: skip
    work.progress(3, 3, "looking at variables")
    return said


def _keep(data: Any, path: Path) -> None:
    cf.write(data, path, overwrite=True)
    path.chmod(0o600)


def _digest(path: Path) -> str:
    made = hashlib.sha256()
    with open(path, "rb") as file:
        while chunk := file.read(1 << 22):
            made.update(chunk)
    return made.hexdigest()[:32]


def _variable(frame: pl.DataFrame, row: dict[str, Any]) -> dict[str, Any]:
    name = row["variable"]
    role = "key" if row["role"] == "geography" else row["role"]
    return {
        "name": name, "label": row["label"] or "", "kind": row["kind"], "role": role,
        "place": row["role"] == "geography", "used": row["used"], "doubtful": row["doubtful"],
        "why": row["why"], "values": row["values"],
        "missing": row["missing"], "counts": [] if role == "identifier" else _counts(frame[name], row["kind"]),
    }  # fmt: skip


def _counts(column: pl.Series, kind: str) -> list[float]:
    """Shares of people by value or by range, for a picture without names; nothing that fewer than three people have
    can be read off it."""
    held = column.drop_nulls()
    if kind == "numeric" and held.dtype.is_numeric():
        return _ranges(held)
    counted = held.value_counts(sort=True, name="people")
    if counted.height <= MOST:
        counted = held.value_counts(name="people").sort(held.name)
    people = [n for n in counted["people"].to_list() if n >= FEWEST][:MOST]
    return [round(n / max(len(column), 1), 4) for n in people]


def _ranges(held: pl.Series) -> list[float]:
    values = held.cast(pl.Float64).drop_nans()
    if not len(values):
        return []
    low, high = values.quantile(0.005), values.quantile(0.98)
    if low is None or high is None or low == high:
        return [1.0]
    width = (high - low) / (BINS - 1)
    at = ((values - low) / width).floor().clip(0, BINS - 1).cast(pl.Int64)
    counts = dict(at.value_counts(name="people").iter_rows())
    return [round(counts.get(k, 0) / len(values), 4) if counts.get(k, 0) >= FEWEST else 0.0 for k in range(BINS)]
