"""Utility of the release of a scan is that of the same release in memory."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import confide as cf
from tests.helpers.scanned import in_files, people

PLAN = cf.Plan(
    [
        cf.Recode("age", width=10), cf.Recode("region", mapping={"island": "south"}), cf.Noise("income", sd=900),
        cf.Pram("race", retention=0.5), cf.Topcode("height", at=171), cf.Recode("born", breaks=[3_000]),
    ],
    identifiers=["id"], weight="weight", drop=["seen", "insured"],
)  # fmt: skip


@pytest.fixture(scope="module")
def file() -> pl.DataFrame:
    return people(900).with_columns(weight=1.0 + pl.int_range(900) % 4, one=pl.lit("same"))


@pytest.fixture(scope="module")
def scanned(file: pl.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> cf.ScannedRelease:
    folder: Path = tmp_path_factory.mktemp("scan")
    data = in_files(file, folder / "in", [300, 650])
    return PLAN.protect(data, seed=2, out=folder / "out", private=folder / "private")


@pytest.mark.parametrize("weighted", [True, False])
def test_the_same_numbers(weighted: bool, file: pl.DataFrame, scanned: cf.ScannedRelease) -> None:
    measures = [cf.Means(), cf.Variances(), cf.TotalVariation(), cf.Hellinger(), cf.Means("income", label="one")]
    found = cf.utility(scanned, measures, weighted=weighted)
    whole = cf.utility(PLAN.protect(file, seed=2), measures, weighted=weighted)
    assert found["value"].to_list() == pytest.approx(whole["value"].to_list(), rel=1e-9)
    assert found.drop("value").rows() == whole.drop("value").rows()


def test_what_compares_jointly_is_refused(scanned: cf.ScannedRelease) -> None:
    with pytest.raises(cf.InputError, match="Correlations compares variables jointly"):
        cf.utility(scanned, "correlations")
    with pytest.raises(cf.InputError, match="jointly"):
        cf.utility(scanned, cf.TotalVariation(pairs=True))
    found = cf.utility(scanned, ["means", "correlations"], strict=False)
    assert found["value"].is_null().to_list() == [False, True]
    with pytest.raises(cf.InputError, match='no column "wage"'):
        cf.utility(scanned, cf.Means("wage"))
