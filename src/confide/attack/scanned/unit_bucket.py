"""One bucket of an attack on units: some targets, the released rows of all their blocks, and the other rows of the
units that these belong to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from confide.attack.engine.fit import Fit
from confide.attack.engine.kernel_plan import Units
from confide.attack.engine.other_rows import OtherRows, asked_again, other_rows
from confide.attack.engine.run import SUMMARIES
from confide.attack.engine.scene import Scene, TargetSide
from confide.attack.engine.unit_sums import carry_out_units
from confide.attack.results.units import make_units
from confide.attack.scanned.bucket import NONE, PIECE, Blocks, among
from confide.frames.columns import F64, I64, Bools, Records

PER_OWN, PER_COMPANION = 700, 200
"""Bytes that a target or a record takes while it is attacked, and a row of its unit; what homes take is apart."""


@dataclass(frozen=True, eq=False)
class UnitBucket:
    """`records`: with the `unit` of each, and whether it can be a candidate here (`mine`); others are companions.
    `held`: how many numbers may be kept of what units' other rows say; `log_m`: of records, where it is known."""

    fit: Fit
    known: Blocks
    records: Records
    unit: I64
    mine: Bools
    held: int
    threads: int = 1
    log_m: F64 | None = None

    def attack(self, targets: Records, own: I64) -> tuple[pl.DataFrame, tuple[float, float]]:
        """A row of results for each target, and the pairs in its blocks with those visited. `own`: each one's unit, -1
        where no row of it is released, -2 where that is unknown."""
        found, pairs = [], np.zeros(2)
        log_m, says = self.log_m, None
        for first in range(0, targets.n, PIECE):
            some = np.arange(first, min(first + PIECE, targets.n))
            part = targets.take(some)
            scene, n_t, people = self._scene(Records(part.values(), n=part.n), log_m)
            columns = {**{k: np.full(part.n, v) for k, v in NONE.items()}, "n_t": n_t, "people": people}
            if scene is not None:
                says = other_rows(scene, self.unit, self._room()) if says is None else asked_again(says, scene)
                log_m = self._log_m(scene) if log_m is None else log_m
                columns, more = self._columns(scene, says, own[some], n_t, people)
                pairs += more
            table, *_ = make_units(columns, own[some], self.fit.case.intruder.membership == "certain")
            found.append(table.drop("target").with_columns(pl.Series("unit", own[some], dtype=pl.Int64)))
        return pl.concat(found), (float(pairs[0]), float(pairs[1]))

    def _room(self) -> int:
        return self.held // max(len(self.fit.homes), 1)

    def _scene(self, targets: Records, log_m: F64 | None) -> tuple[Scene | None, F64, F64]:
        """Targets met with the records, None without any; and of each one's block the records that may be its own, and
        the people."""
        case = replace(self.fit.case, released=self.records, count=None)
        knowledge = self.fit.knowledge(case, targets)
        side = TargetSide.of(knowledge, self.fit, targets)
        rows, nobody = np.flatnonzero(knowledge.eligible & self.mine), np.zeros(targets.n)
        if not len(rows):
            return None, nobody, nobody
        scene = Scene.place(case, knowledge, self.fit, side, rows, log_m)
        size = np.bincount(scene.block_r, weights=scene.count, minlength=scene.n_blocks).astype(float)
        people = among(self.known.people, self.known.places(side.labels, targets.n))
        return scene, among(size, scene.block_t), np.where(scene.block_t >= 0, people, 0.0)

    def _log_m(self, scene: Scene) -> F64:
        found = np.zeros(self.records.n)
        found[scene.rows] = scene.log_m
        return found

    def _columns(
        self, scene: Scene, says: Sequence[OtherRows], own: I64, n_t: F64, people: F64
    ) -> tuple[dict[str, F64], tuple[float, float]]:
        units = Units(np.arange(len(own)), np.maximum(own, -1), np.ones(len(own)))
        outcome, candidates = carry_out_units(scene, units, self.unit, says, self.threads, lambda _: None)
        columns: dict[str, F64] = {name: getattr(outcome, name) for name in SUMMARIES}
        many = candidates.astype(np.float64)
        return {**columns, "n_t": many, "people": people + many - n_t}, outcome.pairs


def attack_by_interval(
    bucket: Callable[[int], UnitBucket], which: I64, targets: Records, own: I64
) -> tuple[pl.DataFrame, tuple[float, float]]:  # fmt: skip
    """As `UnitBucket.attack`, of targets of whom `which` of some intervals is known. `bucket`: with the fit of one."""
    tables, pairs, order = list[pl.DataFrame](), np.zeros(2), np.argsort(which, kind="stable")
    for at in np.split(order, np.flatnonzero(np.diff(which[order])) + 1):
        people = targets.take(at)
        table, more = bucket(int(which[at[0]])).attack(Records(people.values(), n=people.n), own[at])
        tables.append(table)
        pairs += more
    return pl.concat(tables)[np.argsort(order)], (float(pairs[0]), float(pairs[1]))


def buckets_for_units(
    targets: int, sizes: I64, homes: int, room: float, most: int
) -> int:  # fmt: skip
    """As many buckets as leave each within so many bytes. `sizes`: released rows of units that have any; `homes`:
    numbers kept of each row. The more buckets there are, the more of them the rows of a unit touch."""
    own = float((targets + sizes.sum()) * PER_OWN + sizes.sum() * 8 * homes)
    many = max(1, int(np.ceil(own / room)))
    for _ in range(3 if homes else 0):
        companions = float((sizes * np.minimum(sizes, many)).sum()) * PER_COMPANION
        many = max(1, int(np.ceil((own + companions) / room)))
    return min(many, most)
