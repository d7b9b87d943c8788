"""Units of several rows in a file that is read in parts: the very release of memory."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import confide as cf
from confide.core.scale import spark_batches
from confide.frames.units import unit_numbers
from confide.protect.scanned.units import units_of_rows
from tests.helpers.panels import panel
from tests.helpers.scanned_release import in_files


def households() -> pl.DataFrame:
    """Rows of units that lie apart, some without a unit, in an order that is not that of their numbers."""
    made = panel(120, 4, ragged=True, seed=3).sample(fraction=1.0, shuffle=True, seed=5)
    gap = pl.int_range(pl.len())
    return made.with_columns(
        household=pl.when(gap % 29 > 0).then(9_000 - pl.col("household") % 7 * 1000 + pl.col("household"))
    )


PLANS: dict[str, tuple[list[Any], dict[str, Any]]] = {
    "by record": ([cf.Recode("income", width=20_000), cf.Swap("job", rate=0.3)], {}),
    "not released": ([cf.Pram("job", retention=0.8)], {"drop": ["household"]}),
    "one noise": ([cf.Noise("income", sd=2000, per="unit"), cf.Round("income", base=10)], {}),
    "units exchanged": ([cf.Swap("sex", rate=0.4, within=["region"], per="unit")], {}),
    "a sample of units": ([cf.Sample(fraction=0.5, per="unit"), cf.Swap("job", rate=0.3)], {}),
    "a sample of rows, then units": ([cf.Sample(fraction=0.6), cf.Swap("sex", rate=0.4, per="unit")], {}),
}


@pytest.mark.parametrize("plan", PLANS)
@pytest.mark.parametrize("cuts", [(), (1, 1, 130)])
def test_the_release_of_memory(plan: str, cuts: tuple[int, ...], tmp_path: Path) -> None:
    steps, options = PLANS[plan]
    kinds = {"categorical": ["region", "sex", "job"]}
    release = cf.Plan(steps, unit="household", **kinds, **options).protect(_without_gaps(plan), seed=4)
    _same(release, in_files(release, tmp_path, cuts), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("plan", PLANS)
def test_on_spark_too(plan: str, session: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers get a few rows at a time, and units lie in several batches and files."""
    monkeypatch.setattr(spark_batches, "Workers", partial(spark_batches.Workers, size=50))
    steps, options = PLANS[plan]
    kinds = {"categorical": ["region", "sex", "job"]}
    release = cf.Plan(steps, unit="household", **kinds, **options).protect(_without_gaps(plan), seed=4)
    _same(release, in_files(release, tmp_path, (130,), cf.Spark(session)), tmp_path)


def _same(release: cf.Release, found: cf.ScannedRelease, folder: Path) -> None:
    assert np.array_equal(found.link, release.link)
    again = cf.ScannedRelease.load(folder / "private")
    assert again.plan.unit == "household"
    assert again.released.collect().equals(release.frame)


def _without_gaps(plan: str) -> pl.DataFrame:
    data = households()
    return (
        data
        if plan != "units exchanged"
        else data.with_columns(household=pl.col("household").fill_null(0)).filter(pl.col("household") > 0)
    )


@pytest.mark.parametrize("kind", [pl.Int64, pl.Float64, pl.String, pl.Categorical])
@pytest.mark.parametrize("rows", [7, 1000])
def test_numbers_of_units(kind: Any, rows: int, tmp_path: Path) -> None:
    column = households()["household"].cast(pl.String if kind == pl.Categorical else kind).cast(kind)
    pl.DataFrame({"household": column}).write_parquet(tmp_path / "a.parquet")
    found = units_of_rows(cf.scan(tmp_path / "a.parquet"), "household", rows)
    assert np.array_equal(found, unit_numbers(column))


def test_what_differs_inside_units_is_refused_as_in_memory(tmp_path: Path) -> None:
    plan = cf.Plan([cf.Swap("job", rate=0.3, per="unit")], unit="household", categorical=["job"])
    with pytest.raises(cf.InputError) as whole:
        plan.protect(households(), seed=1)
    for k in range(4):
        households()[k * 90 : (k + 1) * 90].write_parquet(tmp_path / f"{k}.parquet")
    data = cf.scan(tmp_path)
    assert data.height == households().height
    with pytest.raises(cf.InputError) as parts:
        plan.protect(data, seed=1, out=tmp_path / "out", private=tmp_path / "private", memory=200_000_000)
    assert str(parts.value) == str(whole.value)


def test_what_counts_units_is_refused_before_any_pass(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    households().write_parquet(tmp_path / "a.parquet")
    data = cf.scan(tmp_path / "a.parquet")
    plan = cf.Plan([cf.LocalSuppression(["region", "sex"], k=3)], unit="household", categorical=["region", "sex"])
    monkeypatch.setattr(cf.Scan, "batches", lambda *_: pytest.fail("the file was read"))
    with pytest.raises(cf.InputError, match="counts how many units have something in common"):
        plan.protect(data, seed=1, out=tmp_path / "out", private=tmp_path / "private")
