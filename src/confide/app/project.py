"""A project: a private folder of plain files. A change is a numbered file that never changes; undo moves a pointer."""

from __future__ import annotations

import contextlib
import json
import os
import re
import secrets
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

import confide as cf
from confide.app.state import State

NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,59}")
HEAD, CHANGES, RESULTS, WORK = "head.json", "changes", "results", "work"


class Moved(Exception):
    """Somebody else changed the project since the page was made."""


@dataclass(frozen=True)
class Change:
    """One change: its number, the one it was made from (0 for none), when, what it did in words, and the state then."""

    number: int
    parent: int
    at: str
    what: str
    line: str
    state: State


class Project:
    """A folder with `changes/0001.json`, `head.json`, `results/`, `work/`, `study.toml` and the data."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._lock = threading.RLock()

    @property
    def name(self) -> str:
        """The name of the folder, which is its address too."""
        return self.folder.name

    @classmethod
    def made(cls, projects: Path, label: str, state: State, what: str) -> Project:
        """A new project with its first change, in a folder of its own."""
        private(projects)
        base = re.sub(r"[^a-z0-9]+", "-", label.lower()).strip("-")[:40] or "project"
        for k in range(1, 10_000):
            folder = projects / (base if k == 1 else f"{base}-{k}")
            with contextlib.suppress(FileExistsError):
                folder.mkdir(mode=0o700)
                break
        for part in (CHANGES, RESULTS, WORK):
            (folder / part).mkdir(mode=0o700)
        project = cls(folder)
        project.add(state, what, "", based_on=0)
        return project

    @classmethod
    def opened(cls, projects: Path, name: str) -> Project | None:
        """A project that is there; None for anything else, whatever the name tries."""
        folder = projects / name
        if not NAME.fullmatch(name) or folder.is_symlink() or not (folder / HEAD).is_file():
            return None
        return cls(folder)

    def add(self, state: State, what: str, line: str, based_on: int) -> Change:
        """The next change. `based_on`: the one that was shown to whoever made it; refused where another is current."""
        with self._lock:
            at, _ = self.head
            if based_on != at:
                raise Moved
            change = Change(self.last + 1, at, _now(), what, line, state)
            plain = {k: getattr(change, k) for k in ("number", "parent", "at", "what", "line")}
            write(self._file(change.number), json.dumps({**plain, "state": state.to_dict()}, indent=1), new=True)
            self._point(change.number, [])
            return change

    def change(self, number: int) -> Change | None:
        """A change by its number; None where there is none."""
        try:
            plain = json.loads(self._file(number).read_text(encoding="utf-8"))
            return Change(
                int(plain["number"]), int(plain["parent"]), str(plain["at"]), str(plain["what"]),
                str(plain.get("line", "")), State.of(plain["state"]),
            )  # fmt: skip
        except (OSError, ValueError, TypeError, KeyError, AttributeError):
            return None

    @property
    def current(self) -> Change:
        """The change that the project is at."""
        found = self.change(self.head[0]) or next(self.history(), None)
        return found if found is not None else Change(0, 0, "", "Damaged", "", State(name=f"{self.name} (damaged)"))

    @property
    def head(self) -> tuple[int, list[int]]:
        """The number of the current change, and those that redo would go to, the next one last."""
        try:
            plain = json.loads((self.folder / HEAD).read_text(encoding="utf-8"))
            at, redo = int(plain["at"]), [int(n) for n in plain["redo"]]
        except (OSError, ValueError, KeyError, TypeError):
            at, redo = self.last, []
        return (at, redo) if self._file(at).is_file() else (self.last, [])

    @property
    def last(self) -> int:
        """The highest number of a change."""
        names = (p.stem for p in (self.folder / CHANGES).glob("[0-9]*.json"))
        return max((int(n) for n in names if re.fullmatch("[0-9]{4,9}", n)), default=0)

    def undo(self) -> None:
        """Go to the change that the current one was made from."""
        with self._lock:
            at, redo = self.head
            parent = self.current.parent
            if parent:
                self._point(parent, [*redo, at])

    def redo(self) -> None:
        """Go back to where the last undo came from."""
        with self._lock:
            _, redo = self.head
            if redo:
                self._point(redo[-1], redo[:-1])

    def go(self, number: int) -> None:
        """Go to any change; nothing is lost by it."""
        with self._lock:
            if self.change(number) is not None and number != self.head[0]:
                self._point(number, [])

    def history(self) -> Iterator[Change]:
        """All changes, the newest first."""
        for number in range(self.last, 0, -1):
            found = self.change(number)
            if found is not None:
                yield found

    def result(self, key: str) -> Any | None:
        """What a finished piece of work found; None where it was not done, or is damaged. Read once while it stays."""
        path = self.folder / RESULTS / f"{key}.json"
        try:
            return _read(path, path.stat().st_mtime_ns)
        except (OSError, ValueError):
            return None

    def keep(self, key: str, result: Any) -> None:
        """Keep what a piece of work found."""
        write(self.folder / RESULTS / f"{key}.json", json.dumps(result, allow_nan=False))

    def _file(self, number: int) -> Path:
        return self.folder / CHANGES / f"{number:04d}.json"

    def _point(self, at: int, redo: list[int]) -> None:
        write(self.folder / HEAD, json.dumps({"at": at, "redo": redo}))


@lru_cache(maxsize=64)
def _read(path: Path, changed: int) -> Any:  # noqa: ARG001 - another time is another file
    return json.loads(path.read_text(encoding="utf-8"))


def private(folder: Path) -> Path:
    """A folder that only its owner can enter, made if it is not there. One with files that others can enter is refused:
    to close it might shut somebody out who works there."""
    if not folder.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir(mode=0o700)
    elif not folder.is_dir():
        raise cf.InputError(f"{folder} is a file; give the name of a folder.")
    elif os.name != "nt" and folder.stat().st_mode & 0o077:
        if any(folder.iterdir()):
            raise cf.InputError(f"{folder} can be entered by others and is not empty; give a new folder for projects.")
        folder.chmod(0o700)
    return folder


def write(path: Path, text: str, new: bool = False) -> None:
    """Write a private file whole or not at all. `new`: one that is there already is never replaced."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as out:
            out.write(text)
            out.flush()
            os.fsync(out.fileno())
        if new:
            os.link(temporary, path)
        else:
            temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
