"""Radius and nearest attacks: the worked cases, invariants, and a twin of a few lines."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import confide as cf

HEADS = cf.demo("heads").drop("id").head(600)
KEYS = ["sex", "race", "age", "hh_income", "property_value"]


def adopted(original: pl.DataFrame, released: pl.DataFrame, link: object = None) -> cf.Release:
    return cf.Release.adopt(original, released, link=link)


def noisy(file: pl.DataFrame, seed: int = 1) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    return file.with_columns((pl.col("hh_income") * (1 + 0.05 * rng.normal(size=file.height))).round(0))


def test_the_worked_case_of_zeros_and_negatives() -> None:
    release = cf.Release.adopt({"x": [0, 100, -100]}, {"x": [0, 0, 95, 100, 106, -100]})
    attack = cf.Radius("x", share=0.10, numeric="x").attack(release)
    assert attack.units["candidates"].to_list() == [2, 3, 1]
    ends = cf.Release.adopt({"x": [100.0]}, {"x": [90.0, 110.0, 89.99, 110.01]})
    assert cf.Radius("x", share=0.10, floor=0, numeric="x").attack(ends).units["candidates"].to_list() == [2]


def test_candidates_are_those_of_a_plain_loop() -> None:
    released = noisy(HEADS)
    attack = cf.Radius(KEYS, share=0.2).attack(adopted(HEADS, released, np.arange(600)))
    y, z = HEADS.to_dicts(), released.to_dicts()
    for t in range(0, 600, 29):
        expected = [j for j in range(600) if all(_meets(y[t][v], z[j][v]) for v in KEYS)]
        assert attack.posterior(t)["row"].to_list() == expected
        assert attack.units["candidates"][t] == len(expected)
        assert attack.units["p_true"][t] == (1 / len(expected) if t in expected else 0)


def _meets(t: float | str, z: float | str) -> bool:
    if isinstance(t, str) or isinstance(z, str):
        return t == z
    if t == 0 or z == 0:
        return t == z
    return abs(z - t) <= max(0.2 * abs(t), 0.5) * (1 + 1e-9)


def test_nearest_is_that_of_a_plain_matrix() -> None:
    released = noisy(HEADS)
    attack = cf.Nearest(KEYS, weight=0.7).attack(adopted(HEADS, released, np.arange(600)))
    squares = np.zeros((600, 600))
    for v in KEYS:
        y, z = HEADS[v].to_numpy(), released[v].to_numpy()
        if HEADS[v].dtype.is_numeric():
            squares += ((y[:, None] - z) / z.std()) ** 2
        else:
            squares += 0.7 * (y[:, None] != z)
    near = np.sqrt(squares)
    best = near <= near.min(axis=1, keepdims=True) * (1 + 1e-9) + 1e-9
    assert attack.units["candidates"].to_list() == best.sum(axis=1).tolist()
    assert attack.units["hit"].to_list() == np.diag(best).tolist()
    assert attack.summary().found == pytest.approx((np.diag(best) / best.sum(axis=1)).sum(), abs=1e-9)


@pytest.mark.parametrize("statement", [cf.Radius(KEYS, share=0.0, floor=0), cf.Nearest(KEYS)])
def test_the_original_itself_reaches_the_top(statement: cf.Nearest) -> None:
    """Everybody is among its own candidates: matches are the distinct combinations, and no attack can find more."""
    order = np.random.default_rng(2).permutation(600)
    found = statement.attack(adopted(HEADS, HEADS[order], order)).summary()
    assert found.expected_matches == pytest.approx(HEADS.select(KEYS).n_unique(), abs=1e-9)
    assert found.claimed_matches == pytest.approx(found.expected_matches, abs=1e-9)


@settings(max_examples=15, deadline=None)
@given(scale=st.floats(0.001, 1_000), shift=st.floats(-1e6, 1e6))
def test_scaling_or_shifting_a_column_changes_nothing(scale: float, shift: float) -> None:
    y, z = (f.with_columns(pl.col("age").cast(pl.Float64)) for f in (HEADS.head(120), noisy(HEADS).head(120)))
    moved = [f.with_columns(pl.col("age") * scale + shift) for f in (y, z)]
    one, two = (cf.Nearest(KEYS, numeric="age").attack(adopted(*pair, np.arange(120))) for pair in ((y, z), moved))
    assert one.units.equals(two.units)


@pytest.mark.parametrize("statement", [cf.Radius(KEYS, share=0.3), cf.Nearest(KEYS)])
def test_a_copy_of_every_row_halves_p(statement: cf.Radius) -> None:
    released = noisy(HEADS)
    once = statement.attack(adopted(HEADS, released)).units
    twice = statement.attack(adopted(HEADS, pl.concat([released, released]))).units
    assert (2 * twice["p_max"]).to_list() == once["p_max"].to_list()
    assert (2 * once["candidates"]).to_list() == twice["candidates"].to_list()


@pytest.mark.parametrize(
    "statement", [cf.Radius(KEYS, share=0.3), cf.Nearest(KEYS), cf.Nearest(KEYS, distance="gower")]
)
def test_row_order_changes_nothing(statement: cf.Radius) -> None:
    released, order = noisy(HEADS), np.random.default_rng(5).permutation(600)
    one = statement.attack(adopted(HEADS, released, np.arange(600)))
    two = statement.attack(adopted(HEADS, released[order], order))
    assert one.units.equals(two.units)
    three = statement.attack(adopted(HEADS[order], released, np.argsort(order)))
    assert three.units.drop("target")[np.argsort(order)].equals(one.units.drop("target"))
    assert three.guess("tenure").rate() == pytest.approx(one.guess("tenure").rate())


def test_zero_meets_zero_only() -> None:
    release = cf.Release.adopt({"x": [0.0, 3.0]}, {"x": [0.0, 0.5, 3.0, -1.0, 4.0]})
    how = {"floor": 5, "numeric": "x"}
    assert cf.Radius("x", **how).attack(release).units["candidates"].to_list() == [1, 4]
    assert cf.Radius("x", **how, spikes=None).attack(release).units["candidates"].to_list() == [5, 5]


def test_ties_share() -> None:
    release = cf.Release.adopt({"x": [30.5, 41.5]}, {"x": [31.0, 30.0, 50.5]})
    assert cf.Nearest("x", numeric="x").attack(release).units["p_max"].to_list() == [0.5, 1.0]


def test_missing_on_either_side() -> None:
    y = pl.DataFrame({"x": [10.0, None, 30.0], "c": ["a", "b", None]})
    z = pl.DataFrame({"x": [10.0, None, 30.0, 31.0], "c": ["a", "b", "c", None]})
    how = {"share": 0.1, "numeric": "x"}
    assert cf.Radius(["x", "c"], **how).attack(adopted(y, z)).units["candidates"].to_list() == [1, 1, 2]
    wild = cf.Radius(["x", "c"], **how, wildcard=True).attack(adopted(y, z)).units["candidates"].to_list()
    assert wild == [1, 2, 3]  # the second target: rows "b" and missing; the third: 30, 31 and missing
    named = cf.Radius(["x", "c"], **how, wildcard="x").attack(adopted(y, z)).units["candidates"].to_list()
    assert named == [1, 1, 3]


def test_spikes_are_categories_among_numbers() -> None:
    wage = [0.0] * 40 + [1_000.0] * 40 + [1_010.0 + k for k in range(60)]
    file = pl.DataFrame({"wage": wage})
    release = adopted(file, file)
    at_spike, beside = (cf.Radius("wage", share=0.05).attack(release).units["candidates"][t] for t in (40, 80))
    assert (at_spike, beside) == (40, 51)
    assert cf.Radius("wage", share=0.05, spikes=None).attack(release).units["candidates"][40] == 81
    rounded = file.with_columns(
        (pl.col("wage") / 100).round() * 100
    )  # a spike that protection made is none of the original's
    assert cf.Radius("wage", share=0.05).attack(adopted(file.tail(60), rounded)).units["candidates"][0] == 81


def test_constant_columns_are_left_out_of_distances_and_said() -> None:
    z = HEADS.with_columns(sex=pl.lit("male"), age=pl.lit(50))
    attack = cf.Nearest(["sex", "age", "hh_income"], categorical="sex", numeric="age").attack(adopted(HEADS, z))
    assert attack.settled.compared.names == ("hh_income",)
    assert '"sex" has one released value' in repr(attack)
    with pytest.raises(cf.InputError, match="no record can be told from another"):
        cf.Nearest(["sex"]).attack(adopted(HEADS, z))


def test_dates_have_no_share_of_themselves() -> None:
    day = dt.date(2020, 1, 1)
    y = pl.DataFrame({"born": [day]})
    z = pl.DataFrame({"born": [day, day + dt.timedelta(1), day + dt.timedelta(40)]})
    attack = cf.Radius("born", floor=1).attack(adopted(y, z))
    assert attack.units["candidates"].to_list() == [2]
    assert '"born" is a date' in repr(attack)


def test_targets_of_ones_own_and_their_truth() -> None:
    release = adopted(HEADS, HEADS, np.arange(600))
    attack = cf.Nearest(KEYS).attack(release, HEADS[[5, 9, 9]], truth=[5, 9, -1])
    assert attack.units["status"].to_list() == ["ok", "ok", "not released"]
    assert attack.units["p_true"].to_list()[2] is None
    with pytest.raises(cf.InputError, match="truth goes with targets"):
        cf.Nearest(KEYS).attack(release, truth=[5])


def test_a_release_of_a_plan_is_attacked_too() -> None:
    release = cf.Plan([cf.Swap("race", rate=0.3)], weight="weight").protect(HEADS, seed=1)
    assert cf.Nearest(KEYS).attack(release).summary().found == pytest.approx(
        cf.Intruder.at("naive", knows=KEYS).attack(release).summary().found, rel=0.1
    )


def test_statements_are_kept_in_files(tmp_path: Path) -> None:
    for i, stated in enumerate((cf.Radius(KEYS, share=0.2, wildcard=["age"]), cf.Nearest(KEYS), cf.SinglingOut(columns=2),
                                cf.Linkability(["age"], ["sex"]), cf.Inference(["age"], "sex"))):  # fmt: skip
        again = type(stated).load(stated.save(tmp_path / f"{i}.toml"))
        assert vars(again) == vars(stated)


def test_groups_add_up_to_the_file_whoever_the_targets_are() -> None:
    release = adopted(HEADS, noisy(HEADS), np.arange(600)[::-1].copy())
    attack = cf.Nearest(KEYS).attack(release)
    found = attack.by(["race", "tenure"]).frame
    mine = HEADS["race"].gather(attack.truth.tolist()) == "Black"
    black = found.filter(group="Black").row(0, named=True)
    assert black["people"] == mine.sum()
    assert black["claimed"] == pytest.approx(attack.units.filter(mine)["p_max"].sum())
    for _, part in found.group_by("variable"):
        assert part["found"].sum() == pytest.approx(attack.summary().found)
    few = HEADS.head(30)
    some = cf.Nearest(KEYS).attack(release, few, truth=[*range(29), -1]).by("race").frame
    assert dict(some.select("group", "people").rows()) == dict(few["race"].cast(str).value_counts().rows())
    unlinked = cf.Nearest(KEYS).attack(adopted(HEADS, noisy(HEADS))).by("race")
    assert unlinked.frame["found"].null_count() == unlinked.frame.height
    assert "The truth is not known" in str(unlinked)
    with pytest.raises(cf.InputError, match='no column "rase"'):
        attack.by("rase")
