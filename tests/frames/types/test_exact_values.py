"""Every value that comes in goes out as it was, or there is a sentence: any type, any extreme."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import confide as cf
from confide.core.errors import InputError
from confide.frames.columns import codes_in, decode, encode_column
from confide.frames.comparing import encode_like
from confide.frames.types.exact import exact, fits, from_floats, rounded, to_floats

WHOLE = {
    **{f"Int{b}": (-(2 ** (b - 1)), 2 ** (b - 1) - 1) for b in (8, 16, 32, 64, 128)},
    **{f"UInt{b}": (0, 2**b - 1) for b in (8, 16, 32, 64, 128)},
}
TIMES: dict[str, tuple[pl.DataType, tuple[int, int]]] = {
    "Date": (pl.Date(), (-(2**21), 2**21)),
    "Time": (pl.Time(), (0, 86_400 * 10**9 - 1)),
    **{f"Datetime {u}": (pl.Datetime(u), (-(10**15), 10**15)) for u in ("ms", "us")},  # type: ignore[arg-type]
    "Datetime ns": (pl.Datetime("ns"), (-(2**62), 2**62)),
    "Datetime zoned": (pl.Datetime("us", "Europe/Berlin"), (-(2**50), 2**50)),
    "Datetime ns zoned": (pl.Datetime("ns", "America/New_York"), (0, 2**62)),
    **{f"Duration {u}": (pl.Duration(u), (-(2**62), 2**62)) for u in ("ms", "us", "ns")},  # type: ignore[arg-type]
}


def whole(kind: str) -> st.SearchStrategy[pl.Series]:
    low, high = WHOLE[kind]
    near = st.sampled_from([x for x in (low, high, 0, 2**53, 2**53 + 1, -(2**53) - 1, 2**52 + 1) if low <= x <= high])
    values = st.lists(st.one_of(st.none(), near, st.integers(low, high)), min_size=4, max_size=12)
    return values.map(lambda v: pl.Series("x", v, dtype=getattr(pl, kind)))


def times(kind: str) -> st.SearchStrategy[pl.Series]:
    dtype, (low, high) = TIMES[kind]
    values = st.lists(st.one_of(st.none(), st.integers(low, high)), min_size=4, max_size=12)
    return values.map(lambda v: pl.Series("x", v, dtype=pl.Int64).cast(dtype))


def decimals() -> st.SearchStrategy[pl.Series]:
    def made(scale: int) -> st.SearchStrategy[pl.Series]:
        digits = st.one_of(st.integers(-(10**37), 10**37), st.integers(-(10**15), 10**15), st.integers(-9, 9))
        one = digits.map(lambda u: Decimal(u).scaleb(-scale))
        values = st.lists(st.one_of(st.none(), one), min_size=4, max_size=12)
        return values.map(lambda v: pl.Series("x", v, dtype=pl.Decimal(38, scale)))

    return st.integers(0, 37).flatmap(made)


def floats(bits: int) -> st.SearchStrategy[pl.Series]:
    one = st.floats(width=bits, allow_nan=False, allow_infinity=False)  # type: ignore[arg-type]
    values = st.lists(st.one_of(st.none(), one), min_size=4, max_size=12)
    return values.map(lambda v: pl.Series("x", v, dtype=getattr(pl, f"Float{bits}")))


def others() -> st.SearchStrategy[pl.Series]:
    text = st.lists(st.one_of(st.none(), st.text(max_size=3)), min_size=4, max_size=12)
    words = st.lists(st.one_of(st.none(), st.sampled_from(["a", "b"])), min_size=4, max_size=12)
    return st.one_of(
        st.lists(st.one_of(st.none(), st.booleans()), min_size=4, max_size=12).map(
            lambda v: pl.Series("x", v, dtype=pl.Boolean)
        ),
        text.map(lambda v: pl.Series("x", v, dtype=pl.String)),
        words.map(lambda v: pl.Series("x", v, dtype=pl.Categorical)),
        words.map(lambda v: pl.Series("x", v, dtype=pl.Enum(["b", "z", "a"]))),
        st.just(pl.Series("x", [None] * 5)),
        st.just(pl.Series("x", [b"a", None, b"\xff", b""])),
        st.just(pl.Series("x", [[1], [2, 3], None, []])),
        st.just(pl.Series("x", [{"a": 1}, {"a": None}, {"a": 2}, None])),
    )


ANY: dict[str, st.SearchStrategy[pl.Series]] = {
    **{k: whole(k) for k in WHOLE},
    **{k: times(k) for k in TIMES},
    **{f"Float{b}": floats(b) for b in (16, 32, 64)},
    "Decimal": decimals(),
    "others": others(),
}


def contents(s: pl.Series) -> list[str]:
    """The values with nothing lost, in an order of their own."""
    if s.dtype.is_temporal() or s.dtype.is_decimal():
        s = s.to_physical()
    return sorted(repr(v + 0.0 if isinstance(v, float) else v) for v in s.to_list())  # -0.0 is the number 0


@pytest.mark.slow
@pytest.mark.parametrize("kind", list(ANY))
@settings(max_examples=12, deadline=None)
@given(data=st.data())
def test_a_step_that_moves_values_keeps_them_all_or_says_why_not(kind: str, data: st.DataObject) -> None:
    s = data.draw(ANY[kind])
    frame = pl.DataFrame({"x": s, "row": range(len(s))})
    sampled = cf.Plan([cf.Sample(0.5)]).protect(frame, seed=1)
    assert sampled.link is not None
    assert sampled.frame["x"].dtype == (pl.Enum if isinstance(s.dtype, pl.Enum) else s.dtype)  # fewer categories
    assert contents(sampled.frame["x"]) == contents(s.gather(sampled.link))
    try:
        swapped = cf.Plan([cf.Swap("x", rate=0.5)]).protect(frame, seed=1)
    except InputError:
        unusable = s.dtype.is_nested() or s.dtype == pl.Binary or s.null_count() == len(s)
        assert unusable
        return
    assert swapped.frame["x"].dtype == (pl.Enum if isinstance(s.dtype, pl.Enum) else s.dtype)
    assert contents(swapped.frame["x"]) == contents(s)


@pytest.mark.parametrize("kind", [*WHOLE, *TIMES, "Decimal", "Float16", "Float32"])
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_numbers_come_back_from_float64_where_they_are_called_exact(kind: str, data: st.DataObject) -> None:
    s = data.draw(ANY[kind])
    if not exact(s):
        with pytest.raises(InputError, match="exactly"):
            encode_column(s, "numeric")
        assert encode_column(s).kind == "categorical"
        return
    column = encode_column(s, "numeric")
    back = decode(column)
    assert back.dtype == s.dtype
    assert contents(back) == contents(s)
    assert len(np.unique(column.values[~column.missing])) == s.drop_nulls().n_unique()


def test_the_edge_is_where_float64_ends() -> None:
    assert exact(pl.Series([2**53, -(2**53)]))
    assert not exact(pl.Series([2**53 + 1]))
    assert not exact(pl.Series([2**64 - 1], dtype=pl.UInt64))
    assert not exact(pl.Series([2**127], dtype=pl.UInt128))
    assert exact(pl.Series([Decimal("123456789.123456")], dtype=pl.Decimal(38, 20)))
    assert not exact(pl.Series([Decimal("1234567890.1234567")], dtype=pl.Decimal(38, 20)))


@settings(deadline=None)
@given(st.one_of(st.integers(-(2**53), 2**53), st.integers(2**52, 2**53)), st.sampled_from([1.0, 0.0]))
@example(2**52 + 1, 1.0)
def test_rounding_leaves_whole_numbers_alone(value: int, step: float) -> None:
    assert rounded(np.array([float(value)]), step).tolist() == [float(value)]


@settings(deadline=None)
@given(st.integers(-(10**12), 10**12), st.integers(0, 3))
def test_a_decimal_equals_the_float_of_the_same_digits(units: int, scale: int) -> None:
    text = str(Decimal(units).scaleb(-scale))
    values, _ = to_floats(pl.Series([Decimal(text)], dtype=pl.Decimal(38, 20)))
    assert values.tolist() == [float(text)]
    assert from_floats("x", values, pl.Decimal(38, 20)).to_list() == [Decimal(text)]


def test_the_unit_of_a_short_float_is_the_one_that_is_read() -> None:
    column = encode_column(pl.Series("x", [0.1, 0.7, 12.3] * 9, dtype=pl.Float32), "numeric")
    assert column.step == 0.1
    assert column.values[:3].tolist() == [0.1, 0.7, 12.3]
    assert encode_column(pl.Series("x", np.random.default_rng(1).normal(size=50).astype("f4")), "numeric").step == 0.0


def test_a_narrow_type_is_left_where_it_would_blur_decimals() -> None:
    assert from_floats("x", np.array([16_777_217.0]), pl.Float32()).dtype == pl.Float64
    assert from_floats("x", np.array([0.3]), pl.Float32()).dtype == pl.Float32
    assert from_floats("x", np.array([np.pi]), pl.Float32()).dtype == pl.Float32
    assert from_floats("x", np.array([1e300]), pl.Float32()).to_list() == [1e300]
    assert not fits(np.array([0.125]), pl.Decimal(9, 2))


def test_local_times_that_look_the_same_are_two_levels() -> None:
    hour = 3_600_000_000
    s = pl.Series("x", [1_761_436_800_000_000 + i * hour for i in range(3)]).cast(pl.Datetime("us"))
    s = s.dt.replace_time_zone("UTC").dt.convert_time_zone("Europe/Berlin")
    column = encode_column(s, "categorical")
    assert len(set(column.levels)) == 3
    assert decode(column).equals(s)


@pytest.mark.parametrize(
    ("mine", "theirs"),
    [
        (pl.Series("x", [1, 30], dtype=pl.Datetime("us")), pl.Series("x", [1], dtype=pl.Datetime("ns"))),
        (pl.Series("x", [2**60, 2**60 + 1]), pl.Series("x", [2.0**60])),
        (pl.Series("x", [Decimal("1." + "1" * 20)] * 2), pl.Series("x", [1.1])),
        (pl.Series("x", np.random.default_rng(1).normal(size=50)), pl.Series("x", [0.5], dtype=pl.Float32)),
        (pl.Series("x", [Decimal("1." + "1" * 20)] * 2), pl.Series("x", ["1.1"])),
        (pl.Series("x", [1.5, 2.25]), pl.Series("x", [Decimal("1." + "1" * 20)])),
        (pl.Series("x", [10**6 * i for i in range(30)]), pl.Series("x", [2**60 + 1])),
        (pl.Series("x", [dt.date(2020, 1, 1)]), pl.Series("x", [18_262])),
        (pl.Series("x", [dt.date(2020, 1, 1)]), pl.Series("x", ["2020-01-01"])),
        (pl.Series("x", [dt.datetime(2020, 1, 1)]), pl.Series("x", [1], dtype=pl.Datetime("us", "UTC"))),
    ],
)
def test_what_cannot_be_compared_exactly_is_refused(mine: pl.Series, theirs: pl.Series) -> None:
    with pytest.raises(InputError):
        encode_like(theirs, encode_column(mine))


@pytest.mark.parametrize(
    ("mine", "theirs"),
    [
        (pl.Series("x", [1, 30], dtype=pl.Datetime("us")), pl.Series("x", [1000], dtype=pl.Datetime("ns"))),
        (pl.Series("x", [dt.datetime(2020, 1, 1)]), pl.Series("x", [dt.date(2020, 1, 1)])),
        (pl.Series("x", [2**60 + 1, 2**60]), pl.Series("x", [2**60 + 1], dtype=pl.UInt64)),
        (pl.Series("x", [2**60 + 1, 2**60]), pl.Series("x", [Decimal(2**60 + 1)], dtype=pl.Decimal(38, 0))),
        (pl.Series("x", [Decimal("0.10"), Decimal("0.20")]), pl.Series("x", [0.1])),
        (pl.Series("x", [0.1, 0.2] * 30), pl.Series("x", [Decimal("0.1")])),
        (pl.Series("x", [0.1, 0.2] * 30), pl.Series("x", [0.1], dtype=pl.Float32)),
        (pl.Series("x", [0.1, 0.2] * 30, dtype=pl.Float32), pl.Series("x", [0.1])),
    ],
)
@pytest.mark.parametrize("kind", ["numeric", "categorical"])
def test_equal_values_of_other_types_are_equal(mine: pl.Series, theirs: pl.Series, kind: Any) -> None:
    if kind == "numeric" and not exact(mine):
        return
    model = encode_column(mine, kind)
    assert codes_in(encode_like(theirs, model), model)[0] == codes_in(model, model)[0]


ARROW: dict[str, Any] = {
    "string": pa.array(["a", None] * 4, pa.string()),
    "string view": pa.array(["a", None] * 4, pa.string_view()),
    "uint64": pa.array([2**64 - 1 - i for i in range(8)], pa.uint64()),
    "half": pa.array(np.arange(8).astype("f2")),
    "decimal32": pa.array([Decimal("1.5"), None] * 4, pa.decimal32(5, 2)),
    "decimal256": pa.array([Decimal("1.5"), None] * 4, pa.decimal256(60, 3)),
    "date64": pa.array([dt.date(2020, 1, 1), None] * 4, pa.date64()),
    "time32": pa.array([dt.time(1, 2), dt.time(3)] * 4, pa.time32("s")),
    "seconds": pa.array([1, None] * 4, pa.timestamp("s")),
}


@pytest.mark.parametrize("kind", list(ARROW))
def test_arrow_gets_its_own_types_back(kind: str) -> None:
    given_ = pa.table({"x": ARROW[kind], "n": list(range(8))})
    out = cf.Plan([cf.Swap("x", rate=0.5)]).protect(given_, seed=1).data
    assert out.schema == given_.schema
    assert sorted(map(repr, out["x"].to_pylist())) == sorted(map(repr, given_["x"].to_pylist()))


@pytest.mark.parametrize(
    "column",
    [
        pa.array([Decimal("1" * 50)] * 4, pa.decimal256(60, 3)),
        pa.array([(1, 2, 3)] * 4, pa.month_day_nano_interval()),
        pa.RunEndEncodedArray.from_arrays([4], [7]),
    ],
)
def test_arrow_types_that_polars_lacks_are_refused_by_name(column: Any) -> None:
    with pytest.raises(InputError, match=r'column "x" holds .* of arrow'):
        cf.Plan([cf.Sample(0.5)]).protect(pa.table({"x": column}), seed=1)


PANDAS: dict[str, Any] = {
    "Int8": pd.array([1, None, 3, 4], dtype="Int8"),
    "Int32": pd.array([1, 2, 3, 4], dtype="Int32"),
    "UInt64": pd.array([2**64 - 1, None, 3, 4], dtype="UInt64"),
    "Float32": pd.array([0.1, None, 3, 4], dtype="Float32"),
    "string": pd.array(["a", None, "b", "c"], dtype="string"),
    "sparse": pd.arrays.SparseArray([0, 0, 1, 2]),
    "decimal": pd.array([Decimal("1.50")] * 4, dtype=pd.ArrowDtype(pa.decimal128(20, 2))),
    "nanoseconds": pd.array([1, 2, 3, 4], dtype=pd.ArrowDtype(pa.timestamp("ns"))),
    "seconds": np.arange(4).astype("M8[s]"),
    "vast": pd.Series([2**100 + i for i in range(4)], dtype=object),
    "dates": pd.Series([dt.date(2020, 1, 1), None] * 2, dtype=object),
}


@pytest.mark.parametrize("kind", list(PANDAS))
def test_pandas_gets_its_own_types_back(kind: str) -> None:
    given_ = pd.DataFrame({"x": PANDAS[kind], "n": range(4)})
    release = cf.Plan([cf.Sample(1.0)]).protect(given_, seed=1)
    assert release.link is not None
    pd.testing.assert_frame_equal(release.data, given_.iloc[release.link].reset_index(drop=True))


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (np.arange(4) + 1j, "complex"),
        (pd.Series([2**60 + 1, 1.5] * 2, dtype=object), "beyond 2\\^53"),
        (pd.date_range("2020", periods=4, tz="+02:00"), "zone without a name"),
        (pd.period_range("2020-01", periods=4, freq="M"), "Period"),
        (pd.interval_range(0, 4), "Interval"),
        (pd.Series([2**200] * 4, dtype=object), "int"),
    ],
)
def test_pandas_columns_that_would_lose_something_are_refused(values: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        cf.Plan([cf.Sample(0.5)]).protect(pd.DataFrame({"x": values}), seed=1)


def test_complex_arrays_are_refused_in_a_dict_too() -> None:
    with pytest.raises(InputError, match="complex"):
        cf.Plan([cf.Sample(0.5)]).protect({"x": np.arange(4) + 1j}, seed=1)


@pytest.mark.parametrize("suffix", ["csv", "sav", "dta"])
def test_files_get_short_decimals_or_a_sentence(tmp_path: Path, suffix: str) -> None:
    short = pl.DataFrame({"x": pl.Series([0.1, 0.7], dtype=pl.Float32), "h": pl.Series([0.1, 2.5], dtype=pl.Float16)})
    cf.write(short, tmp_path / f"a.{suffix}")
    assert cf.read(tmp_path / f"a.{suffix}").rows() == [(0.1, 0.1), (0.7, 2.5)]
    with pytest.raises(InputError, match=r"cast"):
        cf.write(pl.DataFrame({"x": pl.Series([1], dtype=pl.Duration("ns"))}), tmp_path / f"b.{suffix}")


@pytest.mark.parametrize("suffix", ["sav", "dta"])
@pytest.mark.parametrize(
    "column",
    [
        pl.Series("x", [1, 2], dtype=pl.Int64).cast(pl.Time),
        pl.Series("x", [1, 2], dtype=pl.Int64).cast(pl.Datetime("ns")),
        pl.Series("x", [Decimal("1." + "1" * 20)]),
        pl.Series("x", [1_761_436_800_000_000 + i * 3_600_000_000 for i in range(2)])
        .cast(pl.Datetime("us"))
        .dt.replace_time_zone("UTC")
        .dt.convert_time_zone("Europe/Berlin"),
    ],
)
def test_statistical_files_do_not_cut_values_off(tmp_path: Path, suffix: str, column: pl.Series) -> None:
    with pytest.raises(InputError, match=r'cannot hold the .* in column "x"'):
        cf.write(pl.DataFrame([column]), tmp_path / f"a.{suffix}")
