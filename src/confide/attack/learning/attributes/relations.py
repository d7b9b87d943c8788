r"""What is believed of an unknown value given what is known of a person: e(y | t), the person's own value left out.

Cells of more and more known variables, each shrunk towards the cells before it,

.. math:: e_l(y \mid t) = \frac{n_{c_l y} - 1[y = y_t] + a_l\, e_{l-1}(y \mid t)}{n_{c_l} - 1 + a_l}

down to the margin of the others, or, for numbers, a regression of normal scores (`scores`). Each weight a is the one
that makes left-out values likeliest, from a short list; with a stated `smoothing` there is one level, cells of all
known variables beside the margin. The variables enter in the order of what each tells by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from confide.attack.learning.attributes.scores import ScoreFit
from confide.frames.columns import F64, I64, Column, Records, codes_in, combine

WEIGHTS = (0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 300.0, 1000.0, np.inf)
"""Records' worth of the level before, of which the best is taken."""
FINE, COARSE = 24, 6
"""Bins of a known number that has more values."""


@dataclass(frozen=True, eq=False)
class Feature:
    """A known variable as categories: `cuts` of a number, None for codes as they are; `size`: how many there are,
    missing one of them."""

    column: Column
    cuts: F64 | None
    size: int

    @classmethod
    def of(cls, column: Column, most: int) -> Feature:
        """As the reference file has it."""
        if column.kind == "categorical":
            return cls(column.codebook(), None, len(column.levels) + 1)
        values = np.unique(column.values[~column.missing])
        if len(values) > most:
            inner = np.quantile(column.values[~column.missing], np.arange(1, most) / most)
            return cls(column.codebook(), np.unique(inner), len(np.unique(inner)) + 2)
        return cls(column.codebook(), None, len(values) + 1)

    def codes(self, column: Column) -> I64:
        """Codes of values, the last one for missing, -1 for what the reference has not."""
        if self.cuts is not None:
            found = np.searchsorted(self.cuts, column.values, side="right")
        else:
            found = codes_in(column, self.column)
        return np.where(column.missing, self.size - 1, found).astype(np.int64)


@dataclass(frozen=True, eq=False)
class Level:
    """Cells of some features: `known`, the sorted codes of cells; `counts` (cells, bins); `total`; `a`, its weight."""

    features: tuple[int, ...]
    known: I64
    counts: sp.csr_matrix
    total: F64
    a: float

    def place(self, codes: Sequence[I64], sizes: Sequence[int], n: int) -> I64:
        """The cell of each row, -1 where nobody of the reference is in it."""
        whole = _cell_codes([codes[f] for f in self.features], [sizes[f] for f in self.features], n)
        at = np.clip(np.searchsorted(self.known, whole), 0, max(len(self.known) - 1, 0))
        return np.where(self.known[at] == whole, at, -1) if len(self.known) else np.full(n, -1)


