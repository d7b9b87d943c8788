"""What `Intruder.cost` says beside what attacks take: time and memory, each case in a process of its own.

    python benchmarks/cost.py [rows ...]

Memory is the most that the process held during the attack, less what it held before (Linux alone tells it).
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import polars as pl

import confide as cf

KNOWN = ("sex", "race", "age", "marital", "state", "tenure")
PLANS = {
    "as it is": [],
    "swap": [cf.Swap("race", rate=0.1)],
    "recode": [cf.Recode("age", width=5)],
    "noise": [cf.Noise("age", sd=3)],
}
CASES = (
    ("as it is", 2, "sdl"), ("as it is", 6, "sdl"), ("swap", 4, "sdl"), ("swap", 6, "exact"), ("recode", 4, "exact"),
    ("noise", 4, "sdl"),
)  # fmt: skip
HEAD = "| rows | plan | known | level | said, s | took, s | said, MB | took, MB |"


def held(what: str) -> int:
    """Bytes that the process holds (VmRSS), or the most that it held (VmHWM)."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(what))


def one(rows: int, plan: str, known: int, level: str) -> dict[str, float]:
    """One case: what was said, and what it took."""
    heads, draw = cf.demo("heads"), np.random.default_rng(1)
    file = heads[draw.integers(0, heads.height, rows)].with_columns(id=pl.Series(np.arange(rows)))
    release = cf.Plan(PLANS[plan], identifiers=["id"], weight="weight").protect(file, seed=1)
    who = cf.Intruder.at(level, knows=KNOWN[:known])
    said = who.cost(release)
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    before, began = held("VmRSS"), time.perf_counter()
    who.attack(release, progress=False)
    took = time.perf_counter() - began
    return {
        "said_s": said.seconds,
        "took_s": took,
        "said_mb": said.bytes / 1e6,
        "took_mb": (held("VmHWM") - before) / 1e6,
    }


def main(sizes: list[int]) -> None:
    """All cases, as a table."""
    print(HEAD, "| --- " * 8 + "|", sep="\n")
    for rows in sizes:
        for plan, known, level in CASES:
            command = [sys.executable, __file__, "--one", str(rows), plan, str(known), level]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            r = json.loads(done.stdout.splitlines()[-1])
            print(
                f"| {rows:,} | {plan} | {known} | {level} | {r['said_s']:.2f} | {r['took_s']:.2f} "
                f"| {r['said_mb']:.0f} | {r['took_mb']:.0f} |",
                flush=True,
            )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(one(int(sys.argv[2]), sys.argv[3], int(sys.argv[4]), sys.argv[5])))
    else:
        main([int(a) for a in sys.argv[1:]] or [51_016, 1_000_000])
