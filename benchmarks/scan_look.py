"""A first look at a file larger than memory: processor seconds and peak memory by rows.

    python benchmarks/scan_look.py 10000000

The file is that of `benchmarks/scan_attack.py`. The look runs in a process of its own, whose peak is what the system
says; imports take about 230 MB of it.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import confide as cf

KEYS = ["sex", "race", "marital", "age", "state"]


def look(folder: Path) -> None:
    began, cpu = time.perf_counter(), time.process_time()
    found = cf.look(cf.scan(folder), KEYS, (), guess=False, engine=cf.Local(memory="1GB"))
    took = {"seconds": round(time.perf_counter() - began, 1), "cpu": round(time.process_time() - cpu, 1)}
    peak = round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
    told = {"rows": found.rows, "alone": found.counted.alone, "classes": found.counted.classes}
    print(json.dumps({**told, **took, "peak_mb": peak}), flush=True)


def main() -> None:
    if sys.argv[1] == "--look":
        look(Path(sys.argv[2]))
        return
    with tempfile.TemporaryDirectory() as here:
        made = [sys.executable, str(Path(__file__).with_name("scan_attack.py")), "--one", "make", here, sys.argv[1]]
        subprocess.run(made, check=True)
        subprocess.run([sys.executable, __file__, "--look", f"{here}/in"], check=True)


if __name__ == "__main__":
    main()
