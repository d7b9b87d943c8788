"""One row per target, numbered and written by Spark: whole or not at all."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from confide.core.errors import InputError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

ROW, PLACE, OWN, RANGE, FIRST = "__row", "__place", "__own", "__range", "__first"
TOGETHER = 2**20
"""Original rows that are numbered together, and written to one file."""


def write_targets(rows: DataFrame, units: DataFrame, names: Sequence[str], out: Path) -> None:
    """`rows`: original rows that count, with the places of their pair; `units`: the results of each pair."""
    from pyspark.sql import functions as f

    keys = [PLACE, OWN]
    numbered = _numbered(rows)
    done = numbered.join(f.broadcast(units), keys).select("target", *(f.col(v) for v in names))
    temporary = out.parent / f".{out.name}-{secrets.token_hex(8)}-unfinished"
    try:
        done.repartitionByRange("target").sortWithinPartitions("target").write.parquet(f"file://{temporary}")
        _settled(rows, temporary, out)
    finally:
        _removed(rows, temporary)


def _numbered(rows: DataFrame) -> DataFrame:
    """With the number of each among all that count, in the order of the original file."""
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    ranged = rows.withColumn(RANGE, f.floor(f.col(ROW) / TOGETHER))
    found = pl.from_arrow(ranged.groupBy(RANGE).count().toArrow())
    assert isinstance(found, pl.DataFrame)
    found = found.sort(RANGE)
    first = np.cumsum([0, *found["count"].to_list()])[:-1]
    starts = [x for r, n in zip(found[RANGE].to_list(), first.tolist(), strict=True) for x in (f.lit(int(r)), f.lit(n))]
    if not starts:
        return ranged.withColumn("target", f.col(ROW))
    order = f.row_number().over(Window.partitionBy(RANGE).orderBy(ROW)) - 1
    return ranged.withColumn("target", (f.create_map(*starts)[f.col(RANGE)] + order).cast("bigint"))


def _settled(rows: DataFrame, temporary: Path, out: Path) -> None:
    """Give the folder its name, by the file system that Spark wrote it with."""
    system, path = _system(rows, temporary)
    mode = rows.sparkSession._jvm.org.apache.hadoop.fs.permission.FsPermission("700")
    system.setPermission(path(temporary), mode)
    if not system.rename(path(temporary), path(out)):
        raise InputError(f"{out} cannot be written: something is there by now.")


def _removed(rows: DataFrame, temporary: Path) -> None:
    system, path = _system(rows, temporary)
    system.delete(path(temporary), True)


def _system(rows: DataFrame, at: Path):  # type: ignore[no-untyped-def]
    jvm = rows.sparkSession._jvm

    def path(p: Path):  # type: ignore[no-untyped-def]
        return jvm.org.apache.hadoop.fs.Path(f"file://{p}")

    return path(at).getFileSystem(rows.sparkSession._jsparkSession.sessionState().newHadoopConf()), path
