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


def test_pseudonyms_of_units_are_no_variable(tmp_path: Path) -> None:
    file = people(200).with_columns(home=pl.int_range(200) // 3)
    plan = cf.Plan([cf.Recode("age", width=10), cf.Noise("income", sd=900)], identifiers=["id"], unit="home")
    scanned = plan.protect(in_files(file, tmp_path / "in", [90]), seed=2, out=tmp_path / "out", private=tmp_path / "p")
    measures = [cf.Means(), cf.Hellinger(), cf.Correlations()]
    found, whole = cf.utility(scanned, measures), cf.utility(plan.protect(file, seed=2), measures)
    assert found["value"].to_list() == pytest.approx(whole["value"].to_list(), rel=1e-9)


@pytest.mark.parametrize("weighted", [True, False])
def test_the_same_numbers(weighted: bool, file: pl.DataFrame, scanned: cf.ScannedRelease) -> None:
    measures = [cf.Means(), cf.Variances(), cf.TotalVariation(), cf.Hellinger(), cf.Means("income", label="one")]
    found = cf.utility(scanned, measures, weighted=weighted)
    whole = cf.utility(PLAN.protect(file, seed=2), measures, weighted=weighted)
    assert found["value"].to_list() == pytest.approx(whole["value"].to_list(), rel=1e-9)
    assert found.drop("value").rows() == whole.drop("value").rows()


JOINT = [
    cf.TotalVariation(["race", "region", "age", "insured", "income"], pairs=True), cf.Hellinger(["sex", "race"], pairs=True),
    cf.Covariances(), cf.Correlations(["age", "income", "height", "born"]), cf.Eigenvalues(["income", "score", "seen"]),
    cf.RegressionOverlap("income ~ age + C(race) + sex"), cf.RegressionOverlap("log(income) ~ age * sex", label="log"),
    cf.RegressionOverlap("insured ~ age", family="logistic", label="lost"),
    cf.CoefficientDifference("sex ~ age + marital", family="logistic"),
]  # fmt: skip


@pytest.mark.parametrize("weighted", [True, False])
def test_the_same_numbers_of_several_variables(
    weighted: bool, file: pl.DataFrame, scanned: cf.ScannedRelease, monkeypatch: pytest.MonkeyPatch
) -> None:
    batches = cf.Scan.batches
    monkeypatch.setattr(cf.Scan, "batches", lambda self, columns=None: batches(self, columns, 170))
    found = cf.utility(scanned, JOINT, weighted=weighted)
    whole = cf.utility(PLAN.protect(file, seed=2), JOINT, weighted=weighted)
    assert found["value"].to_list() == pytest.approx(whole["value"].to_list(), rel=1e-9)
    assert found.drop("value").rows() == whole.drop("value").rows()


def test_what_needs_all_records_is_refused(scanned: cf.ScannedRelease, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(cf.InputError, match="Propensity compares all records at once"):
        cf.utility(scanned, "propensity")
    found = cf.utility(scanned, ["means", "propensity"], strict=False)
    assert found["value"].is_null().to_list() == [False, True]
    monkeypatch.setattr("confide.measure.utility.scanned_joint.MOST", 50)
    with pytest.raises(cf.InputError, match="more than 50 different joint values"):
        cf.utility(scanned, cf.TotalVariation(["income", "age"], pairs=True))
    with pytest.raises(cf.InputError, match='no column "wage"'):
        cf.utility(scanned, cf.RegressionOverlap("wage ~ age"))
    with pytest.raises(cf.InputError, match='no column "wage"'):
        cf.utility(scanned, cf.Means("wage"))
