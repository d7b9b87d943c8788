"""Spark beside one machine at the same work: seconds, processor seconds and peak memory, by process.

    python benchmarks/scan_spark.py 1000000                  # an attack, known by categories
    python benchmarks/scan_spark.py 1000000 noise buckets    # a known noisy number beside them, cut by block
    python benchmarks/scan_spark.py 10000000 protect         # protecting: recode, two swaps, noise, topcode

Spark runs here (`local[2,4]`, 2 GB for its JVM). The start of the session is not counted. Linux only: what processes
took stands in /proc.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import confide as cf

sys.path.insert(0, str(Path(__file__).parent))
import scan
import scan_attack

TICK, PAGE = os.sysconf("SC_CLK_TCK"), os.sysconf("SC_PAGE_SIZE")


class Watched:
    """Processes that come from this one: what each took so far, and the most memory that each kind held at once."""

    def __init__(self) -> None:
        self.cpu: dict[int, float] = {}
        self.peak: dict[str, int] = {}

    def look(self) -> None:
        held: dict[str, int] = {}
        for pid, words in _tree(os.getpid()):
            self.cpu[pid] = (int(words[11]) + int(words[12])) / TICK
            name = "driver" if pid == os.getpid() else "JVM" if "java" in _name(pid) else "worker"
            size = int(words[21]) * PAGE // 2**20
            held[name] = max(held.get(name, 0), size)
        for name, size in held.items():
            self.peak[name] = max(self.peak.get(name, 0), size)


def _name(pid: int) -> str:
    return Path(f"/proc/{pid}/comm").read_text().strip() if Path(f"/proc/{pid}/comm").exists() else ""


def _tree(root: int) -> Iterator[tuple[int, list[str]]]:
    """All processes that come from one, with the words of their `stat` after the name."""
    found = {}
    for each in Path("/proc").iterdir():
        if each.name.isdigit():
            try:
                found[int(each.name)] = (each / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
    family, grown = {root}, True
    while grown:
        more = {pid for pid, words in found.items() if int(words[1]) in family} - family
        family, grown = family | more, bool(more)
    return ((pid, found[pid]) for pid in family if pid in found)


@contextmanager
def measured(what: str, **told: Any) -> Iterator[None]:
    """Print what a piece of work took."""
    watched, ended = Watched(), threading.Event()
    watched.look()
    before, began = dict(watched.cpu), time.perf_counter()

    def watch() -> None:
        while not ended.wait(0.3):
            watched.look()

    thread = threading.Thread(target=watch)
    thread.start()
    yield
    ended.set()
    thread.join()
    watched.look()
    cpu = sum(x - before.get(pid, 0.0) for pid, x in watched.cpu.items())
    seconds = round(time.perf_counter() - began, 1)
    print(json.dumps({"what": what, **told, "seconds": seconds, "cpu": round(cpu, 1), "mb": watched.peak}), flush=True)


def engine_of(what: str, buckets: int | None) -> Any:
    """Here, or on Spark."""
    if what == "local":
        return cf.Local(memory="1GB", buckets=buckets)
    os.environ["PYSPARK_PYTHON"] = sys.executable
    from pyspark.sql import SparkSession

    options = {"memory": "2g", "bindAddress": "127.0.0.1", "host": "127.0.0.1"}
    builder = SparkSession.builder.master("local[2,4]").config("spark.ui.enabled", "false")
    for name, value in options.items():
        builder = builder.config(f"spark.driver.{name}", value)
    return cf.Spark(builder.getOrCreate(), buckets=buckets)


def protected(what: str, folder: Path, rows: int) -> None:
    """A release, here or on Spark."""
    engine, data = engine_of(what, None), cf.scan(folder / "in" / "*.parquet")
    places = {"out": folder / f"out-{what}", "private": folder / f"private-{what}"}
    with measured(f"protect {what}", rows=rows):
        made = cf.Plan(scan.PLANS["noise"], identifiers=["id"]).protect(
            data, seed=1, engine=engine, progress=False, **places
        )
    print(json.dumps({"released": made.released.height}), flush=True)


def one(what: str, folder: Path, rows: int, asked: list[str]) -> None:
    """A release, or an attack."""
    if "protect" in asked:
        protected(what, folder, rows)
        return
    noise, buckets = "noise" in asked, max(rows // 40_000, 1) if "buckets" in asked else None
    release = cf.ScannedRelease.load(folder / "private")
    intruder = cf.Intruder(knows=[*scan_attack.KEYS, "state", "property_value"] if noise else scan_attack.KEYS)
    engine = engine_of(what, buckets)
    with measured(what, rows=rows):
        found = intruder.attack(release, engine=engine, out=folder / f"units-{what}", progress=False)
    print(json.dumps({"found": found.summary().found}), flush=True)


def main() -> None:
    if sys.argv[1] == "--one":
        one(sys.argv[2], Path(sys.argv[3]), int(sys.argv[4]), sys.argv[5:])
        return
    with tempfile.TemporaryDirectory() as here:
        if "protect" in sys.argv:
            (Path(here) / "in").mkdir()
            scan.make(Path(here) / "in", int(sys.argv[1]))
        else:
            scan_attack.make(Path(here) / "in", int(sys.argv[1]), "apart" in sys.argv)
            scan_attack.protect(Path(here), sys.argv[2:])
        for what in ("local", "spark"):
            subprocess.run([sys.executable, __file__, "--one", what, here, *sys.argv[1:]], check=True)


if __name__ == "__main__":
    main()
