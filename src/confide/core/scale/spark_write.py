"""One row per target, in the order of targets, written by Spark: whole or not at all.

The folder is made here and takes its name when all is written; what a killed driver leaves, the next one that writes in
the same place removes.
"""

from __future__ import annotations

import os
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from confide.core.errors import InputError
from confide.core.files.whole_folder import check_new_folder, whole_folder
from confide.core.scale.hadoop import Remote, is_uri
from confide.core.scale.hadoop_folders import whole_remote_folder
from confide.core.scale.spark_files import as_uri

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from confide.core.scale.spark_batches import Workers


TOGETHER = 2**20
"""Targets that are written to one file."""


def new_place(out: str | os.PathLike[str], engine: object, stated: bool) -> Path:
    """The folder for results, which is new; one that is named as Spark names it is written by Spark alone, and holds
    everybody: not for `stated` targets."""
    if not is_uri(out):
        return check_new_folder(out)
    place = Remote(str(out).rstrip("/"))
    if not hasattr(engine, "session") or stated:
        raise InputError(f"{place} is written by Spark, with engine=cf.Spark(session) and without targets.")
    if place.exists():
        raise InputError(f"{place} exists and is not overwritten; give the name of a new folder.")
    return cast(Path, place)


def _whole(out: Path | Remote) -> AbstractContextManager[Path | Remote]:
    return whole_remote_folder(out) if isinstance(out, Remote) else whole_folder(out, private=True)


def write_ranges(workers: Workers, packed: DataFrame, work: Any, schema: str, ranges: int, out: Path) -> None:
    """What workers make of packed ranges, in their order; only what is packed is moved. `ranges`: how many."""
    ordered = packed.repartitionByRange(max(ranges, 1), "range").sortWithinPartitions("range")
    with _whole(out) as made:
        workers.over(ordered, work, schema).write.mode("append").parquet(as_uri(made))


def write_in_order(rows: DataFrame, many: int, out: Path) -> None:
    """Rows in the order of their `target`, as files that lie in that order; `many`: how many there are."""
    files = max(-(-many // TOGETHER), 1)
    with _whole(out) as made:
        rows.repartitionByRange(files, "target").sortWithinPartitions("target").write.mode("append").parquet(
            as_uri(made)
        )
