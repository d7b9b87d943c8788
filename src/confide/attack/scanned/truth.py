"""Whose original row a stated target is, where the file is larger than memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from confide.attack.targets import UNKNOWN, truth_of
from confide.core.errors import InputError
from confide.frames.columns import I64

if TYPE_CHECKING:
    from confide.protect.scanned.release import ScannedRelease

ROW, TARGET = "__row", "__target"


def rows_of_targets(release: ScannedRelease, frame: pl.DataFrame, truth: Any) -> I64:
    """Each target's original row: as stated, else by identifiers in one pass over the original, else unknown."""
    if truth is not None:
        return truth_of(release, frame, truth)  # type: ignore[arg-type]
    names = [] if release.plan is None else [v for v in release.plan.identifiers if v in frame.columns]
    found = np.full(frame.height, UNKNOWN if not names else -1, dtype=np.int64)
    if not names:
        return found
    wanted = frame.select(names).with_row_index(TARGET)
    for first, batch in release.original.batches(names):
        try:
            met = wanted.join(batch.with_row_index(ROW, offset=first), on=names)
        except pl.exceptions.PolarsError:
            raise InputError(
                f"The identifier {', '.join(names)} has another type in targets than in the original file."
            ) from None
        at = met[TARGET].to_numpy()
        if len(np.unique(at)) < len(at) or (found[at] >= 0).any():
            raise InputError(
                f"The identifier {', '.join(names)} is not unique in the original file; give truth= instead."
            )
        found[at] = met[ROW].to_numpy()
    return found
