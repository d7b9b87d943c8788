"""The shipped study: how long it takes, what the study adds to its attacks and measures, and how cost grows with rows.

    python benchmarks/study.py            the whole file on all cores; parts of it on one, a few minutes
    python benchmarks/study.py --quick    only parts of it

On one thread pieces run one after another, so the seconds outside of protecting, attacking and measuring are what the
study itself adds: stating, keeping pieces in a folder, putting tables together.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from dataclasses import replace

import polars as pl

import confide as cf
from confide.cli.demo import heads_study


def timed(rows: int | None, threads: int | None, repeats: int) -> tuple[float, float]:
    """Seconds of the whole study, and of its pieces added up."""
    study = heads_study(repeats=repeats)
    if rows is not None:
        study = replace(study, data=cf.demo("heads").head(rows))
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        result = study.run(folder, threads=threads)
        seconds = time.perf_counter() - began
    met = result.timings.filter(pl.col("plan") != "No SDL")  # the anchor again, which is met once
    return seconds, float(met.select("protect", "attack", "utility").sum_horizontal().sum())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="leave the whole file on all cores out")
    quick = parser.parse_args().quick
    timed(500, 1, 1)  # compile
    print("| rows | threads | repeats | study, s | pieces, s | added |")
    print("| --- | --- | --- | --- | --- | --- |")
    for rows in (6_000, 12_500, 25_000, None):
        whole, pieces = timed(rows, 1, 1)
        shown = f"{rows or 51_016:,}"
        print(f"| {shown} | 1 | 1 | {whole:.1f} | {pieces:.1f} | {whole / pieces - 1:.1%} |", flush=True)
    if not quick:
        whole, pieces = timed(None, None, 5)
        print(f"| 51,016 | all | 5 | {whole:.1f} | {pieces:.1f} (side by side) | |")


if __name__ == "__main__":
    main()
