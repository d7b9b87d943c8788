"""What a figure of utility tells of few people, to somebody who holds the release as well.

A figure compares the original with the release. Where it owes much to a few altered records, whoever has the release
can solve it for their true values: the mean of the original is that of the release and the printed difference. Every
measure is asked again with the most altered records as if they had been left alone, so nothing here knows a measure.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from math import isinf, isnan
from typing import Any

import numpy as np

from confide.measure.utility.altered import Altered, left_out, treated, unreleased
from confide.measure.utility.measure import Found, Measure
from confide.measure.utility.pair import Pair
from confide.measure.utility.run import measured_value, pairs_of
from confide.protect.copies import Copies
from confide.protect.release import Release

FEWEST = 10
"""Nothing published tells about fewer people than this."""


@dataclass(frozen=True)
class Trace:
    """What few people do to one figure.

    `differ`: how many people differ in the variables that the figure depends on; None where the plan leaves these
    alone, so that everybody can work the figure out. `effect`: how far the figure would move if the most altered
    `FEWEST` - 1 records of each variable had been left alone, the moves of all variables added up; None where that
    cannot be said. `carried`: the share of the loss that would go with them.
    """

    differ: int | None
    effect: float | None = 0.0
    carried: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return asdict(self)


def traces(release: Release | Copies, measures: Iterable[Measure]) -> dict[str, tuple[Found | str, Trace]]:
    """By measure, its value (or why there is none), and what few people do to it.

    >>> import confide as cf
    >>> heads = cf.demo("heads").head(2000)
    >>> release = cf.Plan([cf.Topcode("hh_income", at=heads["hh_income"].max() - 1)]).protect(heads, seed=1)
    >>> found = traces(release, [cf.Means("hh_income"), cf.Means("age", label="ages")])
    >>> found["means"][1].differ, found["ages"][1].differ
    (1, None)
    """
    releases = list(release) if isinstance(release, Copies) else [release]
    some = _Some(pairs_of(releases), treated(releases[0]))
    return {m.name: some.trace(m) for m in measures}


class _Some:
    """One release, and its originals with few people as if they had been left alone, made when first asked for."""

    def __init__(self, pairs: Sequence[Pair], may_differ: set[str]) -> None:
        self.pairs, self.may_differ = pairs, may_differ
        self.altered: dict[str, Altered] = {}
        self.gone = unreleased(pairs[0])

    def trace(self, measure: Measure) -> tuple[Found | str, Trace]:
        """Ask the measure as it is, then with few people left alone in each variable that it reads."""
        first = self.pairs[0]
        value, detail, read = self._asked(measure, first)
        found = detail if value is None else Found(value, detail)
        touched = [self._of(v) for v in sorted(read & self.may_differ)]
        if not touched and not len(self.gone):
            return found, Trace(None)
        differ = len(np.unique(np.concatenate([self.gone, *(a.rows for a in touched)])))
        if differ < FEWEST or value is None or isnan(value):
            return found, Trace(differ, None, 1.0)
        others = [a.undone(first, FEWEST - 1) for a in touched if len(a.rows)]
        others += left_out(first, self.gone, sorted(read), FEWEST - 1)
        return found, _trace(measure, differ, value, [self._asked(measure, p)[0] for p in others])

    def _asked(self, measure: Measure, first: Pair) -> tuple[float | None, str, set[str]]:
        """Value and remark with this original, and the variables that were read; all of them where none was."""
        first.reads.clear()
        mine = [first, *(_beside(first, p) for p in self.pairs[1:])]
        value, detail = measured_value(measure, mine, strict=False)
        read = {v for p in mine for v in p.reads} or set(first.shared)
        return value, detail, read | ({first.weight} if first.weight else set())

    def _of(self, variable: str) -> Altered:
        if variable not in self.altered:
            self.altered[variable] = Altered.of(self.pairs[0], variable)
        return self.altered[variable]


def _beside(first: Pair, copy: Pair) -> Pair:
    """Another copy beside the original of the first. A copy's link is its own, unless rows of the original are gone:
    copies release the same rows, but nothing says in which order."""
    same = first.original.height == copy.original.height
    memory = {k: x for k, x in copy._memory.items() if k[-1] == 1}
    return replace(first, released=copy.released, link=copy.link if same else None, _memory=memory, reads=set())


def _trace(measure: Measure, differ: int, value: float, others: Sequence[float | None]) -> Trace:
    """How far the figure moves, and how much of the loss goes, where few people are left alone."""
    known = [v for v in others if v is not None and not isnan(v)]
    effect = sum(0.0 if v == value else abs(v - value) for v in known)
    if len(known) < len(others) or isinf(effect):
        return Trace(differ, None, 1.0)
    loss = _loss(measure, value)
    certain = loss > 0 and not isinf(loss)
    carried = sum(max(0.0, 1 - _loss(measure, v) / loss) for v in known) if certain else 0.0
    return Trace(differ, effect, min(1.0, carried))


def _loss(measure: Measure, value: float) -> float:
    """How far a value is from that of identical files; where that is without limit, its reciprocal."""
    if isinf(measure.best):
        return 0.0 if isinf(value) else 1 / abs(value) if value else float("inf")
    return abs(value - measure.best)
