"""What a method offers to somebody who does not know which method to take: dials, each with a range of strengths.

A search turns dials. What a method suits and how strongly it can be turned stands in the method's own file, in
`Mechanism.dials`; nothing that searches names a method.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from confide.frames.columns import F64, Column, Kind
from confide.frames.encoded import Encoded
from confide.frames.hierarchies.hierarchy import Hierarchy

if TYPE_CHECKING:
    from confide.protect.seam.mechanism import Mechanism


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
    step: Callable[[Subject, Any], Mechanism], says: Callable[[Subject, Any], str], **more: bool,
) -> list[Dial]:  # fmt: skip
    """A dial for each variable that has any strengths."""

    def dial(s: Subject, grid: tuple[Any, ...]) -> Dial:
        return Dial(family, (s.name,), grid, lambda x: Change((step(s, x),)), lambda x: says(s, x), **more)

    return [dial(s, grid) for s in subjects if (grid := tuple(strengths(s)))]


def rounded(value: float) -> float:
    """A number with two digits, a whole one where it can be: what an agency would state, and no person's own value.

    >>> rounded(54_896.3), rounded(0.0374)
    (55000, 0.037)
    """
    short = float(f"{value:.2g}")
    return int(short) if short.is_integer() else short
