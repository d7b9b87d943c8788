"""Values that stand apart in a numeric variable (missing, answer codes, zeros), and a model of who has them."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from confide.core.random.draws import Draws
from confide.core.run.threads import one_blas_thread
from confide.frames.columns import F64, I64, Bools, Column, codes_in
from confide.protect.seam.coarsening import Chain
from confide.protect.shared.predictors import Predictors

MANY_ZEROS = 0.05
"""Zeros stand apart where they are at least this share of the file."""


@dataclass(frozen=True, eq=False)
class Apart:
    """Values that stand apart: `values[i - 1]` is state i, NaN for missing; state 0 is everything else."""

    values: tuple[float, ...]

    @classmethod
    def of(cls, column: Column, zeros: bool) -> Apart:
        """Answer codes, zeros where they are to stand apart, missing values; only what occurs."""
        y = column.values
        apart = {float(s) for s in (*column.special, *((0.0,) if zeros else ())) if bool((y == s).any())}
        return cls((*sorted(apart), *((np.nan,) if column.missing.any() else ())))

    def of_values(self, y: F64) -> I64:
        """Each value's state, shape (n,); -1 for a missing one where none is known to stand apart."""
        state = np.where(np.isnan(y), -1, 0).astype(np.int64)
        for i, v in enumerate(self.values, start=1):
            state[np.isnan(y) if np.isnan(v) else y == v] = i
        return state

    def of_released(self, z: Column, after: Chain, model: Column) -> I64:
        """States of values in their released form, after later coarsenings."""
        state = np.zeros(len(z), dtype=np.int64)
        for i, v in enumerate(self.values, start=1):
            if np.isnan(v):
                state[z.missing] = i
            else:
                at = codes_in(after.image(model.with_values(np.array([v]))), z)[0]
                state[(codes_in(z, z) == at) & (at >= 0)] = i
        return state

    def merged(self, column: Column, after: Chain) -> bool:
        """Whether later coarsenings give a value that stands apart and another one the same form."""
        if not after.steps:
            return False
        image, state = after.image(column), self.of_values(column.values)
        code = codes_in(image, image)
        mixed = np.unique(code[(state == 0) & (code >= 0)])
        return bool(np.isin(code[(state > 0) & (code >= 0)], mixed).any())


@dataclass(frozen=True, eq=False)
class States:
    r"""The first of two parts: which of the values that stand apart, or none of them (state 0).

    :math:`\Pr(\mathrm{state} \mid x)` is a multinomial logistic regression on the predictors; `model` is a number
    where all records share one state.
    """

    apart: Apart
    model: Any

    @classmethod
    def of(cls, column: Column, predictors: Predictors, x: F64, zeros: bool | None) -> States:
        """Learnt from a file; `zeros` says whether they stand apart (None: where there are many)."""
        share = float(np.mean(column.values[column.usable] == 0)) if column.usable.any() else 0.0
        apart = Apart.of(column, MANY_ZEROS <= share < 1 if zeros is None else zeros)
        state = apart.of_values(column.values)
        found = np.unique(state)
        if len(found) < 2:
            return cls(apart, int(found[0]) if len(found) else 0)
        return cls(apart, _logistic(x, state, predictors))

    def of_values(self, y: F64) -> I64:
        """Each value's state."""
        return self.apart.of_values(y)

    def regular(self, column: Column) -> Bools:
        """Where a value does not stand apart."""
        return np.asarray(self.of_values(column.values) == 0)

    def draw(self, x: F64, draws: Draws, rows: I64, attempt: int = 0) -> I64:
        """States of records with these predictors; `rows`: their numbers; `attempt` rises where drawn again."""
        u = draws.of("state").uniform(rows, attempt)
        if isinstance(self.model, int):
            return np.full(len(x), self.model, dtype=np.int64)
        with one_blas_thread():
            p = self.model.predict_proba(x[:, 1:])
        at = (u[:, None] > np.cumsum(p, axis=1)[:, :-1]).sum(axis=1)
        return np.asarray(self.model.classes_[at], dtype=np.int64)

    def likeliest(self, x: F64) -> I64:
        """The state with the largest probability."""
        if isinstance(self.model, int):
            return np.full(len(x), self.model, dtype=np.int64)
        with one_blas_thread():
            return np.asarray(self.model.classes_[self.model.predict_proba(x[:, 1:]).argmax(axis=1)], dtype=np.int64)

    def placed(self, state: I64, amount: F64) -> F64:
        """Amounts of state 0, and the values that the other states stand for."""
        table = np.array([np.nan, *self.apart.values])
        return np.where(state == 0, amount, table[state])


def _logistic(x: F64, state: I64, predictors: Predictors) -> Any:
    """Multinomial regression with a slight ridge; without predictors the shares alone."""
    from sklearn.linear_model import LogisticRegression

    if not predictors.parts:
        return Shares(*np.unique(state, return_counts=True))
    model = LogisticRegression(C=100.0, max_iter=500, tol=1e-8)
    with warnings.catch_warnings(), one_blas_thread():
        warnings.simplefilter("ignore")
        return model.fit(x[:, 1:], state)


class Shares:
    """The same shares for everybody, in the form of a fitted classifier."""

    def __init__(self, classes: I64, counts: I64) -> None:
        self.classes_ = classes
        self.p = counts / counts.sum()

    def predict_proba(self, x: F64) -> F64:
        return np.tile(self.p, (len(x), 1))
