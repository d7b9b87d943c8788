"""Protect a scan on Spark: the stages of `make`, carried out by workers; the very rows, order and files of one machine.

Workers count, choose and alter; the driver merges what they counted and chose in the order of rows, and learns from it.
Rows lie on scratch, cut by ranges of their random words, until all of them are known; then each public file is put in
order and written by one task.
"""

from __future__ import annotations

import pickle
import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from confide.core.errors import InputError
from confide.core.random.draws import Counter
from confide.core.random.origin import Origin
from confide.core.random.philox import U64
from confide.core.scale.remembered import Remembered
from confide.core.scale.spark import Spark
from confide.core.scale.spark_batches import PACKED, Workers
from confide.core.scale.spark_files import as_uri, check_parquet, collected
from confide.frames.columns import I64
from confide.frames.scan.scan import Scan
from confide.protect.make import described_as, keyed_origin
from confide.protect.scanned.begun import Begun
from confide.protect.scanned.keeping import Kept, asked_for
from confide.protect.scanned.passes import Passes, Stage
from confide.protect.scanned.places import Places
from confide.protect.scanned.public import Public
from confide.protect.scanned.publish import publish
from confide.protect.scanned.release import ScannedRelease
from confide.protect.scanned.sizes import bytes_of_row
from confide.protect.scanned.spark_aside import PUT, Aside, SpillBatch, finished_in
from confide.protect.scanned.spark_work import SEEN, LookAtBatch, Ranks, SurveyBatch, UnitsOfBatch
from confide.protect.scanned.spark_written import Writing
from confide.protect.scanned.survey import Survey, Surveying
from confide.protect.scanned.units import OnDisk, UnitNumbers

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from confide.protect.plan import Plan

NEAR = 6.0
"""Standard deviations around the expected ends of public files within which rows are put aside by themselves."""
HELD = 4
"""Times that a public file is held while it is put in order and written."""


@dataclass(eq=False)
class SparkWork:
    """One release of a scan in the making. `folder`: on scratch; `part`: rows of a public file."""

    plan: Plan
    data: Scan
    spark: Spark
    workers: Workers
    places: Places
    folder: Path
    part: int
    bar: Callable[[int], None]

    def run(self, seed: int | None, vault: Any, draws: str, stack: ExitStack) -> ScannedRelease:
        """All of it. What a killed driver finished of the very same work is found on scratch and used."""
        self._check_part()
        looks, cut = Looks(self.spark, self.workers, self.data, self.folder), ("Spark", self.part)
        drawn = (seed, vault, draws)
        begun = stack.enter_context(Begun.found(self.places.scratch_folder(), self.plan, self.data, drawn, cut))
        found = begun.survey(lambda: self._survey(looks, draws != "shared"), self.bar)
        digest = "" if found.digest is None else found.digest.hex()
        origin = keyed_origin(
            self.plan, lambda: described_as(self.plan, digest, found.codebook.margins(), None), seed, vault, draws
        )
        scratch = begun.drawn(asked_for(self.plan, self.data, digest, origin, cut))
        units = self._units(looks, Remembered(scratch))
        passes = SparkPasses(self.plan.parts, self.data, found.codebook, origin, 1, lambda _: self.bar, units)
        passes.looks = looks
        compiled = passes.run(Remembered(scratch, {} if units is None else {"units": units}))
        public = Public(self.plan, self.data, found, passes.models)
        spilt, ranks = self._spilt(scratch, passes, public, origin)
        writing = Writing(self.workers, self.data, self.places, public, compiled, _shuffle(origin), ranks, scratch)
        written = writing.of(spilt, stack)
        self.bar(self.data.height)
        check_parquet(self.data)  # workers do not see whether a file changed on the way
        kept = Kept(self.plan, self.data, digest, origin, compiled.lean(), found.codebook)
        return publish(kept, self.places, writing.files, writing.types, written.moved, stack)

    def _survey(self, looks: Looks, keyed: bool) -> Survey:
        """The first pass."""
        made = Surveying(self.plan, self.data.types, keyed)
        for seen in looks.found(made.columns or self.data.columns[:1], SurveyBatch(made)):
            made.merge(seen)
        self.bar(self.data.height)
        return made.done(self.plan, self.data.schema)

    def _units(self, looks: Looks, kept: Remembered) -> OnDisk | None:
        """Which unit each row is of, in a file that workers read."""
        unit = self.plan.unit
        if unit is None:
            return None

        def numbers() -> I64:
            found = UnitNumbers(unit, self.data.height)
            for first, batch in looks.found([unit], UnitsOfBatch()):
                found.add(first, batch)
            return found.out

        return OnDisk(self.folder / "units.npy", kept.of("units", numbers))

    def _check_part(self) -> None:
        need = min(self.part, self.data.height) * bytes_of_row(self.data) * HELD
        if need > self.spark.task_bytes:
            raise InputError(
                f"A public file of {min(self.part, self.data.height):,} rows takes about {need / 2**30:.1f} GB on a "
                "worker, more than a task may take: ask for smaller files (part_rows=), or allow more "
                "(cf.Spark(..., task_memory=))."
            )

    def _spilt(self, scratch: Path, passes: Passes, public: Public, origin: Origin) -> tuple[DataFrame, Ranks]:
        """The last pass: what is released, on scratch; and which public file each range belongs to."""
        edges = near_ends(passes.left(len(passes.stages)), self.part)
        aside = self._put_aside(scratch, passes, public, _shuffle(origin), edges)
        self.bar(self.data.height)
        for shown in aside.shown:
            public.merge(shown.seen)
        if public.pseudonyms is not None:
            public.pseudonyms.settle(origin.draws("unit"))
            public.pseudonyms.put(self.folder / "pseudonyms.npy")
        counts = np.sum([shown.counts for shown in aside.shown], axis=0)
        spilt = self.workers.session.read.schema(PACKED).parquet(*map(as_uri, aside.files))
        return spilt, Ranks(counts.cumsum(), self.part)

    def _put_aside(self, scratch: Path, passes: Passes, public: Public, draws: Counter, edges: U64) -> Aside:
        """All released rows; batches that a killed driver left finished are not made again."""
        folder = scratch / "aside"
        folder.mkdir(mode=0o700, exist_ok=True)
        before = Aside.of(finished_in(folder))
        if before.many == self.data.height:
            return before
        work = SpillBatch(
            passes.codebook, tuple(passes.stages), public.anew(), draws, edges, passes.units, before.rows, folder
        )  # fmt: skip
        names = list(dict.fromkeys((*public.names, *passes.codebook.columns)))
        now = collected(self.workers.by_batches(self.data, names, work, PUT))["file"].to_list()
        return Aside.of([*before.files, *(folder / name for name in sorted(now))])


