"""All that comes before the loops: files merged, targets gathered, every pattern of knowledge fitted and placed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from confide.attack.beliefs.unit_rows import UnitRows
from confide.attack.engine.behind import people_in_parts, with_parts
from confide.attack.engine.behind_step import with_values_behind
from confide.attack.engine.fit import Fit, fit
from confide.attack.engine.fit_homes import with_homes
from confide.attack.engine.kernel_plan import Units
from confide.attack.engine.link import with_link
from confide.attack.engine.membership import population_records, released_weights
from confide.attack.engine.mistaken_noise import with_mistaken_noise
from confide.attack.engine.register import log_register
from confide.attack.engine.scene import Scene, TargetSide
from confide.attack.evidence.case import Case, Merged, make_case, merged
from confide.attack.evidence.copies import joined
from confide.attack.evidence.gather import Knowledge, gather
from confide.attack.evidence.grouping import Grouping, grouping
from confide.attack.evidence.unreleased import as_shown
from confide.attack.intruder import Intruder, Unsure
from confide.attack.targets import UNKNOWN, Targets, gather_targets, released_row
from confide.core.errors import InputError
from confide.frames import to_polars
from confide.frames.columns import F64, I64, Records
from confide.frames.distinct import Distinct

if TYPE_CHECKING:
    from confide.protect.release import Release


def with_more(case: Case, knowledge: Knowledge, fitted: Fit, targets: Records) -> tuple[Knowledge, Fit]:
    """The same with steps that hang on mistakes, and on what goes with the values that records show; and with what rows
    of one unit have in common."""
    for fitted_more in (with_mistaken_noise, with_link, with_values_behind):
        before = len(fitted.more)
        fitted = fitted_more(case, knowledge, fitted, targets)
        for step in fitted.more[before:]:
            knowledge = step.joined(case, knowledge, fitted, targets)
    return knowledge, with_homes(case, knowledge, fitted)


@dataclass(frozen=True, eq=False)
class Stated:
    """Which released row is looked at for each target, instead of its own, and whether targets are the people behind
    records, as in the attack that is asked about again."""

    rows: I64
    behind: bool


@dataclass(frozen=True, eq=False)
class Prepared:
    """An attack up to its loops. `intruder`: with what the release can be compared with.

    Units are pairs of a distinct target and its own distinct record: `units` has their places, `own` the same with -1
    for a target that was not released and -2 for one of whom that is unknown, `of` each target's unit (None: its own).
    `own_row`: each target's row of the release. `groups`: which rows are of one unit, None where each is by itself;
    else `own` and `units.own` are numbers of such units. `population`, `weights`: what counts people, where asked for.
    `behind`: the targets are the people behind records: all are released, or, where nobody knows, taken to be.
    """

    intruder: Intruder
    release: Release
    files: Merged
    others: tuple[Case, ...]
    who: Targets
    own_row: I64
    units: Units
    own: I64
    of: I64 | None
    population: tuple[Records, F64] | None
    weights: F64 | None
    behind: bool
    groups: Grouping | None = None
    fits: dict[bytes, tuple[Knowledge, Fit, TargetSide]] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"Prepared: {len(self.who.truth):,} targets, {len(self.own):,} units; {self.case!r}"

    @property
    def case(self) -> Case:
        return self.files.case

    @property
    def rows(self) -> float:
        """How many rows the release has."""
        return self.case.released.n if self.case.count is None else float(self.case.count.sum())

    def scenes(self) -> Iterator[tuple[I64, Scene, Units]]:
        """One pattern of knowledge after another: positions of its units, the scene, and the units in it."""
        for rows, knows, between in self.who.patterns(tuple(self.intruder.knows), self.case.told_missing):
            knowledge, fitted, side = self.fitted(rows, knows, between)
            place = np.full(self.who.records.n, -1, dtype=np.int64)
            place[rows] = np.arange(len(rows))
            mine = np.flatnonzero(place[self.units.target] >= 0)
            units = Units(place[self.units.target[mine]], self.units.own[mine], self.units.count[mine])
            yield mine, Scene.place(self.case, knowledge, fitted, side), units

    def scene_of(self, target: int) -> tuple[Scene, int]:
        """The records of one target's block in a scene, and the target's place there."""
        row = target if self.who.of is None else int(self.who.of[target])
        for rows, knows, between in self.who.patterns(tuple(self.intruder.knows), self.case.told_missing):
            if len(at := np.flatnonzero(rows == row)):
                knowledge, fitted, side = self.fitted(rows, knows, between)
                block = np.flatnonzero(knowledge.eligible)
                for c, labels in zip(knowledge.certain, side.labels, strict=True):
                    block = block[c.released[block] == labels[at[0]]]
                return Scene.place(self.case, knowledge, fitted, side, block), int(at[0])
        raise InputError(f"Nothing is known of target {target}.")

    def fitted(
        self, rows: I64, knows: tuple[str, ...], between: dict[str, tuple[float, float]]
    ) -> tuple[Knowledge, Fit, TargetSide]:
        """One pattern of knowledge: evidence, beliefs and the targets' side, made once."""
        key = rows.tobytes()
        if key not in self.fits:
            knowledge = joined([gather(each, knows, between) for each in (self.case, *self.others)])
            targets = self.who.records.only(rows)
            if self.who.part is not None:
                targets = with_parts(targets, self.who.part[rows])
            fitted = fit(self.case, knowledge, targets, knows, between)
            knowledge, fitted = with_more(self.case, knowledge, fitted, targets)
            side = TargetSide.of(knowledge, fitted, targets)
            if self.population is not None:
                told = log_register(self.case, knowledge, targets, *self.population)
                side = replace(side, log_absent=side.log_absent + told)
            self.fits[key] = knowledge, fitted, side
        return self.fits[key]


