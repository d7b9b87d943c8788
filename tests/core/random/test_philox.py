"""Random words by key and counter: equal to NumPy's, in any order and any parts, and never moved."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from confide.core.random import philox
from confide.core.random.draws import Counter, Stream

KEY = (0x0123456789ABCDEF, 0xFEDCBA9876543210)


def by_definition(key: tuple[int, int], counter: tuple[int, int, int, int]) -> list[int]:
    """Philox4x64-10 in whole numbers of any size, straight from the article."""
    (k0, k1), (c0, c1, c2, c3) = key, counter
    for _ in range(10):
        a, b = 0xD2E7470EE14C6C93 * c0, 0xCA5A826395121157 * c2
        c0, c1, c2, c3 = (b >> 64) ^ c1 ^ k0, b & philox.MASK, (a >> 64) ^ c3 ^ k1, a & philox.MASK
        k0, k1 = (k0 + 0x9E3779B97F4A7C15) & philox.MASK, (k1 + 0xBB67AE8584CAA73B) & philox.MASK
    return [c0, c1, c2, c3]


@pytest.mark.parametrize("row", [0, 1, 77, 2**32, 2**40, 2**62])
@pytest.mark.parametrize("attempt", [0, 1, 9_999])
@pytest.mark.parametrize("word", [0, 3, 4, 11])
def test_both_paths_are_the_definition(row: int, attempt: int, word: int) -> None:
    wanted = by_definition(KEY, (row, attempt, word // 4, 0))[word % 4]
    assert int(philox.words(KEY, np.array([row]), attempt, word)[0]) == wanted
    sparse = np.array([row, row + 10**6, row + 10**7])
    assert int(philox.words(KEY, sparse, attempt, word)[0]) == wanted


@settings(max_examples=60, deadline=None)
@given(rows=st.lists(st.integers(0, 2**50), max_size=30), spread=st.sampled_from([1, 3, 10**6]), word=st.integers(0, 9))
def test_any_rows_in_any_order_and_parts(rows: list[int], spread: int, word: int) -> None:
    asked = np.array([r // spread for r in rows], dtype=np.int64)
    whole = philox.words(KEY, asked, 2, word)
    one_by_one = [int(philox.words(KEY, asked[i : i + 1], 2, word)[0]) for i in range(len(asked))]
    assert whole.tolist() == one_by_one


def test_distributions() -> None:
    draws, rows = Counter(bytes(range(16))), np.arange(50_000)
    assert stats.kstest(draws.uniform(rows), "uniform").pvalue > 1e-4
    assert stats.kstest(draws.normal(rows, 1), "norm").pvalue > 1e-4
    assert stats.kstest(draws.exponential(rows), "expon").pvalue > 1e-4
    chi = [draws.of(str(i)).chisquare(7.0) for i in range(3_000)]
    assert stats.kstest(chi, "chi2", args=(7,)).pvalue > 1e-4
    low, high = np.full(50_000, -3), np.full(50_000, 4)
    count = np.bincount(draws.integers(rows, low, high) + 3, minlength=8)
    assert stats.chisquare(count).pvalue > 1e-4
    assert stats.chisquare(np.bincount([draws.whole(5, i) for i in range(5_000)], minlength=5)).pvalue > 1e-4


def test_orders_and_samples() -> None:
    draws = Counter(bytes(16))
    order = draws.order(np.arange(1_000))
    assert sorted(order.tolist()) == list(range(1_000))
    assert abs(np.corrcoef(order, np.arange(1_000))[0, 1]) < 0.12
    taken = np.concatenate([draws.of(str(i)).sample(np.arange(20), 5) for i in range(4_000)])
    assert stats.chisquare(np.bincount(taken, minlength=20)).pvalue > 1e-4
    assert (np.diff(draws.sample(np.arange(1_000), 300)) > 0).all()


def test_words_attempts_rows_and_purposes_are_independent() -> None:
    draws, rows = Counter(bytes([5]) * 16), np.arange(20_000)
    drawn = [
        draws.normal(rows), draws.normal(rows, 1), draws.normal(rows, word=1), draws.normal(rows, word=4),
        draws.normal(rows + 1), draws.of("a").normal(rows), draws.of("b").normal(rows), Counter(bytes(16)).normal(rows),
    ]  # fmt: skip
    off = np.corrcoef(drawn) - np.eye(len(drawn))
    assert np.abs(off).max() < 5 / np.sqrt(len(rows))


def test_no_uniform_is_one_and_no_normal_infinite(monkeypatch: pytest.MonkeyPatch) -> None:
    draws = Counter(bytes(16))
    for word in (0, 2**64 - 1):
        monkeypatch.setattr(philox, "words", lambda *_, w=word: np.array([w], dtype=np.uint64))
        assert 0 <= draws.uniform(np.zeros(1, dtype=np.int64))[0] < 1
        assert np.isfinite(draws.normal(np.zeros(1, dtype=np.int64))).all()
        assert np.isfinite(draws.exponential(np.zeros(1, dtype=np.int64))).all()
        assert draws.whole(3) in (0, 2)


def test_a_key_never_shows() -> None:
    assert "0123" not in repr(Counter(bytes.fromhex("0123") * 8))


def test_a_stream_asks_its_generator() -> None:
    ours, theirs = Stream(np.random.default_rng(3)), np.random.default_rng(3)
    rows = np.arange(4)
    assert (ours.of("any").uniform(rows) == theirs.random(4)).all()
    assert (ours.normal(rows, 5) == theirs.standard_normal(4)).all()
    assert (ours.order(rows) == theirs.permutation(4)).all()
    assert ours.whole(9) == theirs.integers(9)
    assert ours.chisquare(3.0) == theirs.chisquare(3.0)
    assert ours.generator() is ours.rng
