"""The answer of a look in sentences: the same on screen and on its page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import polars as pl

from confide.core.shares import percent
from confide.core.visible import visible
from confide.study.look.attacks import SURE, UNSURE
from confide.study.look.groups import SMALLEST

if TYPE_CHECKING:
    from confide.study.look.result import Look

SENSITIVE = (
    "Not 2-diverse: all who are alike have one value, so that it is learnt without telling them apart; whoever is "
    "alone is among them. Not 0.2-close: values among those alike are distributed unlike the file's. Different "
    "numbers count as different however near they are, which flatters diversity of incomes and the like."
)
NO_VALUE = (
    "Where none of those alike has a value they count as not diverse too, but no value is learnt: they stand in a "
    "column of their own."
)
WAYS = (
    "Several at once: cf.generalise searches coarser forms of all keys for the one that loses least; "
    "cf.LocalSuppression hides single values of those who remain."
)
MOST_LISTED = 10
STRONG = 0.5
"""A key does it if without it less than this share of those alone would be."""


LONGEST = 28
"""Letters of a label that stand beside a name."""


def named(look: Look, name: str) -> str:
    """A variable with its label beside it, where it has one."""
    label = visible(look.label(name))
    if not label:
        return visible(name)
    return f"{visible(name)} ({label if len(label) <= LONGEST else label[: LONGEST - 3].rstrip() + '...'})"


def added(look: Look, name: str) -> str:
    """A key in the order of growth; the last step may be of several."""
    return named(look, name) if name in look.stated.keys else visible(name)


def listed(names: Sequence[str], last: str = "and") -> str:
    """Names in a sentence.

    >>> listed(["sex"]), listed(["sex", "age"]), listed(["sex", "age", "state"], "or")
    ('sex', 'sex and age', 'sex, age or state')
    """
    shown = [visible(n) for n in names]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} {last} {shown[-1]}"


def keys_listed(look: Look) -> str:
    """The keys in a sentence; of many only how many there are."""
    keys = look.stated.keys
    return listed([named(look, v) for v in keys]) if len(keys) <= MOST_LISTED else f"values of all {len(keys)} keys"


def answer(look: Look) -> list[str]:
    """Who could be recognised, by what, and where to begin."""
    n, c, keys, who = look.rows, look.counted, keys_listed(look), look.who
    if c.alone:
        many = f"{percent(c.alone, n)} of {who.many} ({c.alone:,} of {n:,})"
        first = f"{many} are alone: nobody else in the file has their {keys}."
    else:
        least = int(look.frame["alike"].min())  # type: ignore[arg-type]
        first = f"Nobody is alone: everybody shares {keys} with at least {least - 1:,} other{'s' * (least != 2)}."
    found = look.found(SURE)
    said = [first]
    if found is not None:
        said.append(
            f"Somebody who knows these and that a {who.one} is in the file would find {percent(found, n)} of "
            f"{who.many}."
        )
    return [*said, *_unsure(look), *_drivers(look)]


def _unsure(look: Look) -> list[str]:
    found = look.found(UNSURE)
    if found is None:
        return []
    how = "counted in the population" if look.stated.counted else "estimated"
    how += ", which does not fit this file: see what limits these numbers" if look.short else ""
    share = percent(found, look.rows)
    return [f"Who does not know that the {look.who.one} is in the file would find {share} ({how})."]


def _drivers(look: Look) -> list[str]:
    """The keys without which hardly anybody would stand alone."""
    if look.drivers.height < 2 or not look.counted.alone:
        return []
    rows = look.drivers.sort("alone_without", maintain_order=True)
    strong = rows.filter(pl.col("alone_without") < STRONG * look.counted.alone)
    do_it = strong.head(3)
    if not do_it.height:
        top = rows.row(0, named=True)
        return [
            f"No single key does it: without {named(look, top['variable'])}, which does most, "
            f"{percent(top['alone_without'], look.rows)} would still be alone. Begin there, and make several coarser."
        ]
    parts = [f"{visible(r['variable'])} {percent(r['alone_without'], look.rows)}" for r in do_it.iter_rows(named=True)]
    who = [named(look, v) for v in do_it["variable"]]
    all_of = (
        f"Each of the {rows.height} keys matters" if strong.height == rows.height else f"Most is done by {listed(who)}"
    )
    return [
        f"{all_of}: without {listed(parts, 'or')} would be alone. Begin there, with broader classes or larger areas."
    ]


def small_words(look: Look) -> str:
    """How many groups are too small to be shown; empty where none is."""
    many = look.small_groups
    few = f"group{'s' * (many != 1)} of fewer than {SMALLEST} {look.who.many} {'is' if many == 1 else 'are'} not shown."
    return f"{many:,} {few}" if many else ""


def guessed_words(look: Look) -> str:
    """Which roles nobody has confirmed; empty where all are stated."""
    order = [r for r in ("keys", "sensitive", "weight", "unit") if r in look.stated.guessed]
    if not order:
        return ""
    return f"Guessed, not confirmed: {listed(['what is ' + r if r == 'sensitive' else 'the ' + r for r in order])}."
