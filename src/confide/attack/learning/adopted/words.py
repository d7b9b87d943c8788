"""Sentences of a printout, and the same in a notebook."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from html import escape

WIDTH = 120


def wrapped(sentences: Iterable[str], indent: str = "") -> list[str]:
    """Sentences as lines that are not too long.

    >>> [len(line) for line in wrapped(["word " * 30])]
    [119, 29]
    """
    how = {"break_on_hyphens": False, "initial_indent": indent, "subsequent_indent": indent}
    return [line for said in sentences for line in textwrap.wrap(said, WIDTH, **how)]  # type: ignore[arg-type]


def beneath(page: str, sentences: Iterable[str]) -> str:
    """A table in a notebook with the sentences of the printout beneath it: whoever decides by it reads them.

    >>> beneath("<table></table>", ["a < b"])
    '<table></table><p>a &lt; b</p>'
    """
    return page + "".join(f"<p>{escape(said)}</p>" for said in sentences)
