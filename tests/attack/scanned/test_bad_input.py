"""What cannot be attacked at scale, and what goes wrong on the way: a sentence each, nothing left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import confide as cf
from confide.attack.scanned import meeting, pattern
from confide.attack.scanned.setting import LocalFiles
from confide.core.scale.local import Local
from confide.core.scale.rows_alike import RowsAlike
from tests.attack.scanned.test_every_engine import KEYS, SWAPS, made, people, same
from tests.helpers.scanned_release import in_files


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> cf.ScannedRelease:
    release = cf.Plan(SWAPS, identifiers=["id"]).protect(people(), seed=1)
    return in_files(release, tmp_path_factory.mktemp("files"), (300,))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"memory": "lots"}, "a size such as"), ({"memory": "1MB"}, "at least 256MB"), ({"memory": -1}, "memory"),
        ({"batch": 0}, "from 1 upwards"), ({"buckets": 0}, "from 1 to 10,000"),
    ],
)  # fmt: skip
def test_options_of_local(options: dict[str, Any], said: str) -> None:
    with pytest.raises(cf.InputError, match=said):
        cf.Local(**options)


@pytest.mark.parametrize(
    ("who", "said"),
    [
        ({"knows": KEYS, "errors": {"age": -2}}, "errors"), ({"knows": KEYS, "unit": "idd"}, 'has no column "idd"'),
        ({"knows": KEYS, "unit": "sex"}, "says which rows belong together"),
        ({"knows": ["sexx"]}, "there is no column"), ({}, "knows nothing"),
        ({"knows": KEYS, "membership": cf.Unsure(total=10)}, "smaller than the 600 released"),
        ({"knows": KEYS, "membership": cf.Unsure(weights="wt")}, "not among the released"),
        ({"knows": KEYS, "membership": cf.Unsure(weights="gaps")}, "zero, negative or missing"),
        ({"knows": ["sex"], "between": {"age": ("low", "high")}}, "give the targets"),
    ],
)  # fmt: skip
def test_intruders_that_are_refused(who: dict[str, Any], said: str, tmp_path: Path) -> None:
    data = people().with_columns(gaps=pl.Series(np.arange(600) % 3.0))
    release = cf.Plan(SWAPS, identifiers=["id"]).protect(data, seed=1)
    found = in_files(release, tmp_path)
    with pytest.raises(cf.InputError, match=said):
        cf.Intruder(**who).attack(found, out=tmp_path / "units", engine=Local(scratch=tmp_path / "scratch"))
    assert not (tmp_path / "units").exists()
    assert not (tmp_path / "scratch").exists() or not list((tmp_path / "scratch").iterdir())


def test_what_is_no_engine(files: cf.ScannedRelease) -> None:
    for engine in ("local", cf.Local):
        with pytest.raises(cf.InputError, match="engine is cf"):
            cf.Intruder(knows=KEYS).attack(files, engine=engine)  # type: ignore[arg-type]


def test_a_folder_that_is_there_is_not_written_over(files: cf.ScannedRelease, tmp_path: Path) -> None:
    (tmp_path / "units").mkdir()
    (tmp_path / "units" / "mine").touch()
    with pytest.raises(cf.InputError, match="exists and is not overwritten"):
        cf.Intruder(knows=KEYS).attack(files, out=tmp_path / "units")


def test_out_and_engine_are_for_scans(tmp_path: Path) -> None:
    _, release, _ = made("recode")
    with pytest.raises(cf.InputError, match="for releases of scans"):
        cf.Intruder(knows=KEYS).attack(release, out=tmp_path / "units")  # type: ignore[call-overload]


def test_without_a_folder_there_is_no_row_per_target(files: cf.ScannedRelease) -> None:
    found = cf.Intruder(knows=KEYS).attack(files)
    assert found.summary().targets == 600
    with pytest.raises(cf.InputError, match="out="):
        found.units  # noqa: B018
    with pytest.raises(cf.InputError, match="from 0 to 599"):
        found.posterior(600)


@pytest.mark.parametrize("buckets", [None, 3])
def test_a_part_that_is_gone(buckets: int | None, tmp_path: Path) -> None:
    _, release, _ = made("recode")
    found = in_files(release, tmp_path, (300,))
    found.original.files[1].unlink()
    with pytest.raises(cf.InputError, match=r"part 1\.parquet"):
        cf.Intruder(knows=KEYS).attack(
            found, out=tmp_path / "units", engine=Local(buckets=buckets, scratch=tmp_path / "s")
        )
    assert not (tmp_path / "units").exists()
    assert not (tmp_path / "s").exists() or not list((tmp_path / "s").iterdir())


@pytest.mark.parametrize("buckets", [None, 3])
def test_a_link_that_is_gone(buckets: int | None, tmp_path: Path) -> None:
    release = in_files(cf.Plan(SWAPS, identifiers=["id"]).protect(people(), seed=1), tmp_path)
    release.link_files[0].unlink()
    with pytest.raises(cf.InputError, match=f"{release.link_files[0].name} is missing"):
        cf.Intruder(knows=KEYS).attack(release, engine=Local(buckets=buckets, scratch=tmp_path / "scratch"))
    assert not list(tmp_path.glob("scratch/*"))


def test_no_room_on_scratch(files: cf.ScannedRelease, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr("confide.core.scale.local.os.posix_fallocate", full)
    with pytest.raises(cf.InputError, match=r"no room left on the disk\. Name another with scratch="):
        cf.Intruder(knows=KEYS).attack(files, out=tmp_path / "units", engine=Local(scratch=tmp_path / "s"))
    assert not (tmp_path / "units").exists()
    assert not (tmp_path / "s").exists() or not list((tmp_path / "s").iterdir())


KILLED = """
import sys, time
import confide as cf
import confide.attack.scanned.meeting as m
work = m.attack_bucket
done = []
def slow(*a):
    if len(done) == 2:
        print("begun", flush=True)
        time.sleep(60)
    done.append(1)
    return work(*a)
