"""The door: what comes in equals what was given, whatever it was given as, and nothing given is changed."""

from __future__ import annotations

import datetime as dt
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from confide.core.errors import InputError
from confide.frames import Schema, VariableSchema, attach, give_back, schema, to_polars

COLUMNS: dict[str, list[Any]] = {
    "n": [1, 2, 3],
    "x": [0.5, None, 2.0],
    "s": ["a", None, ""],
    "b": [True, False, True],
}


def as_polars() -> pl.DataFrame:
    return pl.DataFrame(COLUMNS)


GIVEN: dict[str, Any] = {
    "polars": as_polars,
    "lazy": lambda: as_polars().lazy(),
    "pandas": lambda: pd.DataFrame(COLUMNS, index=["p", "q", "r"]),
    "arrow": lambda: pa.table(COLUMNS),
    "dict": lambda: dict(COLUMNS),
}


@pytest.mark.parametrize("kind", list(GIVEN))
def test_every_kind_of_frame_comes_in_the_same(kind: str) -> None:
    assert_frame_equal(to_polars(GIVEN[kind]()), as_polars())


def test_inputs_are_not_changed() -> None:
    frame = GIVEN["pandas"]()
    before = frame.copy(deep=True)
    out = give_back(to_polars(frame).with_columns(n=pl.lit(0)), like=frame)
    out.loc[0, "x"] = 9.0
    pd.testing.assert_frame_equal(frame, before)
    array = np.array([1.0, 2.0])
    assert to_polars({"a": array}).with_columns(a=pl.col("a") + 1)["a"].to_list() == [2.0, 3.0]
    assert array.tolist() == [1.0, 2.0]


def test_what_goes_out_is_what_came_in() -> None:
    assert type(give_back(as_polars(), pd.DataFrame({"z": [1]}))) is pd.DataFrame
    assert type(give_back(as_polars(), pa.table({"z": [1]}))) is pa.Table
    assert type(give_back(as_polars(), pl.LazyFrame({"z": [1]}))) is pl.DataFrame
    assert type(give_back(as_polars(), {"z": [1]})) is pl.DataFrame


def pandas_of_many_types() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "int": [1, 2, 3],
            "small": np.array([1, 2, 3], dtype=np.int8),
            "float": [1.5, np.nan, 2.0],
            "text": ["a", None, "c"],
            "bool": [True, False, True],
            "nullable": pd.array([1, None, 3], dtype="Int64"),
            "flag": pd.array([True, None, False], dtype="boolean"),
            "ordered": pd.Categorical(["lo", None, "hi"], categories=["lo", "mid", "hi"], ordered=True),
            "when": pd.to_datetime(["2020-01-01", None, "2021-06-01 12:30"], format="ISO8601"),
            "zoned": pd.to_datetime(["2020-01-01", None, "2021-06-01"]).tz_localize("Europe/Rome"),
            "span": pd.to_timedelta(["1 day", None, "2 hours"]),
        }
    )


def test_pandas_round_trip_keeps_values_and_types() -> None:
    frame = pandas_of_many_types()
    there = to_polars(frame)
    assert there.null_count().row(0) == (0, 0, 1, 1, 0, 1, 1, 1, 1, 1, 1)
    assert there.schema["ordered"] == pl.Enum(["lo", "mid", "hi"])
    pd.testing.assert_frame_equal(give_back(there, like=frame), frame)


def test_pandas_column_types_that_need_care() -> None:
    frame = pd.DataFrame(
        {
            "seconds": np.array(["2020-01-01", "NaT"], dtype="datetime64[s]"),
            "codes": pd.Categorical([3, 1]),
            "objects": np.array([1, 2.5], dtype=object),
            "numpy": np.array([np.int64(3), None], dtype=object),
            "dates": np.array([dt.date(2020, 1, 1), None], dtype=object),
            "arrow": pd.array([1, None], dtype="int64[pyarrow]"),
            "decimal": pd.array([1.5, None], dtype="Float64"),
            "empty": np.array([None, None], dtype=object),
        }
    )
    out = to_polars(frame)
    assert out["seconds"].to_list() == [dt.datetime(2020, 1, 1), None]
    assert out["codes"].to_list() == [3, 1]
    assert out["objects"].to_list() == [1.0, 2.5]
    assert out["numpy"].to_list() == [3, None]
    assert out["dates"].to_list() == [dt.date(2020, 1, 1), None]
    assert out["arrow"].to_list() == [1, None]
    assert out["decimal"].to_list() == [1.5, None]
    assert out["empty"].null_count() == 2


