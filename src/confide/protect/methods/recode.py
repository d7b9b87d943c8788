"""Recode: release broader categories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import polars as pl

from confide.core.checks import finite, positive
from confide.core.errors import InputError, Problems
from confide.frames.columns import F64, Column, Kind, Records
from confide.frames.hierarchies.groups import Groups
from confide.frames.hierarchies.hierarchy import Hierarchy
from confide.frames.hierarchies.intervals import Intervals
from confide.frames.hierarchies.made import smallest
from confide.frames.types.exact import blurred
from confide.protect.seam.coarsening import Chain, Coarsening
from confide.protect.seam.dials import Change, Dial, Offers, Outlook, Subject, Untried
from confide.protect.seam.mechanism import CoarseningMethod, Name, registered
from confide.protect.seam.words import counted, exactly, listed
from confide.protect.shared.stated_values import not_there

CATEGORIES = 500
"""Categories of which the rarest are put together, at most."""


@registered
@dataclass(frozen=True)
class Recode(CoarseningMethod):
    """Release a variable in broader categories, such as ages in fives or regions for states.

    Give one of `width` (equal intervals that start at `start`), `breaks` (the lower ends of the categories; below
    the first and from the last upwards are categories of their own), `mapping` (old value to new; values that
    are not named stay) or `hierarchy`, a `cf.Hierarchy` of which `level` is released, by its number or its name.
    Missing values stay missing.

    The evidence is certain: a released category rules out every target whose own category differs.

    >>> import confide as cf
    >>> cf.Recode("age", width=5)
    Recode(variables=('age',), width=5, breaks=None, mapping=None, start=0, labels=None, hierarchy=None, level=None)
    """

    variables: Name
    width: float | None = None
    breaks: Sequence[float] | None = None
    mapping: Mapping[Any, Any] | None = field(default=None, hash=False)
    start: float = 0
    labels: Sequence[str] | None = None
    hierarchy: Hierarchy | None = None
    level: int | str | None = None

    method: ClassVar[str] = "recode"

    def __post_init__(self) -> None:
        given = [n for n in ("width", "breaks", "mapping", "hierarchy") if getattr(self, n) is not None]
        where, problems = self.where, Problems()
        several = f"{where} takes exactly one of width, breaks, mapping and hierarchy, not {len(given)}."
        problems.when(len(given) != 1, several)
        with problems:
            self._check_level()
        if self.width is not None:
            with problems:
                positive(self.width, f"{where}: width")
            with problems:
                finite(self.start, f"{where}: start")
        if self.breaks is not None:
            with problems:
                self._check_breaks()
        problems.when(self.labels is not None and self.breaks is None, f"{where}: labels go with breaks.")
        problems.when(self.mapping is not None and not self.mapping, f"{where}: mapping is empty.")
        nowhere = self.mapping is not None and any(v is None for v in self.mapping.values())
        problems.when(nowhere, f'{where}: mapping leads to None; name the category, for instance "not stated".')
        problems.tell()

    def _check_breaks(self) -> None:
        where = self.where
        cuts = [finite(b, f"{where}: a break") for b in self.breaks or ()]
        if not cuts or sorted(set(cuts)) != cuts:
            raise InputError(f"{where}: breaks must be one or more rising numbers.")
        object.__setattr__(self, "breaks", tuple(self.breaks or ()))
        if self.labels is not None:
            if len(self.labels) != len(cuts) + 1:
                raise InputError(
                    f"{where}: {len(cuts)} breaks make {len(cuts) + 1} categories, not {len(self.labels)}."
                )
            object.__setattr__(self, "labels", tuple(self.labels))

    def _check_level(self) -> None:
        where, h = self.where, self.hierarchy
        if h is None:
            if self.level is not None:
                raise InputError(f"{where}: level goes with a hierarchy.")
            return
        if not isinstance(h, Hierarchy):
            raise InputError(f"{where}: hierarchy is a cf.Hierarchy, such as cf.Hierarchy(widths=[5, 10]).")
        if self.level is None:
            raise InputError(f"{where}: level says which level of the hierarchy is released: {', '.join(h.levels)}.")
        try:
            at = h.level(self.level)
        except InputError as error:
            raise InputError(f"{where}: {error}") from None
        if at == 0:
            raise InputError(f"{where}: level 0 is the variable as it is; leave the step out.")
        if h.leaves_out and at == len(h.levels) - 1:
            raise InputError(
                f'{where}: the last level leaves the variable out; that is Plan(..., drop=["{self.variable}"]).'
            )

    @property
    def words(self) -> str:
        name = self.variable
        if self.mapping is not None:
            groups = len(set(map(str, self.mapping.values())))
            return f"{name} grouped: {counted(len(self.mapping), 'value')} named, {counted(groups, 'group')}"
        if self.breaks is not None:
            cuts = listed([exactly(b) for b in self.breaks])
            return f"{name} in {len(self.breaks) + 1} classes, cut at {cuts}"
        if self.width is not None:
            return f"{name} in classes of {exactly(self.width)}{f' from {exactly(self.start)}' if self.start else ''}"
        assert self.hierarchy is not None
        assert self.level is not None
        return f"{name}{_named(self.hierarchy, self.hierarchy.level(self.level))}"

    @classmethod
    def dials(cls, outlook: Outlook) -> Offers:
        """Every variable that has a hierarchy, by its levels between the first and the last; and its rarest categories
        together, where they have no broader groups yet that say so."""
        none = list[str]()
        for s in outlook.worth():
            found = list[Dial]()
            for h in dict.fromkeys((s.hierarchy, _rarest(s))):
                try:
                    found += cls._dial(s, h)
                except InputError as error:
                    yield Untried(cls.method, str(error).rstrip("."), (s.name,))
            yield from found
            none += [] if found else [s.name]
        if none:
            why = "no hierarchy has a level that puts some of its values together and not all"
            yield Untried(cls.method, why, tuple(none))

    @classmethod
    def _dial(cls, s: Subject, h: Hierarchy | None) -> list[Dial]:
        """One hierarchy by its levels, if any of them is worth releasing."""
        levels = _levels(s, h)

        def at(level: int) -> Change:
            return Change((cls(s.name, hierarchy=h, level=level),))

        found = Dial(cls.method, (s.name,), levels, at, lambda level: at(level).steps[0].words)
        return [found] if levels else []

    def kinds(self) -> Mapping[str, Kind]:
        if self.hierarchy is not None:
            return {} if self.hierarchy.kind is None else {self.variable: self.hierarchy.kind}
        return {self.variable: "categorical" if self.mapping is not None else "numeric"}

    def fit(self, original: Records, current: Records, after: Mapping[str, Chain]) -> _Cut | _Mapping:  # noqa: ARG002
        column = current[self.variable]
        rule = self._rule(column)
        return _Cut(self, rule) if isinstance(rule, Intervals) else _Mapping(self, rule)

    def _rule(self, column: Column) -> Intervals | Groups:
        if self.mapping is not None:
            wrong = not_there(self.mapping, column.levels)
            if wrong:
                raise InputError(f"{self.where}: {wrong.format('keys of the mapping')}")
            return Groups(self.mapping)
        if self.hierarchy is None or self.level is None:
            return Intervals(self.width, self.start, self.breaks, self.labels)
        rule = self.hierarchy.rule(self.hierarchy.level(self.level), column)
        assert rule is not None  # the first and the last level are no steps
        if isinstance(rule, Groups):
            rule.check([column.levels[c] for c in np.unique(column.values[~column.missing])], self.where)
        return rule


def _named(h: Hierarchy, level: int) -> str:
    """A level as it follows the name of a variable."""
    if h.widths and h.names is None:
        return f" in classes of {exactly(h.widths[level - 1])}"
    name = h.levels[level]
    return f" {name}" if name.startswith("in ") else f": {name}"


def _levels(s: Subject, h: Hierarchy | None) -> tuple[int, ...]:
    """Levels of a hierarchy that put values together, each more than the one before, but not all."""
    if h is None or h.kind not in (None, s.kind):
        return ()
    many = [len(groups) for groups in h.tree(s.column).levels]
    return tuple(k for k in range(1, len(many)) if 1 < many[k] < many[k - 1])


def _rarest(s: Subject) -> Hierarchy | None:
    """Ever more of a variable's smallest categories as one; None for numbers, and for few or very many categories."""
    if s.kind == "numeric" or not 3 < s.distinct <= CATEGORIES:
        return None
    codes, count = np.unique(s.values.astype(np.int64), return_counts=True)
    made = smallest([s.column.levels[c] for c in codes], count.astype(float))
    return Hierarchy(**made) if made else None


