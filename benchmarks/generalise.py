"""What a search over levels of recoding costs, by the size of the lattice and of the file.

    python benchmarks/generalise.py            the shipped file of 51,016 rows, and twenty times it
    python benchmarks/generalise.py --quick    only the shipped file

Processor seconds of one search, nodes visited until the best was known and in all, nodes of the lattice. Four keys are
sex, race, marital and age; six have educ and state too, with the hierarchies that are proposed. The larger file draws
its rows anew, with ages moved by up to two years.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl

import confide as cf

FOUR = ["sex", "race", "marital", "age"]
SIX = [*FOUR, "educ", "state"]


def cases(heads: pl.DataFrame) -> Mapping[str, Mapping[str, Any]]:
    """What is asked."""
    four, six = ({v: cf.Hierarchy.propose(heads, v) for v in keys} for keys in (FOUR, SIX))
    who = cf.Intruder(knows=SIX)
    close = cf.measures.TCloseness(SIX, "tenure", t=0.3, kind="equal")
    return {
        "4 keys, k = 5": {"hierarchies": four, "until": {"k": 5}},
        "4 keys, k = 5, 1% may fail": {"hierarchies": four, "until": {"k": 5}, "share": 0.01},
        "6 keys, k = 5": {"hierarchies": six, "until": {"k": 5}},
        "6 keys, k = 5, 1% may fail": {"hierarchies": six, "until": {"k": 5}, "share": 0.01},
        "6 keys, 50 expected matches": {"hierarchies": six, "until": {"expected_matches": 50}, "intruders": who},
        "6 keys, t-closeness 0.3": {"hierarchies": six, "until": close},
        "4 keys, k = 5, hellinger": {"hierarchies": four, "until": {"k": 5}, "goal": cf.Hellinger(FOUR)},
    }


def larger(heads: pl.DataFrame, times: int) -> pl.DataFrame:
    """So many times the rows, drawn anew."""
    rng = np.random.default_rng(2)
    rows = heads[rng.integers(0, heads.height, times * heads.height)]
    return rows.with_columns(age=pl.col("age") + pl.Series(rng.integers(-2, 3, rows.height)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="only the file of 51,016 records")
    quick = parser.parse_args().quick
    heads = cf.demo("heads")
    cf.generalise(heads.head(500), hierarchies=FOUR, until={"k": 5}, goal="hellinger")  # imports are no part of it
    for file in [heads] if quick else [heads, larger(heads, 20)]:
        print(f"{f'{file.height:,} rows':<32}{'seconds':>10}{'to best':>10}{'visited':>10}{'nodes':>10}")
        for name, asked in cases(heads).items():
            began = time.process_time()
            found = cf.generalise(file, **asked, progress=False)
            spent = time.process_time() - began
            print(f"{name:<32}{spent:>10.2f}{found.before_best:>10,}{found.visited:>10,}{found.nodes:>10,}", flush=True)


if __name__ == "__main__":
    main()
