"""Round numbers along a part of the map: shares of people with their counts, and values of a measure."""

from __future__ import annotations

import math
from collections.abc import Callable

from confide.show.charts.decision_map import Tick
from confide.show.charts.map_scales import UtilityAxis


def risk_ticks(
    low: float, high: float, at: Callable[[float], float], people: float | None, told: tuple[bool, bool], gap: float
) -> list[Tick]:
    """Places of round shares of all people, with the counts below; at least `gap` apart. `told`: whether shares, and
    whether counts are; of counts alone the numbers are round.

    >>> [words for _, words in risk_ticks(0, 200, lambda v: v / 200, 1_000, (True, True), 0.2)]
    [['0%', '0'], ['5%', '50'], ['10%', '100'], ['15%', '150'], ['20%', '200']]
    >>> [words for _, words in risk_ticks(0, 200, lambda v: v / 200, 3_000, (False, True), 0.3)]
    [['0'], ['100'], ['200']]
    """
    whole = people if people and told[0] else 1.0
    step = steps((low / whole, high / whole), lambda s: at(s * whole), gap)
    if not people or not told[0]:
        return [(at(s), [f"{s:,.10g}"]) for s in step]
    words = [[f"{float(f'{100 * s:.6g}'):g}%", *([f"{s * whole:,.0f}"] if told[1] else [])] for s in step]
    return [(at(s * whole), said) for s, said in zip(step, words, strict=True)]


def steps(ends: tuple[float, float], at: Callable[[float], float], gap: float) -> list[float]:
    """Round numbers between two, evenly spaced where these leave each other room, else thinned from the top."""
    low, high = ends
    if not high > low:
        return [low]
    rough = (high - low) / 6
    power = 10.0 ** math.floor(math.log10(rough))
    size = next(m * power for m in (1, 2, 2.5, 5, 10) if m * power >= rough)
    first, last = math.ceil(low / size - 1e-9), math.floor(high / size + 1e-9)
    values = [float(f"{k * size:.10g}") for k in range(first, last + 1)]
    smaller = [v for v in (size / 2, size / 5, size / 10, size / 20) if low <= v]
    out: list[float] = []
    for v in (*reversed(values), *smaller):
        if all(abs(at(v) - at(w)) >= gap for w in out):
            out.append(v)
    return sorted(out)


def utility_ticks(axis: UtilityAxis, low: float, high: float, many: int = 5) -> list[Tick]:
    """Round values between two heights of an axis; a measure's range may be endless, so they are looked for."""
    one, other = _value_at(axis, low), _value_at(axis, high)
    if not (math.isfinite(one) and math.isfinite(other)):
        return [(at, [words]) for at, words in axis.ticks() if low <= at <= high]
    found = steps((min(one, other), max(one, other)), axis.at, (high - low) / (many + 3))
    return [(axis.at(v), [f"{v:g}"]) for v in found if low <= axis.at(v) <= high]


def _value_at(axis: UtilityAxis, height: float) -> float:
    """The value that is drawn at a height, by halving between the ends of the measure's range."""
    best, worst = float(axis.measure.best), float(axis.worst)
    if not math.isfinite(best):
        return math.inf
    sign = -1.0 if axis.measure.direction == "higher" else 1.0
    near, far = 0.0, abs(best - worst) if math.isfinite(worst) else 1e9
    for _ in range(200):
        middle = (near + far) / 2
        near, far = (middle, far) if axis.at(best + sign * middle) > height else (near, middle)
    return best + sign * near
