"""Targets of a bucket met with its records: each a row, or whole units."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import polars as pl

from confide.attack.engine.fit import Fit
from confide.attack.scanned.bucket import Blocks, attack_bucket, own_places
from confide.attack.scanned.coded import records_of
from confide.attack.scanned.companions import MINE, UNIT
from confide.attack.scanned.setting import Setting
from confide.attack.scanned.unit_bucket import UnitBucket
from confide.core.scale.local import Local
from confide.frames.columns import I64, Records

ROW = "__row"
SHARE = 0.25
"""Of the memory, for one bucket."""


def met(
    setting: Setting, fit: Fit, known: Blocks, people: Records, truth: I64, state: I64, z: pl.DataFrame, local: Local,
    threads: int,
) -> tuple[pl.DataFrame, tuple[float, float]]:  # fmt: skip
    """A row of results for each target, and the pairs in its blocks with those visited. `truth`: its original row;
    `state`: 0 for who is in the release, -1 for who is not, -2 where that is unknown; `z`: records put aside."""
    if setting.units is None:
        records = records_of(z, setting.after.columns)
        return attack_bucket(fit, known, people, state, records, own_places(truth, z[ROW].to_numpy()), threads)
    return unit_bucket(setting, z, local, threads)(fit, known).attack(people, setting.units.own(truth))


def unit_bucket(setting: Setting, z: pl.DataFrame, local: Local, threads: int) -> Callable[[Fit, Blocks], UnitBucket]:
    """The records of a bucket and the other rows of their units, for a fit and all blocks."""
    unit, held = z[UNIT].to_numpy().astype(np.int64), int(SHARE * local.in_bytes / 8)
    records, mine = records_of(z, setting.after.columns), z[MINE].to_numpy()
    return lambda fit, known: UnitBucket(fit, known, records, unit, mine, held, threads)
