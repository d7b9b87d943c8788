"""The seam: what a protection method must offer. One file or folder per method, `apply` beside `evidence`.

A mechanism is a frozen statement (`Swap("race", rate=0.3)`). `fit` looks at the data and gives a `Fitted`, which
can be applied (the agency's side) and asked for evidence (the intruder's side), or a `Coarsening`. Nothing outside a
method's own file knows its name: whatever else may be asked of a method has a default in the classes here.
"""

from __future__ import annotations

import functools
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np

from confide.core.checks import name_of, names_of
from confide.core.errors import InputError
from confide.core.random.draws import Draws
from confide.frames.columns import I64, Column, Kind, Records
from confide.protect.seam.coarsening import Chain as Chain
from confide.protect.seam.coarsening import Coarsening as Coarsening
from confide.protect.seam.evidence import Evidence
from confide.protect.seam.matrices import Parts as Parts

Check = Callable[[Any], str | None]
"""What is wrong with a guess about a method's internals, in words; None for nothing."""


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


@dataclass(frozen=True, eq=False)
class View:
    """What an intruder's evidence may read: the released records and the plan around one random step.

    `released`: the r records. `before`, `after`: per variable the coarsenings before and after the random step
    (all of them in `after` where there is none). `sorts`: what became of each variable.

    Who asks: `level` of reasoning ("sdl", "average" or "exact"; "ignore" for labels alone), `known` variables of the
    target, `guesses` about what a method does not publish, by the method's own name for it, `as_printed` for formulas
    as a paper prints them.
    """

    released: Records
    before: Mapping[str, Chain]
    after: Mapping[str, Chain]
    sorts: Mapping[str, str] = field(default_factory=dict)
    level: str = "sdl"
    known: frozenset[str] = frozenset()
    guesses: Mapping[str, Any] = field(default_factory=dict)
    as_printed: bool = False

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


class Fitted(ABC):
    """A mechanism with what it learnt from the data."""

    @abstractmethod
    def apply(self, original: Records, current: Records, draws: Draws) -> Applied:
        """The agency's side: draw only from `draws`, by the numbers of records."""

    @abstractmethod
    def evidence(self, view: View, about: tuple[str, ...]) -> Evidence:
        """The intruder's side: what released values of the variables in play say."""

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

    def truth(self, current: Records, stream: Callable[[str], np.random.Generator], shared: bool) -> list[Column]:  # noqa: ARG002
        """True values drawn around the file's, by a step that says how they differ; none by others."""
        return []

    @property
    def models_truth(self) -> bool:
        """Whether the step says how the truth differs from values that it releases as they are."""
        return type(self).truth is not Fitted.truth


if TYPE_CHECKING:
    Name = Names = Sequence[str]  # a text is one, and what is read is a tuple
else:
    Name, Names = str, str | Sequence[str]
"""Annotations of a method's field `variables`: of one with `one_variable`, and of one that takes several."""


class Subject:
    """The `variables` of a method: stated as one name or several, read as a tuple; none where a method has none."""

    def __get__(self, step: Any, owner: type[Any] | None = None) -> tuple[str, ...]:
        if step is None:
            raise AttributeError("variables")  # so that a dataclass sees a field without a default
        found: tuple[str, ...] = step.__dict__.get("variables", ())
        return found

    def __set__(self, step: Any, given: str | Sequence[str]) -> None:
        name, single = type(step).__name__, isinstance(given, str) or not step.one_variable
        several = names_of(given, name) if single or len(tuple(given)) == 1 else (name_of(given, name),)  # type: ignore[arg-type]
        step.__dict__["variables"] = several


