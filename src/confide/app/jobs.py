"""Work in processes of its own: a lane for what is quick and one for what takes long. Pages never wait for it."""

from __future__ import annotations

import contextlib
import multiprocessing as mp
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from confide.app.worker import serve_lane

LANES = ("quick", "long")
WAITING, RUNNING, DONE, REFUSED, CANCELLED, DIED = "waiting", "running", "done", "refused", "cancelled", "died"
OVER = (DONE, REFUSED, CANCELLED, DIED)
TICK = 0.1
KEPT = 500
"""How many jobs that are over are remembered."""


@dataclass(eq=False)
class Job:
    """One piece of work. `key` says what it is, so that the same is never done twice; `given`: what it is about."""

    key: str
    task: str
    lane: str
    folder: Path
    given: Mapping[str, Any]
    state: str = WAITING
    done: int = 0
    total: int = 0
    what: str = ""
    said: tuple[str, ...] = ()
    result: Any = None
    preview: Any = None
    began: float = 0.0
    ended: float = 0.0
    peak: int = 0
    _first: tuple[float, int] | None = None

    @property
    def over(self) -> bool:
        """Whether nothing more will come of it."""
        return self.state in OVER

    @property
    def seconds(self) -> float:
        """How long it has run."""
        return 0.0 if not self.began else (self.ended or time.monotonic()) - self.began

    @property
    def left(self) -> float | None:
        """Seconds left, by the pace since the first piece that was told; None where nothing can be said yet."""
        if self._first is None or self.state != RUNNING or self.done <= self._first[1]:
            return None
        since, done = self._first
        return (time.monotonic() - since) / (self.done - done) * (self.total - self.done)

    def advanced(self, done: int, total: int, what: str) -> None:
        """Hear how far it is."""
        if self._first is None or what != self.what:
            self._first = (time.monotonic(), done)
        self.done, self.total, self.what = done, total, what


Finished = Callable[[Job], None]


@dataclass(eq=False)
class Lane:
    """A worker process and what waits for it."""

    name: str
    memory: int
    finished: Finished
    waiting: deque[Job] = field(default_factory=deque)
    running: Job | None = None
    process: Any = None
    pipe: Connection | None = None
    lock: threading.RLock = field(default_factory=threading.RLock)
    wake: threading.Event = field(default_factory=threading.Event)
    closed: bool = False

    def start(self) -> None:
        """Begin to look after the lane; the worker itself starts at once, so that it is warm when it is needed."""
        threading.Thread(target=self._run, name=f"lane-{self.name}", daemon=True).start()

    def put(self, job: Job) -> None:
        """Queue a job. Of a quick task the newest comes first: what somebody looks at now."""
        with self.lock:
            if self.name == "quick":
                self.waiting.appendleft(job)
            else:
                self.waiting.append(job)
        self.wake.set()

    def cancel(self, job: Job) -> None:
        """Take a job out of the queue, or end the worker that runs it; what it has kept stays."""
        with self.lock:
            if job in self.waiting:
                self.waiting.remove(job)
                job.state, job.ended = CANCELLED, time.monotonic()
            elif job is self.running:
                job.state, job.ended, self.running = CANCELLED, time.monotonic(), None
                self._end()
        self.wake.set()

    def close(self) -> None:
        """End the worker and the lane."""
        with self.lock:
            self.closed = True
            self._end()
        self.wake.set()

    def _run(self) -> None:
        while not self.closed:
            with self.lock:
                if self.process is None or not self.process.is_alive():
                    if self.running is not None:
                        self._died(self.running)
                    self._spawn()
                if self.running is None and self.waiting:
                    self._begin(self.waiting.popleft())
            self._listen()

    def _spawn(self) -> None:
        if self.closed:
            return
        own, other = mp.get_context("spawn").Pipe()
        self.pipe = own
        self.process = mp.get_context("spawn").Process(target=serve_lane, args=(other,), daemon=True)
        self.process.start()
        other.close()

    def _begin(self, job: Job) -> None:
        assert self.pipe is not None
        self.running, job.state, job.began = job, RUNNING, time.monotonic()
        with contextlib.suppress(OSError):  # a worker that has just died is met by whoever listens
            self.pipe.send((job.task, str(job.folder), dict(job.given)))

    def _listen(self) -> None:
        """Hear what the worker tells, or that it is no more; a while at most."""
        pipe, job = self.pipe, self.running
        if pipe is None or job is None:
            self.wake.wait(TICK)
            self.wake.clear()
            return
        try:
            told = pipe.recv() if pipe.poll(TICK) else None
        except (EOFError, OSError):
            self._died(job)
            return
        if told is None:
            self._watch(job)
        else:
            self._told(job, *told)

    def _told(self, job: Job, kind: str, *content: Any) -> None:
        if kind == "progress":
            job.advanced(*content)
        elif kind == "preview":
            job.preview = content[0]
        else:
            job.ended = time.monotonic()
            if kind == "done":
                job.result = content[0]
            else:
                job.said = tuple(content[0])
            with self.lock:
                self.running = None if self.running is job else self.running
            job.state = DONE if kind == "done" else REFUSED
            self.finished(job)

    def _watch(self, job: Job) -> None:
        """End a worker that takes more memory than it may: sooner than the machine would end others."""
        used = resident(self.process.pid) if self.process is not None and self.process.pid else 0
        job.peak = max(job.peak, used)
        if self.memory and used > self.memory:
            self._died(job)

    def _died(self, job: Job) -> None:
        with self.lock:
            self._end()
            if self.running is job:
                job.state, job.ended, self.running = DIED, time.monotonic(), None
                job.said = (_why(job.peak, self.memory),)
                self.finished(job)

    def _end(self) -> None:
        if self.process is not None and self.process.is_alive():
            self.process.kill()
            self.process.join(2)
        if self.pipe is not None:
            self.pipe.close()
        self.process, self.pipe = None, None


