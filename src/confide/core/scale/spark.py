"""`Spark`: files larger than memory, on a cluster."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from confide.core.errors import InputError
from confide.core.run.progress import Progress
from confide.core.scale.engine import Asked, File, Linked
from confide.core.scale.local import MOST, Local, checked_size, size_of
from confide.core.scale.scratch import scratch_folder
from confide.core.scale.spark_files import alive, as_sentences, check_parquet

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from confide.core.scale.spark_counting import SparkCounting

OLDEST = 4


@dataclass(frozen=True)
class Spark:
    """Work on a cluster, in the session given: files are read and results written by Spark, where its workers see them.

    `memory`: what the distinct rows that come to this machine may take here. `scratch`: a folder that the workers can
    read and write as well; microdata are in it, and it is removed in any case (default: the release's own private
    folder). `task_memory`: what one task may take on a worker beside Spark itself. `buckets`: into so many parts a file
    is cut of which too few rows are alike; by default that is done only where distinct rows do not fit into memory,
    with as many buckets as the memory of tasks asks for. None of these changes a result.

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
    task_memory: str | float = "1GB"
    buckets: int | None = None

    def __post_init__(self) -> None:
        check_session(self.session)
        _ = Local(self.memory), checked_size(self.task_memory, "Spark: task_memory")
        if self.buckets is not None and (not isinstance(self.buckets, int) or not 1 <= self.buckets <= MOST):
            raise InputError(f"Spark: buckets is a whole number from 1 to {MOST:,}.")

    @property
    def in_bytes(self) -> int:
        """The memory in bytes."""
        return Local(self.memory).in_bytes

    @property
    def task_bytes(self) -> int:
        """The memory of a task in bytes."""
        return size_of(self.task_memory, "Spark: task_memory")

    @contextmanager
    def working(self, release: Linked) -> Iterator[Path]:
        """A folder on scratch for the time of the work, with what Spark says of failures in sentences."""
        with self.working_on([release.original, release.released], getattr(release, "private", None)) as folder:
            yield folder

    @contextmanager
    def working_on(self, files: Sequence[File], place: str | os.PathLike[str] | None) -> Iterator[Path]:
        """The same for work on some files; `place`: for scratch, where none was named."""
        check_session(self.session)
        check_parquet(*files)
        with scratch_folder(place if self.scratch is None else self.scratch) as folder, as_sentences(self.session):
            yield folder

    @contextmanager
    def counting(self, release: Linked, asked: Asked, progress: Progress = None) -> Iterator[SparkCounting]:
        """Count, and keep whose rows are alike until the end of the block."""
        from confide.core.scale.spark_batches import Workers
        from confide.core.scale.spark_counting import SparkCounting

        with self.working(release) as folder, Workers(self.session, folder) as workers:
            yield SparkCounting.of(workers, (self.in_bytes, self.task_bytes), release, asked, folder, progress)


def check_session(session: Any) -> None:
    """Refuse what is no session of Spark, one that has ended, one of an old Spark, and one without a driver here."""
    if not hasattr(session, "createDataFrame"):
        raise InputError("Spark: give a session, as SparkSession.builder.getOrCreate() makes it.")
    if type(session).__module__.startswith("pyspark.sql.connect"):
        raise InputError(
            "Spark: a session of Spark Connect has its driver elsewhere; give one that is made with "
            'SparkSession.builder.master("spark://...") or the like.'
        )
    version = getattr(session, "version", None) if alive(session) else None
    if version is None:
        raise InputError("Spark: this session has ended; make a new one.")
    if int(str(version).split(".")[0]) < OLDEST:
        raise InputError(f"Spark: version {OLDEST} or later is needed, and this session is of {version}.")
