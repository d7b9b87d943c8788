"""Finer settings around a good one: half a step to each side, and in quarters towards those beyond the limit."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from confide.study.statement.sweep import Range

MOST_CORNERS = 3
"""Parameters up to which all corners around a setting are tried; with more, one parameter is changed at a time."""
MOST_WAYS = 4
"""Settings beyond the limit towards which a round looks: the nearest."""

Setting = Mapping[str, Any]
Place = tuple[float, ...]


class Space:
    """Settings as places: of a `Range`, how many of its first steps a value is above the lowest; lists are not refined.

    >>> space = Space({"rate": Range(0, 0.4, steps=5), "how": ["a", "b"]})
    >>> space.place({"rate": 0.1, "how": "b"}), space.setting((1.5,), {"rate": 0.1, "how": "b"})
    ((1.0,), {'rate': 0.15, 'how': 'b'})
    """

    def __init__(self, parameters: Mapping[str, Range | Sequence[Any]]) -> None:
        self.parameters = parameters
        self.ranges = {k: v for k, v in parameters.items() if isinstance(v, Range)}

    def place(self, setting: Setting) -> Place:
        return tuple(_steps(r, float(setting[k])) for k, r in self.ranges.items())

    def setting(self, place: Place, like: Setting) -> dict[str, Any]:
        """The setting at a place, inside its ranges; what is listed as it is in `like`."""
        new = {k: _value(r, t) for (k, r), t in zip(self.ranges.items(), place, strict=True)}
        return {k: new.get(k, like[k]) for k in self.parameters}

    def group(self, setting: Setting) -> tuple[str, ...]:
        """What is not refined: the values of lists."""
        return tuple(repr(setting[k]) for k in self.parameters if k not in self.ranges)

    def key(self, setting: Setting) -> tuple[Any, ...]:
        """What makes a setting the same as another: its values, not how they are written."""
        return tuple(setting[k] if k in self.ranges else repr(setting[k]) for k in self.parameters)

    def finer(self, centre: Setting, beyond: Iterable[Setting], step: float) -> list[dict[str, Any]]:
        """New settings: half a `step` around `centre`, and at quarters of the way to each one in `beyond` that is at
        most a step away."""
        at = self.place(centre)
        places = [tuple(t + step * o for t, o in zip(at, offset, strict=True)) for offset in _offsets(len(at))]
        near = [p for p in (self.place(s) for s in beyond) if max(_apart(p, at), default=0) <= step * (1 + 1e-9)]
        near.sort(key=lambda p: math.hypot(*_apart(p, at)))
        for p in near[:MOST_WAYS]:
            places += [tuple(a + (b - a) * q / 4 for a, b in zip(at, p, strict=True)) for q in (1, 2, 3)]
        return [self.setting(p, centre) for p in places]


def _offsets(many: int) -> list[tuple[float, ...]]:
    if many <= MOST_CORNERS:
        return [o for o in itertools.product((-0.5, 0.0, 0.5), repeat=many) if any(o)]
    return [tuple(sign if j == k else 0.0 for j in range(many)) for k in range(many) for sign in (-0.5, 0.5)]


def _apart(a: Place, b: Place) -> list[float]:
    return [abs(x - y) for x, y in zip(a, b, strict=True)]


def _steps(r: Range, value: float) -> float:
    if r.log:
        return math.log(value / r.low) / math.log(r.high / r.low) * (r.steps - 1)
    return (value - r.low) / (r.high - r.low) * (r.steps - 1)


def _value(r: Range, t: float) -> float:
    share = min(max(t / (r.steps - 1), 0.0), 1.0)
    value = r.low * (r.high / r.low) ** share if r.log else r.low + (r.high - r.low) * share
    return round(value) if r.whole else float(f"{value:.12g}")
