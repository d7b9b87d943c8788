"""Pages in a real browser: Debian's Chromium without a network, with all that it says and asks for."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
)  # fmt: skip
LOCAL = ("file:", "data:", "blob:", "about:")


def chromium() -> str | None:
    """The path of the browser, if there is one."""
    return next((found for name in NAMES if (found := shutil.which(name))), None)


def why_no_browser() -> str:
    """Why the browser tests cannot run; nothing where they can."""
    try:
        import playwright.sync_api  # noqa: F401
    except ImportError:
        return "the package playwright is not installed (it is in the extra `dev`)"
    return "" if chromium() else "Chromium is not installed; scripts/chromium installs it where it may"


@contextmanager
def launched() -> Iterator[Any]:
    """A browser with a fresh profile; ended with the block."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=chromium(), headless=True, args=list(FLAGS))
        try:
            yield browser
        finally:
            browser.close()


@dataclass
class Opened:
    """A page with what happened on it: every request, every line on the console, every error. Unpacks as the three."""

    page: Any
    requests: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    console: list[str] = field(default_factory=list)

    def __iter__(self) -> Iterator[Any]:
        return iter((self.page, self.requests, self.errors))

    @property
    def outside(self) -> list[str]:
        """Requests for anything but local files; none of them is answered."""
        return [url for url in self.requests if not url.startswith(LOCAL)]

    def wait(self, expression: str, seconds: float = 30) -> Any:
        """Wait until a JavaScript expression holds. Asked again and again, since a strict page may evaluate no text."""
        for _ in range(int(20 * seconds)):
            if found := self.page.evaluate(expression):
                return found
            self.page.wait_for_timeout(50)
        raise AssertionError(f"After {seconds:g} seconds this does not hold: {expression}")


@contextmanager
def opened(browser: Any, where: str | Path, width: int = 1280, height: int = 900, **options: Any) -> Iterator[Opened]:
    """A page of a file or an address, in a window of its own that has no network.

    `errors` holds what the console calls an error or a warning, uncaught errors and failed requests.
    """
    context = browser.new_context(viewport={"width": width, "height": height}, offline=True, **options)
    try:
        page = context.new_page()
        seen = Opened(page)
        page.on("request", lambda r: seen.requests.append(r.url))
        page.on("requestfailed", lambda r: seen.errors.append(f"request failed: {r.url[:200]}"))
        page.on("pageerror", lambda e: seen.errors.append(f"error: {e}"))
        page.on("console", lambda m: _said(seen, m))
        context.route("**/*", lambda r: r.continue_() if r.request.url.startswith(LOCAL) else r.abort())
        page.goto(where if isinstance(where, str) else where.resolve().as_uri(), wait_until="load")
        yield seen
    finally:
        context.close()


def _said(seen: Opened, message: Any) -> None:
    seen.console.append(f"{message.type}: {message.text}")
    if message.type in ("error", "warning"):
        seen.errors.append(seen.console[-1])
