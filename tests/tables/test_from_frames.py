"""How data get into a table and out again: pandas, categories, missing values, names, areas, what is published."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

import confide as cf


def test_categories_of_pandas_keep_their_order_and_the_unused() -> None:
    numbers = pd.DataFrame({"band": pd.Categorical([1, 2, 10], categories=[10, 2, 1, 7])})
    table = cf.Table.of(numbers, by=["band"])
    assert table.levels == (("10", "2", "1", "7"),)
    assert table.counts.tolist() == [1, 1, 1, 0]
    assert numbers["band"].cat.categories.tolist() == [10, 2, 1, 7]  # the caller's frame is as it was


def test_intervals_of_pandas_are_levels() -> None:
    ages = pd.DataFrame({"age": pd.cut([3, 17, 40, 41], [0, 15, 30, 45, 60])})
    table = cf.Table.of(ages, by=["age"])
    assert table.levels == (("(0, 15]", "(15, 30]", "(30, 45]", "(45, 60]"),)
    assert table.counts.tolist() == [1, 1, 2, 0]


def test_missing_values_are_a_level_but_never_somebody_elses() -> None:
    assert cf.Table.of({"m": ["a", None]}, by=["m"]).levels == (("a", "missing"),)
    with pytest.raises(cf.InputError, match='a level called "missing"'):
        cf.Table.of({"m": ["missing", "a", None]}, by=["m"])


def test_numbers_that_are_no_whole_numbers_and_huge_ones() -> None:
    assert cf.Table.of({"y": [1.0, 2.5]}, by=["y"]).levels == (("1.0", "2.5"),)
    assert cf.Table.of({"y": [1.0, 2.0]}, by=["y"]).levels == (("1", "2"),)
    assert cf.Table.of({"y": [1e300, 1.0]}, by=["y"]).counts.tolist() == [1, 1]


@pytest.mark.parametrize("name", ["cell", "count", "lower", "n", "people", "tag"])
def test_names_of_result_columns_are_refused(name: str) -> None:
    with pytest.raises(cf.InputError, match="a column of the results"):
        cf.Table([1, 2], names=[name])


def test_a_column_that_names_the_areas_is_no_variable() -> None:
    wards = cf.demo("wards")
    with pytest.raises(cf.InputError, match='"name" has one value in each area'):
        cf.Tables.from_counts(wards, area="ward")
    assert len(cf.Tables.from_counts(wards, area="ward", by=["sex", "age"])) == 123


def test_a_crosstab_of_pandas_brings_its_labels() -> None:
    data = pd.DataFrame({"sex": ["m", "f", "f"], "ill": [True, False, False]})
    table = cf.Table(pd.crosstab(data["sex"], data["ill"]))
    assert (table.names, table.levels) == (("sex", "ill"), (("f", "m"), ("false", "true")))
    assert table.counts.tolist() == [[2, 0], [0, 1]]
    with pytest.raises(cf.InputError, match="counted twice"):
        cf.Table(pd.crosstab(data["sex"], data["ill"], margins=True))


def test_totals_in_a_file_of_counts_are_refused() -> None:
    rows = {"sex": ["m", "f", "Total"], "count": [2, 3, 5]}
    with pytest.raises(cf.InputError, match='The level "Total" of "sex" is the sum of the others'):
        cf.Table.from_counts(rows)
    assert cf.Table.from_counts({"sex": ["m", "f", "all"], "count": [2, 3, 4]}).total == 9  # a name, no total


def test_areas_by_name_before_position() -> None:
    tables = cf.Tables([[1, 2], [3, 4], [5, 6]], areas=[1, 10, 2])
    assert tables[2].counts.tolist() == [5, 6]
    assert tables["10"].counts.tolist() == [3, 4]
    assert tables[0].counts.tolist() == [1, 2]  # no area has this name
    assert [t.total for t in tables] == [3, 7, 11]
    with pytest.raises(cf.InputError, match="no area"):
        tables[99]


def test_an_area_that_cannot_be_protected_is_named() -> None:
    tables = cf.Tables([[[5, 6], [7, 8]], [[2, 1], [2, 1]]], areas=["fine", "bad"])
    with pytest.raises(cf.InputError, match='Area "bad": Even with everything hidden') as error:
        tables.publish(cf.Suppress(3), margins="all")
    assert "smaller width" not in str(error.value)
    assert len(tables.publish(cf.Suppress(3, marks="same"), margins="all")) == 2


def test_the_published_frame_has_a_column_a_variable() -> None:
    groups = {"age": {"broad": {"young": ["0", "1"], "old": ["2"]}}}
    table = cf.Table([[1, 2, 3], [4, 5, 6]], names=["sex", "age"], hierarchies=groups)
    frame = table.publish(margins=[["sex"], ["broad"], []]).frame
    assert frame.filter(pl.col("margin") == "sex").select("sex", "age", "published").rows() == [
        ("0", None, 6), ("1", None, 15)
    ]  # fmt: skip
    assert frame.filter(pl.col("margin") == "broad")["age"].to_list() == ["young", "old"]
    assert frame.row(-1)[2:] == (None, None, 21, 21, 21)
    many = cf.Tables([[1, 2], [3, 4]], areas=["a", "b"]).publish(cf.RoundCells(3), margins="total").frame
    assert many.columns == ["area", "margin", "entry", "v1", "published", "lower", "upper"]
    assert many["published"].to_list() == [0, 3, 3, 3, 3, 6]


def test_summed_totals_and_impossible_cells_state_what_is_known() -> None:
    published = cf.Table([2, 5, 0], structural=np.array([False, False, True])).publish(
        cf.RoundCells(3), margins="total", totals="summed"
    )
    assert published.frame.select("published", "lower", "upper").rows() == [
        (3, 2, 4), (6, 5, 7), (0, 0, 0), (9, 7, 11)
    ]  # fmt: skip


def test_a_column_of_missing_values_is_no_variable() -> None:
    with pytest.raises(cf.InputError, match='"m" has only missing values'):
        cf.Table.of({"m": [None, None], "a": ["x", "y"]}, by=["m", "a"])
    assert cf.Table.of({"m": [None, None]}, by=["m"], levels={"m": ["a"]}).counts.tolist() == [0, 2]


def test_bounds_of_areas_are_those_of_each() -> None:
    tables = cf.Tables(np.arange(18).reshape(3, 2, 3) % 5, areas=["a", "b", "c"])
    published = tables.publish(cf.RoundCells(3), margins="all")
    together = published.bounds()
    for area in tables.areas:
        assert together.filter(pl.col("area") == area).drop("area").equals(published[area].bounds())
