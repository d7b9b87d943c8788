"""Tables that workers made, brought to the driver through files on scratch: what Java itself hands over must fit into
its memory, several times."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from confide.core.scale.spark_files import collected

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame


@dataclass(frozen=True, eq=False)
class PutDown:
    """Rows of a partition in a file of their own. Of a task that is tried again only the file counts that is told."""

    folder: str

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        first = next(batches, None)
        if first is None:
            return
        file, rows = Path(self.folder) / f"{secrets.token_hex(8)}.arrow", 0
        with pa.OSFile(str(file), "wb") as held, pa.ipc.new_file(held, first.schema) as out:
            for batch in chain([first], batches):
                out.write_batch(batch)
                rows += batch.num_rows
        yield pa.RecordBatch.from_pydict({"file": [file.name], "rows": pa.array([rows], pa.int64())})


def brought(rows: DataFrame, folder: Path, most: int | None = None) -> pl.DataFrame | None:
    """Rows that workers have, in any order; None where there are more than `most`, which are not read then."""
    aside = folder.resolve() / f"here-{secrets.token_hex(8)}"
    aside.mkdir(mode=0o700)
    told = collected(rows.mapInArrow(PutDown(str(aside)), "file string, rows bigint"))
    found = None
    if most is None or told["rows"].sum() <= most:
        parts = [pl.read_ipc(aside / name) for name in sorted(told["file"])]
        found = pl.concat(parts) if parts else collected(rows.limit(0))
    for file in aside.iterdir():
        file.unlink()
    aside.rmdir()
    return found
