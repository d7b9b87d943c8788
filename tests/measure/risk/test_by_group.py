"""Risk by group: sums of the file's, intervals that cover, groups that are named."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import polars as pl
import pytest

import confide as cf
from confide.measure.risk.by_group import wilson

KEYS = ["sex", "race", "age"]


@cache
def heads(n: int = 1_500) -> pl.DataFrame:
    return cf.demo("heads").head(n)


@cache
def attack() -> cf.Attack:
    plan = cf.Plan([cf.Recode("age", width=10), cf.Swap("race", rate=0.2)], identifiers=["id"])
    found = cf.Intruder(knows=KEYS).attack(plan.protect(heads(), seed=1))
    assert isinstance(found, cf.Attack)
    return found


def test_groups_add_up_to_the_file() -> None:
    whole, found = attack().summary(), attack().by(["race", "tenure", "age"])
    for _, part in found.frame.group_by("variable"):
        assert part["people"].sum() == whole.targets
        assert part["found"].sum() == pytest.approx(whole.found)
        assert part["claimed"].sum() == pytest.approx(whole.claimed_matches)
        assert part["over_threshold"].sum() == whole.over_threshold
    assert (found.frame["low"] <= found.frame["found_share"]).all()
    assert (found.frame["high"] >= found.frame["found_share"]).all()


def test_one_group_by_hand() -> None:
    row = attack().by("race", threshold=0.1).frame.filter(group="Black").row(0, named=True)
    units = attack().units.filter(heads()["race"].gather(attack().truth) == "Black")
    expected = (units["hit"] / units["n_max"]).sum()
    assert (row["people"], row["over_threshold"]) == (units.height, (units["p_max"] > 0.1).sum())
    assert row["found"] == pytest.approx(expected)
    assert row["relative"] == pytest.approx(expected / units.height / attack().summary().found_share)
    assert row["z"] == pytest.approx(cf.calibrate(units, bins=1).z)
    assert (row["low"], row["high"]) == pytest.approx(wilson(expected / units.height, units.height))


@pytest.mark.parametrize(("n", "p"), [(20, 0.1), (50, 0.02), (200, 0.4)])
def test_wilson_covers(n: int, p: float) -> None:
    right = np.random.default_rng(1).binomial(n, p, 4_000)
    ends = np.array([wilson(k / n, n) for k in range(n + 1)])[right]
    assert ((ends[:, 0] <= p) & (p <= ends[:, 1])).mean() > 0.9
    assert wilson(0.0, n)[0] == 0
    assert wilson(1.0, n)[1] == 1


def test_a_group_that_stands_out_is_named_and_a_random_one_is_not() -> None:
    rng = np.random.default_rng(4)
    data = pl.DataFrame(
        {"a": rng.integers(0, 12, 1_000), "rare": ["x"] * 960 + ["y"] * 40, "coin": rng.integers(0, 2, 1_000)}
    )
    data = data.with_columns(
        pl.col("coin").cast(pl.String), a=pl.when(pl.col("rare") == "y").then(pl.int_range(100, 1_100)).otherwise("a")
    )
    found = cf.Intruder(knows=["a"]).attack(cf.Plan([]).protect(data, seed=1)).by(["rare", "coin"])
    assert found.beyond["group"].to_list() == ["y"]
    assert "beyond noise: rare y" in str(found)
    assert found.frame.filter(variable="rare", group="y")["found_share"].item() == 1.0


def test_chance_groups_are_named_about_as_seldom_as_stated() -> None:
    """Groups drawn at random in one attack: at most 5 percent of the variables name anybody, up to noise."""
    rng = np.random.default_rng(8)
    release, named = attack().release, 0
    for _ in range(60):
        coin = pl.Series("coin", rng.integers(0, 3, heads().height).astype(str))
        frame = heads().with_columns(coin)
        again = cf.Release.adopt(frame, release.frame, release.plan, link=release.link)
        made = cf.Intruder(knows=KEYS).attack(again)
        named += made.by("coin").beyond.height > 0
    assert named <= 8


def test_a_naive_intruder_is_wrong_about_groups() -> None:
    naive = cf.Intruder.at("naive", knows=KEYS).attack(attack().release)
    assert "the intruder's model is wrong about this group" in str(naive.by("race"))


def test_without_truth_only_claims_are_told() -> None:
    release = cf.Release.adopt(heads(), heads().drop("id"))
    found = cf.Intruder.at("naive", knows=KEYS).attack(release).by("race")
    assert found.found_share is None
    assert found.frame["found"].null_count() == found.frame.height
    assert found.frame["people"].sum() == heads().height
    assert "truth is not known" in str(found)
    assert found.chart().to_dict()


def test_targets_from_elsewhere_are_grouped_by_their_own_values() -> None:
    targets = heads().head(30).with_columns(town=pl.Series(["a", "b", "c"] * 10))
    made = cf.Intruder(knows=KEYS).attack(attack().release, targets, truth=[*range(29), -1])
    by_town, by_tenure = made.by("town").frame, made.by("marital").frame
    assert by_town["people"].to_list() == [10, 10, 10]
    assert by_tenure["people"].sum() == 30
    few = targets.select(*KEYS)
    grouped = cf.Intruder(knows=KEYS).attack(attack().release, few, truth=[*range(29), -1]).by("marital").frame
    assert grouped.filter(group="(group not known)")["people"].item() == 1


def test_units_count_once_in_intervals() -> None:
    panel = pl.concat([heads(150).with_columns(home=pl.int_range(150)) for _ in range(3)])
    plan = cf.Plan([cf.Swap("race", rate=0.2)], identifiers=["id"], unit="home")
    made = cf.Intruder(knows=KEYS).attack(plan.protect(panel, seed=1))
    row = made.by("sex").frame.row(0, named=True)
    assert (row["low"], row["high"]) == pytest.approx(wilson(row["found_share"], row["people"] / 3))


@pytest.mark.parametrize(
    ("by", "said"),
    [
        ("rase", 'no column "rase" in the original. Did you mean "race"'),
        ([], "by takes the name of a column"),
        (7, "by"),
        ("id", '"id" is an identifier by the plan: it names people, not groups'),
        (["race", "id"], '"id" is an identifier by the plan'),
    ],
)
def test_mistakes_are_said(by: Any, said: str) -> None:
    with pytest.raises(cf.InputError, match=said):
        attack().by(by)
    with pytest.raises(cf.InputError, match=said if by else "by"):
        attack().contributions(by or [""])


def test_columns_that_name_people_make_no_groups() -> None:
    data = cf.demo("heads").head(300).with_columns(
        name=pl.format("P{}", pl.col("id")), row=pl.int_range(pl.len()) + 7, born=pl.date(1950, 1, 1)
    )  # fmt: skip
    made = cf.Intruder(knows=["sex", "age"]).attack(cf.Plan([]).protect(data, seed=1))
    with pytest.raises(cf.InputError, match='"name" has 300 different values among 300 people'):
        made.by("name")
    with pytest.raises(cf.InputError, match='"row" numbers the rows'):
        made.by("row")
    with pytest.raises(cf.InputError, match='"name" has 300 different values'):
        made.contributions("name")
    with pytest.raises(cf.InputError, match='"name" has 300 different values'):
        made.guess("tenure").by("name")
    targets = data.select("sex", "age", "name")
    with pytest.raises(cf.InputError, match='"name" has 300 different values'):
        cf.Intruder(knows=["sex", "age"]).attack(made.release, targets, truth=range(300)).by("name")
    with pytest.raises(cf.InputError, match='"name" has 300 different values'):
        cf.utility_by_group(made.release, "name", cf.Hellinger("sex"))
    assert made.by(["born", "hh_income", "state"]).frame.height > 8


def test_the_picture_and_the_printout() -> None:
    found = attack().by("race")
    assert found.chart().to_dict()["title"]["text"] == "Who is found, by group"
    assert str(found).startswith("1,500 targets; found in the whole file")
    assert found.summary().height == found.frame.height
