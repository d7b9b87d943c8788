"""The seam: what a protection method must offer. One file or folder per method, `apply` beside `evidence`.

A mechanism is a frozen statement (`Swap("race", rate=0.3)`). `fit` looks at the data and gives a `Fitted`, which
can be applied (the agency's side) and asked for evidence (the intruder's side), or a `Coarsening`. Nothing outside a
method's own file knows its name: whatever else may be asked of a method has a default in the classes here.
"""

from __future__ import annotations

import functools
import inspect
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from confide.core.checks import names_of
from confide.core.errors import InputError, Problems, raise_all
from confide.core.random.draws import Draws
from confide.core.registry import any_of
from confide.core.registry import registered as registered
from confide.frames.columns import Kind, Records
from confide.protect.seam.coarsening import Chain, Coarsening
from confide.protect.seam.dials import Offers, Outlook, Untried
from confide.protect.seam.fitted import ALTERED, Fitted
from confide.protect.seam.matrices import Parts
from confide.protect.seam.words import stated

Check = Callable[[Any], str | None]
"""What is wrong with a guess about a method's internals, in words; None for nothing."""


if TYPE_CHECKING:
    Name = Sequence[str]  # a text is one, and what is read is a tuple
    Names = Sequence[str]
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
        names = names_of(given, type(step).__name__)
        if step.one_variable and len(names) > 1:
            raise InputError(f"{type(step).__name__} takes the name of one column; give a step for each.")
        step.__dict__["variables"] = names


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
    goes_on: ClassVar[bool] = False
    """Whether it can go on with some of its variables alone, all else as it is stated."""
    linear: ClassVar[bool] = False
    """Whether it is a product of matrices, which `matrices` makes."""
    by_heads: ClassVar[bool] = False
    """Whether with ``per="unit"`` it is carried out on one record of each unit, and all rows of a unit get the same."""
    counts_units: ClassVar[bool] = False
    """Whether it asks how many units, not only how many rows, have something in common."""
    margins: ClassVar[bool] = False
    """Whether `fit` reads its variables each by itself, and no joint values of them."""

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
    def what(self) -> Sequence[str]:
        """The earlier name of `variables`."""
        warnings.warn(f"{type(self).__name__}: what is now called variables.", DeprecationWarning, stacklevel=3)
        return self.variables

    @property
    def where(self) -> str:
        """The step, as errors name it."""
        name = next(c.__name__ for c in type(self).__mro__ if not c.__name__.startswith("_"))
        return f'{name}("{", ".join(self.variables)}")'

    @property
    def words(self) -> str:
        """The step in words, as a heading may have them: what is done to which variables, and how strongly; nothing of
        the data, and nobody who was chosen. By default its method and what was stated.

        >>> import confide as cf
        >>> cf.Swap("race", rate=0.1, within="sex").words
        'swap race within sex, 10% of records'
        """
        return stated(self)

    @property
    def needs(self) -> tuple[str, ...]:
        """Columns that it reads and leaves alone."""
        return ()

    @property
    def stream(self) -> str:
        """The key of its random numbers."""
        return ":".join((type(self).__name__, *(("+".join(self.variables),) if self.variables else ())))

    def names_in(self, problems: Problems, *parts: str) -> None:
        """Fields that name columns as tuples, empty where what they hold is no such thing: that is a problem."""
        for part in parts:
            names: tuple[str, ...] = ()
            given = getattr(self, part)
            with problems:
                names = names_of(given, f"{self.where}: {part}") if given else ()
            object.__setattr__(self, part, names)

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

    def without(self, variables: Collection[str]) -> Sequence[Mechanism] | None:
        """The steps that are left where some variables are not released; None where it cannot go on without them.

        By default those of its independent parts that have none of these variables, each without them if it `goes_on`.
        """
        gone, left = set(variables), []
        for part in self.parts():
            names = tuple(v for v in part.variables if v not in gone)
            if names and len(names) < len(part.variables):
                if not part.goes_on:
                    return None
                part = replace(part, variables=names)  # type: ignore[type-var]  # a method is a dataclass
            if names or not part.variables:
                left.append(part)
        return left if gone & set(self.variables) else (self,)

    def at_once(self) -> str:
        """Why it needs the whole file at once, so that a file larger than memory is refused, and what to do instead;
        empty for a step that can be carried out on a file that is read in parts. Then `fit` heeds `Records.count`."""
        return (
            f"{self.where} works on the whole file at once, so it is not for files that are read in parts. Read the "
            "file into memory (cf.read), or leave the step out."
        )

    @property
    def tallied(self) -> tuple[str, ...]:
        """Of a step for files that are read in parts: the variables whose joint values, each with how many records have
        it, are all that `fit` reads."""
        return (*self.variables, *self.needs)

    @property
    def learns_from(self) -> int | None:
        """How many records `fit` takes, drawn at random, in place of all; None where it reads all, or their counts."""
        return None

    @property
    def draws(self) -> bool:
        """Whether releases differ from seed to seed."""
        return True

    @property
    def selects(self) -> bool:
        """Whether it may leave out records."""
        return self.role == "select"

    @property
    def per_unit(self) -> bool:
        """Whether it draws once for all rows of a unit, instead of for each record."""
        return False

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

    @classmethod
    def dials(cls, outlook: Outlook) -> Offers:  # noqa: ARG003 - a default
        """How a search may use the method on a file: which variables it suits, and a range of strengths for each.

        A method that offers none says why, in `Untried`, for those who ask what was never tried.
        """
        return (Untried(cls.method, "it states no range of strengths"),)

    def with_share(self, share: float) -> Mechanism:  # noqa: ARG002 - a default
        """The same step with at least this share of records chosen."""
        return self


