"""Files: each format there and back, and every way in which a file can be wrong."""

from __future__ import annotations

import datetime as dt
import os
from pathlib import Path

import pandas as pd
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from confide.core.errors import InputError
from confide.frames import Schema, VariableSchema, attach, read, schema, to_polars, write
from confide.frames.scan.scan import scan

FRAME = pl.DataFrame(
    {
        "n": [1, 2, None],
        "x": [0.25, None, -3.5],
        "s": ["plain", None, 'a "quoted", text'],
        "d": [dt.date(2020, 2, 29), None, dt.date(1950, 1, 1)],
    }
)
LABELS = Schema({"n": VariableSchema("n", "Number", {1: "one", 2: "two"}, (9,))}, "A file", ("note",))
SUFFIXES = [".csv", ".tsv", ".parquet", ".arrow", ".feather", ".ipc", ".sav", ".zsav", ".dta"]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_there_and_back(tmp_path: Path, suffix: str) -> None:
    path = write(FRAME, tmp_path / f"file{suffix}")
    again = read(path)
    if suffix in (".csv", ".tsv"):
        again = again.with_columns(pl.col("d").str.to_date())
    assert_frame_equal(again, FRAME)
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_columns_come_in_the_order_asked(tmp_path: Path, suffix: str) -> None:
    path = write(FRAME, tmp_path / f"file{suffix}", schema=LABELS)
    assert_frame_equal(to_polars(read(path, columns=["x", "n"])), FRAME.select("x", "n"))
    with pytest.raises(InputError, match=r'has no column "nn". Did you mean "n"'):
        read(path, columns=["nn"])


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_name_with_pattern_characters_and_an_upper_case_suffix(tmp_path: Path, suffix: str) -> None:
    path = write(FRAME.select("n", "x"), tmp_path / f"part[1]*{suffix.upper()}")
    assert_frame_equal(read(path), FRAME.select("n", "x"))


@pytest.mark.parametrize("suffix", [".parquet", ".sav", ".zsav", ".dta"])
def test_labels_stay_with_the_file(tmp_path: Path, suffix: str) -> None:
    path = write(FRAME, tmp_path / f"file{suffix}", schema=LABELS)
    found = schema(read(path))
    assert found.file_label == "A file"
    assert found.variable("n").label == "Number"
    assert found.variable("n").value_labels == {1: "one", 2: "two"}
    assert list(schema(read(path, columns=["x"])).variables) == (["x"] if suffix != ".parquet" else [])


def test_parquet_keeps_the_whole_schema_and_only_of_columns_there(tmp_path: Path) -> None:
    frame = attach(FRAME.clone(), LABELS)
    assert schema(read(write(frame, tmp_path / "a.parquet"))) == LABELS
    assert schema(read(write(frame, tmp_path / "b.parquet", schema=Schema()))) == Schema()
    other = FRAME.select("x")
    assert schema(read(write(other, tmp_path / "c.parquet", schema=LABELS))).variables == {}


def test_pandas_and_dicts_are_written_too(tmp_path: Path) -> None:
    assert read(write(pd.DataFrame({"a": [1.0, None]}), tmp_path / "a.parquet"))["a"].to_list() == [1.0, None]
    assert read(write({"a": [1]}, tmp_path / "b.csv"))["a"].to_list() == [1]


def test_enums_stay_enums_where_the_format_has_them(tmp_path: Path) -> None:
    frame = pl.DataFrame({"e": pl.Series(["b", "a"], dtype=pl.Enum(["b", "a", "c"]))})
    for suffix in (".parquet", ".arrow"):
        assert_frame_equal(read(write(frame, tmp_path / f"e{suffix}")), frame)


def csv(folder: Path, text: str | bytes, name: str = "file.csv") -> Path:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def test_csv_types_come_from_the_whole_file(tmp_path: Path) -> None:
    late = "a\n" + "1\n" * 5_000 + "2.5\n"
    assert read(csv(tmp_path, late)).schema == {"a": pl.Float64}


