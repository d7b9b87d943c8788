"""What keyed draws cost: protecting by rows, and the digest of the file within it.

    python benchmarks/draws.py [rows ...]

Times are the best of three in one run; compare rows, not machines.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import polars as pl

import confide as cf
from confide.core.random.digest import Digest

PLAN = cf.Plan(
    [
        cf.Recode("age", width=5),
        cf.Swap("race", rate=0.3),
        cf.Swap("marital", rate=0.3),
        cf.Noise("property_value", sd=20_000, bounds=(0, 600_000), keep_zeros=True),
        cf.Topcode("property_value", at=600_000),
    ],
    identifiers=["id"],
)


def best(work: Callable[[], Any]) -> float:
    """Seconds, the best of three."""
    taken = []
    for _ in range(3):
        began = time.perf_counter()
        work()
        taken.append(time.perf_counter() - began)
    return min(taken)


def main(sizes: list[int]) -> None:
    heads = cf.demo("heads")
    PLAN.protect(heads.head(500), seed=1)
    print(f"{'rows':>10} {'protect':>9} {'shared draws':>13} {'digest':>8}")
    for n in sizes:
        data = pl.concat([heads] * (n // heads.height + 1)).head(n).rechunk()
        own = best(lambda d=data: PLAN.protect(d, seed=1))
        shared = best(lambda d=data: PLAN.protect(d, seed=1, draws="shared"))
        digest = best(lambda d=data: Digest.of(d))
        print(f"{n:>10,} {own:>9.2f} {shared:>13.2f} {digest:>8.2f}")


if __name__ == "__main__":
    main([int(a) for a in sys.argv[1:]] or [51_016, 204_064, 1_020_320])
