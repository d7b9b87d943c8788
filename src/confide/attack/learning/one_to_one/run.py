"""One-to-one matching of an attack's targets: types, candidates, best assignment, marginals, result."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from confide.attack.engine.prepare import Prepared
from confide.attack.learning.one_to_one.assign import assign
from confide.attack.learning.one_to_one.candidates import candidates
from confide.attack.learning.one_to_one.components import components
from confide.attack.learning.one_to_one.marginals import marginals
from confide.attack.learning.one_to_one.nearby import nearby
from confide.attack.learning.one_to_one.result import OneToOne
from confide.attack.learning.one_to_one.table import make_table
from confide.attack.learning.one_to_one.types import types_of
from confide.attack.results.again import prepared
from confide.core.errors import InputError
from confide.core.run.progress import Progress, progress_bar
from confide.core.run.threads import thread_count

if TYPE_CHECKING:
    from confide.attack.results.attack import Attack


def run_one_to_one(attack: Attack, sweeps: int | None, seed: int, threads: int | None, progress: Progress) -> OneToOne:
    """Match everybody at once; see `Attack.one_to_one`."""
    began = time.perf_counter()
    _check_numbers(sweeps, seed)
    workers = thread_count(threads)
    ready = prepared(attack)
    check(attack, ready)
    with progress_bar("matching one to one", 4, progress) as done:
        types = types_of(ready)
        if any(source.plan.scene.knowledge.nearest for source in types.sources):
            raise InputError(NEAREST)
        graph = candidates(types, workers)
        done(1)
        best = nearby(types, assign(types, graph, workers, seed), workers)
        done(1)
        found = marginals(components(types, best), sweeps, seed, workers)
        done(1)
        result = make_table(attack, ready, found, seed)
        done(1)
    return OneToOne(**result, seconds=time.perf_counter() - began)


NEAREST = (
    "One-to-one matching weighs how likely each record is, and a naive intruder takes the nearest number for the only "
    'one: two targets with the same nearest record leave no matching. Use available="informed" or "average".'
)


def check(attack: Attack, ready: Prepared) -> None:
    """What cannot be matched one to one, in a sentence."""
    if ready.groups is not None:
        raise InputError(
            f'One-to-one matching is of single rows. Here several rows are of one "{ready.groups.name}", so that two '
            "targets may well own the same unit. Attack without unit=..., on a file with one row per unit."
        )
    truth = attack.truth[attack.truth >= 0]
    again = len(truth) - len(np.unique(truth))
    if again:
        raise InputError(
            f"One-to-one matching is of different people, but {again:,} of {len(attack.truth):,} targets are the same "
            "person as another target. Give every person once in targets=..."
        )
    if attack.intruder.membership != "certain" and _patterns(ready) > 1:
        raise InputError(
            "With unsure membership one-to-one matching counts people per block, and targets of whom different "
            'variables are known have blocks that overlap. Use membership="certain", or targets of whom the same '
            "variables are known."
        )


def _patterns(ready: Prepared) -> int:
    return sum(1 for _ in ready.who.patterns(tuple(ready.intruder.knows), ready.case.told_missing))


def _check_numbers(sweeps: int | None, seed: int) -> None:
    whole = isinstance(sweeps, int) and not isinstance(sweeps, bool)
    if sweeps is not None and (not whole or sweeps < 100):
        raise InputError(
            "sweeps is a whole number from 100 upwards: how often each of four chains visits every target."
        )
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0:
        raise InputError("seed is a whole number from 0 upwards.")
