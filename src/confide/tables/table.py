"""A table of counts: a cross-classification with every combination present, empty ones too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from narwhals.dependencies import is_pandas_dataframe
from numpy.typing import ArrayLike, NDArray

from confide.core.errors import InputError, did_you_mean
from confide.tables.axes import Axes, Hierarchies, Margins, axes_of
from confide.tables.checks import (
    check_no_totals,
    checked_counts,
    checked_keys,
    checked_structural,
    crosstab_labels,
    text_of,
)
from confide.tables.counting import checked_by, checked_levels, coded_column, count_column, crossed, records
from confide.tables.layout import Bools, Ints
from confide.tables.schemes.cellkey.keys import record_keys

if TYPE_CHECKING:
    from confide.tables.published import Published
    from confide.tables.schemes.scheme import Scheme


@dataclass(frozen=True, eq=False, repr=False)
class Table:
    """Counts by one or more variables.

    `counts` is an array of whole numbers with one dimension a variable, or what pandas.crosstab returns. `names` and
    `levels` label it (default: v1, v2, ... and 0, 1, ...). `structural`: a mask, True where a combination is
    impossible, which everybody knows.
    `hierarchies` groups levels: {variable: {grouping: {group: [levels]}}}; groupings can be named in margins, and
    those of one variable must nest. `keys`: cell keys in [0, 1) for `CellKey`; usually made by `Table.of`.

    >>> table = Table([[1, 3, 0], [4, 0, 0], [3, 2, 0]], names=["VAR1", "VAR2"], levels=["ABC", "DEF"])
    Traceback (most recent call last):
    confide.InputError: levels is a list of lists, one a variable, as [["m", "f"], ["young", "old"]].
    >>> table = Table([[1, 3, 0], [4, 0, 0]], names=["county", "race"], levels=[["A", "B"], ["x", "y", "z"]])
    >>> table
    Table of 8 people: county (2) x race (3), 3 of 6 cells empty
    >>> table.margin(["county"])
    array([4, 4])
    """

    counts: Ints
    names: tuple[str, ...] = ()
    levels: tuple[tuple[str, ...], ...] = ()
    structural: Bools = field(default_factory=lambda: np.zeros(0, dtype=bool))
    keys: NDArray[np.float64] | None = None
    axes: Axes = field(default=None)  # type: ignore[assignment]

    def __init__(
        self,
        counts: Any,
        names: Sequence[str] | None = None,
        levels: Sequence[Sequence[object]] | None = None,
        structural: ArrayLike | None = None,
        hierarchies: Hierarchies | None = None,
        keys: ArrayLike | None = None,
    ) -> None:
        if is_pandas_dataframe(counts):
            names, levels = crosstab_labels(counts, names, levels)
            counts = counts.to_numpy()
        array = checked_counts(counts)
        if array.ndim == 0:
            array = array.reshape(1)
        axes = axes_of(array.shape, names, levels, hierarchies)
        check_no_totals(array, axes.names, axes.levels)
        self._set(array, axes, checked_structural(structural, array, array.shape), checked_keys(keys, array.shape))

    def _set(self, counts: Ints, axes: Axes, structural: Bools, keys: NDArray[np.float64] | None) -> None:
        for name, value in (
            ("counts", counts), ("names", axes.names), ("levels", axes.levels), ("structural", structural),
            ("keys", keys), ("axes", axes),
        ):  # fmt: skip
            object.__setattr__(self, name, value)

    @classmethod
    def _made(cls, counts: Ints, axes: Axes, structural: Bools, keys: NDArray[np.float64] | None = None) -> Table:
        """From parts that were checked before."""
        table = object.__new__(cls)
        table._set(counts, axes, structural, keys)
        return table

    @classmethod
    def of(
        cls,
        frame: object,
        by: Sequence[str],
        *,
        levels: Mapping[str, Sequence[object]] | None = None,
        structural: ArrayLike | None = None,
        hierarchies: Hierarchies | None = None,
        key: str | Sequence[str] | None = None,
        vault: Any = None,
    ) -> Table:
        """Cross-classify the records of a frame. Combinations that nobody has are there, with a count of 0.

        Levels are those of an Enum (an ordered or unordered pandas Categorical) in their order, else the values that
        occur, sorted; `levels` names them for a variable, also ones that nobody has. Missing values form a level of
        their own.

        Keys of people, for `CellKey`; the key of a cell is the fractional part of their sum. With a `vault`, `key`
        names the columns that identify a person ("id", or ["house", "person"]), and keys are derived from the vault's
        secret: the same people have the same noise in every table of every file that is counted with this vault.
        Without `key` they are derived from whole records. Without a vault, `key` is a column of numbers in [0, 1).

        >>> people = {"county": ["A", "A", "B"], "race": ["white", "black", "black"]}
        >>> Table.of(people, by=["county", "race"]).counts
        array([[1, 1],
               [1, 0]])
        """
        data = records(frame)
        names = checked_by(by, data.columns)
        given = checked_levels(levels, names)
        coded = [coded_column(data[n], given.get(n), n) for n in names]
        shape, flat = crossed(coded, names)
        counts = np.bincount(flat, minlength=int(np.prod(shape))).reshape(shape)
        keys = record_keys(data, key, vault, flat, shape)
        return cls(counts, names, [v for v, _ in coded], structural, hierarchies, keys)

    @classmethod
    def from_counts(
        cls,
        frame: object,
        count: str = "count",
        by: Sequence[str] | None = None,
        *,
        levels: Mapping[str, Sequence[object]] | None = None,
        structural: ArrayLike | None = None,
        hierarchies: Hierarchies | None = None,
    ) -> Table:
        """From a tidy frame: one row a combination, with its count. `by`: default all other columns.

        Combinations that are not listed count 0; those listed more than once are added up.

        >>> Table.from_counts({"sex": ["m", "f"], "count": [4, 0]}).counts
        array([0, 4])
        """
        data = records(frame)
        names = checked_by([c for c in data.columns if c != count] if by is None else by, data.columns)
        numbers = count_column(data, count)
        given = checked_levels(levels, names)
        coded = [coded_column(data[n], given.get(n), n) for n in names]
        shape, flat = crossed(coded, names)
        counts = np.bincount(flat, weights=numbers, minlength=int(np.prod(shape))).reshape(shape)
        return cls(np.round(counts).astype(np.int64), names, [v for v, _ in coded], structural, hierarchies)

    @property
    def total(self) -> int:
        """The number of people."""
        return int(self.counts.sum())

    def margin(self, names: Sequence[str]) -> Ints:
        """The table summed over all other variables; names may be groupings.

        >>> Table([[1, 2], [3, 4]], names=["a", "b"]).margin(["b"])
        array([4, 6])
        """
        if isinstance(names, str):
            raise InputError(f'margin takes a list of variables; for one write margin(["{names}"]).')
        part = self.axes.part(list(names))
        sums = np.bincount(part.entry, weights=self.counts.ravel(), minlength=part.size)
        return np.round(sums).astype(np.int64).reshape([len(v) for v in part.levels])

    def given(self, conditions: Mapping[str, object] | None = None, **more: object) -> Table:
        """The conditional table of the people with certain levels of some variables: what somebody looks at who
        knows them of a target.

        >>> Table([[1, 2], [3, 0]], names=["sex", "ill"], levels=[["m", "f"], ["no", "yes"]]).given(sex="f").counts
        array([3, 0])
        """
        if conditions is not None and not isinstance(conditions, Mapping):
            raise InputError('given takes levels by variable, as given(sex="f") or given({"sex": "f"}).')
        wanted = {**(conditions or {}), **more}
        at = [place_of(self.axes, n, v) for n, v in wanted.items()]
        index: list[Any] = [slice(None)] * self.counts.ndim
        for axis, level in at:
            index[axis] = level
        kept = tuple(r for i, r in enumerate(self.axes.readings) if not isinstance(index[i], int))
        if not kept:
            raise InputError("Every variable is given, so that no table is left; leave out at least one.")
        where = tuple(index)
        keys = None if self.keys is None else self.keys[where]
        return Table._made(self.counts[where], Axes(kept), self.structural[where], keys)

    def publish(
        self,
        scheme: Scheme | None = None,
        margins: Margins = "none",
        *,
        cells: bool = True,
        totals: str = "separate",
        seed: int | None = None,
        vault: Any = None,
    ) -> Published:
        """Publish the table by a scheme (default: exact counts).

        `margins`: "none", "total", "all", or a list of lists of variables or groupings ([] is the total).
        `cells=False`: margins only. `totals`: "separate" (each margin goes through the scheme) or "summed" (margins
        are sums of published cells, and tell an intruder nothing more).

        A random scheme draws from fresh entropy, or with a `vault` (a private folder) from its secret, the table, the
        scheme, the margins and the `seed`, so that the same release can be made again and nobody outside can. A seed
        without a vault makes a draft, not for publication: anybody can try seeds out.

        >>> import confide as cf
        >>> Table([2, 1, 3]).publish(cf.RoundCells(5), margins="total").frame["published"].to_list()
        [0, 0, 5, 5]
        """
        from confide.tables.publish import publish

        return publish(self, scheme, margins, cells, totals, seed, vault)

    def frame(self) -> pl.DataFrame:
        """One row a cell: the levels, and the count.

        >>> Table([2, 1]).frame().rows()
        [('0', 2), ('1', 1)]
        """
        return cell_frame(self.axes).with_columns(count=pl.Series(self.counts.ravel()))

    def __repr__(self) -> str:
        shape = " x ".join(f"{n} ({len(v)})" for n, v in zip(self.names, self.levels, strict=True))
        empty = int((self.counts == 0).sum())
        return f"Table of {self.total:,} people: {shape}, {empty:,} of {self.counts.size:,} cells empty"


def cell_frame(axes: Axes) -> pl.DataFrame:
    """The levels of every cell, in C order."""
    codes = np.indices(axes.shape).reshape(len(axes.shape), -1)
    return pl.DataFrame(
        {
            n: pl.Series(n, np.array(v, dtype=object)[c], dtype=pl.String)
            for n, v, c in zip(axes.names, axes.levels, codes, strict=True)
        }
    )


def place_of(axes: Axes, name: str, level: object) -> tuple[int, int]:
    """The axis of a variable and the position of one of its levels."""
    axis, reading = axes.find(name)
    if reading is not axes.readings[axis][0]:
        raise InputError(f'"{name}" is a grouping; give a level of "{axes.names[axis]}" instead.')
    text = text_of(level)
    if text not in reading.levels:
        raise InputError(f'"{name}" has no such level.{did_you_mean(text, reading.levels)}')
    return axis, reading.levels.index(text)
