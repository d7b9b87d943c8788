"""Suppression and rounding of small counts, in confide and in R, one after the other.

    python benchmarks/peers/tables.py             two tables; --all: the largest too, some minutes

Seconds are those of the processor.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

import confide as cf

TABLES = {
    "448": ["race", "persons", "fives"],
    "2,016": ["state", "marital", "persons"],
    "6,720": ["race", "persons", "fives", "educ"],
}
RECORDED = {
    "448": "suppression 54 396 0.57; rounding 3 0.209 0.54",
    "2,016": "suppression 277 2457 3.9; rounding 4 0.391 0.55",
    "6,720": "suppression 1567 14432 70; rounding 6 0.540 0.81",
}
"""GaussSuppression 1.2.3, SmallCountRounding 1.2.5: secondaries, people, seconds; largest and mean error, seconds."""


def householders() -> pl.DataFrame:
    age = (pl.col("age").cast(pl.Int64) // 5 * 5).clip(upper_bound=90)
    return cf.demo("heads").with_columns(persons=pl.col("n_persons").cast(pl.Int64).clip(upper_bound=7), fives=age)


def in_r(data: pl.DataFrame, by: list[str]) -> str | None:
    """What R printed; None where it or a package is missing."""
    if shutil.which("Rscript") is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        data.select(by).write_csv(Path(folder) / "data.csv")
        script = Path(__file__).with_name("tables.R")
        done = subprocess.run(
            ["Rscript", str(script), f"{folder}/data.csv", *by], capture_output=True, text=True, check=False
        )
    return done.stdout.strip().replace("\n", "; ") if done.returncode == 0 else None


def in_confide(data: pl.DataFrame, by: list[str]) -> str:
    table, said = cf.Table.of(data, by=by), []
    began = time.process_time()
    hidden = table.publish(cf.Suppress(below=4, zeros="show", marks="same"), margins="all")
    second = ~hidden.shown & (hidden.truth >= 4)
    said.append(f"suppression {second.sum()} {hidden.truth[second].sum()} {time.process_time() - began:.2f}")
    began = time.process_time()
    near = table.publish(cf.ControlledSmallCounts(3), margins="all", seed=1)
    error = np.abs(near.values - near.truth)
    said.append(f"rounding {error.max()} {error.mean():.3f} {time.process_time() - began:.2f}")
    return "; ".join(said)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--all", action="store_true")
    every = parser.parse_args().all
    data = householders()
    for name, by in TABLES.items():
        if name == "6,720" and not every:
            continue
        made = in_r(data, by)
        print(f"{name:6} R{'' if made else ' (not installed; as recorded)'}: {made or RECORDED[name]}", flush=True)
        print(f"{name:6} confide: {in_confide(data, by)}", flush=True)


if __name__ == "__main__":
    main()
