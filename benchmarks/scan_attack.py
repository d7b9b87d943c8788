"""Attacks on files larger than memory: seconds, processor seconds and peak memory by rows.

    python benchmarks/scan_attack.py 1000000            # categories
    python benchmarks/scan_attack.py 1000000 noise      # a known noisy number beside them
    python benchmarks/scan_attack.py 1000000 noise buckets
    python benchmarks/scan_attack.py 1000000 noise buckets apart        # of which hardly two original rows are alike
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


def protect(folder: Path, noise: bool, units: bool = False) -> dict[str, object]:
    dropped = ["home"] if units else ["home", "state"]
    plan = cf.Plan(NOISE, drop=["home"]) if noise else cf.Plan(CATEGORIES, drop=["property_value", *dropped])
    plan.protect(cf.scan(folder / "in"), seed=1, out=folder / "out", private=folder / "private")
    return {}


def attack(folder: Path, noise: bool, engine: cf.Local, out: bool, units: bool) -> dict[str, object]:
    release = cf.ScannedRelease.load(folder / "private")
    knows = [*KEYS, *(["state"] if noise or units else []), *(["property_value"] if noise else [])]
    intruder = cf.Intruder(knows=knows, unit="home" if units else None)
    found = intruder.attack(release, engine=engine, out=folder / "units" if out else None, progress=False)
    return {"targets": found.summary().targets, "found": found.summary().found, "kinds": found.merged.height}


def one(what: str, folder: Path, rows: int, asked: list[str]) -> None:
    """One piece of work, and what it took."""
    noise = "noise" in asked
    memory = next((a.removeprefix("memory=") for a in asked if a.startswith("memory=")), "1GB")
    engine = cf.Local(memory=memory, buckets=max(rows // 40_000, 1) if "buckets" in asked else None)
    began, cpu, told = time.perf_counter(), time.process_time(), dict[str, object]()
    if what == "make":
        make(folder / "in", rows, "apart" in asked)
    elif what == "protect":
        told = protect(folder, noise, "units" in asked)
    else:
        told = attack(folder, noise, engine, "out" in asked, "units" in asked)
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
