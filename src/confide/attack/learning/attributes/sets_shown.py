"""Records that show one of several sets of values: coarsened ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from confide.attack.learning.attributes.coarse import coarse_rows, coarse_without
from confide.attack.learning.attributes.law import Law
from confide.attack.learning.attributes.mixing import by_group, own_worth, places_among
from confide.attack.learning.attributes.novel import alone_in, point_of_sets, with_points
from confide.attack.learning.attributes.people import Believed
from confide.attack.learning.attributes.set_medians import Read, Sets, read_sets
from confide.attack.learning.attributes.way import Way
from confide.attack.learning.attributes.weights import Piece
from confide.frames.columns import F64, I64


@dataclass(frozen=True, eq=False)
class SetsShown(Way):
    """A record says one of several sets of values that do not overlap: `sets`, that of each group; `code`, of values,
    missing last."""

    sets: I64
    code: I64

    def law(self, piece: Piece, units: I64, of: I64, weight: F64, group: I64) -> Law:
        r = self.reading
        s = self.shares(piece, units, of, group)
        total, mine, own, after, left = s.total, s.mine, s.own, s.after, s.left
        alike = r.people.alike(units, r.nodes)
        first, every = alike.first, len(r.nodes.values)
        sets, code = self.sets, self.code
        use = np.flatnonzero((code >= 0) | (np.arange(every + 1) == every)) if s.certain else np.arange(every + 1)
        b = r.people.believed(units[first], r.nodes)
        e, back = b.bins, places_among(use, every + 1)
        nodes = np.append(r.nodes.bin, e.shape[1] - 1)[use], np.append(r.nodes.share, 1.0)[use], code[use]
        held = by_group(weight[of[first]], sets, int(sets.max(initial=-1)) + 1)
        point = point_of_sets(r.said, self.rows, sets)
        novel = alone_in(code, r.nodes.count, b.at, held.shape[1]) & ~np.isnan(point)
        told, held = np.where(novel, held, 0.0), np.where(novel, 0.0, held)
        at = np.where(b.at >= 0, back[b.at], -1), b.mass
        p, d, lost = coarse_rows(e, nodes, held, s.absent[first], at)
        shown = np.where(own >= 0, sets[own], -1)
        mine_told = (shown >= 0) & novel[alike.of, np.maximum(shown, 0)]
        rest = coarse_without(
            (e, held, d, lost), nodes, alike.of, np.where(mine_told, -1, shown), mine, after, left / total, at
        )
        place, inside = r.people.places(units, r.nodes)
        place = np.where(place >= 0, back[place], -1)
        worth, p = own_worth(np.zeros(len(units)), left, total, after), p / total[first][:, None]
        law = Law(units, r.nodes.values[use[:-1]], p, alike.of, place, inside, rest, worth=worth)
        lost_too = np.where(mine_told, shown, -1), mine
        return with_points(law, r.people.y[units], point, told / total[first][:, None], lost_too, total, left)

    def medians(self, piece: Piece, units: I64, of: I64, weight: F64, group: I64) -> tuple[I64, Read] | None:
        """Of those for whom all is certain but the value inside its set, and who believe in every set."""
        r, s = self.reading, self.shares(piece, units, of, group)
        many = int(self.sets.max(initial=-1)) + 1
        sets = Sets.of(self.code, many, point_of_sets(r.said, self.rows, self.sets), r.nodes)
        if sets is None:
            return None
        b = r.people.believed(units, r.nodes)
        people = np.bincount(self.code[:-1] + 1, weights=r.nodes.count, minlength=many + 1)[1:]
        mine = np.where(b.at >= 0, self.code[np.maximum(b.at, 0)], -1)
        novel = np.where((mine >= 0) & (people[np.maximum(mine, 0)] <= 1), mine, -1)
        bins = np.append(np.unique(sets.run_bin), [b.bins.shape[1] - 1] if sets.gone >= 0 else []).astype(np.int64)
        fine = s.each_certain & (piece.total[of] > 0) & (b.bins[:, bins] > 0).all(axis=1)
        fine &= (novel < 0) | ~np.isnan(sets.point)[np.maximum(sets.places(novel), 0)]
        some = np.flatnonzero(fine)
        believed = Believed(b.bins[some], b.at[some], b.mass[some])
        shown = np.where(s.own >= 0, self.sets[s.own], -1)
        place = r.people.places(units[some], r.nodes)[0]
        weights = by_group(weight, self.sets, many)
        return some, read_sets(
            sets, r.nodes, believed, weights, of[some], shown[some], s.mine[some], novel[some], place
        )
