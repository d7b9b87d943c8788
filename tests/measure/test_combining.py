"""Combining rules: formulas by hand in fractions, coverage in simulations, and a sentence for every bad input."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import stats

from confide.core.errors import InputError
from confide.measure.combining import combine, combine_frames

some = settings(max_examples=100, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
RULES = ["partial", "full", "multiple"]
Q = [Fraction(21, 2), Fraction(9), Fraction(12), Fraction(10)]
U = [Fraction(1, 4), Fraction(1, 2), Fraction(1, 3), Fraction(1, 5)]


def by_hand(q, u, rule):
    """Estimate, total variance and degrees of freedom in exact arithmetic, as the papers print them."""
    m = len(q)
    mean, within = sum(q) / m, sum(u) / m
    between = sum((x - mean) ** 2 for x in q) / (m - 1)
    if rule == "partial":
        return mean, within + between / m, (m - 1) * (1 + within / (between / m)) ** 2
    if rule == "full":
        t = (1 + Fraction(1, m)) * between - within
        return mean, t, (m - 1) * (1 - Fraction(m) * within / ((m + 1) * between)) ** 2
    t = within + (1 + Fraction(1, m)) * between
    return mean, t, (m - 1) * (1 + within / ((1 + Fraction(1, m)) * between)) ** 2


# formulas


@pytest.mark.parametrize("rule", RULES)
def test_formulas_by_hand(rule):
    mean, total, df = by_hand(Q, U, rule)
    found = combine(Q, U, rule, confidence=0.9)
    assert found.estimate == pytest.approx(float(mean), rel=1e-12)
    assert found.variance == pytest.approx(float(total), rel=1e-12)
    assert found.df == pytest.approx(float(df), rel=1e-12)
    assert found.standard_error == pytest.approx(float(total) ** 0.5, rel=1e-12)
    low, high = stats.t.interval(0.9, float(df), loc=float(mean), scale=float(total) ** 0.5)
    assert (found.low, found.high) == pytest.approx((low, high), rel=1e-9)
    assert found.within == pytest.approx(float(sum(U) / 4))
    assert found.between == pytest.approx(np.var([float(x) for x in Q], ddof=1))
    assert (found.copies, found.rule, found.confidence, found.adjusted) == (4, rule, 0.9, False)
    assert all(type(getattr(found, name)) is float for name in ("estimate", "variance", "df", "low", "high", "within"))


def test_partial_written_out():
    found = combine([1, 3], [1, 3])  # mean 2, within 2, between 2
    assert (found.estimate, found.variance, found.df) == pytest.approx((2, 3, 9))
    assert found.high == pytest.approx(2 + 2.2621571628 * 3**0.5)


@pytest.mark.parametrize("rule", ["partial", "multiple"])
def test_copies_that_agree_have_infinite_df_and_a_normal_interval(rule):
    found = combine([0.1] * 3, [0.04] * 3, rule)
    assert found.between == 0
    assert found.df == np.inf
    assert found.high - found.estimate == pytest.approx(stats.norm.ppf(0.975) * 0.2)


@pytest.mark.parametrize("rule", RULES)
def test_no_variance_at_all_is_a_point(rule):
    found = combine([2.0, 2.0], [0.0, 0.0], rule)
    assert found.low == found.high == found.estimate == 2


def test_full_without_a_positive_variance_uses_reiters_substitute():
    q, u = [10.0, 10.1, 9.9], [1.0, 1.2, 0.8]
    found = combine(q, u, "full")
    assert found.adjusted
    assert (found.variance, found.df) == pytest.approx((1.0, 2))
    assert combine(q, u, "full", ratio=0.5).variance == pytest.approx(0.5)
    agree = combine([3.0, 3.0, 3.0], [1.0, 1.0, 1.0], "full")
    assert (agree.variance, agree.df, agree.adjusted) == (1.0, 2.0, True)


def test_ratio_matters_only_to_the_substitute():
    assert combine(Q, U, "full", ratio=3.0).variance == combine(Q, U, "full").variance


def test_full_df_is_at_least_one_and_at_most_copies_less_one():
    between = 1.0  # of 0, 1, 2
    nearly = combine([0.0, 1.0, 2.0], [4 / 3 * between - 1e-6] * 3, "full")
    assert (nearly.df, nearly.adjusted) == (1.0, False)
    assert combine([0.0, 1.0, 2.0], [0.0] * 3, "full").df == 2


def test_complete_degrees_of_freedom():
    m, c = 4, 7
    b, u = np.var([float(x) for x in Q], ddof=1), float(sum(U) / 4)
    partial = combine(Q, U, "partial", complete=c)
    assert partial.df == pytest.approx((u + b / m) ** 2 / (u**2 / c + (b / m) ** 2 / (m - 1)))
    assert partial.variance == combine(Q, U).variance
    spread = (1 + 1 / m) * b
    old, share = (m - 1) * (1 + u / spread) ** 2, spread / (u + spread)
    barnard_rubin = 1 / (1 / old + 1 / ((c + 1) / (c + 3) * c * (1 - share)))
    assert combine(Q, U, "multiple", complete=c).df == pytest.approx(max(barnard_rubin, 1))
    assert combine(Q, [10 * x for x in U], "multiple", complete=c).df > 1
    assert combine([0.0, 1.0, 2.0, 5.0], [0.0] * 4, "full", complete=2).df == 2
    assert combine([1.0, 1.0], [1.0, 1.0], complete=5).df == 5
    for rule in RULES:
        assert combine(Q, U, rule, complete=np.inf).df == pytest.approx(combine(Q, U, rule).df)


def test_several_estimands_are_each_combined_alone():
    rng = np.random.default_rng(5)
    q, u = rng.normal(size=(6, 4)), rng.uniform(0.1, 2, size=(6, 4))
    for rule in RULES:
        found = combine(q, u, rule)
        assert found.estimate.shape == found.adjusted.shape == (4,)
        for k in range(4):
            one = combine(q[:, k], u[:, k], rule)
            for name in ("estimate", "variance", "standard_error", "df", "low", "high", "within", "between"):
                assert getattr(found, name)[k] == pytest.approx(getattr(one, name), rel=1e-12)
            assert found.adjusted[k] == one.adjusted


@pytest.mark.parametrize(
    "form",
    [
        tuple, np.array, pl.Series, pd.Series, lambda x: (v for v in x), lambda x: [Decimal(str(v)) for v in x],
        lambda x: np.array(x, dtype=np.float32),
    ],
)  # fmt: skip
def test_kinds_of_sequence(form):
    q, u = [1.5, 2.5, 4.0], [0.25, 0.5, 0.75]
    assert combine(form(q), form(u)).variance == pytest.approx(combine(q, u).variance)


def test_rows_as_vectors_or_a_frame():
    rows = [[1.0, 2.0], [1.5, 3.0], [2.5, 2.0]]
    want = combine(rows, rows).high.tolist()
    assert combine([pl.Series(r) for r in rows], [tuple(r) for r in rows]).high.tolist() == want
    frame = pl.DataFrame(rows, schema=["a", "b"], orient="row")
    assert combine(frame, frame.to_pandas()).high.tolist() == want


def test_frame_and_printed_form():
    one = combine(Q, U)
    assert one.frame.height == 1
    assert one.frame["estimate"][0] == one.estimate
    assert "4 copies, rule partial, 95% intervals" in str(one)
    many = combine(np.arange(60.0).reshape(2, 30), np.full((2, 30), 1e4), "full")
    assert many.frame["estimand"].to_list() == list(range(1, 31))
    assert many.frame.columns[:5] == ["estimand", "estimate", "standard_error", "low", "high"]
    assert "adjusted" in repr(many)
    assert "10 more" in repr(many)
    assert len(repr(many).splitlines()) == 23


# frames


@pytest.mark.parametrize("kind", [pl.DataFrame, pd.DataFrame, dict])
def test_an_estimator_over_copies(kind):
    values = [[1, 2, 3, 6], [2, 2, 4, 4], [1, 3, 4, 5]]
    copies = [kind({"x": v}) for v in values]
    found = combine_frames(copies, lambda f: (np.mean(list(f["x"])), np.var(list(f["x"]), ddof=1) / 4), confidence=0.9)
    want = combine([np.mean(v) for v in values], [np.var(v, ddof=1) / 4 for v in values], confidence=0.9)
    assert (found.estimate, found.low, found.high) == (want.estimate, want.low, want.high)


def test_an_estimator_of_vectors_over_an_iterator():
    copies = iter(np.random.default_rng(2).normal(size=(5, 30, 3)))
    found = combine_frames(copies, lambda x: (pl.Series(x.mean(axis=0)), x.var(axis=0, ddof=1) / 30), "full", ratio=2.0)
    assert found.frame.height == 3


@pytest.mark.parametrize(
    ("frames", "words"),
    [
        (pl.DataFrame({"x": [1, 2]}), "list of copies"), (pd.DataFrame({"x": [1, 2]}), "list of copies"),
        ({"a": 1, "b": 2}, "list of copies"), ("file.csv", "list of copies"), (7, "list of copies"),
        ([], "two copies"), ([1.0], "two copies"),
    ],
)  # fmt: skip
def test_frames_that_are_no_copies(frames, words):
    with pytest.raises(InputError, match=words):
        combine_frames(frames, lambda f: (f, 1.0))


def test_estimators_that_are_none():
    with pytest.raises(InputError, match="must be a function"):
        combine_frames([1, 2], 3)
    for wrong in (1.5, (1.0, 2.0, 3.0), "ab", {"a": 1, "b": 2}, None):
        with pytest.raises(InputError, match="copy 1 it gave no pair"):
            combine_frames([1, 2], lambda _, w=wrong: w)
    with pytest.raises(InputError, match="copies differ"):
        combine_frames([1, 2], lambda k: (np.ones(k), np.ones(k)))
    with pytest.raises(ZeroDivisionError):
        combine_frames([0, 2], lambda k: (1 / k, 1.0))


# bad input


@pytest.mark.parametrize(
    ("q", "u", "words"),
    [
        ([71.5], [73.25], "two copies are needed, and there is 1"),
        (71.5, 73.25, "two copies"),
        ([], [], "there are 0"),
        ([[71.5, 73.25]], [[71.5, 73.25]], "two copies"),
        ([71.5, 73.25, 77.5], [73.25, 77.5], "3 numbers and 2 numbers"),
        ([71.5, 73.25], 71.5, "2 numbers and 1 number"),
        ([[71.5, 77.5], [73.25, 77.5]], [71.5, 73.25], "2 by 2 and 2 numbers"),
        ([[71.5, 77.5], [73.25, 77.5]], np.full((2, 2, 2), 71.5), "diagonals"),
        (np.full((2, 2, 2), 71.5), np.full((2, 2, 2), 71.5), "m rows"),
        (np.ones((3, 0)), np.ones((3, 0)), "m rows"),
        ([71.5, 73.25], [71.5, -73.25], "negative in copy 2; .*squared"),
        ([71.5, np.nan, np.inf], [71.5, 73.25, 77.5], "estimates: missing or not finite in copies 2, 3"),
        ([71.5, 73.25], [71.5, None], "variances: missing or not finite in copy 2"),
        ([71.5, 73.25], pl.Series([None, 71.5]), "variances: missing or not finite in copy 1"),
        (np.ma.masked_values([71.5, 73.25], 73.25), [71.5, 73.25], "estimates: missing or not finite in copy 2"),
        (["71.5", "73.25"], [71.5, 73.25], "estimates must hold numbers"),
        (pd.Series([71.5, "73.25"]), [71.5, 73.25], "estimates must hold numbers"),
        ([True, False], [71.5, 73.25], "estimates must hold numbers"),
        ([71.5 + 1j, 73.25], [71.5, 73.25], "estimates must hold numbers"),
        ([71.5, 73.25], [10**400, 71.5], "variances must hold numbers"),
        ({"a": 71.5}, [71.5, 73.25], "not a dict"),
        ("71.5", [71.5, 73.25], "not a str"),
        ([[71.5], [73.25, 77.5]], [71.5, 73.25], "copies differ"),
        ([-1e308, 1e308], [71.5, 73.25], "too large"),
    ],
)  # fmt: skip
def test_bad_numbers_get_a_sentence_without_a_value(q, u, words):
    for rule in RULES:
        with pytest.raises(InputError, match=words) as caught:
            combine(q, u, rule)
        assert not any(value in str(caught.value) for value in ("71", "73", "77", "1e"))


def test_all_problems_of_the_numbers_at_once():
    with pytest.raises(InputError) as caught:
        combine([np.nan, 1.0], [-1.0, np.inf])
    assert len(str(caught.value).splitlines()) == 4


@pytest.mark.parametrize(
    ("rule", "words"),
    [("Partial", 'Did you mean "partial"'), ("fully", 'Did you mean "full"'), ("FULL ", 'Did you mean "full"'),
     ("partially", 'Did you mean "partial"'), ("xyz", '"multiple"'), (None, '"full"'), (["full"], '"partial"')],
)  # fmt: skip
def test_unknown_rules(rule, words):
    with pytest.raises(InputError, match=r"rule must be one of .*partial.*full.*multiple") as caught:
        combine(Q, U, rule)
    assert words in str(caught.value)
    with pytest.raises(InputError, match="rule must be one of"):
        combine_frames([1, 2], lambda f: (f, 1.0), rule)


@pytest.mark.parametrize(
    ("confidence", "words"),
    [(95, "for 95 percent write 0.95"), (99.5, "write 0.995"), (1, "such as 0.95"), (0, "such as 0.95"),
     (True, "such as"), (-0.5, "such as"), (np.nan, "such as"), ("95%", "such as"), (None, "such as"), (100, "such as")],
)  # fmt: skip
def test_bad_confidence(confidence, words):
    with pytest.raises(InputError, match="confidence is a fraction") as caught:
        combine(Q, U, confidence=confidence)
    assert words in str(caught.value)


def test_bad_complete_and_ratio():
    for wrong in (0, -3, np.nan, "9", True):
        with pytest.raises(InputError, match="complete is a number of degrees"):
            combine(Q, U, complete=wrong)
    for wrong in (0, -1.0, np.inf, np.nan, "1", None):
        with pytest.raises(InputError, match="ratio is the number of records"):
            combine(Q, U, "full", ratio=wrong)
    with pytest.raises(InputError, match='belongs to rule "full"'):
        combine(Q, U, "partial", ratio=2.0)


# invariants

number = st.floats(-1e3, 1e3).map(lambda x: round(x, 3))
copies = st.lists(st.tuples(number, st.floats(0.01, 100)), min_size=2, max_size=8)


@some
@given(copies, st.sampled_from(RULES), number, st.sampled_from([-8.0, -0.5, 0.25, 2.0, 1024.0]))
def test_shift_and_scale(pairs, rule, shift, scale):
    q, u = (np.array(x) for x in zip(*pairs, strict=True))
    plain, moved = combine(q, u, rule), combine(scale * q, scale**2 * u, rule)
    assert moved.adjusted == plain.adjusted
    assert moved.df == pytest.approx(plain.df, rel=1e-9)
    assert moved.estimate == pytest.approx(scale * plain.estimate, rel=1e-9, abs=1e-9)
    assert moved.standard_error == pytest.approx(abs(scale) * plain.standard_error, rel=1e-9)
    ends = sorted([scale * plain.low, scale * plain.high])
    assert [moved.low, moved.high] == pytest.approx(ends, rel=1e-9, abs=1e-6)
    shifted = combine(q + shift, u, rule)
    assert shifted.estimate == pytest.approx(plain.estimate + shift, abs=1e-9)
    assert shifted.between == pytest.approx(plain.between, rel=1e-6, abs=1e-9)


@some
@given(copies, st.sampled_from(RULES), st.randoms(use_true_random=False))
def test_order_of_copies_and_widths(pairs, rule, random):
    q, u = zip(*pairs, strict=True)
    found = combine(q, u, rule)
    mixed = list(pairs)
    random.shuffle(mixed)
    assert combine(*zip(*mixed, strict=True), rule).estimate == pytest.approx(found.estimate, abs=1e-9)
    assert found.low <= found.estimate <= found.high
    assert found.df >= 1
    wider = combine(q, u, rule, confidence=0.99)
    assert wider.high - wider.low >= found.high - found.low
    assert combine(q, u, "multiple").variance >= combine(q, u, "partial").variance
