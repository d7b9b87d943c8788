"""What a report says first: the verdict, three numbers, whether the risk can be believed; and what outside may know."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import polars as pl
import pytest

import confide as cf
from confide.show.names import MEASURE_WORDS, RISK_WORDS, both, said
from confide.show.report.analysts import before_and_after
from confide.show.report.asked import Asked, limit_words
from confide.show.report.believed import believed_drawing, believed_table, trust
from confide.show.report.maps import map_drawings
from confide.show.report.page import report_html
from confide.show.report.sections import page_words
from confide.show.report.verdict import one_in, worded
from confide.show.report.view import View
from confide.study.outside import published
from confide.study.released import missing_words
from confide.study.result import StudyResult
from tests.helpers.planted import FIVE, QUOTED, everything, result

RULE = cf.Rule({"found": "90%"}, by="hellinger", min_utility={"ci_overlap": 0.5})
Z = 7.25


def ruled(rule: cf.Rule | None = RULE, **more: Any) -> StudyResult:
    return replace(result(), rule=rule, **more)


def doubted(z: float) -> StudyResult:
    """The same study with claims that are off."""
    off = result().claims.with_columns(z=pl.lit(z), claimed=pl.lit(61.0), true=pl.lit(61.0 + z))
    return ruled(claims=off)


def test_yes_with_the_limit_as_it_was_stated_and_the_share_before_and_after() -> None:
    view = View.of(ruled())
    words = page_words(view)
    assert words["verdict"].lead == f"Yes, within the stated limits: as “{view.chosen}”."
    before, after, kept = words["numbers"]
    frame = result().summary().filter(pl.col("measure") == "found_share")
    worst = frame.group_by("plan").agg(pl.col("mean").max())
    shares = dict(worst.rows())
    assert float(before.value) == pytest.approx(100 * shares["release everything"], abs=0.051)
    assert float(after.value) == pytest.approx(100 * shares[view.chosen], abs=0.051)
    assert "Limit: 90% (216)." in after.words
    assert not after.beyond
    assert kept.unit == "%"
    assert "(asked: at least 0.5)" in kept.words
    assert words["rule"][0] == "People found at most 90% (216), for the worst intruder."
    assert words["rule"][1] == "Overlap of confidence intervals no worse than 0.5."


def test_two_views_of_the_map_with_the_limit() -> None:
    view = View.of(ruled())
    drawn = map_drawings(view, "hellinger")
    assert [d.title for d in drawn][:1] == ["All plans"]
    assert "limit: 90% (216)" in drawn[0].wide.words()
    assert {"chosen", "dot", "stairs", "limit"} <= {mark for mark, _ in drawn[0].key}
    plain = map_drawings(View.of(ruled(None)), "hellinger")
    assert not any("limit" in w for w in plain[0].wide.words())
    outside = map_drawings(View.of(ruled(), True), "ci_overlap")
    assert not any("limit" in w for d in outside for w in d.wide.words())


@pytest.mark.parametrize(("z", "words"), [(Z, "may be understated"), (-Z, "overstate the risk")])
def test_where_claims_and_truth_differ_the_verdict_begins_with_it(z: float, words: str) -> None:
    view = View.of(doubted(z))
    said_first = page_words(view)["verdict"].before
    assert words in said_first
    assert f"(z = {z:+.1f})" in said_first
    assert page_words(view)["believed"][0].startswith("No. ")
    outside = page_words(View.of(doubted(z), True))
    assert words in outside["verdict"].before
    assert "7.2" not in str(outside["verdict"])
    assert page_words(View.of(doubted(0.5)))["verdict"].before == ""
    assert page_words(View.of(doubted(0.5)))["believed"][0].startswith("Yes. ")


@pytest.fixture(scope="module")
def unsure() -> StudyResult:
    """A study by one intruder who does not know who is in the file."""
    heads = cf.demo("heads").head(600)
    plan = cf.Plan([cf.Swap("race", rate=0.3)], identifiers=["id"])
    who = {"stranger": cf.Intruder(knows=["sex", "race", "age"], membership=cf.Unsure(total=9_000))}
    return cf.Study(heads, {"swap": plan}, who, ["hellinger"], 2, seed=1).run()


def test_outside_claims_are_held_against_what_is_found(unsure: StudyResult) -> None:
    """Right matches of somebody who knows that the target is there are no answer to what a stranger claims."""
    rows = unsure.frame.filter(plan="swap")
    claimed, found, matches = (rows[c].mean() for c in ("claimed_matches", "found", "expected_matches"))
    assert matches > 5 * found  # type: ignore[operator]
    trusted = trust(View.of(unsure, True, "swap"), "swap")
    assert trusted is not None
    assert abs(trusted.true - found) <= 5  # type: ignore[operator]
    assert abs(trusted.claimed - claimed) <= 5  # type: ignore[operator]


def test_the_belief_about_membership_is_said_not_to_be_checked(unsure: StudyResult) -> None:
    for outside, stated in ((False, "a population of 9,000"), (True, "the size of a population")):
        first, second, *_ = page_words(View.of(unsure, outside, "swap"))["believed"]
        assert first.startswith("Yes, but for membership. ")
        assert "does not check how many people could be the target" in second
        assert f"rests on what was stated, {stated} and a log-linear model" in second
    assert '"stranger": Comparing claims with the truth does not check how many people' in " ".join(str(unsure).split())


def test_where_no_plan_is_chosen_outside_is_told_so() -> None:
    strict = ruled(cf.Rule({"found": 0}, by="hellinger"))
    for seen in (View.of(strict, True), View.of(ruled(None), True)):
        assert seen.chosen is None
        assert page_words(seen)["believed"] == ["No plan is chosen, so there is none whose risk is to be believed."]


@pytest.fixture(scope="module")
def sampled() -> StudyResult:
    """Plans that release different numbers of people: most of the few in the sample are found."""
    heads, out = cf.demo("heads").head(1500), {"identifiers": ["id"]}
    plans = {"sample": cf.Plan([cf.Sample(0.1)], **out), "swap": cf.Plan([cf.Swap("age", rate=0.5)], **out)}
    who = {"near": cf.Intruder(knows=["sex", "race", "marital", "age"])}
    return cf.Study(heads, plans, who, ["hellinger"], 2, seed=1).run()


def test_counts_and_shares_are_not_said_to_be_the_same_where_plans_differ_in_targets(sampled: StudyResult) -> None:
    rows = dict(sampled.frame.group_by("plan").agg(pl.col("found").mean()).iter_rows())
    shares = {"sample": rows["sample"] / 150, "swap": rows["swap"] / 1500}
    assert shares["sample"] > 0.5 > shares["swap"]
    assert "share of the plan's own targets (150 to 1,500)" in " ".join(str(sampled).split())
    by_count = sampled.choose({"found": rows["sample"] + 1}, by="hellinger")
    by_share = sampled.choose({"found_share": shares["swap"] + 0.01}, by="hellinger")
    assert (by_count.plan, by_share.plan) == ("sample", "swap")
    for choice, marks in ((by_count, "%"), (by_share, ",")):
        view = View.of(sampled, choice=choice)
        assert not page_words(view)["numbers"][1].beyond
        assert "Shares are of each plan's own targets, 150 to 1,500 people" in " ".join(page_words(view)["rule"])
        drawing = map_drawings(view, "hellinger")[0]
        ticks = [w for w in drawing.wide.words() if w[:1].isdigit() and not w.startswith("0.")]
        assert ticks
        assert not any(marks in w for w in ticks)  # counts alone, or shares alone
        limit = next(w for w in drawing.wide.words() if w.startswith("limit"))
        assert "(" not in limit
        table = page_words(view)["choice_table"]
        cell = next(r for r in table.rows if r[0] == "sample")[1]
        assert "90%" in cell or "89.7%" in cell
    assert any("share of own targets" in w for w in drawing.wide.words())
    outside = map_drawings(View.of(sampled, True, "swap"), "hellinger")[0].wide.words()
    assert not any(w.endswith("%") for w in outside)


def test_outside_has_no_ranges_distributions_or_levels() -> None:
    seen = published(ruled())
    for table in ("levels", "calibration", "claims", "distributions", "kinds", "details", "timings", "audit"):
        assert getattr(seen, table).is_empty(), table
    view = View.of(ruled(), True)
    assert believed_drawing(view) is None
    assert believed_table(view) is None
    assert before_and_after(view) == []
    share = seen.summary().filter(pl.col("measure") == "found_share")
    assert share["mean"].null_count() == share.height


def test_planted_values_of_new_tables_do_not_go_outside() -> None:
    """Marks put into every table that is new are on the page inside, where it shows them, and never outside."""
    known = result()
    mark, rare = 0.123456789, "Planted-level-of-one"
    plan = View.of(ruled()).chosen
    rows = pl.DataFrame({"plan": [plan] * 2, "variable": ["town"] * 2, "level": [rare, FIVE], "before": [mark, 0.2],
                         "after": [0.9, 0.1]})  # fmt: skip
    marked = ruled(distributions=rows, kinds=known.kinds.with_columns(why=pl.lit(rare)),
                   levels=known.levels.with_columns(found=pl.lit(mark)))  # fmt: skip
    inside, outside = (report_html(View.of(marked, o), []) for o in (False, True))
    assert rare in inside
    assert rare not in everything(outside)
    assert FIVE not in everything(outside)
    assert "0.123456" not in everything(outside)


def test_a_result_of_an_earlier_version_is_reported_without_what_it_lacks() -> None:
    empty = pl.DataFrame()
    old = ruled(levels=empty, calibration=empty, claims=empty, distributions=empty, kinds=empty)
    old = replace(old, frame=old.frame.drop("level"), groups=old.groups.drop("found"))
    for outside in (False, True):
        view = View.of(old, outside)
        assert trust(view, view.focus) is None
        assert "Can the risk be believed?" in report_html(view, [])


def test_every_name_of_the_package_has_words() -> None:
    from confide.core.registry import known
    from confide.study.statement.checks import RISKS

    needed = set(RISKS) - {"targets", "unevaluated"}
    assert needed <= set(RISK_WORDS)
    assert set(known("measure")) - {"propensity"} <= set(MEASURE_WORDS)
    assert said("pmse_ratio_cart") != "pmse_ratio_cart"
    assert both(QUOTED) == QUOTED


def test_words_of_limits_and_shares() -> None:
    assert limit_words("found", float("nan"), 9.0) == "people found"
    assert Asked().sentences(9.0) == ["No rule was stated."]
    hidden = Asked({"found_share": 0.1}, {"entropy": 0.2}, "entropy").outside()
    assert hidden.hidden
    assert hidden.floors == {}
    assert "0.1" not in " ".join(hidden.sentences(100.0))
    assert one_in(0.0) == "nobody"
    assert worded("found_share is 3%") == "share of people found is 3%"


def test_what_is_not_released_is_said_wherever_a_plan_is_decided_on() -> None:
    plan = cf.Plan([cf.Sample(0.25)], identifiers=["id"], drop=["sex", "race", "marital", "tenure", "state"])
    heads = cf.demo("heads").head(400)
    who = {"near": cf.Intruder(knows=["sex", "age"])}
    study = cf.Study(heads, {"few": plan, "all": cf.Plan([], identifiers=["id"])}, who, [cf.Means("age")], seed=1)
    found = replace(study.run(), rule=cf.Rule({"found": 100}, by="means"))
    assert found.released.filter(plan="few").row(0)[1:] == (9.0, 14.0, 100.0, 400.0)
    words = "5 of 14 variables and 300 of 400 records are not released."
    assert found.choose().plan == "few"
    assert words in found.choose().reason
    assert "not released" not in found.choose({"found": 400}, by="means").reason
    for outside in (False, True):
        view = View.of(found, outside)
        told = page_words(view)
        assert any(words in sentence for sentence in told["verdict"].rest), outside
        assert words in told["numbers"][-1].words
        assert words in report_html(view, [])
    for rule in (None, cf.Rule({"found": 0}, by="means")):
        view = View.of(replace(found, rule=rule))
        assert any(words in sentence for sentence in page_words(view)["verdict"].rest) == (view.focus == "few")


def test_a_few_records_that_are_not_released_are_not_counted_outside() -> None:
    sizes = pl.DataFrame({"plan": ["a"], "variables": [8.0], "of_variables": [8.0], "records": [398.0],
                          "of_records": [400.0]})  # fmt: skip
    seen = published(ruled(released=sizes)).released
    assert missing_words(sizes, "a") == "2 of 400 records are not released."
    assert missing_words(seen, "a") == ""
