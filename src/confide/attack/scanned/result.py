"""The result of an attack on a release larger than memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from confide.attack.intruder import Intruder
from confide.attack.population.people import PeopleModel
from confide.attack.results.treatment import Treatment
from confide.attack.results.units import ALIKE
from confide.core.errors import InputError
from confide.core.result import Result
from confide.core.upward import upward

if TYPE_CHECKING:
    from confide.attack.scanned.buckets import Bucketed
    from confide.attack.scanned.distinct_files import DistinctFiles, StatedTargets
    from confide.attack.scanned.whole import Whole
    from confide.frames.scan.scan import Scan
    from confide.measure.risk.calibration import Calibration
    from confide.measure.risk.identification import Summary
    from confide.protect.scanned.release import ScannedRelease


@dataclass(frozen=True, eq=False, repr=False)
class ScannedAttack(Result):
    """The posterior of every target of a release larger than memory.

    `merged`: one row for all targets who have the same known values and the same released record, with how many they
    are (`alike`) and the columns of `Attack.units`; `folder`: where one row per target was written, if anywhere.
    `units` reads it. `people`, `short`, `treatments`, `pairs`, `seconds`: as of an `Attack`. All of it is private.

    >>> import tempfile
    >>> import confide as cf
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = cf.write(cf.demo("heads").head(2_000), f"{folder.name}/heads.parquet")
    >>> plan = cf.Plan([cf.Recode("age", width=5), cf.Swap("race", rate=0.3)], identifiers=["id"])
    >>> release = plan.protect(cf.scan(path), seed=1, out=f"{folder.name}/out", private=f"{folder.name}/private")
    >>> attack = cf.Intruder(knows=["sex", "race", "age"]).attack(release, out=f"{folder.name}/units")
    >>> attack.summary().targets, attack.units.height, attack.posterior(17).columns
    (2000, 2000, ['row', 'p'])
    >>> folder.cleanup()
    """

    intruder: Intruder
    release: ScannedRelease
    table: pl.DataFrame | None = field(repr=False)
    treatments: Sequence[Treatment]
    seconds: float
    pairs: tuple[float, float]
    files: DistinctFiles | Bucketed | Whole = field(repr=False)
    stated: StatedTargets | None = field(default=None, repr=False)
    folder: Path | None = None
    people: Sequence[PeopleModel] = ()
    short: int = 0

    @property
    def merged(self) -> pl.DataFrame:
        """One row for all targets that are alike, private; where it is not held here, read from the folder of `units`:
        then about 50 bytes a target."""
        if self.table is not None:
            return self.table
        from confide.attack.scanned.buckets import narrow_units

        alike = pl.lit(1, dtype=pl.Int8).alias(ALIKE)
        parts = (narrow_units(batch.drop("target")).with_columns(alike) for _, batch in self.units.batches())
        return pl.concat(list(parts))

    @property
    def frame(self) -> pl.DataFrame:
        """The same as `merged`, private."""
        return self.merged

    @property
    def units(self) -> Scan:
        """One row per target, in the order of the original file, as a scan; private."""
        if self.folder is None:
            raise InputError("One row per target is written where a folder is named: attack(release, out=...).")
        from confide.frames.scan.scan import scan

        return scan(self.folder)

    def summary(self, threshold: float = 0.2) -> Summary:
        """The file's risk, as that of `Attack`."""
        found: Summary = upward("summarise")(self._short([threshold]), threshold)
        return found

    def calibration(self, bins: int = 10) -> Calibration:
        """Claimed against true, as that of `Attack`."""
        if self.table is None:
            return upward("calibrate_batches")(self._batches, bins)  # type: ignore[no-any-return]
        found: Calibration = upward("calibrate")(self.table, bins)
        return found

    def declare(self, threshold: float | Sequence[float] = (0.1, 0.2, 0.5, 0.9)) -> pl.DataFrame:
        """What comes of declaring a match wherever the largest probability exceeds a threshold."""
        limits = [threshold] if isinstance(threshold, (int, float)) else list(threshold)
        found: pl.DataFrame = upward("declare_table")(self._short(limits), threshold)
        return found

    def _batches(self) -> Iterator[pl.DataFrame]:
        """One row per target, in parts."""
        names = ["p_true", "p_max", "n_max", "hit", "p_absent", "status"]
        names += [v for v in ("unit",) if v in self.units.columns]
        return (batch for _, batch in self.units.batches(names))

    def _short(self, limits: Sequence[float]) -> pl.DataFrame:
        """What answers questions about these limits of p_max; where one row per target is not held, fewer rows."""
        if self.table is not None:
            return self.table
        numbers = [x for x in limits if isinstance(x, (int, float))]  # others are refused where they are read
        found: pl.DataFrame = upward("reduced")(self._batches(), numbers)
        return found

    def posterior(self, target: int) -> pl.DataFrame:
        """All candidates of one target: `row` of the released file and probability `p`, the likeliest first.

        It reads the target's row of the original and the whole release.
        """
        from confide.attack.scanned.again import posterior

        return posterior(self, target)

    def __repr__(self) -> str:
        return str(upward("scanned_attack_text")(self))
