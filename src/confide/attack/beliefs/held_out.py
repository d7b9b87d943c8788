"""Which records are held out when a model is chosen: by what they hold, not by where they stand.

A record's digest is a number made of its values alone. So neither the order of rows and of categories, nor the format
of a file, nor merging of equal rows changes what is chosen.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr, bdtrik

from confide.core.run.alongside import alongside
from confide.frames.columns import F64, I64, Column, Records

HELD_OUT = 1 / 3
"""Share of the records on which models are judged."""
U64 = NDArray[np.uint64]


@dataclass(frozen=True, eq=False)
class Held:
    """Of every reference row: `rows`, how much of it is held out, and its `digest`. `copies`: how many rows say the
    same on average, since they are of one unit."""

    rows: F64
    digest: U64
    copies: float = 1.0

    @classmethod
    def of(cls, records: Records, weight: F64 | None = None) -> Held:
        """`weight`: how many rows each stands for (None: one). Where units have several rows see `UnitRows.held`."""
        digest = digests(records)
        found, at = np.unique(digest, return_inverse=True)
        each = np.ones(len(digest)) if weight is None else weight
        total = np.bincount(at, weights=each).astype(float)
        return cls((_drawn(evenly(found), total) / total)[at] * each, digest)

    @property
    def apart(self) -> U64:
        """Digests that have nothing to do with who is held out: for an order whose beginning has its share of them."""
        return mixed(~self.digest)

    def take(self, rows: I64) -> Held:
        """The same for some of the rows."""
        return Held(self.rows[rows], self.digest[rows], self.copies)


def _drawn(even: F64, count: F64) -> F64:
    """How many of so many records are held out: binomial quantiles."""
    out = (even > 1 - HELD_OUT).astype(float)
    several = count > 1
    out[several] = _quantile(even[several], count[several])
    return out


def _quantile(even: F64, count: F64) -> F64:
    """The least number that a binomial one with chance `HELD_OUT` is at most with probability `even`."""
    last = np.ceil(np.minimum(bdtrik(even, count, HELD_OUT), count))
    before = np.maximum(last - 1, 0)
    return np.asarray(np.where(bdtr(before, count.astype(np.int64), HELD_OUT) >= even, before, last))


def digests(records: Records) -> U64:
    """One number per record, the same for records that hold the same, shape (n,)."""
    out = np.zeros(records.n, dtype=np.uint64)
    for name in sorted(records):
        out = mixed(out ^ (_of_column(records[name]) + np.uint64(_of_text(name))))
    return out


def _of_column(column: Column) -> U64:
    if column.kind == "categorical":
        return alongside(_of_codes, column.values, also=column.levels, given=(column.levels,))
    return alongside(_of_numbers, column.values)


def _of_codes(codes: I64, levels: tuple[Any, ...]) -> U64:
    each = np.array([_of_text(str(level)) for level in levels] + [1], dtype=np.uint64)
    return np.asarray(each[codes])  # missing is -1, the last


def _of_numbers(numbers: F64) -> U64:
    values = np.where(np.isnan(numbers), np.nan, numbers + 0.0)
    return mixed(np.ascontiguousarray(values, dtype=np.float64).view(np.uint64))


def _of_text(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")


def mixed(x: U64) -> U64:
    """All bits of 64 made to depend on each other (the finaliser of SplitMix64)."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def evenly(digest: U64) -> F64:
    """Numbers between 0 and 1."""
    return np.asarray((digest >> np.uint64(11)).astype(np.float64) / 2.0**53)
