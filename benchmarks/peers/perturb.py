"""Perturbation beside sdcMicro: noise, topcode, recode, PRAM, rank swap and MDAV, in seconds of the processor.

    python benchmarks/peers/perturb.py            510,160 rows (the shipped file ten times over), MDAV of 10,000
    python benchmarks/peers/perturb.py --rows 51016

confide's seconds are those of `plan.protect`: the file is digested, so that draws belong to it, values are drawn, all
14 released columns are shuffled, and categories that nobody has are left out. The other tool changes one column in
place; "with a shuffle" adds to it a random order and 14 columns taken in that order by R. The last lines say what of
confide's time is the digest, the random order and the bare shuffle of 14 columns by NumPy, which no tool that shuffles
can be below. R is used where it is installed: noise, topcode and recode need R alone, the others sdcMicro.
"""

from __future__ import annotations

import argparse
import resource
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import confide as cf
from confide.core.random.digest import Digest
from confide.core.random.draws import Counter

STEPS = {
    "noise": cf.Noise("hh_income", sd=5000),
    "topcode": cf.Topcode("age", at=85),
    "recode": cf.Recode("age", width=5),
    "pram": cf.Pram("race", retention=0.8),
}
MDAV = cf.Microaggregate(["hh_income", "property_value", "age"], k=5)
RECORDED = {"noise": 0.07, "topcode": 0.003, "recode": 0.05}
"""Seconds of sdcMicro at 510,160 rows, as measured before."""


def seconds() -> float:
    """Of the processor, all threads."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def least(do: Callable[[], Any], times: int = 5) -> float:
    found = []
    for _ in range(times):
        began = seconds()
        do()
        found.append(seconds() - began)
    return min(found)


def by_r(file: pl.DataFrame) -> dict[str, str]:
    """Seconds by job, and versions; none where R is not installed."""
    if shutil.which("Rscript") is None:
        print("R is not installed here; seconds in brackets were measured before, with sdcMicro.")
        return {}
    with tempfile.TemporaryDirectory() as folder:
        file.select("race", "age", "hh_income", "property_value").write_csv(Path(folder) / "in.csv")
        command = ["Rscript", str(Path(__file__).with_suffix(".R")), str(Path(folder) / "in.csv")]
        told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    found = dict(line.split() for line in told.splitlines() if line)
    if "sdcMicro" not in found:
        print("sdcMicro is not installed here: the jobs that R does alone are run.")
    return found


def beside(theirs: dict[str, str], name: str) -> str:
    """What R took for a job, alone and with a shuffle."""
    if name not in theirs:
        return f"({RECORDED[name]})" if name in RECORDED else ""
    shuffled = sum(float(theirs[part]) for part in (name, "random_order", "shuffle"))
    return f"{theirs[name]}   with a shuffle {shuffled:.3f}"


def main(rows: int) -> None:
    heads = cf.demo("heads")
    file = pl.concat([heads] * -(-rows // heads.height)).head(rows)
    theirs = by_r(file)
    versions = ", ".join(f"{tool} {theirs[tool]}" for tool in ("R", "sdcMicro") if tool in theirs)
    print(f"{rows:,} rows, 14 released columns; {versions}")
    small = file.head(10_000)
    steps = {**STEPS, "rank_swap": cf.RankSwap("hh_income", window=rows // 20)}
    jobs = {name: (cf.Plan([step], identifiers=["id"]), file) for name, step in steps.items()}
    jobs["mdav_10000"] = cf.Plan([MDAV], identifiers=["id"]), small
    for name, (plan, data) in jobs.items():
        took = least(lambda plan=plan, data=data: plan.protect(data, seed=1).data)
        print(f"{name:12} confide {took:7.3f}   R {beside(theirs, name)}", flush=True)
    draws, row = Counter(bytes(16)), np.arange(rows)
    order = draws.order(row)
    columns = [s.to_physical().to_numpy() for s in file.drop("id")]
    parts = {
        "digest": lambda: Digest.of(file),
        "random order": lambda: draws.order(row),
        "bare shuffle": lambda: [c[order] for c in columns],
    }
    print("of it: " + ", ".join(f"{name} {least(do):.3f}" for name, do in parts.items()))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=510_160)
    main(parser.parse_args().rows)
