"""The choice: the best utility within the limits, the reason in words, and a sentence for every mistake."""

from __future__ import annotations

import math

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import confide as cf
from confide.core.errors import InputError
from confide.study.tradeoff.choice import choose
from tests.helpers.fake_study import OTHER, PUBLISHED, as_plan, study_frame

OVERLAP, DISTANCE = cf.RegressionOverlap("a ~ b"), cf.Hellinger()
FRAME = study_frame(PUBLISHED)
MATCHES = "expected_matches"


def test_the_best_within_the_limit_is_taken_and_explained() -> None:
    choice = choose(FRAME, [OVERLAP], {MATCHES: 500})
    assert (choice.plan, choice.by, choice.value) == ("swap both", "ci_overlap", pytest.approx(0.74))
    assert choice.risks == {MATCHES: pytest.approx(380.0)}
    half = stats.t.ppf(0.975, 2) * 0.02 / math.sqrt(3)
    assert choice.interval == (pytest.approx(0.74 - half), pytest.approx(0.74 + half))
    assert '"swap both" has expected_matches 380' in choice.reason
    assert "3 of 5 plans meet the limits" in choice.reason
    assert 'Next comes "swap 30" with 0.72' in choice.reason
    assert "0.02 worse in every repeat" in choice.reason
    assert str(choice) == choice.reason
    why = dict(choice.table.select("plan", "why_not").iter_rows())
    assert why["swap both"] is None
    assert why["swap 30"] == "ci_overlap is not the best"
    assert why["recode age"] == "expected_matches is 1,140, above 500"


def test_a_measure_that_is_better_when_lower_chooses_alike() -> None:
    assert choose(FRAME, [DISTANCE], {MATCHES: 500}).plan == "swap both"
    assert choose(FRAME, [OVERLAP, DISTANCE], {MATCHES: 500}, by=DISTANCE).by == "hellinger"


def test_caution_holds_the_upper_end_against_the_limit() -> None:
    bold = choose(FRAME, [OVERLAP], {MATCHES: 381})
    assert bold.plan == "swap both"
    assert "Warning: the upper end of the interval of expected_matches, 404.8, is above the limit" in bold.reason
    careful = choose(FRAME, [OVERLAP], {MATCHES: 381}, cautious=True)
    assert (careful.plan, "Warning" in careful.reason) == ("all", False)
    assert "It is the only one of 5 plans that meets the limits" in careful.reason
    with pytest.raises(InputError, match=r"the upper end of expected_matches is 113.9, above 105.*more repeats"):
        choose(FRAME, [OVERLAP], {MATCHES: 105}, cautious=True)


def test_caution_holds_the_largest_upper_end_of_all_intruders() -> None:
    """The intruder with the largest mean is not the one whose risk might be largest."""
    p = {"risk": {"a": [10.0, 10.0, 10.0], "b": [2.0, 9.9, 17.0]}, "u": [0.9] * 3}
    q = {"risk": {"a": [4.0] * 3, "b": [5.0] * 3}, "u": [0.5] * 3}
    frame = study_frame({"p": p, "q": q}, ["a", "b"])
    high = stats.t.interval(0.95, 2, 28.9 / 3, stats.sem([2.0, 9.9, 17.0]))[1]
    bold = choose(frame, [OVERLAP], {MATCHES: 11})
    assert bold.plan == "p"
    assert bold.risks == {MATCHES: 10.0}
    assert f'the upper end of the interval of expected_matches, {high:.4g} for "b", is above the limit' in bold.reason
    careful = choose(frame, [OVERLAP], {MATCHES: 11}, cautious=True)
    assert careful.plan == "q"
    assert careful.table["why_not"][0] == f'the upper end of expected_matches is {high:.4g} for "b", above 11'
    with pytest.raises(InputError, match=r'upper end of expected_matches is 28.27 for "b", above 11'):
        choose(study_frame({"p": p}, ["a", "b"]), [OVERLAP], {MATCHES: 11}, cautious=True)
    enough = choose(frame, [OVERLAP], {MATCHES: 30}, cautious=True)
    assert enough.plan == "p"
    assert f'for the worst intruder, "a" (the upper end is largest for "b": {high:.4g}), within 30' in enough.reason
    assert choose(frame, [OVERLAP], {MATCHES: 11}, intruder="a", cautious=True).plan == "p"


