"""Ever coarser ways to release one variable, and a release as it would be with one of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from confide.frames.columns import Column, Records, decode
from confide.protect.coarser_codes import code_forms, date_forms
from confide.protect.compiled import Compiled, fit_coarsenings, run
from confide.protect.methods.recode import Recode
from confide.protect.release import Release
from confide.protect.seam.mechanism import Mechanism

FINEST, RANGES = 50, (20, 10, 5)
"""About how many intervals the finest width makes; how many ranges by quantiles are tried."""


@dataclass(frozen=True, eq=False)
class Coarser:
    """One variable released more coarsely: by a `step` at the end of the plan, or in place of the step `instead`.

    Without a step the variable is not released at all. `words`: the same for a printout; no category is named.
    """

    variable: str
    words: str
    step: Mechanism | None = None
    instead: Mechanism | None = None


def why_fixed(release: Release, variable: str) -> str:
    """Why a variable cannot be made coarser in a release that is there; empty where it can."""
    if release.plan is None:
        return "the plan behind the release is not known"
    readers = [s for s in release.plan.parts if variable in s.needs]
    return f"{type(readers[0]).__name__} reads it" if readers else ""


def ladder(release: Release, variable: str, own: Column) -> list[Coarser]:
    """Ever coarser forms of a variable, for a person whose true value is the one row of `own`; the last: left out."""
    original, released = release.encoded([variable])
    z = released[variable]
    last = Coarser(variable, f"{variable} left out")
    if z.kind == "numeric":
        return [*_widths(z), *_ranges(z), last]
    rungs = _stated(release, variable, original[variable])
    form = own if release.compiled is None else release.compiled.released_form(own)
    return [*(rungs or _merged(z, form)), last]


def file_ladder(release: Release, variable: str) -> list[Coarser]:
    """Ever coarser forms of a variable for everybody alike; the last: left out.

    Dates by month, quarter, year and decade; codes by their first digits. Other categories: neighbours together where
    they have an order, else ever more of the smallest under one name.
    """
    original, released = release.encoded([variable])
    z, last = released[variable], Coarser(variable, f"{variable} left out")
    if z.kind == "numeric" and z.dtype.is_temporal():
        return [*(Coarser(variable, *form) for form in date_forms(z)), last]
    if z.kind == "numeric":
        return [*_widths(z), *_ranges(z), last]
    codes = [Coarser(variable, *form) for form in code_forms(z)]
    return [*(_stated(release, variable, original[variable]) or codes or _joined(z)), last]


def _joined(z: Column) -> Iterator[Coarser]:
    ordered, size, n = hasattr(z.dtype, "categories"), 2, len(z.levels)
    order = np.argsort(np.bincount(z.values[~z.missing], minlength=n), kind="stable")
    while size < n:
        parts = [range(k, min(k + size, n)) for k in range(0, n, size)] if ordered else [sorted(order[:size])]
        words = f"in sets of {size} neighbours" if ordered else f"with its {size} smallest categories merged"
        mapping = {k: v for part in parts for k, v in _mapping(z.levels, part, z.levels[part[0]]).items()}
        yield Coarser(z.name, f"{z.name} {words}", Recode(z.name, mapping=mapping))
        size *= 2


def _nice(low: float, high: float) -> Iterator[float]:
    """1, 2, 5, 10, 20, ... from `low` up to `high`."""
    power = int(np.floor(np.log10(low))) if low > 0 else 0
    while 10.0**power <= high:
        yield from (w for m in (1, 2, 5) if low <= (w := m * 10.0**power) <= high)
        power += 1


def _span(z: Column) -> tuple[float, float]:
    """The width of all but the outermost hundredths, and of all, of the numbers there are."""
    values = z.values[z.usable]
    if not len(values):
        return 0.0, 0.0
    low, high = np.quantile(values, [0.01, 0.99])
    return float(high - low), float(values.max() - values.min())


def _widths(z: Column) -> Iterator[Coarser]:
    inner, outer = _span(z)
    least = max(inner / FINEST, 2 * z.step, 1e-9 * max(outer, 1.0))
    for width in _nice(least, outer):
        yield Coarser(z.name, f"{z.name} in steps of {width:,.10g}", Recode(z.name, width=_plain(width)))


def _plain(number: float) -> float:
    return int(number) if float(number).is_integer() else number


def _ranges(z: Column) -> Iterator[Coarser]:
    values = z.values[z.usable]
    for n in RANGES if len(values) else ():
        cuts = np.quantile(values, np.arange(1, n) / n)
        rounded = sorted({_plain(float(f"{c:.2g}")) for c in cuts if c > values.min()})
        if rounded:
            words = f"{z.name} in {len(rounded) + 1} ranges by quantiles"
            yield Coarser(z.name, words, Recode(z.name, breaks=tuple(rounded)))


def _stated(release: Release, variable: str, original: Column) -> list[Coarser]:
    """Coarser forms that the plan's own recoding suggests, where nothing else was done to a variable: larger widths, or
    the next levels of its hierarchy."""
    steps = [s for s in (() if release.plan is None else release.plan.steps) if variable in s.variables]
    only = steps[0] if len(steps) == 1 else None
    if not isinstance(only, Recode) or release.link is None:
        return []
    return _wider(variable, only, original) if only.width is not None else _higher(variable, only)


def _higher(variable: str, step: Recode) -> list[Coarser]:
    if step.hierarchy is None or step.level is None:
        return []
    names = step.hierarchy.levels
    levels = range(step.hierarchy.level(step.level) + 1, len(names) - step.hierarchy.leaves_out)
    return [Coarser(variable, f"{variable} at {names[k]}", replace(step, level=k), step) for k in levels]


def _wider(variable: str, step: Recode, original: Column) -> list[Coarser]:
    assert step.width is not None
    widths = [w for w in _nice(step.width, _span(original)[1]) if w > step.width and not (w / step.width) % 1]
    words = f"{variable} in steps of {{:,.10g}}"
    return [Coarser(variable, words.format(w), replace(step, width=_plain(w)), step) for w in widths]


def _merged(z: Column, own: Column) -> Iterator[Coarser]:
    """The person's category with ever more others: its neighbours where categories have an order, else the smallest."""
    if own.missing[0] or len(z.levels) < 3:
        return
    level = own.levels[own.values[0]]
    if level not in z.levels:
        return
    at = z.levels.index(level)
    count = np.bincount(z.values[~z.missing], minlength=len(z.levels))
    others = np.array([k for k in range(len(z.levels)) if k != at])
    ordered = hasattr(z.dtype, "categories")
    order = others[np.argsort(np.abs(others - at) if ordered else count[others], kind="stable")]
    size = 1
    while size < len(order):
        words = f"{z.name} with its category merged with {size} other{'' if size == 1 else 's'}"
        step = Recode(z.name, mapping=_mapping(z.levels, sorted([at, *order[:size]]), level))
        yield Coarser(z.name, words, step)
        size *= 2


