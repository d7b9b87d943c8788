"""Models that are learnt from some records, drawn at random: the same ones in memory and in a file read in parts.

Which records these are hangs on their numbers and on the step, not on the release's draws: a plan states how many, and
nobody outside knows the numbers of records in the original.
"""

from __future__ import annotations

import hashlib

import numpy as np

from confide.core.random.draws import Counter
from confide.frames.columns import F64, I64, Bools, Records

TOGETHER = 2**20
"""Numbers of records that are looked at together."""


def learnt(records: Records, many: int | None, stream: str) -> Records:
    """So many records (None: all) by a step with this key; a simple random sample without replacement."""
    if many is None or many >= records.n:
        return records
    return records.take(_draws(stream).sample(records.rows, many))


def may_learn(rows: I64, many: int, of: int, stream: str) -> Bools:
    """Which records may be among them, of so many that there are: all that are, and few others."""
    return np.asarray(_draws(stream).uniform(rows) <= surely_below(min(many / of, 1.0), of))


def drawn(of: int, many: int, stream: str) -> I64:
    """The numbers of those that `learnt` takes of so many records, rising; of a file of which none is at hand."""
    if many >= of:
        return np.arange(of)
    every = (np.arange(a, min(a + TOGETHER, of)) for a in range(0, of, TOGETHER))
    near = np.concatenate([rows[may_learn(rows, many, of, stream)] for rows in every])
    return near[_draws(stream).sample(near, many)]


def surely_below(share: F64 | float, size: F64 | float) -> F64:
    """A limit that the smallest `share` of so many uniform numbers lie below, but for less than once in 10^14.

    For one group and for many: of a binomial number the chance to miss by t standard deviations and t^2 more falls as
    exp(-t^2 / 2).
    """
    p, n = np.asarray(share, dtype=float), np.maximum(np.asarray(size, dtype=float), 1.0)
    return np.asarray(p + 9.0 * np.sqrt(p * (1.0 - p) / n) + 90.0 / n)


def _draws(stream: str) -> Counter:
    return Counter(hashlib.sha256(f"confide learns|{stream}".encode()).digest()[:16])
