"""SPSS, Stata and SAS: labels, user-missing codes and extended missing values."""

from __future__ import annotations

import datetime as dt
import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pyreadstat
import pytest
from polars.testing import assert_frame_equal

from confide.core.errors import InputError
from confide.frames import Schema, VariableSchema, read, schema, write

CODES = {1: "yes", 2: "no", 8: "refused", 9: "unknown"}


@pytest.fixture
def spss(tmp_path: Path) -> Path:
    """A file as SPSS users have it, written by pyreadstat itself."""
    frame = pl.DataFrame(
        {
            "vote": [1.0, 2.0, 9.0, None],
            "age": [31.0, 998.0, 55.0, 999.0],
            "income": [-7.0, 10.5, 20.0, None],
            "word": ["a", "z", "", "b"],
        }
    )
    path = tmp_path / "survey.sav"
    pyreadstat.write_sav(
        frame,
        str(path),
        file_label="The survey",
        note=["first note"],
        column_labels={"vote": "Voted?", "word": "A word"},
        variable_value_labels={
            "vote": {float(c): v for c, v in CODES.items()},
            "age": {999.0: "refused"},
            "word": {"a": "A"},
        },
        missing_ranges={
            "vote": [8.0, 9.0],
            "age": [{"lo": 997.0, "hi": 999.0}],
            "income": [{"lo": -math.inf, "hi": -1.0}],
            "word": ["z"],
        },
        variable_measure={"vote": "nominal", "age": "scale"},
        variable_format={"income": "F10.3"},
    )
    return path


def check_spss(frame: pl.DataFrame) -> None:
    assert frame["vote"].to_list() == [1, 2, 9, None]
    assert frame["age"].to_list() == [31, 998, 55, 999]
    assert frame["income"].to_list() == [-7.0, 10.5, 20.0, None]
    assert frame["word"].to_list() == ["a", "z", None, "b"]
    assert frame.dtypes == [pl.Int64, pl.Int64, pl.Float64, pl.String]
    found = schema(frame)
    vote, age, income, word = (found.variable(n) for n in frame.columns)
    assert (found.file_label, found.notes) == ("The survey", ("first note",))
    assert (vote.label, vote.value_labels, vote.missing, vote.measure) == ("Voted?", CODES, (8, 9), "nominal")
    assert (age.missing, age.value_labels, age.measure) == (((997, 999),), {999: "refused"}, "scale")
    assert (income.missing, income.format) == (((-math.inf, -1),), "F10.3")
    assert (word.missing, word.value_labels, word.label) == (("z",), {"a": "A"}, "A word")
    assert found.missing_codes("age", frame["age"]) == (998, 999)


@pytest.mark.parametrize("suffix", [".sav", ".zsav"])
def test_spss_codes_labels_and_missing_survive_twice(spss: Path, tmp_path: Path, suffix: str) -> None:
    first = read(spss)
    check_spss(first)
    second = read(write(first, tmp_path / f"again{suffix}"))
    check_spss(second)
    assert schema(second) == schema(first)


def test_zsav_is_compressed(tmp_path: Path) -> None:
    frame = pl.DataFrame({"a": [1] * 50_000})
    plain, packed = (write(frame, tmp_path / name).stat().st_size for name in ("a.sav", "a.zsav"))
    assert packed < plain / 10


def test_spss_labels_to_enums_and_back_to_the_codes(spss: Path, tmp_path: Path) -> None:
    frame = read(spss, labels=True)
    assert frame["vote"].dtype == pl.Enum(list(CODES.values()))
    assert frame["vote"].to_list() == ["yes", "no", "unknown", None]
    assert frame["age"].to_list() == [31, 998, 55, 999]
    assert frame["word"].dtype == pl.String
    check_spss(read(write(frame, tmp_path / "again.sav")))


def test_labels_that_repeat_are_left_as_codes(tmp_path: Path) -> None:
    twice = Schema({"a": VariableSchema("a", value_labels={1: "same", 2: "same"})})
    path = write({"a": [1, 2]}, tmp_path / "a.sav", schema=twice)
    assert read(path, labels=True)["a"].to_list() == [1, 2]


@pytest.mark.parametrize("suffix", [".sav", ".dta"])
def test_labels_that_no_longer_fit_are_dropped_for_that_column(tmp_path: Path, suffix: str) -> None:
    labels = Schema({n: VariableSchema(n, n.upper(), {1: "one", 9: "?"}, (9,), "nominal", "F8.0") for n in ("a", "b")})
    frame = pl.DataFrame({"a": ["1-5", "6-9"], "b": [1, 9]})
    again = read(write(frame, tmp_path / f"a{suffix}", schema=labels))
    assert_frame_equal(again.to_polars(), frame)
    assert schema(again).variable("a").value_labels == {}
    assert schema(again).variable("a").label == "A"
    assert schema(again).variable("b").value_labels == {1: "one", 9: "?"}
    assert schema(again).variable("b").missing == ((9,) if suffix == ".sav" else ())


