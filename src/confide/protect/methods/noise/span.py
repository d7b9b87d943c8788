"""Where noise lives: which values are altered, what may be drawn for them, what stays certain."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtr, ndtri

from confide.core.errors import InputError, raise_all
from confide.core.random.draws import Draws
from confide.frames.columns import F64, I64, Bools, Column, rounded
from confide.frames.moments import spread
from confide.frames.types.exact import near_whole
from confide.protect.likelihoods.normal import log_cell, spread_at
from confide.protect.seam.coarsening import Chain
from confide.protect.shared.rounding_step import rounding_step

MISSING, INSIDE, BELOW, ABOVE, SPECIAL = range(5)
"""Labels of a noisy variable: what anybody can tell with certainty; each kept value has its own, from SPECIAL."""


@dataclass(frozen=True, eq=False)
class Span:
    """Where one variable's noise lives: which values are altered, what may be drawn, and how far it spreads.

    [low, high] with open ends where a later step gives the limit itself to what lies beyond it; `special` are
    values kept as they are; `step` is the precision, 0 for a continuum. The spread around y has the variance
    sd^2 + (slope y)^2.
    """

    variable: str
    low: float
    high: float
    low_open: bool
    high_open: bool
    special: tuple[float, ...]
    step: float
    sd: float
    slope: float = 0.0

    @classmethod
    def of(
        cls, column: Column, bounds: tuple[float, float], keep_zeros: bool, sd: float | None, relative: float | None,
        after: Chain, sequential: bool, slope: float = 0.0, count: F64 | None = None,
    ) -> Span:  # fmt: skip
        """Learnt from a variable; `count`: how many records have each of its values, None for one each."""
        low, high = bounds
        column = replace(column, step=rounding_step(column, f'Noise("{column.name}")'))
        gap = column.step if column.step else 1e-9
        special = tuple(sorted({*column.special, *((0.0,) if keep_zeros else ())}))
        low_open = np.isfinite(low) and _covered(column, after, low, -max(gap, abs(low) * 1e-9))
        high_open = np.isfinite(high) and _covered(column, after, high, max(gap, abs(high) * 1e-9))
        draft = cls(column.name, low, high, bool(low_open), bool(high_open), special, column.step, 1.0, slope)
        label = draft.label(column)
        draft._check(column, label, after, sequential, count)
        inside = label == INSIDE
        y, n = column.values if inside.all() else column.values[inside], None if count is None else count[inside]
        if not len(y):
            raise InputError(
                f'Noise("{column.name}"): no value would be altered (missing, kept or outside the bounds).'
            )
        if sd is None and relative is None:
            sd = 0.0
            zeros = int(np.sum(y == 0) if n is None else n[y == 0].sum())
            if zeros:
                raise InputError(
                    f'Noise("{column.name}"): {zeros} values are zero, where a bias has no effect, so they would be '
                    "released unaltered. Give sd as well, or keep_zeros=True to leave them alone knowingly."
                )
        elif sd is None:
            assert relative is not None
            wide = spread(y, n)
            if wide == 0:
                raise InputError(
                    f'Noise("{column.name}"): the altered values are constant, so relative noise is zero; give sd.'
                )
            sd = relative * wide
        return replace(draft, sd=sd)

    def label(self, column: Column) -> I64:
        """What is certain about true (or noisy, uncoarsened) values, shape (n,)."""
        y = column.values
        out = np.full(len(y), INSIDE, dtype=np.int64)
        if np.isfinite(self.high):
            out[(y >= self.high) if self.high_open else (y > self.high)] = ABOVE
        if np.isfinite(self.low):
            out[(y <= self.low) if self.low_open else (y < self.low)] = BELOW
        for i, s in enumerate(self.special):
            out[y == s] = SPECIAL + i
        out[np.isnan(y)] = MISSING
        return out

    def _check(self, column: Column, label: I64, after: Chain, sequential: bool, n: F64 | None) -> None:
        problems = []
        for side, limit, name in ((BELOW, self.low, "Bottomcode"), (ABOVE, self.high, "Topcode")):
            count = int(np.sum(label == side) if n is None else n[label == side].sum())
            open_ = self.low_open if side == BELOW else self.high_open
            inwards = (-1 if side == ABOVE else 1) * (column.step or 1e-9)
            if count and not open_ and _merged(column, after, limit, limit + inwards):
                problems.append(
                    f'Noise("{self.variable}"): a later step makes one value of the bound {limit:g} and of values that '
                    f"are altered, but {count} values lie beyond the bound. Round or recode before the noise, or widen "
                    "the bounds."
                )
            elif count and not open_:
                problems.append(
                    f'Noise("{self.variable}"): {count} values lie beyond the bound {limit:g} and would be released '
                    f'unaltered. Add {name}("{self.variable}", at={limit:g}) after the noise, or widen the bounds.'
                )
        crossing = [w for w in after.tails() if self.low < w < self.high]
        if crossing and not sequential:
            problems.append(
                f'Noise("{self.variable}") crosses the limit {crossing[0]:g} of a later step, which would leave values '
                f"near it badly protected. Give bounds that end at {crossing[0]:g}, or sequential=True."
            )
        merged = [s for s in self.special if self._swallowed(column, after, s)]
        if merged:
            problems.append(
                f'Noise("{self.variable}"): a later step merges noisy values with those that are kept (zeros, answer '
                "codes). Round or recode before the noise, or do without keep_zeros."
            )
        raise_all(problems)

    def _swallowed(self, column: Column, after: Chain, special: float) -> bool:
        if not after.steps:
            return False
        gap = column.step if column.step else max(abs(special) * 1e-9, 1e-9)
        near = [x for x in (special - gap, special + gap) if self.low <= x <= self.high]
        return any(_merged(column, after, special, x, column.special) for x in near)

    def sd_at(self, y: F64) -> F64:
        """How far noise spreads around each value."""
        return spread_at(self.sd, self.slope, y)

    def edges(self) -> tuple[float, float]:
        """Outer edges of the rounding cells of all values that may be drawn."""
        if not self.step:
            return self.low, self.high
        first = float(np.ceil(near_whole(np.asarray(self.low / self.step)))) if np.isfinite(self.low) else -np.inf
        last = float(np.floor(near_whole(np.asarray(self.high / self.step)))) if np.isfinite(self.high) else np.inf
        if self.low_open and first * self.step <= self.low:
            first += 1
        if self.high_open and last * self.step >= self.high:
            last -= 1
        return (first - 0.5) * self.step, (last + 0.5) * self.step

    def log_allowed(self, y: F64) -> F64:
        """Log of the area of all values that may be drawn around y, shape (n,)."""
        low, high = self.edges()
        if np.isinf(low) and np.isinf(high) and not (self.step and self.special):
            return np.zeros(len(y))
        sd = self.sd_at(y)
        area = np.exp(log_cell(np.full(len(y), low), np.full(len(y), high), y, sd))
        for s in self.special:
            if self.step and low < s < high:
                area -= np.exp(log_cell(np.full(len(y), s - self.step / 2), np.full(len(y), s + self.step / 2), y, sd))
        with np.errstate(divide="ignore"):
            return np.log(np.maximum(area, 0.0))

    def draw(self, y: F64, draws: Draws, rows: I64) -> F64:
        """Noisy values at the variable's precision, drawn again until allowed, shape (n,)."""
        low, high = self.edges()
        sd = self.sd_at(y)
        z, todo = y, np.arange(len(y))
        for attempt in range(10_000):
            first = attempt == 0
            near, wide = (y, sd) if first else (y[todo], sd[todo])
            u = draws.uniform(rows if first else rows[todo], attempt)
            if np.isfinite(low) or np.isfinite(high):
                a, b = ndtr((low - near) / wide), ndtr((high - near) / wide)
                u = a + u * (b - a)
            drawn = self.rounded(np.clip(near + wide * ndtri(u), low, high))
            if first:
                z = drawn
            else:
                z[todo] = drawn
            todo = todo[~self.allowed(drawn)]
            if not len(todo):
                return z
        raise InputError(f'Noise("{self.variable}"): the bounds leave almost nothing to draw; widen them.')

    def rounded(self, z: F64) -> F64:
        return rounded(z, self.step)

    def allowed(self, z: F64) -> Bools:
        low, high = self.edges()
        ok = np.isfinite(z) & (z >= low) & (z <= high)
        if self.step:
            ok &= (z > low) & (z < high)
        return ok & ~np.isin(z, self.special)

    def cells(self, z: Column, after: Chain) -> tuple[F64, F64, I64]:
        """Per released value: the drawn values that lead to it (low, high), and its certain label."""
        low, high = after.cells(z)
        label = np.full(len(z), INSIDE, dtype=np.int64)
        with np.errstate(invalid="ignore"):
            label[(low > self.high) | (self.high_open & (low >= self.high))] = ABOVE
            label[(high <= self.low) | (self.low_open & (np.nextafter(high, -np.inf) <= self.low))] = BELOW
        for i, s in enumerate(self.special):
            label[(low <= s) & (s < high) & _same_image(z, s)] = SPECIAL + i
        label[z.missing] = MISSING
        low, high = after.drawn(z, self.step)
        if after.steps:
            edge_low, edge_high = self.edges()
            low, high = np.clip(low, edge_low, edge_high), np.clip(high, edge_low, edge_high)
        return low, high, label


def _merged(column: Column, after: Chain, a: float, b: float, special: tuple[float, ...] = ()) -> bool:
    """Whether a later step releases two numbers as the same value; it leaves answer codes (`special`) alone."""
    if not after.steps:
        return False
    image = after.image(replace(column, values=np.array([a, b]), special=special))
    return bool(image.values[0] == image.values[1])


def _covered(column: Column, after: Chain, bound: float, gap: float) -> bool:
    """Whether a later step makes one value of the bound and all beyond it (`gap` outwards), and of nothing inside."""
    y = column.values[~np.isnan(column.values)]
    beyond = y[(y - bound) * gap > 0]
    outside = [bound + gap, *([beyond.min(), beyond.max()] if len(beyond) else [])]
    return all(_merged(column, after, bound, x) for x in outside) and not _merged(column, after, bound, bound - gap)


def _same_image(z: Column, special: float) -> Bools:
    """Where a released value is the form in which a kept value is released."""
    if z.kind == "numeric":
        return np.asarray(z.values == special)
    return np.asarray(np.array([*(level == f"answer {special:.15g}" for level in z.levels), False])[z.values])
