"""What all buckets share, kept on scratch: the same attack does not count it again after its process was killed."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from confide.attack.scanned.coded import Places
from confide.attack.scanned.file_units import FileUnits
from confide.attack.scanned.setting import Files
from confide.core.scale.remembered import Remembered, named
from confide.frames.columns import I64, Records
from confide.frames.scan.codebook import Codebook
from confide.frames.tally import Tally

if TYPE_CHECKING:
    from confide.protect.scanned.release import ScannedRelease


@dataclass(frozen=True, eq=False)
class KeptFiles:
    """Both files of a release, read as `files` reads them, unless what is asked for was kept. See `Files`."""

    files: Files
    kept: Remembered

    @property
    def release(self) -> ScannedRelease:
        """See `Files`."""
        return self.files.release

    def codebooks(self, names: list[str], numeric: Sequence[str] = ()) -> tuple[Codebook, Codebook]:
        """See `Files`."""
        return self.kept.of(named("codebooks", names, numeric), lambda: self.files.codebooks(names, numeric))

    def people(self, before: Codebook, names: list[str], most: int, places: Places | None = None) -> Tally:
        """See `Files`."""
        return self._placed("people", names, places, lambda: self.files.people(before, names, most, places))

    def records(self, after: Codebook, names: list[str], most: int, places: Places | None = None) -> Tally:
        """See `Files`."""
        return self._placed("records", names, places, lambda: self.files.records(after, names, most, places))

    def units(self, name: str) -> FileUnits:
        """See `Files`."""
        return self.kept.of(named("units", name), lambda: self.files.units(name))

    def _placed(self, what: str, names: list[str], places: Places | None, count: Callable[[], Tally]) -> Tally:
        """Distinct rows, and, where that is asked, the place of every row among these."""
        found, at = self.kept.of(named(what, names, places is None), lambda: (count(), places))
        if places is not None and at is not None and at is not places:
            places[:] = at
        return found

    def tables(self, after: Codebook, keys: list[tuple[str, ...]]) -> dict[tuple[str, ...], Tally]:
        """See `Files`."""
        return self.kept.of(named("tables", keys), lambda: self.files.tables(after, keys))

    def sampled(self, after: Codebook, names: Sequence[str], rows: I64) -> Records:
        """See `Files`. Which rows follows from how many there are, and from what draws them."""
        digest = hashlib.sha256(rows.tobytes()).hexdigest()
        return self.kept.of(named("sampled", names, digest), lambda: self.files.sampled(after, names, rows))
