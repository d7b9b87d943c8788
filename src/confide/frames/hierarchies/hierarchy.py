"""Hierarchy: ever broader forms of one variable, from its values as they are to leaving it out."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import polars as pl

from confide.core.documents.schema import TEXT, JsonSchema, Schemas
from confide.core.documents.statement import Statement
from confide.core.errors import InputError, did_you_mean
from confide.frames.columns import Column, Kind, encode_column, readable
from confide.frames.hierarchies.checks import check, level_names
from confide.frames.hierarchies.dates import periods_of
from confide.frames.hierarchies.groups import Groups, Value
from confide.frames.hierarchies.intervals import Intervals
from confide.frames.hierarchies.made import nested, ordered, proposed
from confide.frames.hierarchies.tree import Tree

FORMS = ("widths", "breaks", "prefix", "dates", "table")
OUT = "left out"


@dataclass(frozen=True)
class Hierarchy(Statement):
    r"""Ever broader forms of one variable: as it is, in groups, in broader groups, and at last left out.

    Level 0 is the variable as it is. Each level above is a partition of its values that the level below refines: with
    :math:`g_\ell(y)` the group of value y at level :math:`\ell`,

    .. math:: g_\ell(y) = g_\ell(y') \implies g_{\ell + 1}(y) = g_{\ell + 1}(y')

    Give at most one of

    - `widths`: intervals of numbers, each width a whole multiple of the one before, all beginning at `start`;
    - `breaks`: for each level the lower ends of its intervals (below the first and from the last upwards are intervals
      of their own), each level with fewer of the same; `labels` may name the intervals, level by level;
    - `prefix`: how many first letters or digits of a code are kept, ever fewer;
    - `dates`: of "month", "quarter", "year", "five years", "decade", ever longer;
    - `table`: for each value its groups, from the narrowest to the broadest.

    `hide`: whether the last level leaves the variable out; a table whose last groups are one group has that already.
    Without any of the five a hierarchy has two levels, as it is and left out. `names`: of the levels between. Missing
    values stay missing, a category of their own, until the variable is left out.

    ``Recode("age", hierarchy=h, level=2)`` is a level as a step of a plan; `cf.generalise` searches the levels of
    several variables. `load` and `save` take .toml and .json, and .csv: ARX's file of levels, one row per value, from
    the value itself to its broadest group.

    >>> import confide as cf
    >>> cf.Hierarchy(widths=[5, 10, 20]).levels
    ('as it is', 'in steps of 5', 'in steps of 10', 'in steps of 20', 'left out')
    >>> cf.Hierarchy(table={"White": ["white"], "Black": ["not white"], "Asian": ["not white"]}).levels
    ('as it is', 'level 1', 'left out')
    """

    widths: Sequence[float] | None = None
    breaks: Sequence[Sequence[float]] | None = None
    prefix: Sequence[int] | None = None
    dates: Sequence[str] | None = None
    table: Mapping[Value, Sequence[Value]] | None = field(default=None, hash=False)
    start: float = 0
    labels: Sequence[Sequence[str]] | None = None
    names: Sequence[str] | None = None
    hide: bool = True

    _section: ClassVar[str] = "hierarchy"

    def __post_init__(self) -> None:
        check(self)

    @property
    def form(self) -> str:
        """The one of the forms that it is stated in; empty for two levels, as it is and left out."""
        return next((f for f in FORMS if getattr(self, f) is not None), "")

    @property
    def stated(self) -> Sequence[Value] | Sequence[Sequence[float]]:
        """Values of a variable that it names."""
        return tuple(self.table) if self.table is not None else tuple(self.breaks or ())

    @property
    def levels(self) -> tuple[str, ...]:
        """The names of its levels, from the finest."""
        return level_names(self, OUT)

    @property
    def leaves_out(self) -> bool:
        """Whether the last level leaves the variable out."""
        return self.levels[-1] == OUT

    @property
    def kind(self) -> Kind | None:
        """The kind that a variable must have; None where any will do."""
        return {"": None, "prefix": "categorical", "table": "categorical"}.get(self.form, "numeric")

    def level(self, level: int | str) -> int:
        """The number of a level that is given by its number or by its name.

        >>> Hierarchy(widths=[5, 10]).level("in steps of 10")
        2
        """
        names = self.levels
        if isinstance(level, str) and level in names:
            return names.index(level)
        if isinstance(level, (int, np.integer)) and not isinstance(level, bool) and 0 <= level < len(names):
            return int(level)
        if isinstance(level, str):
            raise InputError(f'level: the hierarchy has no level "{level}".{did_you_mean(level, names)}')
        raise InputError(f"level is a number from 0 to {len(names) - 1}, or the name of a level: {', '.join(names)}.")

    def rule(self, level: int, column: Column) -> Intervals | Groups | None:
        """What a level between the first and the last makes of a variable; None for those two."""
        if level == 0 or (self.leaves_out and level == len(self.levels) - 1):
            return None
        if self.widths is not None:
            return Intervals(width=self.widths[level - 1], start=self.start)
        if self.breaks is not None:
            labels = None if self.labels is None else self.labels[level - 1]
            return Intervals(breaks=self.breaks[level - 1], labels=labels)
        if self.dates is not None:
            return periods_of(column, self.dates[level - 1])
        if self.prefix is not None:
            return Groups(letters=self.prefix[level - 1])
        return Groups({v: groups[level - 1] for v, groups in (self.table or {}).items()}, by_text=True)

    def tree(self, values: Any, name: str = "") -> Tree:
        """Its levels over the values that a column has: groups, and the broader group that each lies in.

        `values`: a column of any library, or a list. Groups that are not nested are refused, and values that a table
        lacks; the sentence names levels and counts, no value.

        >>> tree = Hierarchy(widths=[5, 10]).tree([20, 23, 27, 41])
        >>> tree.levels[1], tree.parents[1].tolist()
        (('20 to 24', '25 to 29', '40 to 44'), [0, 0, 1])
        """
        column = values if isinstance(values, Column) else self._encoded(values, name)
        where = f'Hierarchy of "{column.name}"' if column.name else "Hierarchy"
        book, own = _distinct(column)
        groups = [own]
        for k in range(1, len(self.levels)):
            rule = self.rule(k, column)
            if isinstance(rule, Groups):
                rule.check(own, where)
                groups.append(rule.of(own))
            elif rule is not None:
                codes, names = rule.coded(book)
                groups.append([names[c] for c in codes])
            else:
                groups.append([OUT] * len(own))
        return Tree.of(self.levels, groups, where)

    def _encoded(self, values: Any, name: str) -> Column:
        try:
            s = values if isinstance(values, pl.Series) else pl.Series(name, values, strict=False)
        except (TypeError, ValueError, OverflowError):
            raise InputError("Hierarchy.tree takes a column: a series, an array, or a list of values.") from None
        return encode_column(readable(s.alias(name or s.name).to_frame(), name or s.name), self.kind)

    @classmethod
    def ordered(cls, values: Sequence[Value], sizes: Sequence[int], hide: bool = True) -> Self:
        """Categories in their order, neighbours in sets of ever more.

        >>> Hierarchy.ordered(["none", "primary", "secondary", "tertiary"], sizes=[2]).table["primary"]
        ('none to primary',)
        """
        return cls(**ordered(values, sizes), hide=hide)

    @classmethod
    def nested(cls, data: Any, columns: Sequence[str], hide: bool = True) -> Self:
        """Areas in areas: each value of the first column lies in one of the second, and so on.

        `data`: a file that has all columns, or a list of areas. One that lies in two is refused.

        >>> areas = {"town": ["Bari", "Lecce", "Rome"], "region": ["Apulia", "Apulia", "Lazio"]}
        >>> Hierarchy.nested(areas, ["town", "region"]).levels
        ('as it is', 'region', 'left out')
        """
        return cls(**nested(data, columns), hide=hide)

    @classmethod
    def propose(cls, data: Any, variable: str) -> Self:
        """A hierarchy that suits what a column holds: a proposal to look at, by sizes and types alone.

        Numbers in intervals of ever larger width, or in ranges by quantiles where they are skewed; dates by month,
        year and decade; codes of one length by their first letters; categories with an order (an Enum, numbers) in sets
        of neighbours; others with ever more of the smallest together. It knows no meaning: read it before using it.

        >>> import confide as cf
        >>> Hierarchy.propose(cf.demo("heads"), "age").levels
        ('as it is', 'in steps of 5', 'in steps of 10', 'in steps of 20', 'left out')
        """
        return cls(**proposed(data, variable))

    @classmethod
    def json_schema(cls) -> JsonSchema:
        """The JSON Schema of its files, for editors and forms.

        >>> sorted(Hierarchy.json_schema()["properties"])[:3]
        ['$schema', 'breaks', 'dates']
        """
        schemas = Schemas()
        return schemas.document("confide hierarchy", schemas.table(cls, {"$schema": TEXT, "name": TEXT}))

    @classmethod
    def load(cls, path: str | os.PathLike[str], name: str | None = None) -> Self:
        """Read a hierarchy from .toml or .json, or from ARX's .csv of levels (`;`, `,` or a tab between them).

        >>> import pathlib, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = pathlib.Path(folder, "age.csv")
        ...     _ = file.write_text("34;30-39;*\\n35;30-39;*\\n41;40-49;*\\n")
        ...     Hierarchy.load(file).levels
        ('as it is', 'level 1', 'left out')
        """
        if Path(path).suffix.lower() != ".csv":
            return super().load(path, name)
        from confide.frames.hierarchies.level_files import read_levels

        return cls(table=read_levels(path))

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False, **files: str | Mapping[str, str]) -> Path:
        """Write it as .toml or .json; one that is stated as a table also as ARX's .csv of levels."""
        if Path(path).suffix.lower() != ".csv":
            return super().save(path, overwrite=overwrite, **files)
        from confide.frames.hierarchies.level_files import write_levels

        if self.table is None:
            raise InputError("A .csv of levels holds a table of values; save this hierarchy as .toml or .json.")
        return write_levels(self.table, path, overwrite, OUT if self.levels[-1] == OUT else None)


def _distinct(column: Column) -> tuple[Column, list[Any]]:
    """The distinct values of a column as a column, and as a list."""
    if column.kind == "numeric":
        book = column.codebook()
        return book, book.values.tolist()
    there = np.unique(column.values[~column.missing])
    return column.with_values(there), [column.levels[c] for c in there]
