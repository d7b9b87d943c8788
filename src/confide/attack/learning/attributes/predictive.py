r"""The predictive distribution of an unknown value, and the same without the person's own record.

.. math:: p(y \mid t, Z) = \sum_j p_j(t)\, g_j(y) + p_\text{absent}(t)\, e(y \mid t),
    \qquad g_j(y) = \frac{e(y \mid t)\, L(z_j \mid y)}{\sum_v e(v \mid t)\, L(z_j \mid v)}

where a kept value is its own point mass. Without the person's own record its weight is 0, and where the person stays
among those who could be the target, the weight of absence grows (`Without`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from confide.attack.learning.attributes.coarse import LEAST, coarse_rows, coarse_without
from confide.attack.learning.attributes.mixing import (
    by_group,
    own_worth,
    places_among,
    possible,
    relative,
    rows_of,
    spread,
    thin,
    without_own,
)
from confide.attack.learning.attributes.novel import FAR, alone_in, point_of_sets, points_of_records, with_points
from confide.attack.learning.attributes.people import People
from confide.attack.learning.attributes.said import Said
from confide.attack.learning.attributes.support import Nodes, Support
from confide.attack.learning.attributes.weights import Piece
from confide.frames.columns import F64, I64, Bools, codes_in

ENTRIES = 2_000_000
"""Probabilities that are worked on together."""


@dataclass(frozen=True, eq=False)
class Law:
    """Distributions of some people (`who`): `values` (V,) rising, `p` (rows, V + 1), missing last; `of`: whose row.

    `without` (n, V + 1): the same without each person's own record; or `at`, `share`: the place at which the own record
    lies, and how much of the distribution goes with it; nothing changes where there is neither. `place` (n,): of the
    true value, -1 where it is not among them; `inside` (n,): its share of that place. `worth` (n,): what the own record
    would weigh beside the others, NaN where there are none.
    """

    who: I64
    values: F64
    p: F64
    of: I64
    place: I64
    inside: F64
    without: F64 | None = None
    at: I64 | None = None
    share: F64 | None = None
    worth: F64 | None = None

    def only(self, some: I64) -> Law:
        """The laws of some of them."""
        if len(some) == len(self.who):
            return self
        cut = {n: None if (x := getattr(self, n)) is None else x[some] for n in ("without", "at", "share", "worth")}
        return Law(self.who[some], self.values, self.p, self.of[some], self.place[some], self.inside[some], **cut)


@dataclass(frozen=True, eq=False)
class Without:
    """How absence weighs when a person's own record is gone: (N_t, n_t, own survey weight) as `membership` says.

    `stays`: the person stays among the N_t people who could be the target; else N_t shrinks with the record: by its
    survey weight, or, for a stated `total` and r records, in proportion. Weights of a sample stand for the `total` of
    the file they were drawn from, with one record less as well; where all records are released, `total` is 0.
    """

    kind: str
    total: float = 0.0
    records: int = 0

    def absent(self, people: F64, n_t: F64, weight: F64) -> F64:
        """N_t - n_t without the record."""
        if self.kind == "certain":
            return np.zeros(len(n_t))
        fewer = people
        if self.kind == "weights":
            fewer = people - weight
            if self.total:
                fewer = fewer * self.total / np.maximum(self.total - weight, 1e-300)
        elif self.kind == "total" and self.records > 1:
            fewer = people * (n_t - 1) / np.maximum(n_t, 1.0) * self.records / (self.records - 1)
        return np.maximum(fewer - (n_t - 1), 0.0)


@dataclass(frozen=True, eq=False)
class Reading:
    """One variable read from pieces of a posterior: what the release says, values, beliefs, and the people."""

    said: Said
    support: Support
    people: People
    nodes: Nodes
    gone: Without

    def laws(self, piece: Piece, only: int | None = None) -> Iterator[Law]:
        """The laws of everybody whose target is in a piece, several at a time; or of one unit `only`."""
        units = self.people.units_of(piece.targets)
        units = units if only is None else units[units == only]
        if not len(units):
            return
        groups = self.said.groups(piece.rows)
        of = np.searchsorted(np.sort(piece.targets), self.people.target[units])
        of = np.argsort(piece.targets, kind="stable")[of]
        weight = piece.sums(groups.of, len(groups))
        way = self._way(piece, groups.first)
        apart, alone = way.split(piece, units, of)
        if len(apart):  # beliefs play no part: those of whom the same is known share one law
            yield way.shared_law(piece, units[apart], of[apart], weight, groups.of)
        units, of = units[alone], of[alone]
        step = max(ENTRIES // max(len(self.nodes.values) + len(groups), 1), 1)
        for a in range(0, len(units), step):
            yield way.law(piece, units[a : a + step], of[a : a + step], weight, groups.of)

    def beliefs(self, units: I64) -> Law:
        """What is believed of people without any record: e(y | t)."""
        p = self.people.beliefs(units, self.nodes)
        place, inside = self.people.places(units, self.nodes)
        return Law(units, self.nodes.values, p, np.arange(len(units)), place, inside)

    def _way(self, piece: Piece, first: I64) -> _Way:
        rows = piece.rows[first]
        if self.said.atoms:
            return _Atoms(self, rows)
        if self.said.how == "coarsened":
            return _Coarse(self, rows, *self.said.sets(self.nodes.values, rows))
        found = self.said.matches(self.support.values, rows)
        if found is not None and len(self.nodes.values) == len(self.support.values):
            return _Matches(self, rows, *found)
        return _Dense(self, rows)

    def shared(self, piece: Piece, units: I64, of: I64, group: I64) -> tuple[F64, F64, F64, I64]:
        """Per unit: the sum of weights, that of absence, the own record's, and its group (-1: none)."""
        total = np.maximum(piece.total[of], 1e-300)
        own = self.people.place_of_own(units, piece.rows)
        mine = piece.weight_of(of, own)
        return total, piece.absent[of], mine, np.where(own >= 0, group[np.maximum(own, 0)], -1)

    def without_absent(self, piece: Piece, units: I64, of: I64) -> F64:
        """The weight of absence without the own record, on the piece's scale; as it was for who has none."""
        after = self.gone.absent(piece.people[of], piece.n_t[of], self.people.weight[units])
        after = after * np.exp(-piece.log_scale[of])
        return np.where(self.people.own[units] >= 0, after, piece.absent[of])


