"""One candidate of a study of a scan, once: protected into a folder of its own, attacked, measured, and removed."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from confide.attack.intruder import Intruder
from confide.core.errors import InputError
from confide.core.files.folders import temporary_folder
from confide.core.scale.engine import COUNT, Engine
from confide.core.scale.local import engine_of
from confide.core.scale.remembered import sizes_and_times
from confide.core.scale.rows_alike import RowsAlike
from confide.frames.encoded import Encoded
from confide.frames.scan.codebook import Codebook
from confide.frames.scan.scan import Scan
from confide.measure.risk.file_risks.file import File
from confide.measure.risk.file_risks.statement import FileRisk
from confide.measure.utility.measure import Measure
from confide.measure.utility.pair import Wanted
from confide.protect.plan import Plan
from confide.protect.rare_statements import quoted
from confide.protect.scanned.make import unscalable
from confide.protect.scanned.release import SOME, ScannedRelease
from confide.study.evaluate import Evaluated, measured
from confide.study.levels import Ways, stated
from confide.study.meeting import Met, claims_of, counts_by_bin, risks_of
from confide.study.released import SIZES
from confide.study.statement.sweep import Candidate

if TYPE_CHECKING:
    from confide.study.statement.study import Study

BYTES = 300
"""What a different released row takes while a risk of the file is computed."""


@dataclass(frozen=True)
class Scanning:
    """Where a study of a scan works: `engine` counts and attacks; candidates are put aside, one at a time, on its
    scratch."""

    engine: Engine

    @classmethod
    def of(cls, engine: Engine | None) -> Scanning:
        return cls(engine_of(engine))

    def evaluate(
        self, data: Scan, plan: Plan, intruders: Mapping[str, Intruder], measures: Sequence[Measure], seed: int,
        threshold: float, threads: int | None, items: Wanted | None, ways: Ways = stated,
        file_risks: Sequence[FileRisk] = (),
    ) -> Evaluated:  # fmt: skip
        """As `evaluate` does of a file in memory; there are no groups, and nothing is checked for people outside."""
        scratch = getattr(self.engine, "scratch", None)
        above = Path(tempfile.gettempdir() if scratch is None else scratch).expanduser()
        above.mkdir(mode=0o700, parents=True, exist_ok=True)
        began = time.perf_counter()
        with temporary_folder(above) as folder:
            release = plan.protect(
                data, seed=seed, draws="shared", out=folder / "out", private=folder / "private", scratch=folder,
                memory=self.engine.in_bytes, progress=False,
            )  # fmt: skip
            seconds = {"protect": time.perf_counter() - began}
            assert isinstance(release, ScannedRelease)
            return self._judged(release, intruders, measures, threshold, threads, items, ways, file_risks, seconds)

    def _judged(
        self, release: ScannedRelease, intruders: Mapping[str, Intruder], measures: Sequence[Measure],
        threshold: float, threads: int | None, items: Wanted | None, ways: Ways, file_risks: Sequence[FileRisk],
        seconds: dict[str, float],
    ) -> Evaluated:  # fmt: skip
        began = time.perf_counter()
        met, refused = dict[str, dict[str, Met]](), dict[str, str]()
        for name, who in intruders.items():
            met[name], why = self._meet(ways(name, who, release), release, threshold, threads)  # type: ignore[arg-type]
            refused |= {f"{name}, {level}" if met[name] else name: text for level, text in why.items()}
        on_file = _file_numbers(release, file_risks, self.engine.in_bytes)
        seconds["attack"] = time.perf_counter() - began
        began = time.perf_counter()
        values, details = measured(release, measures, items)
        seconds["utility"] = time.perf_counter() - began
        said = [list(q) for q in quoted(release, public=False)]
        return Evaluated(met, values, details, refused, [], seconds, {}, said, _size(release), [], [], *on_file)

    def _meet(
        self, ways: Mapping[str, Intruder], release: ScannedRelease, threshold: float, threads: int | None
    ) -> tuple[dict[str, Met], dict[str, str]]:
        met, refused = dict[str, Met](), dict[str, str]()
        for level, who in ways.items():
            try:
                units = who.attack(release, threads=threads, progress=False, engine=self.engine).merged
            except InputError as e:
                refused[level] = str(e)
                if not met:
                    break
                continue
            met[level] = Met(risks_of(units, threshold), counts_by_bin(units).tolist(), [], claims_of([units]))
        return met, refused


def _file_numbers(
    release: ScannedRelease, risks: Sequence[FileRisk], memory: int
) -> tuple[dict[str, float | None], dict[str, str], dict[str, str]]:
    """Customary risks of the released file, from its different rows; see `file_numbers`."""
    numbers, refused, notes = dict[str, float | None](), dict[str, str](), dict[str, str]()
    for risk in risks:
        try:
            lost = [v for v in risk.variables if v not in release.public_variables]
            if lost:
                raise InputError(f"{type(risk).__name__}: {', '.join(lost)} is not released.")
            alike = RowsAlike(risk.variables, most=memory // (BYTES + 40 * len(risk.variables)))
            for _, batch in release.released.batches(risk.variables):
                alike.add(batch)
            file = Encoded(alike.table.drop(COUNT), release.released.schema, count=alike.table[COUNT].to_numpy())
            found = risk.found(File(file, type(risk).__name__))
        except InputError as e:
            numbers |= dict.fromkeys(risk.columns)
            refused[risk.name] = str(e)
        else:
            notes[risk.name] = " ".join(found.notes)
            numbers |= risk.named(found)
    return numbers, refused, notes


def _size(release: ScannedRelease) -> dict[str, float]:
    """How much of the file is released; see `sizes`."""
    names = [v for v in release.original.columns if v not in release.plan.identifiers]
    kept = sum(v in release.public_variables for v in names)
    counted = (kept, len(names), release.released.height, release.original.height)
    return dict(zip(SIZES, map(float, counted), strict=True))


def scan_problems(study: Study) -> list[str]:
    """What of a study cannot be done for a scan, each with what to do instead."""
    instead = "leave it out, or run the study on a part of the file that fits into memory (cf.read)."
    given = {"groups": study.groups, "learns": study.learns, "copies": study.copies}
    out = [f"{name}: not for a scan; {instead}" for name, value in given.items() if value]
    for c in [*study.candidates] if not out else ():
        out += [f'plan "{c.name}": {why}' for why in unscalable(c.plan)]
    return out


def kinds_of(study: Study, everything: Candidate) -> pl.DataFrame:
    """The kind of every variable that some plan releases, and why it is taken to be that."""
    plan, data = everything.plan, study.data
    gone = (*plan.identifiers, *plan.drop)
    names = [v for v, t in data.types.items() if v not in gone and not (t.is_nested() or t == pl.Binary)]
    columns = Codebook.of(data, names, plan.kinds, most=SOME).columns
    rows = [(v, c.kind, c.why, "") for v, c in columns.items()]
    return pl.DataFrame(rows, schema=dict.fromkeys(("variable", "kind", "why", "doubt"), pl.String), orient="row")


def stamp(data: Scan) -> list[list[object]]:
    """What tells the files of a scan from others: where they are, how large, and when they were written."""
    return [list(found) for found in sizes_and_times(data.files)]
