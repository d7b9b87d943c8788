"""The record of a release: what was done, with which versions, to what content.

The public record can go with the data. The private one also holds the seed and what it takes to make the very
same release again and to prove it: `replay`.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

import confide
from confide.errors import InputError
from confide.frames import atomic_write, to_polars
from confide.frames.columns import I64
from confide.protect.document import plan_from_dict, read_document
from confide.protect.plain import Writer

if TYPE_CHECKING:
    from confide.protect.release import Release

FORMAT = "confide-record/1"


def record(release: Release, private: bool = False) -> dict[str, Any]:
    """What was done to make a release, as plain data; without the time, so that it can be reproduced.

    Public: versions, the plan, the kinds of the variables it treats, the released rows and columns, a digest
    of the released content. Parts of a plan that are marked private (rows named one by one) are left out and
    listed under "withheld". Private: the whole plan, the seed, digests of the original and of the link.

    >>> import confide as cf
    >>> release = cf.Plan([cf.Topcode("age", at=85)], identifiers=["id"]).protect(cf.demo("heads"), seed=1)
    >>> public, private = record(release), record(release, private=True)
    >>> public["variables"], public["released"]["rows"]
    ({'age': 'numeric'}, 51016)
    >>> sorted(set(private) - set(public))
    ['private']
    """
    writer = Writer(public=not private)
    plan = None if release.plan is None else writer.table(release.plan)
    out: dict[str, Any] = {"format": FORMAT, "versions": versions(), "plan": plan}
    out["variables"] = _kinds(release)
    if writer.withheld:
        out["withheld"] = writer.withheld
    out["released"] = {
        "rows": release.frame.height,
        "columns": [{"name": n, "type": type_text(t)} for n, t in release.frame.schema.items()],
        "sha256": content_digest(release.frame),
    }
    if private:
        out["private"] = _private(release)
    return out


def save_record(release: Release, path: str | os.PathLike[str], private: bool = False, overwrite: bool = False) -> Path:
    """Write the record as JSON, whole or not at all. A private record can be read by its owner only."""
    text = json.dumps(record(release, private), indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    with atomic_write(path, overwrite) as temporary:
        if private:
            temporary.chmod(0o600)
        temporary.write_text(text, encoding="utf-8")
    return Path(path)


def replay(record: Mapping[str, Any] | str | os.PathLike[str], data: Any) -> Release:
    """Make a recorded release again from the original data, and check that it is the very same.

    `record` is a private record or its file. Refused: a public record, other data than the record was made
    from, and a result that differs from the one recorded (as other versions of the libraries could make it).

    >>> import confide as cf
    >>> plan = cf.Plan([cf.Swap("race", rate=0.3)], identifiers=["id"])
    >>> release = plan.protect(cf.demo("heads"), seed=1)
    >>> again = cf.replay(release.record(private=True), cf.demo("heads"))
    >>> again.data.equals(release.data), bool((again.link == release.link).all())
    (True, True)
    >>> cf.replay(release.record(), cf.demo("heads"))
    Traceback (most recent call last):
    confide.errors.InputError: This record is public and holds no seed; only the private one can be replayed.
    """
    found = record if isinstance(record, Mapping) else read_document(record)
    secret = _checked(found)
    frame = to_polars(data)
    if content_digest(frame) != secret["original"]["sha256"]:
        rows = secret["original"]["rows"]
        how = "its values, names or types differ" if rows == frame.height else f"that had {rows} rows"
        raise InputError(f"This is not the file the record was made from: {how} (this has {frame.height} rows).")
    plan, seed = plan_from_dict(found["plan"], "record"), int(secret["seed"])
    if "copy" in secret:
        number, many, linked = secret["copy"]
        release: Release = plan.protect(data, seed=seed, copies=many, linked=linked)[int(number)]
    else:
        release = plan.protect(data, seed=seed)
    same = content_digest(release.frame) == found["released"]["sha256"]
    if not same or link_digest(release.link) != secret["link_sha256"]:
        then, now = found.get("versions", {}), versions()
        changed = [f"{k} {v} (here {now.get(k)})" for k, v in then.items() if v != now.get(k)]
        hint = f" It was made with {', '.join(changed)}." if changed else ""
        raise InputError(f"The release made again is not the one recorded.{hint}")
    return release


def versions() -> dict[str, str]:
    """The versions that a release may depend on."""
    return {
        "confide": confide.__version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "polars": pl.__version__,
        "scipy": version("scipy"),
        "scikit-learn": version("scikit-learn"),
    }


def content_digest(frame: pl.DataFrame) -> str:
    """SHA-256 of a frame's content: each column's name and type, then its values as CSV, column by column.

    >>> content_digest(pl.DataFrame({"a": [1, 2]})) == content_digest(pl.DataFrame({"a": [1, 2]}))
    True
    >>> content_digest(pl.DataFrame({"a": [1, 2]})) == content_digest(pl.DataFrame({"a": [1.0, 2.0]}))
    False
    """
    digest = hashlib.sha256(f"{frame.height}\n".encode())
    for column in frame.get_columns():
        digest.update(json.dumps([column.name, type_text(column.dtype)]).encode() + b"\n")
        if column.dtype.is_nested() or column.dtype == pl.Binary:
            digest.update(repr(column.to_list()).encode())
        else:
            digest.update(column.to_frame().write_csv(include_header=False).encode())
    return digest.hexdigest()


def type_text(dtype: pl.DataType) -> str:
    """A column's type as text; categories are listed, since they are part of what is released."""
    if isinstance(dtype, pl.Enum):
        return "Enum" + json.dumps(dtype.categories.to_list(), ensure_ascii=False)
    return "Categorical" if isinstance(dtype, pl.Categorical) else str(dtype)


def link_digest(link: I64 | None) -> str | None:
    """SHA-256 of the original row numbers in the order of the release."""
    return None if link is None else hashlib.sha256(",".join(map(str, link.tolist())).encode()).hexdigest()


def _kinds(release: Release) -> dict[str, str]:
    """The kind in which each variable that the plan alters or reads entered it."""
    if release.plan is None:
        return {}
    return {v: c.kind for v, c in release.plan.encode(release.original).items()}


def _private(release: Release) -> dict[str, Any]:
    if release.seed is None:
        raise InputError("This release was made elsewhere and has no seed: only a public record can be made of it.")
    return {
        "seed": str(release.seed),  # text: many readers of JSON round whole numbers above 2^53
        "original": {"rows": release.original.height, "sha256": content_digest(release.original)},
        "link_sha256": link_digest(release.link),
        **({} if release.copy is None else {"copy": list(release.copy)}),
    }


def _checked(found: Mapping[str, Any]) -> Mapping[str, Any]:
    """The private part of a record that can be replayed."""
    if found.get("format") != FORMAT:
        raise InputError(f'This is not a record of a release: its "format" must be "{FORMAT}".')
    secret = found.get("private")
    if secret is None:
        raise InputError("This record is public and holds no seed; only the private one can be replayed.")
    try:
        parts = {*secret, *secret["original"], *found, *found["released"]}
        whole = int(secret["seed"]) >= 0 and {"rows", "sha256", "plan", "link_sha256"} <= parts
    except (KeyError, TypeError, ValueError):
        whole = False
    if not whole:
        raise InputError("This private record is damaged: parts that Release.save_record writes are missing.")
    assert isinstance(secret, Mapping)
    return secret
