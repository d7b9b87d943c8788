"""Records that show the owner's value or somebody's: a point mass beside what is believed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from confide.attack.learning.attributes.coarse import LEAST
from confide.attack.learning.attributes.law import Law
from confide.attack.learning.attributes.match_medians import Others, Shown, read_matches
from confide.attack.learning.attributes.mixing import own_worth, spread, without_own
from confide.attack.learning.attributes.novel import FAR
from confide.attack.learning.attributes.people import Believed
from confide.attack.learning.attributes.set_medians import Read
from confide.attack.learning.attributes.way import Way
from confide.attack.learning.attributes.weights import Piece
from confide.frames.columns import F64, I64


@dataclass(frozen=True, eq=False)
class Matches(Way):
    """A record shows the owner's value or somebody's: a point mass beside what is believed."""

    at: I64
    same: F64
    diff: F64

    def law(self, piece: Piece, units: I64, of: I64, weight: F64, group: I64) -> Law:
        r = self.reading
        s = self.shares(piece, units, of, group)
        total, absent, mine, own, after = s.total, s.absent, s.mine, s.own, s.after
        e = r.people.beliefs(units, r.nodes)
        there = self.at >= 0
        e_z = np.where(there, e[:, np.maximum(self.at, 0)], 0.0)
        d = np.maximum(self.diff * (1 - e_z) + self.same * e_z, 1e-300)
        novel = there & (e_z <= 0) & (self.same > np.exp(FAR) * self.diff)  # nobody else has what is shown
        m = np.where(novel, 0.0, weight[of] / d)
        loose = (m * self.diff).sum(axis=1)
        point = np.where(novel, weight[of], m * (self.same - self.diff) * e_z)
        p = (absent + loose)[:, None] * e + spread(np.where(there, point, 0.0), np.maximum(self.at, 0), e.shape[1])
        here = np.flatnonzero(own >= 0)
        g = own[here]
        cut = p + (after - absent)[:, None] * e
        scale = np.where(novel[here, g], 0.0, mine[here] / d[here, g])[:, None]
        cut[here] -= scale * self.diff[g][:, None] * e[here]
        shown = scale[:, 0] * (self.same - self.diff)[g] * e_z[here, g]
        cut[here, np.maximum(self.at[g], 0)] -= np.where(novel[here, g], mine[here], shown)
        place, inside = r.people.places(units, r.nodes)
        p = p / total[:, None]
        rest, worth = without_own(cut, s.left, total, e), own_worth(np.zeros(len(units)), s.left, total, after)
        return Law(units, r.nodes.values, p, np.arange(len(units)), place, inside, rest, worth=worth)

    def medians(self, piece: Piece, units: I64, of: I64, weight: F64, group: I64) -> tuple[I64, Read] | None:
        """Of all who are believed to have a value."""
        r, s = self.reading, self.shares(piece, units, of, group)
        if not len(r.nodes.values) or not len(self.rows):
            return None
        b = r.people.believed(units, r.nodes)
        some = np.flatnonzero((piece.total[of] > 0) & (b.bins[:, -1] == 0) & ~r.people.missing[units])
        mine = Others(s.own[some], s.mine[some], s.absent[some], s.after[some], (s.left > LEAST * s.total)[some])
        place = r.people.places(units[some], r.nodes)[0]
        believed = Believed(b.bins[some], b.at[some], b.mass[some])
        shown = Shown.of(self.at, self.same, self.diff)
        return some, read_matches(believed, r.nodes, shown, weight, of[some], mine, place)
