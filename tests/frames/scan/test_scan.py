"""Scans: files in order, read in batches; what cannot be one file is refused in a sentence."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import confide as cf
from confide.frames.encoded import Encoded
from confide.frames.formats import csv_blocks
from confide.frames.scan.codebook import Codebook
from confide.frames.scan.tallies import Tallies
from confide.frames.schema import Schema
from tests.helpers.scanned import in_files, people

FILE = people(400)


@pytest.mark.parametrize("suffix", [".parquet", ".arrow", ".csv"])
def test_all_rows_in_order_whatever_the_batches(suffix: str, tmp_path: Path) -> None:
    frame = FILE.drop("born", "seen", "share", "height", "sex", "kind", "race", "age") if suffix == ".csv" else FILE
    data = in_files(frame, tmp_path / "in", [100, 100, 250], suffix)
    assert data.counts == (100, 0, 150, 150)
    assert data.offsets == (0, 100, 100, 250, 400)
    for rows in (7, 100, 1_000):
        found = list(data.batches(["id", "income"], rows))
        assert [first for first, _ in found] == list(np.cumsum([0, *(f.height for _, f in found)])[:-1])
        assert all(f.height <= rows for _, f in found)
        assert_frame_equal(pl.concat([f for _, f in found]), frame.select("id", "income"))
    assert_frame_equal(data.slice(95, 160, ["id"]), frame.select("id")[95:255])
    assert_frame_equal(data.part(2).head(3), data.slice(100, 3))
    assert data.part(2).offsets == (100, 250)
    assert data.slice(398, 50).height == 2
    assert_frame_equal(pickle.loads(pickle.dumps(data)).collect(), data.collect(), categorical_as_str=True)


def test_files_are_in_the_order_of_their_paths_or_of_the_list(tmp_path: Path) -> None:
    for name in ("b", "a", "c"):
        cf.write({"x": [name]}, tmp_path / f"{name}.parquet")
    assert cf.scan(tmp_path / "*.parquet").collect()["x"].to_list() == ["a", "b", "c"]
    assert cf.scan(tmp_path).collect()["x"].to_list() == ["a", "b", "c"]
    assert cf.scan([tmp_path / "c.parquet", tmp_path / "a.parquet"]).collect()["x"].to_list() == ["c", "a"]


@pytest.mark.parametrize("block", [3, 11, 10_000])
def test_csv_is_cut_where_a_record_ends(block: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_blocks, "BLOCK", block)
    texts = [
        'a,b\n1,"x\ny"\n\n2,"say ""hi"""\n\n\n',
        "a\n1\n\n2",
        "a,b\r\n1,007\r\n2,NA\r\n\r\n",
        "a,b\n,x\n1.5,2\n7,true\n",
    ]
    for k, text in enumerate(texts):
        path = tmp_path / f"{k}.csv"
        path.write_bytes(text.encode())
        assert_frame_equal(cf.scan(path).collect(), pl.DataFrame(cf.read(path)))


def test_csv_that_may_have_lost_its_end_is_cautioned_about(tmp_path: Path) -> None:
    def said(*texts: bytes) -> tuple[str, ...]:
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        folder.mkdir()
        for k, text in enumerate(texts):
            (folder / f"{k}.csv").write_bytes(text)
        data = cf.scan(folder)
        assert all(f"Caution: {one}" in repr(data) for one in data.cautions)
        assert "1234" not in repr(data)
        return data.cautions

    whole, cut = b"a,b\n1,1234\n", b"a,b\n1,1234\n2,12"
    (one,) = said(whole, cut, whole)
    assert "1.csv does not end with the end of a line, and the others do" in one
    assert said(cut) == said(cut, cut) == said(whole, whole) == said(b"a,b\r\n1,2\r\n", whole) == ()
    (one,) = said(b"a,b\n" + b"1,1234\n" * 584 + b"1,12")
    assert "its size is one at which copies break off" in one


@pytest.mark.parametrize("kept", range(8, 40))
def test_csv_cut_off_anywhere_is_refused_or_cautioned_about(kept: int, tmp_path: Path) -> None:
    whole = b'a,b,c\n1,"x\ny",3\n4,"say ""z""",61\n7,w,9\n'
    frame = pl.DataFrame({"a": [1, 4, 7], "b": ["x\ny", 'say "z"', "w"], "c": [3, 61, 9]})
    (tmp_path / "0.csv").write_bytes(whole)
    (tmp_path / "1.csv").write_bytes(whole[:kept])
    data = cf.scan(tmp_path)
    try:
        rows = data.part(1).collect().rows()
    except cf.InputError:
        return
    if data.cautions:  # the last cell may be cut; no other
        assert [r[:2] for r in rows] == frame.select("a", "b").rows()[: len(rows)]
    else:
        assert rows == frame.rows()[: len(rows)]
        assert whole[:kept].endswith(b"\n")


