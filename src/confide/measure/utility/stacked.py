"""Original and released rows in one file, for a model that tells them apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

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

    def columns(self, variable: str) -> F64:
        """A variable as columns, shape (N, width): a number scaled, with an indicator where some are missing; a
        category as indicators of all but its commonest level. Nothing for one that does not vary."""
        if variable in self.codes:
            codes, size = self.codes[variable]
            share = np.bincount(codes, weights=self.w, minlength=size)
            wanted = [i for i in range(size) if share[i] > 0 and i != int(share.argmax())]
            return np.asarray(codes[:, None] == np.array(wanted, dtype=np.int64), dtype=float)
        x = self.numbers[variable]
        missing = np.isnan(x)
        found = [missing.astype(float)] if 0 < missing.sum() < len(x) else []
        there = ~missing
        if there.any():
            centre = np.average(x[there], weights=self.w[there])
            scale = np.sqrt(np.average((x[there] - centre) ** 2, weights=self.w[there]))
            if scale > 1e-12 * np.abs(x[there]).max():
                found.insert(0, np.where(missing, 0.0, (x - centre) / scale))
        return np.stack(found, axis=1) if found else np.zeros((len(x), 0))
