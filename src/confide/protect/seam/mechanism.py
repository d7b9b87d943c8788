"""The seam: what a protection method must offer. One file a method, `apply` beside `evidence`.

A mechanism is a frozen statement (`Swap("race", rate=0.3)`). `fit` looks at the data and gives a `Fitted`, which
can be applied (the agency's side) and asked for evidence (the intruder's side). Nothing outside a method's own
file knows its name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np

from confide.core.random.draws import Draws
from confide.frames.columns import F64, I64, Column, Kind, Records
from confide.frames.distinct import Distinct
from confide.frames.tally import Tally
from confide.protect.seam.evidence import Evidence


@dataclass(frozen=True, eq=False)
class Applied:
    """What a step made: columns that replace the current ones, and, for a step that selects, the rows it keeps.

    Rows made of several people are -1, `columns` are then all that is left of the records, and `nobody` says, for those
    who would attack them, why they belong to nobody. A fitted step that knows this before it is applied has `nobody`.
    """

    columns: Sequence[Column] = ()
    rows: I64 | None = None
    nobody: str = ""


class Coarsening(Protocol):
    """A deterministic step on one variable, seen from both sides."""

    def image(self, column: Column) -> Column:
        """What true values become."""
        ...

    def cells(self, column: Column) -> tuple[F64, F64]:
        """For each released value the interval [low, high) of numbers that become it."""
        ...

    def back(self, low: F64, high: F64) -> tuple[F64, F64]:
        """The interval of numbers whose image lies in [low, high); for steps that keep numbers numbers."""
        ...

    def tails(self) -> tuple[float, ...]:
        """Where a numeric image stops growing: a topcode's limit."""
        ...


@dataclass(frozen=True, eq=False)
class Chain:
    """Coarsenings one after another; the empty chain leaves values as they are."""

    steps: tuple[Coarsening, ...] = ()

    def image(self, column: Column) -> Column:
        for step in self.steps:
            column = step.image(column)
        return column

    def cells(self, column: Column) -> tuple[F64, F64]:
        if not self.steps:
            return column.values, np.nextafter(column.values, np.inf)
        low, high = self.steps[-1].cells(column)
        for step in reversed(self.steps[:-1]):
            low, high = step.back(low, high)
        return low, high

    def tails(self) -> tuple[float, ...]:
        return tuple(x for s in self.steps for x in s.tails())


KEPT, ALTERED, SYNTHETIC = "kept", "altered", "synthetic"
"""What became of a variable: kept (or coarsened), altered from its own value, or drawn anew without it."""


@dataclass(frozen=True, eq=False)
class View:
    """What an intruder's evidence may read: the released records and the plan around one random step.

    `released`: the r records. `before`, `after`: per variable the coarsenings before and after the random step
    (all of them in `after` where there is none). `sorts`: what became of each variable.

    Who asks: `level` of reasoning ("sdl", "average" or "exact"; "ignore" for labels alone), `known` variables of the
    target, `guesses` about what a method does not publish, by the method's own name for it, `as_printed` for formulas
    as a paper prints them.

    `released` may be a part of the file, or its distinct rows: `count` is how many rows each stands for (None: one).
    What is counted in the whole file is asked of `counted`; `tables` remembers it, for parts of the file too.
    """

    released: Records
    before: Mapping[str, Chain]
    after: Mapping[str, Chain]
    sorts: Mapping[str, str] = field(default_factory=dict)
    level: str = "sdl"
    known: frozenset[str] = frozenset()
    guesses: Mapping[str, Any] = field(default_factory=dict)
    as_printed: bool = False
    count: F64 | None = None
    tables: dict[tuple[str, ...], Tally] = field(default_factory=dict)

    def counted(self, names: Sequence[str]) -> Tally:
        """Joint values of some variables in the whole release, each with how many rows have it."""
        key = tuple(names)
        if key not in self.tables:
            mine = self.released.select(key)
            found = Distinct.rows([c.values for c in mine.values()], mine.n, self.count)
            self.tables[key] = Tally(mine.take(found.first), found.count)
        return self.tables[key]

    def guess(self, name: str, variable: str, default: Any) -> Any:
        """What is guessed of a method's internals, for one variable or for all."""
        given = self.guesses.get(name, default)
        return given.get(variable, default) if isinstance(given, Mapping) else given

    def sort(self, variable: str) -> str:
        return self.sorts.get(variable, KEPT)

    def met(self, records: Records) -> Records:
        """True values in the form in which the random step met them."""
        changed = [c.image(records[v]) for v, c in self.before.items() if c.steps and v in records]
        return records.replaced(changed)

    def read(self, records: Records) -> Records:
        """Values of the target as a step would read them in a record: kept variables in their released form.

        Those that a random step met have been brought to that form by `met`.
        """
        chains = [(v, c) for v, c in self.after.items() if v in records and self.sort(v) == KEPT]
        return records.replaced([c.image(records[v]) for v, c in chains])

    def chain_after(self, variable: str) -> Chain:
        return self.after.get(variable, Chain())


