r"""People who are alike: classes of rows with the same values of the keys, and of each set of them.

Rows are put into the classes of all keys once; a set of keys is then counted over classes. With f the size of a
person's class, the person is *alone* where f = 1, and an intruder who knows the set and is sure that the person is in
the file finds

.. math:: \sum_{\text{rows}} 1/f = \text{number of classes}

people by picking one of the class at random. Missing is a value like any other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from confide.frames.columns import F64, I64, Records
from confide.frames.distinct import Distinct

LEVELS = (2, 3, 5)
"""The k of k-anonymity that a look reports."""


@dataclass(frozen=True)
class Counted:
    """How people fare on a set of keys: `classes`, `alone`, and `below`: people in classes smaller than each of
    `LEVELS`."""

    classes: int
    alone: int
    below: tuple[int, ...]


class Classes:
    """The classes of a file by its keys.

    >>> import polars as pl
    >>> from confide.frames.encoded import Encoded
    >>> people = Encoded(pl.DataFrame({"sex": ["f", "f", "m"], "age": [31, 31, 31]}))
    >>> found = Classes(people.records(["sex", "age"], {"age": "categorical"}))
    >>> found.alike.tolist(), found.counted([0]).alone, found.counted([1]).classes
    ([2, 2, 1], 1, 1)
    """

    def __init__(self, records: Records) -> None:
        self.names, self.rows = tuple(records), int(records.counts.sum())
        codes = [c.values for c in records.values()]
        found = Distinct.rows(codes, records.n, records.count)
        self.of, self.size = found.of, found.count.astype(np.int64)
        self.codes = [c[found.first] for c in codes]

    @property
    def alike(self) -> I64:
        """For each row that is held, how many rows have its values, itself among them, shape (n,)."""
        return self.size[self.of]

    @cached_property
    def everything(self) -> Counted:
        """By all keys."""
        return counted(self.size)

    def sizes(self, keys: Sequence[int]) -> I64:
        """The sizes of the classes of some keys."""
        found = Distinct.rows([self.codes[k] for k in keys], len(self.size), self.size.astype(np.float64))
        return np.rint(found.count).astype(np.int64)

    def counted(self, keys: Sequence[int]) -> Counted:
        """How people fare on some keys."""
        return self.everything if len(keys) == len(self.names) else counted(self.sizes(keys))


def counted(size: I64 | F64) -> Counted:
    """How people fare in classes of these sizes.

    >>> counted(np.array([1, 1, 2, 4]))
    Counted(classes=4, alone=2, below=(2, 4, 8))
    """
    return Counted(len(size), int((size == 1).sum()), tuple(int(size[size < k].sum()) for k in LEVELS))
