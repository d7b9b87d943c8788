"""The way of a newcomer through the screens, by mouse or by keyboard alone."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.helpers.app_server import Server, Visit


@dataclass(frozen=True)
class Hand:
    """How somebody works a page: with the mouse."""

    visit: Visit

    def press(self, what: str) -> None:
        """Press a button or follow a link."""
        self.visit.page.click(what)

    def write(self, what: str, text: str) -> None:
        """Put a text into a field, once the page is live: a change before that is sent by nobody."""
        self.visit.live()
        self.visit.page.fill(what, text)

    def choose(self, what: str, label: str) -> None:
        """Choose from a list, once the page is live."""
        self.visit.live()
        self.visit.page.select_option(what, label=label)


@dataclass(frozen=True)
class Keys(Hand):
    """By keyboard alone: Tab until it has the focus, then keys."""

    def _reach(self, what: str) -> None:
        target = self.visit.wait(what)
        page = self.visit.page
        for _ in range(400):
            if target.evaluate("e => e === document.activeElement"):
                assert page.evaluate("document.activeElement.matches(':focus-visible')")
                return
            page.keyboard.press("Tab")
        raise AssertionError(f"the keyboard does not reach {what}")

    def press(self, what: str) -> None:
        self._reach(what)
        self.visit.page.keyboard.press("Enter")

    def write(self, what: str, text: str) -> None:
        self._reach(what)
        self.visit.page.keyboard.press("Control+A")
        self.visit.page.keyboard.type(text)

    def choose(self, what: str, label: str) -> None:
        self.visit.live()
        self._reach(what)
        self.visit.page.keyboard.type(label)
        self.visit.page.keyboard.press("Tab")


@dataclass
class Journey:
    """One journey from a file to a release."""

    server: Server
    visit: Visit
    hand: Any

    @property
    def page(self) -> Any:
        """The browser's page."""
        return self.visit.page

    @property
    def project(self) -> Path:
        """The folder of the project."""
        return self.server.projects / self.page.url.split("/p/")[1].split("/")[0]

    def open(self, path: Path) -> None:
        """Open a file by its path."""
        self.page.goto(self.server.origin)
        self.hand.write("#source", str(path))
        self.hand.press("form[action='/projects'] .btn.main")
        self.visit.wait("#facts .note")
        self.hand.press("text=Continue to variables")
        self.visit.wait("table.vars")

    def roles(self) -> None:
        """Confirm every doubtful guess, and go on."""
        while self.page.query_selector("button[name=confirm]"):
            left = len(self.page.query_selector_all("button[name=confirm]"))
            self.hand.press("button[name=confirm]")
            self.visit.until(lambda: len(self.page.query_selector_all("button[name=confirm]")) < left)  # noqa: B023
        self.hand.press("#continue")
        self.visit.wait("h1:has-text('A first look')")

    def look(self) -> None:
        """Wait for the first numbers, and go on."""
        self.visit.wait("main:not(:has([data-wait])) .figures")
        self.hand.press("#continue")
        self.visit.wait("h1:has-text('Protect')")

    def step(self, variable: str, way: str) -> None:
        """Add a step: a variable, and what is done to it."""
        self.hand.press("#add-step")
        self.visit.wait("#add-variable")
        self.hand.choose("#add-variable", variable)
        self.visit.wait("#ways")
        number = self.page.get_attribute(f"#ways li:has(b:text-is('{way}')) button", "id")
        self.hand.press(f"#{number}")
        self.measured()

    def measured(self) -> None:
        """Wait until all numbers of the page are there."""
        self.visit.wait("main:not(:has([data-wait]))")

    def keep(self, name: str) -> None:
        """Keep the steps as a candidate."""
        self.hand.write("#keep-name", name)
        self.hand.press("#keep-now")
        self.visit.wait(f"text={name}")

    def compare(self, most: str) -> None:
        """State the rule, then compare."""
        self.hand.press("#continue")
        self.visit.wait("h1:has-text('Compare')")
        self.hand.write("#f-max_found", most)
        self.page.keyboard.press("Tab")
        self.visit.wait("#run")
        self.page.wait_for_timeout(1500)
        self.measured()
        self.hand.press("#run")
        self.visit.wait("#take")
        self.measured()

    def release(self, reason: str) -> None:
        """Take the choice, look at the checks, decide, write."""
        self.hand.press("#take")
        self.visit.wait("#write")
        self.measured()
        self.hand.write("#reason", reason)
        self.hand.write("#f-by", "Board of review")
        self.hand.press("#write")
        self.visit.wait("h1:has-text('Released')")
        self.measured()
