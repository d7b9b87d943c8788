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
