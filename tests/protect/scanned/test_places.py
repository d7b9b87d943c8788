"""Where a release of a scan goes: nothing unfinished is ever public, scratch is removed, what is private stays apart."""

from __future__ import annotations

import json
import os
import pickle
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import confide as cf
from confide.protect.scanned import make, publish, spill
from confide.protect.scanned.passes import Passes
from tests.helpers.scanned import in_files, people

PLAN = cf.Plan([cf.Recode("age", width=10), cf.Swap("race", rate=0.3)], identifiers=["id"])


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> cf.Scan:
    return in_files(people(600), tmp_path_factory.mktemp("in"), [250])


def protect(data: cf.Scan, folder: Path, **more: object) -> cf.ScannedRelease:
    return PLAN.protect(data, **{"seed": 1, "out": folder / "out", "private": folder / "private", **more})


def left(folder: Path) -> list[str]:
    """Files and folders that are there, hidden ones too."""
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*"))


@pytest.mark.parametrize(
    ("memory", "said"),
    [("10", 'at least 200MB, not .10.: write it with its unit, as "4GB"'), (10, "at least 200MB"),
     ("900TB", "more is allowed than this machine has"), ("1 potato", "a size such as")],
)  # fmt: skip
def test_memory_that_cannot_be_meant(data: cf.Scan, tmp_path: Path, memory: str | int, said: str) -> None:
    with pytest.raises(cf.InputError, match=said):
        protect(data, tmp_path, memory=memory)
    with pytest.raises(cf.InputError, match=said.replace("200", "256")):
        cf.Local(memory=memory)
    assert not left(tmp_path)


def test_what_is_public_and_what_is_private(data: cf.Scan, tmp_path: Path) -> None:
    release = protect(data, tmp_path, part_rows=400)
    assert left(tmp_path / "out") == ["part-00000.parquet", "part-00001.parquet"]
    assert left(tmp_path / "private") == [
        "fitted.json", "fitted.npz", "links", "links/part-00000.npy", "links/part-00001.npy", "release.json",
    ]  # fmt: skip
    assert (
        oct((tmp_path / "private").stat().st_mode & 0o777) == oct((tmp_path / "out").stat().st_mode & 0o777) == "0o700"
    )
    public = release.released.collect()
    numbers = [s for s in public if s.dtype.is_integer()]
    assert not any(np.array_equal(np.sort(s.to_numpy()), np.arange(600)) for s in numbers)
    assert "id" not in public.columns
    assert not any(b"row" in p.read_bytes()[-4_000:] for p in (tmp_path / "out").iterdir())


def test_a_release_that_may_be_published_can_be_read_by_others(data: cf.Scan, tmp_path: Path) -> None:
    release = protect(data, tmp_path, seed=None)
    mask = os.umask(0)
    os.umask(mask)
    assert (tmp_path / "out").stat().st_mode & 0o777 == 0o777 & ~mask
    assert release.released.files[0].stat().st_mode & 0o777 == 0o666 & ~mask
    assert not release.refusal


def test_it_is_loaded_again(data: cf.Scan, tmp_path: Path) -> None:
    release = protect(data, tmp_path)
    again = cf.ScannedRelease.load(tmp_path / "private")
    assert repr(again) == repr(release)
    assert again.released.collect().equals(release.released.collect())
    assert again.original.collect().equals(release.original.collect())
    np.testing.assert_array_equal(again.link, release.link)
    assert again.plan == PLAN
    pieces = list(zip(again.links(70), again.released.batches(rows=70), strict=True))
    assert all(len(link) == frame.height for link, (_, frame) in pieces)
    record = json.loads((tmp_path / "private" / "release.json").read_text())
    assert record["draws"] == {"from": "draft", "seed": "1"}
    release.released.files[0].unlink()
    with pytest.raises(cf.InputError, match="is missing: the release cannot be read"):
        cf.ScannedRelease.load(tmp_path / "private")
    (tmp_path / "private" / "fitted.json").write_bytes(b"x")
    with pytest.raises(cf.InputError, match="is damaged"):
        cf.ScannedRelease.load(tmp_path / "private")
    with pytest.raises(cf.InputError, match="holds no release of a scan"):
        cf.ScannedRelease.load(tmp_path / "out")


