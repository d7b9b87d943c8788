"""How the records of a piece are read: what each way of reading them has in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from confide.attack.learning.attributes.absence import Shares
from confide.attack.learning.attributes.law import Law
from confide.attack.learning.attributes.set_medians import Read
from confide.attack.learning.attributes.weights import Piece
from confide.frames.columns import F64, I64

if TYPE_CHECKING:
    from confide.attack.learning.attributes.predictive import Reading


@dataclass(frozen=True, eq=False)
class Way:
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

    def medians(self, piece: Piece, units: I64, of: I64, weight: F64, group: I64) -> tuple[I64, Read] | None:  # noqa: ARG002
        """Places of some of them, and all that a loss by medians asks of their laws, where it is had without laws."""
        return None

    def shares(self, piece: Piece, units: I64, of: I64, group: I64) -> Shares:
        """What concerns own records."""
        return Shares.of(self.reading.people, self.reading.gone, piece, units, of, group)