def _mapping(levels: Sequence[Any], merged: Iterable[int], own: Any) -> dict[Any, Any]:
    """Categories under one name; codes that are no text keep the person's own."""
    names = [levels[k] for k in merged]
    new = own
    if isinstance(own, str):
        new = " or ".join(names) if len(names) < 4 else f"{own} or other"
    return dict.fromkeys(names, new)


def coarsened(release: Release, changes: Iterable[Coarser]) -> Release:
    """The very release with some variables coarser: every other value stays as it was drawn."""
    for change in changes:
        release = _left_out(release, change.variable) if change.step is None else _changed(release, change)
    return release


def _left_out(release: Release, variable: str) -> Release:
    frame = release.frame.drop(variable)
    return replace(release, data=frame, frame=frame)


def _changed(release: Release, change: Coarser) -> Release:
    plan, v = release.plan, change.variable
    assert plan is not None
    assert change.step is not None
    steps: list[Mechanism] = [change.step if s is change.instead else s for s in plan.steps]
    plan = replace(plan, steps=(*steps, *([] if change.instead is not None else [change.step])))
    original, released = release.encoded([v])
    compiled = _compiled(release, plan, original)
    if change.instead is None:
        column = compiled.way(v).after.steps[-1].image(released[v])
    else:
        assert release.link is not None
        column = compiled.released_form(original[v]).take(release.link)
    after = release.after.replaced(decode(column))
    return replace(release, plan=plan, data=after.frame, frame=after.frame, compiled=compiled, after=after)


def _compiled(release: Release, plan: Any, original: Records) -> Compiled:
    """The plan compiled again; what altered other variables at random is as it was."""
    old = release.compiled
    (v,) = original
    if old is None or old.way(v).random is not None:
        return run(plan.parts, plan.encode(release.before), None)[0]
    ways = fit_coarsenings([s for s in plan.parts if v in s.variables], original)
    fitted = (*old.fitted, *[None] * (len(plan.parts) - len(old.fitted)))
    return Compiled(plan.parts, {**old.ways, **ways}, fitted, old.nobody)
