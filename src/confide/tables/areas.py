"""One table per area: all of them published, bounded and attacked in one call."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from confide.core.errors import InputError, did_you_mean, raise_all
from confide.core.run.progress import Progress
from confide.tables.axes import Axes, Hierarchies, Margins, axes_of
from confide.tables.checks import check_no_totals, checked_counts, checked_keys, checked_structural, text_of
from confide.tables.counting import checked_by, checked_levels, coded_column, count_column, crossed, records
from confide.tables.layout import Bools, Ints
from confide.tables.schemes.cellkey.keys import record_keys
from confide.tables.schemes.scheme import Floats, Scheme
from confide.tables.table import Table

if TYPE_CHECKING:
    from confide.tables.published_areas import PublishedTables


@dataclass(frozen=True, eq=False, repr=False)
class Tables:
    """Tables of the same variables, one per area. `counts`: areas x the shape of a table.

    >>> tables = Tables([[2, 1], [0, 3]], areas=["north", "south"], names=["sex"], levels=[["m", "f"]])
    >>> tables
    Tables of 2 areas, 6 people: sex (2)
    >>> tables["south"].counts
    array([0, 3])
    """

    counts: Ints
    areas: tuple[str, ...]
    axes: Axes
    structural: Bools
    keys: Floats | None = None

    def __init__(
        self,
        counts: ArrayLike,
        areas: Sequence[object] | None = None,
        names: Sequence[str] | None = None,
        levels: Sequence[Sequence[object]] | None = None,
        structural: ArrayLike | None = None,
        hierarchies: Hierarchies | None = None,
        keys: ArrayLike | None = None,
    ) -> None:
        array = checked_counts(counts, "A batch of tables")
        if array.ndim < 2:
            raise InputError("A batch of tables has the areas along its first dimension; for one table use Table.")
        if isinstance(areas, str) or (areas is not None and not isinstance(areas, Iterable)):
            raise InputError("areas is a list of names, one per table.")
        labels = tuple(str(k) for k in range(len(array))) if areas is None else tuple(text_of(a) for a in areas)
        if len(labels) != len(array):
            raise InputError(f"There are {len(array):,} tables, but {len(labels):,} areas are named.")
        if len(set(labels)) < len(labels):
            raise InputError("An area is named twice; every area has one table.")
        axes = axes_of(array.shape[1:], names, levels, hierarchies)
        check_no_totals(array.sum(axis=0), axes.names, axes.levels)
        impossible = checked_structural(structural, array, array.shape[1:])
        self._set(array, labels, axes, impossible, checked_keys(keys, array.shape))

    def _set(
        self, counts: Ints, areas: tuple[str, ...], axes: Axes, structural: Bools, keys: Floats | None = None
    ) -> None:
        for name, value in (
            ("counts", counts), ("areas", areas), ("axes", axes), ("structural", structural), ("keys", keys),
        ):  # fmt: skip
            object.__setattr__(self, name, value)

    @classmethod
    def _made(cls, counts: Ints, axes: Axes, structural: Bools) -> Tables:
        """From parts that were checked before; areas are numbered."""
        tables = object.__new__(cls)
        tables._set(counts, tuple(str(k) for k in range(len(counts))), axes, structural)
        return tables

    @classmethod
    def of(
        cls,
        frame: object,
        by: Sequence[str],
        area: str,
        *,
        levels: Mapping[str, Sequence[object]] | None = None,
        structural: ArrayLike | None = None,
        hierarchies: Hierarchies | None = None,
        key: str | Sequence[str] | None = None,
        vault: Any = None,
    ) -> Tables:
        """Cross-classify the records of a frame within each area; see `Table.of`, also for `key` and `vault`.

        >>> people = {"ward": ["a", "a", "b"], "sex": ["m", "f", "f"]}
        >>> Tables.of(people, by=["sex"], area="ward").counts
        array([[1, 1],
               [1, 0]])
        """
        data = records(frame)
        return cls._counted(data, by, area, None, levels, structural, hierarchies, key, vault)

    @classmethod
    def from_counts(
        cls,
        frame: object,
        area: str,
        count: str = "count",
        by: Sequence[str] | None = None,
        *,
        levels: Mapping[str, Sequence[object]] | None = None,
        structural: ArrayLike | None = None,
        hierarchies: Hierarchies | None = None,
    ) -> Tables:
        """From a tidy frame: one row per combination in an area, with its count; see `Table.from_counts`.

        >>> frame = {"ward": ["a", "b"], "sex": ["m", "f"], "count": [4, 2]}
        >>> Tables.from_counts(frame, area="ward").counts
        array([[0, 4],
               [2, 0]])
        """
        data = records(frame)
        others = [c for c in data.columns if c not in (count, area)]
        return cls._counted(data, others if by is None else by, area, count, levels, structural, hierarchies)

    @classmethod
    def _counted(
        cls, data: pl.DataFrame, by: Any, area: str, count: str | None, levels: Any, structural: Any, hierarchies: Any,
        key: Any = None, vault: Any = None,
    ) -> Tables:  # fmt: skip
        if area not in data.columns:
            raise InputError(f'There is no column "{area}" of areas.{did_you_mean(area, data.columns)}')
        names = checked_by(by, data.columns)
        if area in names:
            raise InputError(f'"{area}" is the area and cannot be a variable of the tables too.')
        weights = None if count is None else count_column(data, count)
        every = [area, *names]
        given = checked_levels(levels, every)
        coded = [coded_column(data[n], given.get(n), n) for n in every]
        _check_variables(coded, names)
        shape, flat = crossed(coded, every)
        counts = np.bincount(flat, weights=weights, minlength=int(np.prod(shape))).reshape(shape)
        labels = [v for v, _ in coded]
        keys = record_keys(data, key, vault, flat, shape)
        return cls(np.round(counts).astype(np.int64), labels[0], names, labels[1:], structural, hierarchies, keys)

    @property
    def names(self) -> tuple[str, ...]:
        return self.axes.names

    @property
    def levels(self) -> tuple[tuple[str, ...], ...]:
        return self.axes.levels

    @property
    def totals(self) -> Ints:
        """The number of people in each area."""
        return np.asarray(self.counts.reshape(len(self.counts), -1).sum(axis=1), dtype=np.int64)

    def together(self) -> Table:
        """All areas added up."""
        keys = None if self.keys is None else self.keys.sum(axis=0) % 1.0
        return Table._made(self.counts.sum(axis=0), self.axes, self.structural, keys)

    def __len__(self) -> int:
        return len(self.areas)

    def __getitem__(self, area: str | int) -> Table:
        return self._at(self.place(area))

    def _at(self, k: int) -> Table:
        keys = None if self.keys is None else self.keys[k]
        return Table._made(self.counts[k], self.axes, self.structural, keys)

    def place(self, area: str | int) -> int:
        """The position of an area, by its name; a number that is no area's name is a position."""
        if text_of(area) in self._places:
            return self._places[text_of(area)]
        if isinstance(area, (int, np.integer)) and not isinstance(area, bool) and -len(self) <= area < len(self):
            return int(area)
        if not isinstance(area, (str, int, np.integer)):
            raise InputError(f"An area is named by text or by its position, not by {type(area).__name__}.")
        near = did_you_mean(text_of(area), self.areas) if len(self.areas) <= 1000 else ""
        raise InputError(f'There is no area "{area}".{near}')

    @cached_property
    def _places(self) -> dict[str, int]:
        return {a: k for k, a in enumerate(self.areas)}

    def __iter__(self) -> Iterator[Table]:
        return (self._at(k) for k in range(len(self)))

    def publish(
        self,
        scheme: Scheme | None = None,
        margins: Margins = "none",
        *,
        cells: bool = True,
        totals: str = "separate",
        seed: int | None = None,
        vault: Any = None,
        progress: Progress = None,
    ) -> PublishedTables:
        """Publish every area's table by the same scheme; options as in `Table.publish`.

        An area's draws belong to its name and its counts: they are the same whichever other areas are published with
        it, in whatever order.
        """
        from confide.tables.publish_areas import publish_areas

        return publish_areas(self, scheme, margins, cells, totals, seed, vault, progress)

    def __repr__(self) -> str:
        shape = " x ".join(f"{n} ({len(v)})" for n, v in zip(self.names, self.levels, strict=True))
        return f"Tables of {len(self):,} areas, {int(self.counts.sum()):,} people: {shape}"


def _check_variables(coded: Sequence[tuple[list[str], Ints]], names: Sequence[str]) -> None:
    """A column with one value in each area is another name of the areas."""
    _, place = coded[0]
    used, rows = np.unique(place, return_counts=True)
    if len(used) < 2 or rows.min() < 2:
        return  # too little to tell
    wrong = []
    for name, (levels, codes) in zip(names, coded[1:], strict=True):
        pairs = len(np.unique(place * len(levels) + codes))
        if len(levels) > 1 and pairs == len(used):
            wrong.append(
                f'"{name}" has one value in each area, so it says something of the areas and is no variable of their '
                "tables; list the variables with by=[...]."
            )
    raise_all(wrong)
