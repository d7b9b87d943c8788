"""A population that is a scan: its different people by what the intruder knows, and how many there are of each."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl

from confide.attack.intruder import Intruder, Unsure
from confide.core.errors import InputError, raise_all
from confide.core.scale.engine import COUNT
from confide.core.scale.rows_alike import RowsAlike, TooMany
from confide.frames.scan.scan import BATCH, Scan

BYTES = 200
"""What a different person takes; more for each variable."""


def counted_population(intruder: Intruder, memory: int, rows: int = BATCH) -> Intruder:
    """The same intruder with the population counted, where it is a scan; one pass over it."""
    who = intruder.membership
    if not isinstance(who, Unsure) or not isinstance(who.population, Scan):
        return intruder
    data, count = who.population, who.count
    known = (*intruder.knows, *intruder.between)
    names = [v for v in dict.fromkeys(known) if v in data.types]
    raise_all(
        f'Unsure: the population has no column "{v}".' for v in (*known, *([] if count is None else [count]))
        if v not in data.types
    )  # fmt: skip
    alike, bad = RowsAlike(names, [] if count is None else [count], memory // (BYTES + 40 * len(names))), 0
    try:
        for _, batch in data.batches(dict.fromkeys([*names, *([] if count is None else [count])]), rows):
            if count is not None:
                bad += int((~(batch[count].cast(pl.Float64) >= 0)).fill_null(True).sum())
            alike.add(batch)
    except TooMany as e:
        raise e.told(data.height, memory, "Or let the intruder know fewer variables of the population.") from None
    if bad:
        raise InputError(f'Unsure: {bad} counts of the population in "{count}" are negative or missing.')
    many = alike.table[COUNT if count is None else f"{COUNT} {count}"].to_numpy()
    frame = alike.table.select(names).with_columns(pl.Series(COUNT, np.asarray(many, dtype=np.float64)))
    return replace(intruder, membership=replace(who, population=frame, count=COUNT))