def test_one_repeat_of_a_random_plan_has_no_spread() -> None:
    frame = FRAME.filter(pl.col("repeat") == 0)
    random = {"swap 30": True, "swap both": True, "all": True, "swap 10": True, "recode age": False}
    choice = choose(frame, [OVERLAP], {MATCHES: 500}, random=random)
    assert choice.interval is None
    assert "with one repeat it is not known whether" in choice.reason
    assert "with one repeat the spread of expected_matches is not known" in choice.reason
    careful = choose(frame, [OVERLAP], {MATCHES: 1200}, cautious=True, random=random)
    assert careful.plan == "recode age"
    assert dict(careful.table.select("plan", "why_not").iter_rows())["all"] == (
        "the spread of expected_matches is not known with one repeat"
    )


def test_everything_may_be_released_where_the_limit_allows_it() -> None:
    choice = choose(FRAME, [OVERLAP], {MATCHES: 5000})
    assert choice.plan == OTHER
    assert "these limits ask for no protection" in choice.reason


def test_a_difference_within_the_spread_is_said_to_be_so() -> None:
    plans = {"p": {"risk": [1.0] * 3, "u": [0.5, 0.9, 0.7]}, "q": {"risk": [1.0] * 3, "u": [0.7, 0.6, 0.65]}}
    reason = choose(study_frame(plans), [OVERLAP], {MATCHES: 5}).reason
    gap = [-0.2, 0.3, 0.05]
    low, high = stats.t.interval(0.95, 2, sum(gap) / 3, stats.sem(gap))
    assert f"within the spread over repeats (95% interval of the difference: {low:.4g} to {high:.4g})" in reason


def test_ties_go_to_less_risk_then_to_the_first_stated() -> None:
    frame = study_frame({"p": as_plan(3.0, 0.5), "q": as_plan(2.0, 0.5), "r": as_plan(2.0, 0.5)})
    choice = choose(frame, [OVERLAP], {MATCHES: 5})
    assert choice.plan == "q"
    assert '"r" is as useful; of the two this was taken because it has no more of expected_matches' in choice.reason


def test_every_limit_counts_for_the_worst_intruder() -> None:
    plans = {"p": {"risk": {"a": [1.0], "b": [9.0]}, "u": [0.9]}, "q": {"risk": {"a": [5.0], "b": [4.0]}, "u": [0.8]}}
    frame = study_frame(plans, ["a", "b"]).with_columns(unique_matches=pl.lit(2.0))
    choice = choose(frame, [OVERLAP], {MATCHES: 6, "unique_matches": 2})
    assert choice.plan == "q"
    assert 'for the worst intruder, "a", within 6' in choice.reason
    assert "unique_matches 2" in choice.reason
    assert choose(frame, [OVERLAP], {MATCHES: 6}, intruder="a").plan == "p"
    with pytest.raises(InputError, match='"q" comes nearest: expected_matches is 5 for "a", above 3'):
        choose(frame, [OVERLAP], {MATCHES: 3})


def test_a_limit_of_nothing_names_the_plan_with_the_least() -> None:
    with pytest.raises(InputError, match='"all" comes nearest: expected_matches is 104, above 0'):
        choose(FRAME, [OVERLAP], {MATCHES: 0})
    safe = study_frame({"p": as_plan(0.0, 0.1), "q": as_plan(1.0, 0.9)})
    assert choose(safe, [OVERLAP], {MATCHES: 0}).plan == "p"


