"""A file as a method sees it that is asked what it could do: its variables, what is known of them, how they relate."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from confide.core.errors import InputError
from confide.frames.columns import F64, I64, Column, Kind, kind_of
from confide.frames.encoded import Encoded
from confide.frames.hierarchies.hierarchy import Hierarchy
from confide.frames.types.exact import fits
from confide.frames.units import unit_numbers
from confide.protect.seam.relations import association, binned

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

    @classmethod
    def of(
        cls, file: Encoded, *, known: Collection[str] = (), sensitive: Collection[str] = (),
        leave: Collection[str] = (), unit: str | None = None, weight: str | None = None, keep: Collection[str] = (),
        hierarchies: Mapping[str, Hierarchy] | None = None, kinds: Mapping[str, Kind] | None = None,
    ) -> Outlook:  # fmt: skip
        """An outlook on a file. `leave`: identifiers and the like, which are no variables, as unit and weight are none.
        `hierarchies`: those stated; others are proposed. `kinds`: those that are not what the file gives a variable."""
        other, stated, levels = {*leave, unit, weight}, dict(kinds or {}), dict(hierarchies or {})
        names = [v for v in file.frame.columns if v not in other and kind_of(file.frame[v])]

        def subject(name: str) -> Subject:
            column = file.column(name, stated.get(name))
            h = levels.get(name) or _proposed(file, column)
            return Subject(name, column, name in known, name in sensitive, h)

        kept = tuple(v for v in names if v in keep)
        return cls(file, tuple(subject(v) for v in names if v not in kept), unit, weight, kept, stated)

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


def _proposed(file: Encoded, column: Column) -> Hierarchy | None:
    """A hierarchy that suits a variable; None where none is found, or where its kind is not the file's own."""
    try:
        h = Hierarchy.propose(file, column.name) if file.column(column.name).kind == column.kind else None
    except InputError:
        return None
    return h if h is not None and h.form else None
