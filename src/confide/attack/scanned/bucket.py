"""One bucket: some targets, and the released rows of all their blocks."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from confide.attack.engine.blocks import blocks
from confide.attack.engine.fit import Fit
from confide.attack.engine.kernel_plan import KernelPlan, Units
from confide.attack.engine.loops import carry_out
from confide.attack.engine.run import SUMMARIES
from confide.attack.engine.scene import Scene, TargetSide
from confide.attack.results.units import make_units
from confide.frames.columns import F64, I64, Records

PIECE = 200_000
"""Targets that are attacked together: a block with more is cut, and its records are met several times."""
NONE = {"log_sum": -np.inf, "log_max": -np.inf, "n_max": 0.0, "log_true": -np.inf, "above": 0.0, "likely": 0.0}
"""What somebody has for whom there is no record."""


@dataclass(frozen=True, eq=False)
class Blocks:
    """All blocks of the release: their labels, how many records each has, and how many people could be meant."""

    labels: tuple[I64, ...]
    size: F64
    people: F64 | None

    def places(self, labels: tuple[I64, ...], n: int) -> I64:
        """The block of each of n targets, -1 for none."""
        order, at, number = blocks(self.labels, labels, len(self.size), n)
        place = np.zeros(number, dtype=np.int64)
        place[order] = np.arange(len(self.size))
        return np.where(at >= 0, place[np.maximum(at, 0)], -1) if number else at

    def of(self, labels: tuple[I64, ...], n: int) -> tuple[F64, F64]:
        """Records and people of the block of each of n targets."""
        at = self.places(labels, n)
        return among(self.size, at), among(self.people, at)


def among(numbers: F64 | None, at: I64) -> F64:
    """The number of each block, 0 for none."""
    if numbers is None or not len(numbers):
        return np.zeros(len(at))
    return np.where(at >= 0, numbers[np.maximum(at, 0)], 0.0)


def attack_bucket(
    fit: Fit, known: Blocks, targets: Records, state: I64, records: Records, own: I64, threads: int = 1,
    log_m: F64 | None = None,
) -> tuple[pl.DataFrame, tuple[float, float]]:  # fmt: skip
    """A row of results for each target, and the pairs in its blocks with those visited. `state`: 0 for who is in the
    release, -1 for who is not, -2 where that is unknown; `own`: the place of its record among `records`, -1 for none;
    `log_m`: of records, where it is known."""
    found, pairs = [], np.zeros(2)
    for first in range(0, targets.n, PIECE):
        some = np.arange(first, min(first + PIECE, targets.n))
        columns, more = _columns(fit, known, targets.take(some), records, own[some], threads, log_m)
        table, *_ = make_units(columns, state[some], fit.case.intruder.membership == "certain")
        found.append(table.drop("target"))
        pairs += more
    return pl.concat(found), (float(pairs[0]), float(pairs[1]))


def own_places(rows: I64, link: I64) -> I64:
    """The place of each target's record among some, by the original rows of both; -1 for none."""
    if not len(link):
        return np.full(len(rows), -1)
    order = np.argsort(link)
    at = order[np.clip(np.searchsorted(link[order], rows), 0, len(link) - 1)]
    return np.where(link[at] == rows, at, -1)


def _columns(
    fit: Fit, known: Blocks, targets: Records, records: Records, own: I64, threads: int, log_m: F64 | None
) -> tuple[dict[str, F64], tuple[float, float]]:
    case = replace(fit.case, released=records, count=None)
    targets = Records(targets.values(), n=targets.n)
    knowledge = fit.knowledge(case, targets)
    side = TargetSide.of(knowledge, fit, targets)
    n_t, people = known.of(side.labels, targets.n)
    if not records.n:
        return {**{k: np.full(targets.n, v) for k, v in NONE.items()}, "n_t": n_t, "people": people}, (0.0, 0.0)
    units = Units(np.arange(targets.n), own, np.ones(targets.n))
    scene = Scene.place(case, knowledge, fit, side, known_m=log_m)
    outcome = carry_out(KernelPlan.of(scene, units), units, threads, lambda _: None)
    columns: dict[str, F64] = {name: getattr(outcome, name) for name in SUMMARIES}
    return {**columns, "n_t": n_t, "people": people}, outcome.pairs