def test_files_in_another_order_of_columns_without_names_or_packed(tmp_path: Path) -> None:
    (tmp_path / "0.csv").write_text("a,b\n1,x\n")
    (tmp_path / "1.csv").write_text("\ufeffb,a\ny,2\n")
    assert cf.scan(tmp_path).collect().rows() == [(1, "x"), (2, "y")]
    (tmp_path / "2.csv").write_text("3,31415\n4,w\n")
    with pytest.raises(cf.InputError, match=r"2\.csv has none of the columns.*names of the columns") as told:
        cf.scan(tmp_path).collect()
    assert "31415" not in str(told.value)
    (tmp_path / "2.csv").unlink()
    (tmp_path / "3.csv.gz").write_bytes(b"\x1f\x8b")
    with pytest.raises(cf.InputError, match=r"3\.csv\.gz in .* is compressed: unpack it"):
        cf.scan(tmp_path)
    with pytest.raises(cf.InputError, match="is compressed and cannot be read in parts"):
        cf.scan(tmp_path / "3.csv.gz")


def test_an_open_quotation_mark_does_not_fill_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_blocks, "BLOCK", 50)
    monkeypatch.setattr(csv_blocks, "LONGEST", 200)
    (tmp_path / "a.csv").write_text('a,b\n1,2\n3,"4\n' + "1,2\n" * 1_000)
    with pytest.raises(cf.InputError, match=r"in line 3 or after, a record is longer than .* has no partner"):
        cf.scan(tmp_path).collect()


def test_types_of_csv_hold_for_all_files(tmp_path: Path) -> None:
    (tmp_path / "1.csv").write_text("n,code,gap\n1,12,\n2,13,\n")
    (tmp_path / "2.csv").write_text("n,code,gap\n1.5,007,5\n")
    data = cf.scan(tmp_path)
    assert "not read yet" in repr(data)
    assert data.types == {"n": pl.Float64, "code": pl.String, "gap": pl.Int64}
    assert data.collect()["code"].to_list() == ["12", "13", "007"]


def test_a_codebook_is_that_of_the_whole_file_and_adds_up(tmp_path: Path) -> None:
    data, whole = in_files(FILE, tmp_path / "in", [120, 300]), Encoded.of(FILE)
    book = Codebook.of(data, FILE.columns, rows=33)
    for v, found in book.columns.items():
        column = whole.column(v)
        assert (found.kind, found.levels, found.dtype, found.step) == (
            column.kind,
            column.levels,
            column.dtype,
            column.step,
        )
        values, count = np.unique(column.values, return_counts=True)
        np.testing.assert_array_equal(np.sort(found.values), values)
        assert sorted(book.counts[v].tolist()) == sorted(count.tolist())
        made = [book.encode(batch, first, [v])[v].values for first, batch in data.batches([v], 50)]
        np.testing.assert_array_equal(np.concatenate(made), column.values)
    parts = [Tallies(["age"]) for _ in range(2)]
    parts[0].add(FILE[:50])
    parts[1].add(FILE[50:])
    parts[0].merge(parts[1])
    again = Codebook.from_tallies(parts[0], Schema(), {}, ["age"])
    np.testing.assert_array_equal(again.counts["age"], book.counts["age"])


def test_what_cannot_be_one_file_is_said(tmp_path: Path) -> None:
    def said(what: str, *frames: pl.DataFrame, **more: object) -> None:
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        folder.mkdir()
        for k, frame in enumerate(frames):
            frame.write_parquet(folder / f"{k}.parquet")
        with pytest.raises(cf.InputError, match=what):
            cf.scan(folder, **more)

    one = pl.DataFrame({"a": [1], "b": ["x"]})
    said(r"changes its type: .*pl\.Int64", one, one.cast({"a": pl.Int32}))
    said(r"changes its type: .*pl\.Float64", one, one.cast({"a": pl.Float32}))
    said('1.parquet has no column "b", which 0.parquet has', one, one.drop("b"))
    said('1.parquet has a column "c", which 0.parquet has not', one, one.with_columns(c=1))
    said('"a" changes its type: Int64 values in 0.parquet, text in 1.parquet', one, one.cast({"a": pl.String}))
    said('"b" has other categories in 1.parquet', *(one.cast({"b": pl.Enum(c)}) for c in (["x"], ["x", "y"])))
    said('types names "z"', one, types={"z": pl.String})
    said("holds no files")


def test_a_stated_type_settles_files_that_differ(tmp_path: Path) -> None:
    pl.DataFrame({"a": [1]}).write_parquet(tmp_path / "0.parquet")
    pl.DataFrame({"a": ["2"]}).write_parquet(tmp_path / "1.parquet")
    assert cf.scan(tmp_path, types={"a": pl.String}).collect()["a"].to_list() == ["1", "2"]
    assert cf.scan(tmp_path, types={"a": pl.Int32}).collect()["a"].to_list() == [1, 2]
    pl.DataFrame({"a": ["x"]}).write_parquet(tmp_path / "2.parquet")
    with pytest.raises(cf.InputError, match=r"not every value of .a. can be read") as told:
        cf.scan(tmp_path, types={"a": pl.Int32}).collect()
    assert "x" not in str(told.value).replace("text", "").replace("0.parquet", "")


