"""What all buckets share: codebooks, distinct original rows, and what is counted in the whole release."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

import numpy as np
import polars as pl

from confide.attack.engine.behind import PART, part_of_rows, parts_are_asked, with_parts
from confide.attack.evidence.case import Case, believed_steps, needs_whole, several_numbers, spread_of
from confide.attack.evidence.gather import gather
from confide.attack.evidence.grouping import unit_of
from confide.attack.intruder import Intruder
from confide.attack.scanned.coded import Places, frame_of, tally_of
from confide.attack.scanned.file_units import FileUnits, places_for, unit_rows
from confide.attack.scanned.needs import NeedsWhole
from confide.attack.targets import Targets
from confide.core.errors import InputError
from confide.core.scale.rows_alike import RowsAlike, TooMany
from confide.frames.columns import I64, Bools, Column, Records, decode
from confide.frames.distinct import Distinct
from confide.frames.encoded import Encoded
from confide.frames.scan.codebook import Codebook
from confide.frames.tally import Tally
from confide.protect.release import Release
from confide.protect.seam.learning import drawn

if TYPE_CHECKING:
    from confide.protect.scanned.release import ScannedRelease

INSTEAD = "Allow more memory, so that the distinct rows fit into it, or leave that out."
Known = tuple[tuple[str, ...], tuple[str, ...]]
"""Variables that are known of somebody, and those that are known as intervals."""
BYTES = 300
"""What a distinct original row takes while beliefs are fitted."""


class Files(Protocol):
    """Both files of a release, read somewhere."""

    @property
    def release(self) -> ScannedRelease: ...

    def codebooks(self, names: list[str], numeric: Sequence[str] = ()) -> tuple[Codebook, Codebook]:
        """Of the original and of the release; `numeric`: what must be numbers, where the plan says nothing else."""

    def people(self, before: Codebook, names: list[str], most: int, places: Places | None = None) -> Tally:
        """Distinct original rows in codes, with counts; there is room for so many. `places`: for the place of each row
        among these."""

    def records(self, after: Codebook, names: list[str], most: int, places: Places | None = None) -> Tally:
        """Distinct released rows, likewise."""

    def units(self, name: str) -> FileUnits:
        """Which unit each row belongs to."""

    def tables(self, after: Codebook, keys: list[tuple[str, ...]]) -> dict[tuple[str, ...], Tally]:
        """Joint counts of variables of the release, in codes."""

    def sampled(self, after: Codebook, names: Sequence[str], rows: I64) -> Records:
        """The released rows with these numbers, which rise, in codes."""


@dataclass(frozen=True, eq=False)
class LocalFiles:
    """Read here, so many rows at a time."""

    release: ScannedRelease
    rows: int

    def codebooks(self, names: list[str], numeric: Sequence[str] = ()) -> tuple[Codebook, Codebook]:
        """See `Files`."""
        return self.release.encoded(names, numeric, rows=self.rows)

    def people(self, before: Codebook, names: list[str], most: int, places: Places | None = None) -> Tally:
        """See `Files`."""
        return _counted(self.release.originals(before, self.rows), before, names, most, places)

    def records(self, after: Codebook, names: list[str], most: int, places: Places | None = None) -> Tally:
        """See `Files`."""
        return _counted(self.release.records(after, self.rows), after, names, most, places)

    def units(self, name: str) -> FileUnits:
        """See `Files`."""
        return FileUnits.of(self.release, name, self.release.original.batches([name], self.rows))

    def tables(self, after: Codebook, keys: list[tuple[str, ...]]) -> dict[tuple[str, ...], Tally]:
        """See `Files`."""
        counts = {key: RowsAlike(key) for key in keys}
        for batch in self.release.records(after, self.rows) if counts else ():
            for key, alike in counts.items():
                alike.add(frame_of(batch, key))
        return {key: tally_of(alike, after.columns) for key, alike in counts.items()}

    def sampled(self, after: Codebook, names: Sequence[str], rows: I64) -> Records:
        """See `Files`."""
        found = []
        for first, batch in self.release.released.batches(list(names), self.rows):
            low, high = np.searchsorted(rows, [first, first + batch.height])
            found.append(batch[rows[low:high] - first])
        return after.encode(pl.concat(found), 0, names)


@dataclass(frozen=True, eq=False)
class Gathered:
    """Records of the release that somebody learns from, gathered in one pass over it; `held`: those that were."""

    files: Files
    after: Codebook
    held: dict[tuple[tuple[str, ...], int, str], Records] = field(default_factory=dict)

    def __call__(self, names: Sequence[str], many: int, stream: str) -> Records:
        """See `View.sampled`."""
        key = (tuple(names), many, stream)
        if key not in self.held:
            found = self.files.sampled(self.after, names, drawn(self.files.release.released.height, many, stream))
            self.held[key] = Records(found.values(), n=found.n)
        return self.held[key]


def _counted(
    batches: Iterator[Records], book: Codebook, names: list[str], most: int, places: Places | None
) -> Tally:  # fmt: skip
    alike, at = RowsAlike(names, most=most), 0
    for batch in batches:
        found = alike.add(frame_of(batch, names))
        if places is not None:
            places[at : at + batch.n] = found
        at += batch.n
    return tally_of(alike, book.columns, places)


@dataclass(frozen=True, eq=False)
class Setting:
    """`case`: its original rows are the distinct ones, counted; its released rows are a few, and what must be counted
    in the whole release is. `patterns`: of knowledge, with rows of `people`, who show all of them. `seen`: the
    different released rows, where beliefs are fitted to these; `units`: who belongs together, where units are asked
    about."""

    release: ScannedRelease
    after: Codebook
    before: Codebook
    case: Case
    people: Records
    patterns: tuple[tuple[I64, tuple[str, ...]], ...]
    rows: int
    seen: Tally | None = None
    units: FileUnits | None = None

    @classmethod
    def of(cls, intruder: Intruder, files: Files, names: list[str], rows: int, memory: int) -> Setting:
        """One pass over the original, and one over the release for what evidence counts in it."""
        release, most = files.release, memory // (BYTES + 40 * len(names))
        before, after = files.codebooks(names, tuple(intruder.between))
        name, released = unit_of(intruder, release), intruder.beliefs == "released"  # type: ignore[arg-type]
        units = None if name is None else files.units(name)
        places = places_for(units, release.released.height if released else release.original.height)
        file = files.people(before, names, most, None if released else places)
        few = next(iter(release.records(after, rows)))
        file = _rows_by_row(Case(intruder, release.compiled, file.records, few, {}), file, most, places)
        seen = _seen(intruder, files, after, names, most, places)
        believed = believed_steps(intruder, release.compiled, file.records, _altered(intruder, release, after, rows))
        case = Case(
            intruder, release.compiled, file.records, few, believed, original_count=file.count,
            sampler=Gathered(files, after), room=memory,
        )  # fmt: skip
        why = needs_whole(case)
        if why:
            raise NeedsWhole(why)
        case = replace(case, grouped=units is not None, unit=unit_rows(release, units, places, released))
        known = file.records.select(intruder.knows)
        gaps = Distinct.rows([c.missing for c in known.values()], known.n)
        people = Records(known.take(gaps.first).values(), n=len(gaps))
        who = Targets(people, np.zeros(people.n, dtype=np.int64))
        patterns = tuple((r, knows) for r, knows, _ in who.patterns(tuple(intruder.knows), case.told_missing))
        made = cls(release, after, before, case, people, patterns, rows, seen, units)
        return made.asking(files, [(knows, ()) for _, knows in patterns])

    def asking(self, files: Files, known: Iterable[Known]) -> Setting:
        """The same with all that evidence counts in the whole release, where these variables are known. Tables that
        were asked for once, to make something of them, are not kept: they may be as long as the file."""
        patterns = list(dict.fromkeys(known))
        tried = replace(self.case, tables={}, remembered=dict(self.case.remembered))
        asked = _ask(tried, patterns)
        tables = {**self.case.tables, **files.tables(self.after, [k for k in asked if k not in self.case.tables])}
        full = replace(self.case, tables=tables, remembered=dict(self.case.remembered))
        if len(tried.remembered) > len(full.remembered):
            _ask(full, patterns)
            lasting = {*_ask(replace(full, tables={}), patterns), *self.case.tables}
            full = replace(full, tables={key: tables[key] for key in lasting})
        return replace(self, case=full)

    def released(self) -> Iterator[tuple[Case, I64, pl.DataFrame]]:
        """The release in batches: the setting with these rows, their original rows, and the rows to be put aside."""
        links = self.release.links(self.rows)
        for batch, link in zip(self.release.records(self.after, self.rows), links, strict=True):
            plain = Records(batch.values(), n=batch.n)
            yield replace(self.case, released=plain), link, frame_of(plain).with_columns(pl.Series("__row", link))

    def pattern_of(self, batch: Records, first: I64) -> Bools:
        """Which rows have the same known variables missing as a row of `people`."""
        told, knows = self.case.told_missing, self.case.intruder.knows
        same = np.ones(batch.n, dtype=bool)
        for v in knows:
            if v not in told:
                same &= batch[v].missing == bool(self.people[v].missing[first[0]])
        return same

    def known(self, batch: Records) -> Records:
        """What is known of people, of whom all that is in play is given; with their part, where that matters."""
        found = Records(batch.select(self.case.intruder.knows).values(), n=batch.n)
        return with_parts(found, part_of_rows(batch)) if parts_are_asked(self.case) else found

    @property
    def targets(self) -> dict[str, Column]:
        """What codes of targets refer to."""
        return {**self.before.columns, PART: with_parts(self.people, np.zeros(self.people.n, dtype=np.int64))[PART]}

    def as_release(self) -> Release:
        """What printouts ask of a release."""
        numbers = [decode(c) for c in self.case.original.values() if c.kind == "numeric"]
        original = pl.DataFrame(numbers)
        released = pl.DataFrame(schema=dict.fromkeys(self.release.public_variables, pl.Null))
        before = Encoded(original, self.release.original.schema, count=self.case.original_count)
        return Release(
            self.release.plan, released, released, original, None, None, self.release.compiled, None, before
        )  # fmt: skip


def _ask(case: Case, patterns: Sequence[Known]) -> list[tuple[str, ...]]:
    """Ask for all evidence; variables whose joint counts in the whole release it asked for, now among the tables.
    Records are placed without intervals and with all of them, targets are met with those that are known."""
    every = tuple(case.intruder.between)
    for knows, between in dict.fromkeys((knows, some) for knows, mine in patterns for some in ((), mine, every)):
        found = gather(case, knows, dict.fromkeys(between, (-np.inf, np.inf)))
        judged = [v for u in found.uncertain if u.given_record for v in u.variables]
        for v in dict.fromkeys([*(v for v in knows if v in case.intruder.errors), *judged]):
            case.view().counted((v,))  # what mistakes are compared with
        for v in found.nearest:
            spread_of(case, v)
        for v in found.helpers:
            case.codebook(v)  # of a number that helps, all released values: its codes are places among them
    return list(case.tables)


def _rows_by_row(case: Case, file: Tally, most: int, places: Places | None) -> Tally:
    """The file that beliefs are fitted to: each row by itself where several altered numbers are known, of whose
    combinations hardly two are alike. Places are then the first of those that are alike."""
    if not several_numbers(case):
        return file
    many = file.counts.astype(np.int64)
    if int(many.sum()) > most:
        raise NeedsWhole("several altered numbers are known, of which beliefs are fitted row by row")
    records = file.records.take(np.repeat(np.arange(len(many)), many))
    if places is not None and case.intruder.beliefs != "released":
        places[:] = (np.cumsum(many) - many)[places]
    return Tally(Records(records.values(), n=records.n))


def _altered(intruder: Intruder, release: ScannedRelease, after: Codebook, rows: int) -> Records:
    """All released values of altered variables, where somebody's guesses are fitted to them: 8 bytes each."""
    steps = [s for s in release.compiled.steps if s.role == "random"] if "average" in intruder.levels else []
    names = dict.fromkeys(v for s in steps for v in (*s.variables, *s.needs) if v in after.columns)
    parts = [batch.select(names) for batch in release.records(after, rows)] if names else []
    columns = [after.columns[v].with_values(np.concatenate([p[v].values for p in parts])) for v in names]
    return Records(columns, n=sum(p.n for p in parts))


def _seen(
    intruder: Intruder, files: Files, after: Codebook, names: list[str], most: int, places: Places | None
) -> Tally | None:  # fmt: skip
    """The different released rows, where beliefs are fitted to them; as many as there is room for."""
    if intruder.beliefs != "released":
        return None
    try:
        return files.records(after, names, most, places)
    except TooMany:
        raise InputError(
            f'Too few released rows are alike for beliefs="released", which are fitted to them. {INSTEAD}'
        ) from None
