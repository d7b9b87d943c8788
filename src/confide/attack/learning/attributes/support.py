"""The values that an unknown variable can have, and the coarser bins in which relations with it are learnt.

Categories are their own bins. A number has bins of about equal counts, common values alone; inside a bin the file's own
values keep their shares. Values that nothing here can tell apart are put together in *nodes*, each with a value that
occurs. Missing is the last bin, and the last node.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from confide.core.run.compile import compiled
from confide.frames.columns import F64, I64, Column
from confide.frames.distinct import Distinct

MOST_BINS, PER_BIN = 64, 25
"""Bins of a number, and how many people each has at least on average."""
MOST_NODES = 512
"""Nodes, unless something tells more values apart."""
PER_RUN = 8
"""Nodes of every run of values that may be put together, at least, beside its part of `MOST_NODES` by spread."""


@dataclass(frozen=True, eq=False)
class Support:
    """`column`: what the values belong to. `values` (V,): all values that occur, in rising order (codes of categories),
    without missing; `bin` (V,): of each; `weight` (V,): how many people have it; `bins`: how many there are, missing
    not counted; `place`: where each row's value is among them, -1 for missing."""

    column: Column
    values: F64
    bin: I64
    weight: F64
    bins: int
    place: I64

    @classmethod
    def of(cls, column: Column) -> Support:
        """The values of a file's variable."""
        if column.kind == "categorical":
            k = len(column.levels)
            count = np.bincount(column.values[~column.missing], minlength=k).astype(float)
            return cls(column, np.arange(k, dtype=float), np.arange(k), count, k, column.values)
        there = np.flatnonzero(~column.missing)
        found = Distinct.rows([column.values[there]], len(there))
        most = int(np.clip(found.count.sum() // PER_BIN, 8, MOST_BINS))
        of, place = _equal(found.count, most), np.full(len(column), -1)
        place[there] = found.of
        values = column.values[there[found.first]]
        return cls(column, values, of, found.count, int(of.max(initial=-1)) + 1, place)

    @property
    def bins_of_rows(self) -> I64:
        """The bin of each row of the variable, missing last."""
        return np.append(self.bin, self.bins)[self.place]  # -1 is the last

    @property
    def numeric(self) -> bool:
        return self.column.kind == "numeric"

    def places(self, y: F64) -> I64:
        """Where each of some numbers is among the values, or the first that is larger, or the last."""
        return np.clip(np.searchsorted(self.values, y), 0, max(len(self.values) - 1, 0))

    def bins_of(self, y: F64, missing: np.ndarray, at: I64) -> I64:
        """The bin of each true value, `at` its place; that of missing ones is the last, that of values which nobody has
        the nearest."""
        below = np.maximum(at - 1, 0)
        with np.errstate(invalid="ignore"):
            at = np.where(np.abs(self.values[below] - y) < np.abs(self.values[at] - y), below, at)
        return np.where(missing, self.bins, self.bin[at]).astype(np.int64)

    def nodes(self, apart: I64 | None = None, most: int = MOST_NODES, fine: bool = False) -> Nodes:
        """Values put together: never across bins, nor where `apart` (V,) differs. `fine`: values that `apart` does
        not tell apart are so near that nothing does."""
        v = len(self.values)
        keys = self.bin * (1 if apart is None else int(apart.max(initial=0)) + 2)
        keys = keys if apart is None else keys + apart + 1
        # Runs of neighbours that may be put together.
        run = np.concatenate([[0], np.cumsum(np.diff(keys) != 0)]) if v else np.zeros(0, dtype=np.int64)
        if self.numeric and v > most:
            run = run * (v + 1) + _inside(self.weight, run, self._parts(run, most, fine))
            run = np.concatenate([[0], np.cumsum(np.diff(run) != 0)])
        else:
            run = np.arange(v)
        return Nodes.made(self, run)

    def _parts(self, run: I64, most: int, fine: bool) -> I64:
        """Nodes of each run: as many for each that has several values, and as many again by people times width."""
        first = np.flatnonzero(np.diff(run, prepend=-1))
        last = np.append(first[1:], len(run)) - 1
        if fine:
            return np.full(len(first), max(most // len(first), 1))
        several = int((last > first).sum())
        spread = np.bincount(run, weights=self.weight) * (self.values[last] - self.values[first])
        even = max(most // max(several, 1), PER_RUN)
        more = np.ceil(most * spread / max(float(spread.sum()), 1e-300))
        return np.asarray(even + more, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Nodes:
    """`values` (G,): of each the middle one, or, where one person alone has that, the middle between two of several;
    `bin` (G,); `share` (G,): of its bin; `of` (V,): each value's node; `inside` (V,): each value's share of its node;
    `count` (G,): people; `whole` (bins,): people of the bin."""

    values: F64
    bin: I64
    share: F64
    of: I64
    inside: F64
    count: F64 = field(default_factory=lambda: np.zeros(0))
    whole: F64 = field(default_factory=lambda: np.zeros(0))

    @classmethod
    def made(cls, support: Support, run: I64) -> Nodes:
        """Runs of neighbouring values as nodes."""
        many = int(run.max(initial=-1)) + 1
        weight = np.where(support.weight > 0, support.weight, 0.0)
        total = np.bincount(run, weights=weight, minlength=many)
        start = np.concatenate([[0.0], np.cumsum(total)])[:-1]
        middle = np.searchsorted(np.cumsum(weight), start + 0.5 * total)
        first = np.searchsorted(run, np.arange(many))
        last = np.searchsorted(run, np.arange(many), side="right") - 1
        at = np.clip(middle, first, last)
        bin_of = support.bin[at]
        whole = np.bincount(bin_of, weights=total, minlength=max(support.bins, 1))
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.where(whole[bin_of] > 0, total / whole[bin_of], 1.0)
            inside = np.where(total[run] > 0, weight / total[run], 1.0)
        return cls(
            _shown(support, at, first, last),
            bin_of,
            share,
            run,
            inside,
            np.asarray(total, dtype=np.float64),
            np.asarray(whole, dtype=np.float64),
        )


def _equal(count: F64, most: int) -> I64:
    """Neighbouring values in at most so many groups of about equal counts; a common value is alone."""
    out = np.arange(len(count))
    if len(count) > most:
        _in_groups(count, count.sum() / most, out)
    return out


@compiled
def _in_groups(count, fair, out):  # type: ignore[no-untyped-def]
    now, filled, last, group = 0, 0.0, -1, -1
    for i in range(len(count)):
        c = count[i]
        if filled > 0 and (c >= fair or filled + 0.5 * c > fair):
            now, filled = now + 1, 0.0
        group += 1 if now != last else 0
        last = now
        out[i] = group
        filled += c
        if c >= fair:
            now, filled = now + 1, 0.0


def _shown(support: Support, at: I64, first: I64, last: I64) -> F64:
    """What nodes are shown as: a value that one person alone has would tell it, half the way to a neighbour not."""
    values = support.values[at]
    if not support.numeric:
        return np.asarray(values)
    beside = np.where(at < last, at + 1, np.maximum(at - 1, first))
    between = 0.5 * (values + support.values[beside])
    told = (last > first) & (support.weight[at] <= 1) & (values * support.values[beside] > 0)
    return np.where(told, between, values)


def _inside(weight: F64, run: I64, parts: I64) -> I64:
    """Each value's part of its run, parts of about equal counts."""
    total = np.bincount(run, weights=weight)
    start = np.concatenate([[0.0], np.cumsum(total)])[:-1]
    middle = np.cumsum(weight) - 0.5 * weight - start[run]
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(total[run] > 0, middle / total[run], 0.0)
    return np.minimum((share * parts[run]).astype(np.int64), parts[run] - 1)
