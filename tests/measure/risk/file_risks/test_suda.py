"""SUDA2: the practice guide's example and the shipped householders, both scales, and rules for missing values."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import confide as cf
from confide.measure.risk.file_risks.suda import SpecialUniques
from confide.measure.risk.population.special import dis_suda
from tests.helpers.guide import NAMES, guide
from tests.helpers.population_twin import minimal_by_size

SIX = ["state", "sex", "race", "marital", "educ", "age"]


@cache
def guided(scale: str = "elliot", **more: Any) -> SpecialUniques:
    found = cf.measures.Suda(NAMES, scale=scale, **more).of(guide())
    assert isinstance(found, SpecialUniques)
    return found


def test_the_practice_guide() -> None:
    assert guided().frame["score"].to_list() == [0, 0, 6, 0, 12, 0, 6, 10, 0, 0]
    assert guided("ihsn").frame["score"].to_list() == [0, 0, 1.75, 0, 3.25, 0, 1.75, 2.75, 0, 0]
    shares = dict(guided().table.select("variable", pl.col("contribution").round(3)).rows())
    assert shares == {"residence": 0.235, "gender": 0.176, "education": 0.647, "labour": 0.235}
    found = guided(fraction=0.1)
    assert found.theta == pytest.approx(0.0690, abs=5e-5)
    scored = found.frame.filter(pl.col("score") > 0)["dis_suda"].to_numpy()
    np.testing.assert_allclose(scored, [0.0522, 0.1124, 0.0522, 0.0924], atol=5e-5)
    assert found.frame["dis_suda"].to_list()[:2] == [0.0, 0.0]
    assert found.frame["smallest"].to_list() == [None, None, 1, None, 1, None, 1, 1, None, None]


@pytest.mark.parametrize("scale", ["elliot", "ihsn"])
def test_householders_by_six_keys(scale: str) -> None:
    found = cf.measures.Suda(SIX, scale=scale).of(cf.demo("heads"))
    assert isinstance(found, SpecialUniques)
    assert found.bars["value"].to_list() == [1, 435, 15_716, 32_074, 11_223, 666]
    assert found.numbers[""] == 31_411
    assert found.sets["records"].sum() == found.numbers["sets"] == 60_115
    if scale == "elliot":
        assert found.numbers["largest"] == 126
        shares = found.table["contribution"].round(3).to_list()
        assert shares == [0.871, 0.230, 0.312, 0.434, 0.663, 0.922]
    else:
        lost = found.frame.filter((pl.col("score") == 0) & (pl.col("sets") > 0))
        assert lost.height == 666
        assert "666 records have the score 0 although" in " ".join(found.notes)


FILES = st.integers(1, 5).flatmap(
    lambda d: st.lists(st.lists(st.sampled_from([*"xyz", None]), min_size=d, max_size=d), min_size=2, max_size=12)
)


@settings(max_examples=60, deadline=None)
@given(FILES, st.sampled_from(["own", "never"]))
def test_scores_are_those_of_the_definition(rows: list[list[str | None]], rule: str) -> None:
    names = [f"v{i}" for i in range(len(rows[0]))]
    data = pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String), orient="row")
    assume(all(data[v].null_count() < data.height for v in names))
    assume(all(data.height < 10 or data[v].n_unique() < data.height for v in names))
    found = cf.measures.Suda(names, missing=rule).of(data)
    m = len(names)
    plain = [[v or "-" for v in row] for row in rows]
    every = minimal_by_size(plain, "-" if rule == "never" else None)
    factorials = [float(np.prod(np.arange(1, m - s + 1))) for s in range(1, m + 1)]
    np.testing.assert_allclose(found.frame["score"].to_numpy(), np.array(every) @ factorials)
    assert found.frame["sets"].to_list() == [sum(r) for r in every]
    assert found.numbers[""] == sum(any(r) for r in every)


def test_a_missing_value_is_never_part_of_a_set() -> None:
    data = {"a": ["x", "x", "y", None], "b": ["1", "2", "2", "2"]}
    own, never = (cf.measures.Suda(["a", "b"], missing=rule).of(data) for rule in ("own", "never"))
    assert own.frame["score"].to_list() == [1, 1, 1, 1]
    assert never.frame["score"].to_list() == [1, 1, 1, 0]
    assert 'Rule for missing values: "never"' in " ".join(never.notes)
    assert "1 of 8 cells are missing" in " ".join(never.notes)


def test_equal_scores_share_theta_evenly_and_zeros_are_not_known() -> None:
    there = np.array([True, True, True, False])
    np.testing.assert_allclose(dis_suda(np.array([2.0, 2.0, 2.0, 0.0]), there, 0.07, 4), [0.07, 0.07, 0.07, 0.0])
    assert np.isnan(dis_suda(np.array([2.0, 2.0, 0.0, 0.0]), there, 0.07, 4)[2])
    file = {"a": [*"xxyyxx"], "b": [*"121233"]}
    found = cf.measures.Suda(["a", "b"], scale="ihsn", fraction=0.5).of(file)
    assert found.frame["dis_suda"].to_list() == [None] * 4 + [0.0] * 2


def test_a_largest_size_is_said() -> None:
    found = cf.measures.Suda(SIX, largest=2).of(cf.demo("heads").head(2_000))
    assert found.words[""] == "records that some set of up to 2 of the keys singles out"
    assert "records without a score are unique on all keys" in " ".join(found.notes)
    assert found.bars.height == 2


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"scale": "ISHN"}, r'scale is one of "elliot": \(m - s\)!'),
        ({"missing": "wildcard"}, 'missing is one of "own"'),
        ({"largest": 0}, "from 1"),
        ({"largest": 2.5}, "from 1"),
        ({"fraction": 5}, "for 5 percent write 0.05"),
        ({"fraction": 0.1, "total": 4}, "fraction and total given"),
        ({"keys": [f"v{i}" for i in range(13)]}, "such as largest=4"),
        ({"keys": [f"v{i}" for i in range(40)], "largest": 4}, "Say largest=2"),
        ({"keys": [f"v{i}" for i in range(200)], "largest": 1}, 'more than 160; name fewer keys, or take scale="ihsn"'),
        (
            {"keys": [f"v{i}" for i in range(28)], "largest": 1, "fraction": 0.1},
            "larger scores would get smaller risks",
        ),
    ],
)
def test_bad_input(given: dict[str, Any], said: str) -> None:
    with pytest.raises(cf.InputError, match=said):
        cf.measures.Suda(**{"keys": ["a", "b"], **given})


def test_many_keys_with_a_largest_size() -> None:
    rng = np.random.default_rng(1)
    data = pl.DataFrame({f"v{i}": rng.integers(0, 6, 300) for i in range(14)})
    found = cf.measures.Suda(data.columns, largest=3).of(data)
    some = cf.measures.Suda(data.columns[:4], largest=3).of(data)
    assert found.numbers["sets"] > some.numbers["sets"]  # type: ignore[operator]
    assert found.bars.height == 3


@pytest.mark.parametrize(("scale", "many"), [("elliot", 160), ("ihsn", 200)])
def test_as_many_keys_as_scores_are_numbers_for(scale: str, many: int) -> None:
    data = pl.DataFrame({f"v{i}": ["x", *"aabbcc"] for i in range(many)})
    found = cf.measures.Suda(data.columns, scale=scale, largest=1).of(data)
    assert found.value == 1
    assert np.isfinite(list(found.numbers.values())).all()  # type: ignore[arg-type]
    assert found.table["contribution"].to_list() == pytest.approx([1 / many] * many)


def test_a_sample_without_doubles_tells_no_chance() -> None:
    """Nobody shares a cell with one other, so that nothing tells how many people do: 1 would be no finding."""
    file = {"a": [*"xxxxxyyyyz"], "b": ["1"] * 10}
    found = cf.measures.Suda(["a", "b"], fraction=0.1).of(file)
    assert found.theta is None
    assert "dis_suda" not in found.frame.columns
    assert "is not known: the sample has no doubles" in " ".join(found.notes)
    everybody = cf.measures.Suda(["a", "b"], fraction=1).of(file)
    assert everybody.theta == 1
    uniques = cf.measures.PopulationUniques(["a", "b"], fraction=0.1)
    assert uniques.of(file).numbers["dis"] is None
    assert uniques.of({"a": [*"xxxxxyyyyzww"], "b": ["1"] * 12}).numbers["dis"] == pytest.approx(1 / 19)
    assert uniques.of(file).notes[0].startswith("1 record is unique")


def test_nobody_is_unique_and_nothing_is_released() -> None:
    none = cf.measures.Suda(["a"], fraction=0.5).of({"a": ["x", "x", "y", "y"]})
    assert none.numbers[""] == 0
    assert none.table["contribution"].to_list() == [None]
    assert "dis_suda" not in none.frame.columns
    release = cf.Plan(identifiers=["id"], drop=["race"]).protect(cf.demo("heads").head(50), seed=1)
    assert cf.measures.Suda("race").of(release).numbers[""] == 0
    repr(none)
