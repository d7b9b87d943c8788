"""Records as local suppression sees them: joint values of the keys, how many people have each, and what is hidden."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from confide.frames.columns import F64, I64, Bools, Column, Records
from confide.frames.distinct import Distinct
from confide.protect.shared.category_codes import combine_exact, level_codes

MISSING, STRANGE = -1, -2
"""Codes of a value that is not there, and of one that the file does not have."""


def key_codes(records: Records, columns: Sequence[Column]) -> I64:
    """Codes of values among those of the columns given, shape (n, V); `MISSING` and `STRANGE` where they have none."""
    out = np.empty((records.n, len(columns)), dtype=np.int64)
    for v, reference in enumerate(columns):
        found, size = level_codes(records[reference.name], reference)
        out[:, v] = np.where(found == size - 1, MISSING, np.where(found < 0, STRANGE, found))
    return out


def masked(codes: I64, hidden: I64) -> I64:
    """Codes with what is hidden missing. `codes`: (P, V); `hidden`: (P,), one bit per variable."""
    bits = np.arange(codes.shape[1])
    return np.where((hidden[:, None] >> bits) & 1 == 1, MISSING, codes)


@dataclass(frozen=True, eq=False)
class Lookup:
    """Rows of codes and their numbers: `of` finds equal rows, -1 where there is none. `sizes`: of the code lists."""

    sizes: tuple[int, ...]
    known: I64
    number: I64

    @classmethod
    def fit(cls, codes: I64, sizes: Sequence[int]) -> Lookup:
        """`codes`: distinct rows, numbered as they come."""
        wide = combine_exact(list(codes.T), sizes) if codes.shape[1] else np.zeros(len(codes), dtype=np.int64)
        order = np.argsort(wide, kind="stable")
        return cls(tuple(sizes), wide[order], order.astype(np.int64))

    def of(self, codes: I64) -> I64:
        if not len(self.known):
            return np.full(len(codes), -1, dtype=np.int64)
        wide = combine_exact(list(np.maximum(codes, MISSING).T), self.sizes)
        at = np.clip(np.searchsorted(self.known, wide), 0, len(self.known) - 1)
        hit = (self.known[at] == wide) & (codes > STRANGE).all(axis=1)
        return np.where(hit, self.number[at], -1).astype(np.int64)


Rows = tuple[int, int]
"""A piece, and how many of its people."""


def taken(group: list[Rows], rows: int) -> tuple[list[Rows], list[Rows]]:
    """The first so many people of a class, and the others."""
    moved, left = [], []
    for p, count in group:
        now = min(count, rows)
        rows -= now
        if now:
            moved.append((p, now))
        if count > now:
            left.append((p, count - now))
    return moved, left


@dataclass(frozen=True, eq=False)
class Pieces:
    """People who are alike in all that counts, and what is hidden of them.

    `codes`: (P, V) true values, `MISSING` where the file has none; `hidden`: (P,) one bit per variable; `count`: (P,)
    people; `weight`: (P,) what one of them weighs; `asked`: (P,) whether they are to be protected; `unit`: (P,) which
    of the file's kinds of people they are (a kind may lie in several pieces).
    """

    codes: I64
    hidden: I64
    count: I64
    weight: F64
    asked: Bools
    unit: I64

    @property
    def shown(self) -> I64:
        """What is released of them, shape (P, V)."""
        return masked(self.codes, self.hidden)

    @property
    def cells(self) -> I64:
        """Values hidden of each variable, shape (V,); a value that the file lacks cannot be hidden."""
        bits = np.arange(self.codes.shape[1])
        gone = ((self.hidden[:, None] >> bits) & 1 == 1) & (self.codes >= 0)
        return np.asarray((gone * self.count[:, None]).sum(axis=0), dtype=np.int64)

    def cost(self, importance: F64) -> float:
        """The sum over hidden values of the variable's importance times the record's weight."""
        bits = np.arange(self.codes.shape[1])
        gone = ((self.hidden[:, None] >> bits) & 1 == 1) & (self.codes >= 0)
        return float(((gone * importance).sum(axis=1) * self.count * self.weight).sum())

    def divided(self, parts: Sequence[tuple[int, int, int]]) -> Pieces:
        """People in other pieces: each part has the piece it is of, what is hidden, and how many people. Those of one
        kind and one pattern are counted together."""
        at, hidden, people = (np.array(each, dtype=np.int64) for each in zip(*parts, strict=True))
        keys = Distinct.rows([self.unit[at], hidden], len(at), people.astype(float))
        at = at[keys.first]
        return Pieces(
            self.codes[at], hidden[keys.first], keys.count.astype(np.int64), self.weight[at], self.asked[at],
            self.unit[at],
        )  # fmt: skip


def pieces_of(codes: I64, weight: F64, asked: Bools, people: F64 | None = None) -> tuple[Pieces, I64]:
    """All records, nothing hidden, and each record's kind. Kinds are in the order of their values: row order does not
    matter.

    People with equal keys are of one kind: they weigh what they do on average, and are to be protected if one of them
    is. If the lighter of them, or those who need no protection, lent their rows first, whoever sees the weight (or what
    the risk hangs on) of a row with hidden values would know whose it is not. `people`: how many each row stands for,
    where all weigh the same; None for one each.
    """
    n, many = codes.shape
    found = Distinct.rows([codes[:, v] for v in range(many)], n, people)
    at, count = found.first, found.count.astype(np.int64)
    any_asked = np.bincount(found.of, weights=asked, minlength=len(found)) > 0
    kinds = Pieces(
        codes[at], np.zeros(len(at), dtype=np.int64), count, _means(weight, found.of, np.bincount(found.of)), any_asked,
        np.arange(len(at), dtype=np.int64),
    )  # fmt: skip
    return kinds, found.of


def _means(weight: F64, of: I64, count: I64) -> F64:
    """The mean weight of each kind, summed in rising order, so that the order of rows does not matter."""
    if not len(weight):
        return np.zeros(0)
    ordered = weight[np.lexsort((weight, of))]
    first = np.cumsum(count) - count
    low, high = ordered[first], ordered[first + count - 1]
    return np.where(low == high, low, np.add.reduceat(ordered, first) / count)
