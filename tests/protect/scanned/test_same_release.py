"""A release of a scan has the very rows that the same data give in memory, in the same order, however it is cut."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import confide as cf
from confide.protect.scanned.sizes import Sizes
from tests.helpers.scanned import in_files, people

PLANS = {
    "nothing": [],
    "coarser": [
        cf.Recode("age", breaks=[18, 65]),
        cf.Round("income", base=100),
        cf.Topcode("income", at=50_000),
        cf.Bottomcode("height", at=150),
        cf.Recode("region", mapping={"island": "south"}),
        cf.Recode("born", width=365),
    ],
    "swap": [cf.Recode("age", width=10), cf.Swap("race", rate=0.3), cf.Swap("region", rate=0.5)],
    "swap within": [cf.Swap(["race", "marital"], rate=0.4, within=["sex", "region"]), cf.Swap("kind", rate=0.2)],
    "swap in swapped": [
        cf.Recode("age", width=20),
        cf.Swap("region", rate=0.3),
        cf.Swap("age", rate=0.5, within="region"),
        cf.Swap("born", rate=0.5, within="age"),
    ],
    "forced": [cf.Swap("race", rate=0.1, within="sex", force="insured")],
    "one by one": [cf.Swap(["sex", "race", "income"], rate=0.2, jointly=False)],
    "pram": [cf.Pram(["race", "region", "insured"], retention=0.7), cf.Recode("race", mapping={1: 2})],
    "pram by matrix": [cf.Pram("marital", matrix=[[0.8, 0.1, 0.1], [0.1, 0.9, 0], [0.2, 0, 0.8]])],
    "noise": [
        cf.Noise("income", sd=5_000, bounds=(0, 40_000), keep_zeros=True),
        cf.Topcode("income", at=40_000),
        cf.Noise(["score", "share"], relative=0.2),
        cf.Noise("height", sd=2.5),
        cf.Noise("born", sd=100),
        cf.Noise("age", sd=400),
    ],
    "noise, then classes": [cf.Noise("age", sd=30), cf.Recode("age", width=10), cf.Swap("race", rate=0.2, within="age")],
    "joint noise": [cf.Noise(["score", "income"], sd={"score": 1.0, "income": 900.0}, correlation=0.5)],
    "lognormal": [cf.LognormalNoise(["income", "height"], sd=0.2)],
    "rank swap": [cf.RankSwap(["income", "score", "age"], window=25), cf.Recode("income", breaks=[1, 10_000])],
    "rank swap in pairs": [cf.RankSwap(["age", "score"], window=30, exchange=True, keep_zeros=False)],
    "sample": [cf.Sample(fraction=0.3), cf.Swap("race", rate=0.3), cf.Pram("region", retention=0.8)],
    "two samples": [cf.Sample(fraction=0.5), cf.Swap("race", rate=0.5, within="sex"), cf.Sample(fraction=0.5)],
    "suppression": [
        cf.Recode("age", width=10),
        cf.Swap("marital", rate=0.1),
        cf.LocalSuppression(["sex", "region", "age", "race"], k=5),
    ],
    "suppression of numbers": [cf.LocalSuppression(["age", "marital", "region"], k=3, rule="wildcard")],
    "models": [
        cf.Recode("region", mapping={"island": "south"}),
        cf.QuantileRegression("income", given=["sex", "age"], quantiles=9, learn=500),
        cf.NormalSynthesis("score", given=["age", "income"], learn=700),
        cf.CartSynthesis("marital", given=["age", "region"], leaf=20, draw="independent", learn=400),
        cf.CartSynthesis("height", given=["sex"], leaf=20, draw="independent", learn=100_000),
    ],
}  # fmt: skip
"""Steps of every method that can be carried out in parts."""

LAYOUTS = {"one file": ([], 250), "parts": ([800, 1_400, 1_400, 2_999], 10_000), "many": ([1_000], 10_000)}
"""Where files end (an empty one among them), and rows of a public file."""
SIZES = {"one file": (333, 1_000, 4), "parts": (5_000, 5_000, 1), "many": (217, 500, 9)}
"""Rows of a batch and of a run on scratch, and ranges of the shuffle."""
OFTEN = ("nothing", "swap within", "noise, then classes", "two samples")
"""Plans that are carried out in every layout."""
CASES = [(name, layout) for name in PLANS for layout in LAYOUTS if layout == "many" or name in OFTEN]


@pytest.fixture(scope="module")
def file() -> pl.DataFrame:
    return people()


@pytest.fixture(scope="module")
def scans(file: pl.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> dict[str, cf.Scan]:
    folder = tmp_path_factory.mktemp("scans")
    return {name: in_files(file, folder / name.replace(" ", "-"), cuts) for name, (cuts, _) in LAYOUTS.items()}


def sized(monkeypatch: pytest.MonkeyPatch, rows: int, run: int, ranges: int) -> None:
    """Sizes that cut a small file often."""
    made = classmethod(lambda cls, _memory, _data, part_rows: cls(rows, run, part_rows, ranges))
    monkeypatch.setattr(Sizes, "of", made)


def plan_of(name: str) -> cf.Plan:
    return cf.Plan(PLANS[name], identifiers=["id"], drop=["seen", "insured"] if name == "forced" else ["seen"])


@cache
def in_memory(name: str) -> cf.Release:
    return plan_of(name).protect(people(), seed=3)


def same(release: cf.ScannedRelease, whole: cf.Release) -> None:
    """Rows, types, order and link."""
    assert whole.link is not None
    assert_frame_equal(release.released.collect(), whole.frame, check_exact=True, categorical_as_str=True)
    np.testing.assert_array_equal(release.link, whole.link)


@pytest.mark.parametrize(("name", "layout"), CASES)
def test_the_same_rows_in_the_same_order(
    name: str, layout: str, scans: dict[str, cf.Scan], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sized(monkeypatch, *SIZES[layout])
    release = plan_of(name).protect(
        scans[layout], seed=3, out=tmp_path / "out", private=tmp_path / "private", part_rows=LAYOUTS[layout][1]
    )
    same(release, in_memory(name))
    assert release.cautions == in_memory(name).cautions
    assert release.details == in_memory(name).details


@pytest.mark.parametrize("suffix", [".csv", ".arrow"])
def test_of_every_format(suffix: str, file: pl.DataFrame, tmp_path: Path) -> None:
    frame = file.drop("sex", "share", "born", "seen", "kind", "height") if suffix == ".csv" else file
    data = in_files(frame, tmp_path / "in", [1_100], suffix)
    plan = cf.Plan([cf.Swap("race", rate=0.3), cf.Noise("income", sd=500)], identifiers=["id"])
    release = plan.protect(data, seed=1, out=tmp_path / "out", private=tmp_path / "private")
    same(release, plan.protect(data.collect(), seed=1))


def test_draws_of_a_vault_and_shared_ones_are_those_in_memory(scans: dict[str, cf.Scan], tmp_path: Path) -> None:
    plan, data = plan_of("swap"), scans["parts"]
    vault = tmp_path / "vault"
    release = plan.protect(data, vault=vault, out=tmp_path / "out")
    assert release.private == (vault / "out").resolve()
    assert not release.refusal
    same(release, plan.protect(people(), vault=vault))
    shared = plan.protect(data, 7, draws="shared", out=tmp_path / "shared", private=tmp_path / "private")
    same(shared, plan.protect(people(), seed=7, draws="shared"))
    fresh = plan.protect(data, out=tmp_path / "fresh", private=tmp_path / "private-2")
    assert not (fresh.link == release.link).all()


def test_labels_and_answer_codes_go_where_they_go_in_memory(file: pl.DataFrame, tmp_path: Path) -> None:
    schema = cf.Schema({
        "race": cf.VariableSchema("race", label="Race", value_labels={1: "a", 2: "b", 3: "c", 4: "d", 5: "e", 9: "z"}),
        "income": cf.VariableSchema("income", missing=(0, 99)),
        "marital": cf.VariableSchema("marital", label="Marital status"),
    })  # fmt: skip
    data = cf.Data(file, schema)
    path = cf.write(data, tmp_path / "people.parquet")
    plan = cf.Plan([cf.Swap("race", rate=0.4), cf.Noise("income", sd=300)], identifiers=["id"])
    release = plan.protect(cf.scan(path), seed=1, out=tmp_path / "out", private=tmp_path / "private")
    whole = plan.protect(data, seed=1)
    same(release, whole)
    assert release.released.schema == cf.schema(whole.frame)