class CoarseningMethod(Mechanism):
    """What methods share that make one number or category coarser: the evidence is certain, nothing is drawn."""

    role: ClassVar[str] = "coarsen"
    margins: ClassVar[bool] = True
    by_order: ClassVar[bool] = False
    one_variable: ClassVar[bool] = True

    def at_once(self) -> str:
        return ""

    def kinds(self) -> Mapping[str, Kind]:
        return {self.variable: "numeric"}


OLD_SUBJECTS = ("what", "variable")
"""Earlier names of the argument `variables`."""


def _take_old_names(cls: type[Any]) -> None:
    """Let a method take its variables under their earlier names, with a warning."""
    init = cls.__init__
    first = next(iter([*inspect.signature(init).parameters][1:]), "")

    @functools.wraps(init)
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        for old in OLD_SUBJECTS:
            if old in kwargs:
                if "variables" in kwargs:
                    raise InputError(f"{cls.__name__}: {old} is the earlier name of variables; give one of them.")
                warnings.warn(f"{cls.__name__}: {old} is now called variables.", DeprecationWarning, stacklevel=3)
                kwargs["variables"] = kwargs.pop(old)
        try:
            init(self, *args, **kwargs)
        except InputError as error:
            if first == "variables" not in self.__dict__ and (args or "variables" in kwargs):
                raise_all([*error.problems, *_wrong_besides(cls, init, args, kwargs)])
            raise

    __init__.__renamed__ = dict.fromkeys(OLD_SUBJECTS, "variables")  # type: ignore[attr-defined]
    cls.__init__ = __init__


def _wrong_besides(
    cls: type[Any], init: Callable[..., None], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> list[str]:
    """What is wrong with a step beside the names of its variables."""
    try:
        init(object.__new__(cls), "...", *args[1:], **{k: v for k, v in kwargs.items() if k != "variables"})
    except InputError as error:
        return list(error.problems)
    return []


any_of("method", Mechanism, prepare=_take_old_names)


def lacking(step: object) -> str:
    """A sentence for who wrote a step that does not extend `Mechanism`: what of a method it lacks."""
    names = [n for n in (*vars(Mechanism), "method") if not n.startswith("_") and n not in dir(step)]
    return (
        f"{type(step).__name__} looks like a step but does not extend the class Mechanism of confide.extend, which has "
        f"defaults for all that may be asked of a method. It lacks {', '.join(dict.fromkeys(names))}."
    )
