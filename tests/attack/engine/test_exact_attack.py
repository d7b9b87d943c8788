"""What an intruder knows is compared exactly with what is released, or the attack is refused."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import numpy as np
import polars as pl
import pytest

import confide as cf
from confide.core.errors import InputError
from confide.frames.types.exact import exact

LARGE = [2**60 + 2 * i + 1 for i in range(100)]
COLUMNS = {
    "Int64": pl.Series(LARGE),
    "UInt64": pl.Series([2**64 - 1 - i for i in range(100)], dtype=pl.UInt64),
    "Int128": pl.Series([2**100 + i for i in range(100)], dtype=pl.Int128),
    "nanoseconds": pl.Series(LARGE).cast(pl.Datetime("ns")),
    "zoned": pl.Series([1_761_436_800_000_000 + i * 60_000_000 for i in range(100)])
    .cast(pl.Datetime("us"))
    .dt.replace_time_zone("UTC")
    .dt.convert_time_zone("Europe/Berlin"),
    "durations": pl.Series(LARGE).cast(pl.Duration("ns")),
    "times": pl.Series(range(100), dtype=pl.Int64).cast(pl.Time),
    "long decimals": pl.Series([Decimal(x) / 10**18 for x in LARGE], dtype=pl.Decimal(38, 18)),
    "decimals": pl.Series([Decimal(i) / 100 for i in range(100)], dtype=pl.Decimal(9, 2)),
    "Float32": pl.Series(np.arange(100) / 10).cast(pl.Float32),
}


def expected(release: Any, **more: Any) -> float:
    return float(cf.Intruder(knows=["x"]).attack(release, **more).summary().expected_matches)


@pytest.mark.parametrize("kind", list(COLUMNS))
def test_unique_values_released_as_they_are_are_all_found(kind: str) -> None:
    data = pl.DataFrame({"x": COLUMNS[kind], "y": np.arange(100) % 7})
    plan = cf.Plan([cf.Swap("y", rate=0.2)])
    assert expected(plan.protect(data, seed=1)) == pytest.approx(100)
    named = cf.Plan([cf.Swap("y", rate=0.2)], categorical=["x"]).protect(data, seed=1)
    assert expected(named) == pytest.approx(100)
    as_number = cf.Plan([cf.Swap("y", rate=0.2)], numeric=["x"]).protect(data, seed=1)
    if exact(COLUMNS[kind]):
        assert expected(as_number) == pytest.approx(100)
        return
    with pytest.raises(InputError, match="exactly"):
        expected(as_number)


@pytest.mark.parametrize("kind", list(COLUMNS))
def test_the_same_people_in_another_type_are_found_or_refused(kind: str) -> None:
    column = COLUMNS[kind]
    data = pl.DataFrame({"x": column, "y": np.arange(100) % 7})
    release = cf.Plan([cf.Swap("y", rate=0.2)]).protect(data, seed=1)
    truth = list(range(100))
    found = 0
    for dtype in (pl.Int64, pl.UInt64, pl.Int128, pl.Float64, pl.Float32, pl.Decimal(38, 18), pl.String, pl.Datetime):
        try:
            other = column.cast(dtype)
            same = other.cast(column.dtype).equals(column)
        except pl.exceptions.PolarsError:
            continue
        if not same:  # other values
            continue
        try:
            matches = expected(release, targets=pl.DataFrame({"x": other}), truth=truth)
        except InputError:
            continue
        assert matches == pytest.approx(100)
        found += 1
    assert found >= (0 if column.dtype.is_temporal() else 1)


def test_times_of_targets_are_read_in_the_unit_of_the_file() -> None:
    days = [dt.datetime(2020, 1, 1) + dt.timedelta(days=i) for i in range(100)]
    data = pl.DataFrame({"x": days, "y": np.arange(100) % 7})
    release = cf.Plan([cf.Swap("y", rate=0.2)]).protect(data, seed=1)
    for dtype in (pl.Date, pl.Datetime("ms"), pl.Datetime("ns")):
        other = data.select(pl.col("x").cast(dtype))
        assert expected(release, targets=other, truth=list(range(100))) == pytest.approx(100)


def test_a_release_from_elsewhere_is_read_in_the_types_of_the_original() -> None:
    original = pl.DataFrame({"x": [Decimal(i) / 10 for i in range(100)], "d": [dt.date(2020, 1, 1)] * 100})
    released = original.with_columns(pl.col("x").cast(pl.Float64), pl.col("d").cast(pl.Datetime("ms")))
    for kind in ("categorical", "numeric"):
        plan = cf.Plan([cf.Sample(1.0)], **{kind: ["x"]})
        release = cf.Release.adopt(original.select("x"), released.select("x"), plan, link=range(100))
        assert expected(release) == pytest.approx(100)
    naive = cf.Intruder(knows=["d", "x"], available="naive")
    attack = naive.attack(cf.Release.adopt(original, released, None, link=range(100)))
    assert attack.summary().expected_matches == pytest.approx(100)


def test_one_changed_digit_of_a_long_number_is_seen() -> None:
    original = pl.DataFrame({"x": LARGE})
    released = pl.DataFrame({"x": [LARGE[0] + 1, *LARGE[1:]]})
    with pytest.raises(InputError, match="1 of 100 released values differ"):
        cf.Release.adopt(original, released, cf.Plan([cf.Sample(1.0)]), link=range(100))
    cf.Release.adopt(original, original, cf.Plan([cf.Sample(1.0)]), link=range(100))


def test_a_swap_of_long_numbers_is_reasoned_about_by_value() -> None:
    large = pl.DataFrame({"x": LARGE})
    small = pl.DataFrame({"x": [f"c{i:03}" for i in range(100)]})
    plan = cf.Plan([cf.Swap("x", rate=0.4)])
    assert expected(plan.protect(large, seed=1)) == pytest.approx(expected(plan.protect(small, seed=1)))


def test_intervals_of_times_are_read_in_the_unit_of_the_file() -> None:
    days = [dt.datetime(2020, 1, 1) + dt.timedelta(days=i) for i in range(100)]
    data = pl.DataFrame({"x": days, "y": np.arange(100) % 7})
    release = cf.Plan([cf.Swap("y", rate=0.2)]).protect(data, seed=1)
    intruder = cf.Intruder(between={"x": ("low", "high")})
    ends = pl.DataFrame({"low": [d.date() for d in days], "high": [d.date() for d in days]})
    found = intruder.attack(release, targets=ends, truth=list(range(100)))
    assert found.summary().expected_matches == pytest.approx(100)
    with pytest.raises(InputError, match="cannot be compared exactly"):
        intruder.attack(release, targets=ends.cast(pl.Datetime("us", "UTC")))
