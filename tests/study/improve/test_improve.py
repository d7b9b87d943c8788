"""Changes of one plan: the same ranking as by brute force, effects that hold on fresh seeds, and words that are right."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache

import numpy as np
import polars as pl
import pytest

import confide as cf
from confide.protect.seam.dials import Dial, Outlook, Untried
from confide.study.advise.outlook import outlook_of
from confide.study.advise.space import changed, offered
from confide.study.evaluate import measured
from confide.study.improve.glimpse import merit
from confide.study.improve.result import BACK, LOWERS, WITHIN
from confide.study.improve.rounds import WORTH

HEADS = cf.demo("heads").head(300).select("id", "sex", "race", "marital", "age", "tenure", "hh_income")
KEYS = ["sex", "marital", "age"]
WHO = {"near": cf.Intruder(knows=KEYS)}
COARSE = cf.Plan([cf.Recode("age", width=5)], identifiers=["id"])
SWAPPED = cf.Plan([cf.Swap("marital", rate=0.2)], identifiers=["id"])


def coarsening(outlook: Outlook) -> tuple[list[Dial], list[Untried]]:
    """Of what is offered, the dials of one variable whose steps are not random."""
    dials, untried = offered(outlook)
    sure = [d for d in dials if len(d.variables) == 1 and all(s.role == "coarsen" for s in d.at(d.strengths[0]).steps)]
    return sure, untried


@cache
def swapped() -> cf.Improvements:
    return cf.improve(HEADS, SWAPPED, intruders=WHO, utility=["hellinger"], tries=25, most=4, repeats=5, seed=1)


def by_hand(plan: cf.Plan) -> tuple[float, float]:
    """Nobody's values are altered at random: as many are found as there are combinations of what is known."""
    release = plan.protect(HEADS, seed=1)
    seen = [v for v in KEYS if v in release.data.columns]
    items = {v: None for v in HEADS.columns if v != "id"}
    value = measured(release, [cf.Hellinger()], items)[0]["hellinger"]
    assert value is not None
    return float(release.data.select(seen).n_unique()) if seen else 1.0, value


def possible(plan: cf.Plan) -> tuple[float, float] | None:
    """The same; None where a step cannot follow another on this file."""
    try:
        return by_hand(plan)
    except cf.InputError:
        return None


def all_changes() -> Iterator[tuple[str, cf.Plan]]:
    dials, _ = coarsening(outlook_of(HEADS, known=KEYS, identifiers=["id"]))
    for dial in dials:
        for strength in dial.strengths if set(dial.variables) & set(KEYS) else ():
            try:
                yield dial.says(strength), changed(COARSE, dial.at(strength))
            except cf.InputError:
                bare = replace(COARSE, steps=[s for s in COARSE.steps if not set(s.variables) <= set(dial.variables)])
                try:
                    yield dial.says(strength), changed(bare, dial.at(strength))
                except cf.InputError:
                    continue


