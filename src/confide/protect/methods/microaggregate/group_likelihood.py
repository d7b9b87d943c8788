"""The likelihood of a released mean beside a person's own values: the chance that the person is in that group."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree
from scipy.special import logsumexp

from confide.frames.columns import F64, I64, Bools, Records
from confide.protect.methods.microaggregate.group_choice import FAR_KNOTS, NEAR_KNOTS
from confide.protect.methods.microaggregate.group_heights import (
    STEPS,
    distances,
    heights_of_rows,
    log_heights,
    log_heights_of_every,
)
from confide.protect.methods.microaggregate.group_means import Means
from confide.protect.seam.likelihood import PAIRS, Columns, Likelihood

TOGETHER = 50_000
"""Pairs whose distances are looked at together."""
NEAREST = 192
"""Groups over which the chances of a person are summed, where absence is possible."""


@dataclass(frozen=True, eq=False)
class Heights:
    """Theta as tables: of distances relative to the nearest mean, to those around the person, to those around the
    mean; and the weights of flags, shape (3 + 2q,)."""

    near: F64
    here: F64
    there: F64
    flags: F64

    @classmethod
    def of(cls, theta: F64) -> Heights:
        a, b = len(NEAR_KNOTS), len(NEAR_KNOTS) + len(FAR_KNOTS)
        c = b + len(FAR_KNOTS)
        return cls(
            _table(NEAR_KNOTS, theta[:a]), _table(FAR_KNOTS, theta[a:b]), _table(FAR_KNOTS, theta[b:c]), theta[c:]
        )


def _table(knots: F64, heights: F64) -> F64:
    return np.interp(np.arange(knots[0], knots[-1] + 0.5 / STEPS, 1 / STEPS), knots, heights)


@dataclass(frozen=True, eq=False)
class Grouped(Likelihood):
    """`means` as released; `theta` gives the model, learnt when it is first asked for. `values(records)` gives people's
    values in the unit of the means, NaN where nothing is averaged, shape (n, q), and their scope, -1 where the release
    has none such. `absence`: whether the likelihood is divided by its average over the file, as beside people who were
    not released it must be.
    """

    means: Means
    theta: Callable[[], F64]
    values: Callable[[Records], tuple[F64, I64]]
    absence: bool = True

    scale: ClassVar[None] = None

    @cached_property
    def heights(self) -> Heights:
        """The model as tables."""
        return Heights.of(self.theta())

    @property
    def record(self) -> Columns:
        m, of = self.means, self.means.of
        whole = m.whole @ (2 ** np.arange(m.whole.shape[1]))
        out = {f"z{v}": m.points[of, v] for v in range(m.points.shape[1])}
        return out | {"spacing": np.log2(m.spacing[of]), "whole": whole[of], "many": m.many[of].astype(np.int64)}

    def target(self, records: Records) -> Columns:
        y, scope = self.values(records)
        near, around, log_absent = np.zeros(len(y)), np.ones(len(y)), np.zeros(len(y))
        for s in np.unique(scope[scope >= 0]):
            who, among = np.flatnonzero(scope == s), np.flatnonzero(self.means.scope == s)
            near[who], around[who] = self.means.around(y[who], among)
            if self.absence:
                log_absent[who] = self._log_average(y[who], near[who], around[who], among)
        with np.errstate(divide="ignore"):
            out = {"near": np.log2(near), "around": np.log2(around), "log_absent": log_absent}
        return {f"y{v}": np.nan_to_num(y[:, v]) for v in range(y.shape[1])} | out

    def log(self, t: Columns, z: Columns) -> F64:
        q = self.means.values.shape[1]
        y, m = (np.column_stack([columns[f"{name}{v}"] for v in range(q)]) for name, columns in (("y", t), ("z", z)))
        return self._log_weights(y, m, t["near"], t["around"], z["spacing"], z["whole"], z["many"]) - t["log_absent"]

    def log_every(self, t: Columns, z: Columns) -> F64:
        q, h = self.means.values.shape[1], self.heights
        y, m = (np.column_stack([columns[f"{name}{v}"] for v in range(q)]) for name, columns in (("y", t), ("z", z)))
        out = np.empty((len(y), len(m)))
        if q > 1:
            log_heights_of_every(
                y, m, t["near"], t["around"], z["spacing"], z["whole"], z["many"], h.near, h.here, h.there, h.flags, out
            )
            out -= t["log_absent"][:, None]
            return out
        # One number: logarithms of a few rows at a time, by NumPy, which takes several at once.
        flat = z["whole"] * h.flags[4] + h.flags[2] * z["many"]
        alike = z["whole"] * h.flags[3] + h.flags[0] + h.flags[1] * z["many"]
        step = max(TOGETHER // max(len(m), 1), 1)
        for a in range(0, len(y), step):
            mine, part = slice(a, a + step), out[a : a + step]
            distances(y[mine, 0], m[:, 0], part)
            with np.errstate(divide="ignore"):
                np.log2(part, out=part)
            given = t["near"][mine], t["around"][mine], t["log_absent"][mine], z["spacing"], flat, alike
            heights_of_rows(*given, h.near, h.here, h.there, part)
        return out

    def altered(self, t: Columns) -> Bools:
        return np.ones(len(t["near"]), dtype=bool)

    def among_present(self) -> Grouped:
        """The same for a target known to be released, to whom absence does not matter."""
        return replace(self, absence=False)

    def _log_weights(self, *pairs: NDArray[Any]) -> F64:
        h, out = self.heights, np.empty(len(pairs[0]))
        log_heights(*pairs, h.near, h.here, h.there, h.flags, out)
        return out

    def _log_average(self, y: F64, near: F64, around: F64, among: I64) -> F64:
        """Log of the average weight of the scope's rows, from the groups near each person; some people at a time."""
        many, tree, out = min(NEAREST, len(among)), cKDTree(self.means.points[among]), np.empty(len(y))
        step = max(PAIRS // many, 1)
        for a in range(0, len(y), step):
            mine = slice(a, a + step)
            at = among[tree.query(np.nan_to_num(y[mine]), k=many)[1].reshape(-1, many)]
            found = self._log_beside(y[mine], near[mine], around[mine], at)
            out[mine] = logsumexp(found + np.log(self.means.count[at]), axis=1)
        return np.asarray(out - np.log(self.means.count[among].sum()))

    def _log_beside(self, y: F64, near: F64, around: F64, at: I64) -> F64:
        """Log weights of each person's groups, of the shape of `at`."""
        means, (n, many) = self.means, at.shape
        i, j = np.repeat(np.arange(n), many), at.reshape(-1)
        whole = means.whole @ (2 ** np.arange(means.whole.shape[1]))
        with np.errstate(divide="ignore"):
            found = self._log_weights(
                np.nan_to_num(y)[i], means.points[j], np.log2(near)[i], np.log2(around)[i], np.log2(means.spacing)[j],
                whole[j], means.many[j].astype(np.int64),
            )  # fmt: skip
        return found.reshape(at.shape)