def test_nan_is_null_from_pandas_and_stays_nan_in_polars() -> None:
    assert to_polars(pd.DataFrame({"x": [np.nan, 1.0]}))["x"].null_count() == 1
    assert to_polars(pl.DataFrame({"x": [float("nan"), 1.0]}))["x"].null_count() == 0


def test_polars_types_go_to_pandas() -> None:
    frame = pl.DataFrame(
        {
            "e": pl.Series(["b", None], dtype=pl.Enum(["a", "b"])),
            "c": pl.Series(["b", None], dtype=pl.Categorical),
            "d": [dt.date(2020, 1, 1), None],
            "s": pl.Series([None, None], dtype=pl.String),
        }
    )
    out = give_back(frame, like=pd.DataFrame())
    assert out["e"].cat.ordered
    assert list(out["e"].cat.categories) == ["a", "b"]
    assert not out["c"].cat.ordered
    assert out["d"].iloc[0] == pd.Timestamp("2020-01-01")
    assert out.isna().sum().tolist() == [1, 1, 1, 2]


@given(st.lists(st.one_of(st.none(), st.floats(allow_nan=False), st.integers(-(2**40), 2**40)), min_size=1))
def test_any_list_of_numbers_survives_pandas(values: list[float | None]) -> None:
    frame = pl.DataFrame({"x": pl.Series(values, dtype=pl.Float64, strict=False)})
    assert_frame_equal(to_polars(give_back(frame, like=pd.DataFrame())), frame)


def test_a_schema_goes_through_the_door_both_ways() -> None:
    labels = Schema({"n": VariableSchema("n", label="Number", missing=(9, (-5.0, -1.0)))})
    frame = attach(GIVEN["pandas"](), labels)
    there = to_polars(frame)
    assert schema(there) == labels
    assert schema(give_back(there, like=frame)) == labels


@pytest.mark.parametrize(
    ("frame", "sentence"),
    [
        (3, "people must be a polars DataFrame or LazyFrame, a pandas DataFrame, .* not int"),
        (pl.Series([1]), "not Series"),
        ("SECRET.csv", r"A file is read first: people = cf.read\(\"file.csv\"\)"),
        (Path("SECRET.csv"), r"A file is read first: people = cf.read\(\"file.csv\"\)"),
        (pl.DataFrame(), "people has no columns"),
        (pd.DataFrame(), "people has no columns"),
        (pd.DataFrame([[1, 2, 3]], columns=["a", "b", "a"]), 'more than one column named "a"'),
        (pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"]), 'column named "a"'),
        (pd.DataFrame([[1, 2]], columns=["a", 7]), "1 of 2 column names that are not text .* named by int"),
        ({1: [2]}, "column names that are not text"),
        ({"a": [1], "b": [1, 2]}, 'one length: "a" has 1, "b" has 2'),
        ({"a": "abc"}, 'column "a" must be a list or an array, not str'),
        ({"a": 5}, 'column "a" must be a list or an array, not int'),
        (pd.DataFrame({"q": np.array(["SECRET", 777], dtype=object)}), 'column "q" mixes .* int and str'),
        ({"q": ["SECRET", 777]}, 'column "q" mixes values of type int and str'),
        (pd.DataFrame({"q": np.array([True, 777], dtype=object)}), 'column "q" mixes .* bool and int'),
        ({"q": np.array(["SECRET", 777], dtype=object)}, 'column "q" mixes values of type int and str'),
        ({"q": [object()]}, 'column "q" holds values of type object'),
        (pl.DataFrame({"q": pl.Series([object()], dtype=pl.Object)}), 'column "q" holds Python objects'),
    ],
)
def test_what_cannot_come_in_is_refused_without_a_value(frame: object, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence) as caught:
        to_polars(frame, what="people")
    shown: BaseException | None = caught.value
    while shown is not None:
        assert "SECRET" not in str(shown)
        assert "777" not in str(shown)
        shown = None if shown.__suppress_context__ else shown.__context__


def test_pandas_and_pyarrow_are_not_imported_for_polars() -> None:
    code = (
        "import sys, polars as pl; from confide.frames import to_polars, give_back;"
        "f = pl.DataFrame({'a': [1]}); give_back(to_polars(f), f);"
        "sys.exit(any(m in sys.modules for m in ('pandas', 'pyarrow', 'pyreadstat')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_pandas_works_without_pyarrow() -> None:
    code = (
        "import sys; sys.modules['pyarrow'] = None\n"
        "import pandas as pd; from confide.frames import to_polars, give_back\n"
        "f = pd.DataFrame({'s': ['x', None], 'n': [1, 2], 'c': pd.Categorical(['u', 'v'])})\n"
        "pd.testing.assert_frame_equal(give_back(to_polars(f), f)[['s', 'n']], f[['s', 'n']])"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
