"""Offers: what methods say they suit, as a table, and each of them added to a plan."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import confide as cf
from confide.study.advise.outlook import outlook_of
from confide.study.advise.space import changed, offered

HEADS = cf.demo("heads").head(800)
PLAN = cf.Plan(identifiers=["id"], weight="weight", drop=["hispanic"])
OFFERS = cf.offers(HEADS, PLAN, knows=["sex", "race", "age"], sensitive=["hh_income"])


def named(offers: cf.Offers, says: str) -> int:
    return int(offers.frame.row(by_predicate=pl.col("says") == says, named=True)["offer"])


def test_one_row_per_dial_and_strength_as_the_methods_say() -> None:
    out = outlook_of(
        HEADS, known=["sex", "race", "age"], sensitive=["hh_income"], identifiers=["id", "hispanic"], weight="weight"
    )
    dials, untried = offered(out)
    said = [(d.family, ", ".join(d.variables), d.says(x), d.dear) for d in dials for x in d.strengths]
    assert OFFERS.frame.select("family", "variables", "says", "dear").rows() == said
    assert OFFERS.frame["offer"].to_list() == [*range(len(said))]
    assert OFFERS.untried.rows() == [(u.family, ", ".join(u.variables), u.why) for u in untried]
    assert {"swap", "recode", "noise", "drop", "sample"} <= set(OFFERS.frame["family"])


def test_every_offer_is_added_to_a_plan_or_refused_with_a_sentence() -> None:
    before = cf.Plan([cf.Recode("age", width=5)], identifiers=["id"], weight="weight")
    made = 0
    for k in range(OFFERS.frame.height):
        steps, drop = OFFERS.steps(k), OFFERS.drop(k)
        assert bool(steps) != bool(drop)
        try:
            plan = OFFERS.change(before, k)
        except cf.InputError:
            continue
        made += 1
        assert set(drop) <= set(plan.drop)
        assert all(step in plan.steps for step in steps)
        assert (plan.identifiers, plan.weight) == (before.identifiers, before.weight)
    assert made > 0.8 * OFFERS.frame.height


def test_a_change_is_that_of_a_search() -> None:
    k = named(OFFERS, "age in classes of 10")
    before = cf.Plan([cf.Recode("age", width=5), cf.Swap("race", rate=0.1)], identifiers=["id"])
    after = OFFERS.change(before, k)
    dial, strength = OFFERS.turns[k]
    assert after == changed(before, dial.at(strength))
    assert [s.variables for s in after.steps].count(("age",)) == 1
    dropped = OFFERS.change(before, named(OFFERS, "drop age"))
    assert (dropped.drop, dropped.steps) == (("age",), before.steps[1:])
    assert OFFERS.drop(named(OFFERS, "drop age")) == ("age",)


def test_what_cannot_be_carried_out_is_refused() -> None:
    gone = cf.Plan(identifiers=["id"], drop=["age"])
    with pytest.raises(cf.InputError, match='alters "age", which is not released'):
        OFFERS.change(gone, named(OFFERS, "age in classes of 10"))
    with pytest.raises(cf.InputError, match="Plan to change"):
        OFFERS.change(3, gone)  # type: ignore[arg-type]
    for bad in (-1, OFFERS.frame.height, True, "swap", 1.0):
        with pytest.raises(cf.InputError, match="number in the frame, from 0 to"):
            OFFERS.steps(bad)  # type: ignore[arg-type]
    assert OFFERS.steps(np.int64(9)) == OFFERS.steps(9)  # type: ignore[arg-type]


def test_offers_of_one_variable() -> None:
    mine = OFFERS.of("race")
    assert {"swap", "pram", "drop"} <= set(mine["family"])
    assert all("race" in names.split(", ") for names in mine["variables"])
    assert OFFERS.of("educ").filter(pl.col("variables") == "educ").is_empty()
    assert OFFERS.of("hispanic").is_empty()


def test_without_a_plan_roles_are_guessed() -> None:
    found = cf.offers(HEADS)
    assert (found.plan.identifiers, found.plan.weight) == (("id",), "weight")
    worth = {*cf.roles(HEADS).keys, *cf.roles(HEADS).sensitive}
    assert set(found.frame.filter(family="drop")["variables"]) == {v for v in worth if HEADS[v].n_unique() > 1}
    every = cf.offers(HEADS, PLAN, knows=[], sensitive=[])
    assert set(every.frame.filter(family="drop")["variables"]) >= {"educ", "tenure", "wage_income"}


def test_codes_that_look_like_numbers_are_named_categorical() -> None:
    data = pl.DataFrame({"county": [*range(101, 151)] * 10, "age": [*range(20, 70)] * 10})
    found = cf.offers(data, cf.Plan(), knows=["county", "age"], sensitive=[])
    swap = found.frame.filter((pl.col("family") == "pram") & (pl.col("variables") == "county"))["offer"][0]
    made = found.change(cf.Plan(), swap)
    assert made.categorical == ("county",)
    made.protect(data, seed=1)


def test_bad_input() -> None:
    with pytest.raises(cf.InputError, match=r'knows: there is no column "raze"\. Did you mean "race"'):
        cf.offers(HEADS, PLAN, knows=["raze"])
    with pytest.raises(cf.InputError, match="a Plan or nothing"):
        cf.offers(HEADS, ["sex"])  # type: ignore[arg-type]
    with pytest.raises(cf.InputError, match='identifiers: there is no column "nr"'):
        cf.offers(HEADS, cf.Plan(identifiers=["nr"]))
    with pytest.raises(cf.InputError, match="no rows"):
        cf.offers(HEADS.head(0), PLAN)


def test_printed_and_summed_up() -> None:
    assert repr(OFFERS).startswith(f"{OFFERS.frame.height:,} offers of ")
    assert OFFERS.summary()["offers"].sum() == OFFERS.frame.height
