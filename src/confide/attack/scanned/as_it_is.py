"""The attack on a file as it is, known by its different rows: nothing is altered, and everybody is in it."""

from __future__ import annotations

import numpy as np
import polars as pl

from confide.attack.engine.run import carry_out_all
from confide.attack.intruder import Intruder, Unsure
from confide.attack.results.units import ALIKE
from confide.attack.scanned.distinct_files import DistinctFiles
from confide.core.run.threads import thread_count
from confide.core.scale.engine import COUNT, Counted
from confide.frames.encoded import Encoded
from confide.protect.compiled import Compiled
from confide.protect.plan import Plan
from confide.protect.release import Release


def attack_as_it_is(intruder: Intruder, plan: Plan, file: Encoded, threads: int | None) -> tuple[pl.DataFrame, int]:
    """One row for all people of whom the same is known, with how many they are; and records with too few people."""
    count = np.ones(file.frame.height) if file.count is None else file.count
    frame, who = file.frame, intruder.membership
    sums = {COUNT: count}
    if isinstance(who, Unsure) and who.weights is not None:
        sums |= {
            f"{COUNT} {who.weights}": frame[who.weights].cast(pl.Float64).to_numpy() * count,
            f"{COUNT} {who.weights} bad": np.zeros(len(count)),
        }
    table, same = frame.with_columns(pl.Series(v, x) for v, x in sums.items()), np.arange(len(count))
    release = Release(
        plan, frame, frame, frame, None, None, Compiled((), {}, ()), None, file, Encoded(frame, count=count)
    )  # fmt: skip
    ready = DistinctFiles(intruder, release, Counted(table, table, same, same, count)).prepare()
    found = carry_out_all(ready, thread_count(threads), lambda _: None)
    return found.table.drop("target").with_columns(pl.Series(ALIKE, ready.units.count).cast(pl.Int64)), found.short
