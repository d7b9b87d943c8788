"""The people whose values are guessed: those of whom all is alike once, with what is believed of each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from confide.attack.learning.attributes.relations import Relations
from confide.attack.learning.attributes.support import Nodes, Support
from confide.frames.columns import F64, I64, Bools, Records
from confide.frames.distinct import Distinct

ROOM = 8_000_000
"""Beliefs in bins that are kept."""
NOTHING = 1e-12
"""What is left of a sum when all of it was taken away."""


@dataclass(frozen=True, eq=False)
class People:
    """`target`: each one's row among the targets of the attack; `own`: its record among the (merged) released rows, -1
    for none; `y`: the true value, NaN or -1 where missing; `told`: whether there is a truth at all; `bin`: its bin;
    `left`: the bin that beliefs leave out, -1 where they never saw the person. `known`: what is known of them;
    `weight`: survey weight of the own record, where the attack counts people by it. `of`: each person's place among
    these; `at`: where the true value is among those that occur, or what is next to it. `kept`: each one's row among
    beliefs in bins, and these, and `left_at`, the node that they leave out, where they were computed beforehand.
    """

    support: Support
    relations: Relations
    target: I64
    own: I64
    y: F64
    told: Bools
    bin: I64
    left: I64
    known: Records
    weight: F64
    of: I64
    at: I64
    kept: tuple[I64, F64] | None = None
    left_at: I64 | None = None

    @classmethod
    def gathered(
        cls, support: Support, relations: Relations, target: I64, own: I64, y: F64, told: Bools, saw: Bools,
        known: Records, weight: F64, rows: I64 | None = None,
    ) -> People:  # fmt: skip
        """Those who are alike once. `saw`: whether beliefs were fitted with the person; `rows`: whence y was taken."""
        value = np.where(told, y, np.inf) if rows is None else support.place[rows]
        found = Distinct.rows([target, own, value, saw, weight, *(c.values for c in known.values())], len(target))
        first = found.first
        y, told, saw = y[first], told[first], saw[first]
        gone = np.isnan(y) if support.numeric else y < 0
        there = np.where(gone, 0.0, y)
        at = support.places(there) if rows is None else np.maximum(value[first], 0).astype(np.int64)
        bins = support.bins_of(there, gone, at)
        return cls(
            support, relations, target[first], own[first], y, told, bins, np.where(saw & told, bins, -1),
            known.take(first), weight[first], found.of, at,
        )  # fmt: skip

    def __len__(self) -> int:
        return len(self.target)

    @cached_property
    def missing(self) -> Bools:
        """Whose true value is missing."""
        return np.asarray(self.told & (self.bin == self.support.bins))

    @cached_property
    def _by_target(self) -> tuple[I64, I64]:
        order = np.argsort(self.target, kind="stable").astype(np.int64)
        return order, self.target[order]

    def units_of(self, targets: I64) -> I64:
        """All of these whose target is among some rows."""
        order, sorted_ = self._by_target
        low, high = (np.searchsorted(sorted_, targets, side=s) for s in ("left", "right"))
        many = high - low
        base = low - (np.cumsum(many) - many)
        return np.asarray(order[np.arange(int(many.sum())) + np.repeat(base, many)])

    def place_of_own(self, units: I64, rows: I64) -> I64:
        """Where their own records are among rows of the release, in rising order; -1 for none of them."""
        own = self.own[units]
        at = np.clip(np.searchsorted(rows, own), 0, max(len(rows) - 1, 0))
        return np.where((own >= 0) & (rows[at] == own), at, -1) if len(rows) else np.full(len(units), -1)

    def alike(self, units: I64, nodes: Nodes) -> Distinct:
        """Those of whom the same is known and believed."""
        keys = [self.target[units], self.left_node(units, nodes), *(c.values[units] for c in self.known.values())]
        return Distinct.rows(keys, len(units))

    def left_node(self, units: I64, nodes: Nodes) -> I64:
        """The node that beliefs leave one person out of, the last for missing, -1 where they never saw the person."""
        if self.left_at is not None:
            return self.left_at[units]
        return np.where(self.left[units] >= 0, self.places(units, nodes)[0], -1)

    def with_beliefs(self, nodes: Nodes) -> People:
        """The same with beliefs about these nodes at hand: in bins, where there is room, once for those of whom the
        same is known and left out."""
        return replace(self._with_bins(), left_at=self.left_node(np.arange(len(self)), nodes))

    def _with_bins(self) -> People:
        same = Distinct.rows([self.left, *(c.values for c in self.known.values())], len(self))
        if len(same) * (self.support.bins + 1) > ROOM:
            return self
        return replace(self, kept=(same.of, self.relations.rows(self.known.take(same.first), self.left[same.first])))

    def beliefs(self, units: I64, nodes: Nodes) -> F64:
        """e(y | t) on nodes, missing last, shape (n, G + 1)."""
        return self.believed(units, nodes).on(nodes)

    def believed(self, units: I64, nodes: Nodes) -> Believed:
        """The same in bins, beside the own node."""
        if self.kept is None:
            found = self.relations.rows(self.known.take(units), self.left[units])
        else:
            found = self.kept[1][self.kept[0][units]]
        return Believed.of(found, self.left_node(units, nodes), nodes)

    def margins(self, units: I64, nodes: Nodes) -> Believed:
        """The margin of the others, the same way."""
        found = self.relations.margins(self.left[units])
        return Believed.of(found, self.left_node(units, nodes), nodes)

    @cached_property
    def _occurs(self) -> Bools:
        """Whether each true value is among those that occur."""
        return np.asarray(self.support.values[self.at] == self.y)

    def places(self, units: I64, nodes: Nodes) -> tuple[I64, F64]:
        """The node of each true value and its share of it, the own row left out where beliefs leave it out; the last
        one for missing; -1 where there is no truth."""
        gone, at, exact = self.missing[units], self.at[units], self._occurs[units]
        place = np.where(gone, len(nodes.values), nodes.of[at])
        share = nodes.inside[at]
        if len(nodes.count):
            many = nodes.count[nodes.of[at]]
            others = (self.support.weight[at] - 1) / np.maximum(many - 1, 1)
            share = np.where((self.left[units] >= 0) & (many > 1), others, share)
        inside = np.where(gone, 1.0, np.where(exact, share, 0.0))
        return np.where(self.told[units], place, -1), inside

    def exact_places(self, units: I64, values: F64) -> tuple[I64, F64]:
        """The same among values as they are; -1 also for one that is not among them."""
        y, gone = self.y[units], self.missing[units]
        at = np.clip(np.searchsorted(values, np.where(gone, 0.0, y)), 0, max(len(values) - 1, 0))
        exact = values[at] == y if len(values) else np.zeros(len(y), dtype=bool)
        place = np.where(gone, len(values), np.where(exact, at, -1))
        return np.where(self.told[units], place, -1), np.ones(len(units))

    def known_together(self, units: I64, names: tuple[str, ...]) -> Iterator[tuple[I64, Records | None]]:
        """Places of those who share the known values of some variables, and these."""
        if not names:
            yield np.arange(len(units)), None
            return
        mine = self.known.select(names).take(units)
        found = Distinct.rows([c.values for c in mine.values()], mine.n)
        for k, row in enumerate(found.first):
            yield np.flatnonzero(found.of == k), mine.take(np.array([row]))


@dataclass(frozen=True, eq=False)
class Believed:
    """Beliefs of people about nodes: those of `bins` (n, B) times shares, but `mass` (n,) at one's own node (`at`, -1
    for none): shares within the own bin count the others only."""

    bins: F64
    at: I64
    mass: F64

    @classmethod
    def of(cls, bins: F64, left: I64, nodes: Nodes) -> Believed:
        """With one person less at some nodes: (n_g - 1[g own]) / (n_b - 1) of the own bin's belief."""
        at = np.where(left < len(nodes.values), left, -1)
        mine = np.flatnonzero(at >= 0)
        mass = np.zeros(len(at))
        g = at[mine]
        b = nodes.bin[g]
        mass[mine] = bins[mine, b] * nodes.share[g]
        if len(nodes.count):
            some = nodes.whole[b] > 1
            mine, g, b = mine[some], g[some], b[some]
            mass[mine] = bins[mine, b] * (nodes.count[g] - 1) / (nodes.whole[b] - 1)
            bins = bins.copy()
            bins[mine, b] *= nodes.whole[b] / (nodes.whole[b] - 1)
        return cls(bins, at, mass)

    def on(self, nodes: Nodes) -> F64:
        """On nodes, missing last."""
        out, mine = on_nodes(self.bins, nodes), np.flatnonzero(self.at >= 0)
        out[mine, self.at[mine]] = self.mass[mine]
        return out

    def at_places(self, rows: I64, places: I64, nodes: Nodes) -> F64:
        """Of one place each (the last for missing) in some rows, shape (n,)."""
        bins = np.append(nodes.bin, self.bins.shape[1] - 1)[places]
        plain = self.bins[rows, bins] * np.append(nodes.share, 1.0)[places]
        return np.where(self.at[rows] == places, self.mass[rows], plain)


def on_nodes(bins: F64, nodes: Nodes) -> F64:
    """Probabilities of bins as those of nodes; missing stays last."""
    return np.concatenate([bins[:, nodes.bin] * nodes.share, bins[:, -1:]], axis=1)
