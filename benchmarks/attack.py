"""Speed and memory of the attack, against the plain chunked NumPy twin in the same run.

    python benchmarks/attack.py            all rows of the table in docs/reference/performance.md
    python benchmarks/attack.py --quick    only the file of 51,016 records
    python benchmarks/attack.py --distinct [ROWS ...]    a known noisy number of which no two values are alike

Timings are ratios in one run. The twin walks over targets with blocks split beforehand; at 510,160 records it is
timed on a random part of the targets and scaled up, since it does the same work for each.
"""

from __future__ import annotations

import argparse
import resource
import time

import numpy as np
import polars as pl

import confide as cf
from confide.attack.engine.kernel_plan import KernelPlan
from confide.attack.engine.kernels.arguments import Into
from confide.attack.engine.loops import _direct, carry_out
from confide.attack.engine.prepare import prepare
from confide.attack.engine.room import tops
from confide.attack.results.again import prepared
from confide.core.run.threads import thread_count
from confide.protect.likelihoods.normal import Normal

KEYS = ["sex", "race", "marital", "age"]


def swaps() -> list:
    return [cf.Recode("age", width=5), cf.Swap("race", rate=0.3), cf.Swap("marital", rate=0.3)]


def noisy() -> list:
    return [*swaps(), cf.Noise("property_value", relative=0.10, keep_zeros=True, bounds=(0, None))]


def twin(attack, targets) -> float:
    """Seconds that plain NumPy takes for the same summaries, with part A given; the loop of the formula."""
    _, scene, _ = next(prepare(attack.intruder, attack.release, None, None, merge=False).scenes())
    order = np.argsort(scene.block_r, kind="stable")
    cuts = np.searchsorted(scene.block_r[order], np.arange(scene.n_blocks + 1))
    split = [order[cuts[b] : cuts[b + 1]] for b in range(scene.n_blocks)]
    likes, known = scene.uncertain, scene.known_t
    matches = [(u.like, t) for u, t in zip(likes, known, strict=True) if not isinstance(u.like, Normal)]
    normals = [(u.like, t) for u, t in zip(likes, known, strict=True) if isinstance(u.like, Normal)]
    ready = [[(m.code[r], m.log_same[r], m.log_diff[r]) for m, _ in matches] for r in split]
    middle = [[0.5 * (m.low[r] + m.high[r]) for m, _ in normals] for r in split]
    began = time.perf_counter()
    for i in targets:
        b = scene.block_t[i]
        w = -scene.log_m[split[b]]
        for (_, t), (code, same, diff) in zip(matches, ready[b], strict=True):
            w = w + np.where(code == t["code"][i], same, diff)
        for (like, t), mid in zip(normals, middle[b], strict=True):
            if t["inside"][i]:
                w = w - 0.5 * ((mid - t["y"][i]) / like.sd) ** 2
        top = w.max()
        p = np.exp(w - top)
        p /= p.sum()
        own = p[np.searchsorted(split[b], attack.own_rows[i])]
        _ = p.max(), (p >= p.max() * (1 - 1e-9)).sum(), (p > own * (1 + 1e-9)).sum(), (p >= own * (1 - 1e-9)).sum()
    return time.perf_counter() - began


def pairs_seconds(attack, repeats: int = 3) -> float:
    """Seconds of the pair work alone, part A in place, best of a few."""
    best = np.inf
    ready = [(KernelPlan.of(scene, units), units) for _, scene, units in prepared(attack).scenes()]
    for _ in range(repeats):
        began = time.perf_counter()
        for plan, units in ready:
            carry_out(plan, units, thread_count(None), lambda _: None)
        best = min(best, time.perf_counter() - began)
    return best


