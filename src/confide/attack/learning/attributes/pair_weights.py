"""Weights of pairs of some targets and some records: by the plain formula, or with what is alike computed once.

The second way averages over unknown classes by products of matrices, once for every kind of record, and adds densities
of known noisy numbers pair by pair in one compiled loop.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from confide.attack.engine import kernels
from confide.attack.engine.other_rows import OtherRows, other_rows
from confide.attack.engine.posterior import log_block, log_known, unknown_of
from confide.attack.engine.prepare import Prepared
from confide.attack.engine.scene import Scene
from confide.attack.engine.unit_sums import log_unit_rows
from confide.attack.learning.attributes.mixtures import PAIRS, log_mixed, record_kinds
from confide.attack.learning.attributes.normal_pairs import of_records, of_targets
from confide.frames.columns import F64, I64
from confide.frames.distinct import Distinct
from confide.protect.likelihoods.normal import Normal
from confide.protect.seam.likelihood import Columns, take

PRODUCT = 2_000_000
"""Pairs that are worked on together, where classes are summed over by a product of matrices."""
NONE = np.zeros(0, dtype=np.int64)


def way_of(ready: Prepared, scene: Scene, absence: bool = True) -> Plain | Mixed:
    """How weights of a scene are computed; `absence`: whether anybody can be absent."""
    if ready.groups is not None:
        return Plain(scene, other_rows(scene, ready.groups.released))
    if not scene.fit.mixture or scene.knowledge.nearest:
        return Plain(scene, None)
    by_pair = tuple(i for i in range(len(scene.uncertain)) if _multiplies(scene, i))
    return Mixed(scene, record_kinds(scene, by_pair), by_pair, absence)


@dataclass(frozen=True, eq=False)
class Plain:
    """Each record for itself. `says`: other rows of units, where these have several; `at`, `unknown`: some records,
    and what unknown classes say of them."""

    scene: Scene
    says: list[OtherRows] | None
    at: I64 = field(default_factory=lambda: NONE)
    unknown: F64 | None = None

    def among(self, at: I64) -> Plain:
        """The same among some records."""
        return replace(self, at=at, unknown=unknown_of(self.scene, at) if self.says is None else None)

    @property
    def pairs(self) -> float:
        """How many are worked on together."""
        return PAIRS / self.scene.classes.size

    def weights(self, t: I64, least: F64) -> tuple[F64, I64, F64]:
        """Weights (targets, kinds), each record's kind, and the logs they are relative to: the largest of each target,
        and at least `least`."""
        s = self.scene
        says = self.says
        parts = log_block(s, t, self.at, self.unknown) if says is None else log_unit_rows(s, says, t, self.at)
        logs = np.repeat(-s.side.log_absent[t][:, None], len(self.at), axis=1)
        for part in parts.values():
            logs += part
        w, top = _relative(_in_block(s, t, self.at, logs), least)
        return w, np.arange(len(self.at)), top


@dataclass(frozen=True, eq=False)
class Mixed:
    """Records of a kind together. `kinds`: of all records; `by_pair`: steps that count pair by pair; `absence`: whether
    it is compared with weights; `at`: some records, `of`: the kind of each among theirs, `first`: a record of each
    kind, `unknown`: what classes say of it."""

    scene: Scene
    kinds: Distinct
    by_pair: tuple[int, ...]
    absence: bool = True
    at: I64 = field(default_factory=lambda: NONE)
    of: I64 = field(default_factory=lambda: NONE)
    first: I64 = field(default_factory=lambda: NONE)
    unknown: F64 | None = None

    def among(self, at: I64) -> Mixed:
        """The same among some records."""
        kinds, of = np.unique(self.kinds.of[at], return_inverse=True)
        first = self.kinds.first[kinds]
        return replace(self, at=at, of=of.astype(np.int64), first=first, unknown=unknown_of(self.scene, first))

    @property
    def pairs(self) -> float:
        """How many are worked on together."""
        return PRODUCT

    def weights(self, t: I64, least: F64) -> tuple[F64, I64, F64]:
        """As `Plain.weights`."""
        s = self.scene
        assert self.unknown is not None
        logs = log_mixed(s, t, self.first, self.unknown, self.absence)
        if not self.by_pair:
            logs -= s.log_m[self.first] + s.side.log_absent[t][:, None]
            w, top = _relative(_in_block(s, t, self.first, logs), least)
            return w, self.of, top
        return self._by_pair(t, least, logs)

    def _by_pair(self, t: I64, least: F64, logs: F64) -> tuple[F64, I64, F64]:
        s, of = self.scene, self.of
        noisy = [i for i in self.by_pair if _normal(s, i)]
        if len(noisy) < len(self.by_pair):
            logs, of = logs[:, of], np.arange(len(of))
            for part in _log_others(s, [i for i in self.by_pair if i not in noisy], t, self.at):
                logs = logs + part
        if not noisy:
            logs -= s.log_m[self.at] + s.side.log_absent[t][:, None]
            w, top = _relative(_in_block(s, t, self.at, logs), least)
            return w, of, top
        targets = [of_targets(*_known(s, i, t)) for i in noisy]
        records = [of_records(take(s.records[i], self.at)) for i in noisy]
        true, record = (tuple(np.array(x) for x in zip(*each, strict=True)) for each in (targets, records))
        w, top = np.empty((len(t), len(self.at))), np.empty(len(t))
        kernels.weigh_pairs(
            logs, of, s.log_m[self.at], s.side.log_absent[t], least, s.block_t[t], s.block_r[self.at],
            true, record, w, top,
        )  # fmt: skip
        return w, np.arange(len(self.at)), top


def _relative(logs: F64, least: F64) -> tuple[F64, F64]:
    """Weights relative to the largest of each row, or to the least that is stated, and the log of that."""
    top = np.maximum(logs.max(axis=1, initial=-np.inf), least)
    top = np.where(np.isfinite(top), top, 0.0)
    return np.exp(logs - top[:, None]), top


def _in_block(scene: Scene, t: I64, at: I64, logs: F64) -> F64:
    """Records of other blocks weigh nothing."""
    return np.where(scene.block_t[t][:, None] == scene.block_r[at][None, :], logs, -np.inf)


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


def _normal(scene: Scene, i: int) -> bool:
    """Whether a step is a known number with normal noise."""
    u = scene.uncertain[i]
    return scene.side.parts_known[i] is None and scene.known_t[i] is not None and type(u.like) is Normal


def _known(scene: Scene, i: int, t: I64) -> tuple[Normal, Columns]:
    """The likelihood of such a step, and the targets' side of it."""
    like, known = scene.uncertain[i].like, scene.known_t[i]
    assert isinstance(like, Normal)
    assert known is not None
    return like, take(known, t)
