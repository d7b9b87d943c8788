"""What the recovery probability of tables costs, as tables, areas and known people grow.

    python benchmarks/tables.py             all
    python benchmarks/tables.py --quick     without the largest

Every line is the best of three runs after one that compiles. The last block is the closed form against the plain one of
the paper (a sum over all sets of cells) in the same run.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from fractions import Fraction
from itertools import combinations
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import confide as cf

BLOCKS = Path(__file__).parents[1] / "tests" / "data" / "census2010_blocks.parquet"


def best(do: Callable[[], Any], times: int = 3) -> float:
    do()
    found = []
    for _ in range(times):
        began = time.perf_counter()
        do()
        found.append(time.perf_counter() - began)
    return min(found)


def line(what: str, seconds: float, more: str = "") -> None:
    print(f"{what:68} {seconds:9.3f} s  {more}", flush=True)


def nested(quick: bool) -> None:
    rng = np.random.default_rng(1)
    table3 = cf.Tables(rng.poisson(2, (1200, 2, 6)))
    rounded = cf.RoundCells(5)
    line(
        "1,200 tables of 12 cells, total, n = 0..24", best(lambda: cf.sap(table3.publish(rounded, "total"), range(25)))
    )
    blocks = pl.read_parquet(BLOCKS)
    counts = blocks.select(pl.col("^(minor|adult)_.*$")).to_numpy().reshape(-1, 2, 8)
    for share in (4, 2, 1):
        some = cf.Tables(counts[: len(counts) // share])
        what = f"{len(some):,} blocks of 16 cells, total, n = 0..20"
        line(what, best(lambda some=some: cf.sap(some.publish(rounded, "total"), range(21))))  # type: ignore[misc]
    for cells in (10_000, 100_000, 1_000_000):
        if cells > 100_000 and quick:
            continue
        published = cf.Table(rng.poisson(3, cells)).publish(rounded, "total")
        line(f"one table of {cells:,} cells, total, n = 0..50", best(lambda p=published: cf.sap(p, range(51))))  # type: ignore[misc]


def two_way(quick: bool) -> None:
    rng = np.random.default_rng(2)
    for side, most in ((10, 8), (20, 6), (20, 20), (100, 20), (300, 20)):
        if side > 100 and quick:
            continue
        table, known = cf.Table(rng.poisson(4, (side, side))), range(most + 1)
        for name, published in (
            ("base 3, all margins", table.publish(cf.RoundCells(3), "all")),
            ("exact margins only", table.publish(cf.Exact(), "all", cells=False)),
        ):
            line(f"{side} x {side}, {name}, n = 0..{most}", best(lambda p=published, k=known: cf.sap(p, k)))  # type: ignore[misc]
        if side <= 100:
            published = table.publish(cf.RoundCells(3), "all")
            line(f"{side} x {side}, base 3, all margins: bounds", best(published.bounds, 1))


def harder() -> None:
    rng = np.random.default_rng(3)
    sparse = cf.Table(rng.poisson(0.7, (8, 8)))
    for most in (4, 8, 12):
        published, known = sparse.publish(cf.Suppress(below=3), "all"), range(most + 1)
        attack = published.attack(known)
        line(
            f"8 x 8, below 3 hidden, n = 0..{most}",
            best(lambda p=published, k=known: cf.sap(p, k), 1),
            attack.method,
        )  # type: ignore[misc]
    cube = cf.Table(rng.poisson(2, (4, 4, 4)))
    pairs = [["v1", "v2"], ["v1", "v3"], ["v2", "v3"]]
    for most in (4, 6):
        for prove in (False, True):
            published = cube.publish(cf.RoundCells(3), pairs)
            known, options = range(most + 1), {"prove": prove}
            status = cf.sap(published, known, **options)["status"][-1]
            what = f"4 x 4 x 4, base 3, two-way margins, n = 0..{most}, prove={prove}"
            line(what, best(lambda p=published, k=known, o=options: cf.sap(p, k, **o), 1), status)  # type: ignore[misc]


def against_the_paper() -> None:
    counts = np.random.default_rng(4).integers(1, 5, 18)
    published = cf.Table(counts).publish()
    people, known = int(counts.sum()), range(9)

    def plain() -> list[Fraction]:
        out = []
        for n in known:
            total = 0
            for k in range(1, len(counts) + 1):
                for size in map(sum, combinations(counts.tolist(), k)):
                    total += (-1) ** (k - 1) * comb(people - size, n - size) if size <= n else 0
            out.append(Fraction(total, comb(people, n)))
        return out

    began = time.perf_counter()
    slow = plain()
    seconds = time.perf_counter() - began
    fast = best(lambda: cf.sap(published, known, fractions=True))
    same = [str(f) for f in slow] == cf.sap(published, known, fractions=True)["fraction"].to_list()
    line("18 exact cells, n = 0..8, as the paper sums", seconds)
    line("the same, exact fractions, closed form", fast, f"{seconds / fast:,.0f} times; the same: {same}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    nested(quick)
    two_way(quick)
    harder()
    against_the_paper()


if __name__ == "__main__":
    main()
