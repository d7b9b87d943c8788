"""Units of several rows in a file that is read in parts: which rows are of one unit, what is drawn for units, and the
pseudonyms that are released. Eight bytes a row are held, and some for each unit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from numpy.typing import NDArray

from confide.core.random.draws import Draws
from confide.core.scale.rows_alike import RowsAlike
from confide.frames.columns import I64, Bools, Records
from confide.frames.scan.scan import Scan
from confide.protect.seam.fitted import Applied, Fitted
from confide.protect.shared.per_unit import not_constant

if TYPE_CHECKING:
    from confide.protect.seam.mechanism import Mechanism


def units_of_rows(data: Scan, name: str, rows: int) -> I64:
    """The number of each row's unit, as `unit_numbers` gives it of a file in memory; one pass over the column."""
    alike, first, out = RowsAlike([name]), np.zeros(0, dtype=np.int64), np.empty(data.height, dtype=np.int64)
    for at, batch in data.batches([name], rows):
        plain = batch.with_columns(pl.col(name).cast(pl.String)) if _listed(data.types[name]) else batch
        place = alike.add(plain).astype(np.int64)
        new, row = np.unique(place, return_index=True)
        first = np.concatenate([first, at + row[new >= len(first)]])
        column = batch.get_column(name)
        missing = (column.fill_nan(None) if column.dtype.is_float() else column).is_null().to_numpy()
        out[at : at + batch.height] = np.where(missing, at + np.arange(batch.height), first[place])
    return out


def _listed(dtype: pl.DataType) -> bool:
    return isinstance(dtype, (pl.Categorical, pl.Enum))


class Pseudonyms:
    """A random number from 1 upwards for each unit of which a row is released, once all rows were seen."""

    def __init__(self, rows: int) -> None:
        self.there = np.zeros(rows, dtype=bool)
        self.numbers: I64 | None = None

    def see(self, units: I64) -> None:
        """Units of some released rows."""
        self.there[units] = True

    def settle(self, draws: Draws) -> None:
        """All were seen."""
        released = np.flatnonzero(self.there)
        self.numbers = np.zeros(len(self.there), dtype=np.int64)
        self.numbers[released[draws.order(released)]] = np.arange(1, len(released) + 1)

    def of(self, units: I64) -> I64:
        """The pseudonyms of units."""
        assert self.numbers is not None
        return self.numbers[units]


class Heads:
    """One record of each unit, for a step that acts on units: the first that is there. `n`: rows of the file."""

    def __init__(self, step: Mechanism, n: int) -> None:
        self.step, self.many = step, 0
        self.names = tuple(dict.fromkeys((*step.variables, *step.needs)))
        self.at: NDArray[np.int32] = np.full(n, -1, dtype=np.int32)
        self.size: NDArray[np.int32] = np.zeros(n, dtype=np.int32)
        self.kept: list[Records] = []
        self.differ: dict[str, set[int]] = {v: set() for v in self.names}

    def picked(self, original: Records, current: Records) -> Records:  # noqa: ARG002 - as `Gathering` has it
        """What is looked at of a batch."""
        return current.select(self.names)

    def add(self, mine: Records) -> None:
        """The rows of one more batch."""
        assert mine.units is not None
        units, first, of, many = np.unique(mine.units, return_index=True, return_inverse=True, return_counts=True)
        self.size[units] += many.astype(np.int32)
        self._compare(mine.take(first[of]), mine)
        self.kept.append(mine.take(first))
        new = units[self.at[units] < 0]
        self.at[new] = self.many + np.arange(len(new))
        self.many += len(new)

    def _compare(self, one: Records, other: Records) -> None:
        """Units that have different values in two sets of rows of the same units."""
        assert other.units is not None
        for v, held in self.differ.items():
            same = (one[v].values == other[v].values) | (one[v].missing & other[v].missing)
            held.update(other.units[~same].tolist())

    def found(self) -> Records:
        """The first record of each unit, in the order in which they came; refused where rows of a unit differ."""
        units = np.concatenate([r.units for r in self.kept if r.units is not None])
        rows = np.concatenate([r.rows for r in self.kept])
        columns = [self.kept[0][v].with_values(np.concatenate([r[v].values for r in self.kept])) for v in self.names]
        every = Records(columns, len(rows), rows, units, self.kept[0].file)
        place = self.at[units]
        first = np.unique(place, return_index=True)[1]
        self._compare(every.take(first[place]), every)
        for v, held in self.differ.items():
            if held:
                raise not_constant(self.step.where, v, len(held))
        return every.take(first)

    def applied(self, fitted: Fitted, heads: Records, draws: Draws) -> tuple[ByUnit, int | None]:
        """What becomes of the rows of all units; and how many are left, where some are left out."""
        made = fitted.apply(heads, heads, draws)
        if made.rows is None:
            return ByUnit(self.at, {c.name: c.values for c in made.columns}, None), None
        assert heads.units is not None
        chosen = np.zeros(len(self.at), dtype=bool)
        chosen[heads.units[made.rows]] = True
        return ByUnit(self.at, {}, chosen), int(self.size[chosen].sum())


class ByUnit:
    """What a step did to units, done to their rows. `at`: the place of each unit; `values`: by place; `chosen`: which
    units are left, None for all."""

    def __init__(self, at: NDArray[np.int32], values: dict[str, I64], chosen: Bools | None) -> None:
        self.at, self.values, self.chosen = at, values, chosen

    def apply(self, original: Records, current: Records, draws: Draws) -> Applied:  # noqa: ARG002 - of `ByRow`
        assert current.units is not None
        if self.chosen is not None:
            return Applied(rows=np.flatnonzero(self.chosen[current.units]))
        place = self.at[current.units]
        return Applied([current[v].with_values(x[place]) for v, x in self.values.items()])