class Mechanism(ABC):
    """What a user states: a frozen dataclass with a field `variables: Names`, the columns that it replaces.

    A method must have `method`, its name in plan files; `role`: "coarsen" (deterministic, `fit` gives a `Coarsening`),
    "random" or "select"; and `fit`. What else may be asked has a default here.
    """

    method: ClassVar[str]
    if TYPE_CHECKING:
        variables: Names
    else:
        variables = Subject()
    one_variable: ClassVar[bool] = False
    """Whether a step has one variable only."""
    by_order: ClassVar[bool] = True
    """Whether the release may hang on the order of its variables' categories."""
    guesses: ClassVar[Mapping[str, Check]] = {}
    """Internals that an intruder may guess, by name, with a check of what is guessed."""
    needs_released: ClassVar[bool] = False
    """Whether what it needs must be released, since nobody could else say what its values tell."""
    linear: ClassVar[bool] = False
    """Whether it is a product of matrices, which `matrices` makes."""

    @property
    @abstractmethod
    def role(self) -> str:
        """ "coarsen", "random" or "select"."""

    @abstractmethod
    def fit(self, original: Records, current: Records, after: Mapping[str, Chain]) -> Fitted | Coarsening:
        """Learn what must be learnt from the data: `original` values in the form they have here, `current` ones."""

    @property
    def variable(self) -> str:
        """The one variable of a step that has one."""
        (name,) = self.variables
        return name

    @property
    def where(self) -> str:
        """The step, as errors name it."""
        return f'{type(self).__name__}("{", ".join(self.variables)}")'

    @property
    def needs(self) -> tuple[str, ...]:
        """Columns that it reads and leaves alone."""
        return ()

    @property
    def stream(self) -> str:
        """The key of its random numbers."""
        return ":".join((type(self).__name__, *(("+".join(self.variables),) if self.variables else ())))

    def kinds(self) -> Mapping[str, Kind]:
        """The kinds that it requires of its variables."""
        return {}

    def parts(self) -> Sequence[Mechanism]:
        """Itself, or the independent steps it stands for."""
        return (self,)

    def guess(self, released: Records) -> Mechanism:  # noqa: ARG002 - a default
        """What someone who knows the method but not its parameters would assume: by default the parameters."""
        return self

    def sort(self, sorts: Mapping[str, str]) -> str:  # noqa: ARG002 - a default
        """What becomes of its variables, given what became of those before: altered, or synthetic."""
        return ALTERED

    def beside(self, steps: Sequence[Mechanism]) -> list[str]:  # noqa: ARG002 - a default
        """What is wrong with it among the steps of a plan, in sentences."""
        return []

    @property
    def draws(self) -> bool:
        """Whether releases differ from seed to seed."""
        return True

    @property
    def selects(self) -> bool:
        """Whether it may leave out records."""
        return self.role == "select"

    @property
    def secret(self) -> tuple[str, ...]:
        """Columns that must not be released."""
        return ()

    def matrices(self, fitted: Fitted, original: Records, current: Records, draws: Draws) -> Parts:  # noqa: ARG002
        """The matrices of a step that is `linear`."""
        raise InputError(f"{type(self).__name__} is not known as a product of matrices.")

    def with_forced(self, rows: Iterable[int]) -> Mechanism | None:  # noqa: ARG002 - a default
        """The same step that always chooses these records too; None for one that cannot be told whom to choose."""
        return None

    @property
    def share_chosen(self) -> float | None:
        """The share of records chosen at random by a step that can be told whom to choose; None where it has none."""
        return None

    def with_share(self, share: float) -> Mechanism:  # noqa: ARG002 - a default
        """The same step with at least this share of records chosen."""
        return self


class CoarseningMethod(Mechanism):
    """What methods share that make one number or category coarser: the evidence is certain, nothing is drawn."""

    role: ClassVar[str] = "coarsen"
    by_order: ClassVar[bool] = False
    one_variable: ClassVar[bool] = True

    def kinds(self) -> Mapping[str, Kind]:
        return {self.variable: "numeric"}


OLD_SUBJECTS = ("what", "variable")
"""Earlier names of the argument `variables`."""

REGISTRY: dict[str, type[Any]] = {}
"""Methods by their name in plan files; a method's file adds itself with `@registered`."""

M = TypeVar("M", bound=type[Any])


def registered(cls: M) -> M:
    """Make a mechanism known to plan files under its `method` name."""
    REGISTRY[cls.method] = cls
    init = cls.__init__

    @functools.wraps(init)
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        for old in OLD_SUBJECTS:
            if old in kwargs:
                if "variables" in kwargs:
                    raise InputError(f"{cls.__name__}: {old} is the earlier name of variables; give one of them.")
                warnings.warn(f"{cls.__name__}: {old} is now called variables.", DeprecationWarning, stacklevel=3)
                kwargs["variables"] = kwargs.pop(old)
        init(self, *args, **kwargs)

    cls.__init__ = __init__
    return cls


def lacking(step: object) -> str:
    """A sentence for who wrote a step that does not extend `Mechanism`: what of a method it lacks."""
    names = [n for n in (*vars(Mechanism), "method") if not n.startswith("_") and n not in dir(step)]
    return (
        f"{type(step).__name__} looks like a step but does not extend the class Mechanism of confide.extend, which has "
        f"defaults for all that may be asked of a method. It lacks {', '.join(dict.fromkeys(names))}."
    )
