"""Files larger than memory: the same numbers as in memory, whatever engine counts and however files are cut."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import confide as cf
from confide.attack.scanned.buckets import Bucketed
from confide.attack.scanned.result import ScannedAttack
from confide.core.scale.local import Local
from tests.helpers.scanned_release import in_files

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
    "suppression": ([cf.Recode("age", width=10), cf.LocalSuppression(["sex", "race", "age"], k=3)], {"knows": ["sex", "race", "age"]}),
    "two noises": ([cf.Noise("hh_income", sd=2000), cf.Noise("weight", sd=1.0)], {"knows": ["sex", "hh_income", "weight"]}),
    "noise in file": ([*NOISE, cf.Sample(fraction=0.5)], {"knows": ["sex", "hh_income"], "membership": "in_file"}),
    "missing is not known": (SWAPS[1:], {"knows": ["sex", "race", "age"], "knows_missing": False}),
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


@lru_cache
def made(case: str) -> tuple[cf.Intruder, cf.Release, cf.Attack]:
    """A case attacked in memory, once for all engines."""
    steps, who = CASES[case]
    drop = ["tenure"] if case == "not released" else []
    release = cf.Plan(steps, identifiers=["id"], drop=drop).protect(people(), seed=1)
    intruder = cf.Intruder(**who)
    return intruder, release, intruder.attack(release, progress=False)


ENGINES = {
    "merged": (Local(), ()),
    "merged, small batches": (Local(batch=97), (1, 1, 300)),
    "buckets": (Local(batch=170, buckets=7), (1, 1, 300)),
}
"""With the places at which the original is cut into files: one of them is empty, one has a row that is alone."""
ONLY_MERGED = ("average", "average noise", "exact", "beliefs released", "two noises")


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


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("case", CASES)
def test_the_same_as_in_memory(case: str, engine: str, tmp_path: Path) -> None:
    intruder, release, whole = made(case)
    local, cuts = ENGINES[engine]
    files = in_files(release, tmp_path, cuts)
    if case in ONLY_MERGED and local.buckets is not None:
        with pytest.raises(cf.InputError, match="Too few rows are alike, and"):
            intruder.attack(files, engine=local)
        return
    parts = intruder.attack(files, out=tmp_path / "units", engine=local, progress=False)
    same(whole, parts, parts.units.collect())
    np.testing.assert_allclose(parts.calibration().z, whole.calibration().z, atol=1e-9)
    for target in (0, whole.units.height - 1):
        a, b = (each.posterior(target).sort("row") for each in (whole, parts))
        assert a["row"].equals(b["row"])
        np.testing.assert_allclose(b["p"].to_numpy(), a["p"].to_numpy(), rtol=1e-9)


@pytest.mark.parametrize("buckets", [1, 64])
@pytest.mark.parametrize("case", ["noise", "one swap unknown", "in file"])
def test_any_number_of_buckets(case: str, buckets: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where a bucket has more targets than are attacked together."""
    monkeypatch.setattr("confide.attack.scanned.bucket.PIECE", 50)
    intruder, release, whole = made(case)
    files = in_files(release, tmp_path, (200, 450))
    parts = intruder.attack(files, out=tmp_path / "units", engine=Local(batch=90 + buckets, buckets=buckets))
    same(whole, parts, parts.units.collect())


def test_buckets_where_memory_asks_for_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Distinct rows that do not fit are attacked in buckets without being asked; those of a few stay as they are."""
    monkeypatch.setattr("confide.core.scale.local.bytes_of_row", lambda _: 2**20)
    intruder, release, whole = made("noise")
    parts = intruder.attack(in_files(release, tmp_path), out=tmp_path / "units", engine=Local(memory="256MB"))
    assert isinstance(parts.files, Bucketed)
    same(whole, parts, parts.units.collect())
    with pytest.raises(cf.InputError, match="Too few rows are alike"):
        intruder.attack(parts.release, people().head(3), engine=Local(memory="256MB"))


@pytest.mark.parametrize("truth", ["rows", "identifiers", "nobody"])
def test_stated_targets_and_intervals(truth: str, tmp_path: Path) -> None:
    release = cf.Plan([*SWAPS, cf.Sample(fraction=0.7)], identifiers=["id"]).protect(people(), seed=1)
    rows = np.arange(0, N, 7)
    targets = people()[rows].with_columns(low=pl.col("age") - 3, high=pl.col("age") + 3)
    given: Any = rows if truth == "rows" else None
    if truth == "nobody":
        targets = targets.drop("id")
    intruder = cf.Intruder(knows=["sex", "race", "marital"], between={"age": ("low", "high")})
    files = in_files(release, tmp_path, (250,))
    whole = intruder.attack(release, targets, given)
    parts = intruder.attack(files, targets, given, out=tmp_path / "units", engine=Local(batch=97))
    same(whole, parts, parts.units.collect())
    a, b = (each.posterior(3).sort("row") for each in (whole, parts))
    assert a["row"].equals(b["row"])
    np.testing.assert_allclose(b["p"].to_numpy(), a["p"].to_numpy(), rtol=1e-9)


def test_a_population_that_is_given(tmp_path: Path) -> None:
    release = cf.Plan([*SWAPS, cf.Sample(fraction=0.7)], identifiers=["id"]).protect(people(), seed=1)
    everybody = pl.concat([people(), people()]).select(KEYS)
    intruder = cf.Intruder(knows=KEYS, membership=cf.Unsure(population=everybody))
    whole, files = intruder.attack(release), in_files(release, tmp_path, (250,))
    for k, engine in enumerate([Local(batch=97), Local(batch=97, buckets=5)]):
        parts = intruder.attack(files, out=tmp_path / f"units {k}", engine=engine)
        same(whole, parts, parts.units.collect())
