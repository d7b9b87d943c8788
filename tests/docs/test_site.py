"""The site builds without a warning, holds every page and every public name, and needs nothing from outside."""

from __future__ import annotations

import importlib.util
import re
import zlib
from functools import cache
from pathlib import Path
from types import ModuleType
from urllib.parse import unquote, urlsplit

import pytest

import confide
from tests.helpers.site_build import ROOT, Built, Elements, built

pytest.importorskip("sphinx", reason="the site is built with the extra `docs`")
PAGES = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", *(p.relative_to(ROOT) for p in ROOT.glob("docs/**/*.md"))]
MATHJAX = "tex-svg-full.js"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Built:
    return built(tmp_path_factory)


@pytest.fixture(scope="module")
def pages(site: Built) -> dict[Path, Elements]:
    return {page: Elements(page) for page in site.folder.rglob("*.html")}


@cache
def site_text() -> ModuleType:
    """docs/site_text.py as a module."""
    spec = importlib.util.spec_from_file_location("site_text", ROOT / "docs/site_text.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
def test_builds_without_a_word(site: Built) -> None:
    assert site.said == ""


@pytest.mark.slow
def test_every_page_is_in_the_site(site: Built) -> None:
    assert [str(p) for p in PAGES if not (site.folder / p).with_suffix(".html").exists()] == []


@pytest.mark.slow
def test_every_public_name_is_in_the_reference(site: Built) -> None:
    packed = (site.folder / "objects.inv").read_bytes().split(b"\n", 4)[4]
    listed = {line.split()[0] for line in zlib.decompress(packed).decode().splitlines()}
    missing = sorted(n for n in confide.__all__ if n != "__version__" and f"confide.{n}" not in listed)
    assert missing == [], f"add to a page of docs/reference, as `.. autoclass:: confide.Swap`: {missing}"


@pytest.mark.slow
def test_nothing_is_loaded_from_outside(pages: dict[Path, Elements]) -> None:
    wanted = {(page, load) for page, found in pages.items() for load in found.loads}
    for sheet in {(page.parent / unquote(load.split("?")[0])).resolve() for page, load in wanted if ".css" in load}:
        inside = re.findall(r"url\(['\"]?([^)'\"]+)|@import\s+['\"]([^'\"]+)", sheet.read_text(encoding="utf-8"))
        wanted |= {(sheet, "".join(each)) for each in inside}
    assert len(wanted) > 100
    assert [(page.name, load) for page, load in wanted if not _is_here(page, load)] == []


def _is_here(page: Path, load: str) -> bool:
    parts = urlsplit(load)
    if parts.scheme == "data":
        return True
    return not parts.scheme and not parts.netloc and (page.parent / unquote(parts.path)).is_file()


@pytest.mark.slow
def test_links_inside_the_site_lead_somewhere(pages: dict[Path, Elements]) -> None:
    lost = []
    for page, found in pages.items():
        for link in found.links:
            parts = urlsplit(link)
            if parts.scheme:
                continue
            target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            places = pages[target].places if target in pages else {""}
            if not target.is_file() or unquote(parts.fragment) not in places | {""}:
                lost.append((page.name, link))
    assert lost == []


@pytest.mark.slow
def test_equations_have_their_script(site: Built) -> None:
    assert (site.folder / "_static" / MATHJAX).stat().st_size > 1_000_000
    for page in ("docs/explanation/attack.html", "docs/reference/protect.html"):
        text = (site.folder / page).read_text(encoding="utf-8")
        assert text.count('class="math') > 10
        assert f'src="{"../" * page.count("/")}_static/{MATHJAX}' in text


@pytest.mark.slow
def test_papers_are_cited_from_pages_and_docstrings(site: Built, pages: dict[Path, Elements]) -> None:
    entries = (ROOT / "docs/references.bib").read_text(encoding="utf-8").count("\n@") + 1
    listed = (site.folder / "docs/reference/references.html").read_text(encoding="utf-8")
    assert listed.count('class="citation"') == entries
    citing = {p.relative_to(site.folder).as_posix() for p, found in pages.items() if _cites(found)}
    api = {"docs/reference/attack.html", "docs/reference/tables.html"}
    assert {"docs/explanation/attack.html", "CHANGELOG.html"} | api <= citing


def _cites(page: Elements) -> bool:
    return any(re.search(r"references\.html#\w+", link) for link in page.links)


@pytest.mark.parametrize(
    ("text", "cited"),
    [
        ("Reiter (2005) computes", "Reiter ({}`reiter2005`) computes"),
        ("(Fienberg, Makov and\nSanil, 1997)", "(Fienberg, Makov and\nSanil, {}`fienberg1997`)"),
        ("Reiter 2005b; Snoke and others 2018", "Reiter {}`reiter2005b`; Snoke and others {}`snoke2018`"),
        ("# Reiter (2005)", None),
        ("[Reiter (2005), redone](reiter.md)", None),
        ("`Reiter (2005)` and\n```text\nReiter (2005)\n```\n", None),
        ("Reiter (1905), Kreiter (2005), Reiter, J. P. (2005)", None),
    ],
)
def test_years_become_citations(text: str, cited: str | None) -> None:
    assert site_text().cited(text, "{}") == (text if cited is None else cited)


def test_papers_named_with_a_year_are_in_the_bibliography() -> None:
    """So that "Somebody (1999)" on a page or in the code can be looked up."""
    text_of, unknown = site_text(), {}
    year, name = r"(?:19|20)\d\d[a-z]?\b", r"[A-Z][\w-]+(?:'s)?"
    named = re.compile(rf"{name}\s+\({year}\)|\band\s+{name},?\s+\(?{year}|\bothers,?\s+\(?{year}")
    for place in (*PAGES, *(p.relative_to(ROOT) for p in ROOT.glob("src/**/*.py"))):
        text = text_of.cited((ROOT / place).read_text(encoding="utf-8"), "cited")
        if found := named.findall(re.sub(text_of.LEFT_ALONE, "", text, flags=re.M | re.S)):
            unknown[str(place)] = found
    assert unknown == {}, "add them to docs/references.bib"
