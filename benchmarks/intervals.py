"""Attacks on targets of whom intervals are known: processor seconds and peak memory by rows and different intervals.

    python benchmarks/intervals.py 51016 1 30 300                      # in memory
    python benchmarks/intervals.py 1000000 1 30 300 parts              # in parts, of a file on disk
    python benchmarks/intervals.py 1000000 1 30 300 parts buckets=25
    python benchmarks/intervals.py 51016 300 targets=51016             # 20,000 targets else
    python benchmarks/intervals.py 51016 300 large                     # state is not known: 36 large blocks

Both kinds are tried: `altered`, an interval of a noisy number, beside a category that was swapped and one that was
swapped and is not known; `kept`, an interval of an income that was not altered, beside a noisy number. Each attack runs
in a process of its own, whose peak is what the system says; imports take about 230 MB of it.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

import confide as cf

PART = 1_000_000
NAMES = ["state", "sex", "race", "marital", "age", "property_value", "hh_income"]
STEPS = [
    cf.Recode("age", width=5), cf.Swap("race", rate=0.3), cf.Swap("marital", rate=0.3),
    cf.Noise("property_value", sd=20_000),
]  # fmt: skip
KINDS = {"altered": (["sex", "race", "age"], "property_value"), "kept": (["sex", "age", "property_value"], "hh_income")}
WIDTH = 0.2
"""Share of the file in an interval."""


def make(folder: Path, rows: int) -> None:
    """Parquet files of people, a million rows each, and their release."""
    heads = cf.demo("heads").select(NAMES)
    rng = np.random.default_rng(1)
    (folder / "in").mkdir()
    for k, first in enumerate(range(0, rows, PART)):
        whole = rows == heads.height
        some = heads if whole else heads[rng.integers(0, heads.height, min(PART, rows - first))]
        some.write_parquet(folder / "in" / f"part-{k:05}.parquet")
    cf.Plan(STEPS).protect(cf.scan(folder / "in"), seed=1, out=folder / "out", private=folder / "private")


def stated(file: pl.DataFrame, v: str, intervals: int, targets: int) -> tuple[pl.DataFrame, np.ndarray]:
    """Some people with one of so many intervals each, and their rows."""
    rng = np.random.default_rng(2)
    rows = np.sort(rng.choice(file.height, min(targets, file.height), replace=False))
    first = np.linspace(0.2, 1 - WIDTH, intervals)
    ends = np.stack([np.quantile(file[v].to_numpy(), first), np.quantile(file[v].to_numpy(), first + WIDTH)])
    ends += np.arange(intervals)  # all differ, also where many people share a value
    own = rng.integers(0, intervals, len(rows))
    return file[rows].with_columns(low=pl.Series(ends[0, own]), high=pl.Series(ends[1, own])), rows


def one(folder: Path, kind: str, intervals: int, asked: dict[str, str]) -> None:
    """One attack, and what it took."""
    knows, v = KINDS[kind]
    knows = knows if "large" in asked else ["state", *knows]
    file = pl.read_parquet(folder / "in" / "*.parquet")
    targets, rows = stated(file, v, intervals, int(asked.get("targets", "20000")))
    intruder, height = cf.Intruder(knows=knows, between={v: ("low", "high")}), file.height
    if "parts" in asked:
        del file
        buckets = int(asked["buckets"]) if "buckets" in asked else 2
        engine, release = cf.Local(memory="1GB", buckets=buckets), cf.ScannedRelease.load(folder / "private")
        began, cpu = time.perf_counter(), time.process_time()
        found = intruder.attack(release, targets, rows, engine=engine, progress=False)
    else:
        release = cf.Plan(STEPS).protect(file, seed=1)
        began, cpu = time.perf_counter(), time.process_time()
        found = intruder.attack(release, targets, rows, progress=False)
    took = {"cpu": round(time.process_time() - cpu, 1), "seconds": round(time.perf_counter() - began, 1)}
    peak = round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
    told = {"rows": height, "intervals": intervals, "targets": len(rows), "found": round(found.summary().found, 6)}
    print(json.dumps({"kind": kind, **told, **took, "peak_mb": peak}), flush=True)


def main() -> None:
    if sys.argv[1] == "--one":
        asked = dict(a.split("=") if "=" in a else (a, "") for a in sys.argv[5:])
        one(Path(sys.argv[2]), sys.argv[3], int(sys.argv[4]), asked)
        return
    rows, *rest = sys.argv[1:]
    many = [a for a in rest if a.isdigit()]
    with tempfile.TemporaryDirectory() as here:
        make(Path(here), int(rows))
        for kind in [k for k in KINDS if k in rest] or KINDS:
            for n in many:
                more = [a for a in rest if a not in many]
                subprocess.run([sys.executable, __file__, "--one", here, kind, n, *more], check=True)


if __name__ == "__main__":
    main()
