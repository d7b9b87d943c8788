"""Publish the table by the choice, with draws that the project's vault keys: measure it, or write it for good."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import confide as cf
from confide.app.project import private, write
from confide.app.way_names import name_of
from confide.app.ways import scheme_of
from confide.app.work.table import tables_of
from confide.app.worker import Work

VAULT = "vault"
BOUNDED = 20_000
"""Counts of which the tightest bounds are still looked for."""


def run(work: Work) -> dict[str, Any]:
    """What this very release is; with `write`, its files too."""
    work.progress(0, 3, "publishing")
    made = published_of(work)
    work.progress(1, 3, "attacking what is published")
    found = _checked(work, made)
    if "write" in work.given:
        work.progress(2, 3, "writing")
        found["files"] = _written(work, made, found)
    work.progress(3, 3, "")
    return found


def published_of(work: Work) -> Any:
    """The release: the same again as long as table, way and vault are the same."""
    given, scheme = work.given, scheme_of(work.given["way"])
    keys: dict[str, Any] = {}
    vault = cf.Vault(private(work.folder / VAULT)) if scheme.random else None
    if given["holds"] == "records" and getattr(scheme, "keyed", False):
        keys = {"key": list(given["key"]) or None, "vault": vault}
    tables = tables_of(work.folder, given, **keys)
    totals = given["way"].get("totals", "separate")
    return tables.publish(scheme, given["margins"], totals=totals, vault=vault)


def _checked(work: Work, made: Any) -> dict[str, Any]:
    """Numbers of the release alone: risk, error, what is hidden, whether it adds up, what can be worked out."""
    many = isinstance(made, cf.PublishedTables)
    truth = made.tables if many else made.table
    known = work.given["known"] if many else min(work.given["known"], truth.total)
    risk: Any = made.attack(known=known, progress=False).frame["sap"].drop_nulls()
    frame = pl.DataFrame(made.frame)
    exact = pl.DataFrame(truth.publish(cf.Exact(), work.given["margins"]).frame)
    error: Any = (frame["published"] - exact["published"]).abs()
    small = (truth.counts.ravel() > 0) & (truth.counts.ravel() < 3)
    return {
        "mean": float(risk.mean() or 0.0), "worst": float(risk.max() or 0.0),
        "areas": len(made) if many else 1, "unknown": (len(made) if many else 1) - len(risk),
        "counts": frame.height, "hidden": frame["published"].null_count() / max(frame.height, 1),
        "error": float(error.mean() or 0.0), "largest": int(error.max() or 0),
        "additive": _adds_up(frame, list(truth.names)), "small": int(small.sum()), "exact": _worked_out(made, small),
        "rows": made.public(empty_levels=work.given["holds"] == "counts").height, "refusal": made.refusal,
    }  # fmt: skip


def _adds_up(frame: pl.DataFrame, names: list[str]) -> bool:
    """Whether every published total is the sum of the published cells below it."""
    if frame["published"].null_count():
        return False
    area = ["area"] if "area" in frame.columns else []
    inner = " x ".join(names)
    cells = frame.filter(pl.col("margin") == inner)
    for _, part in frame.filter(pl.col("margin") != inner).group_by(["margin"]):
        over = [*area, *(n for n in names if part[n].null_count() < part.height)]
        both = [
            f.group_by(over).agg(pl.col("published").sum()).sort(over) if over else f.select(pl.col("published").sum())
            for f in (part, cells)
        ]
        if not both[0].equals(both[1]):
            return False
    return True


def _worked_out(made: Any, small: Any) -> int | None:
    """Counts of 1 or 2 that can be worked out from all that is published; None where that would take too long."""
    if small.size > BOUNDED:
        return None
    bounds = made.bounds(progress=False)
    sure = (bounds["lower"] == bounds["upper"]).fill_null(False).to_numpy()
    return int(np.count_nonzero(sure & small))


def _written(work: Work, made: Any, found: Mapping[str, Any]) -> dict[str, list[str]]:
    """Both folders, or none: each is made beside its place, complete, and then renamed."""
    asked = work.given["write"]
    places = {k: Path(asked[k]) for k in ("public", "private")}
    beside = {k: p.with_name(f".{p.name}.confide-{hashlib.sha256(str(p).encode()).hexdigest()[:8]}")
              for k, p in places.items()}  # fmt: skip
    done: list[Path] = []
    try:
        for k, folder in beside.items():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(mode=0o755 if k == "public" else 0o700)
        names = _public(work, made, beside["public"]), _private(work, found, beside)
        for k in ("private", "public"):
            if places[k].exists() or places[k].is_symlink():
                raise cf.InputError(f"The {k} folder is there already; nothing was written. Name another one.")
            beside[k].rename(places[k])
            done.append(places[k])
    except OSError as error:
        _undone(done)
        raise cf.InputError(f"Nothing was written: {error.strerror or 'a folder cannot be made'}.") from None
    except BaseException:
        _undone(done)
        raise
    finally:
        _undone([*beside.values()])
    return {"public": names[0], "private": names[1]}


def _undone(folders: list[Path]) -> None:
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)


def _public(work: Work, made: Any, folder: Path) -> list[str]:
    name = work.given["write"]["file"]
    cf.write(made.public(empty_levels=work.given["holds"] == "counts"), folder / name)
    return [name]


def _private(work: Work, found: Mapping[str, Any], beside: Mapping[str, Path]) -> list[str]:
    asked, given = work.given["write"], work.given
    sums = {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in sorted(beside["public"].iterdir())}
    decision = {
        **asked["decision"], "published": name_of(given["way"]), "settings": dict(given["way"]),
        "table": {k: given[k] for k in ("holds", "by", "count", "area", "margins")}, "known": given["known"],
        "checks": {k: v for k, v in found.items() if k != "refusal"}, "public": asked["public"], "sha256": sums,
        "vault": str(work.folder / VAULT) if scheme_of(given["way"]).random else None,
        "written": datetime.now(UTC).isoformat(timespec="seconds"), "confide": cf.__version__,
    }  # fmt: skip
    write(beside["private"] / "decision.json", json.dumps(decision, indent=1, ensure_ascii=False))
    write(beside["private"] / "script.py", asked["script"])
    names = ["decision.json", "script.py"]
    if asked["compared"]:
        cf.write(
            pl.DataFrame(asked["compared"], infer_schema_length=None), beside["private"] / "compared.csv", private=True
        )
        names.append("compared.csv")
    return names
