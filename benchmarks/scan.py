"""What it costs to protect a file larger than memory: seconds, and the most memory the process held.

    python benchmarks/scan.py [rows ...] [--plan swap|noise|rank|hide|model] [--memory 1GB] [--folder DIR]

The file is the shipped householders, again and again, with values that jitter, in Parquet files of a million rows.
Each size is made by one process and protected by another, so that the peak is that of protecting alone.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

import confide as cf

COMMON = [cf.Recode("age", width=5), cf.Swap("race", rate=0.3), cf.Swap("marital", rate=0.3)]
PLANS = {
    "swap": COMMON,
    "noise": [
        *COMMON,
        cf.Noise("property_value", sd=20_000, bounds=(0, 600_000), keep_zeros=True),
        cf.Topcode("property_value", at=600_000),
    ],
    "within": [cf.Recode("age", width=5), cf.Swap(["race", "marital"], rate=0.3, within=["state", "sex"])],
    "rank": [cf.RankSwap("hh_income", window=1_000)],
    "hide": [cf.Recode("age", width=5), cf.LocalSuppression(["sex", "race", "marital", "age", "state"], k=3)],
    "model": [cf.QuantileRegression("hh_income", given=["sex", "age"], quantiles=19, learn=20_000)],
}  # fmt: skip
PART = 1_000_000


def make(folder: Path, rows: int) -> None:
    """The file, in parts."""
    heads, r = cf.demo("heads"), np.random.default_rng(1)
    for k in range(0, rows, PART):
        n = min(PART, rows - k)
        frame = heads[r.integers(0, heads.height, n)]
        moved = {v: pl.Series(v, r.integers(-500, 500, n)) for v in ("hh_income", "property_value")}
        frame = frame.with_columns(
            pl.Series("id", np.arange(k, k + n)),
            *(pl.when(pl.col(v) > 1_000).then(pl.col(v) + x).otherwise(pl.col(v)).alias(v) for v, x in moved.items()),
        )
        frame.write_parquet(folder / f"part-{k // PART:04}.parquet")


def protect(folder: Path, plan: str, memory: str) -> str:
    """Protect it; wall and processor seconds, and the peak."""
    data = cf.scan(folder / "*.parquet")
    with tempfile.TemporaryDirectory(dir=folder.parent) as work:
        began, used = time.perf_counter(), time.process_time()
        made = cf.Plan(PLANS[plan], identifiers=["id"]).protect(
            data, seed=1, out=f"{work}/out", private=f"{work}/private", memory=memory
        )
        wall, processor = time.perf_counter() - began, time.process_time() - used
        size = sum(p.stat().st_size for p in Path(f"{work}/out").iterdir()) / 1e6
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        return (
            f"{plan:>7} {data.height:>12,} {wall:>8.1f} {processor:>10.1f} {peak:>9,.0f} {size:>9,.0f}"
            f" {made.released.height:>12,}"
        )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("rows", type=int, nargs="*", default=[1_000_000])
    parser.add_argument("--plan", choices=PLANS, action="append")
    parser.add_argument("--memory", default="1GB")
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--there", type=Path, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.there is not None:
        print(protect(asked.there, asked.plan[0], asked.memory), flush=True)
        return
    print(f"{'plan':>7} {'rows':>12} {'seconds':>8} {'processor':>10} {'peak MB':>9} {'out MB':>9} {'released':>12}")
    for rows in asked.rows:
        with tempfile.TemporaryDirectory(dir=asked.folder) as work:
            there = Path(work) / "file"
            there.mkdir()
            make(there, rows)
            for plan in asked.plan or ["noise"]:
                command = [sys.executable, __file__, "--there", str(there), "--plan", plan, "--memory", asked.memory]
                subprocess.run(command, check=True)


if __name__ == "__main__":
    main()
