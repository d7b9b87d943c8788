"""The fifth stage: equal targets and equal records put together, and which loop will compare them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from confide.attack.engine.blocks import starts
from confide.attack.engine.kernels.arguments import Own
from confide.attack.engine.mistaken_noise import Curves
from confide.attack.engine.record_beliefs import all_in_reference
from confide.attack.engine.scene import Scene
from confide.attack.engine.spreads import MOST_NODES, KnownSpread, known_spreads
from confide.frames.columns import I64, Bools
from confide.frames.distinct import Distinct
from confide.protect.likelihoods.match import Match
from confide.protect.likelihoods.normal import Normal
from confide.protect.likelihoods.table import Table
from confide.protect.likelihoods.window import Window
from confide.protect.shared.category_codes import level_codes

Loop = Literal["nearest", "plain", "noisy", "spread", "mixture", "helped", "any"]


@dataclass(frozen=True, eq=False)
class Units:
    """Whom results are for: `target` is a unit's row among the targets, `own` its record's place among released rows
    (-1: none), `count` how many people it stands for."""

    target: I64
    own: I64
    count: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class KernelPlan:
    """`records`: distinct records, sorted by block; `offsets`: where blocks begin among them. `targets`: distinct ones
    of those targets that have candidates (`met`), sorted by block and class; `first`: a row of each; `block_t`,
    `class_t`. `own`: the true records of each distinct target; `unit_own`: a unit's place among those, -1 where it has
    no candidate.
    """

    scene: Scene
    loop: Loop
    spreads: tuple[KnownSpread, ...]
    records: Distinct
    block_r: I64
    offsets: I64
    met: I64
    targets: Distinct
    first: I64
    block_t: I64
    class_t: I64
    own: Own
    unit_own: I64

    @classmethod
    def of(cls, scene: Scene, units: Units) -> KernelPlan:
        """Merge, and choose the loop."""
        spreads = tuple(known_spreads(scene))
        every = np.arange(len(scene.rows))
        records = Distinct(every, every, scene.count) if scene.in_order else _alike(scene, spreads)
        block_r = scene.block_r[records.first]
        met = np.flatnonzero(scene.block_t >= 0)
        keys, late = _target_keys(scene, met)
        # Targets of one block and class lie together, inside a class by their numbers.
        classes = Distinct.rows(keys, len(met))
        both = Distinct.rows([classes.of, *late], len(met))
        first = met[both.first]
        own, unit_own = _place_truth(scene, records, block_r, met, both, units)
        return cls(
            scene, _loop(scene, spreads, records, block_r), spreads, records, block_r, starts(block_r, scene.n_blocks),
            met, both, first, scene.block_t[first], classes.of[both.first], own, unit_own,
        )  # fmt: skip

    def __repr__(self) -> str:
        return f"KernelPlan: {len(self.targets):,} distinct targets, {len(self.records):,} records, loop {self.loop}"

    @property
    def record_rows(self) -> I64:
        """A row of the release for each distinct record."""
        return self.scene.rows[self.records.first]

    def pairs(self, first: int, last: int) -> float:
        """Pairs of distinct targets first..last-1 with the records of their blocks."""
        mine = self.block_t[first:last]
        return float((self.offsets[mine + 1] - self.offsets[mine]).sum())


def _alike(scene: Scene, spreads: tuple[KnownSpread, ...], more: Sequence[NDArray[Any]] = ()) -> Distinct:
    return Distinct.rows([*_record_keys(scene, spreads), *more], len(scene.rows), scene.count)


def in_order(scene: Scene, more: Sequence[NDArray[Any]]) -> tuple[Scene, I64]:
    """The same with records merged and sorted as plans have them, so that parts of it need not be; and by released row
    the one that it is merged with. `more`: what else must be the same."""
    found = _alike(scene, tuple(known_spreads(scene)), more)
    place = np.full(scene.case.released.n, -1, dtype=np.int64)
    place[scene.rows] = scene.rows[found.first][found.of]
    every = np.arange(scene.targets.n)
    whole, _ = scene.only(found.first, scene.side, every, scene.fit, scene.knowledge)
    return replace(whole, count=found.count, in_order=True), place


def _record_keys(s: Scene, spreads: tuple[KnownSpread, ...]) -> list[NDArray[Any]]:
    keys: list[NDArray[Any]] = [s.block_r]
    first: list[NDArray[Any]] = [known.like.z[s.rows] for known in spreads]
    first += [u.like.low[s.rows] for u in s.uncertain if isinstance(u.like, (Normal, Window)) and all(u.known)]
    first += [u.like.z[s.rows] for u in s.uncertain if isinstance(u.like, Curves)]
    keys += first[:1]
    for u, record, record_a in zip(s.uncertain, s.records, s.records_a, strict=True):
        keys += list(record.values())
        if record_a is not None and u.like_a is not u.like:
            keys += list(record_a.values())
        keys += [label.released[s.rows] for label in u.regions.values()]
        keys += [] if u.log_own is None else [u.log_own[s.rows]]
    keys += [s.released[v].values for v in s.knowledge.nearest]
    return [*keys, s.cell_r] if s.fit.needs_belief else keys


def _target_keys(s: Scene, met: I64) -> tuple[list[NDArray[Any]], list[NDArray[Any]]]:
    """What makes targets a class, and what tells them apart inside one."""
    keys: list[NDArray[Any]] = [s.block_t[met]]
    for i, (u, t) in enumerate(zip(s.uncertain, s.known_t, strict=True)):
        if s.fit.numeric[i]:
            continue
        keys += [] if t is None else [v[met] for v in t.values()]
        if s.fit.mixture:
            values = u.met(s.targets)
            seen = [v for v in u.variables_known if v in s.classes.columns]
            keys += [level_codes(values[v], s.classes.columns[v])[0][met] for v in seen]
    late = [v[met] for n in s.numbers if n.target is not None for v in n.target.values()]
    late += [s.targets[v].values[met] for v in s.knowledge.nearest]
    return ([*keys, s.cell_t[met]] if s.fit.needs_belief else keys), late


def _place_truth(
    s: Scene, records: Distinct, block_r: I64, met: I64, targets: Distinct, units: Units
) -> tuple[Own, I64]:
    """Pairs (distinct target, distinct true record), so that equal ones are ranked once; and each unit's."""
    place = np.full(s.case.released.n, -1, dtype=np.int64)
    place[s.rows] = records.of
    at = np.full(s.targets.n, -1, dtype=np.int64)
    at[met] = targets.of
    mine = np.flatnonzero(at[units.target] >= 0)
    target, own = units.target[mine], units.own[mine]
    own = np.where(own >= 0, place[np.maximum(own, 0)], -1)
    same_block = (own >= 0) & (block_r[np.maximum(own, 0)] == s.block_t[target])
    own = np.where(same_block, own, -1)
    width = len(records) + 1
    pair, of = np.unique(at[target] * width + own + 1, return_inverse=True)
    unit_own = np.full(len(units.target), -1, dtype=np.int64)
    unit_own[mine] = of
    return Own(starts(pair // width, len(targets)), (pair % width - 1).astype(np.int64)), unit_own


def noisy_by_block(scene: Scene, records: Distinct, block_r: I64, like: Normal) -> tuple[Bools, bool]:
    """Whether each block's records are noisy, and whether that is the same for all records of every block."""
    inside = like.inside[scene.rows][records.first]
    total = np.bincount(block_r, weights=inside, minlength=scene.n_blocks)
    size = np.bincount(block_r, minlength=scene.n_blocks)
    return total > 0, bool(np.all((total == 0) | (total == size)))


def _loop(s: Scene, spreads: tuple[KnownSpread, ...], records: Distinct, block_r: I64) -> Loop:
    if s.knowledge.nearest:
        return "any" if s.uncertain else "nearest"
    if not _compiled(s, spreads, records, block_r):
        return "any"
    apart = {known.item for known in spreads} | {i for i, u in enumerate(s.uncertain) if u.off is not None}
    if s.fit.helped and any(n.known and n.item not in apart for n in s.numbers):
        return "any" if apart or not all_in_reference(s) else "helped"
    if s.fit.mixture:
        return "mixture"
    if spreads:
        return "spread"
    return "noisy" if any(n.known and isinstance(n.like, Normal) for n in s.numbers) else "plain"


def _compiled(s: Scene, spreads: tuple[KnownSpread, ...], records: Distinct, block_r: I64) -> bool:
    """Whether compiled loops understand every likelihood in play."""
    if s.fit.mixture and any(
        u.direct and not u.behind and not number for u, number in zip(s.uncertain, s.fit.numeric, strict=True)
    ):
        return False
    for i, u in enumerate(s.uncertain):
        mine = [known.like for known in spreads if known.item == i]
        if mine:
            if max(like.p.shape[1] for like in mine) > MOST_NODES:
                return False
        elif s.fit.numeric[i]:
            if not any(u.known) or u.off is not None:
                continue
            if not (s.fit.helped and u.silent) and (
                not isinstance(u.like, Normal) or not noisy_by_block(s, records, block_r, u.like)[1]
            ):
                return False
        elif not s.fit.mixture and not isinstance(u.like, (Match, Table)):
            return False
    return True
