"""Whom the rows of a file are about, so that firms are not called people."""

from __future__ import annotations

from dataclasses import dataclass

from confide.frames.roles.result import Roles
from confide.frames.roles.words import KNOWN, said, terms, words_of

FIRMS = terms("""
    nace naics naicsp sic isic turnover umsatz employees headcount legalform rechtsform exporter enterprise enterprises
    firm firms company companies establishment establishments betrieb betriebe unternehmen sizeclass ent entid
""")
"""Words in names of variables that files of firms have."""
ENOUGH = 2
"""Variables with such words that a file of firms has at least."""


@dataclass(frozen=True)
class Who:
    """What a row is about: one of them, and several."""

    one: str
    many: str


PEOPLE, FIRM = Who("person", "people"), Who("firm", "firms")


def who_of(roles: Roles) -> Who:
    """Firms where several variables are such as firms have and none is a person's sex, age or marriage; else people.

    >>> import confide as cf
    >>> who_of(cf.roles({"nace": [1, 2], "turnover": [3.0, 4.0]})).many, who_of(cf.roles({"nace": [1, 2]})).many
    ('firms', 'people')
    """
    words = [[*words_of(r["variable"]), *words_of(r["label"])] for r in roles.frame.iter_rows(named=True)]
    persons = frozenset().union(*(KNOWN[group][0] for group in ("sex", "age", "marital")))
    if any(said(w, persons) for w in words) or sum(bool(said(w, FIRMS)) for w in words) < ENOUGH:
        return PEOPLE
    return FIRM
