"""Protect a scan: survey, passes, spill, and the public parts; the same release as in memory, whatever the batches."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from confide.core.errors import InputError, raise_all
from confide.core.files.folders import settle_folder, temporary_folder
from confide.core.random.draws import Counter
from confide.core.random.origin import Origin
from confide.core.run.progress import Progress, progress_bar
from confide.frames.scan.scan import Scan, scan
from confide.protect.make import described_as, keyed_origin
from confide.protect.scanned.keeping import Kept, save
from confide.protect.scanned.passes import Passes
from confide.protect.scanned.places import Places, sentences
from confide.protect.scanned.public import Public, check_names
from confide.protect.scanned.release import ScannedRelease
from confide.protect.scanned.sizes import Sizes
from confide.protect.scanned.spill import Spill
from confide.protect.scanned.survey import survey
from confide.protect.scanned.writing import Parts

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
        digest = "" if found.digest is None else found.digest.hex()
        origin = keyed_origin(
            self.plan, lambda: described_as(self.plan, digest, found.codebook.margins(), None), seed, vault, draws
        )
        passes = Passes(self.plan.parts, self.data, found.codebook, origin, self.sizes.batch, lambda _: self.bar)
        compiled = passes.run()
        public = Public(self.plan, self.data, found, passes.models)
        spill = self._spilt(passes, public, origin)
        made = stack.enter_context(temporary_folder(places.out.parent))
        links = stack.enter_context(temporary_folder(places.private))
        parts = Parts(
            made,
            links,
            self.sizes.part,
            self.data.height,
            bool(origin.refusal),
            lambda t: public.described(compiled, t),
        )
        for frame, rows in spill.pieces():
            parts.add(public.released(frame), rows)
            self.bar(frame.height)
        parts.close()
        kept = Kept(self.plan, self.data, digest, origin, compiled.lean(), found.codebook)
        save(places.private, kept, places.out, parts.written, parts.types, links)
        settle_folder(made, places.out, places.overwrite, private=parts.draft)
        return kept.release(scan([places.out / name for name, _ in parts.written]), places.private)

    def _spilt(self, passes: Passes, public: Public, origin: Origin) -> Spill:
        """The last pass: what is released, on scratch."""
        draws = origin.draws("shuffle")
        assert isinstance(draws, Counter)
        spill = Spill(self.scratch, draws, self.sizes.ranges, self.sizes.run)
        for first, batch, current in passes.batches(public.names, "protecting"):
            spill.add(public.spilt(first, batch, current), current.rows)
        return spill
