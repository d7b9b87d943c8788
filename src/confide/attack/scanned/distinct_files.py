"""A release larger than memory, known by its distinct rows: what of an attack comes before beliefs.

What a target gets depends on its own known values and on the released values of its own record. So the distinct rows
of both files with their counts, and the distinct pairs of both, are all that an attack needs; whoever counted them.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from confide.attack.engine.behind import people_in_parts
from confide.attack.engine.kernel_plan import Units
from confide.attack.engine.membership import weights_of_released
from confide.attack.engine.prepare import Prepared, population_of
from confide.attack.evidence.case import Case, Merged, in_play, make_case, needs_whole, several_numbers
from confide.attack.evidence.grouping import unit_of
from confide.attack.evidence.unreleased import as_shown
from confide.attack.intruder import Intruder, Unsure
from confide.attack.scanned.needs import NeedsWhole
from confide.attack.targets import Targets, part_of, stated_targets
from confide.core.errors import InputError
from confide.core.scale.engine import COUNT, Asked, Counted, Counting
from confide.core.scale.local import bytes_of_row
from confide.frames.columns import F64, I64, Records
from confide.frames.distinct import Distinct
from confide.frames.encoded import Encoded
from confide.frames.tally import Tally
from confide.protect.compiled import Compiled
from confide.protect.release import Release
from confide.protect.seam.learning import drawn

if TYPE_CHECKING:
    from confide.protect.scanned.release import ScannedRelease


@dataclass(frozen=True, eq=False)
class StatedTargets:
    """Targets that somebody states: `truth`: each one's original row (-1: not there, -2: unknown); `original`,
    `released`: its place among what was counted, negative likewise."""

    frame: pl.DataFrame
    truth: I64
    original: I64
    released: I64

    @classmethod
    def of(cls, frame: pl.DataFrame, truth: I64, counting: Counting) -> StatedTargets:
        """With the places of the rows that are theirs."""
        pair = counting.pairs_of(np.maximum(truth, 0))
        inside, counted = truth >= 0, counting.counted
        original, released = (
            np.where(inside, at[pair], truth) for at in (counted.pair_original, counted.pair_released)
        )
        return cls(frame, truth, original, released)

    def met(self, intruder: Intruder, files: Merged, part: I64 | None, place: I64) -> tuple[Targets, I64]:
        """What is known of each, and its record."""
        known, low, high = stated_targets(intruder, files.original.records, self.frame)
        at = np.where(self.original >= 0, place[np.maximum(self.original, 0)], self.original)
        mine = None if part is None else part_of(at, part)
        return Targets(known, self.truth, low, high, part=mine), self.released


@dataclass(frozen=True, eq=False)
class Places:
    """Where those released rows are among the distinct ones that a step would learn from; `held`: found before, since
    whose row is whose is known no longer than the counting lasts (None: it is over)."""

    whole: ScannedRelease
    counting: Counting | None
    held: dict[tuple[int, str], I64] = field(default_factory=dict)

    def __call__(self, many: int, stream: str) -> I64:
        """Of so many, by a step's key."""
        if (many, stream) not in self.held:
            assert self.counting is not None
            rows, found, first = drawn(self.whole.released.height, many, stream), list[I64](), 0
            for link in self.whole.links():
                low, high = np.searchsorted(rows, [first, first + len(link)])
                found.append(link[rows[low:high] - first])
                first += len(link)
            pair = self.counting.pairs_of(np.concatenate(found))
            self.held[many, stream] = self.counting.counted.pair_released[pair]
        return self.held[many, stream]


