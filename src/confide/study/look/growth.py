"""How risk grows as keys are added one by one, and what each of them does."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from confide.study.look.classes import Classes, Counted

MOST_STEPS = 12
"""Keys that are added one by one; the rest follow together."""
GROWTH: dict[str, Any] = {
    "keys": pl.Int64, "added": pl.String, "alone": pl.Int64, "alone_share": pl.Float64, "below_5": pl.Int64,
    "below_5_share": pl.Float64, "found": pl.Int64, "found_share": pl.Float64,
}  # fmt: skip
DRIVERS: dict[str, Any] = {
    "variable": pl.String, "alone_without": pl.Int64, "alone_share": pl.Float64, "found_without": pl.Int64,
    "found_share": pl.Float64, "values": pl.Int64,
}  # fmt: skip


def growth(classes: Classes) -> pl.DataFrame:
    """One row per key, in the order in which each adds most to what an intruder finds who is sure of membership."""
    left, taken, rows = list(range(len(classes.names))), list[int](), []
    n = classes.rows
    while left:
        if len(taken) == MOST_STEPS - 1 and len(left) > 1:
            rows.append(_step(n, len(classes.names), f"{len(left)} more", classes.everything))
            break
        tried = {k: classes.counted(sorted([*taken, k])) for k in left}
        best = max(left, key=lambda k: (tried[k].classes, tried[k].alone, -k))
        taken.append(best)
        left.remove(best)
        rows.append(_step(n, len(taken), classes.names[best], tried[best]))
    return pl.DataFrame(rows, schema=GROWTH, orient="row")


def _step(n: int, keys: int, added: str, c: Counted) -> tuple[Any, ...]:
    return keys, added, c.alone, c.alone / n, c.below[-1], c.below[-1] / n, c.classes, c.classes / n


def drivers(classes: Classes) -> pl.DataFrame:
    """One row per key: who would be alone, and found, if this one were not known; the key that does most first."""
    rows, n, m = [], classes.rows, len(classes.names)
    for k, name in enumerate(classes.names):
        rest = classes.counted([j for j in range(m) if j != k]) if m > 1 else Counted(1, int(n == 1), (n, n, n))
        values = len(np.unique(classes.codes[k]))
        rows.append((name, rest.alone, rest.alone / n, rest.classes, rest.classes / n, values))
    return pl.DataFrame(rows, schema=DRIVERS, orient="row").sort("found_without", "alone_without", maintain_order=True)
