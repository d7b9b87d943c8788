"""Protecting on Spark: the files that one machine writes, whatever fails on the way."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import confide as cf
from confide.core.scale import kept, spark_batches
from confide.protect.scanned import make, spark_make, spark_written
from confide.protect.scanned.spark_aside import Aside, finished_in
from confide.protect.scanned.spark_make import near_ends
from confide.protect.scanned.spark_work import Ranks
from tests.helpers.dying import HOW, MARK, DyingPart, DyingSpill
from tests.helpers.scanned import in_files, people
from tests.helpers.spark_protect import plan
from tests.helpers.spark_sessions import ROOT, no_spark, prepared

PLANS: dict[str, list[cf.extend.Mechanism]] = {
    "all at once": [
        cf.Recode("age", width=20),
        cf.Swap("region", rate=0.3),
        cf.Swap("race", rate=0.3, within="region", force="insured"),
        cf.RankSwap(["income", "score"], window=25),
        cf.Noise(["share", "height", "born"], sd=3),
        cf.Pram("marital", retention=0.8),
        cf.LocalSuppression(["sex", "age"], k=5),
    ],
    "samples": [
        cf.Sample(fraction=0.7),
        cf.RankSwap("income", window=30, exchange=True),
        cf.Noise("age", sd=30),
        cf.Recode("age", width=10),
        cf.Swap("race", rate=0.2, within="age"),
        cf.Sample(fraction=0.6),
        cf.Round("income", base=100),
        cf.Bottomcode("height", at=150),
        cf.LognormalNoise("share", sd=0.2),
    ],
    "models": [
        cf.Topcode("income", at=50_000),
        cf.QuantileRegression("income", given=["sex", "age"], quantiles=9, learn=500),
        cf.CartSynthesis("height", given=["sex"], leaf=20, draw="independent", learn=400),
        cf.NormalSynthesis("score", given=["age", "income"], learn=700),
    ],
}
"""All ways in which steps look at a file."""


def data_in(here: Path) -> cf.Scan:
    """With an empty file among others; Spark puts several into one batch, in another order."""
    return in_files(people(), here / "in", [800, 1_400, 1_400, 2_999])


def same_files(one: cf.ScannedRelease, other: cf.ScannedRelease) -> None:
    """Byte for byte, and the links."""
    assert [p.name for p in one.released.files] == [p.name for p in other.released.files]
    for a, b in zip((*one.released.files, *one.link_files), (*other.released.files, *other.link_files), strict=True):
        assert a.read_bytes() == b.read_bytes()
    assert sorted(p.name for p in one.released.files[0].parent.iterdir()) == [p.name for p in one.released.files]


@pytest.mark.slow
@pytest.mark.parametrize("name", PLANS)
def test_the_files_of_one_machine(
    name: str, session: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    """Workers are given a few rows at a time, across the ends of files."""
    monkeypatch.setattr(spark_batches, "Workers", partial(spark_batches.Workers, size=500))
    data = data_in(tmp_path)
    made = cf.Plan(PLANS[name], identifiers=["id"], drop=["seen", "insured"])
    given = {"data": data, "seed": 3, "part_rows": 700}
    here = made.protect(out=tmp_path / "here", private=tmp_path / "here private", **given)  # type: ignore[call-overload]
    engine = cf.Spark(session, scratch=tmp_path / "scratch")
    there = made.protect(out=tmp_path / "out", private=tmp_path / "private", engine=engine, **given)  # type: ignore[call-overload]
    same_files(there, here)
    assert there.details == here.details
    again = cf.ScannedRelease.load(tmp_path / "private")
    assert repr(again) == repr(here)
    assert not list((tmp_path / "scratch").iterdir())
    assert sorted(p.name for p in (tmp_path / "private").iterdir()) == sorted(
        p.name for p in (tmp_path / "here private").iterdir()
    )


@pytest.mark.slow
def test_workers_that_die_change_no_bit(session: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One dies before its rows are put aside; another when its files are written, which stay out of the public folder."""
    data = data_in(tmp_path)
    here = plan().protect(data, seed=1, out=tmp_path / "here", private=tmp_path / "here private", part_rows=700)
    monkeypatch.setenv(HOW, "worker")
    for where, name, dying in ((spark_make, "SpillBatch", DyingSpill), (spark_written, "WritePart", DyingPart)):
        out, private, mark = (tmp_path / f"{name} {what}" for what in ("out", "private", "mark"))
        monkeypatch.setenv(MARK, str(mark))
        with monkeypatch.context() as other:
            other.setattr(where, name, dying.made)
            found = plan().protect(
                data, seed=1, out=out, private=private, part_rows=700, engine=cf.Spark(session)
            )  # fmt: skip
        assert mark.exists()
        same_files(found, here)
        assert not [p for p in tmp_path.rglob(".*") if "unfinished" in p.name]


