"""Lists of names in the pages are those of the registry. `python -m tests.docs.test_lists` writes them."""

from __future__ import annotations

import re

import pytest

from confide.core.documents.settings import settings_of, subject_of
from confide.core.registry import KINDS, first_sentence, known
from tests.helpers.places import DOCS

PAGE = DOCS / "reference" / "documents.md"
REFERENCE = {"method": "protect.md", "measure": "measure.md", "scheme": "tables.md", "risk": "measure.md"}
PLACE = {"risk": "confide.measures"}
LIST = re.compile(r"(<!-- registered: (\w+) -->\n)(.*?)(<!-- end -->)", re.DOTALL)


def listed(word: str) -> str:
    """The table of everything registered of a kind."""
    rows = ["| name | class | what it does | needs | may have |", "| --- | --- | --- | --- | --- |"]
    for name, cls in known(word).items():
        told = ("label", subject_of(cls) if word == "method" else None)
        settings = {n: s for n, s in settings_of(cls).items() if n not in told}
        split = [", ".join(f"`{n}`" for n, s in settings.items() if s.required is must) for must in (True, False)]
        what = first_sentence(cls).replace("|", "\\|")
        rows.append(f"| `{name}` | `{cls.__name__}` | {what} | {split[0]} | {split[1]} |")
    return "\n".join(rows) + "\n"


def renewed(text: str) -> str:
    """A page with its lists as they are now."""
    return LIST.sub(lambda m: f"{m[1]}\n{listed(m[2])}\n{m[4]}", text)


def test_lists_are_those_of_the_registry() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert {m[2] for m in LIST.finditer(text)} == set(KINDS)
    assert text == renewed(text), "write them: python -m tests.docs.test_lists"


@pytest.mark.parametrize("word", KINDS)
def test_every_name_has_a_page_and_a_reference(word: str) -> None:
    pages = "\n".join(p.read_text(encoding="utf-8") for p in DOCS.rglob("*.md") if p.parent.name != "reference")
    reference = (DOCS / "reference" / REFERENCE[word]).read_text(encoding="utf-8")
    for cls in known(word).values():
        assert re.search(rf"\b{cls.__name__}\b", pages), f"no page tells of {cls.__name__}"
        assert f"{PLACE.get(word, 'confide')}.{cls.__name__}\n" in reference


def test_the_table_of_measures_says_what_they_say() -> None:
    """The page on utility has a table of its own, with the direction and the best value."""
    row = re.compile(r"^\| `(\w+)` \| `(\w+)` \| [^|]* \| (higher|lower) \| [^|]* \| (\d) \|$", re.MULTILINE)
    found = [m for p in DOCS.rglob("*.md") for m in row.findall(p.read_text(encoding="utf-8"))]
    assert {(cls, short) for cls, short, *_ in found} == {(c.__name__, n) for n, c in known("measure").items()}
    needs = {"formula": "age ~ sex", "estimates": ["mean(age)"]}
    for _, short, direction, best in found:
        cls = known("measure")[short]
        measure = cls(**{n: needs[n] for n, s in settings_of(cls).items() if s.required})
        assert (measure.direction, measure.best) == (direction, float(best))


if __name__ == "__main__":
    PAGE.write_text(renewed(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
