r"""What published relations teach, without the release: the belief about a value given what is known of a person.

In a cell c of known values, with the person left out where it is in the file,

    e(y | c) = (n_cy - 1[y = y_t] + a f_y) / (n_c - 1 + a),     f_y the margin of the others, a = 5.

Which known variables make the cells is chosen forward, by the mean log of e(y_t | c) over the people left out: cells of
all variables at once would be too small to teach anything, and a weak baseline makes a release look worse than it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from confide.attack.learning.adopted.losses import ABSOLUTE, SQUARED, ZERO_ONE
from confide.attack.learning.adopted.relation_loops import grid_guesses, medians
from confide.frames.columns import F64, I64, Bools, Column, Records, codes_in
from confide.frames.distinct import Distinct

PRIOR = 5.0
"""How many records' worth of margin a cell is mixed with."""
GROUPS, GRID = 8, 129
"""Groups into which known numbers are cut for cells; guesses that are tried within a share."""
ROOM = 4_000_000


@dataclass(frozen=True, eq=False)
class Judged:
    """A guess, its loss and its expected loss for each person, shape (n,); `p_true`: the probability of the truth."""

    guess: F64
    loss: F64
    expected: F64
    p_true: F64


@dataclass(frozen=True, eq=False)
class Relations:
    """`names`: the variables whose cells are used; `edges`: where their numbers are cut, empty for categories;
    `known`, `values`: the original's columns of them, and of the variable that is guessed (floats, NaN missing)."""

    names: tuple[str, ...]
    edges: tuple[F64, ...]
    known: Records
    values: F64

    def judge(self, known: Records, truth: F64, inside: Bools, kind: int, share: float) -> Judged:
        """Guess for people by their cells; those who are `inside` the original are left out of it."""
        mine, theirs = (self._codes(k) for k in (self.known, known))
        both = [np.concatenate(pair) for pair in zip(mine, theirs, strict=True)]
        cells = Distinct.rows(both, len(self.values) + len(truth)).of
        n, there = len(self.values), ~np.isnan(self.values)
        return by_cells(cells[:n][there], self.values[there], cells[n:], truth, inside, kind, share)

    def _codes(self, known: Records) -> list[I64]:
        return [cell_codes(known[v], self.known[v], e) for v, e in zip(self.names, self.edges, strict=True)]


def relate(known: Records, values: F64, names: Sequence[str]) -> Relations:
    """The cells that teach most about the values, among those of the variables named."""
    there = ~np.isnan(values)
    edges = {v: _edges(known[v]) for v in names}
    codes = {v: cell_codes(known[v], known[v], edges[v])[there] for v in names}
    y = grouped(values[there])
    chosen: list[str] = []
    cell = np.zeros(len(y), dtype=np.int64)
    best = _score(cell, y)
    while len(chosen) < len(names):
        tried = {v: Distinct.rows([cell, codes[v]], len(y)).of for v in names if v not in chosen}
        scores = {v: _score(c, y) for v, c in tried.items()}
        v = max(scores, key=lambda name: scores[name])
        if scores[v] <= best + 1e-6:
            break
        chosen.append(v)
        best, cell = scores[v], tried[v]
    return Relations(tuple(chosen), tuple(edges[v] for v in chosen), known, values)


def left_out(cell: I64, y: I64, prior: float = PRIOR) -> F64:
    """e(y_t | c) of every person, itself left out, by cells and codes from 0; shape (n,).

    >>> left_out(np.array([0, 0, 0, 1]), np.array([1, 1, 0, 0])).round(4).tolist()
    [0.381, 0.381, 0.2381, 0.3333]
    """
    n = len(y)
    pair = Distinct.rows([cell, y], n)
    alike, size, margin = pair.count[pair.of], np.bincount(cell)[cell], np.bincount(y)[y]
    others = (margin - 1) / max(n - 1, 1)
    return np.asarray((alike - 1 + prior * others) / (size - 1 + prior))


def _score(cell: I64, y: I64) -> float:
    floor = 1.0 / (2 * max(len(y), 1))
    return float(np.log(np.maximum(left_out(cell, y), floor)).mean()) if len(y) else 0.0


def grouped(values: F64, groups: int = 10) -> I64:
    """Values as codes: as they are where there are few, else in about equal groups."""
    known = np.unique(values)
    if len(known) > 2 * groups:
        known = np.unique(np.quantile(values, np.linspace(0, 1, groups + 1)[1:-1], method="lower"))
        return np.searchsorted(known, values, side="left").astype(np.int64)
    return np.searchsorted(known, values).astype(np.int64)


