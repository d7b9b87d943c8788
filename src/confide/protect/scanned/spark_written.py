"""The last stage on Spark: public files, each put in order and made by one task, and the link of each.

In folders that all see, a task writes its file under a name of its own, and the driver gives those of finished tasks
their names. To the storage of a cluster Spark writes itself: a Parquet file ends in the four letters PAR1, so it is one
line of text with these at its end.
"""

from __future__ import annotations

import os
import pickle
import shutil
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

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
    """Public files and links that are made. `rows`: of each file."""

    @property
    def rows(self) -> Sequence[int]: ...

    @property
    def types(self) -> dict[str, pl.DataType]:
        """Of the released columns."""

    def moved(self, out: Path, links: Path, draft: bool) -> None:
        """Put them where they are to be published from."""


@dataclass(frozen=True, eq=False)
class Writing:
    """What all files hang on."""

    workers: Workers
    data: Scan
    places: Places
    public: Public
    compiled: Compiled
    draws: Counter
    ranks: Ranks

    def of(self, spilt: DataFrame, stack: ExitStack) -> Written:
        """The files of rows that were put aside."""
        links = stack.enter_context(temporary_folder(self.places.private))
        number = np.min_scalar_type(self.data.height)
        rest = (self.public, self.compiled, self.draws, self.ranks, number, links)
        if isinstance(self.places.out, Remote):
            stage = stack.enter_context(beside(self.places.out, "parts"))
            self._far(spilt, MakePart(*rest), stage / "files")
            return Far(stage / "files", links, self.ranks, dict(self._nothing().schema))
        out = stack.enter_context(temporary_folder(self.places.out.parent))
        return Near(out, links, self._near(spilt, WritePart(*rest, out)))

    def _near(self, spilt: DataFrame, work: WritePart) -> pl.DataFrame:
        if not self.ranks.ends[-1]:
            return cast(pl.DataFrame, pl.from_arrow(work.finished(0, self._nothing(), np.zeros(0, dtype=np.int64))))
        return collected(self.workers.by_buckets(self._by_part(spilt), self.ranks.many, work, WRITTEN)).sort("part")

    def _far(self, spilt: DataFrame, work: MakePart, stage: Remote) -> None:
        from pyspark.sql import functions as f

        if self.ranks.ends[-1]:
            made = self.workers.by_buckets(self._by_part(spilt), self.ranks.many, work, MADE)
        else:
            nothing = work.finished(0, self._nothing(), np.zeros(0, dtype=np.int64))
            made = self.workers.session.createDataFrame(nothing, MADE)
        lines = made.select("part", f.col("content").cast("string").alias("value"))
        lines.write.partitionBy("part").option("lineSep", END).text(str(stage))

    def _by_part(self, spilt: DataFrame) -> DataFrame:
        """Ranges with all files that have rows of them."""
        import pyarrow as pa
        from pyspark.sql import functions as f

        places = np.array(self.ranks.parts(), dtype=np.int32)
        table = pa.table({"bucket": places[:, 0], "part": places[:, 1]})
        wanted = spilt.join(f.broadcast(self.workers.session.createDataFrame(table)), "bucket")
        return wanted.select(f.col("part").alias("bucket"), f.col("part").alias("side"), "packed")

    def _nothing(self) -> pl.DataFrame:
        return self.public.released(nothing_of(self.data, self.public))


@dataclass(frozen=True, eq=False)
class Near:
    """In two folders; `found`: a row for each file, in order. What other attempts of tasks wrote stays behind."""

    out: Path
    links: Path
    found: pl.DataFrame

    @property
    def rows(self) -> list[int]:
        """Of each file."""
        return self.found["rows"].to_list()

    @property
    def types(self) -> dict[str, pl.DataType]:
        """See `Written`."""
        return dict(pickle.loads(self.found["types"][0]))

    def moved(self, out: Path, links: Path, draft: bool) -> None:
        """See `Written`."""
        for k, name in enumerate(self.found["file"].to_list()):
            public = out / f"{part_name(k)}.parquet"
            shutil.move(self.out / f"{name}.parquet", public)
            shutil.move(self.links / f"{name}.npy", links / f"{part_name(k)}.npy")
            if draft:
                os.chmod(public, 0o600)


@dataclass(frozen=True, eq=False)
class Far:
    """In the storage of a cluster, each in a folder of its own; links in one that all see."""

    stage: Remote
    links: Path
    ranks: Ranks
    types: dict[str, pl.DataType]

    @property
    def rows(self) -> list[int]:
        """Of each file."""
        cuts = [self.ranks.cut(k) for k in range(self.ranks.many)] if self.ranks.ends[-1] else [(0, 0)]
        return [high - low for low, high in cuts]

    def moved(self, out: Any, links: Path, draft: bool) -> None:  # noqa: ARG002 - the folder itself is private
        """See `Written`."""
        for k in range(self.ranks.many):
            found = files_in(self.stage / f"part={k}")
            if len(found) != 1:
                raise InputError(f"Spark wrote {len(found)} files for one; start the work again.")
            renamed(found[0], out / f"{part_name(k)}.parquet")
            shutil.move(self.links / f"{part_name(k)}.npy", links / f"{part_name(k)}.npy")


def nothing_of(data: Scan, public: Public) -> pl.DataFrame:
    """No released rows, as they are put aside."""
    models = {v: np.zeros(0, dtype=float if v in public.back else np.int8) for v in public.models}
    return pl.DataFrame([
        pl.Series(v, models[v]) if v in models else pl.Series(v, [], dtype=data.types[v]) for v in public.names
    ])  # fmt: skip
