"""Targets of whom the same variables are known: where records are placed, and what is learnt before buckets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from confide.attack.engine.behind import PART
from confide.attack.engine.checks import check_scene
from confide.attack.engine.fit import Fit, fit, helper_codes
from confide.attack.engine.intervals import Together
from confide.attack.engine.link import linked_variables, shown_codes
from confide.attack.engine.membership import people_in_blocks
from confide.attack.engine.more_steps import with_more
from confide.attack.engine.prepare import population_of
from confide.attack.engine.register import countable
from confide.attack.engine.scene import Scene, TargetSide
from confide.attack.evidence.case import Case
from confide.attack.evidence.gather import Knowledge, allowed_in, gather
from confide.attack.population.people import PeopleModel
from confide.attack.scanned.bucket import Blocks
from confide.attack.scanned.coded import label_frame
from confide.attack.scanned.needs import NeedsWhole
from confide.attack.scanned.setting import Setting
from confide.frames.columns import F64, I64, Records
from confide.frames.distinct import Distinct

Ends = Mapping[str, tuple[F64, F64]]
"""Lower and upper ends of intervals of variables that are known so, rising."""


@dataclass(frozen=True, eq=False)
class Learnt:
    """`fit`; `blocks`: all there are; `model`: how N_t was estimated; `few`: records with too few people in a
    population that is given; `someone`: a target who shows what is known; `asking`: what intervals are asked of."""

    fit: Fit
    blocks: Blocks
    knowledge: Knowledge
    model: PeopleModel | None
    few: float
    someone: Records
    asking: Asking


@dataclass(frozen=True, eq=False)
class Asking:
    """`placed`: a few records that show all labels; `case`, `knowledge`: what beliefs are fitted with; `counting`: what
    `people_in_blocks` takes."""

    placed: Scene
    case: Case
    knowledge: Knowledge
    counting: tuple[float, tuple[Records, F64] | None, F64 | None, bool]

    def together(self, plain: Knowledge) -> Together:
        """The records with open intervals."""
        return Together((self.placed.case,), plain, self.placed)


def placed_by(case: Case, knows: tuple[str, ...], ends: Ends) -> tuple[I64, list[I64], pl.DataFrame]:
    """Released rows that can be candidates, their labels, and all that decides of their block and cell."""
    knowledge = gather(case, knows, {})
    anything = dict.fromkeys(case.intruder.between, (-np.inf, np.inf))
    told = gather(case, knows, anything) if anything else knowledge
    rows = np.flatnonzero(knowledge.eligible)
    labels = [c.released[rows] for c in knowledge.certain]
    regions = [label.released[rows] for u in told.uncertain for label in u.regions.values()]
    regions += [_between(case, v, rows, *ends[v]) for v in anything if v not in told.limits]
    judged = [shown_codes(case, v)[rows] for v in linked_variables(case, knowledge)[0] if v not in knowledge.helpers]
    keys = label_frame([*labels, *(z[rows] for z in helper_codes(case, knowledge.helpers)), *regions, *judged])
    return rows, labels, keys if keys.width else pl.DataFrame({"none": np.zeros(len(rows), dtype=np.int8)})


def _between(case: Case, v: str, rows: I64, low: F64, high: F64) -> I64:
    """A number for each row: those that have the same are allowed by the same intervals with such ends."""
    least, upto, there = (x[rows] for x in allowed_in(case, v, case.released[v]))
    code = np.searchsorted(high, least, side="left") * (len(low) + 1) + np.searchsorted(low, upto, side="left")
    return np.where(there, code, -1).astype(np.int64)


def learn(
    setting: Setting, knows: tuple[str, ...], shown: I64 | Records, case: Case, count: F64, weights: F64 | None,
    behind: bool, between: Mapping[str, tuple[float, float]] | None = None,
) -> Learnt:  # fmt: skip
    """From a few records that show all labels there are, with how many each stands for (`count`), and for how many
    people by weights. `shown`: targets, or rows of `setting.people` that show the pattern; `behind`: targets are the
    people behind records; `between`: intervals that are known of them."""
    knowledge = gather(case, knows, between or {})
    people = _people(setting, knowledge, shown)
    fitted, scene, every, plain = _fitted(setting, case, knowledge, people, (knows, between or {}))
    population = population_of(case.intruder, case)
    if population is not None and countable(knowledge, population[0]):
        raise NeedsWhole("the population is compared with the whole file")
    each = count[scene.rows]
    placed = replace(scene, count=each, case=replace(scene.case, count=count))
    counting = float(count.sum()), population, weights, behind
    in_blocks, model, few = people_in_blocks(placed, *counting)
    size = np.bincount(scene.block_r, weights=each, minlength=scene.n_blocks).astype(np.float64)
    first = np.unique(scene.block_r, return_index=True)[1]
    labels = tuple(c.released[scene.rows][first] for c in knowledge.certain)
    return Learnt(
        fitted, Blocks(labels, size, in_blocks), knowledge, model, few, people.take(np.arange(1)),
        Asking(placed, every, plain, counting),
    )  # fmt: skip


def _fitted(
    setting: Setting, case: Case, knowledge: Knowledge, people: Records,
    known: tuple[tuple[str, ...], Mapping[str, Any]],
) -> tuple[Fit, Scene, Case, Knowledge]:  # fmt: skip
    """The fit for this pattern, the few records placed by it, and what was fitted to."""
    every = case
    if setting.seen is not None:
        every = replace(case, released=setting.seen.records, count=setting.seen.count)
        knowledge = gather(every, *known)
    fitted = fit(every, knowledge, people, *known)
    if fitted.whole:
        raise NeedsWhole(fitted.whole)
    _, fitted = with_more(every, knowledge, fitted, people)
    someone = people.take(np.arange(1))
    more = fitted.knowledge(case, someone)
    scene = Scene.place(case, more, fitted, TargetSide.of(more, fitted, someone))
    check_scene(scene, case.intruder)
    return fitted, scene, every, knowledge


def _people(setting: Setting, knowledge: Knowledge, shown: I64 | Records) -> Records:
    """Some of the targets of this pattern, who show all labels and parts that targets have."""
    if isinstance(shown, Records):
        known = shown
    else:
        known = setting.known(setting.case.original)
        mine = np.flatnonzero(setting.pattern_of(known, shown))
        known = Records(known.take(mine).values(), n=len(mine))
    part = [known[PART].values] if PART in known else []
    alike = Distinct.rows([*part, *(c.of(known) for c in knowledge.certain)], known.n)
    return Records(known.take(alike.first).values(), n=len(alike))