def _cell_codes(codes: Sequence[I64], sizes: Sequence[int], n: int) -> I64:
    total, span = np.zeros(n, dtype=np.int64), 1
    for size in sizes:
        span *= size + 1
    if span < 2**62:
        return combine(list(codes), list(sizes)) if codes else total
    out = np.zeros(n, dtype=np.uint64)  # cells beyond counting: told apart by a mixed number
    for c in codes:
        out = (out ^ (c + 2).astype(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
        out ^= out >> np.uint64(29)
    return (out >> np.uint64(1)).astype(np.int64)


@dataclass(frozen=True, eq=False)
class Relations:
    """The belief, fitted on a reference file. `margin` (bins + 1,): counts, missing last; `scores`: the regression,
    None where there is none; `mixed`: its weight beside the margin."""

    features: tuple[Feature, ...]
    levels: tuple[Level, ...]
    margin: F64
    scores: ScoreFit | None
    mixed: float
    plain: bool
    flat: F64 | None = None

    @classmethod
    def fit(cls, known: Records, y: I64, bins: int, numeric: bool, smoothing: float | None) -> Relations:
        """`known`: what is known of people, of the reference; `y`: their bins, the last for missing."""
        margin = np.bincount(y, minlength=bins + 1).astype(float)
        plain = smoothing is not None
        features = [Feature.of(c, len(y) if plain else FINE) for c in known.values()]
        columns = list(known.values())
        if not plain:
            wide = [(i, f) for i, f in enumerate(features) if f.cuts is not None]
            features += [Feature.of(columns[i], COARSE) for i, _ in wide]
            columns += [columns[i] for i, _ in wide]
        codes = [f.codes(c) for f, c in zip(features, columns, strict=True)]
        empty = cls(tuple(features), (), margin, None, 0.0, plain)
        if not features or margin.sum() < 2:
            return empty
        base = empty._own_margin(y)
        if plain:
            level = _level(range(len(features)), codes, features, y, bins, float(smoothing or 0.0))
            return cls(tuple(features), (level,), margin, None, 0.0, True)
        there = y < bins
        scores, mixed = None, 0.0
        if numeric and bins > 2 and there.sum() > 20:
            scores = ScoreFit.fit([c[there] for c in codes], [f.size for f in features], y[there], bins)
            p = np.zeros(len(y))
            found = scores.rows([c[there] for c in codes], y[there])
            p[there] = found[np.arange(len(found)), y[there]]
            p = np.where(there, p * (1 - margin[bins] / margin.sum()), base)
            mixed = _best_share(p, base)
            base = mixed * p + (1 - mixed) * base
        levels = _chain(known, features, codes, y, bins, base)
        return cls(tuple(features), tuple(levels), margin, scores, mixed, False)

    def _own_margin(self, y: I64) -> F64:
        """Pr of each reference row's own value by the margin of the others."""
        left, n = self.margin[y] - 1, self.margin.sum() - 1
        if self.plain:
            return np.asarray(left / max(n, 1))
        return np.asarray((left + 1 / len(self.margin)) / (n + 1))

    def margins(self, own: I64) -> F64:
        """The margin of the others, shape (n, bins + 1); `own`: the bin that is left out, -1 for none."""
        if self.flat is not None:
            return np.repeat(self.flat[None, :], len(own), axis=0)
        out = np.repeat(self.margin[None, :], len(own), axis=0)
        mine = np.flatnonzero(own >= 0)
        out[mine, own[mine]] -= 1
        if not self.plain:
            out += np.where(self.margin > 0, 1 / max((self.margin > 0).sum(), 1), 0.0)
        out /= np.maximum(out.sum(axis=1, keepdims=True), 1e-300)
        return self._others(out, own)

    def _others(self, p: F64, own: I64) -> F64:
        """A bin in which nobody else is has no mass."""
        alone = np.flatnonzero((own >= 0) & (self.margin[np.maximum(own, 0)] <= 1))
        alone = alone[p[alone].sum(axis=1) > p[alone, own[alone]]]
        p[alone, own[alone]] = 0.0
        p[alone] /= p[alone].sum(axis=1, keepdims=True)
        return p

    def worth(self, known: Records | None, own: I64) -> tuple[F64, F64]:
        r"""What the person's own row would weigh in e: by cells that hold others too, and by the margin, (n,) each;
        `known` None: of the margin.

        .. math:: u_l = \frac{1[n_{c_l} > 1] + a_l u_{l-1}}{n_{c_l} - 1 + a_l}
        """
        seen = own >= 0
        if self.flat is not None:
            return np.zeros(len(own)), np.zeros(len(own))
        in_cells = np.zeros(len(own))
        in_margin = seen / max(self.margin.sum() - self.plain, 1.0)
        codes = [] if known is None else self._codes(known)
        for level in self.levels if known is not None else ():
            cell = level.place(codes, [f.size for f in self.features], len(own))
            here = np.flatnonzero((cell >= 0) & seen)
            others = level.total[cell[here]] - 1
            whole = np.maximum(others + level.a, 1e-300)
            in_cells[here] = ((others > 0) + level.a * in_cells[here]) / whole
            in_margin[here] *= level.a / whole
        return in_cells, in_margin

    def _codes(self, known: Records) -> list[I64]:
        """Codes of what is known, by feature."""
        columns = list(known.values())
        wide = [i for i, c in enumerate(self.features[: len(columns)]) if c.cuts is not None]
        columns += [] if self.plain else [columns[i] for i in wide]
        return [f.codes(c) for f, c in zip(self.features, columns, strict=True)]

    def rows(self, known: Records, own: I64) -> F64:
        """e(y | t) over bins, missing last, shape (n, bins + 1); `own`: the person's own bin, -1 where the reference
        does not have the person."""
        out, n = self.margins(own), len(own)
        if self.flat is not None or not self.features:
            return out
        codes = self._codes(known)
        if self.scores is not None and self.mixed:
            bins = out.shape[1] - 1
            found = self.scores.rows(codes, np.where(own < bins, own, -1))
            out[:, :bins] = self.mixed * found * (1 - out[:, bins:]) + (1 - self.mixed) * out[:, :bins]
        for level in self.levels:
            cell = level.place(codes, [f.size for f in self.features], n)
            inside = np.flatnonzero(cell >= 0)
            if not np.isfinite(level.a):
                continue
            counts = level.counts[cell[inside]].toarray()
            left = own[inside] >= 0
            counts[np.flatnonzero(left), own[inside][left]] -= 1
            total = level.total[cell[inside]] - left
            out[inside] = (counts + level.a * out[inside]) / np.maximum(total + level.a, 1e-300)[:, None]
        return self._others(out, own)


def _level(
    which: Sequence[int], codes: Sequence[I64], features: Sequence[Feature], y: I64, bins: int, a: float
) -> Level:
    which = tuple(which)
    whole = _cell_codes([codes[f] for f in which], [features[f].size for f in which], len(y))
    known, cell = np.unique(whole, return_inverse=True)
    counts = sp.csr_matrix((np.ones(len(y)), (cell, y)), shape=(len(known), bins + 1))
    counts.sum_duplicates()
    return Level(which, known, counts, np.asarray(counts.sum(axis=1)).ravel(), a)


def _own_counts(level: Level, codes: Sequence[I64], features: Sequence[Feature], y: I64) -> tuple[F64, F64]:
    """Others in each reference row's cell: those with its value, and all."""
    cell = level.place(codes, [f.size for f in features], len(y))
    return np.asarray(level.counts[cell, y]).ravel() - 1, level.total[cell] - 1


def _chain(
    known: Records, features: Sequence[Feature], codes: Sequence[I64], y: I64, bins: int, base: F64
) -> list[Level]:
    """Levels of more and more variables, numbers first coarsely; each as long as it makes left-out values likelier."""
    n = len(known)
    coarse = dict(zip([i for i in range(n) if features[i].cuts is not None], range(n, len(features)), strict=True))

    def tried(which: Sequence[int], p: F64) -> tuple[Level, F64, float]:
        level = _level(which, codes, features, y, bins, np.inf)
        mine, total = _own_counts(level, codes, features, y)
        best = (np.inf, p, float(np.log(np.maximum(p, 1e-300)).sum()))
        for a in WEIGHTS[:-1]:
            q = (mine + a * p) / (total + a)
            likely = float(np.log(np.maximum(q, 1e-300)).sum())
            if likely > best[2]:
                best = (a, q, likely)
        return Level(level.features, level.known, level.counts, level.total, best[0]), best[1], best[2]

    alone = {i: tried([i], base)[2] for i in range(n)}
    order = sorted(range(n), key=lambda i: (-alone[i], known_name(known, i)))
    levels: list[Level] = []
    fine: list[int] = []
    for i in order:
        for step in ([*fine, coarse[i]], [*fine, i]) if i in coarse else ([*fine, i],):
            level, base, _ = tried(step, base)
            levels.append(level)
        fine.append(i)
    return [level for level in levels if np.isfinite(level.a)]


def known_name(known: Records, i: int) -> str:
    """The name of the i-th variable, so that ties do not hang on the order in which variables were named."""
    return list(known)[i]


def _best_share(p: F64, base: F64) -> float:
    """The weight of one belief beside another that makes left-out values likeliest."""
    shares = np.array([0.0, 0.25, 0.5, 0.75, 0.9, 0.97, 1.0])
    likely = [np.log(np.maximum(w * p + (1 - w) * base, 1e-300)).sum() for w in shares]
    return float(shares[int(np.argmax(likely))])
