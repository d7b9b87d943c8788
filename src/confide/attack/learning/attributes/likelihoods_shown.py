"""Records that were altered at random: each is read through the likelihood of what it shows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from confide.attack.learning.attributes.absence import Shares
from confide.attack.learning.attributes.law import Law
from confide.attack.learning.attributes.likelihood_medians import read_likelihoods
from confide.attack.learning.attributes.likelihood_rows import beside_beliefs, without_records
from confide.attack.learning.attributes.likelihood_table import LEAST, Table, in_room
from confide.attack.learning.attributes.mixing import own_worth, places_among, thin
from confide.attack.learning.attributes.novel import points_of_records, with_points
from confide.attack.learning.attributes.people import Believed
from confide.attack.learning.attributes.set_medians import Read
from confide.attack.learning.attributes.support import Nodes
from confide.attack.learning.attributes.way import Way
from confide.attack.learning.attributes.weights import Piece
from confide.frames.columns import F64, I64, Records
from confide.frames.distinct import Distinct

MUCH_LEFT = 1e-3
"""Share of all weights that is left without the own record, from which on sums of the rest are had by taking away."""
PAIRS = 600_000
"""Laws times records that are worked on together."""
TOGETHER = 40_000_000
"""Values times records that say something different up to which all likelihoods are made at once, and kept."""
SHARED = 2
"""Records of each kind, on average, from which on likelihoods are not made block by block."""
NONE = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Likelihoods(Way):
    """Any likelihood: true values beside what each record shows. Those of whom the same is known and believed once."""

    kept: dict[str | None, Table] = field(default_factory=dict)

    def law(self, piece: Piece, units: I64, of: I64, weight: F64, group: I64) -> Law:
        r, s = self.reading, self.shares(piece, units, of, group)
        alike = r.people.alike(units, r.nodes)
        first = alike.first
        tables = list(self._tables(units[first], None))
        b = r.people.believed(units[first], r.nodes)
        use = np.arange(len(r.nodes.values) + 1)
        if s.certain:
            use = np.flatnonzero(np.any([t.possible for _, t in tables], axis=0))
        e = b.on(r.nodes)[:, use]
        p, rest = s.absent[first][:, None] * e, np.empty((len(units), len(use)))
        told = np.zeros((0, 0))
        for some, table in tables:
            who, which = _alone(table, b.at[some], points_of_records(r.said, r.support, self.rows))
            if len(who) and not told.size:
                told = np.zeros((len(first), len(self.rows)))
            d, m, lost = _beside(table, b, r.nodes, some, weight, of[first[some]], {})
            if len(who):
                said = weight[of[first[some[who]]], which]
                told[some[who], which] = said
                lost[who] -= np.where(d[who, which] <= 0, said, 0.0)
                m[who, which] = 0.0
            like = table.some if s.certain and len(tables) == 1 else table.turned[use]
            p[some] += e[some] * (np.asarray(m @ thin(like).T) + lost[:, None])
            mine = np.flatnonzero(places_among(some, len(first))[alike.of] >= 0)
            rest[mine] = _rest(like, p, e, some, d, s, alike, told, mine)
        place, inside = r.people.places(units, r.nodes)
        place = np.where(place >= 0, places_among(use, len(r.nodes.values) + 1)[place], -1)
        worth, p = own_worth(np.zeros(len(units)), s.left, s.total, s.after), p / s.total[first][:, None]
        law = Law(units, r.nodes.values[use[:-1]], p, alike.of, place, inside, rest, worth=worth)
        if not told.size:
            return law
        own = np.where((s.own >= 0) & (told[alike.of, np.maximum(s.own, 0)] > 0), s.own, -1)
        point = points_of_records(r.said, r.support, self.rows)
        return with_points(
            law, r.people.y[units], point, told / s.total[first][:, None], (own, s.mine), s.total, s.left
        )

    def medians(self, piece: Piece, units: I64, of: I64, weight: F64, group: I64) -> tuple[I64, Read] | None:
        """Of those for whom all is certain but the value, and in whose reach of every record others are too."""
        r, s = self.reading, self.shares(piece, units, of, group)
        if r.said.beside or not len(r.nodes.values) or not len(self.rows):
            return None
        fine = np.flatnonzero(s.each_certain & (piece.total[of] > 0) & (s.left > MUCH_LEFT * s.total))
        alike = r.people.alike(units[fine], r.nodes)
        ((_, table),) = self._tables(units[:1], "medians")
        point = points_of_records(r.said, r.support, self.rows)
        order, step = np.argsort(alike.of, kind="stable"), max(PAIRS // len(self.rows), 1)
        found, ends = [], np.searchsorted(alike.of[order], np.arange(0, len(alike) + step, step))
        for a, first, last in zip(range(0, len(alike), step), ends[:-1], ends[1:], strict=True):
            some = fine[alike.first[a : a + step]]
            mine = fine[order[first:last]]
            found.append(self._read(table, point, units, some, mine, alike.of[order[first:last]] - a, of, weight, s))
        places = [p for p, _ in found]
        return np.concatenate([*places, NONE]), Read.joined([x for _, x in found])

    def _read(
        self, table: Table, point: F64, units: I64, some: I64, mine: I64, row: I64, of: I64, weight: F64, s: Shares
    ) -> tuple[I64, Read]:
        """Medians of the people `mine`, whose laws are those of `some` (at `row`); only where every record fits."""
        r = self.reading
        b = r.people.believed(units[some], r.nodes)
        d, m, lost = _beside(table, b, r.nodes, np.arange(len(some)), weight, of[some], self._room)
        plain = lost <= 0
        plain[_alone(table, b.at, point)[0]] = False
        keep = np.flatnonzero(plain[row])
        mine, row = mine[keep], row[keep]
        own = s.own[mine]
        scale = np.where(own >= 0, s.mine[mine] / d[row, np.maximum(own, 0)], 0.0)
        place = r.people.places(units[mine], r.nodes)[0]
        return mine, read_likelihoods(b, m, table, row, own, scale, place)

    def _tables(self, units: I64, what: str | None) -> Iterator[tuple[I64, Table]]:
        """Places of people who share what is known of variables altered together with this one, and likelihoods; `what`
        may do without the smallest of them."""
        for some, known in self.reading.people.known_together(units, self.reading.said.beside):
            if known is not None:
                yield some, self._table(known, what)
                continue
            if what not in self.kept:
                self.kept[what] = self._table(None, what)
            yield some, self.kept[what]

    def _table(self, known: Records | None, what: str | None) -> Table:
        r = self.reading
        least = 0.0 if what is None else LEAST
        if known is None and r.everybody:
            kinds = r.said.kinds
            often = len(kinds) * SHARED <= len(kinds.of)
            if often and len(kinds) * (len(r.nodes.values) + 1) <= TOGETHER:  # of all records, once
                if "table" not in r.said.kept:
                    r.said.kept["table"] = Table.of(r.said.log(r.nodes.values, kinds.first), r.nodes)
                if "cut" not in self.kept:
                    self.kept["cut"] = r.said.kept["table"].only(kinds.of[self.rows], self._room)
                return self.kept["cut"]
            room = in_room(self._room, f"turned {what}", (len(r.nodes.values) + 1, len(self.rows)))
            return Table.of(r.said.log(r.nodes.values, self.rows, out=room), r.nodes, least)
        return Table.of(r.said.log(r.nodes.values, self.rows, known), r.nodes, least)

    @property
    def _room(self) -> dict[str, F64]:
        """Memory that one block after the other is written to."""
        room: dict[str, F64] = self.reading.said.kept.setdefault("room", {})
        return room


def _alone(table: Table, own: I64, point: F64) -> tuple[I64, I64]:
    """People (with the node `own`) in whose reach of a record nobody else is, and the record."""
    few = np.flatnonzero(~np.isnan(point[table.few]))
    mine = (own >= 0)[:, None] & table.near[few][:, np.maximum(own, 0)].T
    who, which = np.nonzero(mine)
    return who, table.few[few[which]]


def _beside(
    table: Table, b: Believed, nodes: Nodes, some: I64, weight: F64, of: I64, room: dict[str, F64]
) -> tuple[F64, F64, F64]:
    """Beliefs times likelihoods, weights beside them, and the weight of records in whom nobody believes."""
    d, m = (in_room(room, name, (len(some), table.turned.shape[1])) for name in ("beside", "over"))
    table.believed(b.bins[some], d)
    at = b.at[some]
    g = np.maximum(at, 0)
    more = b.mass[some] - b.bins[some, nodes.bin[g]] * nodes.share[g]
    return d, m, beside_beliefs(d, weight, of, more, at, table.rows, m)


def _rest(like: F64, p: F64, e: F64, some: I64, d: F64, s: Shares, alike: Distinct, told: F64, mine: I64) -> F64:
    """Laws without the own record of the units `mine`, whose likelihoods (nodes, records) are these."""
    row = places_among(some, len(p))[alike.of[mine]]
    own = s.own[mine]
    said = d[row, np.maximum(own, 0)]
    counts = own >= 0
    if told.size:  # taken away with the points
        counts &= told[alike.of[mine], np.maximum(own, 0)] <= 0
    silent = counts & (said <= 0)
    spoken = counts & (said > 0)
    scale = np.where(spoken, s.mine[mine] / np.where(spoken, said, 1.0), 0.0)
    used, place = np.unique(own[spoken], return_inverse=True)
    which = np.full(len(mine), -1)
    which[spoken] = place
    return without_records(
        p, e, alike.of[mine], (s.after - s.absent)[mine], np.ascontiguousarray(like[:, used].T), which, scale,
        np.where(silent, s.mine[mine], 0.0), s.left[mine], s.total[mine],
    )  # fmt: skip
