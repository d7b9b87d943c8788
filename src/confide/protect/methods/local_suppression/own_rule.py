r"""Hiding until every released combination is shared by k people, what is hidden counting as a value of its own.

Greedy in two passes. First the smallest class that is below k takes from other classes the rows it lacks, those that
cost least: a large class lends a few rows and stays, a small one joins (`merging`). Then what need not be hidden is
given back: rows that a class can spare return to where they are among k others, classes split where both parts are
large enough, and a variable on which a class agrees is shown again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from confide.frames.columns import F64, I64
from confide.frames.distinct import Distinct
from confide.protect.methods.local_suppression.bounds import least_distances
from confide.protect.methods.local_suppression.merging import merge_small
from confide.protect.methods.local_suppression.pieces import Pieces, Rows, taken


def hide_own(pieces: Pieces, k: int, importance: F64, within: Sequence[int]) -> Pieces:
    """More hidden, in the variables `within` only, until nobody who is to be protected is in a class below k there.

    Two orders of merging are tried, where people weigh differently also as if they did not, and the cheapest is taken.
    """
    ways, at = [(0.5, False), (0.0, True)], np.asarray(within)
    tried = [_hidden(pieces, k, importance, at, *how) for how in ways]
    if np.ptp(pieces.weight) > 0:
        weight = dict(zip(pieces.unit.tolist(), pieces.weight.tolist(), strict=True))
        equal = replace(pieces, weight=np.ones(len(pieces.weight)))
        for made in (_hidden(equal, k, importance, at, *how) for how in ways):
            tried.append(replace(made, weight=np.array([weight[u] for u in made.unit.tolist()])))
    return min(tried, key=lambda made: made.cost(importance))


def _hidden(pieces: Pieces, k: int, importance: F64, within: I64, credit: float, shared: bool) -> Pieces:
    shown = pieces.shown[:, within]
    found = Distinct.rows(list(shown.T), len(shown))
    telling = np.argsort([-len(np.unique(v)) for v in shown.T], kind="stable")  # what differs most is looked at first
    x = np.ascontiguousarray(shown[found.first][:, telling])
    n = np.bincount(found.of, weights=pieces.count, minlength=len(found)).astype(np.int64)
    w = np.bincount(found.of, weights=pieces.count * pieces.weight, minlength=len(found))
    light = np.full(len(found), np.inf)
    np.minimum.at(light, found.of, pieces.weight)
    asked = np.bincount(found.of, weights=pieces.count * pieces.asked, minlength=len(found)).astype(np.int64)
    moves = np.zeros((len(found) + 1, 3), dtype=np.int64)
    c = importance[within][telling].astype(float)
    inevitable = credit * w * least_distances(x, n, asked, c, k) if credit else np.zeros(len(w))
    many = merge_small(x, n, w, light, asked, c, k, inevitable, shared, moves)
    assert many >= 0, "a file has at least k records"
    groups = _replayed(pieces, found.of, len(found), moves[:many])
    touched = set(moves[:many, 0].tolist())
    mended = _Mended(pieces, within, k, {g: rows for g, rows in enumerate(groups) if rows and g in touched})
    return mended.given_back(pieces, groups, touched)


def _replayed(pieces: Pieces, of: I64, many: int, moves: I64) -> list[list[Rows]]:
    """Who is in each class after the moves; of the people of a class, those of least weight move first."""
    groups: list[list[Rows]] = [[] for _ in range(many)]
    for p in np.lexsort((np.arange(len(of)), pieces.weight)).tolist():
        groups[int(of[p])].append((p, int(pieces.count[p])))
    for a, b, rows in moves.tolist():
        moved, groups[b] = taken(groups[b], rows)
        groups[a] += moved
    return groups


@dataclass
class _Mended:
    """Classes in which something was hidden. `codes`: true values of pieces; what was hidden before stays."""

    pieces: Pieces
    within: I64
    k: int
    groups: dict[int, list[Rows]]

    def __post_init__(self) -> None:
        self.codes = self.pieces.shown[:, self.within]

    def given_back(self, pieces: Pieces, groups: list[list[Rows]], touched: set[int]) -> Pieces:
        """Pieces with what is hidden after giving back."""
        home: dict[tuple[int, ...], int] = {}
        for g, rows in enumerate(groups):
            if g not in touched and rows and sum(c for _, c in rows) >= self.k:
                home[tuple(self.codes[rows[0][0]].tolist())] = g
        out: list[tuple[int, int, int]] = []
        for rows in self.groups.values():
            kept, back = self._spared(rows, home)
            out += [(p, int(pieces.hidden[p]), c) for p, c in back]
            for part in self._split(kept):
                mask = self._mask(part)
                out += [(p, int(pieces.hidden[p]) | mask, c) for p, c in part]
        for g, rows in enumerate(groups):
            if g not in touched:
                out += [(p, int(pieces.hidden[p]), c) for p, c in rows]
        return pieces.divided(out)

    def _spared(self, rows: list[Rows], home: dict[tuple[int, ...], int]) -> tuple[list[Rows], list[Rows]]:
        """Those that stay, and those that return to a class of k or more in which nothing was hidden."""
        spare = sum(c for _, c in rows) - self.k
        kept, back = [], []
        for p, count in rows:
            free = min(count, spare) if tuple(self.codes[p].tolist()) in home else 0
            spare -= free
            back += [(p, free)] if free else []
            kept += [(p, count - free)] if count > free else []
        return kept, back

    def _mask(self, rows: list[Rows]) -> int:
        """The variables on which a class differs, as bits of the file's variables; they are hidden."""
        x = self.codes[[p for p, _ in rows]]
        return sum(1 << int(v) for v, differs in zip(self.within, (x != x[0]).any(axis=0), strict=True) if differs)

    def _split(self, rows: list[Rows]) -> list[list[Rows]]:
        """A class in two, as long as both parts have k: those with one value of a hidden variable, and the others."""
        total = sum(c for _, c in rows)
        if total >= 2 * self.k:
            for v in range(len(self.within)):
                for value in dict.fromkeys(int(self.codes[p, v]) for p, _ in rows):
                    part = [(p, c) for p, c in rows if self.codes[p, v] == value]
                    size = sum(c for _, c in part)
                    if self.k <= size <= total - self.k:
                        rest = [(p, c) for p, c in rows if self.codes[p, v] != value]
                        return [*self._split(part), *self._split(rest)]
        return [rows]
