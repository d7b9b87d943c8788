"""Records that show one value each: a kept one, or one that is taken as it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from confide.attack.learning.attributes.coarse import LEAST
from confide.attack.learning.attributes.law import Law
from confide.attack.learning.attributes.mixing import own_worth, spread, without_own
from confide.attack.learning.attributes.way import Way
from confide.attack.learning.attributes.weights import Piece
from confide.frames.columns import F64, I64, Bools, codes_in

if TYPE_CHECKING:
    from confide.attack.learning.attributes.predictive import Reading


@dataclass(frozen=True, eq=False)
class Values(Way):
    """A record says one value; absence says what is believed."""

    def split(self, piece: Piece, units: I64, of: I64) -> tuple[I64, I64]:
        r = self.reading
        total = piece.total[of]
        own = r.people.place_of_own(units, piece.rows)
        mine = piece.weight_of(of, own)
        after = r.gone.weight(r.people, piece, units, of)
        plain = (piece.absent[of] <= 0) & (after <= 0) & (mine < (1 - LEAST) * total)
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
        s = self.shares(piece, units, of, group)
        place, inside = r.people.exact_places(units, values)
        p = base / np.maximum(piece.total, 1e-300)[:, None]
        return Law(units, values, p, of, place, inside, None, np.where(s.own >= 0, at[s.own], 0), s.mine / s.total)

    def law(self, piece: Piece, units: I64, of: I64, weight: F64, group: I64) -> Law:
        r = self.reading
        shown, at, gone = self._places()
        s = self.shares(piece, units, of, group)
        values = np.unique(np.concatenate([shown, r.nodes.values]))
        at = np.where(
            gone, len(values), np.searchsorted(values, shown[np.minimum(at, len(shown) - 1)] if len(shown) else 0)
        )
        base = spread(weight[of], at, len(values) + 1)
        e = np.zeros((len(units), len(values) + 1))
        found = r.people.beliefs(units, r.nodes)
        e[:, np.searchsorted(values, r.nodes.values)] = found[:, :-1]
        e[:, -1] = found[:, -1]
        p = (base + s.absent[:, None] * e) / s.total[:, None]
        cut = base + s.after[:, None] * e
        here = np.flatnonzero(s.own >= 0)
        cut[here, at[s.own[here]]] -= s.mine[here]
        place, inside = r.people.exact_places(units, values)
        rest, worth = without_own(cut, s.left, s.total, e), own_worth(s.mine, s.left, s.total, s.after)
        return Law(units, values, p, np.arange(len(units)), place, inside, rest, worth=worth)


def _as_original(r: Reading, shown: F64) -> F64:
    """Released values as places among the original's: codes of categories may differ between the files."""
    if r.support.numeric:
        return np.asarray(shown, dtype=float)
    z = r.said.z
    assert z is not None
    found = codes_in(z.with_values(shown), r.support.column)
    return np.asarray(found, dtype=float)
