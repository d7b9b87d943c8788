"""The shipped study: how long it takes, what the study adds to its attacks and measures, and how cost grows with rows.

    python benchmarks/study.py            the whole file on all cores; parts of it on one, a few minutes
    python benchmarks/study.py --quick    only parts of it
    python benchmarks/study.py --twelve   another: twelve plans, three intruders at every level, five repeats

First, how often a column of one file is made into an array while one plan is met: by protecting, by attacking with each
intruder, by measuring, and by the audit of the measures; and in a whole study of five repeats.

On one thread pieces run one after another, so the seconds outside of protecting, attacking and measuring are what the
study itself adds: stating, keeping pieces in a folder, putting tables together.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import polars as pl

import confide as cf
from confide.cli.demo import heads_study
from confide.frames import columns
from confide.measure.utility.traces import traces


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


class Counted:
    """How many encodings were made since it was last asked."""

    def __init__(self) -> None:
        self.many = 0
        for name in ("_categorical", "to_floats"):
            setattr(columns, name, self._noting(getattr(columns, name)))

    def _noting(self, make: Callable[..., Any]) -> Callable[..., Any]:
        def noted(*given: Any) -> Any:
            self.many += 1
            return make(*given)

        return noted

    def __call__(self) -> int:
        found, self.many = self.many, 0
        return found


def encodings(rows: int = 5_000) -> None:
    """Print who encodes how often."""
    study, counted = replace(heads_study(), data=cf.demo("heads").head(rows)), Counted()
    plan = list(study.plans.values())[-1]
    assert isinstance(plan, cf.Plan)
    release = plan.protect(study.data, seed=1)
    found = [("protect", counted())]
    for name, who in study.intruders.items():
        who.attack(release, progress=False)
        found.append((f"attack by the {name}", counted()))
    cf.utility(release, study.measures)
    found.append((f"{len(study.measures)} measures of utility", counted()))
    traces(release, study.measures)
    found.append(("their audit", counted()))
    study.run(threads=1, progress=False)
    found.append(("the study, 23 releases", counted()))
    print("| step | columns encoded |\n| --- | --- |")
    print("\n".join(f"| {what} | {many:,} |" for what, many in found), end="\n\n", flush=True)


def twelve(rows: int | None = None) -> cf.Study:
    """The shipped plans and four more, with one more intruder."""
    study, keys = heads_study(), {"identifiers": ["id"], "weight": "weight"}
    tens, swap = cf.Recode("age", width=10), cf.Swap("race", rate=0.1)
    more = {
        "Race swapped": cf.Plan([swap], **keys),
        "Ages in tens, race swapped": cf.Plan([tens, swap], **keys),
        "Ages in tens, marital status post-randomised": cf.Plan([tens, cf.Pram("marital", retention=0.9)], **keys),
        "Home values topcoded": cf.Plan([cf.Topcode("property_value", at=300_000)], **keys),
    }
    colleague = cf.Intruder(knows=["sex", "race", "age", "educ"])
    data = study.data if rows is None else study.data.head(rows)
    return replace(
        study, data=data, plans={**study.plans, **more}, intruders={**study.intruders, "colleague": colleague}
    )


def print_twelve() -> None:
    """Print the seconds of that study, and of the processor."""
    study = twelve()
    began, used = time.perf_counter(), time.process_time()
    study.run(progress=False)
    took = time.perf_counter() - began, time.process_time() - used
    print(f"{len(study.plans)} plans, {len(study.intruders)} intruders, {study.repeats} repeats:", end=" ")
    print(f"{took[0]:.0f} s, {took[1]:.0f} s of the processor")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="leave the whole file on all cores out")
    parser.add_argument("--twelve", action="store_true", help="twelve plans and three intruders instead")
    options = parser.parse_args()
    if options.twelve:
        print_twelve()
        return
    quick = options.quick
    timed(500, 1, 1)  # compile
    encodings()
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
