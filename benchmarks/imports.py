"""Seconds until confide can be used: `import confide`, and the first use of what a user types first.

    python benchmarks/imports.py

Each in processes of its own; the least of five, with the time that Python itself takes to start.
"""

from __future__ import annotations

import subprocess
import sys
import time

LIMIT = 0.3
"""Seconds that `import confide` may take."""
USES = {
    "python alone": "pass",
    "import confide": "import confide",
    "cf.Plan": "import confide as cf; cf.Plan",
    "cf.Swap": "import confide as cf; cf.Plan, cf.Swap",
    "cf.Intruder": "import confide as cf; cf.Intruder",
    "cf.Table": "import confide as cf; cf.Table",
    "cf.Study": "import confide as cf; cf.Study",
    "cf.measures": "import confide as cf; cf.measures",
}


def seconds(code: str) -> float:
    """The least of five runs in fresh processes."""
    took = []
    for _ in range(5):
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True)
        took.append(time.perf_counter() - start)
    return min(took)


def main() -> None:
    for name, code in USES.items():
        took = seconds(code)
        print(f"{name:<16}{took:>7.2f} s", flush=True)
        if name == "import confide" and took > LIMIT:
            print(f"    more than {LIMIT} s: look at python -X importtime -c 'import confide'")


if __name__ == "__main__":
    main()
