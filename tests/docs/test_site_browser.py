"""The site opened from disk in a browser without a network: equations are drawn, nothing else is asked for."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

import pytest

from tests.helpers.browser import opened
from tests.helpers.site_build import Built, built

pytest.importorskip("sphinx", reason="the site is built with the extra `docs`")
EQUATION = re.compile(r'class="math[^"]*"[^>]*>\s*\\[(\[](.*?)\\[)\]]\s*</(?:span|div)>', re.S)
WRONG = "texts => texts.filter(t => MathJax.tex2svg(t).querySelector('[data-mjx-error], [fill=red]'))"
DRAWN = """() => {
    const wanted = document.querySelectorAll('.math').length;
    return wanted > 0 && document.querySelectorAll('.math mjx-container > svg').length >= wanted;
}"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Built:
    return built(tmp_path_factory)


@pytest.mark.slow
@pytest.mark.parametrize("page", ["docs/explanation/attack.html", "docs/reference/protect.html"])
def test_equations_are_drawn_from_disk(page: str, site: Built, browser: Any) -> None:
    with opened(browser, site.folder / page, width=400) as seen:
        seen.wait(DRAWN)
        assert seen.page.evaluate("document.documentElement.scrollWidth") <= 400
        assert (seen.outside, seen.errors) == ([], [])


@pytest.mark.slow
def test_every_equation_can_be_drawn(site: Built, browser: Any) -> None:
    pages = [page.read_text(encoding="utf-8") for page in site.folder.rglob("*.html")]
    texts = sorted({unescape(text) for page in pages for text in EQUATION.findall(page)})
    assert len(texts) > 200
    with opened(browser, site.folder / "docs/explanation/attack.html") as seen:
        seen.wait(DRAWN)
        assert seen.page.evaluate(WRONG, texts) == []


@pytest.mark.slow
def test_first_page_leads_to_the_index(site: Built, browser: Any) -> None:
    with opened(browser, site.folder / "index.html") as seen:
        seen.page.wait_for_selector("text=all pages")
        assert seen.page.url.endswith("/docs/index.html")
        assert seen.page.locator(".sidebar-tree a.reference").count() > 20
        assert (seen.outside, seen.errors) == ([], [])


@pytest.mark.slow
def test_search_works_from_disk(site: Built, browser: Any) -> None:
    where = (site.folder / "search.html").as_uri() + "?q=RankSwap"
    with opened(browser, where) as seen:
        seen.page.wait_for_selector("#search-results li a")
        assert "confide.RankSwap" in seen.page.locator("#search-results").inner_text()
        assert (seen.outside, seen.errors) == ([], [])