def test_what_steps_learnt_does_not_grow_with_the_file(tmp_path: Path) -> None:
    steps = [
        cf.Recode("age", width=10), cf.Swap("race", rate=0.3, within="sex"), cf.Noise("income", relative=0.1),
        cf.Pram("region", retention=0.9), cf.LocalSuppression(["marital", "insured"], k=3),
        cf.RankSwap("height", window=5),
    ]  # fmt: skip
    plan, sizes = cf.Plan(steps, identifiers=["id"]), []
    for k in (1, 10):
        data = in_files(pl.concat([people(500)] * k), tmp_path / f"in-{k}", [])
        release = plan.protect(data, seed=1, out=tmp_path / f"out-{k}", private=tmp_path / f"private-{k}")
        sizes.append(len(pickle.dumps(release.compiled)))
    assert sizes[1] < 1.05 * sizes[0]


@pytest.mark.parametrize("at", ["learning", "spilling", "writing"])
@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError("inside")])
def test_whatever_ends_it_nothing_is_left(
    at: str, error: BaseException, data: cf.Scan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    where = {"learning": (Passes, "run"), "spilling": (spill.Spill, "flush"), "writing": (publish, "save")}
    monkeypatch.setattr(*where[at], fail)
    with pytest.raises(type(error) if isinstance(error, ValueError) else error):
        protect(data, tmp_path, scratch=tmp_path / "scratch")
    assert left(tmp_path) == ["private", "scratch"]
    monkeypatch.undo()
    assert protect(data, tmp_path).released.height == 600


def test_no_room_left_is_said(data: cf.Scan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(spill.Spill, "flush", full)
    with pytest.raises(cf.InputError, match=r"there is no room left on the disk\. Nothing unfinished"):
        protect(data, tmp_path)


def test_what_is_there_is_not_replaced_unless_asked(data: cf.Scan, tmp_path: Path) -> None:
    first = protect(data, tmp_path)
    with pytest.raises(cf.InputError, match="exists and is not overwritten"):
        protect(data, tmp_path)
    with pytest.raises(cf.InputError, match="of another release"):
        protect(data, tmp_path, out=tmp_path / "other")
    again = protect(data, tmp_path, overwrite=True, seed=2)
    assert not again.released.collect().equals(first.released.head(0))
    assert left(tmp_path)[:2] == ["out", "out/part-00000.parquet"]
    assert not [p for p in left(tmp_path) if "unfinished" in p]


@pytest.mark.parametrize("where", ["", "in"])
def test_the_original_is_never_replaced(where: str, tmp_path: Path) -> None:
    mine = in_files(people(60), tmp_path / "here" / "in", [20])
    held = [p.read_bytes() for p in mine.files]
    places = {"out": tmp_path / "here" / where, "private": tmp_path / "private", "overwrite": True}
    with pytest.raises(cf.InputError, match="holds files of the original"):
        PLAN.protect(mine, seed=1, **places)
    assert [p.read_bytes() for p in mine.files] == held


def test_nothing_but_an_earlier_release_is_replaced(data: cf.Scan, tmp_path: Path) -> None:
    protect(data, tmp_path)
    other = tmp_path / "out" / "thesis.txt"
    other.write_text("years of work")
    with pytest.raises(cf.InputError, match="holds more than an earlier release"):
        protect(data, tmp_path, overwrite=True)
    assert other.read_text() == "years of work"


def test_files_that_changed_are_not_read_as_if_they_had_not(tmp_path: Path) -> None:
    mine = in_files(people(60), tmp_path / "in", [20])
    release = protect(mine, tmp_path)
    file = release.released.files[0]
    before = file.stat()
    pl.read_parquet(file).reverse().write_parquet(file)
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns + 1))
    with pytest.raises(cf.InputError, match="has changed since the release was made"):
        cf.ScannedRelease.load(tmp_path / "private")
    with pytest.raises(cf.InputError, match="has changed since it was scanned"):
        release.released.collect()
    again = protect(mine, tmp_path, overwrite=True)
    assert cf.ScannedRelease.load(tmp_path / "private").released.collect().equals(again.released.collect())
    pl.read_parquet(mine.files[0]).reverse().write_parquet(mine.files[0])
    with pytest.raises(cf.InputError, match="has changed since it was scanned"):
        cf.Intruder(knows=["sex"]).attack(again)
    with pytest.raises(cf.InputError, match="has changed since the release was made"):
        cf.ScannedRelease.load(tmp_path / "private")


