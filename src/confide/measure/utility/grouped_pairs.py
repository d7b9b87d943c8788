"""The part of two files that an analyst of one group sees: people of the group by the original, and by the release."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from polars.exceptions import PolarsError

from confide.core.errors import InputError
from confide.frames.columns import I64, Bools, decode
from confide.frames.cut import Cut, why_no_groups
from confide.measure.utility.pair import Pair


@dataclass(frozen=True, eq=False)
class GroupedPairs:
    """Copies of a release in groups by one variable: `names` of the groups, `before` the group of each original row,
    `after` by copy that of each released row.

    Groups are by the variable as it is released: where the plan recodes it, by what the recoding makes of the original.
    An analyst can select people by nothing else, so that swapped people count where the release puts them.
    """

    variable: str
    pairs: Sequence[Pair]
    names: tuple[str, ...]
    before: I64
    after: tuple[I64, ...]

    @classmethod
    def of(cls, pairs: Sequence[Pair], variable: str) -> GroupedPairs:
        """Groups by a variable that both files have; categories as they are, numbers in about five ranges."""
        first = pairs[0]
        first.in_original(variable, "by")
        # Inside a group the variable says nothing: only a measure that names it compares it.
        pairs = [replace(p, items=tuple(v for v in p.compared if v != variable)) for p in pairs]
        if variable not in first.after.types:
            raise InputError(
                f'by: "{variable}" is not released, so no analyst can tell its groups. Name a variable that is.'
            )
        values = first.series(variable, 0)
        if variable in first.coarse:
            values = decode(first.coarse[variable].image)
        if why := why_no_groups(values):
            raise InputError(f'by: "{variable}" {why}')
        cut = Cut.of(values)
        after = tuple(cut.codes(_like(p.series(variable, 1), values.dtype)) for p in pairs)
        return cls(variable, pairs, cut.names, cut.codes(values), after)

    def __iter__(self) -> Iterator[tuple[str, Bools, list[Bools]]]:
        """Each group that has somebody in the original: its name, who is in it there, and in each copy."""
        for k, name in enumerate(self.names):
            mine = self.before == k
            if mine.any():
                yield name, mine, [codes == k for codes in self.after]

    def like(self, size: int, seed: int) -> list[Pair] | None:
        """So many people at random, and their own rows; None where it is not known which these are."""
        n = len(self.before)
        mine = np.zeros(n, dtype=bool)
        mine[np.random.default_rng([seed, n, size]).choice(n, size, replace=False)] = True
        return None if any(p.link is None for p in self.pairs) else self.part(mine, [mine] * len(self.pairs), True)

    def part(self, mine: Bools, theirs: Sequence[Bools], linked: bool) -> list[Pair] | None:
        """The group's rows of both files; None where no row of the release is in it.

        `linked`: for measures that follow people from row to row, its people in the original and their own rows.
        """
        if linked and any(p.link is None for p in self.pairs):
            linked = False
        rows = np.flatnonzero(mine)
        there = [mine[p.link] if linked and p.link is not None else z for p, z in zip(self.pairs, theirs, strict=True)]
        if not all(z.any() for z in there):
            return None
        return [restricted(p, rows, np.flatnonzero(z), linked) for p, z in zip(self.pairs, there, strict=True)]


def restricted(pair: Pair, before: I64, after: I64, linked: bool = False) -> Pair:
    """Some rows of both files, which may be there several times; kinds stay those of the whole file."""
    link = None
    if linked and pair.link is not None:
        place = np.full(pair.original.height, -1, dtype=np.int64)
        place[before] = np.arange(len(before))
        link = place[pair.link[after]]
    kinds = {**pair.kinds, **{v: pair.kind(v) for v in (*pair.shared, *pair.compared)}}
    return replace(
        pair, before=pair.before.taken(before), after=pair.after.taken(after), link=link, kinds=kinds, reads=set()
    )


def _like(values: pl.Series, dtype: pl.DataType) -> pl.Series:
    """Released values in the type of the original, where it can hold them."""
    if values.dtype == dtype:
        return values
    try:
        return values.cast(dtype)
    except PolarsError:
        return values
