"""What customary risks of a file cost, and how that grows with rows.

    python benchmarks/customary.py            the shipped file of 51,016 rows, and ten times it
    python benchmarks/customary.py --quick    only the shipped file

Processor seconds of the best of three runs, each from a frame that nothing was computed of before: reading columns is
in them. Keys are sex, race, marital, age and educ. The larger file draws its rows anew, with ages moved by up to two
years, so that it has more classes and not the same ones ten times.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Mapping

import numpy as np
import polars as pl

import confide as cf
from confide.measure.risk.file_risks.classes import alike
from confide.measure.risk.file_risks.file import File
from confide.measures import HouseholdRisk, KAnonymity, KMap, LDiversity, TCloseness, UnsafeCombinations

KEYS = ["sex", "race", "marital", "age", "educ"]
Work = Callable[[pl.DataFrame], object]


def anonymity() -> Mapping[str, Work]:
    """Class counts and what is made of them."""
    return {
        "frequencies alone": frequencies,
        "k-anonymity": KAnonymity(KEYS).of,
        "k-anonymity, keys as text": lambda f: KAnonymity(KEYS).of(f.with_columns(pl.col(KEYS).cast(pl.String))),
        "k-anonymity, 2% missing, own": lambda f: KAnonymity(KEYS).of(holes(f)),
        "k-anonymity, 2% missing, wildcard": lambda f: KAnonymity(KEYS, missing="wildcard").of(holes(f)),
        "l-diversity, entropy": LDiversity(KEYS, "tenure", l=1.5, kind="entropy").of,
        "l-diversity, recursive": LDiversity(KEYS, "tenure", kind="recursive", c=3).of,
        "t-closeness of tenure": TCloseness(KEYS, "tenure").of,
        "t-closeness of income": TCloseness(KEYS, "hh_income").of,
        "unsafe combinations of 3": UnsafeCombinations(KEYS).of,
        "households of 3": lambda f: HouseholdRisk(KEYS, "home").of(f.with_columns(home=pl.int_range(f.height) // 3)),
        "k-map, 276,613 cells": KMap(KEYS, cf.demo("heads_population"), count="n_pop").of,
    }


def frequencies(frame: pl.DataFrame) -> object:
    """How many rows are alike with each."""
    file = File.of(frame, "frequencies")
    return alike([file.codes(v) for v in KEYS], file.n)


def holes(frame: pl.DataFrame) -> pl.DataFrame:
    """Two in a hundred values of each key missing."""
    rng = np.random.default_rng(1)
    gone = {v: pl.Series(rng.random(frame.height) < 0.02) for v in KEYS}
    return frame.with_columns(pl.when(hide).then(None).otherwise(pl.col(v)).alias(v) for v, hide in gone.items())


def larger(heads: pl.DataFrame, times: int) -> pl.DataFrame:
    """So many times the rows, drawn anew."""
    rng = np.random.default_rng(2)
    rows = heads[rng.integers(0, heads.height, times * heads.height)]
    return rows.with_columns(age=pl.col("age") + pl.Series(rng.integers(-2, 3, rows.height)))


def seconds(work: Work, frame: pl.DataFrame) -> float:
    """Processor seconds of the best of three runs."""
    each = []
    for _ in range(3):
        fresh = frame.clone()
        began = time.process_time()
        work(fresh)
        each.append(time.process_time() - began)
    return min(each)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="only the file of 51,016 records")
    quick = parser.parse_args().quick
    heads = cf.demo("heads")
    files = [heads] if quick else [heads, larger(heads, 10)]
    print(f"{'processor seconds':<36}" + "".join(f"{f.height:>12,}" for f in files))
    for name, work in anonymity().items():
        print(f"{name:<36}" + "".join(f"{seconds(work, f):>12.3f}" for f in files), flush=True)


if __name__ == "__main__":
    main()
