"""Means with their intervals, and the frontier: equal to a brute-force twin, and unmoved by a candidate that is beaten."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats

import confide as cf
from confide.core.errors import InputError
from confide.study.tradeoff.frontier import dominated, frontier, frontier_band, summarise_repeats
from confide.study.tradeoff.repeats import Repeats, interval
from tests.helpers.fake_study import OTHER, PUBLISHED, as_plan, study_frame

OVERLAP, DISTANCE = cf.RegressionOverlap("a ~ b"), cf.Hellinger()


def test_the_interval_is_students() -> None:
    values = [3.0, 5.0, 10.0, 4.0]
    found = interval(values)
    low, high = stats.t.interval(0.95, 3, np.mean(values), stats.sem(values))
    assert found is not None
    assert (found.mean, found.repeats) == (5.5, 4)
    assert (found.low, found.high) == pytest.approx((low, high))
    assert found.sd == pytest.approx(np.std(values, ddof=1))


def test_the_summary_says_what_is_known_of_the_spread() -> None:
    frame = study_frame({OTHER: as_plan(9.0, 1.0), "one": as_plan(5.0, 0.5), "three": PUBLISHED["all"]}, ["a", "b"])
    table = summarise_repeats(frame, [OVERLAP], ["expected_matches", "false_match_rate"], {"one": True, OTHER: False})
    assert table.height == 3 * (2 * 2 + 1)
    row = {(r["plan"], r["measure"], r["intruder"]): r for r in table.iter_rows(named=True)}
    assert row[OTHER, "expected_matches", "a"]["low"] == 9.0
    assert row["one", "expected_matches", "b"]["low"] is None
    assert row["one", "ci_overlap", None]["kind"] == "utility"
    assert row["three", "ci_overlap", None]["mean"] == pytest.approx(0.55)
    assert row["three", "false_match_rate", "a"]["direction"] == "higher"


def test_a_repeat_without_a_number_is_left_out_of_a_mean_but_bars_the_plan_from_the_frontier() -> None:
    frame = study_frame({"whole": as_plan(5.0, 0.5, 3), "gap": {"risk": [1.0, 1.0, 1.0], "u": [0.9, None, 0.9]}})
    summary = summarise_repeats(frame, [OVERLAP], []).filter(pl.col("plan") == "gap")
    assert (summary["mean"][0], summary["repeats"][0]) == (pytest.approx(0.9), 2)
    table = frontier(frame, "expected_matches", OVERLAP)
    assert table["on_frontier"].to_list() == [True, False]
    assert table["note"][1] == "not compared: ci_overlap cannot be computed"
    assert table["p_frontier"].to_list() == [1.0, None]


def test_the_frontier_of_printed_numbers() -> None:
    table = frontier(study_frame(PUBLISHED), "expected_matches", OVERLAP)
    assert table.filter("on_frontier")["plan"].to_list() == [OTHER, "recode age", "swap 10", "swap both", "all"]
    beaten = table.filter(pl.col("plan") == "swap 30").row(0, named=True)
    assert (beaten["dominated_by"], beaten["p_frontier"]) == ("swap both", 0.0)
    assert table.filter("on_frontier")["p_frontier"].min() >= 0.95


def test_the_direction_of_the_measure_is_respected() -> None:
    frame = study_frame(PUBLISHED)
    by_distance, by_overlap = (frontier(frame, "expected_matches", m) for m in (DISTANCE, OVERLAP))
    assert by_distance["on_frontier"].to_list() == by_overlap["on_frontier"].to_list()
    assert by_distance["utility"][0] == 0.0


def test_the_worst_intruder_counts_and_an_unknown_risk_might_be_the_worst() -> None:
    plans = {
        "p": {"risk": {"a": [1.0], "b": [9.0]}, "u": [0.9]},
        "q": {"risk": {"a": [5.0], "b": [4.0]}, "u": [0.8]},
        "r": {"risk": {"a": [1.0], "b": [None]}, "u": [0.95]},
    }
    frame = study_frame(plans, ["a", "b"])
    table = frontier(frame, "expected_matches", OVERLAP)
    assert table["risk"].to_list() == [9.0, 5.0, None]
    assert table["worst_intruder"].to_list() == ["b", "a", None]
    assert table["note"][2] == "not compared: expected_matches cannot be computed"
    only = frontier(frame, "expected_matches", OVERLAP, intruder="a")
    assert only.filter("on_frontier")["plan"].to_list() == ["r"]
    with pytest.raises(InputError, match='no intruder named "c"'):
        frontier(frame, "expected_matches", OVERLAP, intruder="c")


def test_equal_plans_are_both_on_the_frontier_also_up_to_rounding() -> None:
    frame = study_frame({"p": as_plan(0.3, 0.5), "q": as_plan(0.1 + 0.2, 0.5), "r": as_plan(0.3, 0.4)})
    table = frontier(frame, "expected_matches", OVERLAP, random=dict.fromkeys("pqr", False))
    assert table["on_frontier"].to_list() == [True, True, False]
    assert table["p_frontier"].to_list() == [1.0, 1.0, 0.0]
    assert table["dominated_by"].to_list() == [None, None, "p"]


def test_how_sure_the_frontier_is() -> None:
    """Two plans that change places from repeat to repeat: the chance is that of a paired t test."""
    frame = study_frame(
        {"p": {"risk": [5.0, 5.0], "u": [0.502, 0.506]}, "q": {"risk": [5.0, 5.0], "u": [0.505, 0.504]}}
    )
    table = frontier(frame, "expected_matches", OVERLAP, draws=20_000)
    # p - q is -0.003 and 0.002: mean -0.0005, standard error 0.0025, one degree of freedom.
    ahead = 0.5 - np.arctan(0.05 / 0.25) / np.pi
    assert table["p_frontier"].to_list() == pytest.approx([ahead, 1 - ahead], abs=0.01)
    again = frontier(frame, "expected_matches", OVERLAP, draws=20_000)
    assert table.equals(again)
    once = frontier(frame.filter(pl.col("repeat") == 0), "expected_matches", OVERLAP)
    assert once["p_frontier"].to_list() == [None, None]


def test_means_and_paired_differences_have_students_distribution() -> None:
    risk = {"p": [4.0, 7.0, 5.5, 6.0], "q": [5.0, 7.5, 7.0, 6.1], "fixed": [3.0] * 4, "short": [7.0, None, None, None]}
    frame = study_frame({k: {"risk": v, "u": [0.5] * 4} for k, v in risk.items()})
    frame = frame.filter(pl.col("expected_matches").is_not_null())
    every = Repeats.of(frame)
    means = every.drawn_means(every.risk("expected_matches", "neighbour"), 40_000)
    gap = np.subtract(risk["p"], risk["q"])
    for x, own in ((means[:, 0], np.array(risk["p"])), (means[:, 0] - means[:, 1], gap)):
        standard = (x - own.mean()) / (own.std(ddof=1) / 2)
        np.testing.assert_allclose(np.quantile(standard, [0.1, 0.5, 0.95]), stats.t.ppf([0.1, 0.5, 0.95], 3), atol=0.05)
    assert (means[:, 2] == 3.0).all()
    assert (means[:, 3] == 7.0).all()


@pytest.mark.slow
@pytest.mark.parametrize("repeats", [3, 5])
def test_of_plans_given_a_chance_so_many_are_on_the_frontier(repeats: int) -> None:
    """Simulated studies with known expected values; repeats are shared, so that plans move together."""
    rng, chances, true = np.random.default_rng(7), [], []
    for _ in range(250):
        mu, sd = rng.random((2, 6)), 0.1 * np.exp(rng.normal(0, 0.5, (2, 6)))
        x = mu[..., None] + sd[..., None] * (rng.normal(size=(2, 1, repeats)) + rng.normal(size=(2, 6, repeats)))
        plans = {str(p): {"risk": x[0, p].tolist(), "u": (-x[1, p]).tolist()} for p in range(6)}
        chances += frontier(study_frame(plans), "expected_matches", OVERLAP, draws=200)["p_frontier"].to_list()
        true += (~dominated(*mu).any(axis=1)).tolist()
    p, on = np.array(chances), np.array(true)
    for low, high in ((0.0, 0.2), (0.2, 0.5), (0.5, 0.8), (0.8, 1.001)):
        mine = (p >= low) & (p < high)
        # Membership is correlated inside a study, and the draws add to the error of a small chance.
        error = np.sqrt((p * (1 - p))[mine].sum() + 1) / mine.sum()
        assert abs(on[mine].mean() - p[mine].mean()) < 3 * error + 0.01, (low, high)


def test_a_beaten_plan_is_told_of_the_frontier_first() -> None:
    """The first stated plan that dominates it is beaten itself."""
    frame = study_frame({"p": as_plan(5.0, 0.5), "q": as_plan(4.0, 0.6), "r": as_plan(3.0, 0.7)})
    table = frontier(frame, "expected_matches", OVERLAP, draws=1)
    assert table["dominated_by"].to_list() == ["r", "r", None]


def test_what_cannot_be_a_risk_is_refused() -> None:
    frame = study_frame(PUBLISHED)
    for name, words in {
        "false_match_rate": "is safer",
        "ci_overlap": "measure of utility, not a risk",
        "targets": "counts the records that were attacked",
        "unevaluated": "whose risk is not known",
        "expected_match": 'Did you mean "expected_matches"',
    }.items():
        with pytest.raises(InputError, match=words):
            frontier(frame, name, OVERLAP)


def test_the_band_holds_the_frontier() -> None:
    band = frontier_band(study_frame(PUBLISHED), "expected_matches", OVERLAP, [50.0, 200.0, 390.0, 600.0, 3000.0])
    assert band["best"].to_list() == [None, pytest.approx(0.55), pytest.approx(0.74), pytest.approx(0.9), 1.0]
    inside = band.filter(pl.col("low").is_not_null())
    assert ((inside["low"] <= inside["best"]) & (inside["best"] <= inside["high"])).all()


# Multiples of a quarter are exact in binary, so that ties are ties also after averaging.
numbers = st.integers(0, 12).map(lambda k: k / 4)


@st.composite
def studies(draw: st.DrawFn) -> tuple[dict[str, dict], list[str]]:
    intruders = draw(st.sampled_from([["a"], ["a", "b"]]))
    repeats, many = draw(st.sampled_from([1, 2, 4])), draw(st.integers(1, 6))
    plans = {}
    for k in range(many):
        n = draw(st.sampled_from([1, repeats]))
        risk = {who: draw(st.lists(numbers, min_size=n, max_size=n)) for who in intruders}
        plans[f"p{k}"] = {"risk": risk, "u": [u / 2 for u in draw(st.lists(numbers, min_size=n, max_size=n))]}
    return plans, intruders


@settings(deadline=None, max_examples=30)
@given(studies())
def test_the_frontier_equals_its_brute_force_twin(study: tuple[dict[str, dict], list[str]]) -> None:
    plans, intruders = study
    table = frontier(study_frame(plans, intruders), "expected_matches", OVERLAP, draws=5)
    at = {n: (max(math.fsum(r) / len(r) for r in p["risk"].values()), math.fsum(p["u"]) / len(p["u"]))
          for n, p in plans.items()}  # fmt: skip
    for name, on, by in table.select("plan", "on_frontier", "dominated_by").iter_rows():
        r, u = at[name]
        beaten_by = [q for q, (s, v) in at.items() if s <= r and v >= u and (s < r or v > u)]
        assert on == (not beaten_by)
        assert (by in beaten_by) if beaten_by else by is None


@settings(deadline=None, max_examples=30)
@given(studies(), st.data())
def test_a_beaten_candidate_moves_nothing(study: tuple[dict[str, dict], list[str]], data: st.DataObject) -> None:
    plans, intruders = study
    model = plans[data.draw(st.sampled_from(sorted(plans)))]
    worse, less = data.draw(numbers), data.draw(numbers.filter(bool))
    extra = {"risk": {w: [x + worse for x in r] for w, r in model["risk"].items()}, "u": [x - less for x in model["u"]]}
    # What has the best value of all is behind nobody; here others may lie beyond it, which no overlap does.
    assume(set(extra["u"]) != {OVERLAP.best})
    before = frontier(study_frame(plans, intruders), "expected_matches", OVERLAP, draws=200)
    where = data.draw(st.integers(0, len(plans)))
    names = [*list(plans)[:where], "extra", *list(plans)[where:]]
    frame = study_frame({n: {**plans, "extra": extra}[n] for n in names}, intruders)
    after = frontier(frame, "expected_matches", OVERLAP, draws=200)
    assert not after.filter(pl.col("plan") == "extra")["on_frontier"][0]
    assert after.filter(pl.col("plan") != "extra").equals(before)
