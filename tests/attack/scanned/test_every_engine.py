"""Files larger than memory: the same numbers as in memory, whatever engine counts and however files are cut."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import confide as cf
from confide.attack.scanned.buckets import Bucketed
from confide.attack.scanned.result import ScannedAttack
from confide.attack.scanned.whole import Whole
from confide.core.scale.local import Local
from tests.helpers.scanned_release import in_files

N = 600
KEYS = ["sex", "race", "marital", "age"]
SWAPS = [cf.Recode("age", width=5), cf.Swap("race", rate=0.3), cf.Swap("marital", rate=0.3)]
NOISE = [cf.Recode("age", width=10), cf.Noise("hh_income", sd=2000)]
QUANTILES = [cf.QuantileRegression("hh_income", given=["sex", "age"], quantiles=9, learn=300)]

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
    "weights that are known": ([*SWAPS, cf.Sample(fraction=0.5)], {"knows": [*KEYS, "weight"], "membership": cf.Unsure(weights="weight")}),
    "average": (SWAPS, {"knows": KEYS, "available": "average", "unavailable": "average", "others": "average"}),
    "average noise": (NOISE, {"knows": ["sex", "age", "hh_income"], "available": "average", "others": "average"}),
    "naive": (SWAPS, {"knows": KEYS, "available": "naive"}),
    "left out": (SWAPS, {"knows": KEYS, "others": "ignore"}),
    "exact, in file": ([*SWAPS, cf.Sample(fraction=0.5)], {"knows": KEYS, "membership": "in_file", "available": "exact", "unavailable": "exact", "others": "exact"}),
    "exact": ([*SWAPS], {"knows": KEYS, "available": "exact", "unavailable": "exact", "others": "exact"}),
    "beliefs released": (SWAPS, {"knows": ["sex", "race", "age"], "beliefs": "released"}),
    "suppression": ([cf.Recode("age", width=10), cf.LocalSuppression(["sex", "race", "age"], k=3)], {"knows": ["sex", "race", "age"]}),
    "two noises": ([cf.Noise("hh_income", sd=2000), cf.Noise("weight", sd=1.0)], {"knows": ["sex", "hh_income", "weight"]}),
    "noise in file": ([*NOISE, cf.Sample(fraction=0.5)], {"knows": ["sex", "hh_income"], "membership": "in_file"}),
    "missing is not known": (SWAPS[1:], {"knows": ["sex", "race", "age"], "knows_missing": False}),
    "not released": ([cf.Recode("age", width=5)], {"knows": [*KEYS, "tenure"]}),
    "not released, nothing else": (SWAPS, {"knows": ["tenure"], "membership": "in_file"}),
    "rank swap": ([cf.RankSwap("hh_income", window=30)], {"knows": ["sex", "age", "hh_income"]}),
    "ranks exchanged": ([cf.RankSwap("hh_income", window=30, exchange=True), cf.Swap("race", rate=0.2)], {"knows": ["sex", "race", "hh_income"]}),
    "swap, exact": ([cf.Swap("race", rate=0.3)], {"knows": ["sex", "race"], "available": "exact", "unavailable": "exact", "others": "exact"}),
    "normal": ([cf.NormalSynthesis("hh_income", given=["sex"], learn=300)], {"knows": ["sex", "age", "hh_income"]}),
    "normal, exact": ([cf.NormalSynthesis("hh_income", given=["sex"], learn=300)], {"knows": ["sex", "hh_income"], "available": "exact", "unavailable": "exact", "others": "exact"}),
    "normal unknown": ([cf.NormalSynthesis("hh_income", given=["sex"], learn=300)], {"knows": ["sex", "age"]}),
    "trees": ([cf.CartSynthesis("race", given=["sex", "age"], draw="independent", learn=300)], {"knows": ["sex", "race", "age"]}),
    "trees, a number": ([cf.CartSynthesis("hh_income", given=["sex", "age"], draw="independent", learn=300)], {"knows": ["sex", "race", "hh_income"]}),
    "rank swap unknown": ([cf.RankSwap("hh_income", window=30)], {"knows": ["sex", "age"]}),
    "bottomcode": ([cf.Bottomcode("hh_income", at=20_000), *SWAPS[1:]], {"knows": [*KEYS, "hh_income"]}),
    "mistakes": ([cf.Recode("age", width=5)], {"knows": KEYS, "errors": {"race": 0.1, "age": 2}}),
    "mistakes of a number": ([], {"knows": ["sex", "race", "hh_income"], "errors": {"hh_income": 1500, "sex": 0.02}, "membership": "in_file"}),
    "mistakes beside swaps": (SWAPS, {"knows": KEYS, "errors": {"age": 2, "marital": 0.1}}),
    "mistakes beside swaps, in file": ([*SWAPS, cf.Sample(fraction=0.5)], {"knows": KEYS, "errors": {"age": 2, "race": cf.Pram("race", retention=0.9)}, "membership": "in_file"}),
    "mistakes of noise": (NOISE, {"knows": ["sex", "race", "age", "hh_income"], "errors": {"hh_income": 1500}}),
    "mistakes of noise, beside": ([*SWAPS[1:], cf.Noise("hh_income", sd=2000)], {"knows": ["sex", "race", "marital", "hh_income"], "errors": {"hh_income": 1500, "sex": 0.1}}),
    "mistakes, exact": ([*SWAPS[1:]], {"knows": KEYS, "errors": {"age": 2}, "available": "exact", "unavailable": "exact", "others": "exact"}),
    "mistakes, beliefs released": (SWAPS[1:], {"knows": KEYS, "errors": {"age": 2, "race": 0.1}, "beliefs": "released"}),
    "naive numbers": (NOISE, {"knows": ["sex", "hh_income"], "available": "naive"}),
    "naive, two numbers": ([cf.Noise("hh_income", sd=2000), cf.Noise("weight", sd=1.0)], {"knows": ["sex", "age", "hh_income", "weight"], "available": "naive"}),
    "naive, codes, in file": ([cf.Noise("age", sd=3), cf.Swap("race", rate=0.3), cf.Noise("hh_income", sd=2000), cf.Sample(fraction=0.5)], {"knows": ["race", "age", "hh_income"], "available": "naive", "membership": "in_file"}),
    "units": (SWAPS, {"knows": KEYS, "unit": "home"}),
    "units with noise": ([cf.Noise("hh_income", sd=2000)], {"knows": ["sex", "race", "hh_income"], "unit": "home"}),
    "units, shown": ([cf.Swap("marital", rate=0.3), cf.Sample(fraction=0.5, per="unit")], {"knows": ["sex", "marital", "age"], "membership": "in_file"}),
    "units, joint swap": ([cf.Recode("age", width=10), cf.Swap(["race", "marital"], rate=0.3)], {"knows": KEYS, "unit": "clan", "knows_missing": False}),
    "units, shown, a number": ([cf.Swap("race", rate=0.3), cf.Noise("hh_income", sd=2000), cf.Sample(fraction=0.5, per="unit")], {"knows": ["sex", "race", "hh_income"], "membership": "in_file"}),
    "units, beliefs released": ([cf.Noise("hh_income", sd=2000), cf.Sample(fraction=0.8)], {"knows": ["sex", "hh_income"], "unit": "home", "beliefs": "released"}),
    "quantile": (QUANTILES, {"knows": ["sex", "race", "hh_income"]}),
    "quantile unknown": (QUANTILES, {"knows": ["sex", "age"], "guesses": {"widen": True}, "membership": cf.Unsure(total=9_000)}),
    "quantile, exact": (QUANTILES, {"knows": ["sex", "hh_income"], "available": "exact", "unavailable": "exact", "others": "exact"}),
    "quantile, average": (QUANTILES, {"knows": ["sex", "race", "hh_income"], "available": "average", "unavailable": "average", "others": "average"}),
    "quantile, calipers, codes": ([*QUANTILES, cf.Sample(fraction=0.7)], {"knows": ["sex", "age", "hh_income"], "guesses": {"caliper": "auto", "tau": 0.3}, "membership": "in_file"}),
    "quantile, A left out": (QUANTILES, {"knows": ["sex", "age", "hh_income"], "others": "ignore", "guesses": {"tau": "known"}}),
    "quantile, a random tau": (QUANTILES, {"knows": ["sex", "hh_income"], "guesses": {"tau": "random"}}),
    "lognormal": ([cf.LognormalNoise("hh_income", sd=0.05), cf.Recode("age", width=10)], {"knows": ["sex", "age", "hh_income"]}),
    "beliefs released, noise": (NOISE, {"knows": ["sex", "age", "hh_income"], "beliefs": "released"}),
}  # fmt: skip


def with_codes() -> cf.Data:
    """The same with an answer code among incomes and one among ages."""
    gap = pl.int_range(pl.len())
    data = people().with_columns(
        hh_income=pl.when(gap % 11 > 0).then(pl.col("hh_income")).otherwise(30_001),
        age=pl.when(gap % 13 > 0).then(pl.col("age")).otherwise(55),
    )
    codes = {"hh_income": 30_001, "age": 55}  # amid the numbers, so that taking them for numbers would show
    return cf.Data(data, cf.Schema({v: cf.VariableSchema(v, missing=(code,)) for v, code in codes.items()}))


def people() -> pl.DataFrame:
    """A part of the demonstration file, with gaps and a weight; in homes of about three who mostly have the same
    marital status and alike incomes, and in clans of alike races: one of forty rows, many smaller, and rows of none."""
    few = ["id", *KEYS, "hh_income", "tenure"]
    made = cf.demo("heads").sample(N, seed=3).select(few)
    gap = pl.int_range(pl.len())
    near = (pl.col("marital").to_physical().cast(pl.Float64) * 1e8 + pl.col("hh_income")).rank("ordinal")
    return made.with_columns(
        race=pl.when(gap % 17 > 0).then(pl.col("race")), age=pl.when(gap % 23 > 0).then(pl.col("age")),
        weight=(1 + gap % 7) / 2, home=pl.when(gap % 5 > 0).then(near).otherwise(gap * 7 % N) // 3,
        clan=pl.when(gap % 11 > 0).then(pl.when(gap % 14 == 3).then(0).otherwise(pl.col("race").rank("ordinal") // 4)),
    )  # fmt: skip


@lru_cache
def made(case: str) -> tuple[cf.Intruder, cf.Release, cf.Attack]:
    """A case attacked in memory, once for all engines."""
    steps, who = CASES[case]
    drop = ["tenure"] if case.startswith("not released") else []
    unit = "home" if case.startswith("units, shown") else None
    names = ["id", "clan"] if unit else ["id", "home", "clan"]
    data = with_codes() if "codes" in case else people()
    release = cf.Plan(steps, identifiers=names, drop=drop, unit=unit).protect(data, seed=1)
    intruder = cf.Intruder(**who)
    return intruder, release, intruder.attack(release, progress=False)


CUTS = (1, 1, 300)
"""Places at which the original is cut into files: one of them is empty, one has a row that is alone."""
ENGINES: dict[str, Callable[[Any], tuple[Any, tuple[int, ...]]]] = {
    "merged": lambda _: (Local(), ()),
    "merged, small batches": lambda _: (Local(batch=97), CUTS),
    "buckets": lambda _: (Local(batch=170, buckets=7), CUTS),
    "spark": lambda session: (cf.Spark(session()), CUTS),
    "spark, buckets": lambda session: (cf.Spark(session(), buckets=7), CUTS),
}
"""Made when a test asks for them, given what makes a session."""
HELD_WHOLE = ("quantile, a random tau",)
"""Cases of which all rows are held at once, in the variables in play."""
COUNTED_ON_SPARK = (
    "exact", "two noises", "swaps", "mistakes", "units", "missing is not known", "weights", "weights that are known", "sample", "suppression", "not released", "not released, nothing else", "noise and swap",
    "trees, a number", "rank swap unknown", "round and topcode", "quantile", "quantile, average",
)  # fmt: skip
"""Cases whose pairs Spark counts for the merged way: those that differ in what is counted. All others are merged above,
from the same counts, and go over Spark in buckets."""
TRIED = [
    pytest.param(case, engine, marks=pytest.mark.slow if engine.startswith("spark") else ())
    for case in CASES for engine in ENGINES if engine != "spark" or case in COUNTED_ON_SPARK
]  # fmt: skip


def same_units(whole: cf.Attack, units: pl.DataFrame) -> None:
    """One row for each target, in the same order, with the same numbers."""
    mine = whole.units
    assert units.columns == mine.columns
    for v in mine.columns:
        assert v in ("p_true", "p_max", "p_absent") or units[v].equals(mine[v]), v
    for v in ("p_true", "p_max", "p_absent"):
        a, b = (u[v].cast(pl.Float64).fill_null(-1.0).to_numpy() for u in (mine, units))
        np.testing.assert_allclose(b, a, rtol=1e-9, atol=1e-300)


def same(whole: cf.Attack, parts: ScannedAttack, units: pl.DataFrame) -> None:
    """The same row for each target, and the same summaries."""
    same_units(whole, units)
    for key, a in whole.summary().to_dict().items():
        assert parts.summary().to_dict()[key] == (a if a is None else pytest.approx(a, rel=1e-9)), key
    assert whole.declare().columns == parts.declare().columns
    np.testing.assert_allclose(
        parts.declare().fill_null(-1).to_numpy(), whole.declare().fill_null(-1).to_numpy(), rtol=1e-9
    )
    assert parts.treatments == tuple(whole.treatments)


@pytest.mark.parametrize(("case", "engine"), TRIED)
def test_the_same_as_in_memory(case: str, engine: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    intruder, release, whole = made(case)
    where, cuts = ENGINES[engine](lambda: request.getfixturevalue("session"))
    files = in_files(release, tmp_path, cuts)
    parts = intruder.attack(files, out=tmp_path / "units", engine=where, progress=False)
    same(whole, parts, parts.units.collect())
    assert isinstance(parts.files, Whole) == (case in HELD_WHOLE)
    assert isinstance(parts.files, Bucketed) == (
        case not in HELD_WHOLE and (where.buckets is not None or "unit" in whole.units.columns)
    )
    assert oct((tmp_path / "units").stat().st_mode & 0o777) == "0o700"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["in", "private", "released", "units"]
    assert not [p for p in (tmp_path / "private").iterdir() if "unfinished" in p.name]
    np.testing.assert_allclose(parts.calibration().z, whole.calibration().z, atol=1e-9)
    for target in (0, whole.units.height - 1):
        a, b = (each.posterior(target).sort("row") for each in (whole, parts))
        assert a["row"].equals(b["row"])
        np.testing.assert_allclose(b["p"].to_numpy(), a["p"].to_numpy(), rtol=1e-9, atol=1e-300)


def test_what_holds_all_rows_is_refused_before_any_pass_where_they_do_not_fit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An intruder who draws a tau for each released row."""
    intruder, release, _ = made("quantile, a random tau")
    files = in_files(release, tmp_path)
    monkeypatch.setattr(cf.Scan, "batches", lambda *_: pytest.fail("the file was read"))
    monkeypatch.setattr("confide.attack.scanned.whole.memory_of", lambda *_: 2**33)
    with pytest.raises(cf.InputError, match=r"take about 8\.0 GB, and 4\.0 GB are allowed\. Allow more"):
        intruder.attack(files)


