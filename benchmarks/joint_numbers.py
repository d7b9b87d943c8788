"""How the attack on two rank-swapped numbers known together grows with rows, against looks along one number only.

    python benchmarks/joint_numbers.py            12,754 to 204,064 rows
    python benchmarks/joint_numbers.py --quick    up to 51,016

The other way visits every combination and every record in the reach of the first number, as is enough for one number.
Tied values make that reach a share of the file, so that its time grows with the square of the rows. It is timed up to
51,016 rows.
"""

from __future__ import annotations

import argparse
import time
from unittest import mock

import numpy as np
import polars as pl

import confide as cf
from confide.attack.engine import joint_pairs, plain_loops
from confide.attack.engine.reach import Reach

MONEY = ["property_value", "hh_income"]
MOST = 51_016
"""Rows up to which the other way is timed."""


def file(rows: int) -> pl.DataFrame:
    """The shipped file, a part of it, or several of it with amounts a little apart."""
    heads = cf.demo("heads")
    if rows <= heads.height:
        return heads.sample(rows, seed=1)
    rng = np.random.default_rng(0)
    many = pl.concat([heads] * (rows // heads.height)).with_columns(id=pl.int_range(pl.len()))
    for v in MONEY:
        y = many[v].to_numpy().astype(float)
        moved = np.maximum(y + np.round(rng.normal(0, 200, len(y))), 1.0)
        many = many.with_columns(pl.Series(v, np.where((y > 0) & (np.arange(len(y)) >= heads.height), moved, y)))
    return many


def seconds(release: cf.Release) -> tuple[float, float]:
    """Of the attack, and the matches that it claims."""
    began = time.perf_counter()
    attack = cf.Intruder(knows=MONEY).attack(release, progress=False, threads=1)
    return time.perf_counter() - began, float(attack.units["p_max"].sum())


def along_one(release: cf.Release) -> tuple[float, float]:
    """The same along the first number only."""
    reach, of = joint_pairs._reach, Reach.of

    def wide(each, blur):
        boxes, (first, second) = reach(each, blur)
        everything = np.zeros_like(second[0]), np.full_like(second[1], len(boxes.order))
        return boxes, [first, everything]

    def first_only(plan):
        found = of(plan)
        return found and Reach(found.order, found.spans[:1], None)

    with mock.patch.object(joint_pairs, "_reach", wide), mock.patch.object(plain_loops.Reach, "of", first_only):
        return seconds(release)


def main() -> None:
    """Print one row per number of rows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="up to 51,016 rows")
    quick = parser.parse_args().quick
    steps = [cf.RankSwap(v, window=200) for v in MONEY]
    seconds(cf.Plan(steps, identifiers=["id"]).protect(file(2000), seed=1))  # once: compiled
    print(f"{'rows':>8} {'seconds':>8} {'along one':>10} {'ratio':>6} {'claimed':>10} {'differs':>8}")
    for rows in (12_754, 25_508, 51_016, *(() if quick else (102_032, 204_064))):
        release = cf.Plan(steps, identifiers=["id"]).protect(file(rows), seed=1)
        took, claimed = seconds(release)
        line = f"{rows:>8,} {took:>8.1f}"
        if rows <= MOST:
            slow, other = along_one(release)
            line += f" {slow:>10.1f} {slow / took:>6.1f} {claimed:>10,.1f} {abs(other - claimed):>8.0e}"
        print(line, flush=True)


if __name__ == "__main__":
    main()