@dataclass(frozen=True, eq=False)
class _Way:
    """How the records of a piece are read; `rows`: one for each group of those that say the same."""

    reading: Reading
    rows: I64

    def split(self, piece: Piece, units: I64, of: I64) -> tuple[I64, I64]:  # noqa: ARG002 - a default
        """Places of those for whom beliefs play no part, and of all others."""
        return np.zeros(0, dtype=np.int64), np.arange(len(units))

    def shared_law(self, piece: Piece, units: I64, of: I64, weight: F64, group: I64) -> Law:
        """The laws of those for whom beliefs play no part."""
        raise NotImplementedError

    def law(self, piece: Piece, units: I64, of: I64, weight: F64, group: I64) -> Law:
        """The laws of people, with what is believed of each."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class _Atoms(_Way):
    """A record says one value; absence says what is believed."""

    def split(self, piece: Piece, units: I64, of: I64) -> tuple[I64, I64]:
        r = self.reading
        total = piece.total[of]
        own = r.people.place_of_own(units, piece.rows)
        mine = piece.weight_of(of, own)
        plain = (piece.absent[of] <= 0) & (r.without_absent(piece, units, of) <= 0) & (mine < (1 - LEAST) * total)
        return np.flatnonzero(plain), np.flatnonzero(~plain)

    def _places(self) -> tuple[F64, I64, Bools]:
        """The values that records show, the place of each group among them, and which are missing."""
        z = self.reading.said.z
        assert z is not None
        gone = z.missing[self.rows]
        shown = _as_original(self.reading, z.values[self.rows])
        values = np.unique(shown[~gone])
        return values, np.where(gone, len(values), np.searchsorted(values, np.where(gone, 0, shown))), gone

    def shared_law(self, piece: Piece, units: I64, of: I64, weight: F64, group: I64) -> Law:
        """One law for all of whom the same is known."""
        r = self.reading
        values, at, _ = self._places()
        base = spread(weight, at, len(values) + 1)
        total, _, mine, own = r.shared(piece, units, of, group)
        place, inside = r.people.exact_places(units, values)
        p = base / np.maximum(piece.total, 1e-300)[:, None]
        return Law(units, values, p, of, place, inside, None, np.where(own >= 0, at[own], 0), mine / total)

    def law(self, piece: Piece, units: I64, of: I64, weight: F64, group: I64) -> Law:
        r = self.reading
        shown, at, gone = self._places()
        total, absent, mine, own = r.shared(piece, units, of, group)
        after = r.without_absent(piece, units, of)
        left = np.maximum(total - absent - mine, 0.0) + after
        values = np.unique(np.concatenate([shown, r.nodes.values]))
        at = np.where(
            gone, len(values), np.searchsorted(values, shown[np.minimum(at, len(shown) - 1)] if len(shown) else 0)
        )
        base = spread(weight[of], at, len(values) + 1)
        e = np.zeros((len(units), len(values) + 1))
        found = r.people.beliefs(units, r.nodes)
        e[:, np.searchsorted(values, r.nodes.values)] = found[:, :-1]
        e[:, -1] = found[:, -1]
        p = (base + absent[:, None] * e) / total[:, None]
        cut = base + after[:, None] * e
        here = np.flatnonzero(own >= 0)
        cut[here, at[own[here]]] -= mine[here]
        place, inside = r.people.exact_places(units, values)
        rest = without_own(cut, left, total, e)
        return Law(
            units, values, p, np.arange(len(units)), place, inside, rest, worth=own_worth(mine, left, total, after)
        )


def _as_original(r: Reading, shown: F64) -> F64:
    """Released values as places among the original's: codes of categories may differ between the files."""
    if r.support.numeric:
        return np.asarray(shown, dtype=float)
    z = r.said.z
    assert z is not None
    found = codes_in(z.with_values(shown), r.support.column)
    return np.asarray(found, dtype=float)


