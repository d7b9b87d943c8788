"""The start: which file, which project. Files are opened by path or sent from the browser, piece by piece."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import shutil
from pathlib import Path
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from confide.app import words
from confide.app.desk import FACTS, UPLOADS, Desk
from confide.app.folders import path_of
from confide.app.project import Project, private
from confide.app.render import start_html
from confide.app.state import State
from confide.app.web import Form, Wrong

EXAMPLE = "demo:heads"
SUFFIXES = (".csv", ".tsv", ".parquet", ".arrow", ".feather", ".ipc", ".sav", ".zsav", ".dta", ".sas7bdat")
SPARE = 200_000_000
"""Bytes of disk that stay free when a file is sent."""


def begin(desk: Desk, form: Form, errors: dict[str, str] | None = None) -> str:
    """The first page."""
    return start_html(
        "start", title="Open a file", errors=errors or {}, given=form,
        projects=[_told(desk, p) for p in desk.projects()[:12]], roots=[str(r) for r in desk.settings.roots],
    )  # fmt: skip


def _told(desk: Desk, project: Project) -> dict[str, Any]:
    change, facts = project.current, desk.facts(project)
    size = f"{words.plural(facts['rows'], 'row')}" if facts else "not read yet"
    many = f", {words.plural(len(change.state.candidates), 'candidate')}" if change.state.candidates else ""
    way = "Tables" if change.state.way == "tables" else "Records"
    return {
        "name": project.name,
        "label": change.state.name,
        "size": size + many,
        "way": way,
        "day": words.day(change.at),
    }


def browse(desk: Desk, query: Form) -> str:
    """Names of folders and of files that can be read, below the folders that were named. Nothing is opened."""
    roots = [r.resolve() for r in desk.settings.roots]
    here = path_of(query.text("under") or str(roots[0]), desk) or roots[0]
    here = here.resolve() if desk.allowed(here) and here.is_dir() else roots[0]
    folders, files = [], []
    with contextlib.suppress(OSError, ValueError):
        for entry in sorted(os.scandir(here), key=lambda e: e.name.lower()):
            named = entry.name.isprintable() and not entry.name.startswith(".")
            if not named or not desk.allowed(Path(entry.path)):
                continue
            if entry.is_dir():
                folders.append({"name": entry.name, "path": entry.path})
            elif entry.name.lower().endswith(SUFFIXES):
                files.append({"name": entry.name, "path": entry.path, "bytes": entry.stat().st_size})
    above = str(here.parent) if here not in roots and desk.allowed(here.parent) else ""
    return start_html(
        "browse", title="Choose a file", here=str(here), folders=folders[:1000], files=files[:1000], above=above,
        roots=[str(r) for r in roots if r != here], way=query.text("way", "records"),
    )  # fmt: skip


def opened(desk: Desk, form: Form) -> str:
    """A new project on a file of this machine, or on the example; gives the address to go to."""
    source, way = form.text("source"), form.text("way", "records")
    if way not in ("records", "tables"):
        way = "records"
    if source != EXAMPLE:
        source = str(checked(desk, source))
    label = "householders" if source == EXAMPLE else Path(source).name
    return f"/p/{new_project(desk, source, label, way).name}/open"


def checked(desk: Desk, source: str) -> Path:
    """A file that may be opened and can be read; else a sentence at its field."""
    if not source:
        raise Wrong(source="Give the path of a file, or take the example.")
    path = path_of(source, desk)
    if path is None:
        raise Wrong(source="No file can have this name.")
    try:
        if not desk.allowed(path):
            folders = words.names([str(r) for r in desk.settings.roots])
            raise Wrong(
                source=f"Files are opened below {folders}. Start confide app with --root to name another folder."
            )
        if path.is_dir():
            raise Wrong(source="This is a folder; give the name of a file in it, or browse.")
        if not path.is_file():
            raise Wrong(source="There is no such file.")
    except (ValueError, OSError) as error:
        raise Wrong(source="No file can have this name.") from error
    if not path.name.lower().endswith(SUFFIXES):
        raise Wrong(source=f"This format is not read. What is: {', '.join(SUFFIXES)}.")
    return path.resolve()


def new_project(desk: Desk, source: str, label: str, way: str) -> Project:
    """A project whose file is being read."""
    state = State(way=way, source=source, name=label)
    project = Project.made(desk.settings.projects, Path(label).stem, state, f"Opened {label}")
    desk.ask(project, FACTS, {"source": source})
    return project


async def upload(request: Request) -> Response:
    """Take a file in pieces, as it arrives, into a private folder; its name only tells the format."""
    desk: Desk = request.app.state.desk
    query = Form.of(request.url.query)
    label = Path(query.text("name", "file").replace("\\", "/")).name[:80]
    suffix = next((s for s in SUFFIXES if label.lower().endswith(s)), "")
    if not suffix:
        return _refused(f"This format is not read. What is: {', '.join(SUFFIXES)}.")
    folder = private(desk.settings.projects / UPLOADS)
    expected = Form.of(f"n={request.headers.get('content-length', '0')}").whole("n")
    room = shutil.disk_usage(folder).free - SPARE
    if room < expected:
        return _refused("There is not enough free disk for this file.")
    place = folder / f"{secrets.token_hex(8)}{suffix}"
    try:
        with open(os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as out:
            async for chunk in request.stream():
                await run_in_threadpool(out.write, chunk)
                if (room := room - len(chunk)) < 0:
                    raise OSError(errno.ENOSPC, "the disk is full")
    except BaseException as error:
        place.unlink(missing_ok=True)
        if isinstance(error, OSError):
            return _refused("The file could not be kept: the disk is full or cannot be written.")
        raise
    way = query.text("way", "records")
    project = await run_in_threadpool(_taken, desk, place, label, "tables" if way == "tables" else "records")
    return JSONResponse({"go": f"/p/{project.name}/open"})


def _taken(desk: Desk, place: Path, label: str, way: str) -> Project:
    """A project with the file that was sent in its folder."""
    state = State(way=way, name=label)
    project = Project.made(desk.settings.projects, Path(label).stem, state, f"Sent {label}")
    kept = project.folder / f"sent{place.suffix}"
    place.replace(kept)
    project.add(state.but(source=str(kept)), f"Opened {label}", "", based_on=project.current.number)
    desk.ask(project, FACTS, {"source": str(kept)})
    return project


def _refused(said: str) -> Response:
    return JSONResponse({"said": said}, 422)
