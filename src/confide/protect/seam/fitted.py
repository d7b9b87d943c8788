"""A mechanism with what it learnt from the data: what it makes of a file, and what an intruder may read of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from confide.core.random.draws import Draws
from confide.frames.columns import F64, I64, Column, Records
from confide.frames.distinct import Distinct
from confide.frames.tally import Tally
from confide.protect.seam.coarsening import Chain
from confide.protect.seam.evidence import Evidence
from confide.protect.seam.learning import learnt

if TYPE_CHECKING:
    from confide.protect.seam.gathering import Gathering


@dataclass(frozen=True, eq=False)
class Applied:
    """What a step made: columns that replace the current ones, and, for a step that selects, the rows it keeps.

    Rows made of several people are -1, `columns` are then all that is left of the records, and `nobody` says, for those
    who would attack them, why they belong to nobody.
    """

    columns: Sequence[Column] = ()
    rows: I64 | None = None
    nobody: str = ""


KEPT, ALTERED, SYNTHETIC = "kept", "altered", "synthetic"
"""What became of a variable: kept (or coarsened), altered from its own value, or synthetic: drawn without it."""


class Sampler(Protocol):
    """What finds records of a release, some or all of which may not be at hand."""

    def __call__(self, names: Sequence[str], many: int, stream: str) -> Records:
        """See `View.sampled`."""


@dataclass(frozen=True, eq=False)
class View:
    """What an intruder's evidence may read: the released records and the plan around one random step.

    `released`: the r records. `before`, `after`: per variable the coarsenings before and after the random step
    (all of them in `after` where there is none). `sorts`: what became of each variable.

    Who asks: `level` of reasoning ("sdl", "average" or "exact"; "ignore" for labels alone), `known` variables of the
    target, `guesses` about what a method does not publish, by the method's own name for it, `as_printed` for formulas
    as a paper prints them, `told_missing` variables of which it is known whether the file has a value.

    `released` may be a part of the file, or its distinct rows: `count` is how many rows each stands for (None: one).
    What is counted in the whole file is asked of `counted`, some of its records of `sampled` (`sampler` finds them
    where they are not all here), what is made of either of `once`; `tables` and `remembered` keep it, for parts of the
    file too.
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
    told_missing: frozenset[str] = frozenset()
    remembered: dict[tuple[Any, ...], Any] = field(default_factory=dict)
    sampler: Sampler | None = None

    def counted(self, names: Sequence[str]) -> Tally:
        """Joint values of some variables in the whole release, each with how many rows have it."""
        key = tuple(names)
        if key not in self.tables:
            mine = self.released.select(key)
            found = Distinct.rows([c.values for c in mine.values()], mine.n, self.count)
            self.tables[key] = Tally(mine.take(found.first), found.count)
        return self.tables[key]

    def sampled(self, names: Sequence[str], many: int, stream: str) -> Records:
        """So many records of the whole release, all where it has no more: those that a step with this key would learn
        from. A part of the file does not have them, so ask within `once`."""
        if self.sampler is not None:
            return self.sampler(names, many, stream)
        return learnt(self.released.select(names), many, stream)

    def once(self, key: tuple[str, ...], make: Callable[[], Any]) -> Any:
        """What hangs on the whole release and on nothing else of what is asked: made once for a level, and remembered
        for parts of the file, which do not have what it was made of. It must pickle."""
        mine = (self.level, *key)
        if mine not in self.remembered:
            self.remembered[mine] = make()
        return self.remembered[mine]

    def guess(self, name: str, variable: str, default: Any) -> Any:
        """What is guessed of a method's internals, for one variable or for all."""
        return guessed(self.guesses, name, variable, default)

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


def guessed(guesses: Mapping[str, Any], name: str, variable: str, default: Any) -> Any:
    """What is guessed of a method's internals, for one variable or for all."""
    given = guesses.get(name, default)
    return given.get(variable, default) if isinstance(given, Mapping) else given


class Fitted(ABC):
    """A mechanism with what it learnt from the data."""

    @abstractmethod
    def apply(self, original: Records, current: Records, draws: Draws) -> Applied:
        """The agency's side: draw only from `draws`, by the numbers of records."""

    @abstractmethod
    def evidence(self, view: View, about: tuple[str, ...]) -> Evidence:
        """The intruder's side: what released values of the variables in play say."""

    def gathering(self, draws: Draws, rows: int) -> Gathering | None:  # noqa: ARG002 - a default
        """What the step collects of a file that is read in parts before it can be applied to any of them; `rows`: how
        many records there are where it stands. None where `apply` does to each record what it does to it alone."""
        return None

    @property
    def in_parts(self) -> bool:
        """Whether `View.counted` and `View.sampled` say all that evidence needs of the whole release, so that parts of
        it can be attacked by themselves; else the file must stay together."""
        return False

    def whole_file(self, level: str, guesses: Mapping[str, Any]) -> str:  # noqa: ARG002 - a default
        """Why the file must stay together for evidence at a level, given what is guessed, in words that follow the
        method's name; empty where it need not. By default `in_parts` says so for all levels and guesses."""
        return "" if self.in_parts else "reads the whole file"

    @property
    def reads_others(self) -> bool:
        """Whether what a record says of its owner hangs on other records (counts, ranks, means, a model), so that it
        would be otherwise without one of them; False where the likelihood was stated and not learnt."""
        return True

    def reads_missing(self, level: str) -> bool:  # noqa: ARG002 - a default
        """Whether evidence at a level understands a target whose value is missing; if not, that is not known of it."""
        return True

    def unused(self, level: str) -> str:  # noqa: ARG002 - a default
        """What evidence at a level leaves out though the level promises it, a sentence that is printed with an attack;
        empty where it leaves out nothing."""
        return ""

    def lean(self) -> Fitted:
        """The same without what only `apply` needs."""
        return self

    @property
    def nobody(self) -> str:
        """Why released rows belong to nobody, where that is known before the step is applied; empty where they do."""
        return ""

    def unfit(self, released: Records, rows: I64 | None) -> list[str]:  # noqa: ARG002 - a default
        """What of a release made elsewhere the step cannot have made: sentences with counts and no values.

        `released` holds what is released of the plan's variables, in the form in which they are; `rows` is the original
        row of each record, None where unknown. Not asked where a later step leaves out records.
        """
        return []

    def details(self) -> dict[str, Any]:
        """What the agency should know of what was done, beside the data: counts, costs, what is left. Private."""
        return {}

    def cautions(self) -> list[str]:
        """What a step does not do that its name may promise, in sentences that are printed with the release."""
        return []

    def truth(self, current: Records, stream: Callable[[str], np.random.Generator], shared: bool) -> list[Column]:  # noqa: ARG002
        """True values drawn around the file's, by a step that says how they differ; none by others."""
        return []

    @property
    def models_truth(self) -> bool:
        """Whether the step says how the truth differs from values that it releases as they are."""
        return type(self).truth is not Fitted.truth
