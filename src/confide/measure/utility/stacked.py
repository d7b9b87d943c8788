"""Original and released rows in one file, for a model that distinguishes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from confide.frames.columns import F64, I64, Bools
from confide.measure.utility.distances import Codes, cells
from confide.measure.utility.pair import Pair

LEVELS = 200
"""A variable with more categories than this is no use to a model."""


@dataclass(frozen=True, eq=False)
class Stacked:
    """N = n + r rows. `y`: 1 for released ones. `w`: weights of mean 1. `numbers` (NaN missing) and `codes` (with how
    many there are) by variable. `parts`: where the plan merged categories, how each code is shared out among those of
    the original, shape (codes, categories). `outside`: of numbers with such values, which of them lie outside the range
    of the original; the middle of an interval is not one of them."""

    y: F64
    w: F64
    numbers: dict[str, F64]
    codes: dict[str, tuple[I64, int]]
    parts: dict[str, F64] = field(default_factory=dict)
    outside: dict[str, Bools] = field(default_factory=dict)

    @classmethod
    def of(cls, pair: Pair, variables: Sequence[str], where: str) -> Stacked:
        """Variables of the original and the release, one below the other."""
        numbers: dict[str, F64] = {}
        codes: dict[str, tuple[I64, int]] = {}
        parts: dict[str, F64] = {}
        outside: dict[str, Bools] = {}
        for v in variables:
            if pair.kind(v) == "numeric":
                first, second = pair.numbers(v, 0), pair.numbers(v, 1)
                numbers[v] = np.concatenate([first, second])
                if v not in pair.coarse:
                    outside[v] = np.concatenate([np.zeros(len(first), dtype=bool), _beyond(first, second)])
                continue
            c = _few(cells(pair, v, 2, where))
            if c.parts is None:
                codes[v] = np.concatenate([c.before, c.after]), c.size
            else:
                after, parts[v] = _own_codes(c.after, c.parts)
                codes[v] = np.concatenate([c.before, after]), len(parts[v])
        y = np.concatenate([np.zeros(pair.original.height), np.ones(pair.released.height)])
        w = np.concatenate([pair.weights(0), pair.weights(1)])
        kept = w > 0
        return cls(
            y[kept], w[kept] / w[kept].mean(), {v: x[kept] for v, x in numbers.items()},
            {v: (x[kept], size) for v, (x, size) in codes.items()}, parts,
            {v: x[kept] for v, x in outside.items() if x[kept].any()},
        )  # fmt: skip

    @property
    def names(self) -> list[str]:
        """The variables."""
        return [*self.numbers, *self.codes]

    def taken(self, rows: I64) -> Stacked:
        """Rows in another order."""
        numbers = {v: x[rows] for v, x in self.numbers.items()}
        codes = {v: (c[rows], size) for v, (c, size) in self.codes.items()}
        outside = {v: x[rows] for v, x in self.outside.items()}
        return Stacked(self.y[rows], self.w[rows], numbers, codes, self.parts, outside)

    @cached_property
    def scaled(self) -> dict[str, F64]:
        """Numbers that vary, with mean 0 and mean square 1; 0 where missing."""
        found = {}
        for v, x in self.numbers.items():
            there = ~np.isnan(x)
            if there.any():
                centre = np.average(x[there], weights=self.w[there])
                scale = np.sqrt(np.average((x[there] - centre) ** 2, weights=self.w[there]))
                if scale > 1e-12 * np.abs(x[there]).max():
                    found[v] = np.where(there, (x - centre) / scale, 0.0)
        return found

    def columns(self, variable: str, rows: I64 | slice = slice(None)) -> F64:
        """A variable as columns, shape (N, width), or some rows of them: a number scaled, with an indicator where some
        are missing; a category as indicators of all but its commonest level, a merged one as the parts of those that it
        may stand for. Nothing for one that does not vary."""
        if variable in self.codes:
            codes, size = self.codes[variable]
            parts = self.parts.get(variable)
            many = np.bincount(codes, weights=self.w, minlength=size)
            share = np.asarray(many if parts is None else many @ parts)
            wanted = [i for i in range(len(share)) if share[i] > 0 and i != int(share.argmax())]
            if parts is not None:
                return np.asarray(parts[codes[rows]][:, wanted])
            return np.asarray(codes[rows][:, None] == np.array(wanted, dtype=np.int64), dtype=float)
        missing = np.isnan(self.numbers[variable])
        found = [self.scaled[variable][rows]] if variable in self.scaled else []
        found += [missing[rows].astype(float)] if 0 < missing.sum() < len(missing) else []
        return np.stack(found, axis=1) if found else np.zeros((len(missing[rows]), 0))


def _beyond(before: F64, after: F64) -> Bools:
    """Which released numbers are below or above all of the original's; NaN is neither."""
    there = before[~np.isnan(before)]
    if not len(there):
        return np.zeros(len(after), dtype=bool)
    return np.asarray((after < there.min()) | (after > there.max()))


def too_many(pair: Pair, variable: str) -> bool:
    """Whether the original has more categories than a model can use."""
    return pair.kind(variable) == "categorical" and len(pair.column(variable).levels) >= LEVELS


def _few(c: Codes) -> Codes:
    """The same cells; where there are too many, those that the release alone has are one."""
    if c.parts is not None or c.size <= LEVELS:
        return c
    there = np.bincount(c.before, minlength=c.size) > 0
    place = np.where(there, np.cumsum(there) - 1, there.sum())
    return Codes(place[c.before], place[c.after], int(there.sum()) + 1)


def _own_codes(after: I64, parts: F64) -> tuple[I64, F64]:
    """Codes of released categories: that of the original category which alone becomes it, else a new one; and the parts
    of all codes."""
    merged = np.flatnonzero(parts.max(axis=1) < 1)
    code = parts.argmax(axis=1)
    code[merged] = parts.shape[1] + np.arange(len(merged))
    return code[after], np.concatenate([np.eye(parts.shape[1]), parts[merged]])
