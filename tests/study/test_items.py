"""What measures compare in a study: the same variables, of the same kinds, for every plan."""

from __future__ import annotations

import pytest

import confide as cf
from confide.study.evaluate import evaluate
from confide.study.pieces.keys import pieces_of

ITEMS = ["sex", "race", "n_persons", "hh_income"]


def test_a_study_compares_what_some_plan_releases() -> None:
    heads = cf.demo("heads").select("id", *ITEMS, "tenure", "weight").head(2_000)
    plans = {
        "one": cf.Plan(identifiers=["id"], weight="weight", drop=["tenure", "race"]),
        "two": cf.Plan([cf.Noise("n_persons", sd=3)], identifiers=["id"], weight="weight", drop=["tenure"]),
    }
    study = cf.Study(heads, plans, {"neighbour": cf.Intruder(knows=["sex"])}, ["total_variation"], repeats=1)
    assert study.items == {"sex": None, "race": None, "n_persons": "numeric", "hh_income": None}
    found = {
        c.name: evaluate(study.source, c.plan, {}, study.measures, 1, items=study.items).utility["total_variation"]
        for c in (study.everything, *study.candidates)
    }
    assert found["release everything"] == 0
    assert found["one"] == pytest.approx(1 / 4)
    assert 0 < found["two"] < 1 / 4


def test_a_plan_that_releases_more_makes_other_pieces() -> None:
    heads = cf.demo("heads").select("id", *ITEMS).head(500)
    one = cf.Plan(identifiers=["id"], drop=["race"])
    who = {"neighbour": cf.Intruder(knows=["sex"])}
    alone = cf.Study(heads, {"one": one}, who, ["means"], seed=1)
    beside = cf.Study(heads, {"one": one, "two": cf.Plan(identifiers=["id"])}, who, ["means"], seed=1)
    assert {p.key for p in pieces_of(alone, 1)}.isdisjoint(p.key for p in pieces_of(beside, 1))
