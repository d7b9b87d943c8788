"""Stated targets of a file larger than memory: what is known of them, and what is learnt for those who are alike."""

from __future__ import annotations

from collections.abc import Callable, Collection

import numpy as np
import polars as pl

from confide.attack.engine.behind import part_of_rows, parts_are_asked, with_parts
from confide.attack.engine.intervals import Between, opened
from confide.attack.evidence.case import Case
from confide.attack.population.people import PeopleModel
from confide.attack.scanned.intervals import Intervals
from confide.attack.scanned.pattern import Ends, Learnt, learn
from confide.attack.scanned.setting import Setting
from confide.attack.targets import UNKNOWN, Targets, part_of, stated_targets
from confide.frames.columns import F64, I64

Shown = tuple[Case, F64, F64 | None]
"""A few records that show all labels, with how many each stands for, and for how many people by weights."""
Groups = dict[tuple[tuple[str, ...], tuple[str, ...]], list[tuple[I64, Between]]]
"""Targets of whom the same variables are known, some as intervals: for each interval their rows, and that."""


def alike(who: Targets, knows: tuple[str, ...], told_missing: Collection[str]) -> Groups:
    """All targets so."""
    found = Groups()
    for rows, mine, between in who.patterns(knows, told_missing):
        found.setdefault((mine, tuple(between)), []).append((rows, between))
    return found


def ends_of(setting: Setting, who: Targets) -> Ends:
    """All ends of intervals that are known, where the people whom they allow are counted; else none."""
    if setting.case.intruder.membership == "certain":
        return dict.fromkeys(who.low, (np.zeros(0), np.zeros(0)))
    return {v: (np.unique(who.low[v]), np.unique(who.high[v])) for v in who.low}


def learn_together(
    setting: Setting, who: Targets, knows: tuple[str, ...], each: list[tuple[I64, Between]], behind: bool, shown: Shown
) -> tuple[Learnt, Intervals, list[PeopleModel], float]:
    """What buckets share, learnt with open intervals, and what hangs on each of them."""
    every = who.records.take(np.sort(np.concatenate([rows for rows, _ in each])))
    found = learn(setting, knows, every, *shown, behind=behind, between=opened(each[0][1]))
    return found, *Intervals.of(found, [(who.records.take(rows), between) for rows, between in each])


def stated_people(setting: Setting, frame: pl.DataFrame, truth: I64, parts: Callable[[], I64]) -> tuple[Targets, I64]:
    """What is known of targets; and of each 0 where it is released, -1 where not, -2 where that is unknown. `parts`:
    the part of each original row, asked for where some belief about somebody rests on the others."""
    known, low, high = stated_targets(setting.case.intruder, setting.case.original, frame)
    release, inside = setting.release, truth >= 0
    own = np.zeros(release.original.height, dtype=bool)
    for link in release.links(setting.rows):
        own[link] = True
    if parts_are_asked(setting.case):
        known = with_parts(known, part_of(truth, parts()))
    state = np.where(inside, np.where(own[np.maximum(truth, 0)], 0, -1), np.where(truth == UNKNOWN, UNKNOWN, -1))
    return Targets(known, truth, low, high), state


def part_of_rows_here(setting: Setting) -> I64:
    """The part of each original row, in one pass."""
    part = np.zeros(setting.release.original.height, dtype=np.int8)
    for batch in setting.release.originals(setting.before, setting.rows):
        part[batch.rows] = part_of_rows(batch)
    return part.astype(np.int64)
