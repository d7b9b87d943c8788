"""Variables of a formula in the original and in each copy of the release: as numbers, or as categories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from confide.core.errors import InputError
from confide.frames.columns import F64, I64, Column, codes_in
from confide.measure.utility.formula import COMPARISONS, Factor
from confide.measure.utility.items import Use, why_lost
from confide.measure.utility.pair import Pair

LEVELS = 300
"""More categories than this have no coefficients; those that the release alone has are then one."""


@dataclass(frozen=True, eq=False)
class Levels:
    """`codes`: by file, -1 missing: of the original into `names`, of copies into `many` released categories.
    `stands`: for each original category the released one that stands for it, shape (names,); its first is the
    reference, and so is the released one that stands for it, number 0."""

    codes: list[I64]
    names: list[str]
    many: int
    stands: I64


class Files:
    """The original and the copies as one list of files: 0 is the original. `without`: variables that count as lost."""

    def __init__(self, pairs: Sequence[Pair], where: str, without: Mapping[str, str] | None = None) -> None:
        self.pairs, self.where, self.without = pairs, where, without or {}
        self.lost: dict[str, str] = {}
        self._gone: set[tuple[str, Use]] = set()

    def weights(self) -> list[F64]:
        """Of each file."""
        return [self.pairs[0].weights(0), *(p.weights(1) for p in self.pairs)]

    def counts(self) -> list[F64]:
        """Of each file, how many records its rows stand for."""
        held = [self.pairs[0].before, *(p.after for p in self.pairs)]
        return [np.ones(f.frame.height) if f.count is None else f.count for f in held]

    def is_lost(self, factor: Factor, event: bool = False) -> bool:
        """Whether the release no longer allows a factor, or it as an event; why is kept in `lost`."""
        text = factor.how in COMPARISONS and isinstance(factor.value, str)
        as_codes = text or self.is_categorical(factor) or (event and factor.how == "as it is")
        use: Use = "category" if as_codes else "number"
        variable = self.pairs[0].in_original(factor.variable, self.where)
        why = next(filter(None, (why_lost(p, variable, use) for p in self.pairs)), self.without.get(variable, ""))
        if why:
            self.lost[variable] = why
            self._gone.add((variable, use))
        return bool(why)

    def numbers(self, variable: str) -> list[F64]:
        """A number in each file; only the original's where the release has lost it."""
        first = self.pairs[0]
        if not first.holds_numbers(first.in_original(variable, self.where)):
            raise InputError(
                f'{self.where}: "{variable}" holds categories, where a number is needed. A response of two categories '
                'goes with family="logistic".'
            )
        released = [] if (variable, "number") in self._gone else [p.numbers(variable, 1) for p in self.pairs]
        return [first.numbers(variable, 0), *released]

    def is_categorical(self, factor: Factor) -> bool:
        """Words, truth values, labelled codes, and what the plan says is categorical; other numbers are numbers."""
        if factor.how != "as it is":
            return factor.how == "C"
        first, variable = self.pairs[0], factor.variable
        dtype = first.before.types[first.in_original(variable, self.where)]
        named = first.kinds.get(variable)
        held = first.before.schema.variables
        labelled = variable in held and bool(held[variable].value_labels)
        return not (dtype.is_numeric() or dtype.is_temporal()) or named == "categorical" or (labelled and not named)

    def levels(self, variable: str) -> Levels:
        """The categories that occur in the original, then those that the release alone has."""
        first = self.pairs[0]
        number = first.kind(first.in_original(variable, self.where)) == "numeric"
        known: tuple[Any, ...] = tuple(np.unique(_there(first.numbers(variable, 0)))) if number else ()
        if not number:
            y = first.column(variable)
            known = tuple(y.levels[i] for i in np.flatnonzero(np.bincount(_there(y.values), minlength=len(y.levels))))
        if len(known) > LEVELS:
            raise InputError(f'{self.where}: "{variable}" has {len(known)} categories, more than {LEVELS}; recode it.')
        before = _codes(first.numbers(variable, 0) if number else first.column(variable), known)
        names = [str(v) for v in known]
        if (variable, "category") in self._gone:
            return Levels([before], names, 0, np.full(len(known), -1))
        if variable in first.coarse:
            return self._recoded(variable, before, known)
        after = [p.numbers(variable, 1) if number else p.alike(variable, self.where)[1] for p in self.pairs]
        every = _with_new(known, after)
        many = min(len(every), max(LEVELS, len(known) + 1))
        codes = [np.minimum(_codes(z, every), many - 1) for z in after]
        return Levels([before, *codes], names, many, np.arange(len(known)))

    def _recoded(self, variable: str, before: I64, known: tuple[Any, ...]) -> Levels:
        """Released categories: the one that the reference becomes, then the others."""
        coarse = self.pairs[0].coarse[variable]
        becomes = coarse.becomes[coarse.places(known)]
        order = dict.fromkeys(coarse.image.levels[i] for i in becomes if i >= 0)
        after = [p.alike(variable, self.where)[1] for p in self.pairs]
        every = _with_new(tuple(order), after)
        at = {level: i for i, level in enumerate(every)}
        stands = np.array([at[coarse.image.levels[i]] if i >= 0 else -1 for i in becomes], dtype=np.int64)
        return Levels([before, *(_codes(z, every) for z in after)], [str(v) for v in known], len(every), stands)

    def in_category(self, variable: str, category: str) -> list[F64]:
        """1 for records in a category of the original, the part that it has of a merged one; NaN missing."""
        found = self.levels(variable)
        if category not in found.names:
            raise InputError(f'{self.where}: "{variable}" has no such category in the original as is asked for.')
        at = found.names.index(category)
        same = found.stands == found.stands[at]
        codes = [found.codes[0] == at, *((c == found.stands[at]) / same.sum() for c in found.codes[1:])]
        return [np.where(c < 0, np.nan, part) for c, part in zip(found.codes, codes, strict=True)]


def _there(x: F64 | I64) -> Any:
    return x[x >= 0] if x.dtype.kind == "i" else x[~np.isnan(x)]


def _with_new(known: tuple[Any, ...], files: Sequence[F64 | Column]) -> tuple[Any, ...]:
    """Values known, then others that occur in some file."""
    found = dict.fromkeys(known)
    for z in files:
        if isinstance(z, Column):
            there = np.bincount(_there(z.values), minlength=len(z.levels)) > 0
            found |= dict.fromkeys(level for level, one in zip(z.levels, there, strict=True) if one)
        else:
            found |= dict.fromkeys(np.unique(_there(z)))
    return tuple(found)


def _codes(values: F64 | Column, known: tuple[Any, ...]) -> I64:
    """Places in a list of values, -1 for missing ones."""
    if isinstance(values, Column):
        return codes_in(values, Column(values.name, "categorical", np.zeros(0, dtype=np.int64), values.dtype, known))
    order = np.argsort(np.array(known))
    at = np.searchsorted(np.array(known), values, sorter=order)
    return np.where(np.isnan(values), -1, order[np.minimum(at, len(order) - 1)])
