"""Seconds of the first call of every method and scheme, each in a process of its own: what compiling costs.

    python benchmarks/first_call.py                       all of them, some minutes
    python benchmarks/first_call.py Microaggregate Swap   some
    python benchmarks/first_call.py --kernels Noise       and the seconds of every compiled loop

Each is run on 300 heads of the shipped data twice, the second time with what the first has kept. Importing is in the
figures. `processor` is what the machine worked, which other programs on it do not change; `compiling` is part of it.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

LIMIT = 10.0
"""Seconds that a first call may take."""


def attacked(*mechanisms: Any, knows: tuple[str, ...] = ("sex", "race"), **intruder: Any) -> None:
    """Protect 300 heads and attack the release."""
    import confide as cf

    heads = cf.demo("heads").head(300)
    plan = cf.Plan(list(mechanisms), identifiers=["id"], weight="weight", drop=["marital"])
    release = plan.protect(heads, seed=1)
    cf.Intruder(knows=list(knows), **intruder).attack(release).summary()


def published(scheme: Any, margins: Any = "all") -> None:
    """Publish a table of 300 heads and attack it."""
    import confide as cf

    table = cf.Table.of(cf.demo("heads").head(300), by=["sex", "race"])
    cf.sap(table.publish(scheme, margins=margins, **({"seed": 1} if scheme.random else {})), known=range(4))


def jobs() -> dict[str, Callable[[], None]]:
    """One call per method, and those intruders and tables that need loops of their own."""
    import confide as cf

    money = ("sex", "hh_income")
    return {
        "Recode": lambda: attacked(cf.Recode("age", width=5), knows=("sex", "age")),
        "Topcode": lambda: attacked(cf.Topcode("hh_income", at=90_000), knows=money),
        "Bottomcode": lambda: attacked(cf.Bottomcode("hh_income", at=9_000), knows=money),
        "Round": lambda: attacked(cf.Round("hh_income", base=1_000), knows=money),
        "Sample": lambda: attacked(cf.Sample(0.5)),
        "Swap": lambda: attacked(cf.Swap("race", rate=0.3)),
        "Pram": lambda: attacked(cf.Pram("race", retention=0.8)),
        "RankSwap": lambda: attacked(cf.RankSwap("hh_income", window=20), knows=money),
        "Noise": lambda: attacked(cf.Noise("hh_income", sd=5_000), knows=money),
        "Noise, unknown": lambda: attacked(cf.Noise("hh_income", sd=5_000), membership=cf.Unsure(total=1_000)),
        "MeasurementError": lambda: attacked(
            cf.MeasurementError("hh_income", noise_variance=cf.Gamma(4, 1.6e-7)), knows=money
        ),
        "Microaggregate": lambda: attacked(cf.Microaggregate(["hh_income", "property_value"], k=3), knows=money),
        "MatrixMask": lambda: attacked(
            cf.MatrixMask(["hh_income", "property_value"], B=[[0.5, 0.5], [0.5, -0.5]]), knows=("sex", "race")
        ),
        "QuantileRegression": lambda: attacked(cf.QuantileRegression("hh_income", given=["sex", "age"]), knows=money),
        "HotDeck": lambda: attacked(cf.HotDeck(["hh_income"], match=["age"], window=20), knows=money),
        "CartSynthesis": lambda: attacked(cf.CartSynthesis("hh_income", given=["sex", "age"]), knows=money),
        "NormalSynthesis": lambda: attacked(cf.NormalSynthesis("hh_income", given=["sex", "age"]), knows=money),
        "naive intruder": lambda: attacked(cf.Noise("hh_income", sd=5_000), knows=money, available="naive"),
        "Exact": lambda: published(cf.Exact()),
        "RoundCells": lambda: published(cf.RoundCells(5)),
        "ControlledRounding": lambda: published(cf.ControlledRounding(5)),
        "SmallCounts": lambda: published(cf.SmallCounts(3)),
        "Suppress": lambda: published(cf.Suppress(below=5)),
        "CellKey": lambda: published(cf.CellKey.of(3, 1.0)),
    }


def one(name: str) -> None:
    """Run one job in this process and print its seconds, and those of each loop that it compiled."""
    from numba.core import event

    loops: dict[str, float] = {}
    began: list[float] = []

    class Timer(event.Listener):  # type: ignore[misc]
        def on_start(self, _: Any) -> None:
            began.append(time.process_time())

        def on_end(self, e: Any) -> None:
            took = time.process_time() - began.pop()
            for outer in range(len(began)):  # what is compiled inside another loop counts once
                began[outer] += took
            label = e.data["dispatcher"].py_func.__qualname__
            loops[label] = loops.get(label, 0.0) + took

    event.register("numba:compile", Timer())
    start = time.perf_counter()
    jobs()[name]()
    used = resource.getrusage(resource.RUSAGE_SELF)
    wall, processor = time.perf_counter() - start, used.ru_utime + used.ru_stime
    print(json.dumps({"wall": wall, "processor": processor, "loops": loops}))


def child(name: str, cache: str) -> dict[str, Any]:
    """The same in a process of its own, which keeps compiled loops in `cache`."""
    env = {k: v for k, v in os.environ.items() if k != "NUMBA_CACHE_DIR"} | {"XDG_CACHE_HOME": cache}
    done = subprocess.run([sys.executable, __file__, "--one", name], env=env, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{name} failed:\n{done.stderr}")
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="methods; default: all")
    parser.add_argument("--kernels", action="store_true", help="seconds of each compiled loop")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        one(options.one)
        return
    heading = f"{'first call, seconds':<22}{'wall':>8}{'processor':>11}{'compiling':>11}{'loops':>7}{'second':>9}"
    print(heading, flush=True)
    slow = []
    for name in options.names or jobs():
        with tempfile.TemporaryDirectory() as cache:
            first, second = child(name, cache), child(name, cache)
        loops = first["loops"]
        print(
            f"{name:<22}{first['wall']:>8.1f}{first['processor']:>11.1f}{sum(loops.values()):>11.1f}{len(loops):>7}"
            f"{second['wall']:>9.1f}",
            flush=True,
        )
        if options.kernels:
            for label, took in sorted(loops.items(), key=lambda item: -item[1]):
                print(f"    {label:<40}{took:>8.2f}")
        if first["processor"] > LIMIT:
            slow.append(name)
    print(f"over {LIMIT:.0f} s of processor time: {', '.join(slow) or 'none'}")


if __name__ == "__main__":
    main()
