"""Speed of MDAV, how it grows with records and variables, and a check against the definition in the same run.

    python -m benchmarks.microaggregation            up to 102,032 records, and the definition at 3,000; a minute
    python -m benchmarks.microaggregation --quick    up to 51,016 records

Household income and property value of the heads data, standardised, in groups of 3; for more than 51,016 records they
are repeated with small noise. Then 1, 2, 4 and 8 independent normal variables. Processor time of the one thread that
is used, best of three runs, without compiling. The exponent is the slope of log seconds on log records. The 13.6 s of
sdcMicro for 51,016 records x 2 variables at k = 3 are a figure given beforehand, not taken in the same run.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

import confide as cf
from confide.protect.methods.microaggregate.mdav import mdav

SDCMICRO = 13.6
SIZES = (12_754, 25_508, 51_016, 102_032)


def money(n: int) -> np.ndarray:
    """Two variables of n heads, in standard deviations."""
    x = cf.demo("heads").select("hh_income", "property_value").to_numpy().astype(np.float64)
    if n > len(x):
        rng = np.random.default_rng(0)
        x = np.vstack([x, np.round(x[: n - len(x)] * rng.normal(1, 0.02, (n - len(x), 2)))])
    return x[:n] / x[:n].std(axis=0)


def normals(n: int, p: int) -> np.ndarray:
    """Independent normal variables."""
    return np.random.default_rng(p).normal(size=(n, p))


def seconds(x: np.ndarray, k: int = 3, repeats: int = 3) -> float:
    """The best time of a few runs."""
    best = np.inf
    for _ in range(repeats):
        began = time.thread_time()
        mdav(x, k)
        best = min(best, time.thread_time() - began)
    return best


def growth(name: str, sizes: tuple[int, ...], make: object) -> None:
    """One line: seconds at each size, and the exponent."""
    times = [seconds(make(n)) for n in sizes]  # type: ignore[operator]
    slope = np.polyfit(np.log(sizes), np.log(times), 1)[0]
    print(f"{name:<28}" + "".join(f"{t:>10.3f}" for t in times) + f"{slope:>10.2f}", flush=True)
    if name.startswith("income") and 51_016 in sizes:
        print(f"{'':<28}51,016 records: {SDCMICRO / times[sizes.index(51_016)]:.0f} times as fast as sdcMicro's 13.6 s")


def definition(n: int = 3_000, k: int = 3) -> None:
    """Seconds of the definition, which measures every distance, and whether groups are the same."""
    from tests.helpers.mdav_twin import plain_mdav

    x = money(n)
    began = time.thread_time()
    slow = plain_mdav(x, k)
    took = time.thread_time() - began
    same = "the same groups" if np.array_equal(slow, mdav(x, k)) else "OTHER GROUPS"
    print(f"the definition in NumPy, {n:,} records: {took:.2f} s; here {seconds(x, k):.3f} s; {same}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="up to 51,016 records")
    quick = parser.parse_args().quick
    sizes = SIZES[:3] if quick else SIZES
    for p in (1, 2, 4, 8):  # compiled, or read from the cache
        mdav(normals(100, p), 3)
    print(f"{'seconds, k = 3':<28}" + "".join(f"{n:>10,}" for n in sizes) + f"{'exponent':>10}")
    growth("income and property value", sizes, money)
    for p in (1, 2, 4, 8):
        growth(f"{p} normal variable{'s' if p > 1 else ''}", sizes, lambda n, p=p: normals(n, p))
    for k in (5, 10):
        print(f"income and property value, k = {k}, 51,016 records: {seconds(money(51_016), k):.3f} s")
    if not quick:
        definition()


if __name__ == "__main__":
    main()
