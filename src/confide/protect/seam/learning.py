"""Models that are learnt from some records, drawn at random: the same ones in memory and in a file read in parts.

Which records these are hangs on their numbers and on the step, not on the release's draws: a plan states how many, and
nobody outside knows the numbers of records in the original.
"""

from __future__ import annotations

import hashlib

import numpy as np

from confide.core.random.draws import Counter
from confide.frames.columns import I64, Bools, Records
from confide.protect.seam.gathering import surely_below


def learnt(records: Records, many: int | None, stream: str) -> Records:
    """So many records (None: all) by a step with this key; a simple random sample without replacement."""
    if many is None or many >= records.n:
        return records
    return records.take(_draws(stream).sample(records.rows, many))


def may_learn(rows: I64, many: int, of: int, stream: str) -> Bools:
    """Which records may be among them, of so many that there are: all that are, and few others."""
    return np.asarray(_draws(stream).uniform(rows) <= surely_below(min(many / of, 1.0), of))


def _draws(stream: str) -> Counter:
    return Counter(hashlib.sha256(f"confide learns|{stream}".encode()).digest()[:16])
