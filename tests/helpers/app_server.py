"""`confide app` as somebody starts it: a process of its own on loopback, and a browser that may reach nothing else."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

SECONDS = 120_000
"""How long a page may take on a busy machine, in thousandths."""


@dataclass
class Server:
    """A running server: its process, its first address, and where projects and files are."""

    process: Any
    first: str
    home: Path
    errors: list[str] = field(default_factory=list)
    session: Any = None
    """The cookie of the session, once somebody has entered: the first address works once."""

    @property
    def origin(self) -> str:
        """Scheme, host and port."""
        return self.first.partition("/enter")[0]

    @property
    def projects(self) -> Path:
        """The folder of projects."""
        return self.home / "projects"

    def workers(self) -> list[int]:
        """Processes that the server started for work."""
        out = subprocess.run(["pgrep", "-P", str(self.process.pid)], capture_output=True, text=True).stdout
        return [int(pid) for pid in out.split()]


@contextmanager
def serving(home: Path, *words: str) -> Iterator[Server]:
    """A server whose files are below a folder; ended with the block."""
    command = [sys.executable, "-m", "confide.cli.main", "app", "--no-browser", "--root", str(home)]
    command += ["--projects", str(home / "projects"), *words]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    process = subprocess.Popen(
        command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True, env=environment, cwd=home
    )
    assert process.stderr is not None
    line = process.stderr.readline()
    found = re.search(r"http://\S+", line)
    assert found, line + process.stderr.read()
    server = Server(process, found[0], home)
    drain = threading.Thread(target=lambda: server.errors.extend(process.stderr or []), daemon=True)
    drain.start()
    try:
        yield server
    finally:
        process.terminate()
        process.wait(20)
        drain.join(5)
        process.stderr.close()


@dataclass
class Visit:
    """A page of a server, with every request that left the machine, and what the console said."""

    page: Any
    outside: list[str] = field(default_factory=list)
    console: list[str] = field(default_factory=list)

    def text(self, what: str = "main") -> str:
        """The text of a part of the page."""
        return str(self.page.inner_text(what))

    def wait(self, what: str) -> Any:
        """Wait for something to be there."""
        return self.page.wait_for_selector(what, timeout=SECONDS)

    def live(self) -> None:
        """Wait until the page's own script has run."""
        self.page.wait_for_selector("html.js", state="attached", timeout=SECONDS)

    def until(self, holds: Any) -> None:
        """Wait until something holds; asked from outside, since the page evaluates no text."""
        for _ in range(SECONDS // 50):
            if holds():
                return
            self.page.wait_for_timeout(50)
        raise AssertionError("it takes too long")


@contextmanager
def visiting(browser: Any, server: Server, width: int = 1280, enter: bool = True, **options: Any) -> Iterator[Visit]:
    """A window that may reach this server alone."""
    if enter and server.session is not None:
        options["storage_state"] = server.session
    context = browser.new_context(viewport={"width": width, "height": 900}, **options)
    context.set_default_timeout(SECONDS)
    try:
        page = context.new_page()
        seen = Visit(page)
        page.on("console", lambda m: seen.console.append(f"{m.type}: {m.text}"))
        page.on("pageerror", lambda e: seen.console.append(f"error: {e}"))

        def passed(route: Any) -> None:
            if route.request.url.startswith(server.origin + "/"):
                route.continue_()
            else:
                seen.outside.append(route.request.url)
                route.abort()

        context.route("**/*", passed)
        if enter:
            page.goto(server.first)
            page.wait_for_url(lambda url: "/enter" not in url)
            server.session = context.storage_state()
        yield seen
    finally:
        context.close()