@dataclass(frozen=True, eq=False)
class DistinctFiles:
    """`release`: of distinct rows; `counted`: how many there are of each, and of pairs. `intruder`: with what the
    release can be compared with. `room`: bytes of memory. `places`: where rows are that somebody learns from."""

    intruder: Intruder
    release: Release
    counted: Counted
    room: int = 2**40
    places: Places | None = None

    @classmethod
    def of(cls, intruder: Intruder, whole: ScannedRelease, counting: Counting, room: int) -> DistinctFiles:
        """From what an engine counted."""
        counted = counting.counted
        names = [v for v in counted.released.columns if not v.startswith(COUNT)]
        original = counted.original.select(v for v in counted.original.columns if not v.startswith(COUNT))
        released = counted.released.select(names)
        before = Encoded(original, whole.original.schema, count=counted.original[COUNT].to_numpy())
        after = Encoded(released, count=counted.released[COUNT].to_numpy())
        release = Release(
            whole.plan, released, released, original, None, None, whole.compiled, None, before, after,
        )  # fmt: skip
        return cls(intruder, release, counted, room, Places(whole, counting))

    def closed(self) -> DistinctFiles:
        """The same after the counting."""
        return self if self.places is None else replace(self, places=replace(self.places, counting=None))

    def prepare(self, stated: StatedTargets | None = None) -> Prepared:
        """The attack up to its loops. Targets are those stated; else pairs, each as many people as it counts."""
        counted, released_count = self.counted, self.counted.released[COUNT].to_numpy()
        case = make_case(self.intruder, self.release, count=released_count, places=self.places)
        files = _merged(case, counted.original[COUNT].to_numpy(), released_count, self.room)
        part, place = people_in_parts(files.case), files.original.of
        assert place is not None
        who, own_row = self._everybody(files, part) if stated is None else stated.met(self.intruder, files, part, place)
        own, of = files.released.place(own_row), None
        units = Units(np.arange(len(own)), np.maximum(own, -1), np.ones(len(own)))
        if who.of is not None:
            pairs = Distinct.rows([who.of, own], len(own), counted.pair_count)
            own, of, first = own[pairs.first], pairs.of, who.of[pairs.first]
            units = Units(first, np.maximum(own, -1), pairs.count)
        everybody_released = bool((own_row >= 0).all())
        return Prepared(
            self.intruder, self.release, files, (), who, own_row, units, own, of,
            population_of(self.intruder, files.case), self._weights(files.released), everybody_released,
        )  # fmt: skip

    def _everybody(self, files: Merged, part: I64 | None) -> tuple[Targets, I64]:
        """The people of the original file, those of whom the same is known once."""
        if self.intruder.between:
            raise InputError("between names columns of targets=...; give the targets.")
        known, counted = files.original.records.select(self.intruder.knows), self.counted
        alike = Distinct.rows([c.values for c in known.values()] + ([] if part is None else [part]), known.n)
        of = alike.of[files.original.place(counted.pair_original)]
        mine = None if part is None else part[alike.first]
        return Targets(known.take(alike.first), counted.pair_original, of=of, part=mine), counted.pair_released

    def _weights(self, released: Tally) -> F64 | None:
        """People for whom each distinct record stands by survey weights, where the intruder counts by these."""
        who = self.intruder.membership
        if not isinstance(who, Unsure) or who.weights is None:
            return None
        name = f"{COUNT} {who.weights}"
        sums = self.counted.released[name].to_numpy()
        bad = int(self.counted.released[f"{name} bad"].sum())
        if bad:
            raise InputError(f'Unsure: {bad} released weights in "{who.weights}" are zero, negative or missing.')
        all_released = self.counted.released[COUNT].sum() >= self.counted.original[COUNT].sum()
        scale = 1.0 if all_released else float(self.counted.original[name].sum()) / float(sums.sum())
        return weights_of_released(sums * scale, released.of)


def asked_of(intruder: Intruder, release: ScannedRelease, everybody: bool) -> tuple[Intruder, Asked]:
    """The intruder with what the release can be compared with, and what must be counted; `everybody`: also people who
    were not released."""
    shown = as_shown(intruder, release)  # type: ignore[arg-type]
    compiled = release.compiled or Compiled((), {}, ())
    kept = [v for v in release.public_variables if v in release.original.columns]
    names = in_play(shown, compiled, kept, unit=unit_of(shown, release)) or kept[:1]  # type: ignore[arg-type]
    who = shown.membership
    added = [who.weights] if isinstance(who, Unsure) and who.weights is not None else []
    return shown, Asked(names, names, added, added, everybody or who == "in_file")


def check_whole(case: Case) -> None:
    """Stop where evidence must see all rows."""
    if why := needs_whole(case):
        raise NeedsWhole(why)


def _merged(case: Case, original_count: F64, released_count: F64, room: int) -> Merged:
    """The case on rows that differ also as arrays, in the order in which they are in memory."""
    original, released = _tally(case.original, original_count), _tally(case.released, released_count)
    if several_numbers(case):
        original, released = _every_row(original, room), _every_row(released, room)
    fewer = Case(
        case.intruder, case.compiled, original.records, released.records, case.believed, case.blind, released.count,
        original.count, case.tables, case.unit, case.grouped, case.seen, sampler=case.sampler, room=room,
    )  # fmt: skip
    check_whole(fewer)
    return Merged(fewer, original, released)


def _tally(file: Records, count: F64) -> Tally:
    found = Distinct.rows([c.values for c in file.values()], file.n, count)
    return Tally(file.take(found.first), found.count, found.of)


def _every_row(distinct: Tally, room: int) -> Tally:
    """All rows, those that are alike one after the other; refused where there is no room for them."""
    many = distinct.counts.astype(np.int64)
    if int(many.sum()) * bytes_of_row(len(distinct.records)) > room:
        raise InputError(
            "Several altered numbers are known, of which beliefs are fitted row by row, and the rows do not fit into "
            "the memory that is allowed. Allow more, or let the intruder know one of them."
        )
    records = distinct.records.take(np.repeat(np.arange(len(many)), many))
    first = np.cumsum(many) - many
    return Tally(Records(records.values(), n=records.n), None, None if distinct.of is None else first[distinct.of])
