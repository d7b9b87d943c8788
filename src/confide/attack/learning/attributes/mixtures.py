"""Averages over unknown classes, once for every kind of record: a kind is all that they read of it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from confide.attack.engine import kernels
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

PAIRS, TABLE = 500_000, 2_000_000
"""Pairs times classes that are worked on together; and cells times targets times classes."""


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


def log_mixed(scene: Scene, t: I64, at: I64, unknown: F64, scaled: bool = True) -> F64:
    """log sum_k e_k(t) L_kj, shape (targets, records): records of one cell together, where beliefs are theirs.

    `scaled`: whether anything else is compared with it; else it may lack what is the same for all records of a target.
    """
    top = unknown.max(axis=1)
    top = np.where(np.isfinite(top), top, 0.0)
    log_e = log_belief(scene, t)
    who, which = np.nonzero(np.isfinite(log_e))
    fits = np.searchsorted(who, np.arange(len(t) + 1)), which.astype(np.int64), log_e[who, which]
    out = np.full((len(t), len(at)), -np.inf)
    for rows, cell, of, table in _by_cell(scene, t, at, np.isfinite(log_e)):
        kernels.log_mix(*fits, of, table, rows, cell, np.exp(unknown - top[:, None]), unknown, top, out)
    if scaled:
        out -= log_normaliser(scene, t)[:, None]
    strange = np.flatnonzero(~np.isfinite(log_e).any(axis=1))
    if len(strange):  # beliefs can be nothing where some class fits
        strange = strange[no_class_fits(scene, t[strange])]
    if len(strange):
        out[strange] = log_block(scene, t[strange], at, unknown)["unavailable"]
    return out


def _by_cell(scene: Scene, t: I64, at: I64, agree: Bools) -> Iterator[tuple[I64, I64, I64, F64]]:
    """Places of records, sorted by the cell of what is believed of them, and where those of each cell begin; and what
    is added to log e: a row for each target, and a table (cells, rows, classes). Nothing where records show no more.
    """
    if not scene.fit.helped:
        table = np.zeros((1, 1, scene.classes.size))
        yield np.arange(len(at)), np.array([0, len(at)]), np.zeros(len(t), dtype=np.int64), table
        return
    order = np.argsort(scene.cell_r[at], kind="stable")
    cells, begin = np.unique(scene.cell_r[at][order], return_index=True)
    begin = np.append(begin, len(at))
    who = _same_numbers(scene, t, agree)
    step = max(int(TABLE / (scene.classes.size * max(len(who), 1))), 1)
    for a in range(0, len(cells), step):
        some = cells[a : a + step]
        pairs = np.tile(t[who.first], len(some)), np.repeat(some, len(who))
        asked = np.tile(agree[who.first], (len(some), 1))
        found = log_numbers(scene, *pairs, scene.numbers, scene.fit.believed.correlation, asked)
        table = found.reshape(len(some), len(who), -1)
        table = table + (scene.fit.believed.log_pi_r[some] + log_limits(scene, some, scene.numbers))[:, None, :]
        first, last = begin[a], begin[min(a + step, len(cells))]
        yield order[first:last], begin[a : a + len(some) + 1] - first, who.of, table


def _same_numbers(scene: Scene, t: I64, agree: Bools) -> Distinct:
    """Targets of whose known numbers the same is known: all that `log_numbers` reads of them, and whom the same classes
    fit."""
    bits = [agree[:, a : a + 62] for a in range(0, agree.shape[1], 62)]
    keys: list[F64 | I64 | Bools] = [some @ (1 << np.arange(some.shape[1])) for some in bits]
    for n in scene.numbers:
        if n.binned is not None or n.known:
            keys.append(met_value(scene, n, t))
        if n.known and n.target is not None:
            keys.append(n.like.altered(take(n.target, t)))
    return Distinct.rows(keys, len(t))
