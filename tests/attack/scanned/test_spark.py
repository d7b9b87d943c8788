"""On Spark: sessions of all kinds, failures on the way, and sentences about what cannot be."""

from __future__ import annotations

import signal
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import confide as cf
from confide.attack.scanned import cut, spark_buckets
from confide.attack.scanned.buckets import Bucketed
from confide.core.scale.spark_batches import Workers
from confide.core.scale.spark_files import as_sentences, check_parquet
from tests.attack.scanned.test_every_engine import KEYS, SWAPS, N, made, people, same
from tests.helpers.dying import HOW, MARK, Dying, DyingLabels, interrupted_at
from tests.helpers.scanned_release import in_files
from tests.helpers.spark_sessions import driver, no_spark


@pytest.mark.slow
def test_stated_targets_and_intervals(session: Any, tmp_path: Path) -> None:
    release = cf.Plan([*SWAPS, cf.Sample(fraction=0.7)], identifiers=["id"]).protect(people(), seed=1)
    rows = np.arange(0, N, 7)
    targets = people()[rows].with_columns(low=pl.col("age") - 3, high=pl.col("age") + 3)
    intruder = cf.Intruder(knows=["sex", "race", "marital"], between={"age": ("low", "high")})
    files = in_files(release, tmp_path)
    whole = intruder.attack(release, targets, rows)
    parts = intruder.attack(files, targets, rows, out=tmp_path / "units", engine=cf.Spark(session))
    same(whole, parts, parts.units.collect())


