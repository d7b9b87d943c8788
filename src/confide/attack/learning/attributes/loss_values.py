"""Losses that are about the value itself: 0/1, absolute, squared, and a user's own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from confide.attack.learning.attributes.loss import NEAR_TIE, TIE, Guessed, Loss
from confide.attack.learning.attributes.row_sums import medians, medians_less
from confide.core.errors import InputError
from confide.frames.columns import F64


@dataclass(frozen=True)
class ZeroOne(Loss):
    """1 for a wrong value: the guess is the mode, and tied modes share the hit."""

    numbers: ClassVar[bool] = False
    declares: ClassVar[bool] = True
    tips: ClassVar[bool] = True
    words: ClassVar[str] = "0/1 loss: 1 for a wrong value"

    def best(self, values: F64, p: F64) -> Guessed:
        top = p.max(axis=1)
        tied = p >= (top * (1 - TIE))[:, None]
        return Guessed(values[tied.argmax(axis=1)], 1 - top, tied)

    def best_near(self, values: F64, p: F64, near: F64) -> Guessed:
        """Modes that the record left out could have tipped are tied."""
        found = self.best(values, p)
        tied = (p > 0) & (p >= (p.max(axis=1) - near * (1 + NEAR_TIE))[:, None])
        assert found.tied is not None
        return Guessed(found.guess, found.expected, found.tied | tied)

    def true(self, found: Guessed, y: F64, place: NDArray[np.int64]) -> F64:  # noqa: ARG002 - places tell
        assert found.tied is not None
        hit = found.tied[np.arange(len(place)), np.maximum(place, 0)] & (place >= 0)
        return np.asarray(1 - hit / found.tied.sum(axis=1))


@dataclass(frozen=True)
class Absolute(Loss):
    """How far the guess is off: the guess is the median, the middle where any point between two values is as good."""

    words: ClassVar[str] = "absolute loss: how far the guess is off"

    def best(self, values: F64, p: F64) -> Guessed:
        # sum_v p |v - g| from sums up to the median: those below lose g - v, those above v - g.
        return Guessed(*medians(values, p, TIE))

    def less(
        self, values: F64, p: F64, of: NDArray[np.int64], at: NDArray[np.int64], share: F64,
        near: F64 | None = None,  # noqa: ARG002 - a record less moves a median by one value
    ) -> Guessed:  # fmt: skip
        """What is below a point is what it was, less the share where that lies below it too."""
        guess = medians_less(values, p, of, at, share, TIE)
        return Guessed(guess, np.full(len(of), np.nan))

    def true(self, found: Guessed, y: F64, place: NDArray[np.int64]) -> F64:  # noqa: ARG002 - values tell
        return np.abs(found.guess - y)


@dataclass(frozen=True)
class Squared(Loss):
    """The square of how far the guess is off: the guess is the mean. Its mean over a file is the inverse of Duncan and
    Keller-McNulty's disclosure risk."""

    words: ClassVar[str] = "squared loss: the square of how far the guess is off"

    def best(self, values: F64, p: F64) -> Guessed:
        centre = float(np.mean(values)) if len(values) else 0.0
        off = values - centre
        mean = p @ off
        return Guessed(mean + centre, np.maximum(p @ off**2 - mean**2, 0.0))

    def less(
        self, values: F64, p: F64, of: NDArray[np.int64], at: NDArray[np.int64], share: F64,
        near: F64 | None = None,  # noqa: ARG002 - means do not tip
    ) -> Guessed:  # fmt: skip
        whole = np.maximum(p.sum(axis=1)[of] - share, 1e-300)
        return Guessed(((p @ values)[of] - share * values[at]) / whole, np.full(len(of), np.nan))

    def true(self, found: Guessed, y: F64, place: NDArray[np.int64]) -> F64:  # noqa: ARG002 - values tell
        return np.asarray((found.guess - y) ** 2)


@dataclass(frozen=True)
class Own(Loss):
    """A user's own loss, function(guess, truth), over the values that occur and a grid."""

    function: Callable[..., Any]
    grid: tuple[float, ...]
    levels: tuple[Any, ...] | None = None
    numbers: ClassVar[bool] = False
    words: ClassVar[str] = "the loss that was stated"

    def _of(self, guess: F64, truth: F64) -> F64:
        """The loss of aligned guesses and truths."""
        try:
            found = self._called(guess, truth)
        except (TypeError, ValueError):
            raise InputError("loss: a function takes a guess and a true value, and gives a number for both.") from None
        if not np.isfinite(found).all():
            raise InputError("loss: the function must give a finite number for every guess and every true value.")
        return np.asarray(found)

    def _called(self, guess: F64, truth: F64) -> F64:
        if self.levels is None:
            found = np.asarray(self.function(guess, truth), dtype=float)
            return np.broadcast_to(found, np.broadcast_shapes(guess.shape, truth.shape))
        g, y = np.broadcast_arrays(guess, truth)
        pairs = zip(g.ravel().astype(int).tolist(), y.ravel().astype(int).tolist(), strict=True)
        return np.array([float(self.function(self._level(a), self._level(b))) for a, b in pairs]).reshape(g.shape)

    def _level(self, code: int) -> Any:
        assert self.levels is not None
        return self.levels[code] if 0 <= code < len(self.levels) else None

    def best(self, values: F64, p: F64) -> Guessed:
        tried = np.unique(np.concatenate([values, np.asarray(self.grid, dtype=float)]))
        expected = p @ self._of(tried[:, None], values[None, :]).T
        at = expected.argmin(axis=1)
        return Guessed(tried[at], expected[np.arange(len(p)), at])

    def true(self, found: Guessed, y: F64, place: NDArray[np.int64]) -> F64:  # noqa: ARG002 - values tell
        return self._of(found.guess, y)