@pytest.mark.parametrize("suffix", [".sav", ".dta"])
def test_levels_become_codes_with_labels(tmp_path: Path, suffix: str) -> None:
    frame = pl.DataFrame(
        {
            "e": pl.Series(["hi", None, "lo"], dtype=pl.Enum(["lo", "mid", "hi"])),
            "c": pl.Series(["y", "x", None], dtype=pl.Categorical),
        }
    )
    path = write(frame, tmp_path / f"a{suffix}")
    assert read(path)["e"].to_list() == [3, None, 1]
    assert schema(read(path)).variable("e").value_labels == {1: "lo", 2: "mid", 3: "hi"}
    again = read(path, labels=True)
    assert again["e"].equals(frame["e"])
    assert again["c"].to_list() == ["y", "x", None]


def test_levels_new_to_the_schema_are_numbered_afresh(tmp_path: Path) -> None:
    old = Schema({"e": VariableSchema("e", "E", {5: "lo", 6: "hi"}, (6,))})
    frame = pl.DataFrame({"e": pl.Series(["hi", "other"], dtype=pl.Enum(["lo", "hi", "other"]))})
    found = schema(read(write(frame, tmp_path / "a.sav", schema=old))).variable("e")
    assert (found.value_labels, found.missing, found.label) == ({1: "lo", 2: "hi", 3: "other"}, (), "E")


@pytest.fixture
def stata(tmp_path: Path) -> Path:
    path = tmp_path / "survey.dta"
    frame = pl.DataFrame(
        {
            "a": pl.Series([1, 2, "a", "b", None], dtype=pl.Object),
            "x": pl.Series([1.5, 2.0, "c", None, 4.0], dtype=pl.Object),
            "s": ["u", "", "v", "w", "a"],
        }
    )
    pyreadstat.write_dta(
        frame,
        str(path),
        file_label="Stata's",
        column_labels={"a": "Answer"},
        missing_user_values={"a": ["a", "b"], "x": ["c"]},
        variable_value_labels={"a": {1: "one", 2: "two", "a": "refused", "b": "not asked"}},
    )
    return path


def test_stata_extended_missing_is_null_and_named_in_the_schema(stata: Path, tmp_path: Path) -> None:
    labels = {1: "one", 2: "two", "a": "refused", "b": "not asked"}
    first = read(stata)
    second = read(write(first, tmp_path / "again.dta"))
    for frame in (first, second):
        assert frame["a"].to_list() == [1, 2, None, None, None]
        assert frame["x"].to_list() == [1.5, 2.0, None, None, 4.0]
        assert frame["s"].to_list() == ["u", None, "v", "w", "a"]
        assert frame.dtypes == [pl.Int64, pl.Float64, pl.String]
        assert schema(frame).variable("a").value_labels == labels
        assert schema(frame).variable("a").missing == ("a", "b")
        assert schema(frame).variable("a").label == "Answer"
        assert schema(frame).file_label == "Stata's"
    assert schema(first).variable("x").missing == ("c",)
    assert read(stata, labels=True)["a"].to_list() == ["one", "two", None, None, None]


def test_stata_to_spss_and_spss_to_stata(stata: Path, spss: Path, tmp_path: Path) -> None:
    there = read(write(read(stata), tmp_path / "a.sav"))
    assert there["a"].to_list() == [1, 2, None, None, None]
    assert schema(there).variable("a").value_labels == {1: "one", 2: "two"}
    back = read(write(read(spss), tmp_path / "b.dta"))
    assert back["age"].to_list() == [31, 998, 55, 999]
    assert schema(back).variable("vote").value_labels == CODES
    assert schema(back).variable("vote").missing == ()


@pytest.mark.parametrize("suffix", [".sav", ".dta"])
def test_types_that_change_on_the_way_change_as_documented(tmp_path: Path, suffix: str) -> None:
    frame = pl.DataFrame(
        {
            "flag": [True, None],
            "small": pl.Series([2_147_483_647, -1], dtype=pl.Int32),
            "nan": [float("nan"), 1.5],
            "none": [None, None],
            "when": [dt.datetime(2020, 1, 1, 12, 30), None],
            "zoned": pl.Series([dt.datetime(2020, 1, 1), None]).dt.replace_time_zone("Europe/Rome"),
            "clock": [dt.time(1, 2, 3), None],
            "exact": [2**53, None],
        }
    )
    again = read(write(frame, tmp_path / f"a{suffix}"))
    assert again["flag"].to_list() == [1, None]
    assert again["small"].to_list() == [2_147_483_647, -1]
    assert again["nan"].to_list() == [None, 1.5]
    assert again["none"].to_list() == [None, None]
    assert again["when"].to_list() == [dt.datetime(2020, 1, 1, 12, 30), None]
    assert again["zoned"].to_list() == [dt.datetime(2020, 1, 1), None]
    assert again["clock"].to_list() == [dt.time(1, 2, 3), None]
    assert again["exact"].to_list() == [2**53, None]