class Jobs:
    """All lanes, and every job by its key. `memory`: the most that a worker may take, in bytes; 0 for no limit."""

    def __init__(self, memory: int, finished: Finished) -> None:
        self.lanes = {name: Lane(name, memory, finished) for name in LANES}
        self.jobs: dict[str, Job] = {}
        self.lock = threading.Lock()

    def start(self) -> None:
        """Start the workers."""
        for lane in self.lanes.values():
            lane.start()

    def submit(self, job: Job) -> Job:
        """The job, or the same one that is on its way already."""
        with self.lock:
            there = self.jobs.get(job.key)
            if there is not None and not there.over:
                return there
            self.jobs[job.key] = job
            for key in [k for k, j in self.jobs.items() if j.over][:-KEPT]:
                del self.jobs[key]
        self.lanes[job.lane].put(job)
        return job

    def get(self, key: str) -> Job | None:
        """A job by its key."""
        return self.jobs.get(key)

    def of(self, folder: Path) -> list[Job]:
        """The jobs of a project that are not over."""
        return [j for j in [*self.jobs.values()] if j.folder == folder and not j.over]

    def cancel(self, key: str) -> None:
        """Cancel a job, if it is not over."""
        job = self.jobs.get(key)
        if job is not None and not job.over:
            self.lanes[job.lane].cancel(job)

    def forget(self, key: str) -> None:
        """Forget a job that is over, so that it can be asked for again."""
        with self.lock:
            if key in self.jobs and self.jobs[key].over:
                del self.jobs[key]

    def close(self) -> None:
        """End all workers."""
        for lane in self.lanes.values():
            lane.close()


def resident(pid: int) -> int:
    """Bytes of memory that a process holds now; 0 where the system does not tell."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0


def _why(peak: int, memory: int) -> str:
    if memory and peak > 0.8 * memory:
        return f"Most often memory: it had reached {peak / 1e9:.1f} of {memory / 1e9:.1f} GB. Your steps are safe."
    used = f" It held {peak / 1e9:.1f} GB when it was last seen." if peak else ""
    return f"Its process was ended from outside, or by the system.{used} Your steps are safe."
