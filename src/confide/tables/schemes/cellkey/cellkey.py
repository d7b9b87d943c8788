"""The cell key method: noise that is looked up, so that the same people always get the same noise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from confide.core.errors import InputError
from confide.core.registry import registered
from confide.tables.layout import Ints
from confide.tables.schemes.cellkey.ptable import PTable
from confide.tables.schemes.scheme import Floats


@registered
@dataclass(frozen=True)
class CellKey:
    r"""Add noise to each count, looked up by the cell's key. A table says how often, :math:`p(c \to x)`.

    Every person has a random key in [0, 1); a cell's key is the fractional part of the sum of its people's keys. The
    same cell has the same noise wherever it appears. `Table.of(..., key="id", vault=...)` derives the keys of people
    from a vault's secret. A table of mere counts, published with a vault, has a key for each cell, by its levels and
    its count. An intruder can state the support: all counts c with :math:`p(c \to x) > 0`.

    >>> import confide as cf
    >>> scheme = cf.CellKey.of(largest=2, variance=1.0)
    >>> published = cf.Table([0, 1, 7, 30]).publish(scheme, seed=3)
    >>> published.frame["lower"][0], published.frame["upper"][0]
    (0, 2)
    """

    table: PTable
    scheme: ClassVar[str] = "cell_key"
    stated_by: ClassVar[str] = "of"
    random: ClassVar[bool] = True
    keyed: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not isinstance(self.table, PTable):
            raise InputError("CellKey needs a PTable: CellKey.of(largest=2, variance=1), or PTable.from_frame(frame).")

    @classmethod
    def of(cls, largest: int, variance: float, smallest: int = 0) -> CellKey:
        """Noise of at most `largest`, mean 0 and a given variance, as spread out as possible (largest entropy).

        Zeros stay zeros. `smallest`: counts from 1 to this are never published.

        >>> CellKey.of(largest=2, variance=1.0).outcomes(0)
        {0: 1.0}
        """
        return cls(PTable.of(largest, variance, smallest=smallest))

    @property
    def sharp(self) -> bool:
        return not self.table.gaps()

    def apply(self, counts: Ints, draws: Floats) -> Ints:
        return self.table.lookup(counts, draws)

    def interval(self, published: Ints) -> tuple[Ints, Ints]:
        return self.table.support(published)

    def outcomes(self, count: int) -> Mapping[int, float]:
        return self.table.outcomes(count)
