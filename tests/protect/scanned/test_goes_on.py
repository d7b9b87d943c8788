"""What a killed process finished of a release is used by the same command, and removed by any other."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import confide as cf
from confide.protect.scanned import writing
from confide.protect.scanned.passes import Look, Stage
from confide.protect.scanned.sizes import Sizes
from confide.protect.scanned.survey import Surveying
from tests.helpers.scanned import in_files, people

SIZES = (300, 600, 700, 5)
"""Rows of a batch, of a run and of a public file, and ranges."""
KILLED = """
import os
import confide as cf
from confide.core.scale.remembered import Remembered
from confide.protect.scanned import keeping, publish, spill, survey, writing
from confide.protect.scanned.sizes import Sizes
Sizes.of = classmethod(lambda cls, *_: cls(*{sizes}))
flush, write, put, add = spill.Spill.flush, writing.write_part, Remembered.put, survey.Surveying.add
done = []
def counted(what, work):
    def run(*given, **more):
        if what == {what!r} and len(done) == {many}:
            os.kill(os.getpid(), 9)
        done.extend([what] if what == {what!r} else [])
        return work(*given, **more)
    return run
spill.Spill.flush, writing.write_part = counted("runs", flush), counted("parts", write)
survey.Surveying.add, Remembered.put = counted("survey", add), counted("kept", put)
keeping.settle_folder = publish.settle_folder = counted("published", publish.settle_folder)
cf.Plan([cf.Recode("age", width=10), cf.Swap("race", rate=0.3)], identifiers=["id"], unit={unit!r}).protect(
    cf.scan({data!r}), seed=1, out={out!r}, private={private!r}, scratch={scratch!r}
)
"""


def plan(rate: float = 0.3, unit: str | None = None) -> cf.Plan:
    return cf.Plan([cf.Recode("age", width=10), cf.Swap("race", rate=rate)], identifiers=["id"], unit=unit)


@pytest.fixture
def data(tmp_path: Path) -> cf.Scan:
    return in_files(people(3_000), tmp_path / "in", [1_000, 1_000])


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """How many batches are surveyed, looked at, and have steps applied to them; how many public files are written."""
    done, carry, write = {"surveyed": 0, "looked": 0, "batches": 0, "parts": 0}, Stage.carry, writing.write_part

    def counted(what: str, run: object) -> object:
        def counting(*given: object) -> object:
            done[what] += 1
            return run(*given)  # type: ignore[operator]

        return counting

    monkeypatch.setattr(Surveying, "add", counted("surveyed", Surveying.add))
    monkeypatch.setattr(Look, "at", counted("looked", Look.at))
    monkeypatch.setattr(Stage, "carry", counted("batches", carry))
    monkeypatch.setattr(writing, "write_part", counted("parts", write))
    monkeypatch.setattr(Sizes, "of", classmethod(lambda cls, *_: cls(*SIZES)))
    return done


def killed(data: cf.Scan, here: Path, what: str, many: int, unit: str | None = None) -> None:
    given = {
        "data": str(data.files[0].parent), "out": str(here / "out"), "private": str(here / "private"),
        "scratch": str(here / "scratch"), "sizes": SIZES, "what": what, "many": many, "unit": unit,
    }  # fmt: skip
    assert subprocess.run([sys.executable, "-c", KILLED.format(**given)], check=False).returncode == -9
    assert not (here / "out").exists()
    assert [p.stat().st_mode & 0o777 for p in (here / "scratch").iterdir()] == [0o700]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("what", "many"),
    [("survey", 4), ("kept", 0), ("kept", 1), ("runs", 3), ("parts", 2), ("published", 0), ("published", 1)],
)
def test_the_same_command_goes_on(
    what: str, many: int, data: cf.Scan, tmp_path: Path, work: dict[str, int]
) -> None:  # fmt: skip
    whole = plan().protect(data, seed=1, out=tmp_path / "whole", private=tmp_path / "whole private")
    before = dict(work)
    killed(data, tmp_path, what, many)
    work.update(dict.fromkeys(work, 0))
    again = plan().protect(
        data, seed=1, out=tmp_path / "out", private=tmp_path / "private", scratch=tmp_path / "scratch"
    )
    surveyed, looked = what != "survey" and (what, many) != ("kept", 0), what in ("runs", "parts", "published")
    assert work["surveyed"] == (0 if surveyed else before["surveyed"]) == (0 if surveyed else 11)
    assert work["looked"] == (0 if looked else before["looked"]) == (0 if looked else 11)
    if what == "runs":
        assert (
            0 < work["batches"] < before["batches"] - 2 * 2 * many + 1
        )  # two steps, two batches a run, of 300 or fewer
    elif what in ("parts", "published"):
        assert work["batches"] == 0
    else:
        assert work["batches"] == before["batches"]
    assert work["parts"] == before["parts"] - (many if what == "parts" else 0)
    assert again.released.collect().equals(whole.released.collect())
    assert (again.link == whole.link).all()
    for one, other in zip(again.released.files, whole.released.files, strict=True):
        assert one.read_bytes() == other.read_bytes()
    assert not list((tmp_path / "scratch").iterdir())
    assert not list(tmp_path.rglob(".confide*"))


@pytest.mark.slow
@pytest.mark.parametrize("what", ["runs", "parts"])
def test_units_keep_their_pseudonyms(what: str, data: cf.Scan, tmp_path: Path, work: dict[str, int]) -> None:
    asked = plan(unit="born")
    whole = asked.protect(data, seed=1, out=tmp_path / "whole", private=tmp_path / "whole private")
    before = dict(work)
    killed(data, tmp_path, what, 2, "born")
    work.update(dict.fromkeys(work, 0))
    places = {"out": tmp_path / "out", "private": tmp_path / "private", "scratch": tmp_path / "scratch"}
    again = asked.protect(data, seed=1, **places)
    assert work["batches"] < before["batches"]
    assert again.released.collect().equals(whole.released.collect())
    assert whole.released.collect()["born"].n_unique() > 100


@pytest.mark.slow
@pytest.mark.parametrize("other", ["plan", "seed", "data"])
def test_another_command_removes_it_and_uses_nothing(
    other: str, data: cf.Scan, tmp_path: Path, work: dict[str, int]
) -> None:
    killed(data, tmp_path, "parts", 2)
    if other == "data":
        for file in data.files:
            file.unlink()
        data = in_files(people(3_000, seed=6), tmp_path / "in", [1_000, 1_000])
    asked, seed = plan(0.2 if other == "plan" else 0.3), 2 if other == "seed" else 1
    found = asked.protect(data, seed, out=tmp_path / "out", private=tmp_path / "private", scratch=tmp_path / "scratch")
    done = dict(work)
    assert done["surveyed"] == done["looked"] == 11
    whole = asked.protect(data, seed, out=tmp_path / "whole", private=tmp_path / "whole private")
    assert {k: n - done[k] for k, n in work.items()} == done
    assert found.released.collect().equals(whole.released.collect())
    assert not list((tmp_path / "scratch").iterdir())


@pytest.mark.slow
def test_a_file_written_over_with_its_time_put_back_is_surveyed_again(
    data: cf.Scan, tmp_path: Path, work: dict[str, int]
) -> None:
    """Its digest keys the draws: what was found of other content is of no use, whatever the times say."""
    for file in data.files:
        file.unlink()
    frame = people(3_000).select("id", "sex", "race", "age", "marital")
    data = in_files(frame, tmp_path / "in", [1_000, 1_000], ".csv")
    killed(data, tmp_path, "runs", 2)
    file = data.files[2]
    content, before = file.read_bytes(), file.stat()
    with open(file, "r+b") as handle:  # in place, of the same size
        handle.write(content.replace(b"single", b"paired"))
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert (file.stat().st_size, file.stat().st_mtime_ns) == (before.st_size, before.st_mtime_ns)
    places = {"out": tmp_path / "out", "private": tmp_path / "private", "scratch": tmp_path / "scratch"}
    found = plan().protect(cf.scan(tmp_path / "in"), seed=1, **places)
    assert work["surveyed"] == work["looked"] == 11
    whole = plan().protect(cf.scan(tmp_path / "in").collect(), seed=1)
    assert found.released.collect().equals(whole.data)
    assert not list((tmp_path / "scratch").iterdir())
