"""What is checked of the very file: each check is in order, or warns in words."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import confide as cf
from confide.app.checks import checks_of, figures_of, worst_of
from confide.app.state import State
from confide.app.work.draw import together

RULE = {"max_found": 20, "by": "entropy", "cautious": True}


def drawn(**other: Any) -> dict[str, Any]:
    """The numbers of a file in which all is in order."""

    def ends(value: float) -> dict[str, float]:
        return {"value": value, "mean": value - 1, "low": value - 3, "high": value + 1}

    who = {
        name: {"level": "exact", "found": ends(n), "found_share": ends(n / 1000), "claimed_matches": ends(n + 2)}
        for name, n in (("near", 12.0), ("far", 18.0))
    }
    usual = {
        "name": "a", "who": who, "kept": {"entropy": ends(0.25)}, "broken": [], "cautions": [], "groups": [],
        "private": {"identifiers": True, "shuffled": True, "seed": True}, "threshold": 0.2, "repeats": 5,
        "random": True, "targets": {"near": 1000.0, "far": 1000.0}, "of": 1000,
    }  # fmt: skip
    return {**usual, **other}


def test_all_in_order() -> None:
    checks = checks_of(State(rule=RULE), drawn(), "a", "/protect")
    assert [c["ok"] for c in checks] == [True] * 5
    assert checks[0]["said"] == "18 found here; 17 ± 2 on average over 5 other draws."
    assert checks[1]["said"].startswith("It claims 20 right matches and 18 are true.")
    assert worst_of(drawn()) == "far"
    figures = figures_of(State(rule=RULE), drawn())
    assert (figures["found"], figures["share"], figures["kept"]) == (18.0, 0.018, {"entropy": 0.75})


def test_every_warning_is_told() -> None:
    state = State(rule=RULE)
    group = {"variable": "race", "level": "x", "people": 40.0, "share": 0.3, "average": 0.02, "intruder": "near"}
    cases = {
        "Not what the rule takes": (drawn(name="b"), "within"),
        "This file is beyond a limit": (drawn(broken=["Beyond"]), "within"),
        "Within the limits here, but not over draws": (drawn(), "too many found"),
        "Claims and truth differ over draws": (drawn(cautions=["x"]), "within"),
        "Something private is in the public file": (
            drawn(private={"identifiers": False, "shuffled": True, "seed": True}), "within",
        ),
        "One group stays exposed": (drawn(groups=[group]), "within"),
    }  # fmt: skip
    for head, (found, limits) in cases.items():
        warned = [c["head"] for c in checks_of(state, found, "a", "/protect", limits) if not c["ok"]]
        assert warned == [head]
    assert [c["ok"] for c in checks_of(State(), drawn(), None, "")][:2] == [False, False]


def test_whole_households_are_checked_where_rows_can_be_put_together() -> None:
    state = State(rule=RULE, roles={"hh": "unit", "income": "sensitive", "w": "weight"})
    told = {c["head"]: c for c in checks_of(state, drawn(households={"share": 0.7, "by": "near"}), "a", "/protect")}
    assert not told["Whole households can be recognised"]["ok"]
    assert "70.0 %" in told["Whole households can be recognised"]["said"]
    assert "income and w go out as in the file" in told["What is learnt of those who are found"]["said"]
    few = checks_of(state, drawn(households={"share": 0.001, "by": "near"}), "a", "/protect")
    assert all(c["ok"] for c in few)


def test_households_alike_are_counted_by_all_their_members() -> None:
    people = pl.DataFrame({
        "hh": [1, 1, 2, 2, 3, 3, 4], "sex": ["m", "f", "f", "m", "m", "m", "f"], "age": [30, 31, 31, 30, 30, 30, 31],
    })  # fmt: skip
    plan = cf.Plan([], unit="hh")
    found = together(plan.protect(people, seed=1), {"unit": "hh"}, {"near": cf.Intruder(knows=["sex", "age"])})
    assert found == {"share": pytest.approx(3 / 7), "by": "near"}  # 3 and 4 stand alone, 1 and 2 are alike
    assert together(plan.protect(people, seed=1), {}, {}) is None
