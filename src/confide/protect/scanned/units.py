"""Units of several rows in a file that is read in parts: which rows are of one unit, what is drawn for units, and the
pseudonyms that are released. Eight bytes a row are held, and some for each unit."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

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
    found = UnitNumbers(name, data.height)
    for at, batch in data.batches([name], rows):
        found.add(at, batch)
    return found.out


class UnitNumbers:
    """The number of each row's unit, batch by batch in the order of rows. `out`: of all rows."""

    def __init__(self, name: str, rows: int) -> None:
        self.name, self.alike = name, RowsAlike([name])
        self.first, self.out = np.zeros(0, dtype=np.int64), np.empty(rows, dtype=np.int64)

    def add(self, at: int, batch: pl.DataFrame) -> None:
        """The next batch; its first row has this number."""
        column = batch.get_column(self.name)
        plain = column.cast(pl.String) if _listed(column.dtype) else column
        place = self.alike.add(plain.to_frame()).astype(np.int64)
        new, row = np.unique(place, return_index=True)
        self.first = np.concatenate([self.first, at + row[new >= len(self.first)]])
        missing = (column.fill_nan(None) if column.dtype.is_float() else column).is_null().to_numpy()
        self.out[at : at + batch.height] = np.where(missing, at + np.arange(batch.height), self.first[place])


class OnDisk:
    """Whole numbers in a file, for workers that see it: it pickles as a path, and reads what is asked for."""

    def __init__(self, path: Path, numbers: I64) -> None:
        self.path = path.absolute()
        np.save(self.path, numbers.astype(np.min_scalar_type(int(numbers.max(initial=0)))))

    def __getitem__(self, at: Any) -> Any:
        return np.asarray(np.load(self.path, mmap_mode="r")[at], dtype=np.int64)


def _listed(dtype: pl.DataType) -> bool:
    return isinstance(dtype, (pl.Categorical, pl.Enum))


class Pseudonyms:
    """A random number from 1 upwards for each unit of which a row is released, once all rows were seen."""

    def __init__(self, rows: int) -> None:
        self.there = np.zeros(rows, dtype=bool)
        self.numbers: I64 | OnDisk | None = None

    def see(self, units: I64) -> None:
        """Units of some released rows."""
        self.there[units] = True

    def seen(self) -> I64:
        """Units that were seen, in rising order."""
        return np.flatnonzero(self.there)

    def settle(self, draws: Draws) -> None:
        """All were seen."""
        released = self.seen()
        numbers = np.zeros(len(self.there), dtype=np.int64)
        numbers[released[draws.order(released)]] = np.arange(1, len(released) + 1)
        self.numbers = numbers

    def put(self, path: Path) -> None:
        """Keep them in a file, where they are settled, so that this pickles as little."""
        assert isinstance(self.numbers, np.ndarray)
        self.numbers, self.there = OnDisk(path, self.numbers), np.zeros(0, dtype=bool)

    def of(self, units: I64) -> I64:
        """The pseudonyms of units."""
        assert self.numbers is not None
        return np.asarray(self.numbers[units], dtype=np.int64)


class SomeUnits(Pseudonyms):
    """Units of some released rows, to be told to others."""

    def __init__(self) -> None:
        super().__init__(0)
        self.held: list[I64] = []

    def see(self, units: I64) -> None:
        """See `Pseudonyms`."""
        self.held.append(np.unique(units))

    def seen(self) -> I64:
        """See `Pseudonyms`."""
        found = np.unique(np.concatenate([np.zeros(0, dtype=np.int64), *self.held]))
        return found.astype(np.min_scalar_type(int(found.max(initial=0))))


Picked = tuple[Records, NDArray[np.int32], dict[str, I64]]


class Heads:
    """One record of each unit, for a step that acts on units: the first that is there. `n`: rows of the file."""

    def __init__(self, step: Mechanism, n: int) -> None:
        self.step, self.many = step, 0
        self.names = tuple(dict.fromkeys((*step.variables, *step.needs)))
        self.n = n
        self.at: NDArray[np.int32] = np.zeros(0, dtype=np.int32)  # made when rows come: workers need neither
        self.size: NDArray[np.int32] = np.zeros(0, dtype=np.int32)
        self.kept: list[Records] = []
        self.differ: dict[str, set[int]] = {v: set() for v in self.names}

    def picked(self, original: Records, current: Records) -> Picked:  # noqa: ARG002 - as `Gathering` has it
        """One record of each unit of a batch, how many rows these have, and units whose rows differ."""
        mine = current.select(self.names)
        assert mine.units is not None
        _, first, of, many = np.unique(mine.units, return_index=True, return_inverse=True, return_counts=True)
        return mine.take(first), many.astype(np.int32), self._unlike(mine.take(first[of]), mine)

    def add(self, picked: Picked) -> None:
        """What was picked of one more batch."""
        one, many, differ = picked
        units = one.units
        assert units is not None
        if len(self.at) < self.n:
            self.at, self.size = np.full(self.n, -1, dtype=np.int32), np.zeros(self.n, dtype=np.int32)
        self.size[units] += many
        self._note(differ)
        self.kept.append(one)
        new = units[self.at[units] < 0]
        self.at[new] = self.many + np.arange(len(new))
        self.many += len(new)

    def _unlike(self, one: Records, other: Records) -> dict[str, I64]:
        """Units that have different values in two sets of rows of the same units, by variable."""
        units = other.units
        assert units is not None
        return {
            v: np.unique(
                units[~((one[v].values == other[v].values) | (one[v].missing & other[v].missing))]
            ) for v in self.names
        }  # fmt: skip

    def _note(self, differ: Mapping[str, I64]) -> None:
        for v, units in differ.items():
            self.differ[v].update(units.tolist())

    def found(self) -> Records:
        """The first record of each unit, in the order in which they came; refused where rows of a unit differ."""
        units = np.concatenate([r.units for r in self.kept if r.units is not None])
        rows = np.concatenate([r.rows for r in self.kept])
        columns = [self.kept[0][v].with_values(np.concatenate([r[v].values for r in self.kept])) for v in self.names]
        every = Records(columns, len(rows), rows, units, self.kept[0].file)
        place = self.at[units]
        first = np.unique(place, return_index=True)[1]
        self._note(self._unlike(every.take(first[place]), every))
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
