"""What an attack would cost, before it is run: its time by trying it on a few targets, its memory by a rule."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from confide.attack.intruder import Intruder
from confide.attack.targets import default_rows
from confide.core.errors import InputError
from confide.core.run.machine import free_bytes
from confide.frames import to_polars
from confide.frames.columns import I64

if TYPE_CHECKING:
    from confide.protect.release import Release

FEW, MORE, SHARE = 200, 1_000, 0.05
"""Targets of the first and of the second trial, and the share of all that a third one has."""
RESOLVED = 0.2
"""Share of a trial's time that its targets must take for their number to tell how long all of them take."""
PER_TARGET = 1.5e-6
"""Seconds for a target of whom the same is known as of another."""
FIXED, PER_ROW, PER_KNOWN = 60_000_000, 100, 70
"""Bytes of an attack: whatever the file; per row (or target, where there are more); per row and known variable."""

Clock = Callable[[], float]


@dataclass(frozen=True)
class AttackCost:
    """What an attack would cost. `seconds`: its time; `bytes`: the memory that it takes beside what the process holds
    already; `rows` of the release; `targets`; `said`: all of it in a sentence."""

    seconds: float
    bytes: int
    rows: int
    targets: int
    said: str

    @property
    def fits(self) -> bool | None:
        """Whether the memory is free now; None where the system does not tell."""
        free = free_bytes()
        return None if free is None else self.bytes <= free


def cost_of(intruder: Intruder, release: Release, targets: Any, clock: Clock = time.perf_counter) -> AttackCost:
    """See `Intruder.cost`."""
    people, rows = _people(intruder, release, targets)
    known = [*intruder.knows, *(c for ends in intruder.between.values() for c in ends)]
    first = _unlike(people, [v for v in known if v in people.columns])
    n, m = release.data.height, people.height
    seconds = _estimated(len(first), lambda some: _tried(intruder, release, people, rows, first[some], clock))
    seconds += PER_TARGET * (m - len(first))
    needed = memory_of(n, m, len(known))
    return AttackCost(seconds, needed, n, m, _said(seconds, needed, n, m))


def memory_of(rows: int, targets: int, known: int) -> int:
    """Bytes of an attack, by a rule that was fitted to measured ones."""
    return FIXED + max(rows, targets) * (PER_ROW + PER_KNOWN * known)


def extrapolated(trials: Sequence[tuple[int, float]], targets: int) -> float:
    """Seconds for all targets from those of two trials, the smaller first: what is done once, and so much for each.

    >>> extrapolated([(200, 1.2), (1_000, 2.0)], 10_000)
    11.0
    """
    (few, short), (more, long) = trials
    each = max(long - short, 0.0) / (more - few)
    return max(long + each * (targets - more), 0.0)


def _estimated(targets: int, tried: Callable[[I64], float]) -> float:
    """Seconds for all targets. The first trial is not counted, since loops may be compiled in it."""
    sizes = [n for n in (FEW, MORE) if n < targets]
    if len(sizes) < 2:
        tried(_spread(targets, targets))
        return tried(_spread(targets, targets))
    tried(_spread(targets, FEW))
    trials = [(n, tried(_spread(targets, n))) for n in sizes]
    third = round(SHARE * targets)
    if third > MORE and trials[1][1] - trials[0][1] < RESOLVED * trials[1][1]:
        trials = [trials[0], (third, tried(_spread(targets, third)))]
    return extrapolated(trials, targets)


def _spread(targets: int, some: int) -> I64:
    """So many of all, evenly."""
    return (np.arange(some, dtype=np.int64) * targets) // max(some, 1)


def _people(intruder: Intruder, release: Release, targets: Any) -> tuple[pl.DataFrame, I64 | None]:
    """The targets and their original rows; None where the attack looks for these."""
    if targets is not None:
        return to_polars(targets, "targets"), None
    if intruder.between:
        raise InputError("between names columns of targets=...; give the targets.")
    rows = default_rows(intruder, release)
    return release.original[rows], rows


def _unlike(people: pl.DataFrame, known: list[str]) -> I64:
    """The first of those of whom the same is known: others take next to no time."""
    if not known or not people.height:
        return np.arange(people.height, dtype=np.int64)
    first = people.select(known).select(pl.struct(pl.all()).is_first_distinct()).to_series()
    return np.flatnonzero(first.to_numpy())


def _tried(
    intruder: Intruder, release: Release, people: pl.DataFrame, rows: I64 | None, some: I64, clock: Clock
) -> float:
    """Seconds of an attack on some of the targets."""
    began = clock()
    intruder.attack(release, people[some], None if rows is None else rows[some], progress=False)
    return clock() - began


def _said(seconds: float, needed: int, rows: int, targets: int) -> str:
    time_ = "less than a second" if seconds < 1 else f"about {_long(seconds)}"
    room = f"{needed / 1e9:.1f} GB" if needed >= 1e9 else f"{max(round(needed / 1e7) * 10, 10)} MB"
    return f"{time_} and {room} of memory, for {targets:,} targets and {rows:,} released rows"


def _long(seconds: float) -> str:
    """A time that is only about right, in two digits at most.

    >>> _long(7.3), _long(44), _long(200), _long(9_000)
    ('7 s', '44 s', '3 min', '2.5 h')
    """
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5_400 else f"{seconds / 3600:.2g} h"
