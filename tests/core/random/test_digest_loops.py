"""Digests and orders of many rows are those of the plain formulas."""

import numpy as np
import polars as pl
import pytest

import confide as cf
from confide.core.random import digest, philox
from confide.core.random.draws import Counter


def frame() -> pl.DataFrame:
    heads = cf.demo("heads").head(400)
    old = pl.col("age") > 50
    return heads.with_columns(
        text=pl.col("educ").cast(pl.String), real=pl.col("hh_income") / 3, short=pl.col("age").cast(pl.Float32),
        gaps=pl.when(old).then(None).otherwise("age"), some=pl.when(old).then(None).otherwise("educ"), old=old,
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
