"""The report in a browser: drawn without network or errors, readable wide and narrow, usable without eyes or mouse."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from confide.theory import NoiseRelease
from tests.helpers.browser import Opened, opened
from tests.helpers.page_checks import page_faults

DRAWN = "document.documentElement.dataset.drawn === 'yes'"
WIDTHS = (1280, 400)


def unfolded(seen: Opened) -> None:
    """Wait for the charts, then open all that is folded and wait for those inside."""
    seen.wait(DRAWN)
    seen.page.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
    seen.wait("[...document.querySelectorAll('figure[data-chart]')].every((f) => f.dataset.drawn)")


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", ["inside.html", "outside.html"])
def test_page(browser: Any, reports: Path, name: str, width: int) -> None:
    with opened(browser, reports / name, width) as seen:
        unfolded(seen)
        page, requests, errors = seen
        assert errors == []
        assert requests == [(reports / name).as_uri()]
        empty = "[...document.querySelectorAll('figure')].filter((f) => f.querySelectorAll('svg :is(path, rect)').length < 3).length"
        assert page.evaluate(empty) == 0
        assert page.evaluate("document.querySelectorAll('figure svg').length") >= 10
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page_faults(page) == []
        kinds = set(page.evaluate("[...document.querySelectorAll('figure[data-chart]')].map((f) => f.dataset.drawn)"))
        assert kinds == {"wide" if width == 1280 else "narrow"}
        shown = (
            "[...document.querySelectorAll('.drawn > div')].filter((d) => d.checkVisibility()).map((d) => d.className)"
        )
        assert set(page.evaluate(shown)) == kinds
        assert page.evaluate("window.hacked === undefined && !document.querySelector('b')")


def test_charts_follow_the_window(browser: Any, reports: Path) -> None:
    with opened(browser, reports / "outside.html", 1280) as seen:
        seen.wait(DRAWN)
        seen.page.set_viewport_size({"width": 420, "height": 800})
        seen.wait(
            "[...document.querySelectorAll('section > figure[data-chart]')].every((f) => f.dataset.drawn === 'narrow')"
        )
        assert seen.page.evaluate("document.documentElement.scrollWidth") <= 420
        assert seen.errors == []


def test_the_slider_moves_the_numbers(browser: Any, reports: Path) -> None:
    with opened(browser, reports / "inside.html") as seen:
        seen.wait(DRAWN)
        seen.page.locator("#theory > details > summary").focus()
        seen.page.keyboard.press("Enter")
        slider = seen.page.get_by_label("Variance of the noise")
        slider.fill("2")
        release = NoiseRelease(100, 1.0, 2**0.5)
        said = f"R = {release.risk('shrink_known'):.4f} by that value"
        seen.wait(f"document.querySelector('#theory-noise svg').textContent.includes({said!r})")
        slider.press("ArrowRight")
        seen.wait("document.querySelector('#theory-noise svg').textContent.includes('Variance 2.05')")
        assert seen.errors == []


def test_without_scripts_there_are_pictures(browser: Any, reports: Path) -> None:
    with opened(browser, reports / "outside.html", java_script_enabled=False) as seen:
        pictures = seen.page.locator("section > figure noscript img, section > figure .drawing img")
        assert pictures.count() >= 5
        drawn = "[...document.querySelectorAll('.drawn svg')].filter((s) => s.checkVisibility()).length"
        assert seen.page.evaluate(drawn) >= 5
        assert seen.outside == []


BROKEN = {
    "contrast": ("color: var(--quiet)", "color: #b0b0b0"),
    "letters of": ("figcaption { margin", "figcaption { font-size: 9px !important; margin"),
    "picture without words": ('role="img" aria-label="', 'role="img" data-label="'),
    "heading level skipped": ("<h2>", "<h4>"),
    "table heads without scope": (' scope="col"', ""),
    "id twice": ('id="terms"', 'id="compared"'),
    "page wider than the window": (
        ".verdict { font-size: 22px;",
        ".verdict { width: 1500px; max-width: none !important;",
    ),
    "scrolls, but not by keyboard": (' tabindex="0" role="region"', ' role="region"'),
    "no language": ('<html lang="en">', "<html>"),
}


def test_the_checks_see_what_is_broken(browser: Any, reports: Path, tmp_path: Path) -> None:
    """Each fault put into the page is found by its own check; the charts are left out, to be quick."""
    text = (reports / "outside.html").read_text(encoding="utf-8")
    text = text[: text.rindex("<script>(() => {", 0, text.rindex("<script>"))] + "</body></html>"
    text = text.replace('<div class="drawing">', '<div class="drawing"><svg width="9" height="9"></svg>')
    file = tmp_path / "broken.html"
    file.write_text(text, encoding="utf-8")
    with opened(browser, file, 400) as seen:
        assert page_faults(seen.page) == []
        for what, (right, wrong) in BROKEN.items():
            assert right in text, what
            file.write_text(text.replace(right, wrong), encoding="utf-8")
            # On narrow pages tables stack, so that none scrolls.
            seen.page.set_viewport_size({"width": 700 if what.startswith("scrolls") else 400, "height": 800})
            seen.page.goto(file.as_uri())
            seen.page.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
            assert any(what in fault for fault in page_faults(seen.page)), what
