"""What guesses of unknown values cost beside the attack they read, and how that grows with rows.

    python benchmarks/learning.py            10,000 rows, the shipped file of 51,016, and twice it
    python benchmarks/learning.py --quick    only the shipped file

    python benchmarks/learning.py --level exact    an intruder who uses all that follows from the release

    python benchmarks/learning.py --only microaggregated --rows 6377 12754 25508 51016    growth of some cases

Processor seconds once everything is compiled: of a first attack; of a first attack by the same intruder who also knows
the attribute, which has to fit what a guess has to fit; of a first guess, and of the same guess again, when what was
fitted is still there. The intruder knows sex, race, marital and age, and a noisy
property_value where it says so. Race and marital status are swapped unless it says that keys are kept.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import polars as pl

import confide as cf
from confide.core.run.memory import forget

KEYS = ["sex", "race", "marital", "age"]
SWAPS = [cf.Recode("age", width=5), cf.Swap("race", rate=0.3), cf.Swap("marital", rate=0.3)]
NOISE = cf.Noise("property_value", relative=0.10, keep_zeros=True, bounds=(0, None))
CASES = {
    "tenure kept, keys kept": ([], KEYS, "tenure"),
    "hh_income kept, keys kept": ([], KEYS, "hh_income"),
    "tenure kept": (SWAPS, KEYS, "tenure"),
    "hh_income kept": (SWAPS, KEYS, "hh_income"),
    "hh_income recoded": ([*SWAPS, cf.Recode("hh_income", width=10_000)], KEYS, "hh_income"),
    "hh_income topcoded": ([*SWAPS, cf.Topcode("hh_income", at=150_000)], KEYS, "hh_income"),
    "tenure swapped": ([*SWAPS, cf.Swap("tenure", rate=0.3)], KEYS, "tenure"),
    "hh_income swapped": ([*SWAPS, cf.Swap("hh_income", rate=0.3)], KEYS, "hh_income"),
    "tenure by PRAM": ([*SWAPS, cf.Pram("tenure", retention=0.8)], KEYS, "tenure"),
    "tenure synthetic": ([*SWAPS, cf.CartSynthesis("tenure")], KEYS, "tenure"),
    "hh_income microaggregated": ([*SWAPS, cf.Microaggregate("hh_income", k=5)], KEYS, "hh_income"),
    "hh_income with noise": ([*SWAPS, cf.Noise("hh_income", sd=5_000)], KEYS, "hh_income"),
    "property_value with noise": ([*SWAPS, NOISE], KEYS, "property_value"),
    "tenure, noisy property_value known": ([*SWAPS, NOISE], [*KEYS, "property_value"], "tenure"),
    "hh_income, noisy property_value known": ([*SWAPS, NOISE], [*KEYS, "property_value"], "hh_income"),
}


def seconds(work: Callable[[], object]) -> float:
    """Processor seconds of one run."""
    began = time.process_time()
    work()
    return time.process_time() - began


def row(name: str, files: list[pl.DataFrame], level: str) -> None:
    steps, knows, variable = CASES[name]
    text = f"{name:<40}"
    for data in files:
        release = cf.Plan(steps, identifiers=["id"]).protect(data, seed=1)
        who, more = (cf.Intruder.at(level, knows=known) for known in (knows, [*knows, variable]))
        attack = who.attack(release, progress=False)
        attack.guess(variable)  # compiles
        more.attack(release, progress=False)
        forget()
        text += f" {seconds(lambda more=more, release=release: more.attack(release, progress=False)):>9.2f}"
        forget()
        text += f" {seconds(lambda who=who, release=release: who.attack(release, progress=False)):>9.2f}"
        for _ in range(2):
            text += f" {seconds(lambda attack=attack: attack.guess(variable)):>9.2f}"
    print(text, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="only the file of 51,016 records")
    parser.add_argument("--level", default="sdl", help="sdl (default), exact, or another level of the intruder")
    parser.add_argument("--only", default="", help="cases whose names contain this")
    parser.add_argument("--rows", type=int, nargs="*", help="sizes, up to 51,016, instead of the usual ones")
    given = parser.parse_args()
    heads = cf.demo("heads")
    files = [heads] if given.quick else [heads.sample(10_000, seed=1), heads, pl.concat([heads] * 2)]
    if given.rows:
        files = [heads.sample(n, seed=1) for n in given.rows]
    print(f"{'':<40}" + "".join(f"{f.height:>40,}" for f in files))
    print(f"{'processor seconds':<40}" + f"{'knowing it':>10}{'attack':>10}{'guess':>10}{'again':>10}" * len(files))
    for name in CASES:
        if given.only in name:
            row(name, files, given.level)


if __name__ == "__main__":
    main()
