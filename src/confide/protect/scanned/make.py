"""Protect a scan: survey, passes, spill, and the public parts; the same release as in memory, whatever the batches."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from confide.core.errors import InputError, raise_all
from confide.core.files.folders import settle_folder, temporary_folder
from confide.core.random.draws import Counter
from confide.core.random.origin import Origin
from confide.core.run.progress import Progress, progress_bar
from confide.frames.columns import Margins
from confide.frames.files import METADATA
from confide.frames.scan.scan import Scan
from confide.frames.schema import Schema, schema_to_dict
from confide.protect.make import described_as, keyed_origin
from confide.protect.scanned.keeping import LINKS, Kept, save
from confide.protect.scanned.passes import Passes
from confide.protect.scanned.places import Places, sentences
from confide.protect.scanned.public import Public, check_names
from confide.protect.scanned.release import ScannedRelease
from confide.protect.scanned.sizes import Sizes
from confide.protect.scanned.spill import Spill
from confide.protect.scanned.survey import survey

if TYPE_CHECKING:
    from confide.protect.plan import Plan


def protect_scan(
    plan: Plan, data: Scan, seed: int | None, vault: Any, draws: str, places: Places, memory: str | int | None,
    part_rows: int, progress: Progress,
) -> ScannedRelease:  # fmt: skip
    """Carry a plan out on a scan. What cannot be done in parts is refused before anything is read."""
    raise_all([*unscalable(plan)])
    plan.check_columns(data.types)
    if not data.height:
        raise InputError("The file has no rows.")
    names = [v for v in data.columns if v not in plan.gone]
    check_names(names)
    sizes = Sizes.of(memory, data, part_rows)
    with ExitStack() as stack, sentences(places):
        places.check()
        scratch = stack.enter_context(temporary_folder(places.scratch_folder()))
        bar = stack.enter_context(progress_bar("protecting", 4 * data.height, progress))
        work = _Work(plan, data, sizes, scratch, bar)
        return work.run(seed, vault, draws, places, stack)


def unscalable(plan: Plan) -> list[str]:
    """Why parts of a plan cannot be carried out on a file that is read in parts, in sentences."""
    problems = [why for s in plan.parts if (why := s.at_once())]
    if plan.unit is not None:
        problems.append(
            "Plan(unit=) puts the rows of a unit together, wherever they are, so it is not for files that are read in "
            "parts: read the file into memory (cf.read), or leave unit out."
        )
    return problems


@dataclass(eq=False)
class _Work:
    """One release of a scan in the making."""

    plan: Plan
    data: Scan
    sizes: Sizes
    scratch: Path
    bar: Callable[[int], None]

    def run(self, seed: int | None, vault: Any, draws: str, places: Places, stack: ExitStack) -> ScannedRelease:
        found = survey(self.plan, self.data, self.sizes.batch, draws != "shared", self.bar)
        columns, counts = found.codebook.columns, found.codebook.counts
        read = Margins(columns.values(), {v: n.astype(float) for v, n in counts.items()}, self.data.height)
        digest = "" if found.digest is None else found.digest.hex()
        origin = keyed_origin(self.plan, lambda: described_as(self.plan, digest, read, None), seed, vault, draws)
        passes = Passes(self.plan.parts, self.data, found.codebook, origin, self.sizes.batch, lambda _: self.bar)
        compiled = passes.run()
        public = Public(self.plan, self.data, found, passes.models)
        spill = self._spilt(passes, public, origin)
        made = stack.enter_context(temporary_folder(places.out.parent))
        links = stack.enter_context(temporary_folder(places.private))
        parts, types = self._written(spill, public, made, links, lambda t: public.described(compiled, t))
        kept = Kept(self.plan, self.data, digest, origin, compiled.lean(), found.codebook)
        settle_folder(links, places.private / LINKS, overwrite=True, private=True)
        save(places.private, kept, places.out, parts, types)
        settle_folder(made, places.out, places.overwrite, private=bool(origin.refusal))
        return ScannedRelease.load(places.private)

    def _spilt(self, passes: Passes, public: Public, origin: Origin) -> Spill:
        """The last pass: what is released, on scratch."""
        draws = origin.draws("shuffle")
        assert isinstance(draws, Counter)
        spill = Spill(self.scratch, draws, self.sizes.ranges, self.sizes.run)
        for first, batch, current in passes.batches(public.names, "protecting"):
            spill.add(public.spilt(first, batch, current), current.rows)
        return spill

    def _written(
        self, spill: Spill, public: Public, out: Path, links: Path, described: Callable[[Any], Schema]
    ) -> tuple[list[tuple[str, int]], dict[str, pl.DataType]]:
        """The public parts, and their links."""
        parts: list[tuple[str, int]] = []
        held: list[tuple[pl.DataFrame, Any]] = []
        types: dict[str, pl.DataType] = {}
        extra: dict[str, str] = {}

        def write(rows: int) -> None:
            frame, link = pl.concat([f for f, _ in held]), np.concatenate([x for _, x in held])
            held[:] = [(frame[rows:], link[rows:])] if frame.height > rows else []
            name = f"part-{len(parts):05}"
            if not types:
                types.update(frame.schema)
                schema = described(types)
                if schema.variables:
                    extra[METADATA] = json.dumps(schema_to_dict(schema))
            frame[:rows].write_parquet(out / f"{name}.parquet", metadata=extra or None)
            if self.private_files:
                os.chmod(out / f"{name}.parquet", 0o600)
            np.save(links / f"{name}.npy", link[:rows].astype(np.min_scalar_type(self.data.height)))
            parts.append((f"{name}.parquet", min(rows, frame.height)))

        for frame, rows in spill.pieces():
            held.append((public.released(frame), rows))
            self.bar(frame.height)
            while sum(f.height for f, _ in held) >= self.sizes.part:
                write(self.sizes.part)
        if held or not parts:
            write(self.sizes.part)
        return parts, types

    private_files = False
