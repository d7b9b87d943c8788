"""Attacks on files larger than memory: seconds, processor seconds and peak memory by rows.

    python benchmarks/scan_attack.py 1000000            # categories
    python benchmarks/scan_attack.py 1000000 noise      # a known noisy number beside them
    python benchmarks/scan_attack.py 1000000 noise buckets
    python benchmarks/scan_attack.py 1000000 noise buckets apart        # of which hardly two original rows are alike
    python benchmarks/scan_attack.py 1000000 noise naive buckets        # taken as true: the nearest record
    python benchmarks/scan_attack.py 1000000 quantile buckets           # drawn from a quantile regression instead
    python benchmarks/scan_attack.py 1000000 units memory=4GB           # three rows belong together, and state is known

Files are made of the demonstration file, drawn with replacement. Each attack runs in a process of its own, whose peak
is what the system says; imports take about 230 MB of it.
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
KEYS = ["sex", "race", "marital", "age"]
CATEGORIES = [cf.Recode("age", width=5), cf.Swap("race", rate=0.3), cf.Swap("marital", rate=0.3)]
NOISE = [*CATEGORIES, cf.Noise("property_value", sd=20_000)]
QUANTILES = [*CATEGORIES, cf.QuantileRegression("property_value", given=["sex", "age"], learn=20_000)]


def make(folder: Path, rows: int, apart: bool) -> None:
    """Parquet files of people, a million rows each; `apart`: with home values that hardly two of them share."""
    heads = cf.demo("heads").select(*KEYS, "state", "property_value")
    rng = np.random.default_rng(1)
    home = np.random.default_rng(2).permutation(rows) // 3
    folder.mkdir()
    for k, first in enumerate(range(0, rows, PART)):
        some = heads[rng.integers(0, heads.height, min(PART, rows - first))]
        if apart:
            jitter, value = pl.Series(rng.integers(-5_000, 5_000, some.height)), pl.col("property_value")
            some = some.with_columns(property_value=pl.when(value > 5_000).then(value + jitter).otherwise(value))
        some = some.with_columns(home=pl.Series(home[first : first + some.height]))
        some.write_parquet(folder / f"part-{k:05}.parquet")


def protect(folder: Path, asked: list[str]) -> dict[str, object]:
    if "noise" in asked or "quantile" in asked:
        plan = cf.Plan(NOISE if "noise" in asked else QUANTILES, drop=["home"])
    else:
        dropped = ["home"] if "units" in asked else ["home", "state"]
        plan = cf.Plan(CATEGORIES, drop=["property_value", *dropped])
    plan.protect(cf.scan(folder / "in"), seed=1, out=folder / "out", private=folder / "private")
    return {}


def attack(folder: Path, engine: cf.Local, asked: list[str]) -> dict[str, object]:
    release, units = cf.ScannedRelease.load(folder / "private"), "units" in asked
    number = "noise" in asked or "quantile" in asked
    knows = [*KEYS, *(["state"] if number or units else []), *(["property_value"] if number else [])]
    level = "naive" if "naive" in asked else "sdl"
    intruder = cf.Intruder(knows=knows, unit="home" if units else None, available=level)
    found = intruder.attack(release, engine=engine, out=folder / "units" if "out" in asked else None, progress=False)
    return {"targets": found.summary().targets, "found": found.summary().found, "kinds": found.merged.height}


def one(what: str, folder: Path, rows: int, asked: list[str]) -> None:
    """One piece of work, and what it took."""
    memory = next((a.removeprefix("memory=") for a in asked if a.startswith("memory=")), "1GB")
    engine = cf.Local(memory=memory, buckets=max(rows // 40_000, 1) if "buckets" in asked else None)
    began, cpu, told = time.perf_counter(), time.process_time(), dict[str, object]()
    if what == "make":
        make(folder / "in", rows, "apart" in asked)
    elif what == "protect":
        told = protect(folder, asked)
    else:
        told = attack(folder, engine, asked)
    took = {"seconds": round(time.perf_counter() - began, 1), "cpu": round(time.process_time() - cpu, 1)}
    peak = round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
    print(json.dumps({"what": what, "rows": rows, **took, "peak_mb": peak, **told}), flush=True)


def main() -> None:
    if sys.argv[1] == "--one":
        one(sys.argv[2], Path(sys.argv[3]), int(sys.argv[4]), sys.argv[5:])
        return
    with tempfile.TemporaryDirectory() as here:
        for what in ("make", "protect", "attack"):
            subprocess.run([sys.executable, __file__, "--one", what, here, *sys.argv[1:]], check=True)


if __name__ == "__main__":
    main()
