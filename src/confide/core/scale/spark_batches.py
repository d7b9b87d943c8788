"""Python on the workers of a cluster: work by batches of rows, and by buckets into which batches are cut.

Rows on their way to a bucket travel packed: those of one batch that go to the same bucket are one binary value, so that
Spark moves and sorts a few values instead of many rows. Work is sent to the workers as an object that pickles; confide
must be installed there.
"""

from __future__ import annotations

import io
import pickle
import warnings
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from confide.core.errors import InputError
from confide.core.scale.engine import File
from confide.core.scale.interrupted import check_interrupted
from confide.core.scale.spark_files import ROW, as_uri, check_alive, collected, numbered, typed
from confide.core.scale.spark_here import brought
from confide.core.version import __version__

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

I64 = NDArray[np.int64]
SIZE = 200_000
"""Rows that are worked on together on a worker."""
_CHUNK = 50_000
_CHECKED: weakref.WeakKeyDictionary[SparkSession, str] = weakref.WeakKeyDictionary()
"""Sessions whose workers have this version of confide."""
PACKED = "bucket int, side int, packed binary"


class Summary(Protocol):
    """What is gathered of a part of a file, and merged."""

    def add(self, batch: pl.DataFrame) -> None: ...

    def merge(self, other: Any) -> None: ...


@dataclass(frozen=True, eq=False)
class Workers(AbstractContextManager["Workers"]):
    """The workers of a session, for one piece of work: what was sent to them is taken back at its end. `folder`: on
    scratch, for what they hand over; `read`: files that Spark has looked into for their types, which is a job of its
    own."""

    session: SparkSession
    folder: Path
    size: int = SIZE
    sent: list[Any] = field(default_factory=list)
    read: dict[tuple[str, ...], DataFrame] = field(default_factory=dict)

    def __enter__(self) -> Self:
        if _CHECKED.get(self.session) != __version__:
            check_workers(self.session)
            _CHECKED[self.session] = __version__
        return self

    def __exit__(self, *_: object) -> None:
        for each in self.sent:
            each.destroy()

    def _held(self, thing: Any) -> Any:
        made = self.session.sparkContext.broadcast(thing)
        self.sent.append(made)
        return made

    def numbered(self, file: File, names: Sequence[str]) -> DataFrame:
        """Rows of a file with their numbers."""
        places = tuple(as_uri(p.resolve()) for p in file.files)
        if places not in self.read:
            self.read[places] = self.session.read.parquet(*places)
        return numbered(self.read[places], file, names)

    def here(self, rows: DataFrame) -> pl.DataFrame:
        """Rows of a table that may be long, in any order."""
        with quiet():
            found = brought(rows, self.folder)
        assert found is not None
        return found

    def at_most(self, rows: DataFrame, most: int) -> pl.DataFrame | None:
        """The same; None where there are more than so many."""
        with quiet():
            return brought(rows, self.folder, most)

    def by_batches(
        self, file: File, names: Sequence[str], work: Callable[[pl.DataFrame], Any], schema: str
    ) -> DataFrame:
        """What `work` makes of batches of a file's rows (with their numbers, `ROW`): Arrow tables of this schema."""
        held, types, size = self._held(work), {v: file.types[v] for v in names}, self.size

        def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for frame in _frames(batches, types, size):
                yield from held.value(frame).to_batches()

        with quiet():
            return self.numbered(file, names).mapInArrow(run, schema)

    def summarised(self, file: File, names: Sequence[str], empty: Summary) -> Any:
        """What is gathered of all batches, merged in the order of rows; `empty`: before anything is."""
        held, types, size = self._held(empty), {v: file.types[v] for v in names}, self.size

        def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            import pyarrow as pa

            made, first = pickle.loads(pickle.dumps(held.value)), None
            for frame in _frames(batches, types, size):
                first = frame[ROW][0] if first is None else first
                made.add(frame.select(names))
            if first is not None:
                yield pa.RecordBatch.from_pydict(
                    {"first": pa.array([first], pa.int64()), "made": pa.array([pickle.dumps(made)], pa.binary())}
                )

        with quiet():
            found = self.here(self.numbered(file, names).mapInArrow(run, "first bigint, made binary"))
            parts = found.sort("first")["made"].to_list()
        whole = pickle.loads(pickle.dumps(empty))
        for part in parts:
            whole.merge(pickle.loads(part))
        return whole

    def over(self, rows: DataFrame, work: Callable[[pa.RecordBatch], Iterator[pl.DataFrame]], schema: str) -> DataFrame:
        """What `work` makes of the rows of a table that Spark has, as they come; frames of this schema."""
        held = self._held(work)

        def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for batch in batches:
                for frame in held.value(batch):
                    yield from plain_table(frame).to_batches(max_chunksize=_CHUNK)

        with quiet():
            return rows.mapInArrow(run, schema)

    def by_buckets(
        self, packed: DataFrame, many: int, work: Callable[[Mapping[int, pl.DataFrame]], pa.Table], schema: str
    ) -> DataFrame:
        """What `work` makes of all rows of a bucket, by the side they are on. One partition per bucket, where there are
        as many buckets as stated: such a number is not made smaller by adaptive execution, and see `spread_keys`."""
        held, many = self._held(work), max(many, 1)

        def run(table: pa.Table) -> pa.Table:
            return held.value(_unpacked(table))

        with quiet():
            from pyspark.sql import functions as f

            keys = ",".join(map(str, spread_keys(many)))
            keyed = packed.withColumn("spread", f.expr(f"element_at(array({keys}), bucket % {many} + 1)"))
            return keyed.repartition(many, "spread").groupBy("spread", "bucket").applyInArrow(run, schema)


