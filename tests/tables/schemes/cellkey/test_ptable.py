"""Perturbation tables: what they must satisfy, against a general optimiser, plain loops and their own draws."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.stats import chi2

from confide.core.errors import InputError
from confide.tables.schemes.cellkey.ptable import PTable

some = settings(max_examples=60, deadline=None)


def allowed(count, largest, smallest=0):
    return [v for v in range(-largest, largest + 1) if count + v == 0 or count + v > smallest]


def variances(largest, smallest=0):
    """The smallest and largest variance with mean 0 that every count can have, by trying all pairs of values."""
    ends = []
    for count in range(1, 3 * largest + 2):
        v = allowed(count, largest, smallest)
        pairs = [-a * b for a in v for b in v if a <= 0 <= b]
        ends.append((min(pairs), max(pairs)))
    return max(a for a, _ in ends), min(b for _, b in ends)


@st.composite
def built(draw):
    """largest, variance, smallest and their table, right up to the ends of what can be attained."""
    largest = draw(st.integers(1, 12))
    smallest = draw(st.integers(0, min(largest - 1, 3)))
    low, high = variances(largest, smallest)
    assume(low <= high)
    share = draw(st.one_of(st.floats(0, 1), st.sampled_from([1e-9, 1e-6, 1 - 1e-6, 1 - 1e-9, 1])))
    variance = low + (high - low) * share
    assume(variance > 1e-9)
    return largest, variance, smallest, PTable.of(largest, variance, smallest=smallest)


@st.composite
def arbitrary(draw):
    """A table of any shape, gaps and all."""
    rows = []
    for count in range(draw(st.integers(1, 5))):
        published = sorted(draw(st.sets(st.integers(0, count + 4), min_size=1, max_size=4)))
        weight = np.array(draw(st.lists(st.integers(1, 9), min_size=len(published), max_size=len(published))))
        rows.append([(x - count, w) for x, w in zip(published, weight / weight.sum(), strict=True)])
    return PTable(rows, keep_zeros=False)


def parts(row):
    return np.array([v for v, _ in row]), np.array([p for _, p in row])


@some
@given(built())
def test_every_row_sums_to_one_with_mean_zero_and_the_variance_asked_for(made):
    largest, variance, smallest, table = made
    assert table.rows[0] == ((0, 1.0),)
    assert table.top == (largest + smallest + 1 if smallest else largest)
    for count, row in enumerate(table.rows[1:], start=1):
        v, p = parts(row)
        assert (p > 0).all()
        assert set(v) <= set(allowed(count, largest, smallest))
        assert abs(p.sum() - 1) < 1e-12
        assert abs(v @ p) < 1e-9
        assert abs(v**2 @ p - variance) < 1e-9 * max(variance, 1e-3)


@some
@given(built())
def test_rows_are_of_the_exponential_family(made):
    """Stationary for the entropy: log p = const + a v + b v². Ends of the attainable variances have two values."""
    for row in made[3].rows[1:]:
        v, p = parts(row)
        solid = p > 1e-200
        design = np.stack([np.ones(len(v)), v, v.astype(float) ** 2], axis=1)[solid]
        log_p = np.log(p[solid])
        fitted = design @ np.linalg.lstsq(design, log_p, rcond=None)[0]
        np.testing.assert_allclose(fitted, log_p, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(
    ("largest", "variance", "smallest"), [(2, 1, 0), (5, 3, 0), (5, 3, 2), (3, 0.4, 0), (4, 3.6, 0)]
)
def test_entropy_is_that_of_a_general_optimiser(largest, variance, smallest):
    table = PTable.of(largest, variance, smallest=smallest)
    for count in range(1, table.top + 1):
        v = np.array(allowed(count, largest, smallest))
        p = np.array([table.outcomes(count).get(count + a, 0.0) for a in v])
        found = minimize(
            lambda q: np.sum(q * np.log(q)),
            np.full(len(v), 1 / len(v)),
            jac=lambda q: np.log(q) + 1,
            bounds=[(1e-12, 1)] * len(v),
            constraints={"type": "eq", "fun": lambda q, v=v: np.array([q.sum() - 1, v @ q, v**2 @ q - variance])},
            method="SLSQP",
            options={"ftol": 1e-12, "maxiter": 1000},
        )
        assert found.success
        np.testing.assert_allclose(p, found.x, atol=2e-5)
        assert np.sum(p * np.log(p)) <= found.fun + 1e-7


@pytest.mark.parametrize("share", [1e-10, 1e-4, 0.5, 1 - 1e-4, 1 - 1e-10])
def test_wide_noise_and_variances_near_their_ends(share):
    for largest, smallest in ((60, 0), (60, 4)):
        low, high = variances(largest, smallest)
        variance = low + (high - low) * share
        for row in PTable.of(largest, variance, smallest=smallest).rows[1:]:
            v, p = parts(row)
            assert abs(v @ p) < 1e-10
            assert abs(v**2 @ p / variance - 1) < 1e-9


def test_rows_worked_out_by_hand():
    """Noise of -1, 0, 1 is settled by its mean and variance; so is the largest variance that can be had."""
    assert PTable.of(1, 0.4).outcomes(8) == pytest.approx({7: 0.2, 8: 0.6, 9: 0.2}, abs=1e-12)
    assert PTable.of(3, 3).outcomes(1) == pytest.approx({0: 0.75, 4: 0.25}, abs=1e-12)
    assert PTable.of(4, 3, smallest=2).top == 7
    assert PTable.of(5, 2, smallest=2).outcomes(1) == pytest.approx({0: 2 / 3, 3: 1 / 3}, abs=1e-12)
    assert PTable.of(5, 2, smallest=2).outcomes(2) == pytest.approx({0: 1 / 3, 3: 2 / 3}, abs=1e-12)
    upper = PTable.of(5, 2).outcomes(40)
    assert [upper[40 - v] for v in range(6)] == pytest.approx([upper[40 + v] for v in range(6)], abs=1e-12)


@settings(max_examples=15, deadline=None)
@given(st.one_of(built().map(lambda made: made[3]), arbitrary()), st.integers(0, 2**32 - 1))
def test_frequencies_of_lookup_match(table, seed):
    rng = np.random.default_rng(seed)
    n = 20_000
    for count in {0, 1, table.top, table.top + 3}:
        drawn = table.lookup(np.full(n, count), rng.random(n))
        p = table.outcomes(count)
        assert set(drawn.tolist()) <= set(p)
        often = [x for x in p if n * p[x] >= 5]
        o, e = np.array([(drawn == x).sum() for x in often]), np.array([n * p[x] for x in often])
        statistic = ((o - e) ** 2 / e).sum()
        assert statistic < chi2.isf(1e-9, len(often))


@some
@given(arbitrary(), st.lists(st.tuples(st.integers(0, 12), st.floats(0, 1, exclude_max=True)), min_size=1, max_size=40))
def test_lookup_is_the_inverse_distribution_cell_by_cell(table, cells):
    def slowly(count, key):
        total = 0.0
        outcomes = list(table.outcomes(count).items())
        for x, p in outcomes:
            total += p
            if key < total:
                return x
        return outcomes[-1][0]

    counts, keys = zip(*cells, strict=True)
    assert table.lookup(counts, keys).tolist() == [slowly(c, u) for c, u in cells]


def test_lookup_keeps_the_shape_and_takes_the_ends_of_the_keys():
    table = PTable.of(3, 1)
    counts = np.arange(24).reshape(2, 3, 4)
    least, most = table.lookup(counts, np.zeros(counts.shape)), table.lookup(counts, np.full(counts.shape, 1 - 2**-53))
    assert least.shape == counts.shape
    assert least.dtype == np.int64
    assert (least == np.maximum(counts - 3, 0)).all()
    assert (most == np.where(counts > 0, counts + 3, 0)).all()
    assert table.lookup(5, 0.5).shape == ()
    even = PTable([[(0, 1.0)], [(-1, 0.25), (0, 0.5), (1, 0.25)]])
    assert even.lookup([1] * 5, [0, 0.2499, 0.25, 0.7499, 0.75]).tolist() == [0, 0, 1, 1, 2]
    assert table.lookup([], []).tolist() == []
    assert table.lookup(np.array([4], dtype=np.uint8), [0.999999]).tolist() == [7]


def reach_slowly(table, x, reach=40):
    return [c for c in range(x + reach) if x in table.outcomes(c)]


@some
@given(st.one_of(built().map(lambda made: made[3]), arbitrary()))
def test_support_and_gaps_are_those_of_plain_loops(table):
    found_gap = False
    for x in range(table.top + 30):
        truth = reach_slowly(table, x)
        if not truth:
            with pytest.raises(InputError, match="1 of 1 published counts cannot come from this perturbation table"):
                table.support(x)
            continue
        lower, upper = table.support([x])
        assert (lower[0], upper[0]) == (truth[0], truth[-1])
        found_gap |= len(truth) < truth[-1] - truth[0] + 1
    assert table.gaps() == found_gap


@some
@given(st.one_of(built().map(lambda made: made[3]), arbitrary()), st.integers(0, 2**32 - 1))
def test_support_holds_the_truth(table, seed):
    rng = np.random.default_rng(seed)
    counts = np.concatenate([rng.integers(0, table.top + 5, (50, 4)), rng.integers(0, 10**12, (50, 4))])
    lower, upper = table.support(table.lookup(counts, rng.random(counts.shape)))
    assert lower.shape == counts.shape
    assert (lower <= counts).all()
    assert (counts <= upper).all()


def test_support_of_the_usual_table():
    table = PTable.of(5, 3)
    lower, upper = table.support([0, 1, 4, 9, 1000])
    assert lower.tolist() == [0, 1, 1, 4, 995]  # a positive count is never a true zero
    assert upper.tolist() == [5, 6, 9, 14, 1005]
    assert not table.gaps()
    for x in (1, 2):
        with pytest.raises(InputError, match="never publishes"):
            PTable.of(5, 3, smallest=2).support(np.array([0, x, 9]))


@some
@given(st.one_of(built().map(lambda made: made[3]), arbitrary()))
def test_a_table_survives_its_frame(table):
    frame = table.to_frame()
    assert frame.columns == ["count", "noise", "probability"]
    assert PTable.from_frame(frame, keep_zeros=table.keep_zeros) == table
    assert hash(PTable.from_frame(frame.sample(fraction=1, shuffle=True, seed=1), keep_zeros=False)) == hash(
        PTable(table.rows, keep_zeros=False)
    )
    published = frame.select("count", (pl.col("count") + pl.col("noise")).alias("published"), "probability")
    assert PTable.from_frame(published.to_pandas(), keep_zeros=table.keep_zeros) == table
    assert eval(repr(table.rows)) == table.rows


def test_frames_with_rounded_probabilities_and_zeros():
    rounded = {"count": [0, 1.0, 1, 1, 1], "noise": [0, 1, -1, 0, -2], "probability": [1, 1 / 3, 0.3333333, 1 / 3, 0]}
    table = PTable.from_frame(pd.DataFrame(rounded))
    assert [v for v, _ in table.rows[1]] == [-1, 0, 1]
    assert sum(p for _, p in table.rows[1]) == pytest.approx(1, abs=1e-15)
    raised = {"count": [0, 0], "noise": [0, 1], "probability": [0.9, 0.1]}
    with pytest.raises(InputError, match="say keep_zeros=False"):
        PTable.from_frame(raised)
    assert PTable.from_frame(raised, keep_zeros=False).outcomes(0) == {0: 0.9, 1: 0.1}
    both = {"count": [0, 1], "noise": [0, 0], "published": [0, 1], "probability": [1, 1]}
    assert PTable.from_frame(both).top == 1
    with pytest.raises(InputError, match=r"published is not count \+ noise"):
        PTable.from_frame({**both, "published": [0, 2]})


def test_all_mistakes_of_a_frame_are_said_at_once():
    wrong = {
        "count": [0, 0, 1, 1, 3, 3, 3, 4],
        "noise": [0, 1, 0, 0, -5, 0, 1, 0],
        "probability": [0.5, 0.5, 0.5, 0.5, 0.5, 0.2, 0.1, 1.0],
    }
    with pytest.raises(InputError) as caught:
        PTable.from_frame(wrong)
    said = str(caught.value)
    for part in ("1 is missing", "1 row too many", "count 3.", "negative in 1 row", "keep_zeros=False"):
        assert part in said
    with pytest.raises(InputError) as caught:
        PTable.from_frame({"count": ["a", "b"], "noise": [0.5, 1], "probability": [1.0, float("nan")]})
    for part in ('"count"', "not text", '"noise"', "not fractions", '"probability"', "missing or infinite in 1 row"):
        assert part in str(caught.value)


@pytest.mark.parametrize(
    ("frame", "said"),
    [
        ({"counts": [0], "noise": [0], "probability": [1.0]}, 'no column "count". Did you mean "counts"?'),
        ({"count": [0], "probability": [1.0]}, 'needs a column "noise" or "published"'),
        ({"count": [0], "noise": [0], "probability": [None]}, 'Column "probability"'),
        ({"count": [0, 0], "noise": [0, 1], "probability": [1.5, -0.5]}, "not negative"),
        ({"count": [0, 1], "noise": [0, 0], "probability": [1.0, 100.0]}, "must sum to 1; they do not for count 1."),
        ({"count": [-1, 0], "noise": [1, 0], "probability": [1.0, 1.0]}, "Counts must not be negative"),
        ({"count": [0, 1e9], "noise": [0, 0], "probability": [1.0, 1.0]}, "may not go beyond 1,000,000"),
        ({"count": [None], "noise": [0], "probability": [1.0]}, 'Column "count"'),
        (pl.DataFrame(schema={"count": pl.Int64, "noise": pl.Int64, "probability": pl.Float64}), "has no rows"),
        ([1, 2], "The perturbation table must be"),
    ],
)
def test_a_frame_that_cannot_be_used(frame, said):
    with pytest.raises(InputError) as caught:
        PTable.from_frame(frame)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("largest", "variance", "smallest", "said"),
    [
        (0, 1, 0, "largest, the most that noise may add or take away, must be a whole number from 1 to 100."),
        (-3, 1, 0, "largest"),
        (2.5, 1, 0, "largest"),
        ("5", 1, 0, "largest"),
        (True, 1, 0, "largest"),
        (101, 1, 0, "from 1 to 100"),
        (None, 1, 0, "largest"),
        (5, 0, 0, "variance, that of the noise in counts squared, must be a number above 0."),
        (5, -1, 0, "variance"),
        (5, float("nan"), 0, "variance"),
        (5, float("inf"), 0, "variance"),
        (5, "20%", 0, "variance"),
        (5, None, 0, "variance"),
        (5, True, 0, "variance"),
        (5, 1, -1, "smallest, the largest positive count that is never published"),
        (5, 1, 5, "smallest"),
        (5, 1, 0.5, "smallest"),
        (5, 26, 0, "true count of 1: noise from -1 to 5 with mean 0 has a variance of at most 5. Every count can have a variance above 0 and up to 5."),
        (5, 5.01, 0, "at most 5"),
        (5, 1, 2, "true count of 1: noise from -1 to 5 with mean 0 has a variance of at least 2. Every count can have a variance from 2 to 5."),
        (4, 3, 3, "true count of 2: noise from -2 to 4 with mean 0 has a variance of at least 4. Only a variance of 4 suits every count."),
        (8, 9, 7, "No variance suits every count: take a larger largest or a smaller smallest."),
    ],
)  # fmt: skip
def test_settings_that_cannot_be_used(largest, variance, smallest, said):
    with pytest.raises(InputError) as caught:
        PTable.of(largest, variance, smallest=smallest)
    assert said in str(caught.value)


@some
@given(st.integers(1, 9), st.integers(0, 4), st.floats(0.01, 20))
def test_the_range_that_is_refused_is_the_one_no_table_has(largest, smallest, variance):
    assume(smallest < largest)
    low, high = variances(largest, smallest)
    if low <= variance <= high:
        PTable.of(largest, variance, smallest=smallest)
    else:
        with pytest.raises(InputError, match="not attainable for a true count of"):
            PTable.of(largest, variance, smallest=smallest)


def test_the_kinds_of_numbers_numpy_has_are_taken():
    assert PTable.of(np.int64(3), np.float32(1.5)) == PTable.of(3, 1.5)
    assert PTable.of(3, 1).outcomes(np.int64(0)) == {0: 1.0}


@pytest.mark.parametrize(
    "rows", [None, 5, [], [[]], [[(0, 1.0)], []], [[(0.5, 1.0)]], [[(0, "a")]], [[0, 1]], "ab", [[(0, None)]]]
)
def test_rows_that_cannot_be_used(rows):
    with pytest.raises(InputError):
        PTable(rows)


@pytest.mark.parametrize(
    ("counts", "keys", "said"),
    [
        ([1, 2], [0.5], "same shape"),
        ([1], [1.0], "from 0 up to, but not including, 1"),
        ([1], [-0.1], "Cell keys"),
        ([1], [float("nan")], "Cell keys"),
        ([1], ["a"], "Cell keys"),
        ([-1], [0.5], "must not be negative"),
        ([1.0], [0.5], "whole numbers, not float64"),
        ([True], [0.5], "whole numbers, not bool"),
        (["a"], [0.5], "whole numbers"),
        (np.array([2**63], dtype=np.uint64), [0.5], "whole numbers"),
    ],
)
def test_lookups_that_cannot_be_made(counts, keys, said):
    with pytest.raises(InputError, match=said):
        PTable.of(2, 1).lookup(counts, keys)


def test_other_questions_that_have_no_answer():
    table = PTable.of(2, 1)
    for count in (-1, 1.5, "a", True, None):
        with pytest.raises(InputError, match="count must be a whole number"):
            table.outcomes(count)
    with pytest.raises(InputError, match="2 of 3 published counts"):
        table.support([-1, -2, 3])
    with pytest.raises(InputError, match="published must hold whole numbers"):
        table.support([0.5])
