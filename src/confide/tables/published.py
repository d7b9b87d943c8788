"""A table as published: what everybody sees, what an intruder can state of it, and, privately, the true counts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import index
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from confide.core.errors import InputError, raise_all
from confide.core.random.origin import Origin
from confide.core.result import Public
from confide.core.run.progress import Progress
from confide.tables.axes import Axes
from confide.tables.drafts import TidyFrame, draft_text, marked, refusal_of, seen_outside, stated_by_margin
from confide.tables.layout import UNBOUNDED, Bools, Ints, Layout, Part
from confide.tables.table import Table, cell_frame

if TYPE_CHECKING:
    from confide.tables.risk.attack_result import TableAttack

Constraint = tuple[Iterable[int], int, int]


@dataclass(frozen=True, eq=False, repr=False)
class Published(Public):
    """What `Table.publish` returns. Arrays are of length Q: one entry per published quantity, in the order of `layout`.

    `values` are published where `shown`; `lower` and `upper` are what somebody who knows the scheme can state of each
    quantity by itself. `sharp`: every whole number between them is possible. `audit`: what a scheme checked.
    `origin`: where its draws come from, private; None where nothing was drawn.

    >>> import confide as cf
    >>> published = cf.Table([[1, 3], [4, 0]]).publish(cf.RoundCells(3), margins="total")
    >>> published
    Published: 4 cells and the total of v1 x v2, by RoundCells(base=3, how='conventional', ties='up')
    """

    table: Table
    layout: Layout
    values: Ints
    shown: Bools
    lower: Ints
    upper: Ints
    scheme: Any = None
    sharp: bool = True
    audit: pl.DataFrame | None = None
    origin: Origin | None = None

    @classmethod
    def of(cls, table: Table, constraints: Sequence[Constraint]) -> Published:
        """Any release at all: (cells, lower, upper) for each sum that can be stated. Cells are positions in C order.

        >>> import confide as cf
        >>> table = cf.Table([0, 1, 1, 1])
        >>> sums = [([0, 1, 2], 2, 2), ([0, 2, 3], 2, 2), ([0, 1, 3], 2, 2)]
        >>> cf.sap(Published.of(table, [([0], 0, 1), *sums]), known=[0])["sap"].to_list()
        [1.0]
        """
        if not isinstance(table, Table) or isinstance(constraints, str) or not isinstance(constraints, Iterable):
            raise InputError("Published.of takes a Table and a list of (cells, lower, upper).")
        parts, lower, upper = [], [], []
        counts = table.counts.ravel()
        for k, constraint in enumerate(constraints):
            cells, low, high = _checked(constraint, k, counts)
            entry = np.full(counts.size, -1, dtype=np.int64)
            entry[cells] = 0
            parts.append(Part((f"constraint {k + 1}",), entry, 1, (("",),)))
            lower.append(max(low, 0))
            upper.append(high)
        if not parts:
            raise InputError("A release needs at least one constraint (cells, lower, upper).")
        low_, high_ = np.array(lower, dtype=np.int64), np.array(upper, dtype=np.int64)
        layout = Layout(counts.size, tuple(parts))
        return cls(table, layout, np.where(low_ == high_, low_, -1), low_ == high_, low_, high_)

    @property
    def refusal(self) -> str:
        """Why it may not be published; empty where it may be.

        >>> import confide as cf
        >>> cf.Table([1, 2]).publish(cf.SmallCounts(3), seed=1)
        Published: 2 cells of v1, by SmallCounts(base=3); a draft, not for publication
        """
        return refusal_of(self.origin)

    @cached_property
    def truth(self) -> Ints:
        """The true value of each quantity. Private."""
        return self.layout.sums(self.table.counts.ravel())

    @cached_property
    def cell_bounds(self) -> tuple[Ints, Ints]:
        """What can be stated of each cell by what is published of it alone."""
        lower, upper = np.zeros(self.layout.cells, np.int64), np.full(self.layout.cells, UNBOUNDED)
        own = np.flatnonzero(self.layout.single >= 0)
        np.maximum.at(lower, self.layout.single[own], self.lower[own])
        np.minimum.at(upper, self.layout.single[own], self.upper[own])
        upper[self.table.structural.ravel()] = 0
        return lower, upper

    def beside(self, other: Published) -> Published:
        """Two releases of the same table, seen together: say rounded cells and exact margins. A draft makes a draft.

        >>> import confide as cf
        >>> table = cf.Table([[1, 2], [3, 1]])
        >>> both = table.publish(cf.RoundCells(3)).beside(table.publish(margins="all", cells=False))
        >>> len(both.layout.parts)
        4
        """
        if not isinstance(other, Published):
            raise InputError("beside takes another release: table.publish(...).")
        if other.table is not self.table and not np.array_equal(other.table.counts, self.table.counts):
            raise InputError("Only releases of the same table can be put side by side.")
        layout = Layout(self.layout.cells, (*self.layout.parts, *other.layout.parts))

        def joined(name: str) -> Any:
            return np.concatenate([getattr(self, name), getattr(other, name)])

        return Published(
            self.table,
            layout,
            joined("values"),
            joined("shown"),
            joined("lower"),
            joined("upper"),
            sharp=self.sharp and other.sharp,
            origin=self.origin if self.refusal else other.origin,
        )

    def bounds(self, sharp: bool = True, progress: Progress = None) -> pl.DataFrame:
        """The tightest whole numbers that can be stated of each cell: cell, its levels, lower, upper, proven.

        All that is published is used together: by tree or by flow where sets nest in one or two families, else by
        integer programmes; `proven` is False where a solver stopped before its proof (such a bound holds, but may not
        be the tightest). `sharp=False` only propagates bounds between sets, which is quick on huge tables. An upper
        bound of null: there is none.

        >>> import confide as cf
        >>> cf.Table([[1, 2], [3, 1]]).publish(margins="all", cells=False).bounds()["upper"].to_list()
        [3, 3, 4, 3]
        """
        from confide.tables.solve.bounds import bounds_of

        found = bounds_of(self, sharp, progress)
        upper = pl.Series(found.upper)
        return cell_frame(self.table.axes).select(
            pl.Series("cell", np.arange(self.layout.cells)),
            pl.all(),
            lower=pl.Series(found.lower),
            upper=pl.when(upper < UNBOUNDED).then(upper).otherwise(None),
            proven=pl.Series(found.proven),
        )

    def attack(self, known: Any = None, **options: Any) -> TableAttack:
        """What an intruder who knows some people recovers; see `confide.sap` for the options."""
        from confide.tables.risk.attack import OPTIONS, attack_table
        from confide.tables.risk.who_is_known import check_options

        check_options(options, OPTIONS)
        return attack_table(self, known, **options)

    @property
    def frame(self) -> TidyFrame:
        """One row per published quantity: margin, entry, the level of each variable (null where it is summed over),
        published (null where hidden), lower and upper (what can be stated of it; null: no bound)."""
        names, entries = [], []
        levels: dict[str, list[str | None]] = {n: [] for n in self.table.names}
        for part in self.layout.parts:
            names += [" x ".join(part.name) or "total"] * part.size
            entries += entry_labels(part)
            for variable, column in entry_levels(part, self.table.axes).items():
                levels[variable] += column
        frame = pl.DataFrame(
            {"margin": names, "entry": entries, **levels}, schema_overrides=dict.fromkeys(levels, pl.String)
        )
        return marked(frame.with_columns(*stated(self.values, self.shown, self.lower, self.upper)), self.origin)

    def public(self, empty_levels: bool = True) -> TidyFrame:
        """The table as it goes out: without what can be stated of each count. `empty_levels=False` leaves out levels of
        which nothing but zeros is published: where records were counted, a level that is named tells that somebody has
        it.

        >>> import confide as cf
        >>> published = cf.Table([0, 1, 9], ["sex"], [["f", "m", "x"]]).publish(cf.RoundCells(5))
        >>> published.public().columns, published.public(empty_levels=False)["sex"].to_list()
        (['margin', 'sex', 'published'], ['x'])
        """
        return seen_outside(self.frame, self.origin, empty_levels)

    def summary(self) -> pl.DataFrame:
        """One row per margin: counts, hidden (not shown), exact (what can be stated is one number).

        >>> import confide as cf
        >>> cf.Table([1, 5, 9]).publish(cf.RoundCells(5), margins="total").summary().rows()
        [('v1', 3, 0, 0), ('total', 1, 0, 0)]
        """
        return stated_by_margin(self.frame)

    def __repr__(self) -> str:
        by = f", by {self.scheme}" if self.scheme else ""
        return f"Published: {parts_text(self.layout, self.table.names)}{by}{draft_text(self.origin)}"


def stated(values: Ints, shown: Bools, lower: Ints, upper: Ints) -> tuple[pl.Expr, pl.Expr, pl.Expr]:
    """Columns published (null where hidden), lower, upper (null where there is none)."""
    return (
        pl.when(pl.Series(shown)).then(pl.Series(values)).otherwise(None).alias("published"),
        pl.lit(pl.Series(lower)).alias("lower"),
        pl.when(pl.Series(upper) < UNBOUNDED).then(pl.Series(upper)).otherwise(None).alias("upper"),
    )


def parts_text(layout: Layout, names: tuple[str, ...]) -> str:
    """Such as "6 cells and the total of county x race"."""
    said = []
    for part in layout.parts:
        if part.name == names and part.size == layout.cells:
            said.append(f"{part.size:,} cells")
        elif part.name == ():
            said.append("the total")
        else:
            said.append(f"the margin {' x '.join(part.name)}")
    if len(said) > 6:
        said = [*said[:5], f"{len(said) - 5} more"]
    text = ", ".join(said[:-1]) + (" and " if len(said) > 1 else "") + said[-1]
    return f"{text} of {' x '.join(names)}"


def entry_levels(part: Part, axes: Axes) -> dict[str, list[str | None]]:
    """For each variable of the table its level, or group of levels, in each entry of a margin; None where summed."""
    out: dict[str, list[str | None]] = {n: [None] * part.size for n in axes.names}
    shape = [len(v) for v in part.levels]
    if int(np.prod(shape)) != part.size:
        return out
    codes = np.indices(shape).reshape(len(shape), part.size)
    for name, levels, code in zip(part.name, part.levels, codes, strict=False):
        if any(r.name == name for readings in axes.readings for r in readings):
            out[axes.names[axes.find(name)[0]]] = [levels[k] for k in code]
    return out


def entry_labels(part: Part) -> list[str]:
    """The levels of each entry of a margin, as one text."""
    labels = [""]
    for levels in part.levels:
        labels = [f"{a}, {b}" if a else b for a in labels for b in levels]
    return labels


def _checked(constraint: Constraint, k: int, counts: Ints) -> tuple[Ints, int, int]:
    what = f"Constraint {k + 1}"
    try:
        given, low, high = constraint
        cells = np.array(sorted({index(c) for c in given}), dtype=np.int64)
        low, high = index(low), min(index(high), UNBOUNDED)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{what} must be (cells, lower, upper): positions of cells and two whole numbers.") from None
    wrong = []
    if not len(cells):
        wrong.append(f"{what} names no cell.")
    elif cells[0] < 0 or cells[-1] >= counts.size:
        wrong.append(f"{what} names a cell that is not there; positions run from 0 to {counts.size - 1}.")
    elif low > high:
        wrong.append(f"{what} has a lower bound above its upper bound.")
    elif not low <= int(counts[cells].sum()) <= high:
        wrong.append(f"{what} contradicts the table: the sum of its cells lies outside its bounds.")
    raise_all(wrong)
    return cells, low, high