@dataclass(frozen=True, eq=False)
class _Categories(Coarsening):
    """Values to categories, after which no numeric step can follow."""

    recode: Recode

    def back(self, low: F64, high: F64) -> tuple[F64, F64]:  # noqa: ARG002 - nothing numeric comes out
        raise InputError(f"{self.recode.where} makes categories; a numeric step cannot follow it.")


@dataclass(frozen=True, eq=False)
class _Cut(_Categories):
    """Numbers to intervals [low, high)."""

    intervals: Intervals

    def image(self, column: Column) -> Column:
        codes, names = self.intervals.coded(column)
        return Column(column.name, "categorical", codes, pl.Enum(names), names, why="recoded")

    def cells(self, column: Column) -> tuple[F64, F64]:
        """Names are made here, so they are read back here; an answer code has no interval."""
        table = np.vstack([self.intervals.ends_of(column.levels), [[np.nan, np.nan]]])
        return table[column.values, 0], table[column.values, 1]


@dataclass(frozen=True, eq=False)
class _Mapping(_Categories):
    """Categories to broader categories, by name."""

    groups: Groups

    def image(self, column: Column) -> Column:
        new = self.groups.of(column.levels)
        text = any(isinstance(v, str) for v in new)
        mixed = not text and any(isinstance(v, float) for v in new)
        if mixed and any(blurred(v) for v in new):
            raise InputError(
                f'Recode("{column.name}"): the mapping leads to numbers with a decimal point beside values of the '
                "column that have too many digits for them; lead to whole numbers or to words."
            )
        values = [str(v) for v in new] if text else [float(v) for v in new] if mixed else new
        names = tuple(dict.fromkeys(values))  # first appearance keeps the order of the code list
        place = {v: i for i, v in enumerate(names)}
        table = np.array([place[v] for v in values] + [-1], dtype=np.int64)
        dtype: pl.DataType = pl.Enum(names) if text else pl.Series(list(names)).dtype
        return Column(column.name, "categorical", table[column.values], dtype, names, why="recoded")

    def cells(self, column: Column) -> tuple[F64, F64]:
        raise InputError(f'"{column.name}" is recoded by a mapping: knowledge of it must be a value, not an interval.')
