"""What goes out of a published table: counts and levels, nothing that can be stated of them, no level that is empty."""

from __future__ import annotations

import pytest

import confide as cf


def test_bounds_stay_inside_and_levels_of_nothing_but_zeros_too() -> None:
    table = cf.Table([[0, 9], [1, 8], [7, 6]], ["age", "sex"], [["a", "b", "c"], ["f", "m"]])
    published = table.publish(cf.RoundCells(5), margins="all")
    seen = published.public()
    assert seen.columns == ["margin", "age", "sex", "published"]
    assert seen["published"].to_list() == published.frame["published"].to_list()
    few = cf.Table([[0, 1], [1, 0], [7, 6]], ["age", "sex"], [["a", "b", "c"], ["f", "m"]])
    shown = few.publish(cf.RoundCells(5), margins="all").public(empty_levels=False)
    assert set(shown["age"].to_list()) == {"c", None}
    assert shown.filter(margin="total")["published"].to_list() == [15]


def test_areas_of_nothing_but_zeros_are_left_out() -> None:
    tables = cf.Tables([[1, 0], [8, 7]], areas=["small", "large"])
    published = tables.publish(cf.RoundCells(5), margins="total")
    assert published.public()["area"].unique().sort().to_list() == ["large", "small"]
    assert published.public(empty_levels=False)["area"].unique().to_list() == ["large"]


def test_a_draft_stays_one(tmp_path: object) -> None:
    draft = cf.Table([5, 7]).publish(cf.RoundCells(5, how="random"), seed=1)
    with pytest.raises(cf.InputError, match="draft"):
        cf.write(draft.public(), f"{tmp_path}/x.csv")
    with pytest.raises(cf.InputError, match="draft"):
        cf.write(draft.public(empty_levels=False), f"{tmp_path}/x.csv")