def memory() -> float:
    """Peak memory of this process so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def row(name: str, data: pl.DataFrame, plan: list, knows: list, part: float | None, seed: int = 1) -> None:
    release = cf.Plan(plan, identifiers=["id"]).protect(data, seed=seed)
    before = memory()
    attack = cf.Intruder(knows=knows).attack(release, progress=False)
    attack = cf.Intruder(knows=knows).attack(release, progress=False)  # once more: compiled
    whole, pairs = attack.seconds, pairs_seconds(attack)
    total, visited = attack.pairs
    text = f"{name:<44} {total:>15,.0f} {whole:>8.2f} {pairs:>8.2f} {total / pairs:>10.2e} {1 - visited / total:>8.1%}"
    if part is not None:
        n = data.height
        some = np.random.default_rng(0).choice(n, size=int(n * part), replace=False)
        slow = twin(attack, some) / part
        text += f" {slow:>9.1f} {slow / pairs:>7.0f}x"
    else:
        text += f" {'':>9} {'':>8}"
    print(text + f" {before:>7.0f} {memory():>7.0f}", flush=True)


def distinct(rows: int, blocks: bool) -> None:
    """Processor seconds of an attack on incomes that all differ, its pair work, and a sample of the loop scaled up."""
    rng = np.random.default_rng(rows)
    data = pl.DataFrame({
        "income": np.exp(11 + 0.8 * rng.standard_normal(rows)), "sex": rng.choice(["f", "m"], rows),
        "race": rng.choice(list("abcd"), rows, p=[0.6, 0.2, 0.15, 0.05]),
    })  # fmt: skip
    steps = [cf.Noise("income", sd=3000.0), *([cf.Swap("race", rate=0.3)] if blocks else [])]
    release = cf.Plan(steps).protect(data, seed=1)
    who = cf.Intruder(knows=["income", "sex", "race"] if blocks else ["income"])
    began = time.process_time()
    attack = who.attack(release, progress=False)
    whole = time.process_time() - began
    plans = [(KernelPlan.of(scene, units), units) for _, scene, units in prepared(attack).scenes()]
    began = time.process_time()
    for plan, units in plans:
        carry_out(plan, units, 1, lambda _: None)
    pairs = time.process_time() - began
    loop = sum(loop_seconds(plan) for plan, _ in plans)
    name = f"{rows:,}: noise" + (" + swap, 2 blocks" if blocks else ", 1 block")
    print(f"{name:<44} {whole:>8.1f} {pairs:>8.2f} {loop:>9.1f} {loop / pairs:>7.0f}x {memory():>7.0f}", flush=True)


def loop_seconds(plan: KernelPlan, some: int = 192) -> float:
    """Processor seconds of the loop over pairs, from runs of neighbouring targets, scaled up."""
    n, into = len(plan.targets), Into(tops(0), np.empty((len(plan.targets), 4)), np.empty((len(plan.own.at), 3)))
    work = _direct(plan, into)
    work(0, 1)  # compiled
    began = time.process_time()
    for first in np.linspace(0, n - some // 6, 6).astype(int):
        work(int(first), int(first) + some // 6)
    return (time.process_time() - began) * n / some


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="only the file of 51,016 records")
    parser.add_argument("--distinct", nargs="*", type=int, help="noisy values that all differ, of so many rows")
    asked = parser.parse_args()
    if asked.distinct is not None:
        print(f"{'processor seconds':<44} {'attack':>8} {'pairs':>8} {'loop':>9} {'ratio':>8} {'MB peak':>7}")
        for rows in asked.distinct or (64_000, 128_000, 256_000, 510_160, 1_000_000):
            for blocks in (False, True):
                distinct(rows, blocks)
        return
    quick = asked.quick
    heads = cf.demo("heads")
    head = (
        f"{'':<44} {'pairs':>15} {'all s':>8} {'pairs s':>8} {'pairs/s':>10} {'skipped':>8} {'twin s':>9} {'ratio':>8}"
    )
    print(head + f" {'MB at':>7} {'MB peak':>7}")
    row("51,016: recode + 2 swaps", heads, swaps(), KEYS, 0.2)
    row("51,016: recode + 2 swaps + noise", heads, noisy(), [*KEYS, "property_value"], 0.2)
    if quick:
        return
    for times in (2, 5, 10):
        stacked = pl.concat([heads] * times)
        part = 0.01 if times == 10 else None
        row(f"{stacked.height:,}: recode + 2 swaps + noise", stacked, noisy(), [*KEYS, "property_value"], part)
    million = pl.concat([heads.select("id", *KEYS)] * 98)
    row(f"{million.height:,}: recode + 2 swaps", million, swaps(), KEYS, None)


if __name__ == "__main__":
    main()