def test_a_plan_whose_utility_is_not_known_is_not_chosen() -> None:
    frame = study_frame({"p": as_plan(1.0, 0.4), "q": {"risk": [1.0], "u": [None]}})
    choice = choose(frame, [OVERLAP], {MATCHES: 5})
    assert choice.plan == "p"
    assert choice.table["why_not"].to_list() == [None, "ci_overlap cannot be computed"]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"max_risk": 100}, "max_risk is a table"),
        ({"max_risk": {}}, "names no risk"),
        ({"max_risk": {"expected_match": 1}}, 'Did you mean "expected_matches"'),
        ({"max_risk": {"hellinger": 1}}, "is a measure of utility, not a risk"),
        ({"max_risk": {"false_match_rate": 0.5}}, "a higher false_match_rate is safer"),
        ({"max_risk": {MATCHES: -1}}, "from 0 upwards, not -1"),
        ({"max_risk": {MATCHES: "100"}}, 'number of people, or a percentage of the targets as "2%"'),
        ({"max_risk": {MATCHES: "120%"}}, "between 0 and 100"),
        ({"max_risk": {MATCHES: 0.02}}, r'counts people.*For 2 percent of the targets write .*"2%"'),
        ({"max_risk": {f"{MATCHES}_share": 2}}, 'between 0 and 1; for 2 percent write 0.02 or "2%"'),
        ({"max_risk": {"wrong": 5}}, "a higher wrong is safer"),
        ({"max_risk": {MATCHES: 500}, "by": "hellinger", "min_utility": {"ci_overlp": 1}}, 'Did you mean "ci_overlap"'),
        ({"max_risk": {MATCHES: 500}, "by": "hellinger", "min_utility": {"ci_overlap": 80}}, "so 80 cannot be asked"),
        ({"max_risk": {MATCHES: 500}, "by": "hellinger", "min_utility": 0.8}, "min_utility is a table of measures"),
        ({"max_risk": {MATCHES: True}}, "is a number from 0 upwards"),
        ({"max_risk": {MATCHES: math.nan}}, "is a number from 0 upwards"),
        ({"max_risk": {MATCHES: math.inf}}, "is infinite, which limits nothing"),
        ({"max_risk": {MATCHES: -math.inf}}, "from 0 upwards, not -inf"),
        ({"max_risk": {"targets": 5}}, "max_risk: targets counts the records that were attacked, which is no risk"),
        ({"max_risk": {"unevaluated": 5}}, "unevaluated counts .* which is no risk; take one of: found"),
        ({"max_risk": {MATCHES: 500}, "by": ["hellinger"]}, r"by names one measure of utility \(ci_overlap, hellinger\)"),
        ({"max_risk": {MATCHES: 500}}, "several measures of utility; name one in by: ci_overlap, hellinger"),
        ({"max_risk": {MATCHES: 500}, "by": "ci_overlp"}, 'Did you mean "ci_overlap"'),
        ({"max_risk": {MATCHES: 500}, "by": MATCHES}, "is a risk"),
        ({"max_risk": {MATCHES: 500}, "by": "hellinger", "intruder": "neighbor"}, 'Did you mean "neighbour"'),
        ({"max_risk": {MATCHES: 500}, "by": "hellinger", "cautious": "yes"}, "cautious is true"),
    ],
)  # fmt: skip
def test_mistakes_get_a_sentence(given: dict, words: str) -> None:
    with pytest.raises(InputError, match=words):
        choose(FRAME, [OVERLAP, DISTANCE], **given)


numbers = st.integers(0, 8).map(float)


