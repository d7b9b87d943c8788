"""What all pages share: the projects, the jobs, the folders that may be looked into, and what has been found."""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import confide as cf
from confide.app.jobs import DONE, Job, Jobs
from confide.app.project import Project, private

FACTS, UPLOADS = "facts", ".uploads"


@dataclass(frozen=True)
class Settings:
    """How the server was started. `roots`: folders below which files may be opened and written; `memory`: bytes that a
    worker may take at most (0: no limit)."""

    projects: Path
    roots: tuple[Path, ...]
    memory: int = 0


@dataclass(frozen=True)
class Answer:
    """What is known of a piece of work: its result, or the job that will bring it (or failed), or neither."""

    result: Any = None
    job: Job | None = None
    waiting: bool = False
    """Whether it was on its way when it was asked for: it may have come since."""


@dataclass(eq=False)
class Desk:
    """Projects and jobs of one server."""

    settings: Settings
    jobs: Jobs = field(init=False)
    opened: dict[str, Project] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        private(self.settings.projects)
        self.jobs = Jobs(self.settings.memory, self._finished)

    def project(self, name: str) -> Project | None:
        """A project by its name; the same object for every page, so that changes are made one by one."""
        with self.lock:
            if name not in self.opened:
                found = Project.opened(self.settings.projects, name)
                if found is None:
                    return None
                self.opened[name] = found
            return self.opened[name]

    def projects(self) -> list[Project]:
        """All projects, the last changed first."""
        names = [p.parent for p in self.settings.projects.glob("*/head.json")]
        found = [self.project(p.name) for p in sorted(names, key=lambda p: -(p / "head.json").stat().st_mtime)]
        return [p for p in found if p is not None]

    def ask(
        self, project: Project, task: str, given: Mapping[str, Any], lane: str = "quick", start: bool = True
    ) -> Answer:
        """What is known of a piece of work; where nothing is, it is begun, unless `start` is false."""
        key = key_of(project, task, given)
        found = project.result(key)
        if found is not None:
            return Answer(found)
        job = self.jobs.get(key)
        if job is not None and job.state == DONE:
            return Answer(job.result, job)
        if job is None and start:
            job = self.jobs.submit(Job(key, task, lane, project.folder, given))
        if job is None:
            return Answer()
        over = job.over
        return Answer(job.result, job) if job.state == DONE and over else Answer(None, job, waiting=not over)

    def again(self, project: Project, task: str, given: Mapping[str, Any], lane: str = "long") -> Job:
        """Begin a piece of work, also one that was cancelled or failed before."""
        key = key_of(project, task, given)
        self.jobs.forget(key)
        return self.jobs.submit(Job(key, task, lane, project.folder, given))

    def facts(self, project: Project) -> Any | None:
        """What is known of the project's file; None while it is being read."""
        return project.result(FACTS)

    def allowed(self, path: Path) -> bool:
        """Whether a path, all links followed, lies below a folder that was named."""
        try:
            real = path.resolve()
        except (OSError, ValueError, RuntimeError):
            return False
        return any(real == root or root in real.parents for root in (r.resolve() for r in self.settings.roots))

    def _finished(self, job: Job) -> None:
        """Keep what a job found, so that it is there after a restart."""
        if job.state == DONE:
            Project(job.folder).keep(FACTS if job.task == FACTS else job.key, job.result)


def held(folder: Path) -> IO[str]:
    """The projects for this server alone, until what it gives is closed: two would write the same changes. Half of a
    file that a killed server left is removed."""
    mark = open(os.open(folder / ".lock", os.O_RDWR | os.O_CREAT, 0o600), "w", encoding="utf-8")  # noqa: SIM115
    try:
        import fcntl

        fcntl.flock(mark, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except ImportError:  # a system without such locks
        return mark
    except OSError as error:
        mark.close()
        raise cf.InputError(
            f"Another confide app has the projects in {folder} open. End it, or give another folder with --projects."
        ) from error
    for left in (folder / UPLOADS).glob("*"):
        left.unlink(missing_ok=True)
    return mark


def key_of(project: Project, task: str, given: Mapping[str, Any]) -> str:
    """What tells one piece of work from another: the file, the task, what it is about, and the version."""
    if task == FACTS:
        return f"{FACTS}-{project.name}"
    facts = project.result(FACTS) or {}
    stated = json.dumps([project.name, facts.get("digest"), task, given, cf.__version__], sort_keys=True)
    return f"{task}-{hashlib.sha256(stated.encode()).hexdigest()[:24]}"
