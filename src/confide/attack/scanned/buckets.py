"""Where too few rows are alike: targets and records put aside by block, and attacked bucket by bucket."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from confide.attack.engine.fit import Fit
from confide.attack.engine.fit_homes import homes_of
from confide.attack.engine.intervals import Between
from confide.attack.engine.kernel_plan import Units
from confide.attack.engine.prepare import Prepared
from confide.attack.engine.treatments import treatments
from confide.attack.evidence.case import Case, Merged
from confide.attack.evidence.gather import Knowledge
from confide.attack.intruder import Intruder, Unsure
from confide.attack.population.people import PeopleModel
from confide.attack.results.treatment import Treatment
from confide.attack.results.units import ALIKE, STATUS
from confide.attack.scanned.bucket import Blocks
from confide.attack.scanned.coded import frame_of, records_of
from confide.attack.scanned.companions import ByBlock, WithCompanions
from confide.attack.scanned.file_units import FileUnits
from confide.attack.scanned.kept_files import KeptFiles
from confide.attack.scanned.meeting import ROW, SHARE, met
from confide.attack.scanned.pattern import Ends, learn, placed_by
from confide.attack.scanned.setting import LocalFiles, Setting
from confide.attack.scanned.unit_bucket import buckets_for_units
from confide.attack.targets import Targets
from confide.core.errors import InputError
from confide.core.files.whole_folder import whole_folder
from confide.core.run.progress import Progress, progress_bar
from confide.core.scale.engine import COUNT, Asked
from confide.core.scale.kept import Kept, kept_folder
from confide.core.scale.local import MOST, Local
from confide.core.scale.remembered import Remembered, sizes_and_times, stamps_of
from confide.core.scale.rows_alike import RowsAlike
from confide.core.scale.scratch import scratch_folder
from confide.core.scale.spilled import Spilled, bucket_of
from confide.core.version import __version__
from confide.frames import to_polars
from confide.frames.columns import F64, I64, Bools, Records
from confide.frames.scan.codebook import Codebook
from confide.frames.tally import Tally

if TYPE_CHECKING:
    from confide.protect.scanned.release import ScannedRelease

PAIRS = ["__pairs", "__visited"]
RANGE = 2**18
"""Original rows whose results are written together."""
PER_ROW = 700
"""Bytes that a target or a record of a bucket takes while it is attacked."""


@dataclass(frozen=True, eq=False)
class Bucketed:
    """One row for each target, in narrow columns (None: in the folder with results alone); and what goes with them, as
    of an `Attack`. `fits`: of all patterns of knowledge; `before`, `after`: what codes of both files refer to;
    `targets`: how many there are; `stated`: where somebody states them; `units`: who belongs together, where units are
    attacked."""

    merged: pl.DataFrame | None
    treatments: list[Treatment]
    pairs: tuple[float, float]
    people: tuple[PeopleModel, ...]
    short: int
    fits: tuple[Fit, ...] = ()
    before: Codebook | None = None
    after: Codebook | None = None
    targets: int = 0
    stated: StatedPeople | None = None
    units: FileUnits | None = None


@dataclass(frozen=True, eq=False)
class StatedPeople:
    """What is known of stated targets; of each the place of its fit among `fits`, with the intervals that are known."""

    records: Records
    of: I64
    fits: tuple[tuple[Fit, Between], ...]

    def someone(self, target: int) -> tuple[Records, Fit]:
        """One of them, and the fit."""
        fitted, between = self.fits[int(self.of[target])]
        return Records(self.records.take(np.array([target])).values(), n=1), fitted.at(between)


def attack_in_buckets(
    intruder: Intruder, release: ScannedRelease, local: Local, asked: Asked, out: Path | None, stated: Intruder,
    threads: int, progress: Progress,
) -> Bucketed:  # fmt: skip
    """The whole attack; `stated`: the intruder as given."""
    n = release.original.height
    with (
        kept_folder(local.scratch, described(intruder, release, (local.buckets, local.in_bytes))) as kept,
        scratch_folder(local.scratch) as folder,
        progress_bar("attacking", n, progress) as done,
    ):
        files = KeptFiles(LocalFiles(release, local.batch), Remembered(kept.folder))
        setting = Setting.of(intruder, files, list(asked.original), local.batch, local.in_bytes)
        there = np.full(n, asked.everybody)
        own = np.zeros(n, dtype=bool)
        for link in release.links(local.batch):
            there[link] = own[link] = True
        units = Spilled(folder, "units", max(-(-n // RANGE), 1))
        pairs, models, short, fits = np.zeros(2), list[PeopleModel](), 0.0, list[Fit]()
        for k, (rows, knows) in enumerate(setting.patterns):
            part = Pattern(setting, knows, rows, folder, str(k), local, kept)
            model, few, more, fitted = part.attack(there, own, asked, units, threads, done)
            fits.append(fitted)
            models += [] if model is None else [model]
            short, pairs = max(short, few), pairs + more
        merged = _collected(units, out)
    return Bucketed(
        merged, treatments(told(setting, intruder), stated), (float(pairs[0]), float(pairs[1])), tuple(models),
        int(short), tuple(fits), setting.before, setting.after, merged.height, units=setting.units,
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Pattern:
    """Targets of whom the same variables are known."""

    setting: Setting
    knows: tuple[str, ...]
    rows: I64
    folder: Path
    name: str
    local: Local
    kept: Kept | None
    ends: Ends = field(default_factory=dict)

    def attack(
        self, there: Bools, own: Bools, asked: Asked, units: Spilled, threads: int, done: Callable[[int], None]
    ) -> tuple[PeopleModel | None, float, F64, Fit]:
        """All buckets; results are put aside by row. How N_t was estimated, records with too few people, pairs, and
        the fit."""
        records, case, count, weights = self.records(asked)
        shared = None if self.kept is None else Remembered(self.kept.folder)
        found = learn(
            self.setting, self.knows, self.rows, case, count, weights, bool((own | ~there).all()), kept=shared
        )
        targets = self._targets(records.buckets, found.knowledge, there)
        pairs = self._buckets(found.fit, found.blocks, targets, records, own, units, threads, done)
        return found.model, found.few, pairs, found.fit

    def _many(self) -> int:
        """As many buckets as memory asks for."""
        if self.local.buckets is not None:
            return self.local.buckets
        room, units = SHARE * self.local.in_bytes, self.setting.units
        if units is not None:
            sizes, homes = units.sizes(self.setting.release.links()), homes_of(self.setting.case, self.knows)
            return buckets_for_units(self.setting.release.original.height, sizes, homes, room, MOST)
        rows = self.setting.release.original.height + self.setting.release.released.height
        return max(1, int(np.ceil(rows * PER_ROW / room)))

    def records(self, asked: Asked) -> tuple[Spilled, Case, F64, F64 | None]:
        """Records put aside by block; a few of them that show all labels there are, with how many each stands for and
        for how many people by weights."""
        many = self._many()
        aside = self._aside(many)
        alike, few = RowsAlike(()), list[pl.DataFrame]()
        weights = self._weights(asked)
        for case, link, frame in self.setting.released():
            rows, labels, keys = placed_by(case, self.knows, self.ends)
            aside.add(frame, link, rows, bucket_of(labels, len(rows), many))
            if not few:
                alike = RowsAlike(keys.columns, ["__weight"] if weights else ())
            if weights:
                keys = keys.with_columns(pl.Series("__weight", next(weights)[rows]))
            before = len(alike)
            place = alike.add(keys) if len(rows) else np.zeros(0, dtype=np.uint32)
            new, first = np.unique(place, return_index=True)
            few.append(frame[rows][first[new >= before]])
        table = alike.table
        count = table[COUNT].to_numpy()
        if weights and (bad := int(table[f"{COUNT} __weight bad"].sum())):
            raise InputError(f'Unsure: {bad} released weights in "{asked.added[0]}" are zero, negative or missing.')
        sums = table[f"{COUNT} __weight"].to_numpy() if weights else None
        shown = records_of(pl.concat(few), self.setting.after.columns)
        return aside.done(), replace(self.setting.case, released=shown, count=None), count, self._scaled(sums, asked)

    def _aside(self, many: int) -> ByBlock | WithCompanions:
        """What puts records aside."""
        aside, units = Spilled(self.folder, f"records-{self.name}", many), self.setting.units
        if units is None:
            return ByBlock(aside)
        alone = not homes_of(self.setting.case, self.knows)
        again = ((link, frame) for _, link, frame in self.setting.released())
        return WithCompanions(aside, units, lambda: again, alone)

    def _weights(self, asked: Asked):  # type: ignore[no-untyped-def]
        """The released weights, batch by batch, where people are counted by these."""
        if not asked.added:
            return None
        (name,) = asked.added
        batches = self.setting.release.released.batches([name], self.setting.rows)
        return (b[name].cast(pl.Float64).fill_null(np.nan).to_numpy() for _, b in batches)

    def _scaled(self, sums: F64 | None, asked: Asked) -> F64 | None:
        release = self.setting.release
        if sums is None or release.released.height >= release.original.height:
            return sums
        (name,) = asked.added
        all_people = sum(float(b[name].filter(b[name] > 0).sum()) for _, b in release.original.batches([name]))
        return sums * (all_people / float(sums.sum()))

    def _targets(self, many: int, knowledge: Knowledge, there: Bools) -> Spilled:
        """Targets put aside by block."""
        aside = Spilled(self.folder, f"targets-{self.name}", many)
        for batch in self.setting.release.originals(self.setting.before, self.setting.rows):
            mine = np.flatnonzero(there[batch.rows] & self.setting.pattern_of(batch, self.rows))
            known = self.setting.known(batch.take(mine))
            labels = [c.of(known) for c in knowledge.certain]
            frame = frame_of(known, beside={ROW: batch.rows[mine]})
            aside.add(frame, bucket_of(labels, len(mine), many))
        return aside

    def _buckets(
        self, fitted: Fit, known: Blocks, targets: Spilled, records: Spilled, own: Bools, units: Spilled, threads: int,
        done: Callable[[int], None],
    ) -> F64:  # fmt: skip
        pairs = np.zeros(2)
        for b in np.flatnonzero(targets.rows).tolist():
            name = f"{self.name}-{targets.buckets}-{b}"
            assert self.kept is not None
            found = self.kept.get(name)
            if found is None:
                found = self._bucket(fitted, known, targets.bucket(b), records.bucket(b), own, threads)
                self.kept.put(name, found)
            pairs += found.select(PAIRS).row(0)
            units.add(narrow_units(found.drop(PAIRS)), found[ROW].to_numpy() // RANGE)
            done(found.height)
        return pairs

    def _bucket(
        self, fitted: Fit, known: Blocks, t: pl.DataFrame, z: pl.DataFrame, own: Bools, threads: int
    ) -> pl.DataFrame:
        """The results of a bucket, with the rows of its targets and the pairs in all of it."""
        row = t[ROW].to_numpy()
        people = records_of(t, self.setting.targets)
        table, pairs = met(self.setting, fitted, known, people, row, np.where(own[row], 0, -1), z, self.local, threads)
        return table.with_columns(pl.Series(ROW, row), *(pl.lit(n).alias(v) for n, v in zip(pairs, PAIRS, strict=True)))


def described(intruder: Intruder, release: ScannedRelease, cut: object) -> str:
    """What is asked, so that the same work is known again: the release, the intruder, and how it is cut."""
    private = release.private.resolve()
    files = (*release.original.files, *release.released.files, *release.link_files)
    stamps = stamps_of(files) or ()
    held = sizes_and_times(files)
    people = intruder.membership.population if isinstance(intruder.membership, Unsure) else None
    told = 0 if people is None else int(to_polars(people, "population").hash_rows().sum())
    return repr((__version__, str(private), held, stamps, repr(intruder), told, cut))


def _collected(units: Spilled, out: Path | None) -> pl.DataFrame:
    """Results in the order of the original file, written if somebody asks for that, and in narrow columns."""
    found, first = [], 0
    with nullcontext() if out is None else whole_folder(out, private=True) as folder:
        for r in range(units.buckets):
            rows = units.bucket(r).sort(ROW).drop(ROW)
            if folder is not None:
                every = pl.int_range(first, first + rows.height, dtype=pl.Int64, eager=True).alias("target")
                _wide(rows).insert_column(0, every).write_parquet(folder / f"part-{r:05}.parquet")
            first += rows.height
            found.append(rows.with_columns(pl.lit(1, dtype=pl.Int8).alias(ALIKE)))
    return pl.concat(found)


WHOLE = ("candidates", "n_max", "as_likely", "rank")


def narrow_units(rows: pl.DataFrame) -> pl.DataFrame:
    """Results in as few bytes as they take."""
    return rows.with_columns(pl.col(_whole(rows)).cast(pl.Int32), pl.col("status").cast(pl.Enum(STATUS)))


def _wide(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.with_columns(pl.col(_whole(rows)).cast(pl.Int64), pl.col("status").cast(pl.String))


def _whole(rows: pl.DataFrame) -> list[str]:
    """Columns of whole numbers: numbers of units as well, where there are any."""
    return [*WHOLE, *(["unit"] if "unit" in rows.columns else [])]


def told(setting: Setting, intruder: Intruder, people: Records | None = None) -> Prepared:
    """What a printout of treatments asks for; `people`: who are stated."""
    nobody = np.zeros(0, dtype=np.int64)
    files = Merged(setting.case, Tally(setting.case.original), Tally(setting.case.released))
    who = Targets(setting.people if people is None else people, nobody)
    units = Units(nobody, nobody, np.zeros(0))
    return Prepared(intruder, setting.as_release(), files, (), who, nobody, units, nobody, None, None, None, True)