@settings(deadline=None, max_examples=30)
@given(st.lists(st.tuples(numbers, numbers), min_size=1, max_size=6), numbers, st.data())
def test_the_choice_equals_a_search_by_hand_and_a_beaten_candidate_does_not_move_it(
    points: list[tuple[float, float]], limit: float, data: st.DataObject
) -> None:
    plans = {f"p{k}": as_plan(r, u) for k, (r, u) in enumerate(points)}
    fits = [(-u, r, k) for k, (r, u) in enumerate(points) if r <= limit]
    if not fits:
        with pytest.raises(InputError, match="comes nearest"):
            choose(study_frame(plans), [OVERLAP], {MATCHES: limit})
        return
    found = choose(study_frame(plans), [OVERLAP], {MATCHES: limit})
    assert found.plan == f"p{min(fits)[2]}"
    r, u = points[data.draw(st.integers(0, len(points) - 1))]
    more = {"extra": as_plan(r + data.draw(numbers), u - 0.25), **plans}
    assert choose(study_frame(more), [OVERLAP], {MATCHES: limit}).plan == found.plan


def sampled() -> pl.DataFrame:
    """A tiny sample in which nearly all are found beside a plan of all people."""
    whole = study_frame({OTHER: as_plan(200.0, 1.0), "swap": as_plan(105.0, 0.4), "sample": as_plan(14.0, 0.9)})
    own = pl.when(plan="sample").then(15.0).otherwise(1500.0)
    return whole.with_columns(targets=own).with_columns(found_share=pl.col("found") / pl.col("targets"))


def test_a_share_is_of_the_plans_own_targets_and_no_number_of_people_is_the_same() -> None:
    count = choose(sampled(), [OVERLAP], {"found": 75})
    assert count.plan == "sample"
    assert "has found 14 (93.3% of 15), within 75" in count.reason
    assert "Asked: found at most 75 people (plans have 15 to 1,500 targets) by the intruder" in count.reason
    share = choose(sampled(), [OVERLAP], {"found": "10%"})
    assert share.plan == "swap"
    assert "found_share 7% (105 of 1,500), within 10%" in share.reason
    assert "Asked: found_share at most 10% of each plan's own targets (15 to 1,500)" in share.reason
    assert "150" not in share.asked.replace("1,500", "")
    for risk in ("unique_matches", "found"):  # one that is a column of the table, and one that is worked out
        table = choose(sampled(), [OVERLAP], {risk: "10%"}).table
        assert table[f"{risk}_share"].to_list() == pytest.approx([200 / 1500, 105 / 1500, 14 / 15])


def test_where_all_plans_have_as_many_targets_both_are_said() -> None:
    assert "found at most 500 (0.98% of 51,016)" in choose(FRAME, [OVERLAP], {"found": 500}).asked


def test_no_interval_ends_beyond_a_plans_own_targets() -> None:
    frame = study_frame({OTHER: as_plan(200.0, 1.0, 2), "sample": {"risk": [14.0, 11.0], "u": [0.9, 0.8]}})
    frame = frame.with_columns(targets=pl.when(plan="sample").then(15.0).otherwise(1500.0))
    with pytest.raises(InputError, match="the upper end of found is 15, above 14"):
        choose(frame.filter(plan="sample"), [OVERLAP], {"found": 14}, cautious=True)
    careful = choose(frame, [OVERLAP], {"found": 15}, cautious=True)
    assert careful.plan == "sample"


def test_plans_are_counted_without_the_file_as_it_is() -> None:
    most = choose(FRAME, [DISTANCE], {MATCHES: 3000}, by="hellinger")
    assert (most.plan, "6 of 6 plans meet the limits" in most.reason) == (OTHER, True)
    frame = study_frame({OTHER: as_plan(1.0, 0.5), "a": as_plan(1.0, 0.9), "b": as_plan(9.0, 0.95)})
    reason = choose(frame, [OVERLAP], {MATCHES: 5}).reason
    assert "It is the only one of 2 plans that meets the limits. The file as it is meets them too. Next comes" in reason


def test_the_intruder_who_was_named_is_said() -> None:
    frame = study_frame({"p": as_plan(1.0, 0.5)}, ["a", "b"])
    assert (
        'at most 5 (0.0098% of 51,016) by the intruder "b"'
        in choose(frame, [OVERLAP], {"found": 5}, intruder="b").asked
    )
