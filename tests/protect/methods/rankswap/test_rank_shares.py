"""Rank swapping in closed form: against plain loops over ranks, phases and blocks, and against its own draws."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.stats import chi2

from confide.core.random.draws import Counter
from confide.protect.shared.rank_shares import RankScale, copy_share, draw_copy, draw_exchange, exchange_share

some = settings(max_examples=120, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))


def copy_slowly(q_lo, q_hi, p_lo, p_hi, n, d):
    """A fraction, rank by rank."""
    total = Fraction(0)
    for q in range(q_lo, q_hi + 1):
        window = [p for p in range(q - d, q + d + 1) if 0 <= p < n] if n < 1000 else None
        if window is not None:
            total += Fraction(sum(p_lo <= p <= p_hi for p in window), len(window))
        else:
            a, b = max(q - d, 0), min(q + d, n - 1)
            total += Fraction(max(min(b, p_hi) - max(a, p_lo) + 1, 0), b - a + 1)
    return total / (q_hi - q_lo + 1)


def exchange_slowly(q_lo, q_hi, p_lo, p_hi, n, d):
    """A fraction, over all phases, blocks and pairs of ranks."""
    w = min(d + 1, n)
    total = Fraction(0)
    for phase in range(w):
        edges = [0, *range(phase or w, n, w), n]
        for a, b in pairwise(edges):
            s = b - a
            for q in range(max(a, q_lo), min(b - 1, q_hi) + 1):
                for p in range(max(a, p_lo), min(b - 1, p_hi) + 1):
                    if s % 2:
                        total += Fraction(1, s)
                    elif p != q:
                        total += Fraction(1, s - 1)
    return total / w / (q_hi - q_lo + 1)


def exchange_by_blocks(q_lo, q_hi, p_lo, p_hi, n, d):
    """The exact sum over the blocks that hold a rank of each, a fraction for each distinct size: for large n."""
    w = min(d + 1, n)
    by_size = {}
    for b in range(max(q_lo, p_lo) - w + 1, min(q_hi, p_hi) + 1):
        a, e = max(b, 0), min(b + w, n)
        count = [max(min(e - 1, y) - max(a, x) + 1, 0) for x, y in ((q_lo, q_hi), (p_lo, p_hi))]
        both = max(min(e - 1, q_hi, p_hi) - max(a, q_lo, p_lo) + 1, 0)
        by_size[e - a] = by_size.get(e - a, 0) + count[0] * count[1] - (both if (e - a) % 2 == 0 else 0)
    # Sums of many fractions with denominators of their own: floor them at 2^-200, far below any tolerance.
    total = sum((c << 200) // (s if s % 2 else s - 1) for s, c in by_size.items())
    return Fraction(total, (q_hi - q_lo + 1) * w << 200)


METHODS = [(copy_share, copy_slowly), (exchange_share, exchange_slowly)]


def one(share, q_lo, q_hi, p_lo, p_hi, n, d):
    return share(*(np.array([x]) for x in (q_lo, q_hi, p_lo, p_hi)), n, d)[0]


def table(share, scale, d):
    """Pr(released value given true value), all pairs of distinct values."""
    return share(scale.lo[:, None], scale.hi[:, None], scale.lo[None], scale.hi[None], scale.n, d)


@pytest.mark.parametrize(("share", "slowly"), METHODS)
def test_all_pairs_of_small_files(share, slowly):
    rng = np.random.default_rng(3)
    for n in range(1, 9):
        scale = RankScale.of(rng.integers(0, max(2 * n // 3, 1), n).astype(float))
        for d in range(n + 2):
            found = table(share, scale, d)
            for i in range(len(scale.values)):
                for j in range(len(scale.values)):
                    exact = slowly(int(scale.lo[i]), int(scale.hi[i]), int(scale.lo[j]), int(scale.hi[j]), n, d)
                    assert found[i, j] == pytest.approx(float(exact), rel=1e-14, abs=0), (n, d, i, j)


@pytest.mark.parametrize(("share", "slowly"), METHODS)
@some
@given(data=st.data(), n=st.integers(1, 30))
def test_any_ranges(share, slowly, data, n):
    d = data.draw(st.integers(0, n + 2))
    q = sorted(data.draw(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1))))
    p = sorted(data.draw(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1))))
    exact = slowly(*q, *p, n, d)
    assert one(share, *q, *p, n, d) == pytest.approx(float(exact), rel=1e-14, abs=0)


@pytest.mark.parametrize("share", [copy_share, exchange_share])
@some
@given(values=st.lists(st.integers(0, 12), min_size=1, max_size=60), extra=st.integers(-59, 3))
def test_rows_sum_to_one_and_pairs_balance(share, values, extra):
    scale = RankScale.of(np.array(values, dtype=float))
    d = max(len(values) + extra, 0)
    found = table(share, scale, d)
    np.testing.assert_allclose(found.sum(axis=1), 1, rtol=1e-13)
    assert (found >= 0).all()
    if share is exchange_share:
        flow = found * (scale.hi - scale.lo + 1)[:, None]
        np.testing.assert_allclose(flow, flow.T, rtol=1e-13, atol=0)


@pytest.mark.parametrize("share", [copy_share, exchange_share])
def test_rows_sum_to_one_in_a_larger_file(share):
    scale = RankScale.of(np.round(np.random.default_rng(4).normal(size=800), 2))
    for d in (1, 2, 40, 41, 370, 399, 400, 401, 600, 798, 799):
        found = table(share, scale, d)
        np.testing.assert_allclose(found.sum(axis=1), 1, rtol=1e-13)
        assert (found >= 0).all()


def test_shapes_and_empty_ranges():
    none = np.array([], dtype=np.int64)
    for share in (copy_share, exchange_share):
        assert share(none, none, none, none, 5, 2).shape == (0,)
        assert one(share, 1, 1, 3, 2, 5, 2) == 0
        assert one(share, 1, 1, 4, 1, 5, 2) == 0
        assert one(share, 0, 0, 5, 4, 5, 4) == 0
        assert one(share, 0, 4, 0, 4, 5, 2) == pytest.approx(1, rel=1e-15)


LARGE = [
    (0, 0, 0, 0, 50_000),
    (3, 7, 50_001, 50_004, 50_000),
    (0, 0, 50_000, 50_000, 50_000),
    (10, 200, 49_990, 50_100, 50_000),
    (49_000, 50_500, 99_000, 99_999, 50_000),
    (999_999, 999_999, 949_999, 949_999, 50_000),
    (960_000, 960_000, 960_000, 960_000, 50_000),
    (400_000, 400_700, 400_000, 400_700, 50_001),
    (400_000, 400_700, 450_600, 450_900, 50_001),
    (2, 3, 2, 3, 9),
    (999_990, 999_999, 999_980, 999_998, 8),
    (100, 104, 499_990, 500_050, 499_999),
    (999_000, 999_400, 200, 450, 999_997),
]


@pytest.mark.parametrize(("q_lo", "q_hi", "p_lo", "p_hi", "d"), LARGE)
def test_a_million_ranks_against_fractions(q_lo, q_hi, p_lo, p_hi, d):
    n = 1_000_000
    for share, slowly in ((copy_share, copy_slowly), (exchange_share, exchange_by_blocks)):
        if share is copy_share and q_hi - q_lo > 500:
            continue
        exact = slowly(q_lo, q_hi, p_lo, p_hi, n, d)
        found = one(share, q_lo, q_hi, p_lo, p_hi, n, d)
        if exact == 0:
            assert found == 0
        else:
            assert abs(Fraction(float(found)) / exact - 1) < 1e-13


def test_sizes_of_the_largest_files():
    """Whole file against whole file is certain, at the size where integers are largest."""
    n = 2_000_000
    for d in (0, 1, 99_999, 999_999, 1_000_000, 1_333_333, 1_999_998, 1_999_999, 5_000_000):
        for share in (copy_share, exchange_share):
            assert one(share, 0, n - 1, 0, n - 1, n, d) == pytest.approx(1, rel=1e-13)
            halves = one(share, 0, 999_999, 0, 999_999, n, d) + one(share, 0, 999_999, 1_000_000, n - 1, n, d)
            assert halves == pytest.approx(1, rel=1e-13)


def test_large_ties_against_sums_in_full_precision():
    n, rng = 200_000, np.random.default_rng(5)
    for _ in range(40):
        d = int(rng.choice([500, 9_999, 10_000, 99_998, 150_000]))
        q_lo, q_hi = sorted(int(x) for x in rng.integers(0, n, 2))
        p_lo, p_hi = sorted(int(x) for x in rng.integers(0, n, 2))
        q = np.arange(q_lo, q_hi + 1)
        a, b = np.maximum(q - d, 0), np.minimum(q + d, n - 1)
        parts = np.maximum(np.minimum(b, p_hi) - np.maximum(a, p_lo) + 1, 0) / (b - a + 1)
        assert one(copy_share, q_lo, q_hi, p_lo, p_hi, n, d) == pytest.approx(
            math.fsum(parts) / len(q), rel=1e-13, abs=0
        )


@pytest.mark.slow
@pytest.mark.parametrize("d", [0, 1, 2, 3, 6, 11, 40])
def test_draws_follow_the_shares(d):
    draws = Counter(bytes([6]) * 16)
    n, runs = 12, 40_000
    scale = RankScale.of(np.arange(n, dtype=float))
    ranks = np.arange(n)
    copies = draw_copy(np.tile(ranks, runs), n, d, draws, np.arange(n * runs)).reshape(runs, n)
    exchanges = np.array([draw_exchange(n, d, draws.of(str(i))) for i in range(runs // 4)])
    for share, drawn in ((copy_share, copies), (exchange_share, exchanges)):
        count = np.array([np.bincount(drawn[:, q], minlength=n) for q in range(n)])
        expected = table(share, scale, d) * len(drawn)
        assert (count[expected == 0] == 0).all()
        q = expected > 0
        for row in range(n):
            x = ((count[row] - expected[row]) ** 2)[q[row]] / expected[row][q[row]]
            assert x.sum() < chi2.ppf(1 - 1e-6, max(q[row].sum() - 1, 1))


@pytest.mark.parametrize("n", [1, 2, 3, 50, 51])
@pytest.mark.parametrize("d", [0, 1, 4, 100])
def test_an_exchange_is_between_two_and_within_reach(n, d):
    draws = Counter(bytes([7]) * 16)
    for i in range(20):
        partner = draw_exchange(n, d, draws.of(str(i)))
        assert (partner[partner] == np.arange(n)).all()
        assert (np.abs(partner - np.arange(n)) <= d).all()
    assert draw_exchange(0, d, draws).shape == (0,)


@pytest.mark.slow
def test_tied_files_follow_the_shares():
    y = np.array([1, 1, 1, 2, 4, 4, 5, 5, 5, 5, 9], dtype=float)
    scale, d, runs = RankScale.of(y), 3, 6_000
    back = np.repeat(np.arange(len(scale.values)), scale.hi - scale.lo + 1)
    count = np.zeros((2, 5, 5))
    for i in range(runs):
        draws = Counter(bytes([8]) * 16).of(str(i))
        rank = scale.ranks_of(y, draws.of("ties"))
        copied, exchanged = draw_copy(rank, scale.n, d, draws, np.arange(len(y))), draw_exchange(scale.n, d, draws)
        for m, released in enumerate((copied, exchanged[rank])):
            np.add.at(count[m], (back[rank], back[released]), 1)
    for m, share in enumerate((copy_share, exchange_share)):
        found = count[m] / count[m].sum(axis=1, keepdims=True)
        expected = table(share, scale, d)
        sd = np.sqrt(expected * (1 - expected) / runs)
        assert (np.abs(found - expected) <= 5 * sd + 1e-12).all()


def test_ends_are_not_piled_up():
    """Without clamping the extremes are released log 2 times as often as others; an exchange keeps every count."""
    n, d = 1001, 50
    scale = RankScale.of(np.arange(n, dtype=float))
    released = table(copy_share, scale, d).sum(axis=0)
    assert released[0] == pytest.approx(math.log(2), rel=0.02)
    assert released.max() < 1.2
    np.testing.assert_allclose(table(exchange_share, scale, d).sum(axis=0), 1, rtol=1e-12)
    drawn = draw_copy(np.tile(np.arange(n), 400), n, d, Counter(bytes([9]) * 16), np.arange(400 * n))
    assert (drawn == 0).mean() * n < 1


def test_the_scale():
    scale = RankScale.of(np.array([3.0, 1.0, 3.0, 8.0, 3.0]))
    assert scale.n == 5
    assert scale.values.tolist() == [1, 3, 8]
    assert (scale.lo.tolist(), scale.hi.tolist()) == ([0, 1, 4], [0, 3, 4])
    lo, hi = scale.place(np.array([1.0, 3.0, 8.0, -5.0, 1.5, 2.5, 5.0, 7.0, 99.0, np.inf, -np.inf]))
    assert lo.tolist() == [0, 1, 4, 0, 0, 1, 3, 4, 4, 4, 0]
    assert hi.tolist() == [0, 3, 4, 0, 0, 1, 3, 4, 4, 4, 0]
    lo, hi = scale.cover(
        np.array([-np.inf, 1.0, 3.0, 3.5, 3.0, 9.0, 8.0, 5.0]), np.array([np.inf, 3.0, 8.0, 4, 3, 10, 9, 2])
    )
    assert list(zip(lo.tolist(), hi.tolist(), strict=True))[:3] == [(0, 4), (0, 0), (1, 3)]
    assert (hi - lo + 1 <= 0).tolist() == [False, False, False, True, True, True, False, True]


@some
@given(values=st.lists(st.integers(-3, 3), min_size=1, max_size=40), seed=st.integers(0, 99))
def test_ranks_of_the_file_are_all_ranks_once(values, seed):
    y = np.array(values, dtype=float)
    scale, draws = RankScale.of(y), Counter(bytes([seed]) * 16)
    rank = scale.ranks_of(y, draws)
    assert sorted(rank.tolist()) == list(range(len(y)))
    assert (np.sort(y)[rank] == y).all()
    part = scale.ranks_of(y[::2], draws)
    assert len(set(part.tolist())) == len(part)
    assert (np.sort(y)[part] == y[::2]).all()
    other = scale.ranks_of(np.concatenate([y, y, y + 0.25]), draws)
    assert (np.sort(y)[other[: 2 * len(y)]] == np.concatenate([y, y])).all()
    assert ((other >= 0) & (other < len(y))).all()
    assert scale.ranks_of(y[:0], draws).shape == (0,)


def test_ties_are_in_random_order():
    scale, draws = RankScale.of(np.zeros(4)), Counter(bytes([10]) * 16)
    count = np.zeros((4, 4))
    for i in range(4000):
        np.add.at(count, (np.arange(4), scale.ranks_of(np.zeros(4), draws.of(str(i)))), 1)
    assert (((count - 1000) ** 2 / 1000).sum(axis=1) < chi2.ppf(1 - 1e-6, 3)).all()
