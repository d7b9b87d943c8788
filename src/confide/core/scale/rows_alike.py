"""Rows that are alike, found batch by batch: a table of distinct rows that grows, and the place of every row in it."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

import numpy as np
import polars as pl
from numpy.typing import NDArray

from confide.core.errors import InputError
from confide.core.scale.engine import COUNT

U32 = NDArray[np.uint32]
PLACE = "__place"


class TooMany(InputError):
    """More distinct rows than there is room for: `most`, by their variables `names`."""

    def __init__(self, names: Sequence[str], most: int) -> None:
        self.names, self.most = [v for v in names if not v.startswith(PLACE)], most
        super().__init__(f"More than {most:,} rows are distinct by {', '.join(self.names)}.")

    def told(self, rows: int, memory: int, else_: str) -> InputError:
        """The same to whoever allowed so much memory for a file of so many rows, with what is enough in any case."""
        enough = ceil(memory * rows / max(self.most, 1) / 2**30)
        return InputError(
            f"Too few rows are alike by {', '.join(self.names)}: their different combinations do not fit into the "
            f'memory that is allowed. {enough}GB are enough for them, memory="{enough}GB" (on the command line '
            f"--memory {enough}GB). {else_}"
        )


class RowsAlike:
    """Distinct rows of some variables, in the order in which they came, with how many are alike and sums of others.

    `most`: so many there is room for.

    >>> alike = RowsAlike(["sex"], most=10)
    >>> alike.add(pl.DataFrame({"sex": ["f", "m", "f"]})).tolist(), alike.add(pl.DataFrame({"sex": ["m"]})).tolist()
    ([0, 1, 0], [1])
    >>> alike.table.rows()
    [('f', 2.0), ('m', 2.0)]
    """

    def __init__(self, names: Sequence[str], added: Sequence[str] = (), most: int = 2**31) -> None:
        self.names, self.added, self.most = list(names), list(added), most
        self._parts: list[pl.DataFrame] = []
        self._known: pl.DataFrame | None = None
        self._sums: NDArray[np.float64] = np.zeros((0, 1 + 2 * len(self.added)))

    def __len__(self) -> int:
        return len(self._sums)

    def add(self, batch: pl.DataFrame) -> U32:
        """Take rows in; the place of each among the distinct ones."""
        if not self.names:
            batch = batch.with_columns(pl.lit(0, dtype=pl.UInt8).alias(PLACE + "0"))
            self.names = [PLACE + "0"]
        batch = canonical(batch)
        sums = sums_of(self.added)
        here = batch.group_by(self.names, maintain_order=True).agg(sums)
        place = self._placed(here.select(self.names))
        np.add.at(self._sums, place, here.select(pl.exclude(self.names)).to_numpy())
        found = here.select(self.names).with_columns(pl.Series(PLACE, place.astype(np.uint32)))
        return joined_places(batch.select(self.names), found).to_numpy()

    def _placed(self, distinct: pl.DataFrame) -> NDArray[np.int64]:
        """The places of rows that are distinct among themselves; new ones are put at the end."""
        if self._known is None:
            self._known = distinct.head(0).with_columns(pl.Series(PLACE, [], dtype=pl.UInt32))
        at = joined_places(distinct, self._known)
        new = at.is_null()
        size = len(self)
        if size + int(new.sum()) > self.most:
            raise TooMany(self.names, self.most)
        place = at.fill_null(0).to_numpy().astype(np.int64)
        place[new.to_numpy()] = size + np.arange(int(new.sum()))
        more = distinct.filter(new).with_columns(pl.Series(PLACE, place[new.to_numpy()].astype(np.uint32)))
        self._known = pl.concat([self._known, more])
        self._sums = np.concatenate([self._sums, np.zeros((more.height, self._sums.shape[1]))])
        return place

    @property
    def table(self) -> pl.DataFrame:
        """The distinct rows, with their counts and sums."""
        assert self._known is not None
        kept = [v for v in self.names if not v.startswith(PLACE)]
        names = [s.meta.output_name() for s in sums_of(self.added)]
        return self._known.select(kept).with_columns(pl.Series(v, self._sums[:, i]) for i, v in enumerate(names))


def sums_of(added: Sequence[str]) -> list[pl.Expr]:
    """How many rows there are; of each variable the sum of what is above zero, and how many are not."""
    out = [pl.len().cast(pl.Float64).alias(COUNT)]
    for v in added:
        value = pl.col(v).cast(pl.Float64)
        above = (value > 0).fill_null(False) & value.is_not_nan().fill_null(False)
        out += [
            value.filter(above).sum().alias(f"{COUNT} {v}"),
            (~above).sum().cast(pl.Float64).alias(f"{COUNT} {v} bad"),
        ]
    return out


def both(names: Sequence[str], added: Sequence[str]) -> list[str]:
    """The columns to read: a variable of which sums are taken may make rows alike as well."""
    return list(dict.fromkeys([*names, *added]))


def canonical(frame: pl.DataFrame) -> pl.DataFrame:
    """Values that count as the same, written the same: a number that is none is missing, and 0 has no sign."""
    floats = [v for v, t in frame.schema.items() if t.is_float()]
    return frame.with_columns((pl.col(v).fill_nan(None) + 0.0).cast(frame.schema[v]) for v in floats)


def joined_places(rows: pl.DataFrame, table: pl.DataFrame) -> pl.Series:
    """The place of each row in a table of distinct rows with their places."""
    names = rows.columns
    return rows.join(table, on=names, how="left", nulls_equal=True, maintain_order="left")[PLACE]
