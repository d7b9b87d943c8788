"""The pages run: every Python block of README.md and docs/**/*.md, in order, one namespace per page.

A fenced ``text`` block right after a Python block (at most "It prints" between them) is its output and is compared:
words exactly, numbers to one percent or one unit of the last digit shown, since the last digits of a fit depend on the
versions of numerical libraries. Marks on the fence: ``python no-run`` is not run, ``text no-compare`` is not compared
(timings), and of ``text solved`` only the words are, unless the processor is of the kind that the page was made on: what
a quantile regression gives depends on it. After a change that moves numbers,

    python -m tests.docs.test_docs docs/explanation/attack.md ...

runs the pages named and writes their outputs anew.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import sys
import tempfile
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pytest
from threadpoolctl import threadpool_limits

from tests.helpers.places import ROOT
from tests.helpers.processor import of_that_kind

PAGES = ["README.md", *sorted(p.relative_to(ROOT).as_posix() for p in ROOT.glob("docs/**/*.md"))]
FAST = {"README.md"}
"""Pages of the fast lane; most others take seconds to minutes."""

TOGETHER = {
    paper: [p for p in PAGES if p.startswith(f"docs/explanation/papers/{paper}")] for paper in ("huckett", "reiter")
}
"""Pages that begin with the same experiment, which takes long, by paper."""
ALONE = [p for p in PAGES if all(p not in pages for pages in TOGETHER.values())]

_FENCE = re.compile(r"^```(\w*)([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_NUMBER = re.compile(r"(?<![\w.,])[+-]?\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?")
_TO_COME = re.compile(r"^[A-Z_]{4,}$", re.MULTILINE)
_BETWEEN = ("", "It prints")


@dataclass(frozen=True)
class Block:
    """One Python block. `output`: what the page says it prints; `span`: where it says so; None where it does not."""

    code: str
    line: int
    output: str | None
    span: tuple[int, int] | None
    compared: bool
    solved: bool = False


def blocks(text: str) -> Iterator[Block]:
    """The Python blocks of a page that are to be run."""
    fences = list(_FENCE.finditer(text))
    for here, following in zip_longest(fences, fences[1:]):
        if here[1] != "python" or "no-run" in here[2].split():
            continue
        line = text[: here.start()].count("\n") + 2
        if following is None or following[1] != "text" or text[here.end() : following.start()].strip() not in _BETWEEN:
            yield Block(here[3], line, None, None, compared=False)
        else:
            marks = following[2].split()
            yield Block(here[3], line, following[3], following.span(3), "no-compare" not in marks, "solved" in marks)


def run(page: str) -> Iterator[tuple[Block, str]]:
    """Run a page block by block, warnings as errors; yields each block with what it printed."""
    namespace: dict[str, Any] = {"__name__": "page"}
    for block in blocks((ROOT / page).read_text(encoding="utf-8")):
        # Empty lines first, so that a traceback shows the line of the page.
        code = compile("\n" * (block.line - 1) + block.code, page, "exec")
        printed = io.StringIO()
        with warnings.catch_warnings(), contextlib.redirect_stdout(printed), _one_blas_thread():
            warnings.simplefilter("error")
            exec(code, namespace)
        yield block, printed.getvalue()


def _one_blas_thread() -> Any:
    """Test workers that each start a BLAS thread per core wait for each other: eight times slower on busy cores."""
    return threadpool_limits(limits=1, user_api="blas")


def same(shown: str, printed: str, numbers_too: bool = True) -> bool:
    """Equal words; numbers equal but for their last digits. Alignment is not compared."""
    words = [" ".join(_NUMBER.sub("#", text).split()) for text in (shown, printed)]
    numbers = [_NUMBER.findall(text) for text in (shown, printed)]
    return words[0] == words[1] and (not numbers_too or all(map(_close, *numbers)))


def _close(a: str, b: str) -> bool:
    x, y = (float(t.replace(",", "")) for t in (a, b))
    digits = len(a.partition("e")[0].partition(".")[2])
    unit = 0.0 if "." not in a or "e" in a else 1.001 * 10.0**-digits
    return abs(x - y) <= max(unit, 0.01 * abs(x))


@pytest.mark.parametrize("page", [p if p in FAST else pytest.param(p, marks=pytest.mark.slow) for p in ALONE], ids=str)
def test_page_runs(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for block, printed in run(page):
        if block.compared and block.output is not None:
            numbers_too = not block.solved or of_that_kind()
            assert same(block.output, printed, numbers_too), f"{page}, line {block.line}, prints now:\n{printed}"


@pytest.mark.slow
@pytest.mark.parametrize("paper", TOGETHER)
def test_pages_of_one_paper_run(paper: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its experiment, with which all of them begin, is done once."""
    module = import_module(f"papers.{paper}.paper")
    monkeypatch.setattr(module, "experiment", cache(module.experiment))
    for page in TOGETHER[paper]:
        test_page_runs(page, tmp_path, monkeypatch)
    assert module.experiment.cache_info().currsize == 1


def test_comparison_sees_differences() -> None:
    assert same("matches 1,406.5\nz -0.4", "matches  1,407.9\nz -0.5")
    assert not same("matches 406.5", "matches 412.5")
    assert not same("matches 406.5", "risks 406.5")
    assert not same("rows 20", "rows 21")
    assert same("rows 20", "rows 31", numbers_too=False)
    assert not same("rows 20", "runs 20", numbers_too=False)
    assert not same("a 1 2", "a 1")


def test_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) < 120


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page: str) -> None:
    here = ROOT / page
    text = _FENCE.sub("", here.read_text(encoding="utf-8"))
    links = [link.partition("#")[0] for link in _LINK.findall(text) if "://" not in link]
    assert [link for link in links if link and not (here.parent / link).exists()] == []


def test_no_place_is_left_to_be_filled() -> None:
    """A table to come was once a word in capitals on a line of its own."""
    left = {p: _TO_COME.findall(_FENCE.sub("", (ROOT / p).read_text(encoding="utf-8"))) for p in PAGES}
    assert {p: words for p, words in left.items() if words} == {}
    assert _TO_COME.findall("one\n\nSOMETABLE\n\ntwo") == ["SOMETABLE"]


def test_index_lists_every_page() -> None:
    listed = set(_LINK.findall((ROOT / "docs/index.md").read_text(encoding="utf-8")))
    assert {p.removeprefix("docs/") for p in PAGES if p.startswith("docs/")} - {"index.md"} <= listed


def _update(page: str) -> None:
    """Write a page's outputs anew."""
    path, pieces, at = ROOT / page, [], 0
    text = path.read_text(encoding="utf-8")
    for block, printed in run(page):
        if block.span is not None:
            shown = "\n".join(line.rstrip() for line in printed.strip("\n").splitlines())
            pieces += [text[at : block.span[0]], shown, "\n"]
            at = block.span[1]
    path.write_text("".join([*pieces, text[at:]]), encoding="utf-8")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for name in sys.argv[1:]:
            _update(name)