@dataclass(frozen=True, eq=False)
class _Matches(_Way):
    """A record shows the owner's value or somebody's: a point mass beside what is believed."""

    at: I64
    same: F64
    diff: F64

    def law(self, piece: Piece, units: I64, of: I64, weight: F64, group: I64) -> Law:
        r = self.reading
        total, absent, mine, own = r.shared(piece, units, of, group)
        after = r.without_absent(piece, units, of)
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
        left = np.maximum(total - absent - mine, 0.0) + after
        place, inside = r.people.places(units, r.nodes)
        p = p / total[:, None]
        rest, worth = without_own(cut, left, total, e), own_worth(np.zeros(len(units)), left, total, after)
        return Law(units, r.nodes.values, p, np.arange(len(units)), place, inside, rest, worth=worth)


@dataclass(frozen=True, eq=False)
class _Coarse(_Way):
    """A record says one of several sets of values that do not overlap: `sets`, that of each group; `code`, of values,
    missing last."""

    sets: I64
    code: I64

    def law(self, piece: Piece, units: I64, of: I64, weight: F64, group: I64) -> Law:
        r = self.reading
        total, absent, mine, own = r.shared(piece, units, of, group)
        after = r.without_absent(piece, units, of)
        left = np.maximum(total - absent - mine, 0.0) + after
        alike = r.people.alike(units, r.nodes)
        first, every = alike.first, len(r.nodes.values)
        sets, code = self.sets, self.code
        plain = not (absent > 0).any() and not (after > 0).any() and bool((left > LEAST * total).all())
        use = np.flatnonzero((code >= 0) | (np.arange(every + 1) == every)) if plain else np.arange(every + 1)
        b = r.people.believed(units[first], r.nodes)
        e, back = b.bins, places_among(use, every + 1)
        nodes = np.append(r.nodes.bin, e.shape[1] - 1)[use], np.append(r.nodes.share, 1.0)[use], code[use]
        held = by_group(weight[of[first]], sets, int(sets.max(initial=-1)) + 1)
        point = point_of_sets(r.said, self.rows, sets)
        novel = alone_in(code, r.nodes.count, b.at, held.shape[1]) & ~np.isnan(point)
        told, held = np.where(novel, held, 0.0), np.where(novel, 0.0, held)
        at = np.where(b.at >= 0, back[b.at], -1), b.mass
        p, d, lost = coarse_rows(e, nodes, held, absent[first], at)
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


@dataclass(frozen=True, eq=False)
class _Dense(_Way):
    """Any likelihood: true values beside what each record shows. Those of whom the same is known and believed once."""

    def law(self, piece: Piece, units: I64, of: I64, weight: F64, group: I64) -> Law:
        r = self.reading
        total, absent, mine, own = r.shared(piece, units, of, group)
        after = r.without_absent(piece, units, of)
        left = np.maximum(total - absent - mine, 0.0) + after
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
        plain = not (absent > 0).any() and not (after > 0).any() and bool((left > LEAST * total).all())
        use = possible([like for _, like in likes]) if plain else np.arange(len(r.nodes.values) + 1)
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
