"""How matching everybody at once grows with rows, in blocks of hundreds and of thousands.

    python benchmarks/one_to_one.py            3,189 to 51,016 rows
    python benchmarks/one_to_one.py --quick    up to 12,754

Incomes get noise; the intruder knows them with sex and age (blocks of hundreds) or with sex and marital status (blocks
of thousands; also with ten times the noise, and where half of all are released and nobody knows who). Printed:
processor seconds of the attack itself, of the best assignment with its proof, and of the marginals, and seconds by the
clock of assignment and marginals together; the largest R-hat, and how many targets are in components where it is above
1.01.
"""

from __future__ import annotations

import argparse
import resource
import time
from typing import Any

import numpy as np

import confide as cf
from confide.attack.engine.prepare import prepare
from confide.attack.learning.one_to_one.assign import assign
from confide.attack.learning.one_to_one.candidates import candidates
from confide.attack.learning.one_to_one.components import components
from confide.attack.learning.one_to_one.marginals import marginals
from confide.attack.learning.one_to_one.nearby import nearby
from confide.attack.learning.one_to_one.sampled import TRUSTED
from confide.attack.learning.one_to_one.types import types_of
from confide.core.run.threads import thread_count

THOUSANDS = ["sex", "marital", "hh_income"]
CASES: dict[str, tuple[list[Any], cf.Intruder]] = {
    "blocks of hundreds": ([cf.Noise("hh_income", sd=1_000)], cf.Intruder(knows=["sex", "age", "hh_income"])),
    "blocks of thousands": ([cf.Noise("hh_income", sd=1_000)], cf.Intruder(knows=THOUSANDS)),
    "the same, with much noise": ([cf.Noise("hh_income", sd=10_000)], cf.Intruder(knows=THOUSANDS)),
    "the same, half of all released": (
        [cf.Sample(fraction=0.5), cf.Noise("hh_income", sd=1_000)],
        cf.Intruder(knows=THOUSANDS, membership="in_file"),
    ),
}


def timed(what: Any) -> tuple[Any, float]:
    """What a call gives, and its processor seconds."""
    began = time.process_time()
    return what(), time.process_time() - began


def measure(rows: int, steps: list[Any], intruder: cf.Intruder) -> str:
    """One line of the table."""
    release = cf.Plan(steps, identifiers=["id"]).protect(cf.demo("heads").sample(rows, seed=1), seed=1)
    threads = thread_count(None)
    attack, first = timed(lambda: intruder.attack(release, progress=False))
    types = types_of(prepare(intruder, release, None, None))
    began = time.perf_counter()
    best, second = timed(lambda: assign(types, candidates(types, threads), threads))
    parts, third = timed(lambda: components(types, nearby(types, best, threads)))
    found, fourth = timed(lambda: marginals(parts, None, 0, threads))
    clock = time.perf_counter() - began
    largest, drawn = int(attack.units["candidates"].max()), int(parts.targets[~found.exact].sum())  # type: ignore[arg-type]
    apart = int(parts.targets[found.r_hat > TRUSTED].sum())
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    return (
        f"{rows:>7,} {largest:>8,} {first:>8.1f} {second:>11.1f} {best.gap:>6.1g} {third + fourth:>10.1f} {clock:>7.1f}"
        f" {drawn:>9,}"
        f" {np.nanmax(found.r_hat, initial=1.0):>7.4f} {apart:>7,} {peak:>6.1f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", default="", help="cases whose names contain this")
    parser.add_argument("--rows", type=int, nargs="*", default=(3_189, 6_377, 12_754, 25_508, 51_016))
    given = parser.parse_args()
    most = 12_754 if given.quick else 51_016
    for steps, intruder in CASES.values():  # compiles
        measure(1_000, steps, intruder)
    for name, (steps, intruder) in CASES.items():
        if given.only not in name:
            continue
        head = f"{'rows':>7} {'block':>8} {'attack':>8} {'assignment':>11} {'gap':>6} {'marginals':>10} {'clock':>7}"
        print(f"\n{name}\n{head} {'sampled':>9} {'R-hat':>7} {'above':>7} {'GB':>6}")
        for rows in given.rows:
            if rows <= most:
                print(measure(rows, steps, intruder), flush=True)


if __name__ == "__main__":
    main()
