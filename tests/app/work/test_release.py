"""The file that is written is the very one that was drawn and checked; all of it appears, or nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import confide as cf
from confide.app.documents import plan_table
from confide.app.screens.release import draw_given
from confide.app.work import draw, write
from confide.app.work.verdict import ruled
from tests.app.work.conftest import Small

RULE = {"max_found": 60, "by": "entropy", "cautious": True}
NAME = "ages in tens, swap"


@pytest.fixture(scope="module")
def drawn(small: Small) -> dict[str, Any]:
    """The very file of one candidate, by its numbers."""
    state, _ = small.asked(RULE)
    return draw.run(small.work(draw_given(state, NAME)))


def given(small: Small, drawn: dict[str, Any], folder: Path, **other: Any) -> dict[str, Any]:
    """What is asked to be written."""
    _, asked = small.asked(RULE)
    usual = {
        "name": NAME, "record": drawn["record"], "sha256": drawn["sha256"], "public": str(folder / "public"),
        "private": str(folder / "private"), "file": "heads.csv", "tell": True, "decision": {"reason": "because"},
        "folder": asked["folder"], "choice": asked["choice"], "texts": {"study.toml": "x = 1\n"},
    }  # fmt: skip
    return {**usual, **other}


def again(small: Small) -> cf.Release:
    """The same plan with the same vault."""
    held = small.state.candidate(NAME)
    assert held is not None
    data = cf.read(small.project.folder / "data.parquet")
    return cf.Plan.from_dict(plan_table(small.state, held["steps"])).protect(data, vault=small.project.folder / "vault")


@pytest.fixture
def no_report(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reports are written as one word, since they take long and are tested elsewhere."""
    monkeypatch.setattr(write, "_report", lambda _, path, **__: path.write_text("report"))


def test_numbers_of_the_very_file_are_those_of_check(small: Small, drawn: dict[str, Any]) -> None:
    state, asked = small.asked(RULE)
    result = ruled(small.project.folder / asked["folder"], asked["choice"])
    checked = result.check(again(small), NAME)
    assert drawn["broken"] == list(checked.broken)
    for row in checked.frame.iter_rows(named=True):
        held = (
            drawn["kept"][row["measure"]] if row["kind"] == "utility" else drawn["who"][row["intruder"]][row["measure"]]
        )
        assert held == {k: row[k] for k in ("value", "mean", "low", "high")}
    assert drawn["private"] == {"identifiers": True, "shuffled": True, "seed": True}
    assert "id" not in again(small).data.columns
    assert draw.run(small.work(draw_given(state, NAME)))["sha256"] == drawn["sha256"]


def test_what_is_written_is_what_was_drawn(small: Small, drawn: dict[str, Any], tmp_path: Path) -> None:
    found = write.run(small.work(given(small, drawn, tmp_path)))
    release = again(small)
    cf.write(release.data, tmp_path / "again.csv")
    assert (tmp_path / "public" / "heads.csv").read_bytes() == (tmp_path / "again.csv").read_bytes()
    source = cf.read(small.state.source)
    for data in (source, cf.read(small.project.folder / "data.parquet")):
        replayed = cf.replay(data, tmp_path / "private" / "record.json", vault=small.project.folder / "vault")
        assert replayed.data.equals(release.data)
        assert np.array_equal(replayed.link, release.link)
    assert found["files"][str(tmp_path / "public")] == ["heads.csv", "public-record.json", "report.html"]
    assert found["files"][str(tmp_path / "private")] == ["decision.json", "record.json", "report.html", "study.toml"]
    record = json.loads((tmp_path / "public" / "public-record.json").read_text())
    assert "private" not in record
    assert record["plan"]["steps"]
    assert json.loads((tmp_path / "private" / "decision.json").read_text())["reason"] == "because"
    assert (tmp_path / "private").stat().st_mode & 0o077 == 0
    assert not [p for p in tmp_path.iterdir() if p.name.startswith(".")]


def test_nothing_is_replaced_and_nothing_is_left_behind(small: Small, drawn: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "private").mkdir()
    (tmp_path / "private" / "old.txt").write_text("old")
    with pytest.raises(cf.InputError, match="not empty"):
        write.run(small.work(given(small, drawn, tmp_path)))
    assert [p.name for p in tmp_path.iterdir()] == ["private"]
    assert (tmp_path / "private" / "old.txt").read_text() == "old"


@pytest.mark.usefixtures("no_report")
def test_a_folder_that_cannot_appear_takes_the_other_along(
    small: Small, drawn: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rename = Path.rename

    def failing(self: Path, target: Any) -> Path:
        if Path(target).name == "public":
            raise PermissionError
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", failing)
    with pytest.raises(cf.InputError, match="Nothing was written"):
        write.run(small.work(given(small, drawn, tmp_path)))
    assert not list(tmp_path.iterdir())


def test_another_file_than_the_one_shown_is_not_written(small: Small, drawn: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(cf.InputError, match="not the one that was shown"):
        write.run(small.work(given(small, drawn, tmp_path, sha256="0" * 64)))
    assert not list(tmp_path.iterdir())


@pytest.mark.usefixtures("no_report")
def test_methods_are_not_told_where_nobody_may_tell_them(small: Small, drawn: dict[str, Any], tmp_path: Path) -> None:
    found = write.run(small.work(given(small, drawn, tmp_path, tell=False)))
    assert found["files"][str(tmp_path / "public")] == ["heads.csv", "public-record.json"]
    assert "swap" not in (tmp_path / "public" / "public-record.json").read_text()


def test_groups_that_stay_exposed_are_large_enough_to_be_named(small: Small) -> None:
    _, asked = small.asked(RULE)
    result = ruled(small.project.folder / asked["folder"], asked["choice"])
    for plan in result.plans:
        for group in draw.exposed_groups(result, plan):
            rows = result.groups.filter(
                plan=plan, variable=group["variable"], level=group["level"], intruder=group["intruder"]
            )
            assert rows["targets"].item() >= draw.FEWEST
            assert group["share"] == rows["over_threshold"].item() / rows["targets"].item()
            assert group["share"] >= draw.TIMES * group["average"]
    assert any(draw.exposed_groups(result, plan) for plan in result.plans)