def test_csv_codes_stay_codes(tmp_path: Path) -> None:
    frame = read(csv(tmp_path, "area,big,zero,dec,n\n0601,123456789012345678901,0,0.5,NA\n1202,1,10,1,\n"))
    assert frame["area"].to_list() == ["0601", "1202"]
    assert frame["big"].to_list() == ["123456789012345678901", "1"]
    assert frame["zero"].to_list() == [0, 10]
    assert frame["dec"].to_list() == [0.5, 1.0]
    assert frame["n"].null_count() == 2


def test_csv_nulls_marks_and_line_ends(tmp_path: Path) -> None:
    frame = read(csv(tmp_path, '\ufeffa,b\r\nNA,x\r\n,""\r\n3,N/A\r\n\r\n\r\n'))
    assert frame.columns == ["a", "b"]
    assert frame["a"].to_list() == [None, None, 3]
    assert frame["b"].to_list() == ["x", None, "N/A"]
    assert read(tmp_path / "file.csv", columns=["a"])["a"].to_list() == [None, None, 3]


def test_csv_with_a_header_only_has_no_records(tmp_path: Path) -> None:
    assert read(csv(tmp_path, "a,b\n")).shape == (0, 2)


def test_csv_single_column_keeps_its_empty_lines(tmp_path: Path) -> None:
    frame = pl.DataFrame({"a": [1, None, None]})
    assert_frame_equal(read(write(frame, tmp_path / "a.csv")), frame)


def test_csv_empty_lines_at_the_end_are_no_records(tmp_path: Path) -> None:
    for end in ("", "\n", "\n\n", "\n\n\n\n", "\r\n", "\r\n\r\n"):
        assert read(csv(tmp_path, "a,b\n1,2\n3," + end)).rows() == [(1, 2), (3, None)]


def test_csv_nan_is_written_as_missing(tmp_path: Path) -> None:
    path = write({"a": [float("nan"), 1.5], "b": ["x", "y"]}, tmp_path / "a.csv")
    assert read(path)["a"].to_list() == [None, 1.5]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("a,b,a\n1,2,3\n", 'file.csv has more than one column named "a"'),
        ("a,b\n1,2\n31415,4,5\n", "line 3 has 3 cells, the first line 2"),
        ("a,b,c\n1,2,3\n31415,4\n5,6,7\n", r"line 3 has 2 cells, the first line 3\. .*last line.* broke off"),
        ('a,b,c\n1,"2\n\n",3\n31415,"x,y"', r"line 5 has 2 cells, the first line 3"),
        ('a,b\n1,"31415\n2,3\n', "in line 2 or after, a quotation mark has no partner"),
        ('a,b\n1,3"1415\n2,3"\n', "a quotation mark stands inside a value"),
        ('"a,b\n1,31415\n' + "2,3\n" * 50_000, "a quotation mark has no partner"),
        (b"a,b\n1,31415\n\0\0\0\0\0\0", "in line 3 or after, there are many NUL characters"),
        (b"a,b\n1,31415\xe9\n", "in line 2 or after, it is not UTF-8|not UTF-8"),
        (b"a,b\r\n1,2\r\n31415,4\r", "in line 3 or after, the file ends with half of a line's end"),
        (b"a,b\r1,31415\r", "ends its lines with CR alone"),
        ("31415,31415,x\n1,2,y\n", "file.csv has no names on its first line, it seems"),
        (b"\x1f\x8b\x08\x00rest", "file.csv is compressed: unpack it"),
        (b"\xff\xfea\x00", "file.csv is not UTF-8 text"),
        ("a;b\n1;2\n", "separated by semicolons"),
        ("", "is empty"),
    ],
)
def test_csv_refusals_hold_no_value(tmp_path: Path, text: str | bytes, sentence: str) -> None:
    path = csv(tmp_path, text)
    for reader in (read, lambda file: scan(file).types):
        with pytest.raises(InputError, match=sentence) as caught:
            reader(path)
        assert "31415" not in str(caught.value)
        assert caught.value.__cause__ is None
        assert caught.value.__suppress_context__ or caught.value.__context__ is None