def test_a_cell_that_is_no_number_is_told_without_its_value(tmp_path: Path) -> None:
    (tmp_path / "0.csv").write_text("a,b\n1,x\n2,y\n")
    (tmp_path / "1.csv").write_text("a,b\n3,x\nsecret,y\n5,z\n")
    with pytest.raises(cf.InputError, match=r"look for text in 1.csv: a missing number is an empty cell"):
        cf.scan(tmp_path).collect()
    with pytest.raises(
        cf.InputError, match=r'"a" cannot be read as Int64 values in 1.csv: cells .* 1, the first near line 3'
    ) as told:
        cf.scan(tmp_path, types={"a": pl.Int64}).collect()
    assert "secret" not in str(told.value)
    assert cf.scan(tmp_path, types={"a": pl.String}).collect()["a"].to_list() == ["1", "2", "3", "secret", "5"]
    with pytest.raises(cf.InputError, match=r'"a" is read as a type of polars, such as pl.Int64 or pl.String, not str'):
        cf.scan(tmp_path, types={"a": "Int64"})  # type: ignore[dict-item]


def test_files_that_are_not_there_or_no_data(tmp_path: Path) -> None:
    (tmp_path / "a.parquet").touch()
    for source, what in (
        (tmp_path / "*.parquet", "a.parquet is empty"),
        (tmp_path / "b*.parquet", "no file fits that pattern"),
        (tmp_path / "b.parquet", "it does not exist"),
        ([tmp_path / "b.parquet"], "is missing: there is no such file"),
        ([], "an empty list"),
        (3, "not int"),
    ):
        with pytest.raises(cf.InputError, match=what):
            cf.scan(source)
    (tmp_path / "a.parquet").write_bytes(b"not one")
    with pytest.raises(cf.InputError, match="cannot be read as Parquet"):
        cf.scan(tmp_path)
    (tmp_path / "b.sav").write_bytes(b"x")
    with pytest.raises(cf.InputError, match="cannot be read in parts"):
        cf.scan(tmp_path / "b.sav")
    (tmp_path / "c.csv").write_text("a,b\n1,2\n3,4,5\n")
    with pytest.raises(cf.InputError, match="line 3 has 3 cells, the first line 2"):
        cf.scan(tmp_path / "c.csv").collect()


def test_a_file_that_changes_or_goes_after_the_scan_is_said(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pl.DataFrame({"a": [1, 2, 3]}).write_parquet(path)
    data = cf.scan(path)
    pl.DataFrame({"a": [1]}).write_parquet(path)
    with pytest.raises(cf.InputError, match="has changed since it was scanned"):
        data.collect()
    path.unlink()
    with pytest.raises(cf.InputError, match="is missing: it was there when the scan was made"):
        data.collect()
    with pytest.raises(cf.InputError, match='There is no column "b"'):
        list(data.batches(["b"]))


@pytest.mark.parametrize("suffix", [".parquet", ".csv"])
def test_a_file_that_goes_before_it_is_read(suffix: str, tmp_path: Path) -> None:
    data = in_files(FILE.select("id", "income"), tmp_path / "in", [100], suffix)
    assert data.height == 400
    data.files[1].unlink()
    for work in (
        data.collect,
        lambda: cf.look(data, keys=["income"]),
        lambda: cf.Study(data, {"none": cf.Plan([])}, {"n": cf.Intruder(knows=["income"])}, ["means"]).run(
            progress=False
        ),
    ):
        with pytest.raises(cf.InputError, match=r"part-01\..* is missing: it was there when the scan was made"):
            work()


def test_what_reads_a_file_at_once_says_so(tmp_path: Path) -> None:
    data = in_files(FILE, tmp_path / "in", [])
    with pytest.raises(cf.InputError, match=r"data is a scan.*data\.collect\(\)"):
        cf.synthesise(data)


@pytest.mark.parametrize("suffix", [".parquet", ".csv"])
@pytest.mark.parametrize("read", [lambda p: cf.scan(p).types, cf.read])
def test_ctrl_c_in_the_middle_of_polars_does_not_make_a_file_damaged(
    read: Callable[[Path], object], suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where polars has just called Python it panics over an interruption."""
    cf.write(FILE.select("id"), tmp_path / f"a{suffix}")

    def panics(*_: object, **__: object) -> None:
        raise pl.exceptions.PanicException("`Err` value: PyErr { type: <class 'KeyboardInterrupt'>, value: () }")

    for name in ("read_csv", "read_parquet", "scan_parquet"):
        monkeypatch.setattr(pl, name, panics)
    with pytest.raises(KeyboardInterrupt):
        read(tmp_path / f"a{suffix}")
