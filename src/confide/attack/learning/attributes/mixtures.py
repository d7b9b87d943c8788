"""Averages over unknown classes, once for every kind of record: a kind is all that they read of it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from confide.attack.engine.posterior import log_block
from confide.attack.engine.scene import Scene
from confide.attack.engine.target_side import (
    log_belief,
    log_limits,
    log_normaliser,
    log_numbers,
    met_value,
    no_class_fits,
)
from confide.frames.columns import F64, I64, Bools
from confide.frames.distinct import Distinct
from confide.protect.seam.likelihood import take

PAIRS = 500_000
"""Pairs times classes that are worked on together."""


def record_kinds(scene: Scene, by_pair: tuple[int, ...]) -> Distinct:
    """Records that are alike in all that averages over classes read; `by_pair`: steps that count pair by pair."""
    keys: list[I64 | F64] = [scene.block_r, scene.cell_r]
    for i, u in enumerate(scene.uncertain):
        if i not in by_pair or not all(u.known):
            keys += [np.asarray(x) for x in scene.records[i].values()]
        keys += [label.released[scene.rows] for label in u.regions.values()]
    keys += [scene.released[n.variable].values for n in scene.numbers if not n.known]
    if not by_pair:
        keys.append(scene.log_m)
    return Distinct.rows(keys, len(scene.rows))


def log_mixed(scene: Scene, t: I64, at: I64, unknown: F64) -> F64:
    """log sum_k e_k(t) L_kj, shape (targets, records): records of one cell together, where beliefs are theirs."""
    top = unknown.max(axis=1)
    top = np.where(np.isfinite(top), top, 0.0)
    like, log_e = np.exp(unknown - top[:, None]), log_belief(scene, t)
    out = np.empty((len(t), len(at)))
    for c, rows, numbers in _by_cell(scene, t, at, log_e):
        mine = log_e
        if numbers is not None:
            cell = np.array([c])
            mine = log_e + scene.fit.believed.log_pi_r[cell] + log_limits(scene, cell, scene.numbers) + numbers
        high = mine.max(axis=1, keepdims=True)
        high = np.where(np.isfinite(high), high, 0.0)
        with np.errstate(divide="ignore"):
            out[:, rows] = np.log(np.exp(mine - high) @ like[rows].T) + high
    out += top - log_normaliser(scene, t)[:, None]
    strange = np.flatnonzero(no_class_fits(scene, t))
    if len(strange):
        out[strange] = log_block(scene, t[strange], at, unknown)["unavailable"]
    return out


def _by_cell(scene: Scene, t: I64, at: I64, log_e: F64) -> Iterator[tuple[int, I64, F64 | None]]:
    """Places of records by the cell of what is believed of them, and log densities there of what is known of targets'
    numbers (targets, classes); all at once (-1, None) where records show nothing more."""
    if not scene.fit.helped:
        yield -1, np.arange(len(at)), None
        return
    order = np.argsort(scene.cell_r[at], kind="stable")
    cells, first = np.unique(scene.cell_r[at][order], return_index=True)
    places = np.split(order, first[1:])
    agree = np.isfinite(log_e)
    who = _same_numbers(scene, t, agree)
    step = max(int(PAIRS / (scene.classes.size * max(len(who), 1))), 1)
    for a in range(0, len(cells), step):
        some = cells[a : a + step]
        pairs = np.tile(t[who.first], len(some)), np.repeat(some, len(who))
        asked = np.tile(agree[who.first], (len(some), 1))
        found = log_numbers(scene, *pairs, scene.numbers, scene.fit.believed.correlation, asked)
        for i, c in enumerate(some.tolist()):
            yield c, places[a + i], found[i * len(who) : (i + 1) * len(who)][who.of]


def _same_numbers(scene: Scene, t: I64, agree: Bools) -> Distinct:
    """Targets of whose known numbers the same is known: all that `log_numbers` reads of them, and whom the same classes
    fit."""
    keys: list[F64 | Bools] = [agree]
    for n in scene.numbers:
        if n.binned is not None or n.known:
            keys.append(met_value(scene, n, t))
        if n.known and n.target is not None:
            keys.append(n.like.altered(take(n.target, t)))
    return Distinct.rows(keys, len(t))
