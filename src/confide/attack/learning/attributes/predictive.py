r"""The predictive distribution of an unknown value, and the same without the person's own record.

.. math:: p(y \mid t, Z) = \sum_j p_j(t)\, g_j(y) + p_\text{absent}(t)\, e(y \mid t),
    \qquad g_j(y) = \frac{e(y \mid t)\, L(z_j \mid y)}{\sum_v e(v \mid t)\, L(z_j \mid v)}

where a kept value is its own point mass. Without the person's own record its weight is 0, and where the person stays
among those who could be the target, the weight of absence grows (`Without`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from confide.attack.learning.attributes.absence import Without
from confide.attack.learning.attributes.kept_medians import kept_medians
from confide.attack.learning.attributes.law import Law
from confide.attack.learning.attributes.likelihoods_shown import Likelihoods
from confide.attack.learning.attributes.matches_shown import Matches
from confide.attack.learning.attributes.people import People
from confide.attack.learning.attributes.said import Said
from confide.attack.learning.attributes.set_medians import Read
from confide.attack.learning.attributes.sets_shown import SetsShown
from confide.attack.learning.attributes.support import Nodes, Support
from confide.attack.learning.attributes.values_shown import Values
from confide.attack.learning.attributes.way import Way
from confide.attack.learning.attributes.weights import Piece
from confide.frames.columns import F64, I64
from confide.frames.distinct import Distinct

ENTRIES = 2_000_000
"""Probabilities that are worked on together."""
NONE = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Reading:
    """One variable read from pieces of a posterior: what the release says, values, beliefs, and the people.
    `everybody`: whether all pieces are read, and not that of one person; `last`: the records that were read last, in
    groups that say the same, and how: the next piece may have the same ones."""

    said: Said
    support: Support
    people: People
    nodes: Nodes
    gone: Without
    everybody: bool = False
    last: list[tuple[I64, Distinct, Way]] = field(default_factory=list)

    def laws(self, piece: Piece, only: I64 | None = None) -> Iterator[Law]:
        """The laws of everybody whose target is in a piece, several at a time; or of some units `only`."""
        if only is not None and not len(only):
            return
        units, of, weight, group, way = self._read(piece, only)
        if not len(units):
            return
        apart, alone = way.split(piece, units, of)
        if len(apart):  # beliefs play no part: those of whom the same is known share one law
            yield way.shared_law(piece, units[apart], of[apart], weight, group)
        units, of = units[alone], of[alone]
        step = max(ENTRIES // max(len(self.nodes.values) + weight.shape[1], 1), 1)
        for a in range(0, len(units), step):
            yield way.law(piece, units[a : a + step], of[a : a + step], weight, group)

    def medians(self, piece: Piece) -> tuple[I64, Read, I64 | None]:
        """Units of a piece whose medians are had without laws, what was read of them, and all others (None: nobody was
        read)."""
        if not self.support.numeric:
            return NONE, Read.none(), None
        if self.said.atoms:
            units = self.people.units_of(piece.targets)
            found = kept_medians(self, piece, units, self._targets_of(piece, units)) if len(units) else None
        else:
            units, of, weight, group, way = self._read(piece, None)
            found = way.medians(piece, units, of, weight, group) if len(units) else None
        if found is None:
            return NONE, Read.none(), None
        rest = np.ones(len(units), dtype=bool)
        rest[found[0]] = False
        return units[found[0]], found[1], units[rest]

    def _read(self, piece: Piece, only: I64 | None) -> tuple[I64, I64, F64, I64, Way]:
        """Units of a piece and their targets there; weights by what records show, and that of each record; the way."""
        units = self.people.units_of(piece.targets) if only is None else only
        groups, way = self._way(piece)
        of = self._targets_of(piece, units)
        weight = piece.sums(groups.of, len(groups)) if len(units) else np.zeros((len(piece.targets), len(groups)))
        return units, of, weight, groups.of, way

    def _targets_of(self, piece: Piece, units: I64) -> I64:
        """Of units, the place of each one's target in a piece that has it."""
        order = np.argsort(piece.targets, kind="stable")
        return order[np.searchsorted(piece.targets[order], self.people.target[units])] if len(units) else NONE

    def beliefs(self, units: I64) -> Law:
        """What is believed of people without any record: e(y | t)."""
        p = self.people.beliefs(units, self.nodes)
        place, inside = self.people.places(units, self.nodes)
        return Law(units, self.nodes.values, p, np.arange(len(units)), place, inside)

    def _way(self, piece: Piece) -> tuple[Distinct, Way]:
        """Records in groups that say the same, and how they are read: once for all pieces of a block."""
        if not self.last or self.last[0][0] is not piece.rows or self.last[0][2].reading is not self:
            groups = self.said.groups(piece.rows)
            self.last[:] = [(piece.rows, groups, self._new_way(piece.rows[groups.first]))]
        return self.last[0][1:]

    def _new_way(self, rows: I64) -> Way:
        if self.said.atoms:
            return Values(self, rows)
        if self.said.how == "coarsened":
            return SetsShown(self, rows, *self.said.sets(self.nodes.values, rows))
        found = self.said.matches(self.support.values, rows)
        if found is not None and len(self.nodes.values) == len(self.support.values):
            return Matches(self, rows, *found)
        return Likelihoods(self, rows)
