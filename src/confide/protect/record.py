"""The record of a release: what was done, with which versions, to what content.

The public record can go with the data. The private one also says where the draws came from and what it takes to make
the very same release again and to prove it: `confide.protect.replay`.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from confide.core.documents.plain import Writer
from confide.core.errors import InputError
from confide.core.version import __version__
from confide.frames import atomic_write
from confide.frames.columns import I64
from confide.protect.rare_statements import Trimmer

if TYPE_CHECKING:
    from confide.protect.release import Release

FORMAT = "confide-record/2"


def record(release: Release, private: bool = False, checked: dict[str, Any] | None = None) -> dict[str, Any]:
    """What was done to make a release, as plain data; without the time, so that it can be reproduced.

    Public: versions, the plan, the kinds of the variables it treats, the released rows and columns, a digest
    of the released content. Parts of a plan that are marked private (rows named one by one) are left out and
    listed under "withheld"; so is what it names that fewer than 10 people have and the release does not show (a
    category that is merged away, the largest value as a limit). Private: the whole plan, where the draws came from (the
    vault's fingerprint, or the secret itself where there is no vault), digests of the original and of the link. The
    record of a draft says that it is one. `checked`: what was found in this very file, and lost by it; private.

    >>> import confide as cf
    >>> release = cf.Plan([cf.Topcode("age", at=85)], identifiers=["id"]).protect(cf.demo("heads"), seed=1)
    >>> public, private = record(release), record(release, private=True)
    >>> public["variables"], public["released"]["rows"]
    ({'age': 'numeric'}, 51016)
    >>> sorted(set(private) - set(public))
    ['private']
    """
    writer = Writer(public=not private, trim=None if private else Trimmer(release))
    plan = None if release.plan is None else writer.table(release.plan)
    out: dict[str, Any] = {"format": FORMAT, "versions": versions(), "plan": plan}
    if release.origin is not None and not release.origin.public:
        out["status"] = release.origin.words
    out["variables"] = _kinds(release)
    if release.doubts:
        out["doubts"] = list(release.doubts)
    if writer.withheld:
        out["withheld"] = writer.withheld
    out["released"] = {
        "rows": release.frame.height,
        "columns": [{"name": n, "type": type_text(t)} for n, t in release.frame.schema.items()],
        "sha256": content_digest(release.frame),
    }
    if private:
        out["private"] = _private(release) | ({} if checked is None else {"checked": checked})
    return out


def save_record(
    release: Release, path: str | os.PathLike[str], private: bool = False, overwrite: bool = False,
    checked: dict[str, Any] | None = None,
) -> Path:  # fmt: skip
    """Write the record as JSON, whole or not at all. A private record can be read by its owner only.

    A public record of a release that must not be published is refused.
    """
    if not private:
        check_public(release)
    text = record_text(release, private, checked)
    with atomic_write(path, overwrite, private) as temporary:
        temporary.write_text(text, encoding="utf-8")
    return Path(path)


def record_text(release: Release, private: bool = False, checked: dict[str, Any] | None = None) -> str:
    """The record as JSON."""
    return json.dumps(record(release, private, checked), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def check_public(release: Release) -> None:
    """Refuse what must not be published: drafts, and releases that share their draws."""
    if release.refusal:
        raise InputError(release.refusal)


def versions() -> dict[str, str]:
    """The versions that a release may depend on, and the kind of processor that its linear algebra is compiled for."""
    from threadpoolctl import threadpool_info

    kinds = sorted({str(library["architecture"]) for library in threadpool_info() if library.get("architecture")})
    return {
        "confide": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "polars": pl.__version__,
        "scipy": version("scipy"),
        "scikit-learn": version("scikit-learn"),
        "processor": " ".join([platform.machine(), *kinds]),
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
            plain = column.to_physical() if column.dtype == pl.Duration else column
            digest.update(plain.to_frame().write_csv(include_header=False).encode())
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
    return {v: c.kind for v, c in release.plan.encode(release.before).items()}


def _private(release: Release) -> dict[str, Any]:
    origin = release.origin
    if origin is None:
        raise InputError("This release was made elsewhere and has no draws: only a public record can be made of it.")
    drawn = {
        "from": origin.kind,
        "vault": origin.vault,
        "secret": None if origin.secret is None else origin.secret.hex(),
        "seed": None if origin.seed is None else str(origin.seed),  # text: many readers round numbers above 2^53
    }
    return {
        "draws": {k: v for k, v in drawn.items() if v is not None},
        "original": {"rows": release.original.height, "sha256": content_digest(release.original)},
        "link_sha256": link_digest(release.link),
        **({} if release.copy is None else {"copy": list(release.copy)}),
        **({"details": list(release.details)} if release.details else {}),
    }