@pytest.mark.parametrize("suffix", [".csv", ".tsv"])
def test_csv_names_with_quotation_marks_commas_and_lines(tmp_path: Path, suffix: str) -> None:
    cut = "," if suffix == ".csv" else "\t"
    text = cut.join(['"say ""a"""', '"x,\ny"', "c"]) + "\n" + cut.join(["007", "2", ""]) + "\n"
    path = csv(tmp_path, text, f"file{suffix}")
    rows = {'say "a"': ["007"], "x,\ny": [2], "c": [None]}
    assert read(path).to_dict(as_series=False) == scan(path).collect().to_dict(as_series=False) == rows
    assert read(path, columns=["x,\ny", 'say "a"']).rows() == [(2, "007")]


def test_a_packed_file_is_to_be_unpacked(tmp_path: Path) -> None:
    path = csv(tmp_path, b"\x1f\x8b", "file.csv.gz")
    with pytest.raises(InputError, match=r"file\.csv\.gz is compressed: unpack it"):
        read(path)


@pytest.mark.parametrize("suffix", [*SUFFIXES[2:], ".sas7bdat"])
def test_a_damaged_file_is_named_with_its_format(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"bad{suffix}"
    path.write_bytes(b"this is no such file " * 50)
    with pytest.raises(InputError, match=r"bad.* cannot be read as \w+; it may be damaged") as caught:
        read(path)
    assert caught.value.__cause__ is not None


def test_a_truncated_parquet_file_is_refused(tmp_path: Path) -> None:
    path = write(FRAME, tmp_path / "a.parquet")
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(InputError, match="cannot be read as Parquet"):
        read(path)


def test_paths_that_cannot_be_read(tmp_path: Path) -> None:
    write(FRAME, tmp_path / "people.csv")
    with pytest.raises(InputError, match=r'peopel.csv does not exist. Did you mean "people.csv"'):
        read(tmp_path / "peopel.csv")
    with pytest.raises(InputError, match=r"The folder .*nowhere does not exist either"):
        read(tmp_path / "nowhere" / "a.csv")
    with pytest.raises(InputError, match="is a folder; give one file"):
        read(tmp_path)
    for name, shown in (("a.xls", '".xls"'), ("plain", "no suffix")):
        (tmp_path / name).write_text("x")
        with pytest.raises(InputError, match=rf"has {shown}; the formats known are \.csv, .*\.sas7bdat, \.xlsx\."):
            read(tmp_path / name)


def test_a_file_that_may_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(FRAME, tmp_path / "a.csv")
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(InputError, match="permission denied"):
        read(path)


@pytest.mark.parametrize(
    ("columns", "sentence"),
    [("n", r'list of names, such as \["n"\]'), (["n", "n"], '"n" more than once'), ([], "empty list")],
)
def test_columns_must_be_distinct_names(tmp_path: Path, columns: list[str], sentence: str) -> None:
    path = write(FRAME, tmp_path / "a.parquet")
    with pytest.raises(InputError, match=sentence):
        read(path, columns=columns)


def test_what_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"SAS files .* can be read but not written"):
        write(FRAME, tmp_path / "a.sas7bdat")
    with pytest.raises(InputError, match="the formats known are"):
        write(FRAME, tmp_path / "a.docx")
    with pytest.raises(InputError, match=r'Column "l" \(lists'):
        write({"l": [[1], [2]]}, tmp_path / "a.csv")
    assert list(tmp_path.iterdir()) == []


def test_a_stored_schema_that_is_damaged_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    FRAME.write_parquet(path, metadata={"confide.schema": "{not json"})
    with pytest.raises(InputError, match="cannot be read as Parquet"):
        read(path)
