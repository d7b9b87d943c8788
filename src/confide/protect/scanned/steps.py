"""What steps see of a file that is read in parts: joint values with counts, some of its records, ends of a range."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from confide.core.random.draws import Draws
from confide.frames.columns import F64, I64, Column, Margins, Records, codes_in
from confide.frames.distinct import Distinct
from confide.protect.seam.coarsening import Coarsening
from confide.protect.seam.fitted import Applied
from confide.protect.seam.gathering import Gathering, joined
from confide.protect.seam.learning import may_learn
from confide.protect.seam.mechanism import Mechanism

PENDING = 2_000_000
"""Joint values of batches that are held before they are added up."""


class JointCounts:
    """Joint values of some variables with counts, added up batch by batch."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(names)
        self.held: list[Records] = []
        self.n = 0.0

    def see(self, original: Records, current: Records) -> None:
        """One more batch."""
        self.add(self.picked(original, current))

    def picked(self, original: Records, current: Records) -> Records:  # noqa: ARG002 - as `Gathering` has it
        """Those of a batch."""
        return _counted([current.select(self.names)])

    def add(self, picked: Records) -> None:
        """Those of one more batch."""
        self.n += float(picked.counts.sum())
        self.held.append(picked)
        if sum(r.n for r in self.held[1:]) > max(PENDING, self.held[0].n):
            self.held = [_counted(self.held)]

    def found(self) -> Records:
        """All of them, in rising order."""
        return _counted(self.held)


def _counted(parts: Sequence[Records]) -> Records:
    first = parts[0]
    arrays = [np.concatenate([p[v].values for p in parts]) for v in first]
    weight = np.concatenate([p.counts for p in parts])
    found = Distinct.rows(arrays, len(weight), weight)
    columns = [first[v].with_values(x[found.first]) for v, x in zip(first, arrays, strict=True)]
    return Records(columns, len(found), file=int(weight.sum()), count=found.count)


class SomeRecords:
    """Records that a model may be learnt from, as they were and as they are."""

    def __init__(self, step: Mechanism, many: int, of: int) -> None:
        self.step, self.many, self.of = step, many, of
        self.names = tuple(dict.fromkeys((*step.variables, *step.needs)))
        self.kept: list[tuple[Records, Records]] = []

    def see(self, original: Records, current: Records) -> None:
        """One more batch."""
        self.add(self.picked(original, current))

    def picked(self, original: Records, current: Records) -> tuple[Records, Records]:
        """Those of a batch."""
        near = np.flatnonzero(may_learn(current.rows, self.many, self.of, self.step.stream))
        return original.select(self.names).take(near), current.select(self.names).take(near)

    def add(self, picked: tuple[Records, Records]) -> None:
        """Those of one more batch."""
        self.kept.append(picked)

    def found(self) -> tuple[Records, Records]:
        return _together([a for a, _ in self.kept]), _together([b for _, b in self.kept])


def _together(parts: Sequence[Records]) -> Records:
    first = parts[0]
    columns = [first[v].with_values(np.concatenate([p[v].values for p in parts])) for v in first]
    rows = joined([p.rows for p in parts], np.int64)
    return Records(columns, len(rows), rows, file=first.file)


class Extremes(Gathering):
    """The smallest and the largest number that a coarsening meets, which say what categories it makes."""

    def __init__(self, coarsening: Coarsening, model: Column) -> None:
        self.coarsening, self.model = coarsening, model
        self.low, self.high = np.inf, -np.inf

    def picked(self, original: Records, current: Records) -> F64:  # noqa: ARG002 - of `Gathering`
        column = current[self.model.name]
        y = column.values[column.usable]
        return np.array([y.min(), y.max()]) if len(y) else np.zeros(0)

    def add(self, picked: F64) -> None:
        if len(picked):
            self.low, self.high = min(self.low, float(picked[0])), max(self.high, float(picked[1]))

    def done(self) -> Coarsened:
        ends = [x for x in (self.low, self.high) if np.isfinite(x)]
        return Coarsened(self.coarsening, self.coarsening.image(self.model.with_values(np.array(ends))))


@dataclass(frozen=True, eq=False)
class Coarsened:
    """A coarsening of batches: `model` has the categories of the whole file."""

    coarsening: Coarsening
    model: Column

    def image(self, column: Column) -> Column:
        found = self.coarsening.image(column)
        if found.kind == "numeric":
            return self.model.with_values(found.values)
        return self.model.with_values(codes_in(found, self.model))

    def apply(self, original: Records, current: Records, draws: Draws) -> Applied:  # noqa: ARG002 - of `ByRow`
        return Applied([self.image(current[self.model.name])])


def counted_apart(columns: Sequence[Column], counts: Sequence[I64 | F64], n: int) -> Margins:
    """Variables each by itself, values that a coarsening made alike put together."""
    made, many = [], {}
    for column, count in zip(columns, counts, strict=True):
        found = Distinct.rows([column.values], len(column), np.asarray(count, dtype=float))
        made.append(replace(column, values=column.values[found.first]))
        many[column.name] = found.count
    return Margins(made, many, n)
