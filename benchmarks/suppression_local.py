"""Local suppression on the 51,016 heads beside sdcMicro: cells, people left below k, processor seconds.

    python benchmarks/suppression_local.py            all cases, six keys with 39,123 classes among them; two minutes
    python benchmarks/suppression_local.py --quick    those that sdcMicro has figures for

Seconds are of the whole `plan.protect`, on one processor, after compiling; "below k" counts people with fewer than k
equals where a hidden value is a value of its own. The figures of sdcMicro 5.8.1 (`localSuppression`, the same keys and
k) were taken beforehand on a machine of this kind, not in the same run. "attack" is that of an intruder who knows the
keys.
"""

from __future__ import annotations

import argparse
import time

import polars as pl

import confide as cf

KEYS = ("sex", "race", "marital", "age")
CASES = {
    (KEYS, 3): (6.3, 1_133, 2),
    (KEYS, 5): (14.4, 2_243, 17),
    ((*KEYS, "educ"), 3): (129.0, 8_806, 202),
}
"""Keys and k: seconds of sdcMicro, cells that it hides, people whom it leaves below k by their own combination."""


def protected(frame: pl.DataFrame, keys: tuple[str, ...], k: int, rule: str) -> tuple[cf.Release, float]:
    """A release and the processor seconds that it took."""
    plan = cf.Plan([cf.LocalSuppression(keys, k=k, rule=rule)], identifiers=["id"])
    began = time.process_time()
    release = plan.protect(frame, seed=1)
    return release, time.process_time() - began


def line(name: str, seconds: float, cells: object, below: object, more: str = "") -> None:
    print(f"{name:<40}{seconds:>9.2f}{cells:>10,}{below:>9,}  {more}", flush=True)


def case(frame: pl.DataFrame, keys: tuple[str, ...], k: int, peer: tuple[float, int, int] | None) -> None:
    """One choice of keys and k: sdcMicro where there is a figure, then both rules."""
    print(f"{frame.height:,} records; {', '.join(keys)}; k = {k}")
    if peer is not None:
        line("  sdcMicro 5.8.1", *peer)
    for rule in ("wildcard", "own"):
        release, seconds = protected(frame, keys, k, rule)
        told = release.details[0]
        gap = "" if told["gap"] is None else f"at most {told['gap']:.2%} above the least; "
        if peer is not None:
            began = time.process_time()
            attack = cf.Intruder(knows=keys).attack(release)
            gap += f"attack {time.process_time() - began:.2f} s, largest p_max {attack.units['p_max'].max():.3f}"
        line(f"  confide, {rule}", seconds, told["cells"], told["below_k"]["own"], gap)  # type: ignore[index]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="without six keys")
    quick = parser.parse_args().quick
    heads = cf.demo("heads")
    for rule in ("own", "wildcard"):  # compiled, or read from the cache
        release, _ = protected(heads.head(300), KEYS, 3, rule)
        cf.Intruder(knows=KEYS).attack(release)
    print(f"{'':<40}{'seconds':>9}{'cells':>10}{'below k':>9}")
    for (keys, k), peer in CASES.items():
        case(heads, keys, k, peer)
    if not quick:
        case(heads, (*KEYS, "educ", "state"), 3, None)


if __name__ == "__main__":
    main()
