"""A file's columns are encoded once, and what is derived from them is what encoding would give."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import date, datetime, time, timedelta
from decimal import Decimal

import numpy as np
import polars as pl
import pytest

import confide as cf
from confide.core.errors import InputError
from confide.frames.columns import encode_column
from confide.frames.encoded import Encoded, cut, narrow
from tests.helpers.columns import counted, same, tried

DAY = datetime(2024, 2, 29, 12)
EVERY = pl.DataFrame(
    {
        "text": ["b", "ä", None, "Z", "b", "a", "c"],
        "codes": [3, 1, None, 2, 3, 1, 9],
        "large": [2**60, 1, 2, 3, 4, 5, 6],
        "bytes": pl.Series([7, 1, 2, 3, 7, 5, 6], dtype=pl.UInt8),
        "cents": [0.25, 1.5, None, float("nan"), 2.0, 3.0, 4.75],
        "whole": [1.0, 2.0, 2.0, None, 1.0, 4.0, 0.5],
        "short": pl.Series([0.1, 0.2, None, 0.3, 0.1, 0.2, 5.5], dtype=pl.Float32),
        "money": [Decimal("1.10"), Decimal("2.20"), None, Decimal("1.10"), Decimal("0.05"), Decimal("1"), Decimal("3")],
        "truth": [True, False, None, True, True, False, True],
        "day": [date(2024, 1, i + 1) for i in range(7)],
        "moment": [DAY + timedelta(hours=i % 3) for i in range(7)],
        "clock": [time(i % 3) for i in range(7)],
        "lasting": [timedelta(seconds=i % 4) for i in range(7)],
        "enum": pl.Series(["y", "x", None, "y", "x", "x", "z"], dtype=pl.Enum(["z", "y", "x", "none"])),
        "pooled": pl.Series(["q", "p", None, "q", "r", "p", "o"], dtype=pl.Categorical),
        "empty": pl.Series([None] * 7, dtype=pl.Null),
        "far": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, float("inf")],
    }
)
ROWS = {"some": np.array([4, 1, 0]), "order": np.arange(7)[::-1], "none": np.zeros(0, dtype=np.int64),
        "gap": np.array([2, 2, 5])}  # fmt: skip


@pytest.mark.parametrize("kind", ["categorical", "numeric", None])
@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("name", EVERY.columns)
def test_rows_taken_are_what_encoding_them_gives(name, rows, kind):
    part = EVERY[ROWS[rows]]
    wanted = tried(part[name], kind)
    file = Encoded(EVERY)
    if kind and not isinstance(tried(EVERY[name], kind), str):
        file.column(name, kind)
    taken = file.taken(ROWS[rows])
    if isinstance(wanted, str):
        with pytest.raises(InputError) as e:
            taken.column(name, kind)
        assert str(e.value) == wanted
        return
    assert same(taken.column(name, kind), wanted)
    assert same(taken.column(name, kind), wanted)  # the second time from memory


def test_levels_that_are_in_no_order_are_left_to_the_series():
    column = encode_column(pl.Series("v", ["a", "b"]))
    assert cut(column, pl.Series("v", ["a", "b"])) is not None
    backwards = pl.Series("v", ["b", "a"])
    assert cut(replace(column, levels=("b", "a")), backwards) is None
    assert cut(column, backwards.cast(pl.Enum(["b", "a"]))) is None


@pytest.mark.parametrize("many", [1, 126, 127, 128, 129, 32_768, 32_769])
def test_codes_are_kept_small_and_come_back_whole(many):
    values = pl.Series("v", [f"{i:05}" for i in range(many)] + [None])
    wanted = encode_column(values)
    held = narrow(wanted)
    assert held.values.dtype == (np.int8 if many <= 128 else np.int16 if many <= 32_768 else np.int32)
    file = Encoded(values.to_frame())
    assert same(file.column("v", None), wanted)
    found = cut(held, values)
    assert found is not None
    assert np.array_equal(found.values, wanted.values)


def test_everybody_gets_the_same_arrays_and_each_is_made_once():
    file = Encoded(EVERY)
    with counted(EVERY) as many, ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: [file.column(v).values for v in ("text", "codes", "cents")], range(20)))
        file.column("text", "categorical"), file.column("cents", "numeric")
        file.like("text", encode_column(EVERY["text"][:3]))
        file.in_unit("cents", "numeric", pl.Float64())
    assert set(many.values()) == {1}
    assert len(many) == 4  # of the model above, "other" is one
    assert all(a is b for each in found for a, b in zip(each, found[0], strict=True))


@pytest.mark.parametrize("kind", ["categorical", "numeric"])
def test_sums_of_what_was_given_out_leave_the_file_as_it_is(kind):
    # Above 256 kB numpy adds in place to what looks like nobody else's: here, to the array that others were given.
    file = Encoded(pl.DataFrame({"code": np.arange(100_000) % 3}))
    before = file.column("code", kind).values.copy()
    kept = file.column("code", kind).values + 1
    assert np.array_equal(file.column("code", kind).values, before)
    assert np.array_equal(kept, before + 1)


def test_another_value_of_one_variable_leaves_the_others_as_they_are():
    file = Encoded(EVERY)
    for v in ("text", "codes"):
        file.column(v)
    file.remembered("sum", ["codes"], lambda: 19)
    file.remembered("length", ["text"], lambda: 7)
    other = file.replaced(EVERY["codes"].fill_null(8))
    with counted(EVERY) as many:
        assert other.column("codes").levels == (1, 2, 3, 8, 9)
        assert other.column("text").levels == file.column("text").levels
    assert dict(many) == {("other", "codes", "categorical"): 1}
    assert other.remembered("sum", ["codes"], lambda: 27) == 27
    assert other.remembered("length", ["text"], lambda: 0) == 7
    assert file.column("codes").levels == (1, 2, 3, 9)


def test_answer_codes_and_labels_are_those_of_the_rows_that_are_there():
    income = cf.VariableSchema("income", missing=(9, (90, 99)), value_labels={9: "refused"})
    held = cf.Schema({"income": income, "code": cf.VariableSchema("code", value_labels={1: "one", 50: "fifty"})})
    frame = pl.DataFrame({"income": [5, 9, 95, 97], "code": [1, 50, 77, 101]})
    file = Encoded(frame, held)
    assert file.column("income", "numeric").special == (9.0, 95.0, 97.0)
    assert file.taken(np.array([0, 2])).column("income", "numeric").special == (9.0, 95.0)
    assert (file.column("code").kind, file.column("code").why) == ("categorical", "value labels")
    again = pickle.loads(pickle.dumps(file))
    assert again.column("income", "numeric").special == (9.0, 95.0, 97.0)


def test_a_caller_who_changes_the_frame_changes_nothing_here():
    frame = EVERY.clone()
    file = Encoded.of(frame)
    frame[0, "codes"] = 2
    assert file.column("codes", "numeric").values[0] == 3
    assert Encoded.of(file) is file


def test_what_is_wrong_is_said_at_once():
    with pytest.raises(InputError, match=r"(?s)no column \"nobody\".*numbers are needed"):
        Encoded(EVERY).records(["nobody", "text"], {"text": "numeric"})
