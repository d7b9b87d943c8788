"""Files as Spark sees them: rows with their numbers, distinct rows with counts, and small tables sent to and fro."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import polars as pl

from confide.core.errors import InputError
from confide.core.scale.engine import COUNT, File
from confide.core.scale.hadoop import Remote
from confide.core.scale.interrupted import check_interrupted
from confide.core.scale.rows_alike import TooMany

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

ROW = "__row"


@contextmanager
def as_sentences(session: Any) -> Iterator[None]:
    """What Spark says at length, as one sentence; its own words may quote data and stay in the cause."""
    from pyspark.errors import PySparkException

    try:
        yield
    except InputError:
        raise
    except Exception as cause:
        check_interrupted(cause)
        check_alive(session, cause)
        if isinstance(cause, PySparkException) or type(cause).__module__.startswith("py4j"):
            raise InputError(
                f"Spark could not finish the work ({type(cause).__name__}): {_why(cause)}. Spark's own log says more."
            ) from cause
        raise


WHYS = {
    r"No space left on device|os error 28|Errno 28": "there is no room left on a disk, of scratch, of the results, or "
    "the one that Spark itself uses (spark.local.dir)",
    r"is not a Parquet file|FAILED_READ_FILE|ParquetDecodingException": "a file cannot be read: it is damaged (a copy "
    "that broke off), or has changed or gone",
    "in the type asked for": "not every value can be read in the type asked for (cf.scan(..., types=)): ask for text "
    "(pl.String), or for a wider one",
    r"OutOfMemoryError|MemoryError": "memory did not suffice, of a worker or of Java",
}
"""What the words of Spark and of workers tell of, by what stands in them."""


def _why(cause: Exception) -> str:
    """Without a word of theirs."""
    told = f"{cause} {cause.__cause__}"
    known = next((why for words, why in WHYS.items() if re.search(words, told)), None)
    return known or (
        "a file may be missing where workers look, a worker may be out of memory or disk, or the session has ended"
    )


def check_alive(session: Any, cause: Exception) -> None:
    """Say that a session has ended, where that is what an error came of."""
    if isinstance(cause, ConnectionError) or not alive(session):
        raise InputError(
            "Spark: this session has ended on the way; make a new one, and start the work again."
        ) from cause


def alive(session: Any) -> bool:
    """Whether a session has not ended."""
    context = getattr(session, "sparkContext", None)
    java = None if context is None else getattr(context, "_jsc", None)
    if java is None:
        return False
    stopped = getattr(java, "sc", None)
    try:
        return stopped is None or not stopped().isStopped()  # Java knows it before Python does
    except Exception:  # nobody is there to answer
        return False


def check_parquet(*files: File) -> None:
    """Refuse files whose rows Spark cannot number, such as are no longer there, and columns of several types."""
    for file in files:
        if any(p.suffix != ".parquet" for p in file.files):
            raise InputError("Spark numbers the rows of Parquet files alone; write the file as Parquet first.")
        lost = [p for p in file.files if not p.exists()]
        if lost:
            raise InputError(f"{lost[0]} is missing: the file cannot be read without it.")
        for part in getattr(file, "parts", ()):
            part.check()
        fine = {v for v, t in file.types.items() if isinstance(t, pl.Datetime) and t.time_unit == "ns"}
        strange = [v for v, t in file.types.items() if t == pl.Time or v in fine]
        if strange:
            raise InputError(
                f'"{strange[0]}" holds times of day or nanoseconds, which Spark does not read: write it as text or in '
                "microseconds, or leave engine out."
            )
        held = [part.held for part in getattr(file, "parts", ())]
        for v in held[0] if held else ():
            if any(types[v] != held[0][v] for types in held):
                raise InputError(
                    f'"{v}" has several types in the files, which Spark does not read as one: write them again, or '
                    "leave engine out."
                )


def numbered(frame: DataFrame, file: File, names: Sequence[str]) -> DataFrame:
    """Rows with their numbers: the place in their file, as Parquet has it, after all files before. `frame`: the file as
    Spark reads it."""
    from pyspark.sql import functions as f

    paths = [p.resolve() for p in file.files]
    first = {spelt: n for p, n in zip(paths, file.offsets, strict=False) for spelt in _spellings(p)}
    starts = [f.lit(x) for pair in first.items() for x in pair]
    number = f.create_map(*starts)[f.col("_metadata.file_path")] + f.col("_metadata.row_index")
    number = f.coalesce(number, f.raise_error(f.lit("a file of the scan has another name here")).cast("bigint"))
    return frame.select(*(f.col(quoted(v)) for v in dict.fromkeys(names)), number.cast("bigint").alias(ROW))


def distinct_rows(
    rows: DataFrame, names: Sequence[str], added: Sequence[str], most: int,
    brought: Callable[[DataFrame, int], pl.DataFrame | None],
) -> pl.DataFrame:  # fmt: skip
    """The distinct rows of a file with counts and sums, here, under short names. `brought`: how rows come here, None
    where they are too many."""
    from pyspark.sql import functions as f

    counts = [f.count(f.lit(1)).cast("double").alias(COUNT)]
    for v in added:
        value = f.col(quoted(v)).cast("double")
        above = f.coalesce((value > 0) & ~f.isnan(value), f.lit(False))
        counts.append(f.sum(f.when(above, value).otherwise(0.0)).alias(f"{COUNT} {v}"))
        counts.append(f.sum(f.when(above, 0.0).otherwise(1.0)).alias(f"{COUNT} {v} bad"))
    keys = [_key(rows, v).alias(short) for v, short in zip(names, short_names(names), strict=True)]
    found = brought(rows.groupBy(*keys).agg(*counts), most)
    if found is None:
        raise TooMany(names, most)
    return found.sort(short_names(names), nulls_last=False)


def named_again(found: pl.DataFrame, file: File, names: Sequence[str]) -> pl.DataFrame:
    """A table with short names in the names and types of the file."""
    back = dict(zip(short_names(names), names, strict=True))
    return typed(found.rename(back), {v: file.types[v] for v in names})


def typed(frame: pl.DataFrame, types: Mapping[str, pl.DataType]) -> pl.DataFrame:
    """In the types of the file. What polars says of a value that does not fit quotes it, and workers write to a log.

    >>> typed(pl.DataFrame({"n": ["a"]}), {"n": pl.Int64()})
    Traceback (most recent call last):
    confide.InputError: Not every value of "n" can be read in the type asked for; ask for text, or for a wider one.
    """
    for v, t in types.items():
        try:
            frame = frame.with_columns(pl.col(v).cast(t))
        except pl.exceptions.PolarsError:
            raise InputError(
                f'Not every value of "{v}" can be read in the type asked for; ask for text, or for a wider one.'
            ) from None
    return frame


def short_names(names: Sequence[str]) -> list[str]:
    """Names that need no quotes."""
    return [f"__{i}" for i in range(len(names))]


def collected(frame: DataFrame) -> pl.DataFrame:
    """Counts that Spark made, here."""
    found = pl.from_arrow(frame.toArrow())
    assert isinstance(found, pl.DataFrame)
    return found


def _key(rows: DataFrame, v: str) -> Any:
    """A column with values that count as the same written the same: a number that is none is missing."""
    from pyspark.sql import functions as f

    column = f.col(quoted(v))
    if dict(rows.dtypes)[v] in ("float", "double"):
        return f.when(f.isnan(column), f.lit(None)).otherwise(column + 0.0)
    return column


def quoted(v: str) -> str:
    """A name as Spark takes it, whatever is in it."""
    return "`" + v.replace("`", "``") + "`"


def _spellings(path: Path | Remote) -> set[str]:
    """How Spark may write where a row came from."""
    if isinstance(path, Remote):
        return path.spellings
    plain = str(path)
    return {f"{head}{p}" for head in ("file://", "file:") for p in (plain, quote(plain))}


def as_uri(path: Path | Remote) -> str:
    """As Spark takes paths: not encoded."""
    return path.uri if isinstance(path, Remote) else f"file://{os.path.abspath(path)}"
