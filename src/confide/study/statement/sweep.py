"""Candidates: plans by name, and sweeps of a plan over values of its parameters."""

from __future__ import annotations

import inspect
import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from confide.core.checks import finite, positive
from confide.core.errors import InputError
from confide.protect.plan import Plan

MOST = 10_000
"""Settings of one sweep beyond which a number is taken for a mistake."""


@dataclass(frozen=True)
class Range:
    """Evenly spaced values from `low` to `high`, both included; with `log`, evenly spaced ratios.

    Where both ends and the step between values are whole numbers, so are the values.

    >>> import confide as cf
    >>> cf.Range(0, 0.5, steps=3).values()
    [0.0, 0.25, 0.5]
    >>> cf.Range(5, 20, steps=4).values()
    [5, 10, 15, 20]
    """

    low: float
    high: float
    steps: int = 11
    log: bool = False

    def __post_init__(self) -> None:
        low, high = finite(self.low, "Range: low"), finite(self.high, "Range: high")
        if low >= high:
            raise InputError(f"A range goes up: from {low:g} to {high:g} does not.")
        if isinstance(self.steps, bool) or not isinstance(self.steps, int) or not 2 <= self.steps <= MOST:
            raise InputError(f"steps is how many values a range has, a whole number from 2 to {MOST:,}.")
        if not isinstance(self.log, bool):
            raise InputError("Range: log is true (equal ratios) or false (equal steps).")
        if self.log:
            positive(self.low, "Range: low, with log,")

    @property
    def whole(self) -> bool:
        """Whether only whole numbers make sense: both ends are, and so is the step between values."""
        ends = isinstance(self.low, int) and isinstance(self.high, int)
        return ends and not self.log and (self.high - self.low) % (self.steps - 1) == 0

    def values(self) -> list[float] | list[int]:
        """The values, lowest first."""
        if self.whole:
            step = int(self.high - self.low) // (self.steps - 1)
            return [int(self.low) + k * step for k in range(self.steps)]
        if self.log:
            grid = np.exp(np.linspace(math.log(self.low), math.log(self.high), self.steps))
        else:
            grid = np.linspace(float(self.low), float(self.high), self.steps)
        return [float(f"{v:.12g}") for v in grid]


@dataclass(frozen=True, eq=False)
class Candidate:
    """One possible release. `sweep`: the sweep it belongs to; `setting`: its values of what that sweep varies."""

    name: str
    plan: Plan
    sweep: str | None = None
    setting: Mapping[str, Any] = field(default_factory=dict)

    @property
    def value(self) -> float | None:
        """The value of the one parameter that varies; None where there is none, several, or no number."""
        (only, *more) = self.setting.values() or (None,)
        number = isinstance(only, (int, float, np.integer, np.floating)) and not isinstance(only, bool)
        return float(only) if number and not more else None  # type: ignore[arg-type]


@dataclass(frozen=True, eq=False, init=False)
class Sweep:
    """A plan whose parameters take several values: every combination of them is a candidate.

    `make` is called with one value of each parameter and returns the plan; a parameter is a `Range` or a list.
    `document`: the table of a file that states it by ranges, where it was read from one.

    >>> import confide as cf
    >>> sweep = cf.Sweep(lambda rate: cf.Plan([cf.Swap("race", rate=rate)]), rate=cf.Range(0.1, 0.5, steps=3))
    >>> [c.name for c in sweep.candidates("swap")]
    ['swap [rate=0.1]', 'swap [rate=0.3]', 'swap [rate=0.5]']
    """

    make: Callable[..., Plan]
    parameters: Mapping[str, Range | Sequence[Any]]
    document: Mapping[str, object] | None = None

    def __init__(self, make: Callable[..., Plan], /, **parameters: Range | Sequence[Any]) -> None:
        if not callable(make):
            raise InputError("Sweep takes a function that makes the plan: Sweep(lambda rate: Plan([...]), rate=...).")
        if not parameters:
            raise InputError("A sweep varies at least one parameter: Sweep(make, rate=Range(0, 0.5, steps=11)).")
        for name, values in parameters.items():
            if not isinstance(values, Range) and (isinstance(values, (str, bytes)) or not isinstance(values, Sequence)):
                raise InputError(f"Sweep: {name} is a Range(low, high, steps) or a list of values.")
            if not isinstance(values, Range) and not values:
                raise InputError(f"Sweep: {name} has no values.")
        object.__setattr__(self, "make", make)
        object.__setattr__(self, "parameters", dict(parameters))
        if math.prod(len(v) for v in self.values().values()) > MOST:
            raise InputError(f"The sweep has more than {MOST:,} combinations; take fewer steps.")

    def values(self) -> dict[str, list[Any]]:
        """The values of each parameter."""
        return {k: list(v.values() if isinstance(v, Range) else v) for k, v in self.parameters.items()}

    def at(self, **setting: Any) -> Plan:
        """The plan at one setting of all parameters."""
        try:
            inspect.signature(self.make).bind(**setting)
        except TypeError as cause:
            raise InputError(f"The function of a sweep must take {', '.join(setting)}.") from cause
        except ValueError:  # a callable that does not tell what it takes
            pass
        plan = self.make(**setting)
        if not isinstance(plan, Plan):
            raise InputError(f"The function of a sweep must return a Plan, not {type(plan).__name__}.")
        return plan

    def candidates(self, name: str) -> list[Candidate]:
        """One candidate for every combination of values, the last parameter varying fastest."""
        values = self.values()
        settings = [dict(zip(values, each, strict=True)) for each in itertools.product(*values.values())]
        return [Candidate(f"{name} [{shown(s)}]", self._judged(s), name, s) for s in settings]

    def _judged(self, setting: dict[str, Any]) -> Plan:
        try:
            return self.at(**setting)
        except InputError as e:
            raise InputError(f"at {shown(setting)}: {e}") from e


def shown(setting: Mapping[str, Any]) -> str:
    """A setting as text: "rate=0.05, width=5"."""
    return ", ".join(f"{k}={v:.12g}" if isinstance(v, float) else f"{k}={v}" for k, v in setting.items())


def candidates_of(plans: Mapping[str, Plan | Sweep]) -> list[Candidate]:
    """Every candidate of a study, in the order in which plans are stated."""
    out: list[Candidate] = []
    for name, plan in plans.items():
        out += plan.candidates(name) if isinstance(plan, Sweep) else [Candidate(name, plan)]
    return out
