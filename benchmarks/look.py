"""How long a first look takes, with its page: 51,016 householders by six keys, and 1,000,000 people.

    python -m benchmarks.look

The million are rows of the shipped householders drawn with replacement, ages moved by up to a year, weights divided:
as many combinations as such a file has. Processor seconds are those of all threads of the process.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

import confide as cf

KEYS = ["sex", "race", "marital", "age", "educ", "state"]
ROWS = (51_016, 1_000_000)


def people(n: int) -> pl.DataFrame:
    """The shipped householders, or as many as asked like them."""
    heads = cf.demo("heads")
    if n == heads.height:
        return heads
    rng = np.random.default_rng(1)
    drawn = heads[rng.integers(0, heads.height, n)]
    moved = pl.Series(rng.integers(-1, 2, n))
    return drawn.with_columns(
        id=pl.int_range(n), age=(pl.col("age") + moved).clip(15, 96), weight=1 + pl.col("weight") * heads.height / n
    )


def timed(n: int) -> tuple[float, float, float]:
    """Seconds on the clock, seconds of the processor, megabytes of the page."""
    data = people(n)
    with tempfile.TemporaryDirectory() as folder:
        wall, used = time.perf_counter(), time.process_time()
        page = cf.look(data, keys=KEYS, weight="weight").save(Path(folder) / "look.html")
        return time.perf_counter() - wall, time.process_time() - used, page.stat().st_size / 1e6


def main() -> None:
    """Print a table; the first call compiles and is left out."""
    cf.look(cf.demo("heads").head(2_000), keys=KEYS, weight="weight")
    print(f"{'rows':>10}{'seconds':>10}{'processor':>11}{'page, MB':>10}")
    for n in ROWS:
        wall, used, size = timed(n)
        print(f"{n:>10,}{wall:>10.1f}{used:>11.1f}{size:>10.2f}")


if __name__ == "__main__":
    main()
