"""`Spark`: the same counting on a cluster. Everything is done by Spark's own operations on its own storage; the driver
receives distinct rows with their counts, nothing else, and no Python runs on workers."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import numpy as np
import polars as pl
from numpy.typing import NDArray

from confide.core.errors import InputError
from confide.core.run.progress import Progress, progress_bar
from confide.core.scale.engine import COUNT, Asked, Counted, File, Linked
from confide.core.scale.local import Local, bytes_of_row
from confide.core.scale.rows_alike import TooMany
from confide.core.scale.scratch import scratch_folder
from confide.core.scale.spark_write import write_targets

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

I64 = NDArray[np.int64]
OLDEST = 4
ROW, PLACE, OWN = "__row", "__place", "__own"


@dataclass(frozen=True)
class Spark:
    """Work on a cluster, in the session given: files are read and results written by Spark, where its workers see them.

    `memory`: what the distinct rows that come to this machine may take here. `scratch`: a folder that the workers can
    read as well, for the link between the two files; microdata are in it, and it is removed in any case (default: the
    release's own private folder).

    The numbers are those of `Local`. A task that fails is done again by Spark and changes nothing. On one machine give
    ``local[2,4]`` as master: ``local[2]`` never tries a task again.

    >>> import confide as cf
    >>> cf.Spark(None)
    Traceback (most recent call last):
    confide.InputError: Spark: give a session, as SparkSession.builder.getOrCreate() makes it.
    """

    session: SparkSession
    memory: str | float = "4GB"
    scratch: str | os.PathLike[str] | None = None

    def __post_init__(self) -> None:
        check_session(self.session)
        _ = Local(self.memory)

    @property
    def in_bytes(self) -> int:
        """The memory in bytes."""
        return Local(self.memory).in_bytes

    @contextmanager
    def counting(self, release: Linked, asked: Asked, progress: Progress = None) -> Iterator[SparkCounting]:
        """Count, and keep whose rows are alike until the end of the block."""
        for file in (release.original, release.released):
            if any(Path(p).suffix != ".parquet" for p in file.files):
                raise InputError("Spark numbers the rows of Parquet files alone; write the file as Parquet first.")
        place = self.scratch if self.scratch is not None else getattr(release, "private", None)
        with scratch_folder(place) as folder, _as_sentences():
            yield SparkCounting.of(self, release, asked, folder, progress)


def check_session(session: Any) -> None:
    """Refuse what is no session of Spark, one that has ended, and one of an old Spark."""
    version = getattr(session, "version", None) if _alive(session) else None
    if not hasattr(session, "createDataFrame"):
        raise InputError("Spark: give a session, as SparkSession.builder.getOrCreate() makes it.")
    if version is None:
        raise InputError("Spark: this session has ended; make a new one.")
    if int(str(version).split(".")[0]) < OLDEST:
        raise InputError(f"Spark: version {OLDEST} or later is needed, and this session is of {version}.")


def _alive(session: Any) -> bool:
    context = getattr(session, "sparkContext", None)
    return context is not None and getattr(context, "_jsc", None) is not None


@contextmanager
def _as_sentences() -> Iterator[None]:
    """What Spark says at length, as one sentence; its own words may quote data and stay in the cause."""
    from pyspark.errors import PySparkException

    try:
        yield
    except InputError:
        raise
    except Exception as cause:
        if isinstance(cause, PySparkException) or type(cause).__module__.startswith("py4j"):
            raise InputError(
                f"Spark could not finish the work ({type(cause).__name__}): a file may be missing where workers look, "
                "a worker may be out of memory or disk, or the session has ended. Spark's own log says more."
            ) from cause
        raise


@dataclass(frozen=True, eq=False)
class SparkCounting:
    """`rows`: of each original row that counts its number, its place among distinct original rows and that of its own
    released one, -1 for none."""

    spark: Spark
    counted: Counted
    rows: DataFrame

    @classmethod
    def of(cls, spark: Spark, release: Linked, asked: Asked, folder: Path, progress: Progress) -> SparkCounting:
        """Distinct rows of both files, then their pairs."""
        from pyspark.sql import functions as f

        most = Local(spark.memory).in_bytes // bytes_of_row(len(asked.original) + len(asked.released))
        with progress_bar("counting rows that are alike", 4, progress) as done:
            link = _link(spark.session, release, folder)
            done(1)
            before, o = _placed(spark.session, release.original, asked.original, asked.original_added, most)
            done(1)
            after, z = _placed(spark.session, release.released, asked.released, asked.added, most)
            done(1)
            own = z.withColumnRenamed(ROW, "__released").withColumnRenamed(PLACE, OWN).join(link, "__released")
            rows = o.join(own.select(ROW, OWN), ROW, "left" if asked.everybody else "inner")
            rows = rows.withColumn(OWN, f.coalesce(OWN, f.lit(-1)))
            found = _collected(rows.groupBy(PLACE, OWN).count()).sort(PLACE, OWN)
            done(1)
        pairs = (found[v].to_numpy().astype(kind) for v, kind in ((PLACE, np.int64), (OWN, np.int64), ("count", float)))
        return cls(spark, Counted(before, after, *pairs), rows)

    def pairs_of(self, rows: I64) -> I64:
        """See `Counting`."""
        asked = pl.DataFrame({ROW: np.unique(rows)})
        found = _collected(self.rows.join(_sent(self.spark.session, asked), ROW))
        keys = pl.DataFrame({PLACE: self.counted.pair_original, OWN: self.counted.pair_released}).with_row_index("pair")
        whole = pl.col(PLACE, OWN).cast(pl.Int64)
        mine = pl.DataFrame({ROW: rows}).join(found.with_columns(whole), on=ROW, how="left", maintain_order="left")
        at = mine.join(keys.with_columns(whole), on=[PLACE, OWN], how="left", maintain_order="left")["pair"]
        return at.cast(pl.Int64).to_numpy()

    def spread(self, table: pl.DataFrame, out: Path, progress: Progress = None) -> None:
        """Write one row for each person who counted; see `Counting`."""
        keys = {PLACE: self.counted.pair_original, OWN: self.counted.pair_released}
        units = table.with_columns(pl.Series(v, values) for v, values in keys.items())
        with progress_bar("writing", 1, progress) as done:
            write_targets(self.rows, _sent(self.spark.session, units), table.columns, out)
            done(1)


def _sent(session: SparkSession, table: pl.DataFrame) -> DataFrame:
    """A small table, in Spark."""
    return session.createDataFrame(table.to_arrow(compat_level=pl.CompatLevel.oldest()))


def _collected(frame: DataFrame) -> pl.DataFrame:
    """Counts that Spark made, here."""
    found = pl.from_arrow(frame.toArrow())
    assert isinstance(found, pl.DataFrame)
    return found


def _link(session: SparkSession, release: Linked, folder: Path) -> DataFrame:
    """The number of each released row, and that of its original row, as a file that workers read."""
    first, wide = 0, folder / "link"
    wide.mkdir(mode=0o700)
    for k, rows in enumerate(release.links()):
        numbers = np.arange(first, first + len(rows), dtype=np.int64)
        pl.DataFrame({"__released": numbers, ROW: rows}).write_parquet(wide / f"part-{k:06}.parquet")
        first += len(rows)
    return session.read.schema(f"__released bigint, {ROW} bigint").parquet(str(wide))


def _placed(
    session: SparkSession, file: File, names: Sequence[str], added: Sequence[str], most: int
) -> tuple[pl.DataFrame, DataFrame]:
    """The distinct rows of a file with counts and sums, here; of each row its number and place among them, there."""
    from pyspark.sql import functions as f

    rows = _numbered(session, file, [*names, *added])
    named = {v: f"__{i}" for i, v in enumerate(names)}
    counts = [f.count(f.lit(1)).cast("double").alias(COUNT)]
    for v in added:
        value = f.col(_quoted(v)).cast("double")
        above = f.coalesce((value > 0) & ~f.isnan(value), f.lit(False))
        counts.append(f.sum(f.when(above, value).otherwise(0.0)).alias(f"{COUNT} {v}"))
        counts.append(f.sum(f.when(above, 0.0).otherwise(1.0)).alias(f"{COUNT} {v} bad"))
    keys = [_key(rows, v).alias(short) for v, short in named.items()]
    found = _collected(rows.groupBy(*keys).agg(*counts).limit(most + 1))
    if found.height > most:
        raise TooMany
    found = found.sort(list(named.values()), nulls_last=False)
    sent = _sent(session, found.select(named.values()).with_columns(pl.Series(PLACE, np.arange(found.height))))
    left = rows.select(ROW, *keys)
    same = [left[short].eqNullSafe(sent[short]) for short in named.values()]
    placed = left.join(f.broadcast(sent), same).select(ROW, PLACE)
    back = {short: v for v, short in named.items()}
    types = {v: t for v, t in file.types.items() if v in named}
    return found.rename(back).with_columns(pl.col(v).cast(t) for v, t in types.items()), placed


def _key(rows: DataFrame, v: str) -> Any:
    """A column with values that count as the same written the same: a number that is none is missing."""
    from pyspark.sql import functions as f

    column = f.col(_quoted(v))
    if dict(rows.dtypes)[v] in ("float", "double"):
        return f.when(f.isnan(column), f.lit(None)).otherwise(column + 0.0)
    return column


def _quoted(v: str) -> str:
    return "`" + v.replace("`", "``") + "`"


def _numbered(session: SparkSession, file: File, names: Sequence[str]) -> DataFrame:
    """Rows with their numbers: the place in their file, as Parquet has it, after all files before."""
    from pyspark.sql import functions as f

    paths = [str(Path(p).resolve()) for p in file.files]
    frame = session.read.parquet(*[_uri(p) for p in paths])
    first = {spelt: n for p, n in zip(paths, file.offsets, strict=False) for spelt in _spellings(p)}
    starts = [f.lit(x) for pair in first.items() for x in pair]
    number = f.create_map(*starts)[f.col("_metadata.file_path")] + f.col("_metadata.row_index")
    number = f.coalesce(number, f.raise_error(f.lit("a file of the scan has another name here")).cast("bigint"))
    return frame.select(*(f.col(_quoted(v)) for v in dict.fromkeys(names)), number.cast("bigint").alias(ROW))


def _spellings(path: str) -> set[str]:
    """How Spark may write where a row came from."""
    return {f"{head}{p}" for head in ("file://", "file:") for p in (path, quote(path))}


def _uri(path: str) -> str:
    """As Spark takes paths: not encoded."""
    return f"file://{path}"
