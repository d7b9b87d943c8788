"""What attacks without a plan cost, how that grows with rows, and the same jobs in Anonymeter.

    python benchmarks/adopted.py                     10,000 to 204,064 rows
    python benchmarks/adopted.py --quick             stops at the shipped file
    python benchmarks/adopted.py --peer PYTHON       also Anonymeter on the shipped file, in an interpreter that has it

The release is the shipped file with race and marital status swapped and two amounts with noise; above its size, rows
are drawn again with amounts moved a little. Every loop is compiled before. `cpu`: seconds of all threads together;
`memory`: the most that numpy held at once while the attack ran.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl

import confide as cf

KEYS = ["sex", "race", "marital", "age", "hh_income"]
REST = ["educ", "tenure", "n_persons", "property_value", "wage_income"]
JOBS: dict[str, Callable[[cf.Release], object]] = {
    "nearest": lambda r: cf.Nearest(KEYS).attack(r),
    "radius 0.1": lambda r: cf.Radius(KEYS).attack(r),
    "nearest, guess tenure": lambda r: cf.Nearest(KEYS).attack(r).guess("tenure"),
    "radius, guess property": lambda r: cf.Radius(KEYS).attack(r).guess("property_value"),
    "singling out, 500": lambda r: cf.SinglingOut(attacks=500, numeric="n_persons").attack(r),
    "univariate, 500": lambda r: cf.SinglingOut(attacks=500, mode="univariate", numeric="n_persons").attack(r),
    "linkability, 500": lambda r: cf.Linkability(KEYS, REST, attacks=500, numeric="n_persons").attack(r),
    "linkability, all": lambda r: cf.Linkability(KEYS, REST, numeric="n_persons").attack(r),
    "inference, all": lambda r: cf.Inference(KEYS, "tenure").attack(r),
    "customary": lambda r: cf.customary_risks(r, keys=KEYS[:4], target="tenure"),
}
PEER = """
import sys, time, warnings
import pandas as pd
from anonymeter.evaluators import InferenceEvaluator, LinkabilityEvaluator, SinglingOutEvaluator
warnings.simplefilter("ignore")
y, z = (pd.read_parquet(p) for p in sys.argv[1:3])
keys, rest = (names.split(",") for names in sys.argv[3:5])
jobs = {
    "singling out, 500": lambda y, z, n: SinglingOutEvaluator(y, z, n_attacks=n, n_cols=3, seed=1).evaluate(),
    "univariate, 500": lambda y, z, n: SinglingOutEvaluator(y, z, n_attacks=n, seed=1).evaluate("univariate"),
    "linkability, 500": lambda y, z, n: LinkabilityEvaluator(y, z, aux_cols=(keys, rest), n_attacks=n).evaluate(),
    "inference, 500": lambda y, z, n: InferenceEvaluator(y, z, aux_cols=keys, secret="tenure", n_attacks=n).evaluate(),
}
for name, job in jobs.items():
    job(y.head(2000), z.head(2000), 20)
    wall, cpu = time.perf_counter(), time.process_time()
    found = job(y, z, 500).results()
    print(f"{name:24}{time.perf_counter() - wall:>9.2f}{time.process_time() - cpu:>9.2f}   {found.n_success} of 500")
"""


def files(rows: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    """An original and its release, with as many rows."""
    heads = cf.demo("heads").drop("id")
    rng = np.random.default_rng(1)
    if rows > heads.height:
        heads = heads[rng.integers(0, heads.height, rows)]
        moved = [
            (pl.col(v) * pl.Series(rng.uniform(0.95, 1.05, rows))).round(0).cast(pl.Int64)
            for v in ("hh_income", "property_value")
        ]
        heads = heads.with_columns(moved)
    steps = [
        cf.Swap("race", rate=0.3), cf.Swap("marital", rate=0.3), cf.Noise("hh_income", relative=0.1),
        cf.Noise("property_value", relative=0.1, keep_zeros=True),
    ]  # fmt: skip
    original = heads.head(rows)
    return original, cf.Plan(steps, weight="weight").protect(original, seed=1).data.select(original.columns)


def measured(job: Callable[[cf.Release], object], pair: tuple[pl.DataFrame, pl.DataFrame]) -> str:
    """Seconds and memory of one job, from two frames on."""
    wall, cpu = time.perf_counter(), time.process_time()
    job(cf.Release.adopt(*pair))
    spent = f"{time.perf_counter() - wall:>9.2f}{time.process_time() - cpu:>9.2f}"
    tracemalloc.start()
    job(cf.Release.adopt(*pair))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return f"{spent}{peak / 2**20:>9.0f} MB"


def peer(python: str) -> None:
    """The same jobs in Anonymeter."""
    original, released = files(51_016)
    text = pl.col(pl.Enum).cast(pl.String)
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / f"{name}.parquet" for name in ("original", "released")]
        for path, frame in zip(paths, (original, released), strict=True):
            frame.with_columns(text).write_parquet(path)
        print(f"\nAnonymeter, 51,016 rows\n{'':24}{'wall':>9}{'cpu':>9}", flush=True)
        subprocess.run([python, "-c", PEER, *map(str, paths), ",".join(KEYS), ",".join(REST)], check=True)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="stop at the shipped file")
    parser.add_argument("--peer", metavar="PYTHON", help="an interpreter that has Anonymeter")
    options = parser.parse_args()
    small = cf.Release.adopt(*files(2_000))
    for job in JOBS.values():
        job(small)
    for rows in (10_000, 51_016) if options.quick else (10_000, 51_016, 204_064):
        pair = files(rows)
        print(f"\n{rows:,} rows\n{'':24}{'wall':>9}{'cpu':>9}{'memory':>12}")
        for name, job in JOBS.items():
            print(f"{name:24}{measured(job, pair)}", flush=True)
    if options.peer:
        peer(options.peer)


if __name__ == "__main__":
    main()
