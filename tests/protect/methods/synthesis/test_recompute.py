"""Recompute, and trees that keep rules."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import confide as cf
from confide.protect.methods.synthesis.cart import cart


def file(n: int = 600, seed: int = 0) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    age = rng.integers(0, 90, n)
    wage = np.where(age < 15, 0, rng.integers(0, 9000, n))
    rent = rng.integers(0, 700, n) / 10
    wed = np.where((age >= 18) & (rng.random(n) < 0.6), "yes", "no")
    return pl.DataFrame({"age": age, "wed": wed, "wage": wage, "rent": rent, "total": wage + rent})


PARTS = [cf.CartSynthesis("wage", given="age"), cf.CartSynthesis("rent", given=["age", "wage"])]


def test_parts_add_up_and_a_missing_part_is_a_missing_total() -> None:
    y = file().with_columns(wage=pl.when(pl.col("age") > 70).then(None).otherwise("wage"))
    z = cf.Plan([*PARTS, cf.Recompute("total", plus=["wage", "rent"])]).protect(y, seed=1).data
    assert z["wage"].null_count()
    assert z["total"].is_null().eq(z["wage"].is_null()).all()
    assert (z["total"] - z["wage"] - z["rent"]).drop_nulls().abs().max() < 1e-9


def test_it_says_where_the_file_itself_does_not_add_up() -> None:
    y = file().with_columns(total=pl.when(pl.col("age") == 3).then(0.25).otherwise("total"))
    release = cf.Plan([*PARTS, cf.Recompute("total", plus="wage", minus="rent")]).protect(y, seed=1)
    assert "is not the sum of wage, rent" in release.cautions[0]
    assert (release.data["total"] - release.data["wage"] + release.data["rent"]).abs().max() < 1e-9


def test_a_total_tells_nothing_that_its_parts_do_not() -> None:
    """Whoever knows totals finds people by what is kept alone, and claims as much as is true."""
    release = cf.Plan([*PARTS, cf.Recompute("total", plus=["wage", "rent"])]).protect(file(1500), seed=2)
    for knows in (["total"], ["age", "total"], ["wed", "total", "wage"]):
        found = cf.Intruder.at("exact", knows=knows).attack(release).calibration()
        assert abs(found.true - found.claimed) < 3 * np.sqrt(max(found.claimed, 1))


MISTAKES: dict[str, tuple[Any, str]] = {
    "no part": (lambda: cf.Recompute("total", plus=[]), "plus names the parts"),
    "itself": (lambda: cf.Recompute("total", plus=["total", "a"]), "part of itself"),
    "twice": (lambda: cf.Recompute("total", plus=["a"], minus=["a"]), "named twice"),
    "altered": (
        lambda: cf.Plan([cf.Noise("wage", sd=3), cf.Recompute("total", plus=["wage", "rent"])]),
        "altered from its own value",
    ),
    "too early": (lambda: cf.Plan([cf.Recompute("total", plus="wage"), *PARTS]), "changes afterwards"),
    "no number": (lambda: cf.Plan([cf.Recompute("total", plus="wed")]).protect(file(), seed=1), "is no number"),
    "nothing synthetic": (
        lambda: cf.Intruder.at("exact", knows="total").attack(
            cf.Plan([cf.Recompute("total", plus=["wage", "rent"])]).protect(file(), seed=1)
        ),
        "no part is synthetic",
    ),
    "rule of another": (lambda: cf.CartSynthesis("wage", given="age", rules="wed == 'yes' -> wage > 0"), "not given"),
    "idle rule": (lambda: cf.CartSynthesis("wage", given="age", rules="age > 0"), "does not speak of this variable"),
    "sum": (lambda: cf.CartSynthesis("wage", given="age", rules="wage = age"), "kept by Recompute"),
    "draw": (lambda: cf.CartSynthesis("wage", draw=3), "draw is 'even'"),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes(name: str) -> None:
    make, words = MISTAKES[name]
    with pytest.raises(cf.InputError, match=words):
        make()


@pytest.mark.parametrize("tries", [0, 10])
def test_trees_keep_rules_also_where_a_leaf_has_no_such_value(tries: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cart, "TRIES", tries)
    rules = ["age < 15 -> wage == 0", "wed == 'yes' -> wage >= 100"]
    step = cf.CartSynthesis("wage", given=["wed", "age"], leaf=310, rules=rules)
    y = file()
    z = cf.Plan([cf.CartSynthesis("age"), cf.CartSynthesis("wed"), step]).protect(y, seed=1).data  # unlikely pairs too
    young, wed = z["age"] < 15, z["wed"] == "yes"
    assert (young & wed).any()  # where both rules cannot hold, one does
    assert (z.filter(young & ~wed)["wage"] == 0).all()
    assert (z.filter(wed & ~young)["wage"] >= 100).all()
    assert set(z["wage"]) <= set(y["wage"])
    plain = cf.Plan([cf.CartSynthesis("wage", given=["wed", "age"], leaf=310)]).protect(y, seed=1).data
    assert (plain.filter(pl.col("age") < 15)["wage"] > 0).any()  # the rule is needed
