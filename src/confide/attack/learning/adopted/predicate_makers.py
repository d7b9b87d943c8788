"""Predicates made of a released file: about one variable each, and at random."""

from __future__ import annotations

import numpy as np

from confide.attack.learning.adopted.predicates import (
    ABOVE,
    ATLEAST,
    ATMOST,
    BELOW,
    EQUAL,
    MISSING,
    PRESENT,
    UNEQUAL,
    Index,
    Predicates,
)
from confide.frames.columns import F64, Bools


def medians(file: Index) -> F64:
    """The median of each column."""
    columns = [ranked[:present] for ranked, present in zip(file.ranked, file.present, strict=True)]
    return np.array([np.median(c) if len(c) else np.nan for c in columns])


def univariate(file: Index, numbers: Bools) -> Predicates:
    """Every value that one row has, the ends of numbers, and what is missing; each once."""
    parts = []
    for k, number in enumerate(numbers):
        ranked = file.ranked[k, : file.present[k]]
        apart = np.concatenate([[True], ranked[1:] != ranked[:-1], [True]]) if len(ranked) else np.empty(1, dtype=bool)
        once = ranked[apart[:-1] & apart[1:]]
        ends = [(ATMOST, ranked[:1]), (ATLEAST, ranked[-1:])] if number else []
        for operator, values in [(EQUAL, once), *ends, (MISSING, np.array([np.nan]))]:
            parts.append((np.full(len(values), k), np.full(len(values), operator), values))
    columns, operators, found = (np.concatenate(x)[:, None] for x in zip(*parts, strict=True))
    return Predicates(columns.astype(np.int64), operators.astype(np.int64), found.astype(np.float64))


def at_random(file: Index, numbers: Bools, wide: int, size: int, rng: np.random.Generator) -> Predicates:
    """Predicates of random variables, operators and released values: naive guessing."""
    d = len(numbers)
    columns = np.argsort(rng.random((size, d)), axis=1)[:, :wide].astype(np.int64)
    distinct = [np.unique(file.ranked[k, : file.present[k]]) for k in range(d)]
    gaps = file.present < len(file.cells)
    operators, values = np.zeros(columns.shape, dtype=np.int64), np.full(columns.shape, np.nan)
    one, two = rng.random(columns.shape), rng.random(columns.shape)
    for k in range(d):
        here = columns == k
        choice = (one[here] * (len(distinct[k]) + gaps[k])).astype(np.int64)
        kinds = np.array([EQUAL, UNEQUAL, ABOVE, BELOW, ATLEAST, ATMOST] if numbers[k] else [EQUAL, UNEQUAL])
        operator = kinds[(two[here] * len(kinds)).astype(np.int64)]
        none = choice >= len(distinct[k])
        operators[here] = np.where(none, np.where(operator == EQUAL, MISSING, PRESENT), operator)
        known = distinct[k] if len(distinct[k]) else np.array([np.nan])
        values[here] = np.where(none, np.nan, known[np.minimum(choice, len(known) - 1)])
    return Predicates(columns, operators, values)
