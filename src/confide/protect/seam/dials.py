"""What a method offers to somebody who does not know which method to take: dials, each with a range of strengths.

A search turns dials. What a method suits and how strongly it can be turned stands in the method's own file, in
`Mechanism.dials`; nothing that searches names a method.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from confide.frames.columns import F64, I64, Column, Kind
from confide.frames.encoded import Encoded
from confide.frames.hierarchies.hierarchy import Hierarchy
from confide.frames.types.exact import fits
from confide.frames.units import unit_numbers
from confide.protect.seam.relations import association, binned

if TYPE_CHECKING:
    from confide.protect.seam.mechanism import Mechanism

MANY_ZEROS = 0.05
"""Zeros stand apart where they are at least this share of a variable's numbers."""
LEAST = 0.05
"""How strongly variables hang together that are taken for related: Cramér's V."""


@dataclass(frozen=True, eq=False)
class Subject:
    """One variable that may be altered. `known`: some intruder has its true values. `sensitive`: what an intruder would
    like to learn. `hierarchy`: ever broader groups of its values, stated or proposed; None where there are none."""

    name: str
    column: Column
    known: bool = False
    sensitive: bool = False
    hierarchy: Hierarchy | None = None

    @property
    def kind(self) -> Kind:
        """Whether it is "numeric" or "categorical"."""
        return self.column.kind

    @cached_property
    def values(self) -> F64:
        """Its values, those that are missing or infinite left out: numbers, or codes of categories."""
        column = self.column
        return np.asarray(column.values[column.usable if column.kind == "numeric" else ~column.missing], np.float64)

    @cached_property
    def distinct(self) -> int:
        """How many different values it has."""
        return len(np.unique(self.values))

    def quantile(self, share: float) -> float:
        """The value below which a share of records lies."""
        return float(np.quantile(self.values, share))

    @property
    def dated(self) -> bool:
        """Whether its numbers are dates or times."""
        return self.kind == "numeric" and self.column.dtype.is_temporal()

    @cached_property
    def zeros(self) -> bool:
        """Whether zeros stand apart: a twentieth of the numbers or more, none of which is a date."""
        return self.kind == "numeric" and not self.dated and float(np.mean(self.values == 0)) >= MANY_ZEROS

    @cached_property
    def amounts(self) -> F64:
        """Its numbers, without zeros that stand apart."""
        return self.values[self.values != 0] if self.zeros else self.values

    def holds(self, value: float) -> bool:
        """Whether a number could be one of its values: of its precision, and inside the range of its type."""
        step, number = self.column.step, np.array([float(value)])
        whole = not step or bool(np.isclose(number / step, np.round(number / step), atol=1e-9))
        return whole and fits(number, self.column.dtype)

    @cached_property
    def spread(self) -> float:
        """The standard deviation of its values."""
        return float(self.values.std()) if len(self.values) else 0.0


@dataclass(frozen=True, eq=False)
class Outlook:
    """A file as a method sees it that is asked what it could do: the variables that may be altered, in the order of the
    file, and those that say which rows are of one unit and how many people a row stands for."""

    file: Encoded
    subjects: tuple[Subject, ...]
    unit: str | None = None
    weight: str | None = None
    kept: tuple[str, ...] = field(default=())
    """Variables that must be released as they are; a method may read them."""
    kinds: Mapping[str, Kind] = field(default_factory=dict)
    """Kinds of variables that are not what the file itself gives them, as of codes that look like numbers."""

    @property
    def rows(self) -> int:
        """Rows of the file."""
        return self.file.frame.height

    def those(
        self, kind: Kind | None = None, *, known: bool | None = None, sensitive: bool | None = None
    ) -> tuple[Subject, ...]:
        """Variables with two values or more of a kind, known to an intruder or not, sensitive or not."""
        return tuple(
            s for s in self.subjects
            if (kind is None or s.kind == kind) and known in (None, s.known) and sensitive in (None, s.sensitive)
            and s.distinct > 1
        )  # fmt: skip

    def worth(self, kind: Kind | None = None) -> tuple[Subject, ...]:
        """Variables with two values or more that some intruder knows or would like to learn: altering others protects
        nobody. All of them where nobody said what is known or sensitive."""
        said = any(s.known or s.sensitive for s in self.subjects)
        return tuple(s for s in self.those(kind) if not said or s.known or s.sensitive)

    @cached_property
    def units(self) -> I64 | None:
        """The number of each row's unit; None where rows are units."""
        return None if self.unit is None else unit_numbers(self.file.frame.get_column(self.unit))

    def shared(self, names: Sequence[str]) -> bool:
        """Whether all rows of a unit have the same values of these variables; never where rows are units."""
        return self.units is not None and all(self._same[v] for v in names)

    @cached_property
    def _same(self) -> _Remembered:
        assert self.units is not None
        first, of = np.unique(self.units, return_index=True, return_inverse=True)[1:]

        def same(name: str) -> bool:
            column = self.readable[name].column
            one, all_ = column.values[first][of], column.values
            return bool(((one == all_) | (column.missing & column.missing[first][of])).all())

        return _Remembered(same)

    @cached_property
    def readable(self) -> dict[str, Subject]:
        """Every variable that a method may read: those that may be altered, and those that are kept."""
        kept = {v: Subject(v, self.file.column(v, self.kinds.get(v))) for v in self.kept}
        return {s.name: s for s in self.subjects} | kept

    def related(self, names: Sequence[str], kind: Kind | None = None, levels: int = 50) -> tuple[str, ...]:
        """Other variables of a kind by how strongly they hang together with some, the strongest first.

        Categorical ones with more than `levels` categories are left out, and those that say next to nothing.
        """
        others = [
            s for s in self.readable.values()
            if s.name not in names and (kind is None or s.kind == kind) and s.distinct > 1
            and (s.kind == "numeric" or s.distinct <= levels)
        ]  # fmt: skip
        found = {s.name: max(association(self._bins[v], self._bins[s.name]) for v in names) for s in others}
        return tuple(v for v in sorted(found, key=lambda v: -found[v]) if found[v] >= LEAST)

    @cached_property
    def _bins(self) -> _Remembered:
        return _Remembered(lambda name: binned(self.readable[name].column))


