"""The digest of a file: the same whatever holds it, different whenever a value or its place differs."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import confide as cf
from confide.core.random.digest import Digest, row_hashes
from confide.frames import to_polars

MIXED = pl.DataFrame(
    {
        "id": [1, 2, 3, 4],
        "area": ["007", "100", "NA?", None],
        "code": ["11", "12", "11", "13"],
        "income": [1.5, -2.0, None, 1e300],
        "share": [0.1, 0.2, 0.3, float("nan")],
        "small": pl.Series([0.1, 2.5, None, 3.0], dtype=pl.Float32),
        "flag": [True, False, None, True],
        "group": pl.Series(["a", "b", "a", None], dtype=pl.Enum(["b", "a", "c"])),
        "day": [date(2020, 1, 31), None, date(1999, 12, 31), date(2020, 2, 29)],
        "big": [2**62 + 1, -(2**62), 0, None],
    }
)


def test_golden() -> None:
    """A change here moves the draws of every release that was ever made."""
    assert Digest.of(MIXED).hex() == "f2ac10adc8dc65df605ec3a65d83e97248c9079f39ac51605af0aa5827cd53e2"
    assert (
        Digest.of(cf.demo("heads").head(1000)).hex()
        == "43f868aab4c351bbbbcfa9f37513f3c3f74fe270a240ea06d3197ea9bf499304"
    )


def test_formats_agree(tmp_path: Path) -> None:
    wanted = Digest.of(MIXED).hex()
    for suffix in ("csv", "tsv", "parquet", "arrow"):
        path = cf.write(MIXED, tmp_path / f"file.{suffix}")
        assert Digest.of(cf.read(path)).hex() == wanted, suffix
    heads = cf.demo("heads").head(500)
    wanted = Digest.of(heads).hex()
    for suffix in ("csv", "parquet", "arrow"):
        assert Digest.of(cf.read(cf.write(heads, tmp_path / f"heads.{suffix}"))).hex() == wanted, suffix
    assert Digest.of(to_polars(heads.to_pandas())).hex() == wanted
    assert Digest.of(to_polars(heads.to_arrow())).hex() == wanted
    assert Digest.of(to_polars(pd.read_csv(tmp_path / "heads.csv"))).hex() == wanted


def test_types_and_the_order_of_columns_do_not_matter() -> None:
    wanted = Digest.of(MIXED).hex()
    others = [
        MIXED.select(reversed(MIXED.columns)),
        MIXED.with_columns(pl.col("id").cast(pl.Float64), pl.col("group").cast(pl.String)),
        MIXED.with_columns(pl.col("id").cast(pl.UInt64), pl.col("code").cast(pl.Int16), pl.col("big").cast(pl.Int128)),
        MIXED.with_columns(pl.col("id").cast(pl.Decimal(20, 2)), pl.col("area").cast(pl.Categorical)),
    ]
    for other in others:
        assert Digest.of(other).hex() == wanted


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(cuts=st.lists(st.integers(0, 300), max_size=6))
def test_any_batches_agree(cuts: list[int]) -> None:
    frame = cf.demo("heads").head(300)
    edges = sorted({0, *cuts, 300})
    total = Digest.of(frame[:0])
    for a, b in pairwise(edges):
        total = total.merged(Digest.of(frame[a:b], first=a))
    assert total.hex() == Digest.of(frame).hex()


def test_days_and_wide_numbers_are_one_value_in_every_type() -> None:
    days = pl.DataFrame({"day": [date(2020, 1, 31), None, date(1999, 12, 31)]})
    assert Digest.of(to_polars(days.to_pandas())).hex() == Digest.of(days).hex()
    assert Digest.of(days.cast(pl.Datetime("ns"))).hex() == Digest.of(days).hex()
    for number in (2**62, 2**63 - 1, -(2**63)):
        whole = Digest.of(pl.DataFrame({"a": [number]})).hex()
        assert Digest.of(pl.DataFrame({"a": [str(number)]})).hex() == whole
    assert Digest.of(pl.DataFrame({"a": [2.0**62]})).hex() == Digest.of(pl.DataFrame({"a": [2**62]})).hex()


def test_what_differs_is_seen() -> None:
    frame = cf.demo("heads").head(60)
    seen = {Digest.of(frame).hex()}
    others = [
        frame[::-1], frame.head(59), pl.concat([frame, frame.head(1)]), frame.rename({"age": "years"}), frame.drop("age"),
        frame.with_columns(age=frame["sex"], sex=frame["age"]), pl.concat([frame[1:2], frame[:1], frame[2:]]),
    ]  # fmt: skip
    for v in frame.columns:
        for row in (0, 30, 59):
            values = frame[v].to_list()
            values[row] = next(x for x in frame[v].to_list() if x != values[row])
            others.append(frame.with_columns(pl.Series(v, values, dtype=frame.schema[v])))
    for other in others:
        found = Digest.of(other).hex()
        assert found not in seen
        seen.add(found)


def test_near_numbers_and_texts_differ() -> None:
    texts = ["1", "01", "1 ", "+1", "1e0", "\u0661", "true", "True", " ", "a", "A", "é", "e\u0301", "\x00", "9" * 30]
    numbers = [0.0, 1.0, np.nextafter(1.0, 2.0), -1.0, 5e-324, 2.0**53, 2.0**53 + 2, 1e308]
    seen = [Digest.of(pl.DataFrame({"a": [t]})).hex() for t in texts]
    seen += [Digest.of(pl.DataFrame({"a": [x]})).hex() for x in numbers]
    assert len(set(seen)) == len(texts) + len(numbers) - 1  # the text "1" is the number 1
    whole = [Digest.of(pl.DataFrame({"a": [2**53 + i]})).hex() for i in range(5)]
    assert len(set(whole)) == 5


@pytest.mark.parametrize(
    "values",
    [
        [datetime(2020, 1, 1, 5), None], [time(5, 6), None], [timedelta(days=1), None], [b"x", None], [[1, 2], None],
        [{"a": 1}, None], [None, None],
    ],
)  # fmt: skip
def test_any_type_has_a_digest(values: list[object]) -> None:
    frame = pl.DataFrame({"a": values})
    assert Digest.of(frame).hex() == Digest.of(frame.clone()).hex()
    if values[0] is not None:
        assert Digest.of(frame).hex() != Digest.of(frame[::-1]).hex()


def test_rows_are_hashed_by_content() -> None:
    frame = pl.concat([cf.demo("heads").head(50), cf.demo("heads").head(10)])
    found = row_hashes(frame)
    assert (found[:10] == found[50:]).all()
    assert len(set(found.tolist())) == 50
    assert (row_hashes(frame[::-1])[::-1] == found).all()
