"""Intervals that miss: an intruder who is wrong about a target's number."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from confide.attack.results.again import prepared

if TYPE_CHECKING:
    from confide.attack.results.attack import Attack


def missed(attack: Attack) -> dict[str, tuple[int, int]]:
    """For each variable known as an interval: targets whose true value lies outside it or is missing, and targets whose
    value is known. Those of the first kind cannot be found, unless the variable was altered.

    >>> import confide as cf, polars as pl
    >>> file = pl.DataFrame({"sex": ["f", "m", "f"], "age": [31, 42, 57], "low": [30, 30, 30], "high": [40, 40, 60]})
    >>> release = cf.Plan([]).protect(file.select("sex", "age"), seed=1)
    >>> who = cf.Intruder(knows="sex", between={"age": ("low", "high")})
    >>> missed(who.attack(release, targets=file, truth=[0, 1, 2]))
    {'age': (1, 3)}
    """
    ready = prepared(attack) if attack.intruder.between else None
    if ready is None or not ready.who.low:
        return {}
    there = ready.who.truth >= 0
    original, _ = attack.release.encoded(tuple(ready.who.low), numeric=ready.who.low)
    out = {}
    for v in ready.who.low:
        y, low, high = original[v].values[ready.who.truth[there]], ready.who.low[v][there], ready.who.high[v][there]
        with np.errstate(invalid="ignore"):
            asked = np.isfinite(low) | np.isfinite(high)
            outside = asked & ~((y >= low) & (y <= high))
        out[v] = int(outside.sum()), int(there.sum())
    return out
