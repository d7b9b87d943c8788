r"""Losses, and the guess that loses least under a distribution.

A law has one row per person and one column per value: :math:`P_{tv} = \Pr(y_t = v)`, each row sums to one. For every
loss :math:`l(g, y)` the guess is :math:`\arg\min_g \sum_v P_{tv}\, l(g, v)`, and that least sum is the expected loss.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from confide.attack.learning.attributes.row_sums import medians, medians_less
from confide.core.checks import finite, fraction, positive
from confide.core.errors import InputError, Problems
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
class Within(Loss):
    """1 unless the guess is within a share of the true value: abs(g - y) <= max(share * abs(y), floor), closed.

    Zero is hit by zero alone unless there is a floor; negative values are understood.

    >>> import confide as cf
    >>> cf.Within(share=0.1, floor=500)
    Within(share=0.1, floor=500)
    """

    share: float
    floor: float = 0.0
    declares: ClassVar[bool] = True

    def __post_init__(self) -> None:
        problems = Problems()
        with problems:
            if finite(self.share, "Within: share") < 0:
                raise InputError("Within: share is a share of the true value, not below zero; 0.1 for 10 percent.")
            fraction(self.share, "Within: share")
        with problems:
            if finite(self.floor, "Within: floor") < 0:
                raise InputError("Within: floor is a distance in the variable's own unit, not below zero.")
        problems.tell()

    @property
    def words(self) -> str:
        floor = f", or within {self.floor:,g}" if self.floor else ""
        return f"1 unless the guess is within {100 * self.share:g}% of the true value{floor}"

    def reach(self, y: F64) -> F64:
        """How far a guess may be off."""
        return np.maximum(self.share * np.abs(y), self.floor)

    def best(self, values: F64, p: F64) -> Guessed:
        low, high = values - self.reach(values), values + self.reach(values)
        by_low, by_high = np.argsort(low, kind="stable"), np.argsort(high, kind="stable")
        ends = np.unique(low)
        # Hits at a point: all intervals that begin there or before, less those that ended before.
        begun = np.concatenate([np.zeros((len(p), 1)), np.cumsum(p[:, by_low], axis=1)], axis=1)
        ended = np.concatenate([np.zeros((len(p), 1)), np.cumsum(p[:, by_high], axis=1)], axis=1)
        slack = 1e-12 * np.maximum(np.abs(ends), 1.0)
        hits = (
            begun[:, np.searchsorted(low[by_low], ends + slack, side="right")]
            - ended[:, np.searchsorted(high[by_high], ends - slack, side="left")]
        )
        top = hits.max(axis=1)
        at = (hits >= (top - TIE)[:, None]).argmax(axis=1)
        # As good up to where the next interval ends, and the next begins.
        upto = high[by_high][np.minimum(np.searchsorted(high[by_high], ends - slack), len(high) - 1)]
        middle = 0.5 * (ends + np.maximum(upto, ends))
        return Guessed(middle[at], np.clip(1 - top, 0.0, 1.0))

    def true(self, found: Guessed, y: F64, place: NDArray[np.int64]) -> F64:  # noqa: ARG002 - values tell
        slack = 1e-9 * np.maximum(np.abs(y), 1e-300)
        return np.where(np.abs(found.guess - y) <= self.reach(y) + slack, 0.0, 1.0)


@dataclass(frozen=True)
class Exceeds(Loss):
    """Whether the value lies above a limit: who declares it loses `cost` if wrong and gains `gain` if right.

    It is declared where Pr(y > limit) > cost / (cost + gain); whoever declares nothing loses nothing.

    >>> import confide as cf
    >>> cf.Exceeds(limit=100_000, cost=1, gain=1)
    Exceeds(limit=100000, cost=1, gain=1)
    """

    limit: float
    cost: float
    gain: float
    declares: ClassVar[bool] = True
    tips: ClassVar[bool] = True

    def __post_init__(self) -> None:
        problems = Problems()
        for name, judge in (("limit", finite), ("cost", positive), ("gain", positive)):
            with problems:
                judge(getattr(self, name), f"Exceeds: {name}")
        problems.tell()

    @property
    def words(self) -> str:
        return f"declared above {self.limit:,g}: a wrong one costs {self.cost:g}, a right one gains {self.gain:g}"

    def check(self, low: float, high: float) -> None:
        if not low <= self.limit < high:
            raise InputError(
                "Exceeds: the limit lies outside the values of the variable, so that everybody is on one side of it; "
                "give a limit that some exceed and others do not."
            )

    def less(
        self, values: F64, p: F64, of: NDArray[np.int64], at: NDArray[np.int64], share: F64, near: F64 | None = None
    ) -> Guessed:
        over = values > self.limit
        above = (p[:, over].sum(axis=1)[of] - share * over[at]) / np.maximum(p.sum(axis=1)[of] - share, 1e-300)
        return self._declared(above, near)

    def best(self, values: F64, p: F64) -> Guessed:
        return self._declared(p[:, values > self.limit].sum(axis=1))

    def best_near(self, values: F64, p: F64, near: F64) -> Guessed:
        """Declared half where the record that was left out could have tipped it."""
        return self._declared(p[:, values > self.limit].sum(axis=1), near)

    def _declared(self, above: F64, near: F64 | None = None) -> Guessed:
        bar = self.cost / (self.cost + self.gain)
        declared = (above > bar * (1 + TIE)).astype(float)
        if near is not None:  # a record less moves the share above by at most this
            off = near * np.where(above > bar, bar, 1 - bar)
            declared = np.where((near > 0) & (np.abs(above - bar) <= off * (1 + NEAR_TIE)), 0.5, declared)
        return Guessed(declared, declared * ((1 - above) * self.cost - above * self.gain))

    def true(self, found: Guessed, y: F64, place: NDArray[np.int64]) -> F64:  # noqa: ARG002 - values tell
        paid = np.where(y > self.limit, -self.gain, self.cost)
        return np.asarray(found.guess * paid)


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
        if self.levels is None:
            found = np.asarray(self.function(guess, truth), dtype=float)
            found = np.broadcast_to(found, np.broadcast_shapes(guess.shape, truth.shape))
        else:
            g, y = np.broadcast_arrays(guess, truth)
            pairs = zip(g.ravel().astype(int).tolist(), y.ravel().astype(int).tolist(), strict=True)
            found = np.array([float(self.function(self._level(a), self._level(b))) for a, b in pairs]).reshape(g.shape)
        if not np.isfinite(found).all():
            raise InputError("loss: the function must give a finite number for every guess and every true value.")
        return np.asarray(found)

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


NAMED: dict[str, Loss] = {"zero_one": ZeroOne(), "absolute": Absolute(), "squared": Squared()}
Stated = str | Within | Exceeds | Callable[..., Any] | None
"""What may be said for a loss; None: 0/1 for categories, absolute for numbers."""


def loss_of(stated: Stated, grid: Sequence[float], numeric: bool, variable: str, levels: tuple[Any, ...]) -> Loss:
    """The loss that is meant, refused where the variable has no numbers for it."""
    if stated is None:
        stated = "absolute" if numeric else "zero_one"
    if isinstance(stated, str):
        if stated not in NAMED:
            raise InputError(
                f'loss is one of {", ".join(NAMED)}, Within(...), Exceeds(...) or a function, not "{stated}".'
            )
        found = NAMED[stated]
    elif isinstance(stated, (Within, Exceeds)):
        found = stated
    elif callable(stated):
        found = Own(stated, tuple(finite(g, "grid") for g in grid), None if numeric else levels)
    else:
        raise InputError(f"loss is one of {', '.join(NAMED)}, Within(...), Exceeds(...) or a function.")
    if found.numbers and not numeric:
        raise InputError(
            f'loss: "{variable}" is categorical, and this loss is about numbers; use "zero_one" or a function, or name '
            "the variable in numeric= of the plan."
        )
    if len(grid) and not isinstance(found, Own):
        raise InputError("grid goes with a loss that is a function; the others know their best guess.")
    return found
