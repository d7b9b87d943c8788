"""The posterior over records of every target, a few targets of one block at a time: nothing as long as n times r.

The plain formula serves every likelihood, level and membership; what is alike is computed once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from confide.attack.engine.checks import check_scene
from confide.attack.engine.membership import people_in_blocks
from confide.attack.engine.posterior import log_block, log_known, unknown_of
from confide.attack.engine.prepare import Prepared
from confide.attack.engine.scene import Scene
from confide.attack.engine.target_side import (
    log_belief,
    log_limits,
    log_normaliser,
    log_numbers,
    met_value,
    no_class_fits,
)  # fmt: skip
from confide.attack.engine.unit_sums import log_unit_rows, other_rows
from confide.attack.learning.attributes.normal_pairs import add_normal
from confide.frames.columns import F64, I64, Bools
from confide.frames.distinct import Distinct
from confide.protect.likelihoods.normal import Normal
from confide.protect.seam.likelihood import take

PAIRS, PRODUCT = 500_000, 2_000_000
"""Pairs times classes that are worked on together; pairs, where classes are summed over by a product of matrices."""
SMALL = 400
"""Records, and targets, of small blocks that are worked on together."""


@dataclass(frozen=True, eq=False)
class Piece:
    """Some targets of one block, or of a few small ones. `targets`: their rows among those who are attacked; `rows`:
    the blocks' records, as rows of the (merged) release in rising order, each standing for `count` of them; `w`
    (targets, rows): weight of one such record, relative to exp(`log_scale`), 0 for those of other blocks; `absent`: the
    weight of absence on the same scale; `people`, `n_t`: N_t (0 where membership is certain) and how many records the
    block has. All but rows and count have shape (targets, ...).
    """

    scene: Scene
    targets: I64
    rows: I64
    count: F64
    w: F64
    absent: F64
    people: F64
    n_t: F64
    log_scale: F64

    @property
    def total(self) -> F64:
        """The sum of all weights, shape (targets,)."""
        return np.asarray(self.w @ self.count + self.absent)


def alike(ready: Prepared) -> I64:
    """For each target row the first one of whom the same is known, shape (n,)."""
    who = ready.who
    ends = [end for side in (who.low, who.high) for end in side.values()]
    found = Distinct.rows([*(c.values for c in who.records.values()), *ends], who.records.n)
    return found.first[found.of]


def pieces(ready: Prepared, only: int | None = None) -> Iterator[Piece]:
    """All targets that have candidates, block after block; those of whom the same is known by the first of them.

    `only`: the row of one of them.
    """
    first = alike(ready)
    for rows, knows, between in ready.who.patterns(tuple(ready.intruder.knows), ready.case.told_missing):
        knowledge, fitted, side = ready.fitted(rows, knows, between)
        asked = np.flatnonzero(first[rows] == rows)
        if only is not None:
            asked = np.flatnonzero(rows == only)
            if not len(asked):
                continue
        scene = Scene.place(ready.case, knowledge, fitted, side)
        check_scene(scene, ready.intruder)
        people, _ = people_in_blocks(scene, ready.release, ready.population, ready.weights, ready.behind)
        yield from _of_scene(ready, scene, rows, asked, people)


def _of_scene(ready: Prepared, scene: Scene, rows: I64, asked: I64, people: F64 | None) -> Iterator[Piece]:
    says = None if ready.groups is None else other_rows(scene, ready.groups)
    order = asked[np.argsort(scene.block_t[asked], kind="stable")]
    order = order[scene.block_t[order] >= 0]
    block = scene.block_t[order]
    sizes = np.bincount(scene.block_r, weights=scene.count, minlength=max(scene.n_blocks, 1)).astype(float)
    for a, b in _batches(scene, block):
        at = np.sort(np.concatenate([scene.members(int(k)) for k in np.unique(block[a:b])]))
        unknown = unknown_of(scene, at) if says is None else None
        each = PRODUCT if says is None and _as_product(scene, unknown) else PAIRS / scene.classes.size
        step = max(int(each / max(len(at), 1)), 1)
        for i in range(a, b, step):
            t = order[i : min(i + step, b)]
            logs = -np.repeat(scene.side.log_absent[t][:, None], len(at), axis=1)
            if says is None:
                _add_parts(scene, t, at, unknown, logs)
            else:
                for part in log_unit_rows(scene, says, t, at).values():
                    logs += part
            if block[a] != block[b - 1]:
                logs = np.where(scene.block_t[t][:, None] == scene.block_r[at][None, :], logs, -np.inf)
            mine = scene.block_t[t]
            yield _scaled(scene, rows[t], at, logs, None if people is None else people[mine], sizes[mine])


def _batches(scene: Scene, block: I64) -> Iterator[tuple[int, int]]:
    """Ranges of targets, sorted by block, that are worked on together: one large block, or several small ones."""
    edges = np.flatnonzero(np.diff(block, prepend=-1, append=-1)) if len(block) else np.zeros(1, dtype=np.int64)
    size = np.bincount(scene.block_r, minlength=max(scene.n_blocks, 1))
    first, held = 0, 0
    for a, b in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
        more = int(size[block[a]])
        if a > first and (held + more > SMALL or b - first > SMALL or scene.knowledge.nearest):
            yield first, a
            first, held = a, 0
        held += more
    if len(block):
        yield first, len(block)


def _add_parts(scene: Scene, t: I64, at: I64, unknown: F64 | None, out: F64) -> None:
    """As `log_block`, added up in `out`: averages over unknown classes as products of matrices, densities compiled."""
    if not _as_product(scene, unknown):
        for part in log_block(scene, t, at, unknown).values():
            out += part
        return
    assert unknown is not None
    out += _mixed(scene, t, at, unknown)
    if any(u.like_a is not None or u.log_own is not None for u in scene.uncertain):
        out -= scene.log_m[at]
    for i, (u, known) in enumerate(zip(scene.uncertain, scene.known_t, strict=True)):
        if scene.side.parts_known[i] is None and known is not None and type(u.like) is Normal and not u.silent:
            add_normal(u.like, take(known, t), take(scene.records[i], at), out)
    which = [i for i, u in enumerate(scene.uncertain) if type(u.like) is not Normal or scene.side.parts_known[i]]
    for part in _log_others(scene, which, t, at):
        out += part


def _log_others(scene: Scene, which: list[int], t: I64, at: I64) -> Iterator[F64]:
    """log C of some steps, as `log_known` has it."""
    if not any(_multiplies(scene, i) for i in which):
        return
    some = replace(
        scene, knowledge=replace(scene.knowledge, uncertain=tuple(scene.uncertain[i] for i in which)),
        fit=replace(scene.fit, numeric=tuple(scene.fit.numeric[i] for i in which)),
        side=replace(
            scene.side, known=tuple(scene.side.known[i] for i in which),
            parts_known=tuple(scene.side.parts_known[i] for i in which),
        ),
        records=tuple(scene.records[i] for i in which),
    )  # fmt: skip
    for part in log_known(some, np.repeat(t, len(at)), np.tile(at, len(t))).values():
        yield part.reshape(len(t), len(at))


def _multiplies(scene: Scene, i: int) -> bool:
    """Whether what is known of a step counts by itself, not through classes."""
    u = scene.uncertain[i]
    if scene.side.parts_known[i] is not None:
        return True
    return not u.silent and scene.known_t[i] is not None and (scene.fit.numeric[i] or u.direct)


def _as_product(scene: Scene, unknown: F64 | None) -> bool:
    return unknown is not None and not scene.knowledge.nearest


def _mixed(scene: Scene, t: I64, at: I64, unknown: F64) -> F64:
    """log sum_k e_k(t) L_kj, shape (targets, records): records of one cell together, where beliefs are theirs."""
    top = unknown.max(axis=1)
    top = np.where(np.isfinite(top), top, 0.0)
    like, log_e = np.exp(unknown - top[:, None]), log_belief(scene, t)
    out = np.empty((len(t), len(at)))
    for c, rows, numbers in _by_cell(scene, t, at):
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


def _by_cell(scene: Scene, t: I64, at: I64) -> Iterator[tuple[int, I64, F64 | None]]:
    """Places of records by the cell of what is believed of them, and log densities there of what is known of targets'
    numbers (targets, classes); all at once (-1, None) where records show nothing more."""
    if not scene.fit.helped:
        yield -1, np.arange(len(at)), None
        return
    order = np.argsort(scene.cell_r[at], kind="stable")
    cells, first = np.unique(scene.cell_r[at][order], return_index=True)
    places = np.split(order, first[1:])
    who = _same_numbers(scene, t)
    step = max(int(PAIRS / (scene.classes.size * max(len(who), 1))), 1)
    for a in range(0, len(cells), step):
        some = cells[a : a + step]
        pairs = np.tile(t[who.first], len(some)), np.repeat(some, len(who))
        found = log_numbers(scene, *pairs, scene.numbers, scene.fit.believed.correlation)
        for i, c in enumerate(some.tolist()):
            yield c, places[a + i], found[i * len(who) : (i + 1) * len(who)][who.of]


def _same_numbers(scene: Scene, t: I64) -> Distinct:
    """Targets of whose known numbers the same is known: all that `log_numbers` reads of them."""
    keys: list[F64 | Bools] = []
    for n in scene.numbers:
        if n.binned is not None or n.known:
            keys.append(met_value(scene, n, t))
        if n.known and n.target is not None:
            keys.append(n.like.altered(take(n.target, t)))
    return Distinct.rows(keys, len(t))


def _scaled(scene: Scene, targets: I64, at: I64, logs: F64, people: F64 | None, n_t: F64) -> Piece:
    absent = np.zeros(len(targets)) if people is None else np.maximum(people - n_t, 0.0)
    top = np.maximum(logs.max(axis=1, initial=-np.inf), np.where(absent > 0, 0.0, -np.inf))  # absence weighs 1 each
    top = np.where(np.isfinite(top), top, 0.0)
    return Piece(
        scene, targets, scene.rows[at], scene.count[at], np.exp(logs - top[:, None]), absent * np.exp(-top),
        np.zeros(len(targets)) if people is None else people, n_t, top,
    )  # fmt: skip
