"""CART synthesis beside synthpop: the same job, seconds of the processor, utility and risk.

    python benchmarks/peers/synthesis.py                       five seeds, with R where it is installed
    python benchmarks/peers/synthesis.py --files a.parquet b.parquet    files that synthpop made before, row by row
    python benchmarks/peers/synthesis.py --grow                how the cost of confide's trees grows with the rows
    python benchmarks/peers/synthesis.py --polytomous          educ by polytomous regression, beside nnet in R

The job: householders keep sex, race, marital and age; educ, property_value and hh_income are drawn in this order, each
given all before. pMSE ratios are of a logistic model with all pairs and with main effects (lower is better), overlaps
of the confidence intervals of two regressions (higher is better). Risk: expected matches of an intruder who knows all
seven variables, told how values were made ("exact") or taking them as they are ("naive"). R is used where it is
installed, with synthpop or else with rpart at synthpop's settings; else the script compares with the files given.
"""

from __future__ import annotations

import argparse
import resource
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import polars as pl

import confide as cf

NAMES = ["sex", "race", "marital", "age", "educ", "property_value", "hh_income"]
MEASURES = {
    "pMSE, pairs": cf.Propensity(NAMES),
    "pMSE, main": cf.Propensity(NAMES, interactions=False),
    "overlap 1": cf.RegressionOverlap("hh_income ~ C(sex) + C(race) + C(marital) + age + property_value"),
    "overlap 2": cf.RegressionOverlap("log(hh_income) ~ C(sex) + C(race) + C(marital) + C(educ) + age"),
}
PLAN = cf.Plan([cf.CartSynthesis(v, given=NAMES[:i]) for i, v in enumerate(NAMES) if i > 3])


def seconds() -> float:
    """Of the processor, all threads."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def in_words(made: pl.DataFrame, like: pl.DataFrame) -> pl.DataFrame:
    """Codes of another tool as categories, in their order."""
    columns = []
    for v in NAMES:
        s, kind = made[v], like[v].dtype
        if isinstance(kind, pl.Enum) and s.dtype.is_numeric():
            codes = s.unique().sort().to_list()
            s = s.replace_strict(dict(zip(codes, kind.categories, strict=True)), return_dtype=kind)
        columns.append(s.cast(kind))
    return pl.DataFrame(columns)


def by_r(heads: pl.DataFrame, folder: Path, seed: int) -> tuple[pl.DataFrame, float]:
    coded = heads.with_columns(pl.col(pl.Enum).to_physical())
    coded.write_csv(folder / "in.csv")
    script = Path(__file__).with_suffix(".R")
    command = ["Rscript", str(script), str(folder / "in.csv"), str(folder / "out.csv"), str(seed)]
    told = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    print(f"{told[-2]} {told[-1]}")
    return in_words(pl.read_csv(folder / "out.csv"), heads), float(told[-3])


def line(name: str, heads: pl.DataFrame, release: cf.Release, took: float) -> list[float]:
    """Measures of one file, printed."""
    made = release.frame.select(NAMES)
    values = [m(heads, made) for m in MEASURES.values()]
    for level in ("exact", "super_naive"):
        values.append(float(cf.Intruder.at(level, knows=NAMES).attack(release).summary().expected_matches))
    print(f"{name:14} {took:8.2f} " + " ".join(f"{v:12.3f}" for v in values), flush=True)
    return values


def compare(files: list[str], seeds: int) -> None:
    heads = cf.demo("heads").select(NAMES)
    rows = np.arange(heads.height)
    print(" " * 14, "seconds ", " ".join(f"{m:>12}" for m in (*MEASURES, "exact", "naive")))
    theirs = [(f"file {k}", in_words(pl.read_parquet(f), heads), np.nan) for k, f in enumerate(files, 1)]
    there = shutil.which("Rscript") is not None
    if not there:
        print("R is not installed here.")
    ours, peers = [], []
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(1, seeds + 1):
            began = seconds()
            release = PLAN.protect(heads, seed=seed)
            ours.append(line(f"confide {seed}", heads, release, seconds() - began))
            if there:
                theirs.append((f"in R {seed}", *by_r(heads, Path(folder), seed)))
            if theirs:
                name, made, took = theirs.pop(0)
                peers.append(line(name, heads, cf.Release.adopt(heads, made, PLAN, link=rows), took))
    for name, found in {"confide": ours, "the others": peers}.items():
        if found:
            print(f"mean, {name:10}{'':8}" + " ".join(f"{v:12.3f}" for v in np.mean(found, axis=0)))


def grow() -> None:
    """Seconds of the job, without the attack, at four sizes."""
    heads = cf.demo("heads").select(NAMES)
    for n in (5_000, 20_000, 51_016, 204_064):
        rng = np.random.default_rng(n)
        some = heads[rng.permutation(heads.height)[:n]]
        if n > heads.height:
            some = heads[rng.integers(0, heads.height, n)]
            noise = [pl.col(v) + (pl.col(v) != 0) * pl.Series(rng.integers(-400, 400, n)) for v in NAMES[5:]]
            some = some.with_columns(noise)
        took = []
        for _ in range(3):
            began = seconds()
            PLAN.protect(some, seed=1)
            took.append(seconds() - began)
        print(f"{n:8,} rows {min(took):6.2f} s", flush=True)


def polytomous() -> None:
    """Seconds of one category of many, given sex, race, marital and age: in R, and here at four sizes."""
    heads = cf.demo("heads").select(NAMES)
    if shutil.which("Rscript") is not None:
        with tempfile.TemporaryDirectory() as folder:
            heads.with_columns(pl.col(pl.Enum).to_physical()).write_csv(Path(folder) / "in.csv")
            command = ["Rscript", str(Path(__file__).with_name("polytomous.R")), str(Path(folder) / "in.csv")]
            print("R: " + subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip())
    plan = cf.Plan([cf.LogisticSynthesis("educ", given=NAMES[:4])])
    plan.protect(heads.head(500), seed=1)  # imports
    for n in (5_000, 20_000, 51_016, 204_064):
        some = pl.concat([heads] * -(-n // heads.height)).head(n)
        began = seconds()
        plan.protect(some, seed=1)
        print(f"{n:8,} rows {seconds() - began:6.2f} s", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", nargs="*", default=[])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--grow", action="store_true")
    parser.add_argument("--polytomous", action="store_true")
    asked = parser.parse_args()
    if asked.grow or asked.polytomous:
        grow() if asked.grow else polytomous()
    else:
        compare(asked.files, asked.seeds)
