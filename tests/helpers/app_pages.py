"""Pages without a server: a project on a small file, whose work is done here and at once."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import confide as cf
from confide.app.desk import FACTS, Desk, Settings
from confide.app.jobs import Job
from confide.app.project import Project
from confide.app.render import page_html
from confide.app.screens.variables import settled
from confide.app.state import State
from confide.app.web import Form, Page
from confide.app.worker import TASKS, Work

ROWS = 400


def project(home: Path, rows: int = ROWS, **state: Any) -> Page:
    """The first page of a project on some householders, with roles as guessed."""
    source = home / "heads.csv"
    cf.write(cf.demo("heads").head(rows), source)
    desk = Desk(Settings(home / "projects", (home,)))
    made = Project.made(desk.settings.projects, "heads", State(source=str(source), name="heads.csv"), "Opened")
    made.keep(FACTS, run("facts", made.folder, {"source": str(source)}))
    page = Page(desk, made, made.current, Form())
    first = settled(page.state, page.facts).but(**state)
    return changed(page, first)


def run(task: str, folder: Path, given: dict[str, Any], preview: list[Any] | None = None) -> Any:
    """A task done in this process."""
    told = [] if preview is None else preview
    return import_module(TASKS[task]).run(Work(folder, given, lambda *_: None, told.append))


def changed(page: Page, state: State) -> Page:
    """The page of a further change."""
    page.project.add(state, "changed", "", page.change.number)
    return at(page)


def at(page: Page, query: str = "") -> Page:
    """The current change with a question in its address."""
    return Page(page.desk, page.project, page.project.current, Form.of(query))


def finish(page: Page, screen: ModuleType, **left: str) -> dict[str, Any]:
    """What a screen shows once all that it asks for is done; `left`: tasks that are not done, by any word."""
    for _ in range(5):
        view: dict[str, Any] = screen.view(page)
        waiting = [j for j in page.desk.jobs.of(page.project.folder) if j.task not in left]
        if not waiting:
            return view
        for job in waiting:
            do(page, job)
    raise AssertionError("more and more work is asked for")


def do(page: Page, job: Job) -> None:
    """Do what waits, and keep it as a server would."""
    try:
        page.project.keep(job.key, run(job.task, job.folder, dict(job.given)))
    finally:
        page.desk.jobs.cancel(job.key)
        page.desk.jobs.forget(job.key)


def html(page: Page, screen: ModuleType) -> str:
    """The page as it is sent."""
    return page_html(page, screen)


def send(page: Page, screen: ModuleType, what: str, fields: dict[str, Any]) -> Page:
    """The page after a form was sent; what is wrong with it is raised."""
    form = Form({k: v if isinstance(v, list) else [str(v)] for k, v in fields.items()})
    made = screen.CHANGES[what](page, form)
    return changed(page, made.state)