class _Remembered(dict[str, Any]):
    """What a function gave for each name when it was first asked."""

    def __init__(self, make: Callable[[str], Any]) -> None:
        self._make = make

    def __missing__(self, name: str) -> Any:
        self[name] = self._make(name)
        return self[name]


@dataclass(frozen=True)
class Change:
    """What one turn of a dial does to a plan: steps that are added, and variables that are no longer released."""

    steps: tuple[Mechanism, ...] = ()
    drop: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Dial:
    """One way of using a method on some variables. `strengths`: values to try first, weakest first. `at`: the change at
    a strength. `says`: a strength in words, as "swap race, 10% of records". `between`: whether a number between two
    strengths is one too (with `whole`, only whole numbers are). `family`: what it is listed under."""

    family: str
    variables: tuple[str, ...]
    strengths: tuple[Any, ...]
    at: Callable[[Any], Change]
    says: Callable[[Any], str]
    between: bool = False
    whole: bool = False

    def middle(self, low: Any, high: Any) -> Any | None:
        """A strength between two; None where there is none."""
        if not self.between:
            return None
        if low > 0 and high > 0 and max(low, high) / min(low, high) >= 3:
            value = float(np.sqrt(low * high))
        else:
            value = (low + high) / 2
        value = round(value) if self.whole else float(f"{value:.3g}")
        return None if value in (low, high) else value


@dataclass(frozen=True)
class Untried:
    """What a method does not offer for this file, and why."""

    family: str
    why: str
    variables: tuple[str, ...] = ()


Offers = Iterable[Dial | Untried]


def one_each(
    family: str, subjects: Sequence[Subject], strengths: Callable[[Subject], Sequence[Any]],
    step: Callable[[Subject, Any], Mechanism], says: Callable[[Subject, Any], str], why_none: str = "", **more: bool,
) -> list[Dial | Untried]:  # fmt: skip
    """A dial for each variable that has any strengths; `why_none`: why others have none, in words."""

    def dial(s: Subject, grid: tuple[Any, ...]) -> Dial:
        return Dial(family, (s.name,), grid, lambda x: Change((step(s, x),)), lambda x: says(s, x), **more)

    grids = {s.name: tuple(strengths(s)) for s in subjects}
    none = tuple(v for v, grid in grids.items() if not grid)
    left = [Untried(family, why_none, none)] if none and why_none else []
    return [*(dial(s, grids[s.name]) for s in subjects if grids[s.name]), *left]


def together(offers: Sequence[Dial | Untried], says: Callable[[tuple[str, ...], Any], str]) -> list[Dial]:
    """Dials turned as one, at the strengths that all of them have; none for fewer than two. `says`: a strength in
    words, for the variables named."""
    dials = [d for d in offers if isinstance(d, Dial)]
    if len(dials) < 2:
        return []
    first, *others = dials
    names = tuple(dict.fromkeys(v for d in dials for v in d.variables))
    strengths = tuple(x for x in first.strengths if all(x in d.strengths for d in others))

    def at(x: Any) -> Change:
        return Change(tuple(step for d in dials for step in d.at(x).steps))

    joint = Dial(first.family, names, strengths, at, lambda x: says(names, x), first.between, first.whole)
    return [joint] if strengths else []


def rounded(value: float) -> float:
    """A number with two digits, a whole one where it can be: what an agency would state, and no person's own value.

    >>> rounded(54_896.3), rounded(0.0374)
    (55000, 0.037)
    """
    short = float(f"{value:.2g}")
    return int(short) if short.is_integer() else short