@lru_cache(maxsize=64)
def spread_keys(many: int) -> tuple[int, ...]:
    """Numbers that Spark puts into partition 0, 1 and so on. It places rows by a hash: of as many buckets as there are
    partitions a third of these would have none, and some would have four or five."""
    from sklearn.utils import murmurhash3_32

    tried = np.arange(32 + 2 * int(many * (np.log(many) + 6)), dtype=np.int32)
    place, first = np.unique(murmurhash3_32(tried, seed=42).astype(np.int64) % many, return_index=True)
    assert len(place) == many
    return tuple(first.tolist())


def plain_table(frame: pl.DataFrame) -> pa.Table:
    """As an Arrow table with text as Spark has it."""
    import pyarrow as pa

    table = frame.to_arrow(compat_level=pl.CompatLevel.oldest())
    text = {v: pa.string() for v, t in frame.schema.items() if t == pl.String}
    return table.cast(pa.schema([pa.field(x.name, text.get(x.name, x.type)) for x in table.schema]))


def packed_rows(frame: pl.DataFrame, bucket: I64, side: int) -> pa.Table:
    """Rows cut by bucket, those of each as one value; they keep their order."""
    import pyarrow as pa

    order = np.argsort(bucket, kind="stable")
    there, cuts = np.unique(bucket[order], return_index=True)
    values = []
    for low, high in pairwise([*cuts, len(bucket)]):
        held = io.BytesIO()
        frame[order[low:high]].write_ipc(held, compression="lz4")
        values.append(held.getvalue())
    columns = [
        pa.array(there, pa.int32()), pa.array(np.full(len(there), side), pa.int32()), pa.array(values, pa.binary()),
    ]  # fmt: skip
    return pa.table(columns, names=["bucket", "side", "packed"])


def _unpacked(table: pa.Table) -> dict[int, pl.DataFrame]:
    found: dict[int, list[pl.DataFrame]] = {}
    for side, value in zip(table["side"].to_pylist(), table["packed"], strict=True):
        found.setdefault(side, []).append(pl.read_ipc(io.BytesIO(value.as_buffer())))
    return {side: pl.concat(frames, rechunk=True) for side, frames in found.items()}


def _frames(batches: Iterator[pa.RecordBatch], types: Mapping[str, pl.DataType], size: int) -> Iterator[pl.DataFrame]:
    """Batches as frames of at least so many rows, but for the last."""
    held: list[Any] = []
    many = 0
    for batch in batches:
        if batch.num_rows:
            held.append(batch)
            many += batch.num_rows
        if many >= size:
            yield _frame(held, types)
            held, many = [], 0
    if held:
        yield _frame(held, types)


def _frame(held: Sequence[Any], types: Mapping[str, pl.DataType]) -> pl.DataFrame:
    import pyarrow as pa

    frame = pl.from_arrow(pa.Table.from_batches(held))
    assert isinstance(frame, pl.DataFrame)
    return typed(frame, types)


def check_workers(session: SparkSession) -> None:
    """Refuse workers on which this version of confide is not installed."""

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        try:
            from confide.core.version import __version__ as there
        except ImportError:
            there = ""
        for _ in batches:
            yield pa.RecordBatch.from_pydict({"version": pa.array([there], pa.string())})

    python = session.sparkContext.pythonExec
    try:
        with quiet():
            asked = session.range(
                0, session.sparkContext.defaultParallelism, 1, session.sparkContext.defaultParallelism
            )
            found = set(collected(asked.mapInArrow(run, "version string"))["version"].to_list())
    except ImportError as cause:
        raise InputError('This needs pandas and pyarrow beside Spark: pip install "confide[spark]".') from cause
    except Exception as cause:
        check_interrupted(cause)
        check_alive(session, cause)
        raise InputError(
            f'Spark\'s workers cannot run Python ("{python}") with pyarrow; start the session with PYSPARK_PYTHON set '
            "to a Python in which confide[spark] is installed, on all workers."
        ) from cause
    if found != {__version__}:
        raise InputError(
            f'Spark\'s workers need confide {__version__} in their Python ("{python}"), as here; install it on all '
            "workers, or start the session with PYSPARK_PYTHON set to a Python that has it."
        )


@contextmanager
def quiet() -> Iterator[None]:
    """Spark warns of versions of pandas, which is not used."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="PySpark does not yet fully support pandas", category=FutureWarning)
        yield
