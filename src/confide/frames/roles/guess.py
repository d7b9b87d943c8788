"""The role of each variable, with the reason: rules that read names first, then labels, then values."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import polars as pl

from confide.frames.doubts import AMOUNTS
from confide.frames.roles.facts import Facts
from confide.frames.roles.guessed import Guessed
from confide.frames.roles.weights import doubt_weights, weight_of
from confide.frames.roles.words import (
    COUNTED,
    COUNTED_TOO,
    KNOWN,
    LOOKED_UP,
    NAMES_PEOPLE,
    NUMBERS_PEOPLE,
    PLACES,
    PRIVATE,
    UNITS,
    said,
)

ROLES = ("identifier", "unit", "weight", "geography", "key", "sensitive", "other")
MOST_KEYS = 8
"""Keys that are used where they are guessed; nobody knows everything of a person."""
ROWS_PER_UNIT = (1.15, 60.0)
"""Rows per value, on average, of a variable that says which rows are of one unit."""
COORDINATES = frozenset(["lat", "lon", "lng", "latitude", "longitude"])
CLASSES = 20
"""Values up to which a variable without a telling name may be something that others know."""


def guesses(facts: Sequence[Facts]) -> list[Guessed]:
    """The role of every variable, in the order of the file; at most one weight and one unit."""
    found = doubt_weights([_one(f) for f in facts])
    found = _only(found, "weight", _weight_rank, "another weight is taken")
    return _only(found, "unit", _unit_rank, "another variable is taken for the unit")


def _one(f: Facts) -> Guessed:
    return next(g for rule in RULES if (g := rule(f)) is not None)


def _unusable(f: Facts) -> Guessed | None:
    if not f.kind:
        return Guessed(f, "other", "Lists, structures or bytes: cannot be compared.")
    if not f.present:
        return Guessed(f, "other", "All values are missing.")
    if f.distinct == 1:
        return Guessed(f, "other", "One value for everybody: tells nobody apart.")
    return None


def _names(f: Facts) -> Guessed | None:
    """What names or numbers people: by its name, or because no two rows share a value."""
    numbers = said(f.name_words[-1:], NUMBERS_PEOPLE) or said(["".join(f.name_words)], NUMBERS_PEOPLE)
    unit = said(f.name_words, UNITS) if all(said([w], UNITS | NUMBERS_PEOPLE) for w in f.name_words) else ""
    if (numbers or unit) and f.different and (numbers or not f.dtype.is_float()):
        return Guessed(f, "identifier", "One value per row, with the name of a number. Never released.")
    word = said(f.name_words, NAMES_PEOPLE)
    if word and not _count_of(f, word) and f.distinct > CLASSES and not f.dtype.is_float():
        return Guessed(f, "identifier", f'"{word}" in its name: names people. Never released.', not f.different)
    low, high = ROWS_PER_UNIT
    repeats = f.present / max(f.distinct, 1)
    named = unit
    unit = unit or (said(f.label_words, UNITS) if said(f.label_words[-1:], NUMBERS_PEOPLE) else "")
    if (numbers or unit) and f.distinct > CLASSES and low <= repeats <= high and (f.whole or not f.number):
        which = "a unit" if unit else "a number"
        return Guessed(f, "unit", f"{repeats:.1f} rows per value, with the name of {which}.", not named)
    return None


def _place(f: Facts) -> Guessed | None:
    word = said(f.name_words, PLACES) or _first(f.label_words, PLACES)
    if not word or _amount(f):
        return None
    return Guessed(
        f, "geography", f'A place ("{word}" in its {_where(f, word)}), {f.distinct:,} values.', group="place"
    )


def _place_in(f: Facts, word: str) -> Guessed | None:
    """A place further on in a label."""
    why = f'A place ("{word}" in its label), {f.distinct:,} values.'
    return Guessed(f, "geography", why, group="place") if said([word], PLACES) and not _amount(f) else None


def _private_name(f: Facts) -> Guessed | None:
    return _private(f, f.name_words)


def _private(f: Facts, words: Sequence[str]) -> Guessed | None:
    for listed, what in PRIVATE.values():
        word = said(words, listed)
        if word:
            held = said([*f.name_words, *f.label_words], LOOKED_UP)
            more = f' "{held}": registers may hold it.' if held else ""
            why = f'{what.capitalize()} ("{word}" in its {_where(f, word)}), {f.distinct:,} values.{more}'
            return Guessed(f, "sensitive", why, bool(held))
    return None


def _known_name(f: Facts) -> Guessed | None:
    return _known(f, f.name_words)


def _known(f: Facts, words: Sequence[str]) -> Guessed | None:
    for group, (listed, what) in KNOWN.items():
        word = said(words, listed)
        if not word:
            continue
        why = f'{what.capitalize()} ("{word}" in its {_where(f, word)}), {f.distinct:,} values.'
        if group == "household" or (group == "work" and f.distinct <= 2):
            return Guessed(f, "other", f"{why} Neighbours often know it.", True, group, known=True)
        if f.different and not f.dates:
            return Guessed(f, "other", f"{why} As many as rows: too exact to be known.", True, group, known=True)
        return Guessed(f, "key", why, group == "firm", group)
    return None


def _label(f: Facts) -> Guessed | None:
    """By its label where the name tells nothing; the first word that is listed counts."""
    for word in f.label_words:
        found = _private(f, [word]) or _known(f, [word]) or _place_in(f, word)
        if found:
            return replace(found, doubtful=True)
    return None


def _values(f: Facts) -> Guessed | None:
    if f.dates:
        why = f"Dates{' as text' * f.written}, {f.distinct:,} values: others may know when something happened."
        return Guessed(f, "other", why, True, known=True)
    if f.different and (f.dtype == pl.String or (f.dtype.is_integer() and f.positive)):
        return Guessed(f, "identifier", "One value per row. Never released.", f.dtype != pl.String)
    if f.number and {*f.name_words} & COUNTED:
        return Guessed(f, "other", f"{f.distinct:,} values: a count, or classes?", True, known=f.kind != "numeric")
    what = "a number, " if f.kind == "numeric" else ""
    return Guessed(f, "other", f"Not judged, no telling name: {what}{f.distinct:,} values.", judged=False)


RULES: tuple[Callable[[Facts], Guessed | None], ...] = (
    _unusable, weight_of, _names, _private_name, _known_name, _place, _label, _values,
)  # fmt: skip
"""In this order; the first that says something is right."""


def _count_of(f: Facts, word: str) -> bool:
    """Whether a variable with such a word in its name counts or measures something: many rows share a number."""
    return word in COUNTED_TOO and f.number and len(f.name_words) > 1 and 2 * f.distinct < f.present


def _first(words: Sequence[str], listed: frozenset[str]) -> str:
    """A place that a label begins with: further on it says where something happened."""
    return said(words[:2], listed)


def _amount(f: Facts) -> bool:
    """Whether a variable with a place in its name is a quantity: the size of a town, the rent of an area."""
    fractions = f.kind == "numeric" and f.dtype.is_float() and not f.whole
    return (fractions and not said(f.name_words, COORDINATES)) or bool(AMOUNTS & {*f.name_words})


def _where(f: Facts, word: str) -> str:
    return "name" if said(f.name_words, frozenset([word])) else "label"


def _only(found: list[Guessed], role: str, rank: Callable[[Facts], tuple[int, ...]], why: str) -> list[Guessed]:
    """One of those with a role: the first by rank, then by place."""
    mine = [g for g in found if g.role == role]
    if len(mine) < 2:
        return found
    best = min(mine, key=lambda g: rank(g.facts))
    return [replace(g, role="other", why=f"{g.why[:-1]}; {why}.", doubtful=True) if g in mine and g is not best else g
            for g in found]  # fmt: skip


def _weight_rank(f: Facts) -> tuple[int, ...]:
    digits = sum(c.isdigit() for c in f.name)
    return digits, len(f.name_words)


def _unit_rank(f: Facts) -> tuple[int, ...]:
    return 0 if said(f.name_words, UNITS) else 1, f.distinct


def chosen_keys(found: Sequence[Guessed]) -> Iterator[str]:
    """The keys that are used, in the order of the file: one of each sort first (the finest of places), and what is
    usually known before the rest."""
    order = ["sex", "age", "place", *(g for g in KNOWN if g not in ("sex", "age"))]
    mine = [g for g in found if g.role in ("key", "geography")]
    mine.sort(key=lambda g: -g.facts.distinct if g.group == "place" else 0)
    nth = {g.facts.name: sum(h.group == g.group for h in mine[:k]) for k, g in enumerate(mine)}
    best = sorted(mine, key=lambda g: (g.doubtful, nth[g.facts.name], order.index(g.group)))[:MOST_KEYS]
    return (g.facts.name for g in found if g in best)
