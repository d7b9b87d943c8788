"""Projects: numbered changes that never change, undo and redo without end, two tabs, damage and tricks."""

from __future__ import annotations

import json
import stat
import threading
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import confide as cf
from confide.app.desk import UPLOADS, held
from confide.app.project import Moved, Project, private, write
from confide.app.state import State


def made(folder: Path) -> Project:
    return Project.made(folder / "projects", "Household heads.csv", State(name="heads"), "Opened heads")


def step(project: Project, name: str) -> int:
    return project.add(project.current.state.but(name=name), f"Named {name}", "", project.head[0]).number


def test_a_change_is_a_private_file_of_its_own(tmp_path: Path) -> None:
    project = made(tmp_path)
    assert step(project, "b") == 2
    assert project.name == "household-heads-csv"
    assert json.loads((project.folder / "changes" / "0001.json").read_text())["state"]["name"] == "heads"
    for path in (project.folder, project.folder / "changes", project.folder / "work"):
        assert stat.S_IMODE(path.stat().st_mode) == 0o700
    assert stat.S_IMODE((project.folder / "changes" / "0002.json").stat().st_mode) == 0o600
    assert [c.what for c in project.history()] == ["Named b", "Opened heads"]


def test_undo_and_redo_have_no_end_and_a_branch_loses_nothing(tmp_path: Path) -> None:
    project = made(tmp_path)
    for name in "bcd":
        step(project, name)
    for _ in range(9):
        project.undo()
    assert project.current.state.name == "heads"
    for _ in range(9):
        project.redo()
    assert project.current.state.name == "d"
    project.undo()
    project.undo()
    assert step(project, "x") == 5
    assert project.head == (5, [])
    assert project.current.parent == 2
    project.go(4)
    assert project.current.state.name == "d"


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(moves=st.lists(st.sampled_from(["add", "undo", "redo"]), max_size=25))
def test_undo_then_redo_is_where_one_was(tmp_path: Path, moves: list[str]) -> None:
    project = made(tmp_path)
    trail, ahead = [1], list[int]()
    for k, move in enumerate(moves):
        if move == "add":
            trail.append(step(project, f"n{k}"))
            ahead = []
        elif move == "undo" and len(trail) > 1:
            ahead.append(trail.pop())
            project.undo()
        elif move == "redo" and ahead:
            trail.append(ahead.pop())
            project.redo()
        assert project.head == (trail[-1], ahead)


def test_a_page_that_was_made_before_another_change_is_refused(tmp_path: Path) -> None:
    project = made(tmp_path)
    step(project, "b")
    with pytest.raises(Moved):
        project.add(State(name="late"), "late", "", based_on=1)
    assert project.last == 2


def test_of_two_tabs_at_once_one_is_refused(tmp_path: Path) -> None:
    project, refused = made(tmp_path), list[str]()

    def change(name: str) -> None:
        try:
            project.add(State(name=name), name, "", based_on=1)
        except Moved:
            refused.append(name)

    tabs = [threading.Thread(target=change, args=(f"tab {k}",)) for k in range(8)]
    for tab in tabs:
        tab.start()
    for tab in tabs:
        tab.join()
    assert len(refused) == 7
    assert project.last == 2


def test_it_opens_again_after_a_crash_that_left_no_pointer(tmp_path: Path) -> None:
    project = made(tmp_path)
    step(project, "b")
    (project.folder / "head.json").write_text("{")
    again = Project.opened(tmp_path / "projects", project.name)
    assert again is not None
    assert again.current.state.name == "b"


@pytest.mark.parametrize("name", ["..", ".", "../projects", "a/b", "", "A", ".uploads", "x" * 61, "a\0b", "%2e%2e"])
def test_no_name_leads_out_of_the_folder(tmp_path: Path, name: str) -> None:
    made(tmp_path)
    assert Project.opened(tmp_path / "projects", name) is None


def test_a_link_is_no_project(tmp_path: Path) -> None:
    project = made(tmp_path)
    (tmp_path / "projects" / "link").symlink_to(project.folder)
    assert Project.opened(tmp_path / "projects", "link") is None


def test_results_that_are_damaged_count_as_none(tmp_path: Path) -> None:
    project = made(tmp_path)
    project.keep("look-1", {"alone": 3})
    assert project.result("look-1") == {"alone": 3}
    (project.folder / "results" / "look-1.json").write_text('{"alone":')
    assert project.result("look-1") is None


def test_names_that_are_taken_get_a_number(tmp_path: Path) -> None:
    assert [made(tmp_path).name for _ in range(3)] == [
        "household-heads-csv", "household-heads-csv-2", "household-heads-csv-3",
    ]  # fmt: skip


def test_what_another_version_wrote_beside_is_left_alone() -> None:
    assert State.of({"name": "a", "later": 1}) == State(name="a")


@pytest.mark.parametrize("head", ["garbage", "[]", '{"at": 7, "redo": []}', '{"at": "x", "redo": []}'])
def test_a_damaged_pointer_leads_to_the_last_change(tmp_path: Path, head: str) -> None:
    project = made(tmp_path)
    step(project, "b")
    (project.folder / "head.json").write_text(head)
    (project.folder / "changes" / "1x.json").write_text("{}")
    assert project.current.state.name == "b"
    (project.folder / "changes" / "0002.json").write_text("")
    assert project.current.state.name == "heads"


def test_a_change_that_another_server_made_is_never_replaced(tmp_path: Path) -> None:
    project = made(tmp_path)
    with pytest.raises(FileExistsError):
        write(project.folder / "changes" / "0001.json", "{}", new=True)
    assert project.current.state.name == "heads"


def test_one_server_at_a_time_has_the_projects(tmp_path: Path) -> None:
    pytest.importorskip("fcntl")
    half = private(tmp_path / "projects") / UPLOADS
    half.mkdir()
    (half / "half.csv").write_text("a,b")
    with held(tmp_path / "projects"), pytest.raises(cf.InputError, match="Another confide app"):
        held(tmp_path / "projects")
    assert not [*half.iterdir()]
    held(tmp_path / "projects").close()


def test_a_folder_that_others_work_in_is_not_closed(tmp_path: Path) -> None:
    (tmp_path / "shared").mkdir(mode=0o755)
    (tmp_path / "shared" / "notes").write_text("x")
    with pytest.raises(cf.InputError, match="can be entered by others"):
        private(tmp_path / "shared")
    assert (tmp_path / "shared").stat().st_mode & 0o777 == 0o755
