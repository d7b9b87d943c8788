"""What is added to the pages when they become a site: citations, and the tables of contents of the index."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from pybtex.database import BibliographyData, parse_file

# What a page or docstring says in plain words, "Reiter (2005)", becomes a citation in the site. Code, headings,
# equations and links are matched first, and left as they are.
LEFT_ALONE = r"^```.*?^```$|^#[^\n]*$|``.*?``|`[^`]*`|\$\$.*?\$\$|\$[^$\n]*\$|!?\[[^\]]*\]\([^)]*\)"


def names(entry: Any) -> list[str]:
    """How a text may name the authors: all of them, or the first "and others"."""
    last = [" ".join(person.prelast_names + person.last_names) for person in entry.persons["author"]]
    everybody = " and ".join(filter(None, [", ".join(last[:-1]), last[-1]]))
    return [everybody, f"{last[0]} and others"] if len(last) > 2 else [everybody]


def citations(bibliography: BibliographyData) -> dict[tuple[str, str], str]:
    """(names, year) to key."""
    return {(n, e.fields["year"]): k for k, e in bibliography.entries.items() for n in names(e) if "year" in e.fields}


KEYS = citations(parse_file(Path(__file__).with_name("references.bib")))
NAMED = "|".join(sorted({re.escape(n).replace(r"\ ", r"\s+") for n, _ in KEYS}, key=len, reverse=True))
PAPER = rf"(?P<names>\b(?:{NAMED}))(?P<between>(?:'s)?,?\s+\(?)(?P<year>\d{{4}}[a-z]?)\b"
CITED = re.compile(rf"(?P<left>{LEFT_ALONE})|{PAPER}", re.M | re.S)


def cited(text: str, role: str) -> str:
    """The text with its years as citations: Reiter ({cite:year}`reiter2005`)."""

    def replace(found: re.Match[str]) -> str:
        key = None if found["left"] else KEYS.get((" ".join(found["names"].split()), found["year"]))
        return found[0] if key is None else f"{found['names']}{found['between']}{role}`{key}`"

    return CITED.sub(replace, text)


def with_tree(index: str) -> str:
    """The index with a hidden table of contents for each of its headings: the pages listed there, in that order."""
    trees = []
    for part in index.split("\n## ")[1:]:
        entries = re.findall(r"^- \[(.*?)\]\((.*?)\.md\)", part, re.M)
        listed = "\n".join(f"{title} <{page}>" for title, page in entries)
        trees.append(f"```{{toctree}}\n:hidden:\n:caption: {part.splitlines()[0]}\n\n{listed}\n```\n")
    return "\n".join([index, *trees])
