"""How risk grows as keys are added one by one, what each key does, and which small sets single people out."""

from __future__ import annotations

from itertools import combinations
from math import comb
from typing import Any

import numpy as np
import polars as pl

from confide.frames.columns import I64, Bools
from confide.study.look.classes import Classes, Counted

MOST_STEPS = 12
"""Keys that are added one by one; the rest follow together."""
MOST_SETS = 400
"""Sets of keys that are counted: small ones first, as many sizes as fit."""
LARGEST = 3
GROWTH: dict[str, Any] = {
    "keys": pl.Int64, "added": pl.String, "alone": pl.Int64, "alone_share": pl.Float64, "below_5": pl.Int64,
    "below_5_share": pl.Float64, "found": pl.Int64, "found_share": pl.Float64,
}  # fmt: skip
DRIVERS: dict[str, Any] = {
    "variable": pl.String, "alone_without": pl.Int64, "alone_share": pl.Float64, "found_without": pl.Int64,
    "found_share": pl.Float64, "values": pl.Int64,
}  # fmt: skip
SETS: dict[str, Any] = {
    "variables": pl.List(pl.String), "size": pl.Int64, "alone": pl.Int64, "alone_share": pl.Float64,
    "minimal": pl.Int64,
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


def sizes_tried(m: int) -> int:
    """The largest size of sets of m keys that are counted.

    >>> sizes_tried(6), sizes_tried(20), sizes_tried(200), sizes_tried(2)
    (3, 2, 1, 2)
    """
    size, total = 0, 0
    while size < min(LARGEST, m) and total + comb(m, size + 1) <= max(MOST_SETS, m):
        size += 1
        total += comb(m, size)
    return size


def isolating(classes: Classes) -> tuple[pl.DataFrame, I64]:
    """Small sets of keys with the people who are alone on them; and of each class the size of the smallest such set.

    `minimal`: people who are alone on the set and on no set inside it. Sets on which nobody is alone are left out. A
    class of several people, or of one who is alone on no set that was tried, has size 0.
    """
    m, most = len(classes.names), sizes_tried(len(classes.names))
    single = np.flatnonzero(classes.size == 1)
    smallest = np.zeros(len(single), dtype=np.int64)
    rows: list[tuple[Any, ...]] = []
    below: dict[tuple[int, ...], Bools] = {}
    for size in range(1, most + 1):
        here: dict[tuple[int, ...], Bools] = {}
        for keys in combinations(range(m), size):
            alone = classes.alone(keys, single)
            if not alone.any():
                continue
            inside = [below[s] for s in combinations(keys, size - 1) if s in below]
            fresh = alone & ~np.logical_or.reduce(inside) if inside else alone
            here[keys] = alone
            smallest[alone & (smallest == 0)] = size
            many = int(alone.sum())
            rows.append(([classes.names[k] for k in keys], size, many, many / classes.rows, int(fresh.sum())))
        below = here
    of_class = np.zeros(len(classes.size), dtype=np.int64)
    of_class[single] = smallest
    found = pl.DataFrame(rows, schema=SETS, orient="row")
    return found.sort(["size", "alone"], descending=[False, True], maintain_order=True), of_class