@dataclass(frozen=True, eq=False)
class Looks:
    """Passes over a file by workers, of which the driver gets what was gathered, within the memory it may take."""

    spark: Spark
    workers: Workers
    data: Scan
    folder: Path

    def found(self, names: Sequence[str], work: Any) -> Iterator[Any]:
        """What is gathered of each batch, in the order of rows."""
        from pyspark.sql import functions as f

        where = as_uri(self.folder / f"seen-{secrets.token_hex(8)}")
        self.workers.by_batches(self.data, names, work, SEEN).write.parquet(where)
        seen = self.workers.session.read.schema(SEEN).parquet(where)
        size = collected(seen.agg(f.sum(f.length("made")).alias("size")))["size"][0] or 0
        if size > self.spark.in_bytes:
            raise InputError(
                f"What steps of this plan gather of the file takes {size / 2**30:.1f} GB on this machine, more than it "
                "may take: allow more (cf.Spark(..., memory=)), or change fewer records."
            )
        for value in self.workers.here(seen).sort("first")["made"]:
            yield pickle.loads(value)


class SparkPasses(Passes):
    """Passes that workers make."""

    looks: Looks

    def _pass(self, looking: Sequence[Stage]) -> None:
        look = self._look(looking)
        for found in self.looks.found(look.names, LookAtBatch(look)):
            for at, picked in found:
                self.stages[at].looks.add(picked)
        self.read("")(self.data.height)


def near_ends(rows: int, part: int) -> U64:
    """Where ranges of words end: on both sides of where public files are expected to, so that few rows lie in ranges
    that two files have rows of."""
    ends = np.arange(part, rows, part) / max(rows, 1)
    off = NEAR * np.sqrt(ends * (1 - ends) / max(rows, 1))
    both = np.concatenate([ends - off, ends + off])
    return np.unique((both[(both > 0) & (both < 1)] * 2.0**64).astype(np.uint64))


def _shuffle(origin: Origin) -> Counter:
    draws = origin.draws("shuffle")
    assert isinstance(draws, Counter)
    return draws
