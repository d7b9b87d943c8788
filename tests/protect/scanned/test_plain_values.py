"""What is kept of a release comes back as it was, and nothing in its files is ever run."""

from __future__ import annotations

import datetime
import json
import os
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import confide as cf
from confide.frames.columns import Column, Records
from confide.protect.scanned.plain_values import Flattening, Raising
from tests.helpers.scanned import in_files, people

PLANS: dict[str, list[Any]] = {
    "many": [
        cf.Recode("age", width=10), cf.Swap("race", rate=0.3, within="sex"), cf.Noise("income", relative=0.1),
        cf.Pram("region", retention=0.9), cf.LocalSuppression(["marital", "insured"], k=3),
        cf.RankSwap("height", window=5),
    ],
    "coarser": [cf.Round("income", base=1000), cf.Topcode("age", at=70), cf.Sample(0.5), cf.Bottomcode("share", at=5),
                cf.Recode("region", mapping={"north": "n"}), cf.Recode("born", width=365)],
    "quantiles": [cf.QuantileRegression("income", given=["sex", "age"], quantiles=9, learn=300)],
    "trees": [cf.CartSynthesis("marital", given=["sex", "age"], draw="independent", learn=300)],
    "normal": [cf.NormalSynthesis("income", given=["sex"], learn=300)],
    "jointly": [cf.Noise(["income", "score"], sd={"income": 100, "score": 0.1}, correlation=0.5),
                cf.Swap(["race", "marital"], rate=0.2)],
}  # fmt: skip


def alike(a: Any, b: Any, seen: set[int]) -> None:
    """Whether two values hold the same, down to the last number."""
    if id(a) in seen:
        return
    seen.add(id(a))
    assert type(a) is type(b), (type(a), type(b))
    if isinstance(a, np.ndarray):
        assert a.dtype == b.dtype
        assert a.dtype == object or a.tobytes() == b.tobytes()
    elif isinstance(a, (pl.Series, pl.DataFrame)):
        assert a.equals(b)
    elif isinstance(a, dict):
        assert list(a) == list(b)
        for k in a:
            alike(a[k], b[k], seen)
    elif isinstance(a, (list, tuple)):
        assert len(a) == len(b)
        for x, y in zip(a, b, strict=True):
            alike(x, y, seen)
    elif type(a).__module__.startswith(("confide", "sklearn")):
        alike(vars(a), vars(b), seen)
    else:
        assert a == b or a != a


def round_trip(value: Any) -> Any:
    flat = Flattening()
    told = flat.of(value)
    told, objects = json.loads(json.dumps([told, flat.objects]))
    return Raising(objects, flat.arrays).of(told)


@pytest.mark.parametrize("case", PLANS)
def test_a_release_comes_back(case: str, tmp_path: Path) -> None:
    data = in_files(people(700), tmp_path / "in", [300])
    plan = cf.Plan(PLANS[case], identifiers=["id"])
    made = plan.protect(data, seed=1, out=tmp_path / "out", private=tmp_path / "private")
    again = cf.ScannedRelease.load(tmp_path / "private")
    for name in ("plan", "origin", "compiled", "codebook"):
        alike(getattr(made, name), getattr(again, name), set())
    assert again.plan == plan
    assert {p.name for p in (tmp_path / "private").iterdir()} == {"fitted.json", "fitted.npz", "links", "release.json"}


def test_every_value() -> None:
    day = datetime.datetime(2020, 1, 2, 3, 4, 5, 6)
    value = (
        None, True, 1, 2**80, 0.1, float("inf"), "x", b"\x00", day, day.date(), day.time(), datetime.timedelta(1, 2, 3),
        Decimal("1.50"), Path("/a"), np.float64(0.1), np.int8(3), {1: "a", "b": [2]}, {"x", "y"}, frozenset([1]),
        np.array(["a", "bc"]), pl.Series("s", ["a", "b"], dtype=pl.Enum(["a", "b", "c"])), pl.Datetime("ms", "UTC"),
        pl.String, pl.Decimal(8, 2), pl.DataFrame({"a": [1, None]}),
    )  # fmt: skip
    alike(value, round_trip(value), set())
    assert np.isnan(round_trip(float("nan")))
    things = round_trip(np.array([[1, "a"], [None, 2.5]], dtype=object))
    assert things.tolist() == [[1, "a"], [None, 2.5]]
    one = np.arange(3)
    first, second = round_trip([one, one])
    assert first is second
    column = Column("a", "numeric", one.astype(float), pl.Float64())
    assert isinstance(round_trip(Records([column])), Records)


@pytest.mark.parametrize("name", [["os", "system"], ["subprocess", "Popen"], ["builtins", "eval"], ["pathlib", "Path"]])
def test_no_other_class_is_made(name: list[str]) -> None:
    with pytest.raises(cf.InputError, match="which this program has not"):
        Raising([{"class": name, "fields": {}}], {}).of({"at": 0})


def test_what_cannot_be_kept_is_refused() -> None:
    with pytest.raises(cf.InputError, match="cannot be kept"):
        Flattening().of(os.system)
    with pytest.raises(cf.InputError, match="cannot be kept"):
        Flattening().of(object())


def test_a_private_folder_of_before_is_told(tmp_path: Path) -> None:
    data = in_files(people(100), tmp_path / "in", [])
    cf.Plan([cf.Swap("race", rate=0.3)]).protect(data, seed=1, out=tmp_path / "out", private=tmp_path / "private")
    record = tmp_path / "private" / "release.json"
    record.write_text(record.read_text().replace("confide-scan-record/2", "confide-scan-record/1"))
    with pytest.raises(cf.InputError, match="of another version"):
        cf.ScannedRelease.load(tmp_path / "private")