def _edges(column: Column) -> F64:
    there = column.values[~column.missing]
    if column.kind != "numeric" or not len(there):
        return np.empty(0)
    return np.unique(np.quantile(there, np.linspace(0, 1, GROUPS + 1)[1:-1], method="lower")).astype(np.float64)


def cell_codes(column: Column, model: Column, edges: F64) -> I64:
    """A known variable as codes of cells; missing is one of them."""
    if model.kind == "numeric":
        return np.where(np.isnan(column.values), -1, np.searchsorted(edges, column.values)).astype(np.int64)
    return codes_in(column, model)


def by_cells(cell: I64, y: F64, mine: I64, truth: F64, inside: Bools, kind: int, share: float) -> Judged:
    """Guesses of people in cells `mine`, from the file's cells and values, each person left out where it is inside."""
    out = Judged(*(np.full(len(truth), np.nan) for _ in range(4)))
    order = np.lexsort((y, cell))
    size = int(max(cell.max(initial=-1), mine.max(initial=-1))) + 1
    first = np.concatenate([[0], np.cumsum(np.bincount(cell, minlength=size))]).astype(np.int64)
    by_cell, every = y[order], np.sort(y)
    if kind == ZERO_ONE:
        _modes(first, by_cell, every, mine, truth, inside, out)
    elif kind == SQUARED:
        _means(first, by_cell, mine, truth, inside, out)
    elif kind == ABSOLUTE:
        medians(first, by_cell, every, mine, truth, inside, PRIOR, out.guess, out.loss, out.expected)
    else:
        at = np.linspace(0, 1, GRID)
        tried = np.unique(np.quantile(every, at, method="nearest")) if len(every) else np.empty(0)
        args = (first, by_cell, every, tried, mine, truth, inside, PRIOR, share)
        grid_guesses(*args, out.guess, out.loss, out.expected)
    return out


def _means(first: I64, y: F64, mine: I64, truth: F64, inside: Bools, out: Judged) -> None:
    sums, squares = (np.concatenate([[0.0], np.cumsum(x)]) for x in (y, y * y))
    own, n = np.where(inside, truth, 0.0), inside.astype(np.float64)
    a, b = first[mine], first[mine + 1]
    others = np.maximum(len(y) - n, 1)
    weight = b - a - n + PRIOR
    mean = (sums[b] - sums[a] - own + PRIOR * (sums[-1] - own) / others) / weight
    square = (squares[b] - squares[a] - own**2 + PRIOR * (squares[-1] - own**2) / others) / weight
    out.guess[:], out.loss[:], out.expected[:] = mean, (mean - truth) ** 2, np.maximum(square - mean**2, 0.0)


def _modes(first: I64, y: F64, every: F64, mine: I64, truth: F64, inside: Bools, out: Judged) -> None:
    """Modes, by cells in turn: a table of cells by values is never longer than it must be."""
    known, count = np.unique(every, return_counts=True)
    if not len(known):
        return
    code, right = np.searchsorted(known, y), np.searchsorted(known, truth)
    right = np.where(known[np.minimum(right, len(known) - 1)] == truth, np.minimum(right, len(known) - 1), -1)
    order = np.argsort(mine, kind="stable")
    for who in np.array_split(order, max(1, -(-len(order) * len(known) // ROOM))):
        cells, place = np.unique(mine[who], return_inverse=True)
        table = np.zeros((len(cells), len(known)))
        for i, c in enumerate(cells):
            table[i] = np.bincount(code[first[c] : first[c + 1]], minlength=len(known))
        own = inside[who] & (right[who] >= 0)
        at = np.arange(len(who))
        score = np.take(table, place, axis=0)
        margin = np.tile(count.astype(np.float64), (len(who), 1))
        score[at[own], right[who][own]] -= 1
        margin[at[own], right[who][own]] -= 1
        total = score.sum(axis=1) + PRIOR
        score += PRIOR * margin / np.maximum(margin.sum(axis=1, keepdims=True), 1)
        best = score.max(axis=1)
        tied = score >= best[:, None] * (1 - 1e-9)
        mass = np.where(right[who] >= 0, score[at, right[who]], 0.0)
        hit = np.where(right[who] >= 0, tied[at, right[who]], False)
        out.guess[who], out.expected[who] = known[tied.argmax(axis=1)], 1 - best / total
        out.loss[who], out.p_true[who] = 1 - hit / tied.sum(axis=1), mass / total
