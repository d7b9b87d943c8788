"""Utility by group: the measure of the group's rows alone, as an analyst of the release selects them."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import polars as pl
import pytest

import confide as cf

PLAN = cf.Plan(
    [cf.Recode("age", width=20), cf.Swap("race", rate=0.3), cf.Swap("marital", rate=0.3)],
    identifiers=["id"], weight="weight",
)  # fmt: skip


@cache
def heads(n: int = 1_200) -> pl.DataFrame:
    return cf.demo("heads").head(n)


@cache
def release() -> cf.Release:
    return PLAN.protect(heads(), seed=1)


def test_a_group_is_what_an_analyst_selects() -> None:
    measures = [cf.Hellinger("marital"), cf.Means("hh_income")]
    found = cf.utility_by_group(release(), "race", measures).frame
    for level in heads()["race"].unique().to_list():
        before, after = (f.filter(pl.col("race") == level) for f in (heads(), release().frame))
        for m in measures:
            row = found.filter(group=level, measure=m.name).row(0, named=True)
            assert row["value"] == pytest.approx(m(before, after, weight="weight"))
            assert (row["people"], row["released"]) == (before.height, after.height)
            assert row["whole"] == pytest.approx(m(heads(), release().frame, weight="weight"), abs=1e-12)


def test_identical_files_lose_nothing_in_any_group() -> None:
    same = cf.Plan([], identifiers=["id"]).protect(heads(), seed=1)
    found = cf.utility_by_group(same, ["race", "age"], ["means", "hellinger", "total_variation"]).frame
    assert (found["value"] == found["best"]).all()


def test_recoded_variables_make_the_groups_that_are_left() -> None:
    found = cf.utility_by_group(release(), "age", cf.Hellinger("marital")).frame
    recoded = cf.Plan([cf.Recode("age", width=20)]).protect(heads().select("age"), seed=1).frame
    assert dict(found.select("group", "people").rows()) == dict(recoded["age"].cast(pl.String).value_counts().rows())


def test_a_noisy_number_makes_ranges() -> None:
    noisy = cf.Plan([cf.Noise("age", sd=4)], identifiers=["id"]).protect(heads(), seed=1)
    found = cf.utility_by_group(noisy, "age", cf.Means("hh_income")).frame
    assert found["people"].sum() == found["released"].sum() == 1_200
    assert found["group"][0].startswith("up to")


def test_measures_that_follow_people_take_their_own_rows() -> None:
    noisy = cf.Plan([cf.Noise("hh_income", sd=5_000), cf.Swap("race", rate=0.3)], identifiers=["id"])
    made = noisy.protect(heads(), seed=1)
    assert made.link is not None
    found = cf.utility_by_group(made, "race", cf.InformationLoss("hh_income")).frame
    rows = np.flatnonzero((heads()["race"] == "Black").to_numpy())
    place = np.full(heads().height, -1)
    place[rows] = np.arange(len(rows))
    there = np.flatnonzero(np.isin(made.link, rows))
    by_hand = cf.InformationLoss("hh_income")(heads()[rows], made.frame[there], link=place[made.link[there]])
    assert found.filter(group="Black")["value"].item() == pytest.approx(by_hand)


def test_the_variable_of_the_groups_is_no_item_inside_them() -> None:
    found = cf.utility_by_group(release(), "age", "hellinger").frame
    assert not found["detail"].str.contains("age").any()


def test_intervals_cover_what_people_drawn_anew_show() -> None:
    found = cf.utility_by_group(release(), "sex", cf.Hellinger("marital"), replicates=40)
    assert (found.frame["low"] <= found.frame["value"]).all()
    assert (found.frame["high"] >= found.frame["value"]).all()
    assert found.frame["chance"].null_count() == 0
    assert found.frame["worse"].null_count() == 0
    again = cf.utility_by_group(release(), "sex", cf.Hellinger("marital"), replicates=40)
    assert again.frame.equals(found.frame)
    assert "by chance" in str(found)


def test_a_group_that_pays_is_marked_and_one_that_does_not_is_not() -> None:
    """Only the people of one area are swapped: those of the other lose nothing."""
    n = 800
    rng = np.random.default_rng(2)
    data = pl.DataFrame({"area": ["a", "b"] * (n // 2), "y": rng.integers(0, 4, n).astype(str)})
    frame = data.with_columns(y=pl.when(pl.col("area") == "b").then(pl.lit("0")).otherwise(pl.col("y")))
    made = cf.Release.adopt(data, frame, link=np.arange(n))
    found = cf.utility_by_group(made, "area", cf.TotalVariation("y"), replicates=40).frame
    assert dict(found.select("group", "worse").rows()) == {"a": False, "b": True}
    assert found.filter(group="a")["value"].item() == 0


def test_copies_and_files_without_a_link() -> None:
    copies = PLAN.protect(heads(300), seed=1, copies=2)
    assert isinstance(copies, cf.Copies)
    found = cf.utility_by_group(copies, "sex", cf.Hellinger("marital"), replicates=20).frame
    assert found["value"].null_count() == 0
    loose = cf.Release.adopt(heads(), release().frame)
    told = cf.utility_by_group(loose, "sex", cf.Hellinger("marital"), replicates=20).frame
    assert told["low"].null_count() == 0
    assert told["chance"].null_count() == told.height


def test_what_cannot_be_measured_is_said() -> None:
    gone = cf.Plan([cf.Recode("race", mapping={"Black": "White"})], identifiers=["id"]).protect(heads(), seed=1)
    assert "Black" not in cf.utility_by_group(gone, "race", "hellinger").frame["group"].to_list()
    constant = cf.utility_by_group(release(), "race", cf.CoefficientDifference("hh_income ~ race"))
    assert constant.frame["value"].null_count() == constant.frame.height
    assert (constant.frame["detail"] != "").all()
    assert "unknown" in str(constant)
    with pytest.raises(cf.InputError, match="nothing to draw"):
        constant.chart()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"by": "rase"}, 'no column "rase" in the original. Did you mean "race"'),
        ({"by": "id"}, "is not released"),
        ({"by": ()}, "by takes the name of a column"),
        ({"replicates": 5}, "replicates is 0"),
        ({"replicates": True}, "replicates is 0"),
        ({"measures": ["means", "means"]}, "Two measures"),
    ],
)
def test_mistakes_are_said(options: dict[str, Any], said: str) -> None:
    with pytest.raises(cf.InputError, match=said):
        cf.utility_by_group(release(), **{"by": "race", **options})


def test_only_releases_are_measured() -> None:
    with pytest.raises(cf.InputError, match="Release"):
        cf.utility_by_group(heads(), "race")  # type: ignore[arg-type]


def test_the_picture() -> None:
    found = cf.utility_by_group(release(), ["race", "sex"], ["means", "hellinger"])
    assert len(found.chart().to_dict()["vconcat"]) == 4
    assert set(found.summary().columns) == {"variable", "group", "people", "means", "hellinger"}
    assert "No intervals" in str(found)
