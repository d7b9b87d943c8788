"""Protect a scan: survey, passes, spill, and the public parts; the same release as in memory, whatever the batches."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from confide.core.errors import InputError, raise_all
from confide.core.files.folders import remove_dead_folders
from confide.core.random.draws import Counter
from confide.core.random.origin import Origin
from confide.core.run.progress import Progress, progress_bar
from confide.core.scale.engine import Engine
from confide.core.scale.hadoop import is_uri
from confide.core.scale.remembered import Remembered
from confide.core.scale.spark import Spark
from confide.frames.scan.scan import Scan
from confide.frames.schema import Schema
from confide.protect.canonical import holds_functions
from confide.protect.make import described_as, keyed_origin
from confide.protect.scanned.begun import Begun
from confide.protect.scanned.keeping import Kept, asked_for
from confide.protect.scanned.passes import Passes
from confide.protect.scanned.places import Places, sentences
from confide.protect.scanned.public import Public, check_names
from confide.protect.scanned.publish import publish
from confide.protect.scanned.release import ScannedRelease
from confide.protect.scanned.sizes import Sizes
from confide.protect.scanned.spark_make import SparkWork
from confide.protect.scanned.spill import Spill
from confide.protect.scanned.survey import survey
from confide.protect.scanned.units import units_of_rows
from confide.protect.scanned.writing import Parts

if TYPE_CHECKING:
    from confide.protect.plan import Plan


def protect_scan(
    plan: Plan, data: Scan, seed: int | None, vault: Any, draws: str, places: Places, memory: str | int | None,
    part_rows: int, progress: Progress, engine: Engine | None = None,
) -> ScannedRelease:  # fmt: skip
    """Carry a plan out on a scan. What cannot be done in parts is refused before anything is read."""
    raise_all(unscalable(plan))
    plan.check_columns(data.types)
    if not data.height:
        raise InputError("The file has no rows.")
    names = [v for v in data.columns if v not in plan.gone]
    check_names(names)
    sizes = Sizes.of(memory, data, part_rows)
    if is_uri(places.out) and not isinstance(engine, Spark):
        raise InputError(f"{places.out} is written by Spark: give engine=cf.Spark(session).")
    with ExitStack() as stack, sentences(places):
        places.check(data.files)
        remove_dead_folders(places.scratch_folder())
        bar = stack.enter_context(progress_bar("protecting", 4 * data.height, progress))
        if isinstance(engine, Spark):
            return _on_spark(engine, plan, data, sizes, places, bar, stack).run(seed, vault, draws, stack)
        return _Work(plan, data, sizes, places, bar).run(seed, vault, draws, stack)


def _on_spark(
    engine: Spark, plan: Plan, data: Scan, sizes: Sizes, places: Places, bar: Callable[[int], None], stack: ExitStack
) -> SparkWork:
    from confide.core.scale.spark_batches import Workers

    folder = stack.enter_context(engine.working_on([data], places.scratch_folder()))
    workers = stack.enter_context(Workers(engine.session, folder))
    return SparkWork(plan, data, engine, workers, places, folder, sizes.part, bar)


def unscalable(plan: Plan) -> list[str]:
    """Why parts of a plan cannot be carried out on a file that is read in parts, in sentences."""
    problems = [why for s in plan.parts if (why := s.at_once())]
    problems += [
        f"{s.where} counts how many units have something in common, so with Plan(unit=) it is not for files that are "
        "read in parts: read the file into memory (cf.read), or leave unit out."
        for s in plan.parts if plan.unit is not None and s.counts_units
    ]  # fmt: skip
    if holds_functions(plan):
        problems.append(
            "The plan holds a function, which is not kept in a private folder; for a scan state it by values, or read "
            "the file into memory (cf.read)."
        )
    return problems


@dataclass(eq=False)
class _Work:
    """One release of a scan in the making."""

    plan: Plan
    data: Scan
    sizes: Sizes
    places: Places
    bar: Callable[[int], None]

    def run(self, seed: int | None, vault: Any, draws: str, stack: ExitStack) -> ScannedRelease:
        drawn = (seed, vault, draws)
        begun = stack.enter_context(Begun.found(self.places.scratch_folder(), self.plan, self.data, drawn, self.sizes))
        found = begun.survey(
            lambda: survey(self.plan, self.data, self.sizes.batch, draws != "shared", self.bar), self.bar
        )
        digest = "" if found.digest is None else found.digest.hex()
        origin = keyed_origin(
            self.plan, lambda: described_as(self.plan, digest, found.codebook.margins(), None), seed, vault, draws
        )
        scratch = begun.drawn(asked_for(self.plan, self.data, digest, origin, self.sizes))
        unit = self.plan.unit
        units = (
            None
            if unit is None
            else Remembered(scratch).of("units", lambda: units_of_rows(self.data, unit, self.sizes.batch))
        )
        passes = Passes(self.plan.parts, self.data, found.codebook, origin, self.sizes.batch, lambda _: self.bar, units)
        compiled = passes.run(Remembered(scratch, {} if units is None else {"units": units}))
        public = Public(self.plan, self.data, found, passes.models)
        spill = self._spilt(scratch, passes, public, origin)
        if public.pseudonyms is not None:
            public.pseudonyms.settle(origin.draws("unit"))
        parts = self._written(scratch, spill, public, lambda t: public.described(compiled, t))
        kept = Kept(self.plan, self.data, digest, origin, compiled.lean(), found.codebook)
        return publish(kept, self.places, parts.written, parts.types, parts.moved, stack)

    def _spilt(self, scratch: Path, passes: Passes, public: Public, origin: Origin) -> Spill:
        """The last pass: what is released, on scratch. Runs that a killed process finished are not made again."""
        draws = origin.draws("shuffle")
        assert isinstance(draws, Counter)
        spill = Spill(scratch, draws, self.sizes.ranges, self.sizes.run)
        for frame in spill.finished():
            public.see(frame)
        self.bar(spill.done)
        for first, batch, current in passes.batches(public.names, "protecting", spill.done):
            frame = public.spilt(first, batch, current)
            public.see(frame)
            spill.add(frame, current.rows, first + batch.height)
        return spill

    def _written(
        self, scratch: Path, spill: Spill, public: Public, described: Callable[[Mapping[str, pl.DataType]], Schema]
    ) -> Parts:  # fmt: skip
        """The public parts, on scratch; those that a killed process finished are not written again."""
        out, links = scratch / "parts", scratch / "links"
        for folder in (out, links):
            folder.mkdir(mode=0o700, exist_ok=True)
        parts = Parts(out, links, self.sizes.part, self.data.height, described)
        self.bar(parts.done)
        for frame, rows in spill.pieces(parts.done):
            parts.add(public.released(frame), rows)
            self.bar(frame.height)
        parts.close()
        return parts