@pytest.mark.parametrize("suffix", [".sav", ".dta"])
def test_a_frame_without_records(tmp_path: Path, suffix: str) -> None:
    frame = pl.DataFrame(schema={"x": pl.Float64, "s": pl.String})
    assert_frame_equal(read(write(frame, tmp_path / f"a{suffix}")), frame)


@pytest.mark.parametrize(
    ("frame", "suffix", "sentence"),
    [
        ({"a b": [1]}, ".sav", 'SPSS cannot hold a column named "a b"'),
        ({"_a": [1]}, ".sav", 'SPSS cannot hold a column named "_a"'),
        ({"x" * 33: [1]}, ".dta", "at most 32 characters"),
        ({"1a": [1]}, ".dta", 'Stata cannot hold a column named "1a"'),
        ({"Age": [1], "age": [1]}, ".sav", 'takes "Age" and "age" for the same name'),
        ({"l": [[1]]}, ".sav", r'SPSS cannot hold column "l" of type List'),
        ({"t": [dt.timedelta(1)]}, ".dta", 'Stata cannot hold column "t" of type Duration'),
        ({"n": [2**53 + 1]}, ".sav", r'beyond 2\^53 in column "n"'),
        ({"n": [-(2**53) - 1]}, ".dta", r'beyond 2\^53 in column "n"'),
        ({"x": [math.inf]}, ".dta", 'infinite numbers in column "x"'),
    ],
)
def test_what_the_format_cannot_hold(tmp_path: Path, frame: dict[str, list[Any]], suffix: str, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        write(frame, tmp_path / f"a{suffix}")
    assert list(tmp_path.iterdir()) == []


def test_every_problem_is_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r'(?s)"a b".*"x"'):
        write({"a b": [1], "x": [math.inf]}, tmp_path / "a.sav")


@pytest.mark.parametrize("missing", [(1, 2, 3, 4), ((1, 2), (5, 6)), ((1, 2), 5, 6)])
def test_more_missing_codes_than_spss_holds(tmp_path: Path, missing: tuple[Any, ...]) -> None:
    many = Schema({"a": VariableSchema("a", missing=missing)})
    with pytest.raises(InputError, match='at most three missing codes, or one range and one code; "a" has'):
        write({"a": [1]}, tmp_path / "a.sav", schema=many)
    assert write({"a": [1]}, tmp_path / "a.dta", schema=many).exists()


def test_a_writer_that_fails_tells_no_value(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise ValueError("31415 is no good")

    monkeypatch.setattr(pyreadstat, "write_sav", fail)
    with pytest.raises(InputError, match=r"could not be written for SPSS: .*\(ValueError\)") as caught:
        write({"a": [31415]}, tmp_path / "a.sav")
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


def test_sas_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No tool here writes sas7bdat, so pyreadstat's answer stands in for a file."""
    meta = SimpleNamespace(
        column_names=["id", "pay"],
        column_names_to_labels={"id": "Record", "pay": None},
        readstat_variable_types={"id": "double", "pay": "double"},
        original_variable_types={"id": "BEST", "pay": "DOLLAR"},
        variable_value_labels={},
        variable_measure={"id": "unknown"},
        missing_ranges={},
        missing_user_values={"pay": ["R"]},
        notes=[],
        file_label="",
    )
    asked: dict[str, Any] = {}

    def answer(path: str, **options: Any) -> tuple[pl.DataFrame, SimpleNamespace]:
        asked.update(options, path=path)
        pay = pl.Series([10.25, "R"], dtype=pl.Object)
        return pl.DataFrame({"id": [1.0, 2.0], "pay": pay}), meta

    monkeypatch.setattr(pyreadstat, "read_sas7bdat", answer)
    path = tmp_path / "a.sas7bdat"
    path.write_bytes(b"x")
    frame = read(path)
    assert asked["user_missing"] is True
    assert frame["id"].to_list() == [1, 2]
    assert frame["pay"].to_list() == [10.25, None]
    assert schema(frame).variable("id").label == "Record"
    assert schema(frame).variable("pay").missing == ("R",)