def prepare(
    intruder: Intruder, release: Release, targets: Any, truth: Any, also: Sequence[Release] = (), merge: bool = True,
    behind: bool | None = None, seen: tuple[str, ...] = (), stated: Stated | None = None,
) -> Prepared:  # fmt: skip
    """Merge what is alike (with `merge=False` nothing is), and pair every target with its own record, or with the one
    that is stated.

    `behind`: whether the targets are the people behind records, where they are a part of those of whom that is asked.
    `seen`: unknown variables that count at whatever level others do.
    """
    intruder = as_shown(intruder, release)
    groups = grouping(intruder, release)
    case = replace(make_case(intruder, release, seen), grouped=groups is not None)
    if groups is not None and groups.several:
        mine = groups.released if intruder.beliefs == "released" else groups.original
        case = replace(case, unit=UnitRows(mine, None, case.released.n))
    files = merged(case, merge and not also and groups is None)
    others = tuple(make_case(intruder, copy, seen) for copy in also)
    who = gather_targets(intruder, release, files.original, targets, truth, people_in_parts(files.case))
    own_row = released_row(release, who.truth) if stated is None else stated.rows
    behind = behind if stated is None else stated.behind
    own = _own(files, groups, who, own_row, stated)
    n = len(who.truth)
    if who.of is None:
        units, of = Units(np.arange(n), np.maximum(own, -1), np.ones(n)), None
    else:
        pairs = Distinct.rows([who.of, own], n)
        own, of = own[pairs.first], pairs.of
        units = Units(who.of[pairs.first], np.maximum(own, -1), pairs.count)
    return Prepared(
        intruder, release, files, others, who, own_row, units, own, of, population_of(intruder, files.case),
        released_weights(intruder, release, files.released.of),
        _behind(targets, own_row) if behind is None else behind, groups,
    )  # fmt: skip


def _behind(targets: Any, own_row: I64) -> bool:
    return bool((own_row >= 0).all()) or (targets is None and bool((own_row == UNKNOWN).all()))


def _own(files: Merged, groups: Grouping | None, who: Targets, own_row: I64, stated: Stated | None) -> I64:
    """Each target's own distinct record, or its unit where units have several rows."""
    if groups is None:
        return files.released.place(own_row)
    return groups.own(who.truth, own_row) if stated is None else groups.released[own_row]


def population_of(intruder: Intruder, case: Case) -> tuple[Records, F64] | None:
    """The population as arrays, with the people each row stands for, where the intruder has one."""
    who = intruder.membership
    if isinstance(who, Unsure) and who.population is not None:
        found = gather(case, tuple(intruder.knows), {})
        held = set(to_polars(who.population, "population").columns)
        names = tuple(dict.fromkeys([
            *(c.name for c in found.certain), *(v for v in intruder.between if case.compiled.way(v).random is None),
            *(v for u in found.uncertain if u.cells is not None for v in u.variables_known if v in held),
        ]))  # fmt: skip
        return population_records(who, case.original, names)
    return None
