"""Speed and memory of the attack on files with errors of unknown size, against plain NumPy Monte Carlo in the same run.

    python benchmarks/measurement.py            all rows of the table in docs/reference/performance.md
    python benchmarks/measurement.py --quick    only the file of 662 records
    python benchmarks/measurement.py --grow [ROWS ...]    wide errors on one thread: how the cost grows

Timings are ratios in one run. Larger files are drawn from the 662 records with a little jitter, so that no two records
are alike. "wide" has the beliefs of Fienberg, Makov and Sanil's Table 4.2, under which every record can be anybody's;
"narrow" an error of a hundredth of each variable's range, which leaves most records out of the window.
"""

from __future__ import annotations

import argparse
import resource
import time

import numpy as np
import polars as pl

import confide as cf

KEYS = ["age", "civil", "can_us", "income"]
DRAWS = 1000


def file_of(n: int) -> pl.DataFrame:
    """n records like those of the survey."""
    elites = cf.demo("elites").select(KEYS)
    if n == elites.height:
        return elites
    rng = np.random.default_rng(n)
    some = elites[rng.integers(0, elites.height, n)]
    return some.with_columns([some[v] + 0.05 * some[v].std() * rng.standard_normal(n) for v in KEYS])


def plan_of(frame: pl.DataFrame, wide: bool) -> cf.Plan:
    if wide:
        return cf.Plan([cf.MeasurementError(v, **cf.prior_from_range(frame[v], as_printed=True)) for v in KEYS])
    sizes = {v: (0.01 * float(frame[v].max() - frame[v].min())) ** 2 for v in KEYS}
    return cf.Plan([
        cf.MeasurementError(v, noise_variance=cf.Gamma.around(s), bias_variance=cf.Gamma.around(1e-4))
        for v, s in sizes.items()
    ])  # fmt: skip


def monte_carlo(z: np.ndarray, x: np.ndarray, plan: cf.Plan) -> float:
    """Seconds for print's way in plain NumPy: each density averaged over drawn variances, target by target."""
    rng = np.random.default_rng(1)
    drawn = [
        (rng.gamma(s.noise_variance.shape, 1 / s.noise_variance.rate, DRAWS),
         rng.gamma(s.bias_variance.shape, 1 / s.bias_variance.rate, DRAWS))
        for s in plan.steps
    ]  # fmt: skip
    began = time.perf_counter()
    variance = [noise[:, None] + bias[:, None] * z[:, k] ** 2 for k, (noise, bias) in enumerate(drawn)]
    scale = [1 / np.sqrt(2 * np.pi * v) for v in variance]
    for t in x:
        w = np.ones(len(z))
        for k in range(len(KEYS)):
            w = w * (scale[k] * np.exp(-0.5 * (t[k] - z[:, k]) ** 2 / variance[k])).mean(axis=0)
        _ = w / w.sum()
    return time.perf_counter() - began


def row(n: int, wide: bool, compare: bool) -> None:
    frame = file_of(n)
    plan = plan_of(frame, wide)
    release = plan.protect(frame, seed=1)
    targets = cf.simulate_targets(frame, plan, seed=2)
    who = cf.Intruder(knows=KEYS)
    who.attack(plan.protect(frame[:40], seed=1))  # compile
    began = time.perf_counter()
    attack = who.attack(release, targets, truth=np.arange(n))
    seconds = time.perf_counter() - began
    skipped = 1 - attack.pairs[1] / attack.pairs[0]
    line = f"{n:>8,}  {'wide' if wide else 'narrow':<7} {seconds:>8.2f} s  {skipped:>6.1%} skipped"
    if compare:
        some = np.arange(0, n, 4)
        z, x = release.frame.select(KEYS).to_numpy(), targets.select(KEYS).to_numpy()
        plainly = 4 * monte_carlo(z, x[some], plan)
        line += f"  Monte Carlo {plainly:>6.1f} s, {plainly / seconds:,.0f} times as long"
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{line}  peak {peak:,.0f} MB", flush=True)


def grow(sizes: list[int]) -> None:
    """Processor seconds of whole attacks on wide errors, one thread, and what each is per pair."""
    row(662, True, compare=False)  # compile
    for n in sizes:
        frame = file_of(n)
        plan = plan_of(frame, True)
        release = plan.protect(frame, seed=1)
        targets = cf.simulate_targets(frame, plan, seed=2)
        began = time.process_time()
        cf.Intruder(knows=KEYS).attack(release, targets, truth=np.arange(n), threads=1, progress=False)
        took = time.process_time() - began
        print(f"{n:>8,}  wide {took:>8.2f} s of the processor, {1e9 * took / n**2:.1f} ns a pair", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="only the file of 662 records")
    parser.add_argument("--grow", nargs="*", type=int, help="whole attacks on files of so many records")
    asked = parser.parse_args()
    if asked.grow is not None:
        grow(asked.grow or [3_125, 6_250, 12_500, 25_000, 50_000])
        raise SystemExit
    for n in [662] if asked.quick else [662, 5_000, 50_000]:
        for wide in (True, False):
            row(n, wide, compare=n == 662)
