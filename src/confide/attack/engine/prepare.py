"""All that comes before the loops: files merged, targets gathered, every pattern of knowledge fitted and placed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from confide.attack.beliefs.unit_rows import UnitRows
from confide.attack.engine.behind import people_in_parts, with_parts
from confide.attack.engine.fit import Fit, fit
from confide.attack.engine.intervals import Between, Together, fit_at, known_at
from confide.attack.engine.kernel_plan import Units
from confide.attack.engine.membership import People, people_in_blocks, population_records, released_weights
from confide.attack.engine.more_steps import with_more
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
    opened: dict[Any, tuple[Knowledge, Knowledge, Fit, I64]] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"Prepared: {len(self.who.truth):,} targets, {len(self.own):,} units; {self.case!r}"

    @property
    def case(self) -> Case:
        return self.files.case

    @property
    def rows(self) -> float:
        """How many rows the release has."""
        return self.case.released.n if self.case.count is None else float(self.case.count.sum())

    @cached_property
    def patterns(self) -> list[tuple[I64, tuple[str, ...], dict[str, tuple[float, float]]]]:
        """Targets of whom the same is known: their rows, variables, and intervals."""
        return list(self.who.patterns(tuple(self.intruder.knows), self.case.told_missing))

    def scenes(self) -> Iterator[tuple[I64, Scene, Units]]:
        """One pattern of knowledge after another: positions of its units, the scene, and the units in it."""
        for rows, knows, between in self.patterns:
            knowledge, fitted, side = self.fitted(rows, knows, between)
            for mine, units in self._units([rows]):
                yield mine, Scene.place(self.case, knowledge, fitted, side), units

    def parts(self) -> Iterator[tuple[I64, Scene, Units, People]]:
        """The same with how many people there are in blocks. Where several intervals of the same variables are known,
        a scene has the blocks of its targets alone."""
        alike = dict[tuple[tuple[str, ...], tuple[str, ...]], list[tuple[I64, dict[str, tuple[float, float]]]]]()
        for rows, knows, between in self.patterns:
            alike.setdefault((knows, tuple(between)), []).append((rows, between))
        for (knows, names), each in alike.items():
            if len(each) > 1 and self.groups is None:
                yield from self._at_intervals(knows, names, each)
                continue
            for rows, between in each:
                scene = Scene.place(self.case, *self.fitted(rows, knows, between))
                for mine, units in self._units([rows]):
                    yield mine, scene, units, self._people(scene)

    def _at_intervals(
        self, knows: tuple[str, ...], names: tuple[str, ...], each: list[tuple[I64, dict[str, tuple[float, float]]]]
    ) -> Iterator[tuple[I64, Scene, Units, People]]:
        """One interval after another, with records and targets placed once."""
        knowledge, _, opened, every = self._opened(knows, names)
        together = Together.of((self.case, *self.others), knowledge, opened, self._known(every))
        told = self._log_register(knowledge, together.scene.targets)
        at_large = None if together.kept else self._people(together.scene)
        for (rows, between), (mine, units) in zip(each, self._units([rows for rows, _ in each]), strict=True):
            targets = np.searchsorted(every, rows)
            fitted = fit_at(self.case, knowledge, opened, together.scene.targets.take(targets), between)
            scene, left = together.part(targets, fitted)
            scene, units = scene.with_absence(told[targets]), replace(units, own=together.own(units.own))
            yield (
                mine,
                scene,
                units,
                self._people_at(together, between, left) if at_large is None else at_large.at(left),
            )

    def _people_at(self, together: Together, between: Between, left: I64) -> People:
        """People in the blocks that are left, of all whom intervals of kept variables allow."""
        if self.intruder.membership == "certain":
            return People(None)
        scene, blocks = together.everybody(between)
        return self._people(scene).at(np.searchsorted(blocks, left))

    def _people(self, scene: Scene) -> People:
        return People(*people_in_blocks(scene, self.rows, self.population, self.weights, self.behind))

    def _units(self, each: list[I64]) -> Iterator[tuple[I64, Units]]:
        """Units of targets with these rows, and their positions."""
        place, of = np.zeros(self.who.records.n, dtype=np.int64), np.full(self.who.records.n, -1, dtype=np.int64)
        for k, rows in enumerate(each):
            place[rows], of[rows] = np.arange(len(rows)), k
        mine = of[self.units.target]
        order = np.argsort(mine, kind="stable")
        edges = np.searchsorted(mine[order], np.arange(len(each) + 1))
        for a, b in pairwise(edges.tolist()):
            at = order[a:b]
            yield at, Units(place[self.units.target[at]], self.units.own[at], self.units.count[at])

    def scene_of(self, target: int) -> tuple[Scene, int]:
        """The records of one target's block in a scene, and the target's place there."""
        row = target if self.who.of is None else int(self.who.of[target])
        for rows, knows, between in self.patterns:
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
            knowledge, known, fitted, _ = self._opened(knows, tuple(between))
            targets = self._known(rows)
            if between:
                fitted = fit_at(self.case, knowledge, fitted, targets, between)
                known, side = known_at((self.case, *self.others), knowledge, fitted, targets)
            else:
                side = TargetSide.of(known, fitted, targets)
            told = self._log_register(knowledge, targets)
            self.fits[key] = known, fitted, replace(side, log_absent=side.log_absent + told)
        return self.fits[key]

    def _log_register(self, knowledge: Knowledge, targets: Records) -> F64:
        if self.population is None:
            return np.zeros(targets.n)
        return log_register(self.case, knowledge, targets, *self.population)

    def _known(self, rows: I64) -> Records:
        """What is known of targets, with their part, where that matters."""
        targets = self.who.records.only(rows)
        return targets if self.who.part is None else with_parts(targets, self.who.part[rows])

    def _opened(self, knows: tuple[str, ...], names: tuple[str, ...]) -> tuple[Knowledge, Knowledge, Fit, I64]:
        """All targets of whom the same variables are known, some as intervals: what open intervals say, without and
        with more steps, the fit, and their rows."""
        key = knows, names
        if key not in self.opened:
            each = [rows for rows, mine, between in self.patterns if (mine, tuple(between)) == key]
            every, between = np.sort(np.concatenate(each)), dict.fromkeys(names, (-np.inf, np.inf))
            knowledge, targets = (
                joined([gather(c, knows, between) for c in (self.case, *self.others)]),
                self._known(every),
            )
            fitted = fit(self.case, knowledge, targets, knows, between)
            self.opened[key] = knowledge, *with_more(self.case, knowledge, fitted, targets), every
        return self.opened[key]


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
