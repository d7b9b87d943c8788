r"""What a loss is: the guess that loses least under a distribution, and what guesses lose.

A law has one row per person and one column per value: :math:`P_{tv} = \Pr(y_t = v)`, each row sums to one. For every
loss :math:`l(g, y)` the guess is :math:`\arg\min_g \sum_v P_{tv}\, l(g, v)`, and that least sum is the expected loss.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from confide.frames.columns import F64, Bools

TIE = 1e-9
"""Probabilities that differ by less, relatively, are tied."""
NEAR_TIE = 1e-6
"""Slack of one record's worth, relatively."""
ENTRIES = 2_000_000
"""Probabilities that are worked on together."""


@dataclass(frozen=True, eq=False)
class Guessed:
    """Guesses of several people: `guess` (values, places of categories or 0 and 1), the `expected` loss, and which of
    the values are tied with the guess, None where no loss asks for it."""

    guess: F64
    expected: F64
    tied: Bools | None = None

    def take(self, rows: Any) -> Guessed:
        """Those of some rows."""
        return Guessed(self.guess[rows], self.expected[rows], None if self.tied is None else self.tied[rows])


class Loss(ABC):
    """What a wrong guess costs. `numbers`: it needs numbers; `declares`: a guess is right or wrong; `tips`: one record
    less can turn the guess to the other side."""

    numbers: ClassVar[bool] = True
    declares: ClassVar[bool] = False
    tips: ClassVar[bool] = False

    @abstractmethod
    def best(self, values: F64, p: F64) -> Guessed:
        """The guess that loses least; `values` (V,) in rising order, `p` (n, V)."""

    def best_near(self, values: F64, p: F64, near: F64) -> Guessed:  # noqa: ARG002 - few losses tip
        """The same, where differences up to `near` (n,) are no more than the record that was left out."""
        return self.best(values, p)

    def less(
        self, values: F64, p: F64, of: NDArray[np.int64], at: NDArray[np.int64], share: F64, near: F64 | None = None
    ) -> Guessed:
        """The best guess of each of n people by a row of p (`of`) that has lost a `share` at one place (`at`)."""
        out: list[Guessed] = []
        step = max(ENTRIES // max(p.shape[1], 1), 1)
        for a in range(0, len(of), step):
            rows = p[of[a : a + step]].copy()
            rows[np.arange(len(rows)), at[a : a + step]] -= share[a : a + step]
            rows = np.maximum(rows, 0.0)
            rows = rows / np.maximum(rows.sum(axis=1, keepdims=True), 1e-300)
            if near is None:
                out.append(self.best(values, rows))
            else:
                out.append(self.best_near(values, rows, near[a : a + step]))
        tied = None if not out or out[0].tied is None else np.concatenate([g.tied for g in out if g.tied is not None])
        guess, expected = (
            np.concatenate([getattr(g, n) for g in out]) if out else np.zeros(0) for n in ("guess", "expected")
        )
        return Guessed(guess, expected, tied)

    @abstractmethod
    def true(self, found: Guessed, y: F64, place: NDArray[np.int64]) -> F64:
        """What the guesses lose, given the true values and their places among the values (-1: not there)."""

    @property
    @abstractmethod
    def words(self) -> str:
        """It, for a printout."""
