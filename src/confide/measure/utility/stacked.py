"""Original and released rows in one file, for a model that distinguishes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from confide.core.errors import InputError
from confide.frames.columns import F64, I64
from confide.measure.utility.distances import cells, comparable
from confide.measure.utility.pair import Pair

LEVELS = 200
"""A variable with more categories than this is no use to a model."""


@dataclass(frozen=True, eq=False)
class Stacked:
    """N = n + r rows. `y`: 1 for released ones. `w`: weights of mean 1. `numbers` (NaN missing) and `codes` (the last
    is missing) by variable. `left_out`: variables with too many categories."""

    y: F64
    w: F64
    numbers: dict[str, F64]
    codes: dict[str, tuple[I64, int]]
    left_out: tuple[str, ...]

    @classmethod
    def of(cls, pair: Pair, variables: str | Sequence[str] | None, where: str) -> Stacked:
        numbers: dict[str, F64] = {}
        codes: dict[str, tuple[I64, int]] = {}
        out: list[str] = []
        for v in comparable(pair, variables, where):
            if pair.alike(v, where)[0].kind == "numeric":
                numbers[v] = np.concatenate([pair.numbers(v, 0), pair.numbers(v, 1)])
                continue
            c = cells(pair, v, 2, where)
            if c.size > LEVELS:
                out.append(v)
            else:
                codes[v] = np.concatenate([c.before, c.after]), c.size
        if out and (variables is not None or not (numbers or codes)):
            raise InputError(f'{where}: "{out[0]}" has more than {LEVELS} categories; recode it or leave it out.')
        y = np.concatenate([np.zeros(pair.original.height), np.ones(pair.released.height)])
        w = np.concatenate([pair.weights(0), pair.weights(1)])
        kept = w > 0
        return cls(
            y[kept], w[kept] / w[kept].mean(), {v: x[kept] for v, x in numbers.items()},
            {v: (x[kept], size) for v, (x, size) in codes.items()}, tuple(out),
        )  # fmt: skip

    @property
    def names(self) -> list[str]:
        """The variables."""
        return [*self.numbers, *self.codes]

    def taken(self, rows: I64) -> Stacked:
        """Rows in another order."""
        numbers = {v: x[rows] for v, x in self.numbers.items()}
        codes = {v: (c[rows], size) for v, (c, size) in self.codes.items()}
        return Stacked(self.y[rows], self.w[rows], numbers, codes, self.left_out)

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
        are missing; a category as indicators of all but its commonest level. Nothing for one that does not vary."""
        if variable in self.codes:
            codes, size = self.codes[variable]
            share = np.bincount(codes, weights=self.w, minlength=size)
            wanted = [i for i in range(size) if share[i] > 0 and i != int(share.argmax())]
            return np.asarray(codes[rows][:, None] == np.array(wanted, dtype=np.int64), dtype=float)
        missing = np.isnan(self.numbers[variable])
        found = [self.scaled[variable][rows]] if variable in self.scaled else []
        found += [missing[rows].astype(float)] if 0 < missing.sum() < len(missing) else []
        return np.stack(found, axis=1) if found else np.zeros((len(missing[rows]), 0))
