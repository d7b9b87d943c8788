"""What a figure of utility tells of few people, to somebody who holds the release as well.

A figure compares the original with the release. Where it owes much to a few altered records, whoever has the release
can solve it for their true values: the mean of the original is that of the release and the printed difference. Every
measure is asked again with the most altered records as if they had been left alone, so nothing here knows a measure.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from math import inf, isinf, isnan
from typing import Any

import numpy as np

from confide.measure.utility.altered import Altered, oddest, rest, treated, unreleased, without
from confide.measure.utility.measure import Found, Measure
from confide.measure.utility.pair import Pair, Wanted
from confide.measure.utility.run import measured, pairs_of
from confide.protect.copies import Copies
from confide.protect.release import Release

ROUNDING = 1e-12
"""Of sums in floating point, relative to the best value."""

FEWEST = 10
"""Nothing published tells about fewer people than this."""


@dataclass(frozen=True)
class Trace:
    """What few people do to one figure.

    `differ`: how many people differ in the variables that the figure depends on; None where the plan leaves these
    alone and the figure is that of identical files, which everybody knows. `effect`: how far the figure would move if
    the most altered `FEWEST` - 1 records of each variable had been left alone (the moves of all variables added up), or
    without the people who stand out most; None where that cannot be said. `loss`: how far the figure is from that of
    identical files (where that is without limit, its reciprocal). `carried`: how much of the loss would go with these
    people.
    """

    differ: int | None
    effect: float | None = 0.0
    loss: float = 0.0
    carried: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return asdict(self)


def traces(
    release: Release | Copies, measures: Iterable[Measure], thorough: bool = True, items: Wanted | None = None
) -> dict[str, tuple[Found | str, Trace]]:
    """By measure, its value (or why there is none), and what few people do to it.

    `thorough`: leave people alone in one variable after the other, so that their moves cannot cancel, not in all
    variables at once. It asks each measure once more for every variable that is altered. `items`: as in `utility`.

    >>> import confide as cf
    >>> heads = cf.demo("heads").head(2000)
    >>> release = cf.Plan([cf.Topcode("hh_income", at=heads["hh_income"].max() - 1)]).protect(heads, seed=1)
    >>> found = traces(release, [cf.Means("hh_income"), cf.Means("age", label="ages")])
    >>> found["means"][1].differ, found["ages"][1].differ
    (1, None)
    """
    releases = list(release) if isinstance(release, Copies) else [release]
    some = _Some(pairs_of(releases, items=items), treated(releases[0]), thorough)
    return {m.name: some.trace(m) for m in measures}


class _Some:
    """One release, and its originals with few people as if they had been left alone, made when first asked for."""

    def __init__(self, pairs: Sequence[Pair], may_differ: set[str], thorough: bool) -> None:
        self.pairs, self.may_differ, self.thorough = pairs, may_differ, thorough
        self.altered: dict[str, Altered] = {}
        self.gone = unreleased(pairs[0])

    def trace(self, measure: Measure) -> tuple[Found | str, Trace]:
        """Ask the measure as it is, then with few people left alone in each variable that it reads, then without the
        people who stand out most: another plan of the report may hide them."""
        found, read = self._asked(measure, self.pairs)
        if isinstance(found, str):  # it may have stopped before it read all that it would
            return found, Trace(0, None)
        value = found.value
        if isnan(value):
            return found.detail, Trace(0, None)
        touched = [self._of(v) for v in sorted(read & self.may_differ)]
        hidden = read - set(self.pairs[0].after.types)
        if not touched and not hidden and not len(self.gone):
            # Of the original alone: what another plan of the report hides would follow from it, unless it is the best.
            return found, Trace(None) if _is_best(measure, value) else Trace(0, None)
        n = self.pairs[0].original.height
        differ = n if hidden else n - len(rest(n, np.concatenate([self.gone, *(a.rows for a in touched)])))
        if differ < FEWEST:
            return found, Trace(differ, None)
        alone, away = ([self._value(measure, each) for each in others]
                       for others in (self._left_alone(touched), self._away(sorted(read))))  # fmt: skip
        return found, _trace(measure, differ, value, alone, away)

    def _left_alone(self, touched: Sequence[Altered]) -> Iterator[list[Pair]]:
        other = first = self.pairs[0]
        for a in touched:
            if len(a.rows):
                other = a.undone(first if self.thorough else other, FEWEST - 1)
            if other is not first and (self.thorough or a is touched[-1]):
                yield [replace(other, after=p.after, link=p.link, reads=set()) for p in self.pairs]

    def _away(self, read: Sequence[str]) -> Iterator[list[Pair]]:
        first = self.pairs[0]
        if first.link is None:
            return
        for among in (self.gone, first.link):
            rows = oddest(first, among, read, FEWEST - 1)
            if 0 < len(rows) < len(first.link):
                yield [without(p, rows) for p in self.pairs]

    def _value(self, measure: Measure, pairs: Sequence[Pair]) -> float | None:
        found = measured(measure, pairs, strict=False)
        return None if isinstance(found, str) else found.value

    def _asked(self, measure: Measure, pairs: Sequence[Pair]) -> tuple[Found | str, set[str]]:
        """What came of it, and the variables that were read; all of them where none was."""
        first = pairs[0]
        for p in pairs:
            p.reads.clear()
        found = measured(measure, pairs, strict=False)
        read = {v for p in pairs for v in p.reads} or set(first.shared)
        return found, read | ({first.weight} if first.weight else set())

    def _of(self, variable: str) -> Altered:
        if variable not in self.altered:
            self.altered[variable] = Altered.of(self.pairs[0], variable)
        return self.altered[variable]


def _is_best(measure: Measure, value: float) -> bool:
    return value == measure.best or abs(value - measure.best) < ROUNDING * max(1.0, abs(measure.best))


def _trace(
    measure: Measure, differ: int, value: float, alone: Sequence[float | None], away: Sequence[float | None]
) -> Trace:
    """How far the figure moves, and how much of the loss goes, where few people are left alone, or away."""
    loss = _loss(measure, value)

    def moved(v: float | None) -> float:
        return inf if v is None or isnan(v) else 0.0 if v == value else abs(v - value)

    def gone(v: float | None) -> float:
        return 0.0 if v is None or isinf(loss) else max(0.0, loss - _loss(measure, v))

    effect, carried = (float(max(sum(map(of, alone)), *map(of, away), 0.0)) for of in (moved, gone))
    return Trace(differ, None) if isinf(effect) or isinf(loss) else Trace(differ, effect, loss, min(loss, carried))


def _loss(measure: Measure, value: float) -> float:
    """How far a value is from that of identical files; where that is without limit, its reciprocal."""
    if isinf(measure.best):
        return 0.0 if isinf(value) else 1 / abs(value) if value else float("inf")
    return abs(value - measure.best)
