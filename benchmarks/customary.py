"""What customary risks of a file cost, in processor seconds, and how that grows with rows.

    python benchmarks/customary.py            51,016 and 510,160 rows, and 1,016,437 people
    python benchmarks/customary.py --quick    51,016 rows

Second calls are timed, so that nothing is compiled meanwhile; models that a file was given before are fitted anew. The
third column is what sdcMicro 5.8.1 took for the same job on a machine of the same kind, where it was measured.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl

import confide as cf
from confide.core.run.memory import forget
from confide.measure.risk.file_risks.classes import alike
from confide.measure.risk.file_risks.file import File

A = ["sex", "race", "marital", "age"]
B = ["sex", "race", "marital", "educ", "age"]
SIX = ["state", *B]
PEOPLE = 1_016_437
PEERS = {51_016: 0.06, 510_160: 0.42}
"""sdcMicro's frequencies and individual risk, by rows."""


def seconds(job: Callable[[], Any]) -> float:
    """Processor seconds of a second call."""
    job()
    forget()
    began = time.process_time()
    job()
    return time.process_time() - began


def jobs(data: pl.DataFrame, total: float) -> dict[str, tuple[Callable[[], Any], dict[int, float]]]:
    """By name, what is asked, and sdcMicro's seconds by number of rows."""
    m, peers = cf.measures, PEERS
    return {
        **alike_jobs(data),
        "individual risk, 4 keys": (lambda: m.IndividualRisk(A, total=total).of(data), peers),
        "individual risk, 6 keys": (lambda: m.IndividualRisk(SIX, total=total).of(data), {}),
        "SUDA2, 5 keys": (lambda: m.Suda(B).of(data), {51_016: 0.25}),
        "SUDA2, 6 keys": (lambda: m.Suda(SIX).of(data), {}),
        "population uniques, 4 keys": (lambda: m.PopulationUniques(A, total=total).of(data), {}),
        "population uniques, 5 keys": (lambda: m.PopulationUniques(B, total=total).of(data), {}),
        "population uniques, 6 keys": (lambda: m.PopulationUniques(SIX, total=total).of(data), {}),
    }


def alike_jobs(data: pl.DataFrame) -> dict[str, tuple[Callable[[], Any], dict[int, float]]]:
    """Classes of records that are alike on five keys, and what is made of them."""
    m, people, gaps = cf.measures, cf.demo("heads_population"), holes(data)
    text, homes = data.with_columns(pl.col(B).cast(pl.String)), data.with_columns(home=pl.int_range(pl.len()) // 3)
    found: dict[str, Callable[[], Any]] = {
        "k-anonymity": lambda: m.KAnonymity(B).of(data),
        "k-anonymity, keys as text": lambda: m.KAnonymity(B).of(text),
        "the same, 2% missing, own": lambda: m.KAnonymity(B).of(gaps),
        "the same, 2% missing, wildcard": lambda: m.KAnonymity(B, missing="wildcard").of(gaps),
        "unsafe combinations of 3": lambda: m.UnsafeCombinations(B).of(data),
        "households of 3": lambda: m.HouseholdRisk(B, "home").of(homes),
        "k-map, 276,613 cells": lambda: m.KMap(B, people, count="n_pop").of(data),
    }
    if "tenure" in data.columns:
        found |= {
            "l-diversity, entropy": lambda: m.LDiversity(B, "tenure", l=1.5, kind="entropy").of(data),
            "l-diversity, recursive": lambda: m.LDiversity(B, "tenure", kind="recursive", c=3).of(data),
            "t-closeness of tenure": lambda: m.TCloseness(B, "tenure").of(data),
            "t-closeness of income": lambda: m.TCloseness(B, "hh_income").of(data),
        }
    first = {"frequencies, 5 keys": (lambda: frequencies(data), PEERS)}
    return first | {name: (job, {}) for name, job in found.items()}


def frequencies(data: pl.DataFrame) -> Any:
    """How many rows are alike with each."""
    file = File.of(data, "frequencies")
    return alike([file.codes(v) for v in B], file.n)


def holes(data: pl.DataFrame) -> pl.DataFrame:
    """Two in a hundred values of each key missing."""
    rng = np.random.default_rng(1)
    gone = {v: pl.Series(rng.random(data.height) < 0.02) for v in B}
    return data.with_columns(pl.when(hide).then(None).otherwise(pl.col(v)).alias(v) for v, hide in gone.items())


def population() -> pl.DataFrame:
    """One row per person of the population behind the shipped file."""
    cells = cf.demo("heads_population")
    return cells[np.repeat(np.arange(cells.height), cells["n_pop"].to_numpy())]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    heads = cf.demo("heads")
    files = [heads] if parser.parse_args().quick else [heads, pl.concat([heads] * 10), population()]
    print(f"{'rows':>9}  {'what':<31} {'seconds':>8} {'sdcMicro':>9}")
    for data in files:
        for name, (job, peers) in jobs(data, 20.0 * data.height).items():
            peer = peers.get(data.height)
            print(f"{data.height:>9,}  {name:<31} {seconds(job):>8.3f} {'' if peer is None else peer:>9}", flush=True)


if __name__ == "__main__":
    main()