@pytest.mark.parametrize("buckets", [None, 7])
def test_curves_of_mistakes_are_those_of_the_whole_file(
    buckets: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where a table of known and released values would be too large, whatever part of them a bucket has."""
    release = made("mistakes of noise")[1]  # kept for other tests, so made as they would make it
    monkeypatch.setattr("confide.attack.engine.mistaken_noise.LARGEST", 0)
    intruder = cf.Intruder(**CASES["mistakes of noise"][1])
    parts = intruder.attack(in_files(release, tmp_path), out=tmp_path / "units", engine=Local(buckets=buckets))
    same(intruder.attack(release), parts, parts.units.collect())


@pytest.mark.parametrize("buckets", [1, 64])
@pytest.mark.parametrize("case", ["noise", "one swap unknown", "in file", "units, shown, a number"])
def test_any_number_of_buckets(case: str, buckets: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where a bucket has more targets than are attacked together, and what rows say of their units is not kept."""
    monkeypatch.setattr("confide.attack.scanned.bucket.PIECE", 50)
    monkeypatch.setattr("confide.attack.scanned.unit_bucket.PIECE", 50)
    monkeypatch.setattr("confide.attack.scanned.meeting.SHARE", 0.25 if buckets == 1 else 0.0)
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
    few = people().head(3)
    stated = intruder.attack(parts.release, few, out=tmp_path / "stated", engine=Local(memory="256MB"))
    assert isinstance(stated.files, Bucketed)
    same(intruder.attack(release, few), stated, stated.units.collect())


KNOWN = {
    "kept": ([*SWAPS, cf.Sample(fraction=0.7)], {"knows": ["sex", "race", "marital"], "between": {"age": ("low", "high")}}),
    "in file": ([*SWAPS, cf.Sample(fraction=0.7)], {"knows": ["sex", "race"], "between": {"age": ("low", "high")}, "membership": "in_file"}),
    "altered": ([*SWAPS, cf.Noise("hh_income", sd=2000)], {"knows": ["sex", "race"], "between": {"hh_income": ("few", "many")}}),
    "mistakes": (SWAPS, {"knows": KEYS, "errors": {"age": 2, "race": 0.1}, "membership": "in_file"}),
    "exact": (SWAPS, {"knows": KEYS, "membership": "in_file", "available": "exact", "unavailable": "exact", "others": "exact"}),
    "exact, intervals of some": ([cf.Swap("race", rate=0.3)], {"knows": ["race"], "between": {"hh_income": ("from", "to")}, "available": "exact", "unavailable": "exact", "others": "exact"}),
    "units": (SWAPS, {"knows": KEYS, "unit": "home"}),
    "naive": (NOISE, {"knows": ["sex", "hh_income"], "between": {"age": ("low", "high")}, "available": "naive"}),
    "quantile": (QUANTILES, {"knows": ["sex", "hh_income"]}),
    "many": ([*SWAPS, cf.Noise("hh_income", sd=2000)], {"knows": ["sex", "race"], "between": {"hh_income": ("from", "to"), "age": ("low", "high")}, "knows_missing": False}),
    "beside a noisy number": ([cf.Swap("race", rate=0.3), cf.Noise("hh_income", sd=2000)], {"knows": ["sex", "race", "hh_income"], "between": {"age": ("low", "high")}, "membership": cf.Unsure(total=20_000)}),
    "with mistakes": ([*SWAPS[1:], cf.Sample(fraction=0.7)], {"knows": KEYS[:3], "between": {"age": ("low", "high")}, "errors": {"sex": 0.1}, "membership": "in_file"}),
    "units, intervals": ([*SWAPS, cf.Sample(fraction=0.7)], {"knows": ["sex", "race", "marital"], "between": {"age": ("low", "high")}, "unit": "clan"}),
}  # fmt: skip


STATED = [(case, truth, engine) for case in KNOWN for engine in ("merged", "buckets") for truth in ("rows", "nobody")]
STATED += [("kept", "identifiers", "merged"), ("in file", "identifiers", "buckets")]
ON_SPARK = [pytest.param(case, "rows", "spark, buckets", marks=pytest.mark.slow) for case in KNOWN]
ON_SPARK.append(pytest.param("altered", "rows", "spark", marks=pytest.mark.slow))


@pytest.mark.parametrize(("case", "truth", "engine"), [*STATED, *ON_SPARK])
def test_stated_targets_and_intervals(
    case: str, truth: str, engine: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    steps, who = KNOWN[case]
    release = cf.Plan(steps, identifiers=["id", "home", "clan"]).protect(people(), seed=1)
    rows = np.arange(0, N, 17)
    ends = {
        "low": pl.col("age") // 9 * 9,
        "high": pl.col("age") // 9 * 9 + 8,
        "few": pl.lit(20_000),
        "many": pl.lit(50_000),
        "from": pl.when(pl.int_range(pl.len()) % 5 > 0).then(pl.col("hh_income") // 30_000 * 30_000),
        "to": pl.when(pl.int_range(pl.len()) % 7 > 0).then(pl.col("hh_income") // 30_000 * 30_000 + 50_000),
    }
    targets = people()[rows].with_columns(**ends)
    given: Any = rows if truth == "rows" else None
    if truth == "nobody":
        targets = targets.drop("id", "home", "clan")
    intruder = cf.Intruder(**who)
    where, _ = ENGINES[engine](lambda: request.getfixturevalue("session"))
    files = in_files(release, tmp_path, (250,))
    whole = intruder.attack(release, targets, given)
    parts = intruder.attack(files, targets, given, out=tmp_path / "units", engine=where)
    same(whole, parts, parts.units.collect())
    a, b = (each.posterior(3).sort("row") for each in (whole, parts))
    assert a["row"].equals(b["row"])
    np.testing.assert_allclose(b["p"].to_numpy(), a["p"].to_numpy(), rtol=1e-9, atol=1e-300)


@pytest.mark.parametrize(
    ("who", "engine"),
    [("certain", "buckets"), ("in_file", "buckets"), pytest.param("in_file", "spark, buckets", marks=pytest.mark.slow)],
)
def test_intervals_of_units_that_few_records_meet(
    who: str, engine: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """Also none in a bucket, and people who are in the file and whom the interval leaves out."""
    release = cf.Plan([cf.Swap("race", rate=0.3), cf.Sample(fraction=0.7, per="unit")], ["id", "clan"], unit="home").protect(
        people(), seed=1
    )  # fmt: skip
    rows = np.arange(0, N, 17)
    far = pl.col("age") // 9 * 9 + pl.when(pl.int_range(pl.len()) % 3 > 0).then(40).otherwise(0)
    targets = people()[rows].with_columns(low=far, high=far + 2)
    intruder = cf.Intruder(knows=["sex", "race", "marital"], between={"age": ("low", "high")}, membership=who)
    where, cuts = ENGINES[engine](lambda: request.getfixturevalue("session"))
    whole = intruder.attack(release, targets, rows)
    parts = intruder.attack(in_files(release, tmp_path, cuts), targets, rows, out=tmp_path / "units", engine=where)
    assert 0 < (whole.units["candidates"] == 0).sum() < len(rows)
    same(whole, parts, parts.units.collect())


@pytest.mark.parametrize("buckets", [None, 7])
def test_an_identifier_that_others_share(buckets: int | None, tmp_path: Path) -> None:
    """It says who a target is, unless the target has it in common with somebody."""
    many = people().with_columns(id=pl.when(pl.int_range(pl.len()) < 500).then(pl.col("id")).otherwise(0))
    release = cf.Plan(SWAPS, identifiers=["id", "home", "clan"]).protect(many, seed=1)
    intruder, files = cf.Intruder(knows=KEYS), in_files(release, tmp_path, (250,))
    alone, shared = (many[rows].drop("home", "clan") for rows in ([3, 77, 3], [3, 550]))
    parts = intruder.attack(files, alone, out=tmp_path / "units", engine=Local(buckets=buckets))
    same(intruder.attack(release, alone), parts, parts.units.collect())
    for made in (release, files):
        with pytest.raises(cf.InputError, match="The identifier id is not unique in the original file; give truth="):
            intruder.attack(made, shared)


def test_calibration_asks_for_the_truth(tmp_path: Path) -> None:
    release = cf.Plan(SWAPS, identifiers=["id", "home", "clan"]).protect(people(), seed=1)
    attack = cf.Intruder(knows=KEYS).attack(in_files(release, tmp_path), people().select(KEYS)[:9])
    with pytest.raises(cf.InputError, match=r"which record is theirs\. Give truth= to attack"):
        attack.calibration()


@pytest.mark.slow
@pytest.mark.parametrize("unit", [None, "home"])
def test_few_targets_with_few_categories_on_spark(unit: str | None, session: Any, tmp_path: Path) -> None:
    """Codes of what is known of them are their own: they are fewer than those of the file, and one is nobody's there."""
    wordy = people().with_columns(pl.col("race", "marital").cast(pl.String))
    release = cf.Plan(SWAPS[1:], identifiers=["id", "home", "clan"]).protect(wordy, seed=1)
    targets = wordy.filter(pl.col("race") == pl.col("race").max()).head(3).drop("id", "home", "clan")
    targets = targets.with_columns(
        marital=pl.when(pl.int_range(pl.len()) == 1).then(pl.lit("a king")).otherwise("marital")
    )
    intruder, files = cf.Intruder(knows=KEYS, unit=unit), in_files(release, tmp_path, CUTS)
    whole = intruder.attack(release, targets)
    parts = intruder.attack(files, targets, out=tmp_path / "units", engine=cf.Spark(session, buckets=3))
    same_units(whole, parts.units.collect())


@pytest.mark.slow
def test_a_population_that_is_a_scan_on_spark(session: Any, tmp_path: Path) -> None:
    release = cf.Plan([*SWAPS, cf.Sample(fraction=0.7)], identifiers=["id"]).protect(people(), seed=1)
    everybody = pl.concat([people(), people()]).select(KEYS)
    everybody.write_parquet(tmp_path / "population.parquet")
    whole = cf.Intruder(knows=KEYS, membership=cf.Unsure(population=everybody)).attack(release)
    intruder = cf.Intruder(knows=KEYS, membership=cf.Unsure(population=cf.scan(tmp_path / "population.parquet")))
    files = in_files(release, tmp_path, (250,))
    for k, buckets in enumerate([None, 3]):
        parts = intruder.attack(files, out=tmp_path / f"units {k}", engine=cf.Spark(session, buckets=buckets))
        same(whole, parts, parts.units.collect())


@pytest.mark.parametrize("scanned", [False, True])
def test_a_population_that_is_given(scanned: bool, tmp_path: Path) -> None:
    """As a frame, or as a scan itself; of everybody, or counted."""
    release = cf.Plan([*SWAPS, cf.Sample(fraction=0.7)], identifiers=["id"]).protect(people(), seed=1)
    everybody = pl.concat([people(), people()]).select(KEYS)
    whole = cf.Intruder(knows=KEYS, membership=cf.Unsure(population=everybody)).attack(release)
    counted, files = everybody.group_by(KEYS).len("n"), in_files(release, tmp_path, (250,))
    for name, frame in (("all", everybody), ("counted", counted)):
        frame[:200].write_parquet(tmp_path / f"{name}-0.parquet")
        frame[200:].write_parquet(tmp_path / f"{name}-1.parquet")
        given: Any = cf.scan(f"{tmp_path}/{name}-*.parquet") if scanned else frame
        who = cf.Unsure(population=given, count="n" if name == "counted" else None)
        intruder = cf.Intruder(knows=KEYS, membership=who)
        for k, engine in enumerate([Local(batch=97), Local(batch=97, buckets=5)]):
            parts = intruder.attack(files, out=tmp_path / f"units {name} {k}", engine=engine)
            same(whole, parts, parts.units.collect())
        again = intruder.attack(release)
        assert again.units.drop("p_true", "p_max", "p_absent").equals(whole.units.drop("p_true", "p_max", "p_absent"))
    lost = cf.Intruder(knows=[*KEYS, "tenure"], membership=cf.Unsure(population=given, count=None))
    with pytest.raises(cf.InputError, match='the population has no column "tenure"'):
        lost.attack(files)
