"""What level "exact" costs beside the others, on one release, in one run.

    python benchmarks/exact.py            10,000 and 51,016 household heads, and 68,415 households with expenditures
    python benchmarks/exact.py --quick    only the 10,000

The levels are attacked one after another, "exact" first, so that the others show what they need besides. Beliefs fitted
for an earlier row are dropped, and every loop is compiled before. The file of expenditures is generated: ten
skewed amounts with zeros and ties beside household categories. `cpu`: seconds of all threads together.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator

import numpy as np
import polars as pl

import confide as cf
from confide.core.run import memory

KEYS = ["sex", "race", "marital", "age"]
HOUSE = ["size", "age", "region", "tenure", "race", "sex", "educ"]
AMOUNTS = {"food": 0.002, "housing": 0.01, "transport": 0.05, "health": 0.2, "leisure": 0.15, "clothes": 0.3,
           "education": 0.8, "reading": 0.5, "tobacco": 0.7, "gifts": 0.6}  # fmt: skip
"""Expenditures and the share of households without."""
LEVELS = ("exact", "informed", "naive")


def expenditures(rows: int, seed: int = 3) -> pl.DataFrame:
    """Households with ten amounts that hang together."""
    rng = np.random.default_rng(seed)
    spans = {"size": (1, 7), "age": (16, 90), "region": (1, 5), "tenure": (1, 7), "race": (1, 7), "sex": (1, 3)}
    data = {name: rng.integers(*span, rows) for name, span in spans.items()} | {"educ": rng.integers(10, 17, rows)}
    rich = rng.normal(size=rows) + 0.15 * (data["educ"] - 13) + 0.1 * data["size"]
    for i, (name, none) in enumerate(AMOUNTS.items()):
        amount = np.round(np.exp(6.5 - 0.3 * i + 0.6 * rich + 0.7 * rng.normal(size=rows)) / 5) * 5
        data[name] = np.where(rng.random(rows) < none, 0.0, amount)
    return pl.DataFrame(data)


def plans(heads: bool) -> Iterator[tuple[str, list, list[str]]]:
    """Name, steps, and what the intruder knows."""
    keys, (one, two) = (KEYS, ("hh_income", "property_value")) if heads else (HOUSE, ("food", "housing"))
    synthetic = [cf.QuantileRegression(one, given=keys), cf.CartSynthesis(two, given=keys)]
    swap, noise = cf.Swap("race", rate=0.3), cf.Noise(one, relative=0.1)
    yield "synthetic, known", synthetic, [*keys, one, two]
    yield "swap", [swap], keys
    yield "swap and noise, known", [swap, noise], [*keys, one]
    yield "swap and noise, not known", [swap, noise], keys
    if heads:
        yield "swap, noise, synthetic", [swap, noise, synthetic[1]], [*keys, one, two]


def seconds(release: cf.Release, level: str, knows: list[str]) -> str:
    wall, cpu = time.perf_counter(), time.process_time()
    cf.Intruder.at(level, knows=knows).attack(release, progress=False)
    return f"{time.perf_counter() - wall:>9.2f} {time.process_time() - cpu:>8.2f}"


def table(name: str, data: pl.DataFrame, heads: bool) -> None:
    for plan, steps, knows in plans(heads):
        made = cf.Plan(steps, identifiers=["id"] if heads else [])
        small = made.protect(data.head(2_000), seed=1)
        for level in LEVELS:
            cf.Intruder.at(level, knows=knows).attack(small, progress=False)
        release = made.protect(data, seed=1)
        memory.forget()
        print(f"{name:<14} {plan:<26}" + "".join(seconds(release, level, knows) for level in LEVELS), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="only 10,000 household heads")
    quick = parser.parse_args().quick
    print(f"{'':<41}" + "".join(f"{level:>9} {'cpu':>8}" for level in LEVELS))
    heads = cf.demo("heads")
    table("10,000 heads", heads.sample(10_000, seed=1), heads=True)
    if not quick:
        table("51,016 heads", heads, heads=True)
        table("68,415 houses", expenditures(68_415), heads=False)


if __name__ == "__main__":
    main()
