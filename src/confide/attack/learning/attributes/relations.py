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

from confide.attack.learning.attributes.cells import COARSE, FINE, Feature, Level, Reference
from confide.attack.learning.attributes.scores import ScoreFit
from confide.frames.columns import F64, I64, Records


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
        columns = list(known.values())
        found = [Feature.of(c, [len(y)] if plain else [FINE, COARSE]) for c in columns]
        features = [f[0] for f in found]
        wide = [i for i, f in enumerate(found) if len(f) > 1]
        features += [found[i][1] for i in wide]
        columns += [columns[i] for i in wide]
        empty = cls(tuple(features), (), margin, None, 0.0, plain)
        if not features or margin.sum() < 2:
            return empty
        rows = Reference.of([f.codes(c) for f, c in zip(features, columns, strict=True)], features, y, bins)
        if plain:
            level = rows.level(range(len(features)), float(smoothing or 0.0))
            return cls(tuple(features), (level,), margin, None, 0.0, True)
        base, scores, mixed = empty._own_margin(rows.y), None, 0.0
        there = rows.y < bins
        if numeric and bins > 2 and rows.count[there].sum() > 20:
            codes, own, sizes = [c[there] for c in rows.codes], rows.y[there], [f.size for f in features]
            scores = ScoreFit.fit(codes, sizes, own, bins, rows.count[there])
            p = np.zeros(len(rows.y))
            p[there] = scores.own(codes, own)
            p = np.where(there, p * (1 - margin[bins] / margin.sum()), base)
            mixed = _best_share(p, base, rows.count)
            base = mixed * p + (1 - mixed) * base
        levels = _chain(list(known), rows, base)
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
        used, n = np.flatnonzero(np.bincount(own + 1)), len(own)
        place = np.zeros(len(self.margin) + 1, dtype=np.int64)
        place[used] = np.arange(len(used))
        out = self.margins(used - 1)[place[own + 1]]
        if self.flat is not None or not self.features:
            return out
        codes = self._codes(known)
        if self.scores is not None and self.mixed:
            self.scores.mix(out, codes, np.where(own < out.shape[1] - 1, own, -1), self.mixed)
        for level in self.levels:
            if np.isfinite(level.a):
                level.shrink(out, level.place(codes, [f.size for f in self.features], n), own)
        return self._others(out, own)


def _chain(names: Sequence[str], rows: Reference, base: F64) -> list[Level]:
    """Levels of more and more variables, numbers first coarsely; each as long as it makes left-out values likelier.

    `names`: of the variables, so that ties do not hang on the order in which they were named.
    """
    n, features = len(names), rows.features
    coarse = dict(zip([i for i in range(n) if features[i].cuts is not None], range(n, len(features)), strict=True))
    alone = [rows.likeliest([i], base)[2] for i in range(n)]
    levels: list[Level] = []
    fine: list[int] = []
    for i in sorted(range(n), key=lambda i: (-alone[i], names[i])):
        for step in ([*fine, coarse[i]], [*fine, i]) if i in coarse else ([*fine, i],):
            a, base, _ = rows.likeliest(step, base)
            if np.isfinite(a):
                levels.append(rows.level(step, a))
        fine.append(i)
    return levels


def _best_share(p: F64, base: F64, count: F64) -> float:
    """The weight of one belief beside another that makes left-out values likeliest."""
    shares = np.array([0.0, 0.25, 0.5, 0.75, 0.9, 0.97, 1.0])
    likely = [count @ np.log(np.maximum(w * p + (1 - w) * base, 1e-300)) for w in shares]
    return float(shares[int(np.argmax(likely))])
