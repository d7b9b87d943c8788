"""Digests and orders of many rows are those of the plain formulas."""

import numpy as np
import polars as pl
import pytest

import confide as cf
from confide.core.random import digest, philox
from confide.core.random.draws import Counter, _sorted


def frame() -> pl.DataFrame:
    heads = cf.demo("heads").head(400)
    old = pl.col("age") > 50
    return heads.with_columns(
        text=pl.col("educ").cast(pl.String), real=pl.col("hh_income") / 3, short=pl.col("age").cast(pl.Float32),
        gaps=pl.when(old).then(None).otherwise("age"), some=pl.when(old).then(None).otherwise("educ"), old=old,
        real_gaps=pl.when(old).then(None).when(pl.col("age") == 40).then(float("nan")).otherwise(pl.col("age") / 7),
        large=pl.when(old).then(2.0**63).when(pl.col("age") == 40).then(-float("inf")).otherwise(-1e300),
        day=pl.date(2020, 1, 1) + pl.duration(days=pl.col("age")), wide=pl.col("age").cast(pl.UInt64),
    )  # fmt: skip


def test_compiled_loops_give_the_plain_digest(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = digest.Digest.of(frame(), first=7)
    monkeypatch.setattr(digest, "MANY", 0)
    assert digest.Digest.of(frame(), first=7) == plain
    assert digest.Digest.of(frame(), first=8) != plain


def test_ties_of_the_first_word_are_decided_by_the_second(monkeypatch: pytest.MonkeyPatch) -> None:
    draws, rows, words = Counter(bytes(range(16))), np.arange(500), philox.words

    def coarse(key: tuple[int, int], rows: np.ndarray, attempt: int = 0, word: int = 0) -> np.ndarray:
        found = words(key, rows, attempt, word)
        return found if word else found % np.uint64(20)

    def slow() -> list[int]:
        first, second = draws.words(rows), draws.words(rows, word=1)
        return sorted(range(500), key=lambda i: (first[i], second[i]))

    assert draws.order(rows).tolist() == slow()
    monkeypatch.setattr(philox, "words", coarse)
    assert draws.order(rows).tolist() == slow()


@pytest.mark.parametrize("spread", [1, 10**9])
@pytest.mark.parametrize("word", [0, 1, 2, 3, 6])
def test_compiled_words_are_the_plain_ones(monkeypatch: pytest.MonkeyPatch, spread: int, word: int) -> None:
    key, rows = (2**64 - 3, 5), np.random.default_rng(1).integers(0, 300, 200) * spread
    plain = philox.words(key, rows, 3, word)
    monkeypatch.setattr(philox, "MANY", 0)
    assert philox.words(key, rows, 3, word).tolist() == plain.tolist()
    assert philox.words(key, rows[::2], 3, word).tolist() == plain[::2].tolist()


@pytest.mark.parametrize("n", [2, 3, 500, 4_097])
def test_compiled_orders_are_the_plain_ones(monkeypatch: pytest.MonkeyPatch, n: int) -> None:
    draws, rows = Counter(bytes(range(16))), np.arange(n)
    plain = draws.order(rows)
    monkeypatch.setattr(philox, "MANY", 2)
    assert draws.order(rows).tolist() == plain.tolist()
    assert draws.order(rows // 50).tolist() == sorted(range(n), key=lambda i: draws.words(rows // 50)[i])


def test_equal_and_crowded_words_are_left_to_the_plain_sort() -> None:
    words = philox.words((1, 2), np.arange(1_000))
    assert _sorted(words) is not None
    assert _sorted(np.append(words, words[7])) is None
    assert _sorted(words >> np.uint64(40)) is None