def test_brute_force_gives_the_same_ranking(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("confide.study.improve.improve.offered", coarsening)
    monkeypatch.setattr("confide.study.improve.rounds.STRENGTHS", 100)
    found = cf.improve(HEADS, COARSE, intruders=WHO, utility=["hellinger"], tries=1000, most=1000, seed=1)
    risk, loss = by_hand(COARSE)
    assert (found.before.mean, found.utility.mean) == pytest.approx((risk, loss))
    hand = {says: numbers for says, plan in all_changes() if plan != COARSE and (numbers := possible(plan)) is not None}
    best = {s: (risk - r, lost - loss) for s, (r, lost) in hand.items() if risk - r >= WORTH * risk}
    lowers = found.frame.filter(kind=LOWERS)
    says = [c.partition(" (now")[0].partition(", instead of")[0] for c in lowers["change"]]
    assert sorted(says) == sorted(best)
    assert len(best) > 5
    for name, lowered, lost in zip(says, lowers["lowered"], lowers["lost"], strict=True):
        assert (lowered, lost) == pytest.approx(best[name])
    merits = [tuple(float(f"{x:.9g}") for x in merit(*best[name])) for name in says]
    assert [m[0] for m in merits] == sorted(m[0] for m in merits)
    assert found.best == found.plans[lowers["change"][0]]


def test_what_lowers_risk_does_so_on_fresh_seeds() -> None:
    found = swapped()
    lower = found.frame.filter(kind=LOWERS)
    assert lower.height > 1
    plans = {"as it is": found.plan, **{c: found.plans[c] for c in lower["change"]}}
    frame = cf.Study(HEADS, plans, WHO, ["hellinger"], repeats=5, seed=77).run().frame
    means = dict(frame.group_by("plan").agg(pl.col("found").mean()).iter_rows())
    assert all(means[c] < means["as it is"] for c in lower["change"])


def test_numbers_fit_together() -> None:
    frame = swapped().carried_out
    gaps = frame.with_columns(
        r=pl.col("risk_before") - pl.col("risk_after") - pl.col("lowered"),
        u=pl.col("utility_after") - pl.col("utility_before") - pl.col("lost"),  # hellinger: lower is better
    )
    assert gaps.select(pl.col("r", "u").abs().max()).row(0) == pytest.approx((0, 0), abs=1e-9)
    assert (frame["lowered_low"] <= frame["lowered"]).all()
    assert (frame["lowered"] <= frame["lowered_high"]).all()
    told = frame.filter(pl.col("per_utility").is_not_null())
    assert (told["lost_low"] > 0).all()
    assert frame["within"].null_count() == frame.height  # no limit was stated


def test_the_same_seed_gives_the_same_answer_on_any_number_of_threads() -> None:
    ask = {"intruders": WHO, "utility": ["hellinger"], "tries": 6, "most": 2, "repeats": 2, "seed": 3}
    one, two = (cf.improve(HEADS, SWAPPED, threads=k, **ask) for k in (1, 2))  # type: ignore[arg-type]
    assert one.carried_out.equals(two.carried_out)
    assert one.tried.equals(two.tried)


def test_where_nobody_can_be_told_apart_no_change_lowers_risk() -> None:
    data = HEADS.with_columns(sex=pl.lit("f"), marital=pl.lit("m"), age=pl.lit(40))
    found = cf.improve(data, COARSE, intruders=WHO, utility=["hellinger"], repeats=2, seed=1)
    assert found.frame.filter(kind=LOWERS).is_empty()
    assert found.before.mean == pytest.approx(1.0)
    assert "No change that was tried lowers found" in str(found)


def test_a_limit_that_is_kept_offers_utility_back() -> None:
    plan = cf.Plan([cf.Recode("age", width=10), cf.Noise("hh_income", sd=50_000)], identifiers=["id"])
    found = cf.improve(HEADS, plan, intruders=WHO, utility=["hellinger"], max_risk={"found": 290}, tries=20, seed=1)
    assert found.met is True
    back = found.frame.filter(kind=BACK)
    assert found.frame["kind"][0] == BACK
    assert any(c.startswith("take away normal noise on hh_income") for c in back["change"])  # which nobody knows
    assert WITHIN in found.frame["kind"]  # such as age in finer groups
    given = found.frame.filter(pl.col("kind") != LOWERS)
    assert given["within"].all()
    assert (given["lost_high"] < 0).all()
    assert "Within the limit: found at most 290." in " ".join(str(found).split())


def test_a_limit_that_is_passed_says_what_suffices_alone() -> None:
    found = cf.improve(
        HEADS, SWAPPED, intruders=WHO, utility=["hellinger"], max_risk={"found": "12%"}, tries=25, repeats=3, seed=1
    )
    assert (found.met, found.risk, dict(found.limits)) == (False, "found_share", {"found_share": 0.12})
    enough = found.frame.filter("within")
    assert enough.height
    assert (enough["risk_after"] <= 0.12).all()
    assert "Of those that suffice alone" in str(found)


def test_of_several_limits_the_one_that_is_passed_furthest_is_told() -> None:
    limits = {"over_threshold": 290, "found": "12%"}
    found = cf.improve(
        HEADS, COARSE, intruders=WHO, utility=["hellinger"], max_risk=limits, tries=3, most=1, repeats=1, seed=1
    )
    assert (found.risk, found.met) == ("found_share", False)
    assert dict(found.limits) == {"over_threshold": 290.0, "found_share": 0.12}


def test_kept_variables_stay_as_they_are() -> None:
    found = cf.improve(
        HEADS,
        SWAPPED,
        intruders=WHO,
        utility=["hellinger"],
        keep=["age", "marital"],
        tries=10,
        most=2,
        repeats=2,
        seed=1,
    )
    for plan in found.plans.values():
        assert "age" not in {v for s in plan.parts for v in s.variables}
        assert [s for s in plan.steps if "marital" in s.variables] == list(SWAPPED.steps)
        assert not {"age", "marital"} & set(plan.drop)


def test_no_position_of_anybody_is_in_words() -> None:
    found = swapped()
    few = [c for c in found.tried["change"] if "at risk" in c]
    assert few
    assert all(c.count(",") <= 3 for c in few)
    assert "force" not in str(found)


def test_of_an_attack_and_of_a_study() -> None:
    ask = {"tries": 4, "most": 1, "repeats": 2, "seed": 1}
    attack = WHO["near"].attack(COARSE.protect(HEADS, seed=1))
    mine = attack.improve(["hellinger"], **ask)
    result = cf.Study(HEADS, {"coarse": COARSE}, WHO, ["hellinger"], repeats=1, choice=cf.Rule({"found": 300})).run()
    theirs = result.improve(HEADS, "coarse", **ask)
    assert mine.tried["lowered"].to_list() == theirs.tried["lowered"].to_list()
    assert dict(theirs.limits) == {"found": 300.0}
    with pytest.raises(cf.InputError, match='no plan "corse"'):
        result.improve(HEADS, "corse")
    unknown = cf.Release.adopt(HEADS, HEADS, None, link=np.arange(300))
    with pytest.raises(cf.InputError, match="not known, so no change"):
        cf.Intruder.at("naive", knows=KEYS).attack(unknown).improve(["hellinger"])


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"plan": [cf.Swap("race", rate=0.1)]}, "then the Plan to change"),
        ({"data": SWAPPED}, "data come first"),
        ({"intruders": {}}, "intruders is a table"),
        ({"max_risk": {"found_share": 2}}, 'for 2 percent write 0.02 or "2%"'),
        ({"threshold": 20}, "threshold"),
        ({"max_risk": {"learnt_hh_income": 0.1}}, "does not compute what would be learnt"),
        ({"tries": 0}, "tries is how many changes are tried"),
        ({"most": 1.5}, "most is how many changes"),
        ({"targets": True}, "targets is by how many people"),
        ({"keep": ["agee"]}, 'no column "agee"'),
        ({"plan": cf.Plan(identifiers=["id"], drop=HEADS.columns[1:])}, "releases no variable"),
    ],
)
def test_errors_say_what_would_be_right(wrong: dict[str, object], said: str) -> None:
    ask = {"data": HEADS, "plan": SWAPPED, "intruders": WHO, "utility": ["hellinger"], "seed": 1} | wrong
    with pytest.raises(cf.InputError) as error:
        cf.improve(ask.pop("data"), ask.pop("plan"), **ask)  # type: ignore[arg-type]
    assert said in str(error.value)
