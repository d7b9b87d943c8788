"""What synthesis costs, and attacks on it, as files grow.

    python benchmarks/synthesis.py             5,000, 51,016 and 204,064 rows
    python benchmarks/synthesis.py --quick     5,000 rows
    python benchmarks/synthesis.py --swaps [ROWS ...]    attacks on rank-swapped numbers, in seconds of the processor

Larger files are the shipped one several times over, with a little noise in the numbers, so that they do not tie. The
solver of quantile regressions has a benchmark of its own: benchmarks/quantiles.py.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl

import confide as cf

KEYS = ["sex", "race", "marital", "age"]
AGE = cf.Recode("age", width=5)
MONEY = ["property_value", "hh_income", "wage_income", "other_income"]


def file_of(n: int) -> pl.DataFrame:
    heads = cf.demo("heads").drop("state", "weight", "hispanic", "educ", "n_persons")
    if n <= heads.height:
        return heads.head(n)
    rng = np.random.default_rng(n)
    some = heads[rng.integers(0, heads.height, n)]
    noise = [(pl.col(v) + (pl.col(v) != 0) * pl.Series(rng.integers(-400, 400, n))).alias(v) for v in MONEY]
    return some.with_columns(*noise, id=pl.Series(np.arange(n)))


def timed(do: Callable[[], Any]) -> tuple[float, Any]:
    began = time.perf_counter()
    made = do()
    return time.perf_counter() - began, made


SWAPPED = {
    "rank swap, one number": [*KEYS, "hh_income"],
    "rank swap, two numbers": [*KEYS, *MONEY[:2]],
    "rank swap, one number, one block": ["hh_income"],
}
"""What intruders know of files in which two numbers were rank-swapped."""


def swapped(frame: pl.DataFrame) -> cf.Release:
    step = cf.RankSwap(MONEY[:2], window=frame.height // 100)
    return cf.Plan([AGE, step], identifiers=["id"]).protect(frame, seed=1)


def swaps(sizes: list[int]) -> None:
    """Processor seconds of these attacks, all threads together."""
    for who in SWAPPED.values():
        cf.Intruder(knows=who).attack(swapped(file_of(2_000)), progress=False)  # compiled
    for n in sizes:
        release = swapped(file_of(n))
        for name, who in SWAPPED.items():
            began = time.process_time()
            cf.Intruder(knows=who).attack(release, progress=False)
            print(f"{n:9,} rows, {name:34}{time.process_time() - began:8.2f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--swaps", nargs="*", type=int, help="rank-swapped numbers, of so many rows")
    asked = parser.parse_args()
    if asked.swaps is not None:
        swaps(asked.swaps or [25_508, 51_016, 102_032, 204_064])
        return
    sizes = (5_000,) if asked.quick else (5_000, 51_016, 204_064)
    drawn = [cf.QuantileRegression("property_value", given=KEYS), cf.QuantileRegression("hh_income", given=KEYS)]
    deck = cf.HotDeck("wage_income", match=["property_value", "hh_income"], within="sex", window=50)
    plans = {
        "quantile regression, 99 lines": [AGE, cf.QuantileRegression("hh_income", given=KEYS)],
        "the same, a quarter zeros": [AGE, cf.QuantileRegression("property_value", given=KEYS)],
        "hot deck, within sex": [
            cf.HotDeck("wage_income", match=["other_income", "hh_income"], within="sex", window=50)
        ],
        "rank swap": [cf.RankSwap("hh_income", window=50)],
        "CART": [AGE, cf.CartSynthesis("hh_income", given=KEYS)],
        "normal regression": [AGE, cf.NormalSynthesis("hh_income", given=KEYS, scale="ranks")],
    }
    print(f"{'':44}" + "".join(f"{n:>12,}" for n in sizes) + "   seconds")
    files = {n: file_of(n) for n in sizes}
    timed(lambda: cf.Plan([*drawn, deck]).protect(files[sizes[0]].head(500), seed=1))  # imports
    for name, steps in plans.items():
        row = [timed(lambda n=n, s=steps: cf.Plan(s).protect(files[n], seed=1))[0] for n in sizes]
        print(f"protect: {name:35}" + "".join(f"{s:12.2f}" for s in row), flush=True)
    made = {n: cf.Plan([AGE, *drawn, deck], identifiers=["id"]).protect(files[n], seed=1) for n in sizes}
    moved = {n: swapped(files[n]) for n in sizes}
    attacks = {
        "sdl, knows z1, z2, z3": (cf.Intruder.at("sdl", knows=[*KEYS, *MONEY[:3]]), made),
        "exact, tenure kept": (cf.Intruder.at("exact", knows=[*KEYS, *MONEY[:3]]), made),
    } | {name: (cf.Intruder(knows=who), moved) for name, who in SWAPPED.items()}
    for name, (who, releases) in attacks.items():
        row = [timed(lambda n=n, w=who, r=releases: w.attack(r[n], progress=False))[0] for n in sizes]
        print(f"attack:  {name:35}" + "".join(f"{s:12.2f}" for s in row), flush=True)


if __name__ == "__main__":
    main()
