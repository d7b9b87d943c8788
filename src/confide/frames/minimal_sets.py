"""The smallest sets of variables that single a record out: minimal unique sets, as SUDA counts them."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import numpy as np

from confide.core.errors import InputError
from confide.frames.columns import F64, I64, Bools, Records
from confide.frames.distinct import Distinct

MOST = 62
"""Variables that one integer has room for."""


def smallest(holds: Callable[[tuple[int, ...]], bool], n: int, most: int | None = None) -> list[tuple[int, ...]]:
    """Sets of the numbers below n for which something holds, none of which has such a set inside; small ones first.

    `most`: the largest size that is looked at (None: all). Nothing is asked of a set that has a found one inside.

    >>> smallest(lambda s: sum(s) >= 3, 4)
    [(3,), (1, 2)]
    """
    found: list[tuple[int, ...]] = []
    for size in range(1, (n if most is None else min(n, most)) + 1):
        found += [s for s in combinations(range(n), size) if not any(set(f) <= set(s) for f in found) and holds(s)]
    return found


class Agreement:
    """With which variables each of n rows agrees with one person, and how many rows agree on a set of them.

    Each row is one integer with a bit per variable; rows that agree on the same variables are one, with their count.
    `count`: how many rows each stands for (None: one). `unit`: the rows' units, where units are counted and not rows.

    >>> both = np.array([[True, True], [True, False], [False, True], [True, False]])
    >>> agreement = Agreement(both)
    >>> agreement.alike(()), agreement.alike((0,)), agreement.alike((0, 1))
    (4, 3, 1)
    """

    def __init__(self, agrees: Bools, count: F64 | None = None, unit: I64 | None = None) -> None:
        n, self.width = agrees.shape
        if self.width > MOST:
            raise InputError(f"Sets of variables are compared for {MOST} variables at most, not {self.width}.")
        bits = agrees @ (1 << np.arange(self.width, dtype=np.int64)) if self.width else np.zeros(n, dtype=np.int64)
        keys = [bits] if unit is None else [bits, unit]
        rows = Distinct.rows(keys, n, count)
        self.bits, self.count, self.unit = bits[rows.first], rows.count, None if unit is None else unit[rows.first]

    def alike(self, variables: tuple[int, ...]) -> int:
        """How many rows (or units) agree on all of these variables."""
        asked = sum(1 << v for v in variables)
        mine = (self.bits & asked) == asked
        return int(self.count[mine].sum() if self.unit is None else len(np.unique(self.unit[mine])))

    def every(self) -> F64:
        """How many rows agree on each set of variables, by the set's bits, shape (2^V,): rows are counted once by the
        variables on which they agree, then added over supersets.

        >>> Agreement(np.array([[True, True], [True, False], [False, True], [True, False]])).every().tolist()
        [4.0, 3.0, 2.0, 1.0]
        """
        alike = np.bincount(self.bits, weights=self.count, minlength=1 << self.width).astype(np.float64)
        for v in range(self.width):
            halves = alike.reshape(-1, 2, 1 << v)  # without and with the variable
            halves[:, 0] += halves[:, 1]
        return alike

    def minimal(self, most: int | None = None, alike: int = 1) -> list[tuple[tuple[int, ...], int]]:
        """The minimal sets on which at most `alike` rows agree, and some do, each with how many."""
        if self.alike(tuple(range(self.width))) > alike:
            return []
        found = smallest(lambda s: 0 < self.alike(s) <= alike, self.width, most)
        return [(s, self.alike(s)) for s in found]


def minimal_sets(records: Records, row: int, most: int | None = None) -> list[tuple[str, ...]]:
    """The smallest sets of variables by which one row is unique among all: no smaller set inside does it too.

    `most`: the largest size that is looked at (None: all). Missing is a value like any other. Empty where another row
    has the same values of all variables.

    >>> import polars as pl
    >>> from confide.frames.encoded import Encoded
    >>> people = Encoded(pl.DataFrame({"sex": ["f", "f", "m"], "age": [31, 42, 31], "town": ["a", "a", "a"]}))
    >>> [minimal_sets(people.records(["sex", "age", "town"], {}), row) for row in range(3)]
    [[('sex', 'age')], [('age',)], [('sex',)]]
    """
    if not 0 <= row < records.n:
        raise InputError(f"row is a position from 0 to {records.n - 1}.")
    agrees = np.zeros((records.n, len(records)), dtype=bool)
    for k, column in enumerate(records.values()):
        own = column.values[row]
        agrees[:, k] = column.missing if column.missing[row] else column.values == own
    names = tuple(records)
    return [tuple(names[v] for v in found) for found, _ in Agreement(agrees).minimal(most)]