@runtime_checkable
class Fitted(Protocol):
    """A mechanism with what it learnt from the data."""

    def apply(self, original: Records, current: Records, draws: Draws) -> Applied: ...

    def evidence(self, view: View, about: tuple[str, ...]) -> Evidence: ...


@runtime_checkable
class Mechanism(Protocol):
    """What a user states.

    `variables`: the columns it replaces (none for a step that selects rows). `needs`: columns it reads and leaves
    alone. `stream`: the key of its random numbers. `method`: its name in plan files.
    `role`: "coarsen" (deterministic, `fit` gives a `Coarsening`), "random" or "select".
    """

    method: ClassVar[str]

    @property
    def role(self) -> str: ...

    @property
    def variables(self) -> tuple[str, ...]: ...

    @property
    def needs(self) -> tuple[str, ...]: ...

    @property
    def stream(self) -> str: ...

    def kinds(self) -> Mapping[str, Kind]:
        """The kinds it requires of its variables."""
        ...

    def parts(self) -> Sequence[Mechanism]:
        """Itself, or the independent steps it stands for."""
        ...

    def fit(self, original: Records, current: Records, after: Mapping[str, Chain]) -> Any: ...

    def guess(self, released: Records) -> Mechanism:
        """What someone who knows the method but not its parameters would assume."""
        ...

    # A method that draws values anew says so with `sort(sorts) -> str`, given what became of the variables before it;
    # one with internals that an intruder may guess names them in `guesses`, a table of checks; one that does not go
    # with every other step says so with `beside(steps) -> list[str]`; one that releases values as they are has
    # `draws = False`; one whose release does not hang on the order of its categories has
    # `by_order = False`; one that may leave out records though its role is another has `selects`; one that is a product
    # of matrices makes them with `matrices(fitted, original, current, draws) -> Parts`.
    #
    # A fitted step that can tell a release that it cannot have made has `unfit(released, rows) -> list[str]`: sentences
    # with counts and no values. `released` holds what is released of the plan's variables, in the form in which they
    # are; `rows` is the original row of each record, None where unknown. It is asked of a release that was made
    # elsewhere, unless a later step leaves out records.


class OfColumns:
    """What methods share that name the columns they replace in `what`, and read no others."""

    what: str | Sequence[str]

    @property
    def variables(self) -> tuple[str, ...]:
        return tuple(self.what)

    @property
    def needs(self) -> tuple[str, ...]:
        return ()

    @property
    def stream(self) -> str:
        return f"{type(self).__name__}:{'+'.join(self.what)}"


REGISTRY: dict[str, type[Any]] = {}
"""Methods by their name in plan files; a method's file adds itself with `@registered`."""


def registered(cls: type[Any]) -> type[Any]:
    """Make a mechanism known to plan files under its `method` name."""
    REGISTRY[cls.method] = cls
    return cls
