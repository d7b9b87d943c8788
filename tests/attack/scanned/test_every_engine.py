"""Files larger than memory: the same numbers as in memory, whatever engine counts and however files are cut."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import confide as cf
from confide.attack.scanned.result import ScannedAttack
from confide.attack.scanned.run import attack_scanned
from confide.core.scale.engine import Engine
from confide.core.scale.local import Local
from tests.helpers.batches import InBatches

N = 600
KEYS = ["sex", "race", "marital", "age"]
SWAPS = [cf.Recode("age", width=5), cf.Swap("race", rate=0.3), cf.Swap("marital", rate=0.3)]
NOISE = [cf.Recode("age", width=10), cf.Noise("hh_income", sd=2000)]

Made = tuple[list[Any], dict[str, Any]]
CASES: dict[str, Made] = {
    "recode": ([cf.Recode("age", width=5)], {"knows": KEYS}),
    "nothing done": ([], {"knows": KEYS}),
    "swaps": (SWAPS, {"knows": KEYS}),
    "one swap unknown": (SWAPS, {"knows": ["sex", "race", "age"]}),
    "grouped swap": ([cf.Recode("age", width=10), cf.Swap("race", rate=0.3, within=["sex"])], {"knows": ["sex", "race", "age"]}),
    "grouped, group unknown": ([cf.Swap("race", rate=0.3, within=["sex"])], {"knows": ["race", "age"]}),
    "joint swap": ([cf.Swap(["race", "marital"], rate=0.3)], {"knows": KEYS}),
    "joint swap, half known": ([cf.Swap(["race", "marital"], rate=0.3)], {"knows": ["sex", "race", "age"]}),
    "pram": ([cf.Recode("age", width=10), cf.Pram("race", retention=0.8)], {"knows": KEYS}),
    "noise": (NOISE, {"knows": ["sex", "race", "age", "hh_income"]}),
    "noise unknown": (NOISE, {"knows": ["sex", "race", "age"]}),
    "noise and swap": ([*SWAPS[:2], cf.Noise("hh_income", sd=2000)], {"knows": ["sex", "race", "age", "hh_income"]}),
    "round and topcode": ([cf.Round("hh_income", base=5000), cf.Topcode("age", at=70)], {"knows": ["sex", "age", "hh_income"]}),
    "in file": ([*SWAPS, cf.Sample(fraction=0.5)], {"knows": KEYS, "membership": "in_file"}),
    "sample": ([*SWAPS, cf.Sample(fraction=0.5)], {"knows": KEYS}),
    "total": (SWAPS, {"knows": KEYS, "membership": cf.Unsure(total=20_000)}),
    "total in proportion": (SWAPS, {"knows": KEYS, "membership": cf.Unsure(total=20_000, model="proportional")}),
    "weights": ([*SWAPS, cf.Sample(fraction=0.5)], {"knows": KEYS, "membership": cf.Unsure(weights="weight")}),
    "weights in proportion": (SWAPS, {"knows": KEYS, "membership": cf.Unsure(weights="weight", model="proportional")}),
    "average": (SWAPS, {"knows": KEYS, "available": "average", "unavailable": "average", "others": "average"}),
    "average noise": (NOISE, {"knows": ["sex", "age", "hh_income"], "available": "average", "others": "average"}),
    "naive": (SWAPS, {"knows": KEYS, "available": "naive"}),
    "left out": (SWAPS, {"knows": KEYS, "others": "ignore"}),
    "exact": ([*SWAPS], {"knows": KEYS, "available": "exact", "unavailable": "exact", "others": "exact"}),
    "beliefs released": (SWAPS, {"knows": ["sex", "race", "age"], "beliefs": "released"}),
    "not released": ([cf.Recode("age", width=5)], {"knows": [*KEYS, "tenure"]}),
}  # fmt: skip


def people() -> pl.DataFrame:
    """A part of the demonstration file, with gaps and a weight."""
    few = ["id", *KEYS, "hh_income", "tenure"]
    made = cf.demo("heads").sample(N, seed=3).select(few)
    gap = pl.int_range(pl.len())
    return made.with_columns(
        race=pl.when(gap % 17 > 0).then(pl.col("race")), age=pl.when(gap % 23 > 0).then(pl.col("age")),
        weight=(1 + gap % 7) / 2,
    )  # fmt: skip


Attacked = Callable[[cf.Intruder, cf.Release, Any, Any], ScannedAttack]


def by(engine: Engine | None, cuts: tuple[int, ...], out: Path) -> Attacked:
    def attack(intruder: cf.Intruder, release: cf.Release, targets: Any = None, truth: Any = None) -> ScannedAttack:
        files = InBatches.of(release, cuts)
        return attack_scanned(
            intruder, files, targets, truth, out=out / "units", engine=engine, threads=1, progress=False
        )  # type: ignore[arg-type]

    return attack


ENGINES = {
    "one batch": (Local(), ()),
    "small batches": (Local(batch=97), ()),
    "odd files, one empty": (Local(batch=50), (1, 1, 300)),
}


@pytest.fixture(params=ENGINES)
def attacked(request: pytest.FixtureRequest, tmp_path: Path) -> Attacked:
    engine, cuts = ENGINES[request.param]
    return by(engine, cuts, tmp_path)


def same(whole: cf.Attack, parts: ScannedAttack, units: pl.DataFrame) -> None:
    """One row for each target, in the same order, with the same numbers."""
    mine = whole.units
    assert units.columns == mine.columns
    for v in ("target", "candidates", "n_max", "hit", "as_likely", "rank", "status"):
        assert units[v].equals(mine[v]), v
    for v in ("p_true", "p_max", "p_absent"):
        a, b = (u[v].cast(pl.Float64).fill_null(-1.0).to_numpy() for u in (mine, units))
        np.testing.assert_allclose(b, a, rtol=1e-9, atol=1e-300)
    for key, a in whole.summary().to_dict().items():
        assert parts.summary().to_dict()[key] == (a if a is None else pytest.approx(a, rel=1e-9)), key
    assert whole.declare().columns == parts.declare().columns
    np.testing.assert_allclose(
        parts.declare().fill_null(-1).to_numpy(), whole.declare().fill_null(-1).to_numpy(), rtol=1e-9
    )
    assert parts.treatments == tuple(whole.treatments)


@pytest.mark.parametrize("case", CASES)
def test_the_same_as_in_memory(case: str, attacked: Attacked) -> None:
    steps, who = CASES[case]
    drop = ["tenure"] if case == "not released" else []
    release = cf.Plan(steps, identifiers=["id"], drop=drop).protect(people(), seed=1)
    intruder = cf.Intruder(**who)
    whole, parts = intruder.attack(release), attacked(intruder, release, None, None)
    assert parts.folder is not None
    same(whole, parts, pl.read_parquet(parts.folder))
    np.testing.assert_allclose(parts.calibration().z, whole.calibration().z, atol=1e-9)
    for target in (0, whole.units.height - 1):
        a, b = (each.posterior(target).sort("row") for each in (whole, parts))
        assert a["row"].equals(b["row"])
        np.testing.assert_allclose(b["p"].to_numpy(), a["p"].to_numpy(), rtol=1e-9)


@pytest.mark.parametrize("truth", ["rows", "identifiers", "nobody"])
def test_stated_targets_and_intervals(truth: str, attacked: Attacked) -> None:
    release = cf.Plan([*SWAPS, cf.Sample(fraction=0.7)], identifiers=["id"]).protect(people(), seed=1)
    rows = np.arange(0, N, 7)
    targets = people()[rows].with_columns(low=pl.col("age") - 3, high=pl.col("age") + 3)
    given: Any = None if truth == "identifiers" else rows
    if truth == "nobody":
        targets, given = targets.drop("id"), None
    intruder = cf.Intruder(knows=["sex", "race", "marital"], between={"age": ("low", "high")})
    whole, parts = intruder.attack(release, targets, given), attacked(intruder, release, targets, given)
    assert parts.folder is not None
    same(whole, parts, pl.read_parquet(parts.folder))
    a, b = (each.posterior(3).sort("row") for each in (whole, parts))
    assert a["row"].equals(b["row"])
    np.testing.assert_allclose(b["p"].to_numpy(), a["p"].to_numpy(), rtol=1e-9)
