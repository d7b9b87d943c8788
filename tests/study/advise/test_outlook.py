"""The outlook on a file: kinds, roles, hierarchies, what may be read; and steps in an order that can be carried out."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import confide as cf
from confide.protect.seam.relations import association, binned
from confide.study.advise.order import in_order
from confide.study.advise.outlook import base_plan, outlook_of
from confide.study.advise.space import changed, offered

RNG = np.random.default_rng(4)
PEOPLE = pl.DataFrame({
    "id": range(300), "house": np.arange(300) // 2, "county": RNG.choice([101, 205, 310, 422, 517], 300),
    "age": RNG.integers(18, 90, 300), "income": RNG.lognormal(10, 1, 300).round(), "weight": RNG.uniform(1, 9, 300),
    "notes": [[1, 2]] * 300, "sex": RNG.choice(["f", "m"], 300),
})  # fmt: skip
STATED = {"identifiers": ["id"], "unit": "house", "weight": "weight"}


def test_identifiers_unit_weight_and_lists_are_no_subjects() -> None:
    outlook = outlook_of(PEOPLE, known=["age"], keep=["sex"], **STATED)
    assert [s.name for s in outlook.subjects] == ["county", "age", "income"]
    assert outlook.kept == ("sex",)
    assert set(outlook.readable) == {"county", "age", "income", "sex"}
    dials, _ = offered(outlook)
    assert "sex" not in {v for d in dials for v in d.variables}
    assert {s.name for s in outlook.worth()} == {"age"}


def test_codes_that_look_like_numbers_are_categories() -> None:
    many = pl.concat([PEOPLE.with_columns(pl.Series("county", RNG.integers(1, 40, 300) * 100 + 7)) for _ in range(3)])
    outlook = outlook_of(many, known=["county"], **STATED)
    assert outlook.kinds == {"county": "categorical"}
    plan = base_plan(outlook, ["id"])
    assert (plan.categorical, plan.unit, plan.weight) == (("county",), "house", "weight")
    dials, _ = offered(outlook)
    swap = next(d for d in dials if d.family == "swap")
    assert changed(plan, swap.at(0.2)).protect(many, seed=1).data.height == many.height
    assert not any(d.family in ("noise", "round", "topcode") for d in dials)
    numbers = outlook_of(many, known=["county"], kinds={"county": "numeric"}, **STATED)
    assert numbers.kinds == {}
    assert numbers.worth("numeric")


def test_stated_hierarchies_come_before_proposals() -> None:
    halves = cf.Hierarchy(breaks=[[40, 65], [65]])
    outlook = outlook_of(PEOPLE, known=["age"], hierarchies={"age": halves}, **STATED)
    (recode,) = (d for d in cf.Recode.dials(outlook))
    assert recode.at(1).steps == (cf.Recode("age", hierarchy=halves, level=1),)
    assert recode.strengths == (1, 2)
    wrong = cf.Hierarchy(table={"f": ["a"]})
    said, *_ = cf.Recode.dials(outlook_of(PEOPLE, known=["sex"], hierarchies={"sex": wrong}, **STATED))
    assert said.variables == ("sex",)
    assert said.why
    with pytest.raises(cf.InputError, match='hierarchies: there is no column "sexe"'):
        outlook_of(PEOPLE, hierarchies={"sexe": wrong})


def test_the_rarest_categories_are_put_together() -> None:
    kinds = ["flat"] * 200 + ["house"] * 80 + ["farm"] * 12 + ["boat"] * 5 + ["tent"] * 3
    frame = PEOPLE.with_columns(pl.Series("home", kinds, dtype=pl.Enum(["boat", "flat", "house", "farm", "tent"])))
    neighbours, rarest = cf.Recode.dials(outlook_of(frame, known=["home"], **STATED))
    assert neighbours.says(1) == "home in sets of 2"
    assert rarest.says(1) == "home: the 2 smallest together"
    released = cf.Plan(rarest.at(1).steps).protect(frame.select("home"), seed=1).data["home"].to_list()
    assert sorted(released) == ["farm"] * 12 + ["flat"] * 200 + ["house"] * 80 + ["other"] * 8


def test_without_roles_everything_is_worth_altering() -> None:
    outlook = outlook_of(PEOPLE, **STATED)
    assert outlook.worth() == outlook.those()
    one = outlook_of(PEOPLE.select("age"), known=["age"])
    assert not any(d.family == "drop" for d in offered(one)[0])


def test_association_is_that_of_the_table() -> None:
    a, b = RNG.integers(0, 3, 400), RNG.integers(0, 4, 400)
    b = np.where(RNG.random(400) < 0.4, a, b)
    seen = np.array([[((a == i) & (b == j)).sum() for j in range(4)] for i in range(3)])
    expected = np.outer(seen.sum(1), seen.sum(0)) / 400
    phi2 = ((seen - expected) ** 2 / expected).sum() / 400 - 6 / 399
    assert association(a, b) == pytest.approx(np.sqrt(phi2 / (3 - 4 / 399 - 1)), abs=1e-12)
    assert association(a, RNG.integers(0, 4, 400)) < 0.15
    assert association(a, np.zeros(400, np.int64)) == 0


def test_numbers_are_binned_with_gaps_apart() -> None:
    file = cf.frames.encoded.Encoded(pl.DataFrame({"x": [*np.arange(80.0), None]}))
    bins = binned(file.column("x", "numeric"))
    assert np.bincount(bins[:80]).tolist() == [10] * 8
    assert bins[80] not in bins[:80]


def test_steps_stand_where_they_can_be_carried_out() -> None:
    swap, drawn, hidden = (
        cf.Swap("sex", rate=0.2),
        cf.CartSynthesis("county", given=["sex"]),
        cf.LocalSuppression("age"),
    )
    order = in_order([drawn, hidden, swap, cf.Sample(fraction=0.5), cf.Round("age", base=5)])
    assert [s.method for s in order] == ["round", "sample", "local_suppression", "swap", "cart_synthesis"]
    cf.Plan(order, identifiers=["id"]).protect(PEOPLE.drop("notes"), seed=1)
    both = [cf.CartSynthesis("sex", given=["county"]), drawn]
    assert in_order(both) == both
