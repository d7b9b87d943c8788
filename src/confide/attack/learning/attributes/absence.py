"""How absence weighs without a person's own record, and what else of a piece concerns the own record."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from confide.attack.learning.attributes.coarse import LEAST
from confide.attack.learning.attributes.people import People
from confide.attack.learning.attributes.weights import Piece
from confide.frames.columns import F64, I64, Bools


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

    def weight(self, people: People, piece: Piece, units: I64, of: I64) -> F64:
        """The weight of absence without the own record, on the piece's scale; as it was for who has none."""
        after = self.absent(piece.people[of], piece.n_t[of], people.weight[units])
        after = after * np.exp(-piece.log_scale[of])
        return np.where(people.own[units] >= 0, after, piece.absent[of])


@dataclass(frozen=True, eq=False)
class Shares:
    """Per unit: the sum of weights (`total`), the weight of absence, that of the own record (`mine`) and its group
    (`own`, -1: none); without the record the weight of absence (`after`), and the sum (`left`)."""

    total: F64
    absent: F64
    mine: F64
    own: I64
    after: F64
    left: F64

    @classmethod
    def of(cls, people: People, gone: Without, piece: Piece, units: I64, of: I64, group: I64) -> Shares:
        """`of`: each unit's target in the piece; `group`: of each record."""
        total, absent = np.maximum(piece.total[of], 1e-300), piece.absent[of]
        own = people.place_of_own(units, piece.rows)
        mine, after = piece.weight_of(of, own), gone.weight(people, piece, units, of)
        left = np.maximum(total - absent - mine, 0.0) + after
        return cls(total, absent, mine, np.where(own >= 0, group[np.maximum(own, 0)], -1), after, left)

    @property
    def certain(self) -> bool:
        """Whether nobody can be absent, and of everybody some other record is left."""
        return bool(self.each_certain.all())

    @property
    def each_certain(self) -> Bools:
        """The same of each."""
        return np.asarray((self.absent <= 0) & (self.after <= 0) & (self.left > LEAST * self.total))
