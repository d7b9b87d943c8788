"""The last stage on Spark: public files, each put in order and made by one task, and the link of each.

A task writes its file to scratch, whole or not at all; files that a killed driver left finished are not made again. To
the storage of a cluster Spark writes itself: a Parquet file ends in the four letters PAR1, so it is one
line of text with these at its end.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import polars as pl

from confide.core.errors import InputError
from confide.core.files.folders import temporary_folder
from confide.core.random.draws import Counter
from confide.core.scale.hadoop import Remote
from confide.core.scale.hadoop_folders import beside, files_in, renamed
from confide.core.scale.spark_batches import Workers
from confide.core.scale.spark_files import collected
from confide.frames.scan.scan import Scan
from confide.protect.compiled import Compiled
from confide.protect.scanned.places import Places
from confide.protect.scanned.public import Public
from confide.protect.scanned.spark_work import MADE, WRITTEN, MakePart, Ranks, WritePart
from confide.protect.scanned.writing import END, part_name

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class Written(Protocol):
    """Public files and links that are made."""

    def moved(self, out: Path, links: Path) -> None:
        """Put them where they are to be published from."""


@dataclass(frozen=True, eq=False)
class Writing:
    """What all files hang on. `scratch`: for those of this work that are finished."""

    workers: Workers
    data: Scan
    places: Places
    public: Public
    compiled: Compiled
    draws: Counter
    ranks: Ranks
    scratch: Path

    @property
    def files(self) -> list[tuple[str, int]]:
        """Names and rows of the public files."""
        return [(f"{part_name(k)}.parquet", n) for k, n in enumerate(self.ranks.sizes)]

    @property
    def types(self) -> dict[str, pl.DataType]:
        """Of the released columns."""
        return dict(self._nothing().schema)

    def of(self, spilt: DataFrame, stack: ExitStack) -> Written:
        """The files of rows that were put aside."""
        number = np.min_scalar_type(self.data.height)
        rest = (self.public, self.compiled, self.draws, self.ranks, number)
        if isinstance(self.places.out, Remote):
            links = stack.enter_context(temporary_folder(self.places.private))
            stage = stack.enter_context(beside(self.places.out, "parts"))
            self._far(spilt, MakePart(*rest, links), stage / "files")
            return Far(stage / "files", links, self.ranks)
        out, links = self.scratch / "parts", self.scratch / "links"
        for folder in (out, links):
            folder.mkdir(mode=0o700, exist_ok=True)
        self._near(spilt, WritePart(*rest, links, out))
        return Near(out, links, self.ranks)

    def _near(self, spilt: DataFrame, work: WritePart) -> None:
        left = [k for k, (name, _) in enumerate(self.files) if not (work.out / name).exists()]
        if left and self.ranks.ends[-1]:
            collected(self.workers.by_buckets(self._by_part(spilt, left), len(left), work, WRITTEN))
        elif left:
            work.finished(0, self._nothing(), np.zeros(0, dtype=np.int64))

    def _far(self, spilt: DataFrame, work: MakePart, stage: Remote) -> None:
        from pyspark.sql import functions as f

        if self.ranks.ends[-1]:
            made = self.workers.by_buckets(self._by_part(spilt, range(self.ranks.many)), self.ranks.many, work, MADE)
        else:
            nothing = work.finished(0, self._nothing(), np.zeros(0, dtype=np.int64))
            made = self.workers.session.createDataFrame(nothing, MADE)
        lines = made.select("part", f.col("content").cast("string").alias("value"))
        lines.write.partitionBy("part").option("lineSep", END).text(str(stage))

    def _by_part(self, spilt: DataFrame, wanted: Sequence[int]) -> DataFrame:
        """Ranges with those of some files that have rows of them."""
        import pyarrow as pa
        from pyspark.sql import functions as f

        places = np.array([p for p in self.ranks.parts() if p[1] in wanted], dtype=np.int32)
        table = pa.table({"bucket": places[:, 0], "part": places[:, 1]})
        rows = spilt.join(f.broadcast(self.workers.session.createDataFrame(table)), "bucket")
        return rows.select(f.col("part").alias("bucket"), f.col("part").alias("side"), "packed")

    def _nothing(self) -> pl.DataFrame:
        return self.public.released(nothing_of(self.public))


@dataclass(frozen=True, eq=False)
class Near:
    """In two folders on scratch."""

    out: Path
    links: Path
    ranks: Ranks

    def moved(self, out: Path, links: Path) -> None:
        """See `Written`."""
        for name in map(part_name, range(self.ranks.many)):
            public = out / f"{name}.parquet"
            shutil.move(self.out / public.name, public)
            shutil.move(self.links / f"{name}.npy", links / f"{name}.npy")


@dataclass(frozen=True, eq=False)
class Far:
    """In the storage of a cluster, each in a folder of its own; links in one that all see."""

    stage: Remote
    links: Path
    ranks: Ranks

    def moved(self, out: Any, links: Path) -> None:
        """See `Written`."""
        for k in range(self.ranks.many):
            found = files_in(self.stage / f"part={k}")
            if len(found) != 1:
                raise InputError(f"Spark wrote {len(found)} files for one; start the work again.")
            renamed(found[0], out / f"{part_name(k)}.parquet")
            shutil.move(self.links / f"{part_name(k)}.npy", links / f"{part_name(k)}.npy")


def nothing_of(public: Public) -> pl.DataFrame:
    """No released rows, as they are put aside."""
    models = {v: np.zeros(0, dtype=float if v in public.back else np.int8) for v in public.models}
    return pl.DataFrame([
        pl.Series(v, models[v]) if v in models else pl.Series(v, [], dtype=public.types[v]) for v in public.names
    ])  # fmt: skip
