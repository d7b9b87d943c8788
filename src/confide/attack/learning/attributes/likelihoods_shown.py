"""Records that were altered at random: each is read through the likelihood of what it shows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from confide.attack.learning.attributes.law import Law
from confide.attack.learning.attributes.mixing import (
    own_worth,
    places_among,
    possible,
    relative,
    rows_of,
    thin,
    without_own,
)
from confide.attack.learning.attributes.novel import points_of_records, with_points
from confide.attack.learning.attributes.way import Way
from confide.attack.learning.attributes.weights import Piece
from confide.frames.columns import F64, I64


@dataclass(frozen=True, eq=False)
class Likelihoods(Way):
    """Any likelihood: true values beside what each record shows. Those of whom the same is known and believed once."""

    def law(self, piece: Piece, units: I64, of: I64, weight: F64, group: I64) -> Law:
        r = self.reading
        s = self.shares(piece, units, of, group)
        total, absent, mine, own, after, left = s.total, s.absent, s.mine, s.own, s.after, s.left
        alike = r.people.alike(units, r.nodes)
        first = alike.first
        logs = [
            (some, r.said.log(r.nodes.values, self.rows, known))
            for some, known in r.people.known_together(units[first], r.said.beside)
        ]
        b = r.people.believed(units[first], r.nodes)
        point, novel = points_of_records(r.said, r.support, self.rows, logs, r.nodes.count, b.at)
        told = np.where(novel, weight[of[first]], 0.0)
        likes = [(some, np.exp(relative(found))) for some, found in logs]
        use = possible([like for _, like in likes]) if s.certain else np.arange(len(r.nodes.values) + 1)
        e = b.on(r.nodes)[:, use]
        p, cut = absent[first][:, None] * e, np.zeros((len(units), len(use)))
        for some, every in likes:
            like = thin(every[:, use])
            d = b.times(every, r.nodes, some)
            # A record that nobody believed in could have become says nothing of the value.
            silent, held = d <= 0, weight[of[first[some]]] - told[some]
            m = np.where(silent, 0.0, held / np.where(silent, 1.0, d))
            lost = np.where(silent, held, 0.0).sum(axis=1)
            p[some] += e[some] * (np.asarray(m @ like) + lost[:, None])
            at = np.full(len(first), -1)
            at[some] = np.arange(len(some))
            here = np.flatnonzero((own >= 0) & (at[alike.of] >= 0) & ~novel[alike.of, np.maximum(own, 0)])
            row, g = at[alike.of[here]], own[here]
            said = rows_of(like, g) / np.where(silent, 1.0, d)[row, g][:, None]
            said[silent[row, g]] = 1.0
            cut[here] = mine[here][:, None] * e[some][row] * said
        both = p[alike.of] - absent[:, None] * e[alike.of] + after[:, None] * e[alike.of] - cut
        place, inside = r.people.places(units, r.nodes)
        place = np.where(place >= 0, places_among(use, len(r.nodes.values) + 1)[place], -1)
        rest = without_own(both, left, total, e[alike.of])
        worth, p = own_worth(np.zeros(len(units)), left, total, after), p / total[first][:, None]
        law = Law(units, r.nodes.values[use[:-1]], p, alike.of, place, inside, rest, worth=worth)
        lost_too = np.where((own >= 0) & novel[alike.of, np.maximum(own, 0)], own, -1), mine
        return with_points(law, r.people.y[units], point, told / total[first][:, None], lost_too, total, left)
