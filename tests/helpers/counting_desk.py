"""A desk with one project on the way of tables; work is done at once, in this process, when a test says so."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import polars as pl

import confide as cf
from confide.app.desk import FACTS, Desk, Settings
from confide.app.jobs import DONE, REFUSED
from confide.app.project import Project
from confide.app.render import page_html
from confide.app.screens import SCREENS
from confide.app.screens.start import new_project
from confide.app.web import Form, Page, Wrong
from confide.app.worker import TASKS, Work


def people(n: int = 400, seed: int = 4) -> pl.DataFrame:
    """Residents of six wards, some of them alone in their cell."""
    rng = np.random.default_rng(seed)
    return pl.DataFrame({
        "id": np.arange(n), "ward": rng.choice([*"ABCDEF"], n), "sex": rng.choice(["f", "m"], n),
        "band": rng.choice(["young", "middle", "old"], n, p=[0.6, 0.35, 0.05]),
        "work": rng.choice(["yes", "no", "ill", "home"], n, p=[0.7, 0.2, 0.02, 0.08]),
    })  # fmt: skip


def counts(n: int = 400) -> pl.DataFrame:
    """The same people as counts."""
    return people(n).group_by("ward", "band", "work").len("count").sort("ward", "band", "work")


class Counting:
    """A project of tables, and what a person does to it."""

    def __init__(self, folder: Path, data: pl.DataFrame, name: str = "wards.csv") -> None:
        self.root = folder / "root"
        self.root.mkdir()
        source = self.root / name
        cf.write(data, source)
        self.desk = Desk(Settings(folder / "projects", (self.root,)))
        self.project: Project = new_project(self.desk, str(source), name, "tables")
        self.work()

    def page(self, query: str = "") -> Page:
        return Page(self.desk, self.project, self.project.current, Form.of(query))

    def work(self) -> None:
        """Do all work that waits, as a worker would."""
        for job in [j for j in self.desk.jobs.jobs.values() if not j.over]:
            done = Work(job.folder, job.given, job.advanced, lambda found, job=job: setattr(job, "preview", found))
            try:
                job.result, job.state = import_module(TASKS[job.task]).run(done), DONE
                self.project.keep(FACTS if job.task == FACTS else job.key, job.result)
            except cf.InputError as error:
                job.said, job.state = tuple(error.problems) or (str(error),), REFUSED

    def view(self, screen: str, query: str = "") -> dict[str, Any]:
        """What a screen shows when all its work is done."""
        SCREENS[screen].view(self.page(query))
        self.work()
        found: dict[str, Any] = SCREENS[screen].view(self.page(query))
        return found

    def html(self, screen: str, query: str = "") -> str:
        self.view(screen, query)
        return page_html(self.page(query), SCREENS[screen])

    def change(self, screen: str, what: str, form: str = "") -> str:
        """Send a form; gives the screen that it leads to."""
        page = self.page()
        made = SCREENS[screen].CHANGES[what](page, Form.of(form))
        if made.state != page.state:
            self.project.add(made.state, made.what, "", page.change.number)
        return str(made.go)

    def by(self, *names: str, area: str = "ward") -> Counting:
        """State the table."""
        for _ in self.view("table")["table"]["by"]:
            self.change("table", "save", "remove=0")
        for name in names:
            self.change("table", "save", f"add={quote(name)}&area={quote(area)}")
        return self

    def refused(self, screen: str, what: str, form: str = "") -> dict[str, str]:
        """Send a form that is refused; gives what is said, by field."""
        at = self.project.current.number
        try:
            self.change(screen, what, form)
        except Wrong as wrong:
            assert self.project.current.number == at
            return wrong.fields
        raise AssertionError("it was taken")

    @property
    def table(self) -> Any:
        return self.project.current.state.table
