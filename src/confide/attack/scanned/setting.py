"""What all buckets share: codebooks, distinct original rows, and what is counted in the whole release."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from confide.attack.engine.behind import people_in_parts
from confide.attack.evidence.case import Case, needs_whole, several_numbers
from confide.attack.evidence.gather import gather
from confide.attack.intruder import Intruder
from confide.attack.scanned.coded import frame_of, tally_of
from confide.attack.targets import Targets
from confide.core.errors import InputError
from confide.core.scale.rows_alike import RowsAlike
from confide.frames.columns import I64, Bools, Records, decode
from confide.frames.distinct import Distinct
from confide.frames.encoded import Encoded
from confide.frames.scan.codebook import Codebook
from confide.frames.tally import Tally
from confide.protect.release import Release

if TYPE_CHECKING:
    from confide.protect.scanned.release import ScannedRelease

INSTEAD = "Allow more memory, so that the distinct rows fit into it, or leave that out."
BYTES = 300
"""What a distinct original row takes while beliefs are fitted."""


@dataclass(frozen=True, eq=False)
class Setting:
    """`case`: its original rows are the distinct ones, counted; its released rows are a few, and what must be counted
    in the whole release is. `patterns`: of knowledge, with rows of `people`, who show all of them."""

    release: ScannedRelease
    after: Codebook
    before: Codebook
    case: Case
    people: Records
    patterns: tuple[tuple[I64, tuple[str, ...]], ...]
    rows: int

    @classmethod
    def of(cls, intruder: Intruder, release: ScannedRelease, names: list[str], rows: int, memory: int) -> Setting:
        """One pass over the original, and one over the release for what evidence counts in it."""
        _check(intruder)
        before, after = release.encoded(names, rows=rows)
        alike = RowsAlike(names, most=memory // (BYTES + 40 * len(names)))
        for batch in release.originals(before, rows):
            alike.add(frame_of(batch, names))
        file = tally_of(alike, before.columns)
        few = next(iter(release.records(after, rows)))
        case = Case(intruder, release.compiled, file.records, few, {}, original_count=file.count)
        why = needs_whole(case)
        if several_numbers(case) or people_in_parts(case) is not None:
            why = why or "beliefs are fitted row by row"
        if why:
            raise InputError(f"Too few rows are alike, and {why}. {INSTEAD}")
        known = file.records.select(intruder.knows)
        gaps = Distinct.rows([c.missing for c in known.values()], known.n)
        people = Records(known.take(gaps.first).values(), n=len(gaps))
        who = Targets(people, np.zeros(people.n, dtype=np.int64))
        patterns = tuple((r, knows) for r, knows, _ in who.patterns(tuple(intruder.knows), case.told_missing))
        made = cls(release, after, before, case, people, patterns, rows)
        return replace(made, case=replace(case, tables=made._tables()))

    def _tables(self) -> dict[tuple[str, ...], Tally]:
        """Joint counts in the whole release of all variables for which evidence asks."""
        tried: dict[tuple[str, ...], Tally] = {}
        for _, knows in self.patterns:
            gather(replace(self.case, tables=tried), knows, {})
        counts = {key: RowsAlike(key) for key in tried}
        for batch in self.release.records(self.after, self.rows) if counts else ():
            for key, alike in counts.items():
                alike.add(frame_of(batch, key))
        return {key: tally_of(alike, self.after.columns) for key, alike in counts.items()}

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

    def as_release(self) -> Release:
        """What printouts ask of a release."""
        numbers = [decode(c) for c in self.case.original.values() if c.kind == "numeric"]
        original = pl.DataFrame(numbers)
        released = pl.DataFrame(schema=dict.fromkeys(self.release.public_variables, pl.Null))
        before = Encoded(original, self.release.original.schema, count=self.case.original_count)
        return Release(
            self.release.plan, released, released, original, None, None, self.release.compiled, None, before
        )  # fmt: skip


def _check(intruder: Intruder) -> None:
    """What needs more of the release than its counts."""
    problem = ""
    if "average" in intruder.levels:
        problem = 'level "average" fits its guesses to the whole release'
    elif intruder.beliefs == "released":
        problem = 'beliefs="released" are fitted to the whole release'
    if problem:
        raise InputError(f"Too few rows are alike, and {problem}. {INSTEAD}")
