"""Intervals that are known of stated targets, where records come bucket by bucket: each is learnt of once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from confide.attack.engine.fit import Fit
from confide.attack.engine.intervals import Between, Together, fit_at, fits_all
from confide.attack.engine.kernel_plan import KernelPlan, Units
from confide.attack.engine.loops import carry_out
from confide.attack.engine.membership import people_in_blocks
from confide.attack.engine.run import SUMMARIES
from confide.attack.evidence.gather import gather
from confide.attack.population.people import PeopleModel
from confide.attack.results.units import make_units
from confide.attack.scanned.bucket import NONE, PIECE, Blocks, among
from confide.attack.scanned.pattern import Learnt
from confide.frames.columns import F64, I64, Records


@dataclass(frozen=True, eq=False)
class Intervals:
    """`between`: all different ones of the same variables. `fits`: of those with which something is fitted, by their
    place; `people`: how many each block then has, of those that leave out records."""

    between: tuple[Between, ...]
    fits: Mapping[int, Fit]
    people: Mapping[int, F64]

    @classmethod
    def of(
        cls, found: Learnt, each: Sequence[tuple[Records, Between]]
    ) -> tuple[Intervals, list[PeopleModel], float]:  # fmt: skip
        """From what was learnt with open intervals, the targets of each interval and that; how N_t was estimated, and
        for how many records there are too few people."""
        asking, opened = found.asking, found.fit
        together, between = asking.together(asking.knowledge), tuple(b for _, b in each)
        fits, people = dict[int, Fit](), dict[int, F64]()
        models, short = [] if found.model is None else [found.model] * len(each), found.few
        if not fits_all(opened, asking.knowledge):
            fits = {k: fit_at(asking.case, asking.knowledge, opened, t, b) for k, (t, b) in enumerate(each)}
        if together.kept and found.blocks.people is not None:
            models, short = [], 0.0
            for k, ends in enumerate(between):
                scene, left = together.everybody(ends)
                n_t, model, few = people_in_blocks(scene, *asking.counting)
                assert n_t is not None
                people[k] = np.zeros(len(found.blocks.size))
                people[k][left] = n_t
                models += [] if model is None else [model]
                short = max(short, few)
        return cls(between, fits, people), models, short

    def fit(self, opened: Fit, k: int) -> Fit:
        """That of one of them."""
        return self.fits[k] if k in self.fits else opened.at(self.between[k])

    def blocks(self, known: Blocks, k: int) -> Blocks:
        """All blocks with the people of whom one of them holds."""
        return replace(known, people=self.people.get(k, known.people))


def attack_intervals(
    opened: Fit, known: Blocks, asked: Intervals, which: I64, targets: Records, state: I64, records: Records, own: I64,
    threads: int = 1, log_m: F64 | None = None,
) -> tuple[pl.DataFrame, tuple[float, float]]:  # fmt: skip
    """As `attack_bucket`, of targets of whom `which` of the intervals is known."""
    found, pairs = [], np.zeros(2)
    for first in range(0, targets.n, PIECE):
        some = np.arange(first, min(first + PIECE, targets.n))
        mine = targets.take(some)
        columns = {v: np.full(len(some), x) for v, x in NONE.items()} | {"n_t": np.zeros(len(some))}
        columns["people"] = np.zeros(len(some))
        if records.n:
            work = _Bucket.of(opened, known, asked, Records(mine.values(), n=mine.n), records, log_m)
            pairs += work.attack(which[some], own[some], columns, threads)
        table, *_ = make_units(columns, state[some], opened.case.intruder.membership == "certain")
        found.append(table.drop("target"))
    return pl.concat(found), (float(pairs[0]), float(pairs[1]))


@dataclass(frozen=True, eq=False)
class _Bucket:
    """Some targets and the records of all their blocks; `at`: the block of each target among those `known`."""

    asked: Intervals
    known: Blocks
    together: Together
    at: I64

    @classmethod
    def of(
        cls, opened: Fit, known: Blocks, asked: Intervals, targets: Records, records: Records, log_m: F64 | None
    ) -> _Bucket:
        case = replace(opened.case, released=records, count=None)
        together = Together.of((case,), gather(case, opened.knows, opened.between), opened, targets, log_m)
        return cls(asked, known, together, known.places(together.scene.side.labels, targets.n))

    def attack(self, which: I64, own: I64, columns: dict[str, F64], threads: int) -> F64:
        """Fill the columns, interval by interval; the pairs."""
        pairs, order, own = np.zeros(2), np.argsort(which, kind="stable"), self.together.own(own)
        for mine in np.split(order, np.flatnonzero(np.diff(which[order])) + 1):
            k = int(which[mine[0]])
            scene, _ = self.together.part(mine, self.asked.fit(self.together.scene.fit, k))
            inside = scene.block_t >= 0
            people = among(self.asked.blocks(self.known, k).people, self.at[mine])
            columns["people"][mine] = np.where(inside, people, 0.0)
            if not len(scene.rows):
                continue
            size = np.bincount(scene.block_r, weights=scene.count, minlength=scene.n_blocks).astype(float)
            columns["n_t"][mine] = among(size, scene.block_t)
            units = Units(np.arange(len(mine)), own[mine], np.ones(len(mine)))
            outcome = carry_out(KernelPlan.of(scene, units), units, threads, lambda _: None)
            for v in SUMMARIES:
                columns[v][mine] = getattr(outcome, v)
            pairs += outcome.pairs
        return pairs