def test_of_a_vault_the_only_release_is_taken(data: cf.Scan, tmp_path: Path) -> None:
    given = {"vault": tmp_path / "vault"}
    one = PLAN.protect(data, out=tmp_path / "one", **given)
    assert cf.ScannedRelease.load(tmp_path / "vault").released.collect().equals(one.released.collect())
    PLAN.protect(data, out=tmp_path / "two", **given)
    with pytest.raises(cf.InputError, match=r"several releases of scans \(one, two\)"):
        cf.ScannedRelease.load(tmp_path / "vault")


def test_results_of_an_attack_are_not_written_among_public_files(data: cf.Scan, tmp_path: Path) -> None:
    release = protect(data, tmp_path)
    with pytest.raises(cf.InputError, match="must not lie in the public one"):
        cf.Intruder(knows=["sex"]).attack(release, out=tmp_path / "out" / "units")
    assert left(tmp_path / "out") == ["part-00000.parquet"]


def test_scratch_of_an_attack_is_not_among_public_files(data: cf.Scan, tmp_path: Path) -> None:
    release = protect(data, tmp_path)
    (tmp_path / "another name").symlink_to(tmp_path / "out")
    for scratch in (tmp_path / "out", tmp_path / "out" / "new", tmp_path / "another name"):
        with pytest.raises(cf.InputError, match="must not lie in the public folder"):
            cf.Intruder(knows=["race"]).attack(release, engine=cf.Local(scratch=scratch), progress=False)
    assert left(tmp_path / "out") == ["part-00000.parquet"]


def test_a_plan_that_needs_to_see_nothing_first(tmp_path: Path) -> None:
    mine = in_files(people(60).select("id", "region", "race"), tmp_path / "in", [20])
    plan = cf.Plan([], identifiers=["id"])
    release = plan.protect(mine, seed=1, draws="shared", out=tmp_path / "out", private=tmp_path / "private")
    assert release.released.collect().equals(plan.protect(mine.collect(), seed=1, draws="shared").data)


@pytest.mark.parametrize(
    ("more", "what"),
    [
        ({"private": "out/inside"}, "must be apart"),
        ({"scratch": "out/scratch"}, "must not lie in the public folder"),
        ({"out": "private/inside"}, "must be apart"),
        ({"private": None}, "Say where the link"),
        ({"out": "nowhere/out"}, "does not exist"),
        ({"memory": "much"}, "memory is a size"),
        ({"part_rows": 0}, "part_rows is how many"),
        ({"copies": 3}, "copies are made of files in memory"),
        ({"engine": cf.Local(), "memory": "1GB"}, "cf.Local says memory and scratch"),
        ({"engine": object()}, "engine is cf.Local"),
    ],
)
def test_bad_places_and_sizes(more: dict[str, object], what: str, data: cf.Scan, tmp_path: Path) -> None:
    paths = {k: tmp_path / v if k in ("out", "private", "scratch") and v else v for k, v in more.items()}
    with pytest.raises(cf.InputError, match=what):
        protect(data, tmp_path, **paths)
    assert not (tmp_path / "out").exists()


def test_an_engine_says_memory_and_scratch(data: cf.Scan, tmp_path: Path) -> None:
    first = protect(data, tmp_path)
    (tmp_path / "more").mkdir()
    again = protect(data, tmp_path / "more", engine=cf.Local(memory="256MB", scratch=tmp_path / "scratch"))
    assert again.released.collect().equals(first.released.collect())
    assert not list((tmp_path / "scratch").iterdir())


@pytest.mark.parametrize(
    ("step", "what"),
    [
        (cf.Microaggregate(["income", "age"], k=5), "works on the whole file at once"),
        (cf.HotDeck("income", match=["age"]), "works on the whole file at once"),
        (cf.Swap("race", rate=0.1, force=[1, 2]), "true-or-false column instead"),
        (cf.Swap("race", rate=0.1, candidates="unique", keys=["sex"], within=["region"]), "alone in the whole file"),
        (cf.QuantileRegression("income", given=["age"]), "learn=100_000"),
        (cf.Noise(["income", "score"], relative=0.1, correlation="data"), "state the correlation"),
        (cf.LocalSuppression(["sex", "race"], k=3, weight="income"), "weight and risk"),
    ],
)
def test_what_needs_the_whole_file_is_refused_before_any_pass(
    step: cf.extend.Mechanism, what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, data: cf.Scan
) -> None:
    monkeypatch.setattr(cf.Scan, "batches", lambda *_: pytest.fail("the file was read"))
    with pytest.raises(cf.InputError, match=what):
        cf.Plan([step]).protect(data, seed=1, out=tmp_path / "out", private=tmp_path / "private")


