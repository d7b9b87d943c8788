"""Measures, tables and groups of values that float64 would blur: a right number, or a sentence."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import polars as pl
import pytest

import confide as cf
from confide.core.errors import InputError
from confide.study.groups import Groups

N = 60
LARGE = {
    "Int64": pl.Series([2**60 + i // 2 for i in range(N)]),
    "UInt64": pl.Series([2**64 - 1 - i // 2 for i in range(N)], dtype=pl.UInt64),
    "Int128": pl.Series([2**100 + i // 2 for i in range(N)], dtype=pl.Int128),
    "nanoseconds": pl.Series([10**18 + i // 2 for i in range(N)]).cast(pl.Datetime("ns")),
    "times": pl.Series([1 + i // 2 for i in range(N)], dtype=pl.Int64).cast(pl.Time),
    "decimals": pl.Series([Decimal(2**60 + i // 2) / 10**18 for i in range(N)], dtype=pl.Decimal(38, 18)),
}


@pytest.mark.parametrize("kind", list(LARGE))
def test_distances_see_every_value(kind: str) -> None:
    before = pl.DataFrame({"x": LARGE[kind]})
    after = before.with_columns(x=pl.concat([before["x"].head(1)] * 4 + [before["x"].tail(N - 4)]))
    measure = cf.TotalVariation("x", bins=1000)
    assert measure(before, before) == 0.0
    assert measure(before, after) == pytest.approx(2 / N)  # the two of the second value moved to the first


@pytest.mark.parametrize("kind", ["Int64", "UInt64", "Int128", "nanoseconds", "decimals"])
@pytest.mark.parametrize("measure", [cf.Means, cf.Variances])
def test_moments_refuse_what_they_would_blur(kind: str, measure: type) -> None:
    frame = pl.DataFrame({"x": LARGE[kind]})
    with pytest.raises(InputError, match="exactly"):
        measure("x")(frame, frame)


def test_moments_of_unsigned_numbers_do_not_wrap_around() -> None:
    small = pl.DataFrame({"x": [0, 1, 250, 255] * 9})
    moved = pl.DataFrame({"x": [0, 1, 5, 255] * 9})
    for measure in (cf.Means("x"), cf.Variances("x")):
        unsigned = measure(small.cast(pl.UInt8), moved.cast(pl.UInt8))
        assert unsigned == pytest.approx(measure(small, moved))


def test_a_column_of_bytes_does_not_stop_the_measures_of_the_others() -> None:
    frame = pl.DataFrame({"x": range(30), "bytes": [b"a"] * 30})
    assert cf.TotalVariation()(frame, frame) == 0.0


@pytest.mark.parametrize("kind", list(LARGE))
def test_a_table_has_one_level_for_each_value(kind: str) -> None:
    table = cf.Table.of(pl.DataFrame({"x": LARGE[kind]}), by=["x"])
    assert np.asarray(table.counts).tolist() == [2] * (N // 2)


def test_groups_of_a_study_tell_large_numbers_apart() -> None:
    frame = pl.DataFrame({"x": [2**60 + i % 3 for i in range(N)]})
    groups = Groups.of(frame, [cf.Intruder(knows=["x"])])
    assert np.bincount(groups.codes["x"])[:3].tolist() == [N // 3] * 3