m.attack_bucket = slow
found = cf.Intruder(knows={knows}).attack(cf.ScannedRelease.load("{private}"), out="{out}",
    engine=cf.Local(buckets=5, scratch="{scratch}"), progress=False)
"""


@pytest.mark.slow
def test_a_killed_process_leaves_no_folder_and_the_same_command_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    intruder, release, whole = made("recode")
    in_files(release, tmp_path)
    out, scratch = tmp_path / "units", tmp_path / "scratch"
    text = KILLED.format(knows=KEYS, private=tmp_path / "private", out=out, scratch=scratch)
    with subprocess.Popen([sys.executable, "-c", text], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline().strip() == b"begun"
        process.send_signal(signal.SIGKILL)
    assert not out.exists()
    assert [p.stat().st_mode & 0o777 for p in scratch.iterdir()] == [0o700, 0o700]
    files, work, done = cf.ScannedRelease.load(tmp_path / "private"), meeting.attack_bucket, []
    for owner, name in ((LocalFiles, "codebooks"), (LocalFiles, "people"), (pattern, "fit")):
        monkeypatch.setattr(owner, name, lambda *_: pytest.fail("what was counted and fitted is not made again"))
    monkeypatch.setattr(meeting, "attack_bucket", lambda *a: done.append(1) or work(*a))  # type: ignore[func-returns-value]
    found = intruder.attack(files, out=out, engine=Local(buckets=5, scratch=scratch))
    assert len(done) == 3
    same(whole, found, found.units.collect())
    assert not list(scratch.iterdir())
    assert sorted(p.name for p in tmp_path.iterdir()) == ["in", "private", "released", "scratch", "units"]


def test_memory_that_is_enough_is_named(
    files: cf.ScannedRelease, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    """Where distinct rows do not fit into memory: by which variables, how much would do, nothing left behind."""
    monkeypatch.setattr("confide.attack.scanned.setting.BYTES", 2**23)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    who = cf.Intruder(knows=KEYS)
    with pytest.raises(cf.InputError, match=f"rows are alike by {', '.join(KEYS[:1])}.* do not fit") as told:
        who.attack(files, engine=cf.Local(memory="256MB", scratch=scratch, buckets=3))
    enough = str(told.value).partition("--memory ")[2].partition(")")[0]
    assert not list(scratch.iterdir())
    assert who.attack(files, engine=cf.Local(memory=enough, buckets=3)).summary().targets == 600


def test_counts_of_parts_are_those_of_the_whole() -> None:
    """However a file is cut, and also where a value is in one part only."""
    data = people().select(KEYS)
    tables = []
    for size in (7, 100, 600):
        alike = RowsAlike(KEYS)
        places = np.concatenate([alike.add(data[i : i + size]) for i in range(0, 600, size)])
        assert alike.table.select(KEYS)[places.astype(np.int64)].equals(data)
        tables.append(alike.table.sort(KEYS))
    assert tables[0].equals(tables[1])
    assert tables[0].equals(tables[2])


@pytest.mark.parametrize("buckets", [None, 3])
def test_beliefs_that_do_not_fit_are_refused(
    buckets: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whose fits take so much for each row; in memory nobody has said how much may be taken."""
    monkeypatch.setattr("confide.attack.engine.fit_room.PER_CATEGORY", 2**24)
    intruder, release, _ = made("exact")
    files = in_files(release, tmp_path)
    with pytest.raises(cf.InputError, match=r'GB; 4\.0 GB are allowed\. Allow more, memory="\d+GB"'):
        intruder.attack(files, out=tmp_path / "units", engine=Local(buckets=buckets))
    assert not (tmp_path / "units").exists()
    assert intruder.attack(release).units.height == 600
