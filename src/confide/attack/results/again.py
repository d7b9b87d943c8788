"""Questions about single targets: the attack is prepared again and only the target's own block is computed.

A result holds results. What the last question prepared is kept, for the next one about the same attack.
"""

from __future__ import annotations

import weakref
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from confide.attack.engine.other_rows import other_rows
from confide.attack.engine.posterior import log_weights
from confide.attack.engine.prepare import Prepared, prepare
from confide.attack.engine.scene import Scene
from confide.attack.engine.unit_sums import log_unit_rows
from confide.attack.evidence.grouping import Grouping
from confide.core.errors import InputError
from confide.frames.columns import F64, I64

if TYPE_CHECKING:
    from confide.attack.results.attack import Attack

_LAST: weakref.WeakKeyDictionary[Attack, Prepared] = weakref.WeakKeyDictionary()


def prepared(attack: Attack) -> Prepared:
    """The attack up to its loops."""
    found = _LAST.get(attack)
    if found is None:
        _LAST.clear()
        targets, truth, also = attack.given
        found = _LAST[attack] = prepare(attack.intruder, attack.release, targets, truth, also)
    return found


@dataclass(frozen=True, eq=False)
class Candidates:
    """The candidates of one target: `rows` of the release, `parts` of their log weights by name, and probabilities `p`.

    `target` and `at`: the target's and the rows' places in the `scene`, where rows that are alike are one. `unit`: the
    rows' units, where units have several.
    """

    scene: Scene
    target: int
    at: I64
    rows: I64
    parts: dict[str, F64]
    p: F64
    unit: I64 | None = None


def candidates(attack: Attack, target: int) -> Candidates:
    """All candidates of a target, in the order of the release."""
    n = attack.units.height
    if isinstance(target, bool) or not isinstance(target, (int, np.integer)) or not 0 <= target < n:
        raise InputError(f"target is a position from 0 to {n - 1}.")
    ready = prepared(attack)
    scene, place_of_target = ready.scene_of(int(target))
    if ready.groups is not None:
        return _of_units(attack, ready.groups, scene, int(target), place_of_target)
    at, parts = log_weights(scene, place_of_target)
    place = np.full(scene.case.released.n, -1, dtype=np.int64)
    place[scene.rows[at]] = np.arange(len(at))
    every = place if ready.files.released.of is None else place[ready.files.released.of]
    rows = np.flatnonzero(every >= 0)
    parts = {name: part[every[rows]] for name, part in parts.items()}
    return Candidates(
        scene, place_of_target, at[every[rows]], rows, parts, _probabilities(attack, int(target), parts, len(rows))
    )


def _of_units(attack: Attack, groups: Grouping, scene: Scene, target: int, place: int) -> Candidates:
    """The same where units have several rows: p adds up to a unit's probability over its rows."""
    at = scene.members(int(scene.block_t[place]))
    parts = {}
    if len(at):
        found = log_unit_rows(scene, other_rows(scene, groups.released), np.array([place]), at)
        parts = {name: part[0] for name, part in found.items()}
    rows = scene.rows[at]
    unit = groups.released[rows]
    p = _probabilities(attack, target, parts, len(at))
    if len(p):
        p = p / max(float(np.bincount(unit, weights=p).max()), 1e-300) * attack.units["p_max"][target]
    return Candidates(scene, place, at, rows, parts, p, unit)


def _probabilities(attack: Attack, target: int, parts: dict[str, F64], n: int) -> F64:
    weights = np.sum(list(parts.values()), axis=0) if parts else np.zeros(n)
    if not n or not np.isfinite(weights).any():
        return np.zeros(n)
    return np.asarray(np.exp(weights - weights.max() - attack.log_scale[attack.unit(target)]))
