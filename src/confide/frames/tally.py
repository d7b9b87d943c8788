"""A file as its distinct rows, each with how often it is there: what is alike is computed once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from confide.frames.columns import F64, I64, Records
from confide.frames.distinct import Distinct

TRIED = 4096
"""Rows that are looked at before all are: where few of them are alike, nothing would be gained."""


@dataclass(frozen=True, eq=False)
class Tally:
    """`records`: d rows, no two alike (or all rows of a file, where few are). `count`: (d,) how many rows of the file
    each stands for, None for one each; `of`: (n,) the place of each row of the file, None for its own.
    """

    records: Records
    count: F64 | None = None
    of: I64 | None = None

    @classmethod
    def merged(cls, file: Records, names: Sequence[str] | None = None) -> Tally:
        """The distinct rows of some variables (None: all); the file itself where merging would gain little."""
        kept = file if names is None else file.select(names)
        if kept.n >= 2 * TRIED:
            tried = np.linspace(0, kept.n - 1, TRIED).astype(np.int64)
            if len(_distinct(kept.take(tried))) > TRIED // 2:
                return cls(kept)
        found = _distinct(kept)
        return cls(kept) if 2 * len(found) > kept.n else cls(kept.take(found.first), found.count, found.of)

    def __repr__(self) -> str:
        rows = self.records.n if self.of is None else len(self.of)
        return f"Tally: {rows:,} rows, {self.records.n:,} distinct"

    @property
    def counts(self) -> F64:
        """How many rows each stands for, shape (d,)."""
        return np.ones(self.records.n) if self.count is None else self.count

    def place(self, rows: I64) -> I64:
        """The places of rows of the file; negative numbers stay what they are."""
        return rows if self.of is None else np.where(rows >= 0, self.of[np.maximum(rows, 0)], rows)


def _distinct(records: Records) -> Distinct:
    return Distinct.rows([c.values for c in records.values()], records.n)
