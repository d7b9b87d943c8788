"""Sentences and pictures that customary risks share: missing values, what is kept back, what is altered."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from confide.frames.columns import F64
from confide.measure.risk.file_risks.classes import OWN, RULES, WILDCARD
from confide.measure.risk.file_risks.file import File

SIZES = (1, 2, 3, 5, 10, 20, 50, 100)
"""Where the bars of class sizes begin."""
FINE = 20
"""Records from which on many values of a number are remarkable."""


def class_size(size: F64, rows: F64 | None = None) -> dict[str, float]:
    """How many records are in classes of each size, in a few ranges; `rows`: how many each stands for (None: one).

    >>> class_size(np.array([1.0, 1.0, 2.0, 7.0]))
    {'1': 2.0, '2': 1.0, '3 to 4': 0.0, '5 to 9': 1.0}
    """
    place = np.searchsorted(SIZES, size, side="right") - 1
    count = np.bincount(np.maximum(place, 0), rows, 1)
    return {_range(i): float(c) for i, c in enumerate(count)}


def _range(i: int) -> str:
    if i + 1 == len(SIZES):
        return f"{SIZES[i]} or more"
    low, high = SIZES[i], SIZES[i + 1] - 1
    return f"{low}" if low == high else f"{low} to {high}"


def some(number: int, what: str) -> str:
    """A number of things in words.

    >>> some(1, "row"), some(1_200, "row")
    ('1 row', '1,200 rows')
    """
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def missing_words(file: File, keys: Sequence[str], rule: str) -> list[str]:
    """The rule for missing values, and what it means for this file."""
    said = f'Rule for missing values: "{rule}" ({RULES[rule]}). {cells_words(file, keys, rule == WILDCARD)}'
    if rule == WILDCARD and any((file.values(v) < 0).any() for v in keys):
        said += (
            " Somebody who knows the hidden value of a person may find that nobody else fits: this rule is no bound on "
            f'an attack; "{OWN}" is.'
        )
    return [said]


def cells_words(file: File, keys: Sequence[str], coded_are_missing: bool) -> str:
    """How many values of keys are missing, and what is done with codes that the file declares missing."""
    cells, coded = (int(sum(map(file.people, each))) for each in (
        [file.codes(v) < 0 for v in keys], [file.answers(v) for v in keys],
    ))  # fmt: skip
    of = f"{file.n * len(keys):,} cells"
    if not coded:
        return f"{cells:,} of {of} are missing." if cells else "No key has one."
    said = f"{cells:,} of {of} are empty, {coded:,} hold a code that the file declares missing (as for refused)"
    if coded_are_missing:
        return f"{said}: both are missing."
    return f"{said}: each code is a value of its own, since everybody sees it."


def kept_back_words(file: File, names: Sequence[str]) -> list[str]:
    """Which variables are not released."""
    gone = file.kept_back(names)
    return [f"Not released, so nobody is told apart by it: {', '.join(gone)}."] if gone else []


def fine_words(file: File, keys: Sequence[str]) -> list[str]:
    """Which keys are numbers with nearly as many values as there are records, so that hardly anybody is alike."""
    many = [v for v in keys if file.column(v).kind == "numeric" and 2 * len(np.unique(file.codes(v))) > file.n]
    if file.n < FINE or not many:
        return []
    return [
        f"Numbers with more than half as many values as there are records: {', '.join(many)}. Compared for equality, "
        "they make nearly everybody unique; cut them into groups first."
    ]


def truth_words(file: File, names: Sequence[str]) -> list[str]:
    """Which variables are altered at random, so that being alike in the release says less than it seems."""
    moved = file.altered(names)
    if not moved:
        return []
    return [
        f"Altered at random: {', '.join(moved)}. Classes are those of released values, as if they were true; what an "
        "intruder finds is told by the attack."
    ]