def _started(here: Path, mark: Path) -> subprocess.Popen[bytes]:
    """A driver of its own, which has made all public files and waits."""
    places = [str(here / name) for name in ("in", "out", "private")]
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.helpers.spark_protect", "local[2,4]", *places],
        env={**prepared(), MARK: str(mark), HOW: "wait"}, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
    )  # fmt: skip
    for _ in range(3000):
        made = list((here / "private").glob(".confide-kept-*/*/parts/*.parquet"))
        if (mark.exists() and len(made) == 5) or process.poll() is not None:
            break
        time.sleep(0.1)
    return process


@pytest.mark.slow
@pytest.mark.skipif(bool(no_spark()), reason=no_spark())
def test_a_killed_driver_leaves_nothing_public_and_the_same_command_goes_on(
    session: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All rows are put aside and files made: whoever put rows aside again would fail."""
    data, mark = data_in(tmp_path), tmp_path / "mark"
    out, private = tmp_path / "out", tmp_path / "private"
    process = _started(tmp_path, mark)
    assert mark.exists()
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert not out.exists()
    assert [p.stat().st_mode & 0o777 for p in private.glob(".confide-kept-*")] == [0o700]
    here = plan().protect(data, seed=1, out=tmp_path / "here", private=tmp_path / "here private", part_rows=700)
    monkeypatch.setenv(HOW, "error")
    monkeypatch.setenv(MARK, str(mark))
    monkeypatch.setattr(spark_make, "SpillBatch", DyingSpill.made)
    monkeypatch.setattr(spark_make, "SurveyBatch", lambda *_: pytest.fail("the survey is not made again"))
    monkeypatch.setattr(spark_make, "LookAtBatch", lambda *_: pytest.fail("no step looks at the file again"))
    found = plan().protect(data, seed=1, out=out, private=private, part_rows=700, engine=cf.Spark(session))
    same_files(found, here)
    assert not [p for p in tmp_path.rglob(".*") if p.name.startswith(".confide")]


@pytest.mark.slow
@pytest.mark.parametrize("stage", ["rows", "files"])
def test_what_is_finished_is_used_whichever_stage_was_cut_short(
    stage: str, session: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first batch, or public file, is finished and nobody clears up, as after a kill; all paths are relative."""
    monkeypatch.setattr(spark_batches, "Workers", partial(spark_batches.Workers, size=500))
    data_in(tmp_path)
    monkeypatch.chdir(tmp_path)
    given = {"data": cf.scan("in"), "seed": 1, "part_rows": 700}
    asked = cf.Plan(plan().parts, identifiers=["id"], unit="born")
    here = asked.protect(out="here", private="here private", **given)  # type: ignore[call-overload]
    monkeypatch.setenv(HOW, "others")
    monkeypatch.setenv(MARK, str(tmp_path / "mark"))
    where, name, dying = (
        (spark_make, "SpillBatch", DyingSpill) if stage == "rows" else (spark_written, "WritePart", DyingPart)
    )
    places = {"out": "out", "private": "private", "engine": cf.Spark(session, scratch="scratch")}
    with monkeypatch.context() as cut:
        cut.setattr(where, name, dying.made)
        cut.setattr(kept, "_remove", lambda _: None)
        with pytest.raises(cf.InputError, match="Spark could not finish the work"):
            asked.protect(**places, **given)  # type: ignore[call-overload]
    assert not Path("out").exists()
    before = [p.name for p in finished_in(next(Path("scratch").glob("*/*/aside")))]
    assert before
    assert bool(list(Path("scratch").glob("*/*/parts/*.parquet"))) == (stage == "files")
    for again in ("SurveyBatch", "LookAtBatch", "UnitsOfBatch"):
        monkeypatch.setattr(spark_make, again, lambda *_: pytest.fail("what was learnt is not learnt again"))
    asked_for: list[list[str]] = []
    taken = Aside.of
    monkeypatch.setattr(Aside, "of", lambda files: (asked_for.append([p.name for p in files]), taken(files))[1])
    found = asked.protect(**places, **given)  # type: ignore[call-overload]
    same_files(found, here)
    assert asked_for[0] == before
    assert len(asked_for) == (2 if stage == "rows" else 1)
    assert not list(Path("scratch").iterdir())


@pytest.mark.slow
def test_bad_input_is_a_sentence_and_leaves_nothing(
    session: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    data, given = data_in(tmp_path), {"seed": 1, "out": tmp_path / "out", "private": tmp_path / "private"}
    engine = cf.Spark(session, scratch=tmp_path / "scratch", task_memory="256MB")
    monkeypatch.setattr(spark_make, "bytes_of_row", lambda _: 2**20)
    with pytest.raises(cf.InputError, match="ask for smaller files"):
        plan().protect(data, engine=engine, **given)
    monkeypatch.undo()
    monkeypatch.setattr("confide.protect.scanned.sizes.LEAST", 1)
    monkeypatch.setattr(spark_make.Spark, "in_bytes", 100)
    with pytest.raises(cf.InputError, match="What steps of this plan gather"):
        plan().protect(data, engine=engine, **given)
    monkeypatch.undo()
    with pytest.raises(cf.InputError, match=r"cf\.Spark says memory and scratch"):
        plan().protect(data, engine=engine, memory="1GB", **given)
    monkeypatch.setenv(HOW, "error")
    monkeypatch.setenv(MARK, str(tmp_path / "mark"))
    monkeypatch.setattr(spark_make, "SpillBatch", DyingSpill.made)
    with pytest.raises(cf.InputError, match="Spark could not finish the work") as said:
        plan().protect(data, engine=engine, **given)
    assert "hh_income" not in str(said.value)
    data.files[1].unlink()
    with pytest.raises(cf.InputError, match=r"part-01\.parquet is missing"):
        plan().protect(data, engine=engine, **given)
    assert not (tmp_path / "out").exists()
    assert not list((tmp_path / "scratch").iterdir())
    assert not list((tmp_path / "private").iterdir())


@pytest.mark.parametrize("rows", [1, 699, 700, 701, 50_000])
@pytest.mark.parametrize("part", [1_000, 700, 7_000])
def test_ranges_hold_all_rows_of_their_files(rows: int, part: int) -> None:
    """Every file gets its rows, wherever the ends of ranges fall, and few rows are sent twice."""
    words = np.sort(np.random.default_rng(rows).integers(0, 2**64, rows, dtype=np.uint64))
    near = near_ends(rows, part)
    for edges in (near, words[:3], np.zeros(0, dtype=np.uint64)):
        place = np.searchsorted(edges, words, side="right")
        ranks = Ranks(np.bincount(place, minlength=len(edges) + 1).cumsum(), part)
        assert ranks.many == -(-rows // part)
        parts, sent = ranks.parts(), 0
        for k in range(ranks.many):
            mine = words[np.isin(place, [r for r, p in parts if p == k])]
            low, high = ranks.cut(k)
            assert (mine[low:high] == words[k * part : (k + 1) * part]).all()
            assert high <= len(mine)
            sent += len(mine)
        if edges is near and part == 7_000:
            assert sent < 1.4 * rows


def test_of_no_rows_one_empty_file_is_written(tmp_path: Path) -> None:
    """As they are put aside, with all columns."""
    data = data_in(tmp_path)
    release = plan().protect(data, seed=1, out=tmp_path / "here", private=tmp_path / "private")
    found = make.survey(plan(), data, 500, False, lambda _: None)
    public = spark_make.Public(plan(), data, found, {v: release.codebook.columns[v] for v in ("age", "race", "income")})
    nothing = public.released(spark_written.nothing_of(public))
    assert nothing.height == 0
    assert nothing.columns == release.released.columns
    assert nothing.schema["income"] == pl.Int64


@pytest.mark.slow
def test_a_value_that_does_not_fit_its_type_is_in_no_word_of_workers(session: Any, tmp_path: Path) -> None:
    """Which go to Spark's log."""
    data_in(tmp_path)
    data = cf.scan(tmp_path / "in", types={"region": pl.Int64})
    with pytest.raises(cf.InputError, match="not every value can be read in the type asked for") as said:
        plan().protect(data, seed=1, out=tmp_path / "out", private=tmp_path / "private", engine=cf.Spark(session))
    words = str(said.value.__cause__)
    assert 'Not every value of "region"' in words
    assert not any(value in words for value in ("north", "east", "south", "island"))
