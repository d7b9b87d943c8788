"""What suppression costs and hides as tables and areas grow, each pattern checked from the outside.

    python benchmarks/suppression.py             tables of the householders up to 2,016 cells, 200 areas
    python benchmarks/suppression.py --all       2,520 to 6,720 cells and all areas too

Seconds are those of the processor. The check shares nothing with the search and its audit: from published values alone,
two linear programmes for each small count say how far apart its ends are, in fractions. A count whose ends are less
than 1 apart would be known.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from scipy.optimize import linprog
from scipy.sparse import csr_matrix

import confide as cf
from benchmarks.peers.tables import householders

BLOCKS = Path(__file__).parents[1] / "tests" / "data" / "census2010_blocks.parquet"
SCHEME = cf.Suppress(below=4, zeros="show", marks="same")
TABLES = {
    "56": ["race", "persons", "sex"],
    "448": ["race", "persons", "fives"],
    "768": ["state", "fives"],
    "896": ["race", "persons", "fives", "sex"],
    "2,016": ["state", "marital", "persons"],
    "2,520": ["race", "persons", "educ", "marital"],
    "5,040": ["state", "persons", "educ"],
    "6,720": ["race", "persons", "fives", "educ"],
}
LARGE = {"2,520", "5,040", "6,720"}


def least_reach(published: Any) -> float:
    """The least distance between the ends of a small count, zeros being shown and every other count 1 or more."""
    matrix, shown, values = csr_matrix(published.layout.matrix, dtype=float), published.shown, published.values
    nobody = np.asarray(matrix[shown & (values == 0)].sum(axis=0)).ravel() > 0
    bounds = [(0, 0) if empty else (1, None) for empty in nobody]
    rows = {"A_eq": matrix[shown], "b_eq": values[shown], "bounds": bounds}
    least = np.inf
    for q in np.flatnonzero((published.truth > 0) & (published.truth < 4)):
        cost = matrix[[q]].toarray()[0]
        ends = [linprog(sign * cost, **rows) for sign in (1.0, -1.0)]
        least = min(least, np.inf if ends[1].status == 3 else -ends[1].fun - ends[0].fun)
    return float(least)


def tables(every: bool) -> None:
    data = householders()
    for name, by in TABLES.items():
        if name in LARGE and not every:
            continue
        table = cf.Table.of(data, by=by)
        began = time.process_time()
        published = table.publish(SCHEME, margins="all")
        spent = time.process_time() - began
        second = ~published.shown & (published.truth >= 4)
        least = least_reach(published)
        people = int(published.truth[second].sum())
        print(f"{table.counts.size:6,} cells: {spent:7.2f} s, {second.sum():5,} secondaries, {people:6,} people, "
              f"least reach {least:.2f}", flush=True)  # fmt: skip


def areas(every: bool) -> None:
    blocks = pl.read_parquet(BLOCKS).select(pl.col("^(minor|adult)_.*$")).to_numpy().reshape(-1, 2, 8)
    for count in (50, 100, 200, len(blocks)) if every else (50, 100, 200):
        some = cf.Tables(blocks[:: len(blocks) // count][:count])
        began, clock = time.process_time(), time.perf_counter()
        some.publish(SCHEME, margins="all")
        spent, clock = time.process_time() - began, time.perf_counter() - clock
        print(f"{count:6,} areas of 16 cells: {spent:7.2f} s, {clock:.1f} by the clock", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--all", action="store_true")
    every = parser.parse_args().all
    cf.Table([[1, 3, 5], [4, 6, 7], [9, 9, 1]]).publish(SCHEME, margins="all")
    tables(every)
    areas(every)


if __name__ == "__main__":
    main()
