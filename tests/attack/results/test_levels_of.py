"""Which levels an intruder could also use."""

from __future__ import annotations

import pytest

import confide as cf
from confide.attack.results.stronger import level_of, levels_of

KNOWS = ["sex", "race"]


@pytest.mark.parametrize(
    ("stated", "names"),
    [
        ({}, ["informed", "exact", "unaltered", "naive"]),
        ({"unavailable": "ignore"}, ["informed", "exact", "unaltered", "naive"]),
        ({"unavailable": "exact", "others": "exact"}, ["exact", "informed", "unaltered", "naive"]),
        ({"available": "exact"}, ["as stated", "informed", "exact", "unaltered", "naive"]),
        ({"available": "naive"}, ["naive"]),
        ({"available": "average"}, ["as stated"]),
        ({"others": "average"}, ["as stated"]),
        ({"available": "ignore", "unavailable": "ignore", "others": "ignore"}, ["unaltered"]),
        ({"available": "ignore"}, ["as stated"]),
        ({"others": "ignore"}, ["as stated"]),
        ({"others": "naive"}, ["as stated"]),
        ({"as_printed": True}, ["as stated"]),
    ],
)
def test_variants_by_name(stated: dict[str, object], names: list[str]) -> None:
    intruder = cf.Intruder(knows=KNOWS, **stated)  # type: ignore[arg-type]
    found = levels_of(intruder)
    assert list(found) == names
    assert found[names[0]] is intruder
    assert all(level_of(who) == name for name, who in found.items() if name != "as stated")
    assert all(who.knows == intruder.knows for who in found.values())


def test_only_those_that_can_differ_in_a_release() -> None:
    heads = cf.demo("heads").select("sex", "race", "age").head(300)
    plan = cf.Plan([cf.Swap("race", rate=0.3)])
    release, copies = plan.protect(heads, seed=1), plan.protect(heads, seed=1, copies=2)
    assert list(levels_of(cf.Intruder(knows=KNOWS), release)) == ["informed", "exact", "unaltered", "naive"]
    assert list(levels_of(cf.Intruder(knows=KNOWS), copies)) == ["informed", "exact", "unaltered"]
    assert list(levels_of(cf.Intruder(knows=["sex", "age"]), release)) == ["informed"]
    assert len(levels_of(cf.Intruder(knows=["sex", "age"], errors={"age": 2.0}), release)) == 3
    noise = cf.Plan([cf.Noise("age", sd=2.0)]).protect(heads, seed=1)
    interval = cf.Intruder(knows=KNOWS, between={"age": ("low", "high")})
    assert "unaltered" not in levels_of(interval, noise)
    blind = cf.Release.adopt(heads, release.data)
    assert list(levels_of(cf.Intruder(knows=KNOWS), blind)) == ["informed"]


def test_exact_is_tried_where_values_behind_coarser_ones_can_be_told_by_others() -> None:
    heads = cf.demo("heads").select("sex", "race", "age", "educ").head(300)
    who = cf.Intruder(knows=["sex", "age"])
    coarser = cf.Plan([cf.Recode("age", width=20)]).protect(heads, seed=1)
    assert list(levels_of(who, coarser)) == ["informed", "exact"]
    assert list(levels_of(cf.Intruder(knows=["sex", "age"], beliefs="released"), coarser)) == ["informed"]
    assert list(levels_of(cf.Intruder(knows=heads.columns), coarser)) == ["informed"]
    bare = cf.Plan([cf.Recode("age", width=20)], drop=["race", "educ"]).protect(heads, seed=1)
    assert list(levels_of(who, bare)) == ["informed"]
    same = cf.Plan([cf.Topcode("age", at=200)]).protect(heads, seed=1)
    assert list(levels_of(who, same)) == ["informed"]