@pytest.mark.slow
@pytest.mark.parametrize(("case", "buckets"), [("noise", 1), ("noise", 64), ("units with noise", 5)])
def test_any_number_of_buckets_and_large_blocks_cut_by_targets(
    case: str, buckets: int, session: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where workers are given a few rows at a time."""
    cuts, of = list[cut.Cut](), cut.Cut.of
    monkeypatch.setattr(cut, "PAIRS", 400.0)
    monkeypatch.setattr(cut.Cut, "of", lambda *a: cuts.append(of(*a)) or cuts[-1])  # type: ignore[func-returns-value]
    monkeypatch.setattr(spark_buckets, "Workers", partial(spark_buckets.Workers, size=90))
    intruder, release, whole = made(case)
    parts = intruder.attack(
        in_files(release, tmp_path, (200, 450)), out=tmp_path / "units", engine=cf.Spark(session, buckets=buckets)
    )
    assert cuts[0].many > buckets + 1
    same(whole, parts, parts.units.collect())
    if case == "units with noise":
        some = np.arange(0, N, 3)
        stated = intruder.attack(
            parts.release, people()[some], some, out=tmp_path / "stated", engine=cf.Spark(session, buckets=buckets)
        )
        assert cuts[1].many > buckets + 1
        same(intruder.attack(release, people()[some], some), stated, stated.units.collect())


@pytest.mark.slow
def test_a_worker_that_dies_changes_no_bit(
    session: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    intruder, release, whole = made("noise")
    files, engine = in_files(release, tmp_path, (300,)), cf.Spark(session, buckets=5)
    calm = intruder.attack(files, out=tmp_path / "calm", engine=engine)
    monkeypatch.setenv(MARK, str(tmp_path / "mark"))
    monkeypatch.setenv(HOW, "worker")
    monkeypatch.setattr(spark_buckets, "AttackBucket", Dying.made)
    found = intruder.attack(files, out=tmp_path / "units", engine=engine)
    assert (tmp_path / "mark").exists()
    same(whole, found, found.units.collect())
    assert found.units.collect().equals(calm.units.collect())


@pytest.mark.slow
def test_ctrl_c_leaves_nothing_and_the_same_command_goes_on(
    session: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While counts are on their way here, where Spark throws an error of its own that hides the interruption."""
    intruder, release, whole = made("noise")
    files, engine = in_files(release, tmp_path, (300,)), cf.Spark(session, buckets=5)
    with monkeypatch.context() as other:
        other.setenv(MARK, str(tmp_path / "mark"))
        other.setenv(HOW, "wait")
        other.setattr(spark_buckets, "Labelled", DyingLabels.made)
        thread = interrupted_at(tmp_path / "mark")
        with pytest.raises(KeyboardInterrupt):
            intruder.attack(files, out=tmp_path / "units", engine=engine)
        thread.join()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["in", "mark", "private", "released"]
    assert not [p for p in (tmp_path / "private").iterdir() if p.name.startswith(".")]
    found = intruder.attack(files, out=tmp_path / "units", engine=engine)
    same(whole, found, found.units.collect())


@pytest.mark.slow
@pytest.mark.skipif(bool(no_spark()), reason=no_spark())
def test_a_killed_driver_leaves_nothing_and_the_same_command_goes_on(
    session: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    intruder, release, whole = made("noise")
    files, mark = in_files(release, tmp_path, (300,)), tmp_path / "private" / "mark"
    process = driver("local[2,4]", tmp_path, "noise", 5, **{MARK: str(mark), HOW: "wait"})
    for _ in range(6000):
        if mark.exists() or process.poll() is not None:
            break
        time.sleep(0.1)
    assert mark.exists()
    process.send_signal(signal.SIGKILL)
    process.communicate()
    mark.unlink()
    assert not (tmp_path / "units").exists()
    assert [p for p in (tmp_path / "private").iterdir() if "unfinished" in p.name]
    for name in ("codebooks", "people"):
        monkeypatch.setattr(spark_buckets.SparkFiles, name, lambda *_: pytest.fail("it is not counted again"))
    found = intruder.attack(files, out=tmp_path / "units", engine=cf.Spark(session, buckets=5))
    same(whole, found, found.units.collect())
    assert sorted(p.name for p in tmp_path.iterdir()) == ["in", "private", "released", "units"]
    assert not list((tmp_path / "private").glob(".confide*"))
    assert not [p for p in (tmp_path / "private").iterdir() if "unfinished" in p.name]


@pytest.mark.slow
def test_buckets_where_memory_asks_for_them(
    session: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    """Distinct rows that do not fit are attacked in buckets without being asked, and results need a folder."""
    monkeypatch.setattr("confide.core.scale.spark_counting.bytes_of_row", lambda _: 2**20)
    intruder, release, whole = made("noise")
    files, engine = in_files(release, tmp_path), cf.Spark(session, memory="256MB", task_memory="256MB")
    with pytest.raises(cf.InputError, match="name a folder that the workers see"):
        intruder.attack(files, engine=engine)
    few = people().head(3)
    stated = intruder.attack(files, few, out=tmp_path / "stated", engine=engine)
    same(intruder.attack(release, few), stated, stated.units.collect())
    parts = intruder.attack(files, out=tmp_path / "units", engine=engine)
    assert isinstance(parts.files, Bucketed)
    same(whole, parts, parts.units.collect())
    assert "600 targets" in repr(parts)


@pytest.mark.slow
def test_what_goes_wrong_on_workers_is_a_sentence(
    session: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    intruder, release, _ = made("noise")
    files, engine = in_files(release, tmp_path, (300,)), cf.Spark(session, buckets=2, scratch=tmp_path / "scratch")
    monkeypatch.setenv(MARK, str(tmp_path / "mark"))
    monkeypatch.setenv(HOW, "error")
    with monkeypatch.context() as other:
        other.setattr(spark_buckets, "AttackBucket", Dying.made)
        with pytest.raises(cf.InputError, match="Spark could not finish the work") as said:
            intruder.attack(files, out=tmp_path / "units", engine=engine)
    assert "hh_income" not in str(said.value)
    with monkeypatch.context() as other:
        other.setattr("confide.core.scale.spark_batches.__version__", "0.0.1")
        with pytest.raises(cf.InputError, match=r"workers need confide 0\.0\.1"):
            intruder.attack(files, out=tmp_path / "units", engine=engine)
    files.original.files[1].unlink()
    for each in (engine, cf.Spark(session)):
        with pytest.raises(cf.InputError, match=r"part 1\.parquet is missing"):
            intruder.attack(files, out=tmp_path / "units", engine=each)
    assert not (tmp_path / "units").exists()
    assert not list((tmp_path / "scratch").iterdir())


@pytest.mark.slow
def test_buckets_where_what_workers_look_up_asks_for_them(
    session: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    """Distinct rows that the driver has room for, but no worker."""
    monkeypatch.setattr("confide.core.scale.spark_counting.LOOKED_UP", 2**20)
    intruder, release, whole = made("noise")
    parts = intruder.attack(in_files(release, tmp_path), out=tmp_path / "units", engine=cf.Spark(session))
    assert isinstance(parts.files, Bucketed)
    same(whole, parts, parts.units.collect())


@pytest.mark.slow
def test_long_tables_come_to_the_driver_through_files(session: Any, tmp_path: Path) -> None:
    """From partitions that are empty too, and not at all where there are too many; no file stays."""
    rows = session.range(0, 10, 1, 4).selectExpr("id", "cast(id as string) as s", "id / 3 as x").filter("id > 4")
    with Workers(session, tmp_path) as workers:
        found = workers.here(rows).sort("id")
        assert found["id"].to_list() == [5, 6, 7, 8, 9]
        assert found.schema == {"id": pl.Int64, "s": pl.String, "x": pl.Float64}
        assert workers.here(rows.filter("id > 20")).schema == found.schema
        assert workers.at_most(rows, 4) is None
        assert workers.at_most(rows, 5) is not None
    assert not list(tmp_path.iterdir())


class _Ended:
    sparkContext = None
    version = "4.3.0"

    def createDataFrame(self) -> None: ...


class _Context:
    _jsc = object()


class _Living(_Ended):
    sparkContext = _Context()


class _Old(_Living):
    version = "3.5.1"


class _Connected(_Living):
    __module__ = "pyspark.sql.connect.session"


@pytest.mark.parametrize(
    ("session_given", "said"),
    [
        (None, "give a session"), (_Ended(), "has ended"), (_Old(), "version 4 or later"),
        (_Connected(), "has its driver elsewhere"),
    ],
)  # fmt: skip
def test_sessions_that_cannot_serve(session_given: Any, said: str) -> None:
    with pytest.raises(cf.InputError, match=said):
        cf.Spark(session_given)


def test_a_session_that_ends_on_the_way() -> None:
    """What is thrown then is Python's, or of the connection to Java."""
    pytest.importorskip("pyspark")
    for session_given, error in ((_Ended(), AttributeError("_jsc")), (_Living(), ConnectionRefusedError())):
        with pytest.raises(cf.InputError, match="has ended on the way"), as_sentences(session_given):
            raise error
    with pytest.raises(ValueError, match="other"), as_sentences(_Living()):
        raise ValueError("other")


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ("... polars: No space left on device (os error 28) hh_income", "there is no room left on a disk"),
        ("... java.lang.RuntimeException: file:/a is not a Parquet file hh_income", "a file cannot be read"),
        ("... java.lang.OutOfMemoryError: Java heap space hh_income", "memory did not suffice"),
        ("... something else hh_income", "a worker may be out of memory or disk"),
    ],
)
def test_what_spark_tells_at_length_is_a_sentence_without_its_words(told: str, said: str) -> None:
    errors = pytest.importorskip("pyspark.errors")
    with pytest.raises(cf.InputError, match=said) as found, as_sentences(_Living()):
        raise errors.PySparkException(told)
    assert "hh_income" not in str(found.value)


def test_a_file_that_changed_since_the_scan_is_refused_before_workers_read_it(tmp_path: Path) -> None:
    """They would not see it: rows would have other numbers."""
    cf.write({"a": [1, 2, 3]}, tmp_path / "a.parquet")
    data = cf.scan(tmp_path)
    check_parquet(data)
    cf.write({"a": [1, 2]}, tmp_path / "a.parquet", overwrite=True)
    with pytest.raises(cf.InputError, match="has changed since it was scanned"):
        check_parquet(data)


def test_an_error_of_spark_after_ctrl_c_is_an_interruption() -> None:
    pytest.importorskip("pyspark")

    def waiting() -> None:
        try:
            raise KeyboardInterrupt
        finally:
            raise ConnectionRefusedError

    with pytest.raises(KeyboardInterrupt), as_sentences(_Living()):
        waiting()


def test_a_column_of_several_types_is_refused(tmp_path: Path) -> None:
    """Types that were stated settle it on one machine alone."""
    people().head(5).write_parquet(tmp_path / "a.parquet")
    people().head(5).with_columns(pl.col("age").cast(pl.String)).write_parquet(tmp_path / "b.parquet")
    data = cf.scan(tmp_path, types={"age": pl.String})
    given = {"seed": 1, "out": tmp_path / "out", "private": tmp_path / "private"}
    with pytest.raises(cf.InputError, match='"age" has several types in the files'):
        cf.Plan(SWAPS[1:], identifiers=["id"]).protect(data, engine=cf.Spark(_Living()), **given)  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", [pl.Time(), pl.Datetime("ns")])
def test_types_that_spark_does_not_read_are_refused(kind: pl.DataType, tmp_path: Path) -> None:
    pl.DataFrame({"x": pl.Series([1, 2]).cast(kind), "race": ["a", "b"]}).write_parquet(tmp_path / "a.parquet")
    given = {"seed": 1, "out": tmp_path / "out", "private": tmp_path / "private"}
    with pytest.raises(cf.InputError, match='"x" holds times of day or nanoseconds'):
        cf.Plan([]).protect(cf.scan(tmp_path), engine=cf.Spark(_Living()), **given)  # type: ignore[arg-type]


def test_options_of_spark() -> None:
    for options in ({"buckets": 0}, {"task_memory": "1MB"}, {"memory": "lots"}):
        with pytest.raises(cf.InputError, match=next(iter(options)).rpartition("_")[2]):
            cf.Spark(_Living(), **options)  # type: ignore[arg-type]


def test_files_of_other_formats_are_refused(tmp_path: Path) -> None:
    people().write_csv(tmp_path / "people.csv")
    release = cf.Plan(SWAPS, identifiers=["id"]).protect(
        cf.scan(tmp_path / "people.csv"), seed=1, out=tmp_path / "out", private=tmp_path / "private"
    )
    with pytest.raises(cf.InputError, match="Parquet files alone"):
        cf.Intruder(knows=KEYS).attack(release, engine=cf.Spark(_Living()))  # type: ignore[arg-type]