def test_missing_columns_are_refused(data: cf.Scan, tmp_path: Path) -> None:
    for plan, what in (
        (cf.Plan([cf.Swap("rase", rate=0.1)]), 'Did you mean "race"'),
        (cf.Plan([], drop=data.columns), "Nothing would be released"),
    ):
        with pytest.raises(cf.InputError, match=what):
            plan.protect(data, seed=1, out=tmp_path / "out", private=tmp_path / "private")
    empty = in_files(people(50)[:0], tmp_path / "empty", [])
    with pytest.raises(cf.InputError, match="has no rows"):
        PLAN.protect(empty, seed=1, out=tmp_path / "out", private=tmp_path / "private")
    with pytest.raises(cf.InputError, match="go with a scan"):
        PLAN.protect(people(50), seed=1, out=tmp_path / "out")


@pytest.mark.slow
def test_a_killed_run_leaves_nothing_public_and_the_same_command_goes_on(data: cf.Scan, tmp_path: Path) -> None:
    code = f"""
import time
import confide as cf
from confide.protect.scanned import publish
save = publish.save
publish.save = lambda *a: (print("there", flush=True), time.sleep(60), save(*a))
cf.Plan([cf.Swap("race", rate=0.3)]).protect(
    cf.scan({str(data.files[0].parent)!r}), seed=1, out={str(tmp_path / "out")!r}, private={str(tmp_path / "private")!r}
)
"""
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == "there\n"
        assert [p for p in left(tmp_path) if "unfinished" in p]
        running.send_signal(signal.SIGKILL)
    assert not (tmp_path / "out").exists()
    release = cf.Plan([cf.Swap("race", rate=0.3)]).protect(
        data, seed=1, out=tmp_path / "out", private=tmp_path / "private"
    )
    assert release.released.height == 600
    assert not [p for p in left(tmp_path) if "unfinished" in p]


def test_all_that_is_private_is_for_its_owner_alone(data: cf.Scan, tmp_path: Path) -> None:
    """Links too, and the files of a draft, and those of an attack."""
    draft = protect(data, tmp_path, part_rows=400)
    cf.Intruder(knows=["race", "age"]).attack(draft, out=tmp_path / "units", progress=False)
    places = [tmp_path / name for name in ("out", "private", "units")]
    for place in (*places, *(p for folder in places for p in folder.rglob("*"))):
        assert place.stat().st_mode & 0o777 == (0o700 if place.is_dir() else 0o600), place


@pytest.mark.parametrize("other", ["public", "other public"])
def test_two_at_once_in_the_same_private_folder(
    other: str, data: cf.Scan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever is later leaves the links of what is published alone."""
    first, begun = make.publish, list[cf.ScannedRelease]()
    places = {"private": tmp_path / "private", "scratch": tmp_path / "scratch"}

    def late(*given: Any) -> cf.ScannedRelease:
        if not begun:
            begun.append(None)
            begun.append(PLAN.protect(data, seed=2, out=tmp_path / other, **places))
        return first(*given)

    monkeypatch.setattr(make, "publish", late)
    with pytest.raises(cf.InputError, match=r"exists and is not overwritten|private of another release"):
        PLAN.protect(data, seed=1, out=tmp_path / "public", **places)
    assert [p.name for p in tmp_path.iterdir() if p.name.endswith("public")] == [other]
    again = cf.ScannedRelease.load(tmp_path / "private")
    assert again.seed == 2
    assert (again.link == begun[1].link).all()
    assert not list(tmp_path.rglob(".*"))


def test_a_release_of_files_by_relative_names_is_found_from_anywhere(
    data: cf.Scan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(data.files[0].parent)
    release = protect(cf.scan("."), tmp_path)
    monkeypatch.chdir(tmp_path)
    assert cf.ScannedRelease.load("private").original.collect().equals(release.original.collect())
