"""How long `confide app` takes to start, and its pages with a million rows; what its processes hold.

    python -m benchmarks.app [ROWS]

Run from the project's folder; needs Chromium.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

import confide as cf
from confide.app.jobs import resident
from tests.helpers.app_journey import Hand, Journey
from tests.helpers.app_server import Server, Visit, serving, visiting
from tests.helpers.browser import launched

SCREENS = ("open", "variables", "risk", "protect", "compare", "release", "history")


def stacked(rows: int) -> pl.DataFrame:
    """The shipped householders, drawn with replacement, ages moved by up to two years."""
    draws = np.random.default_rng(1)
    heads = cf.demo("heads")
    some = heads[draws.integers(0, heads.height, rows)]
    moved = np.clip(some["age"].to_numpy() + draws.integers(-2, 3, rows), 15, 96)
    return some.with_columns(id=pl.int_range(rows), age=pl.Series(moved))


def main(rows: int) -> None:
    """Print one line per measurement."""
    with tempfile.TemporaryDirectory() as folder, launched() as browser:
        home = Path(folder)
        stacked(rows).write_parquet(home / "people.parquet")
        began = time.perf_counter()
        with serving(home) as server, visiting(browser, server) as visit:
            print(f"start to first page: {time.perf_counter() - began:.2f} s")
            _walked(server, visit, home / "people.parquet")


def _walked(server: Server, visit: Visit, path: Path) -> None:
    journey = Journey(server, visit, Hand(visit))
    began = time.perf_counter()
    for what, go in (("open", lambda: journey.open(path)), ("variables", journey.roles), ("risk", journey.look)):
        go()
        print(f"{what} done after {time.perf_counter() - began:.1f} s")
    base = visit.page.url.partition("/p/")[0] + "/p/" + journey.project.name
    for screen in SCREENS:
        times = []
        for _ in range(20):
            at = time.perf_counter()
            visit.page.evaluate("url => fetch(url).then(r => r.text())", f"{base}/{screen}")
            times.append(1000 * (time.perf_counter() - at))
        print(f"{screen}: median {statistics.median(times):.0f} ms, 95th percentile {sorted(times)[18]:.0f} ms")
    journey.step("age", "Broader classes")
    print(f"a step measured after {time.perf_counter() - began:.1f} s")
    for pid in (server.process.pid, *server.workers()):
        print(f"process {pid}: {resident(pid) / 1e6:.0f} MB")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
