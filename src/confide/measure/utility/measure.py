"""What a measure of utility is: a number that compares a release with the original, and which way it points."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np

from confide.core.checks import names_of
from confide.core.errors import InputError, is_text
from confide.core.registry import any_of
from confide.measure.utility.pair import Pair


@runtime_checkable
class Measure(Protocol):
    """Anything that compares two files and says which way is better.

    `name`: its column in results. `direction`: "higher" or "lower" is better. `range`: the least and the largest value
    that it can take. `best`: what two identical files give. Calling it with the original and the released frame gives
    the value; `weight` names a column of both, `link` is the original row of each released row (or None). A class with
    these is a measure, wherever it comes from:

    >>> import confide as cf
    >>> class Zeros:
    ...     name, direction, range, best = "zeros", "lower", (0.0, 1.0), 0.0
    ...
    ...     def __call__(self, original, released, *, weight=None, link=None):
    ...         before, after = ((f["other_income"] == 0).mean() for f in (original, released))
    ...         return abs(after - before)
    >>> heads = cf.demo("heads").head(2000)
    >>> release = cf.Plan([cf.Noise("other_income", sd=500)]).protect(heads, seed=1)
    >>> cf.utility(release, [Zeros()])["value"].item() > 0.1
    True
    """

    @property
    def name(self) -> str: ...

    @property
    def direction(self) -> str: ...

    @property
    def range(self) -> tuple[float, float]: ...

    @property
    def best(self) -> float: ...

    def __call__(self, original: Any, released: Any, *, weight: str | None = None, link: Any = None) -> float: ...


any_of("measure", Measure)


@dataclass(frozen=True)
class Found:
    """A value, and what to know beside it: how many variables, which of them lost most, what was left out.

    `lost`: the items (variables, pairs, coefficients, estimates) that the release no longer allows, each counted at the
    worst value. `items`: how many the original has.
    """

    value: float
    detail: str = ""
    lost: tuple[str, ...] = ()
    items: int = 0


@dataclass(frozen=True, kw_only=True)
class Stated:
    """What the measures of this package share. `label` replaces the name where one measure is asked for twice.

    A measure computes with `of`, given one pair of files per copy: a release alone is one copy. `needs_link`: whether
    it must know which released row belongs to which original one.
    """

    label: str | None = None

    key: ClassVar[str]
    needs_link: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if self.label is not None and not (isinstance(self.label, str) and is_text(self.label)):
            raise InputError(f'{type(self).__name__}: label is the name in results, text such as "by race".')

    @property
    def name(self) -> str:
        """Its name in results."""
        return self.label or self.key

    @property
    def direction(self) -> str:
        """Which way is better: "higher" or "lower"."""
        return "lower"

    @property
    def range(self) -> tuple[float, float]:
        """The least and the largest value possible."""
        return 0.0, inf

    @property
    def best(self) -> float:
        """The value of a release that is identical to the original."""
        return 0.0

    @property
    def worst(self) -> float:
        """What an item counts that a release has lost, and at most where it has not."""
        return self.range[self.direction == "lower"]

    @property
    def by_variable(self) -> str:
        """How it uses variables ("number", "category"), where it is the mean of what each shows by itself, which
        distinct values and their weights tell; empty for what compares them jointly, or record by record."""
        return ""

    @property
    def jointly(self) -> str:
        """How it compares several variables in a file that is read in parts: "pairs", two at a time, by their joint
        values; "products", by sums of products of numbers; "rows", by the different rows of `reads_jointly`. Empty
        where only all records tell."""
        return ""

    def __call__(self, original: Any, released: Any, *, weight: str | None = None, link: Any = None) -> float:
        """The value for two frames."""
        return self.of([Pair.of_frames(original, released, weight, link)]).value

    def of(self, pairs: Sequence[Pair]) -> Found:
        """The value for the original beside each of several copies."""
        raise NotImplementedError


def named(variables: str | Sequence[str] | None, where: str) -> tuple[str, ...] | None:
    """Names of variables as a tuple; None stands for all that can be compared."""
    if variables is None:
        return None
    if isinstance(variables, Mapping) or not isinstance(variables, Iterable):
        raise InputError(f"{where}: variables takes the name of a column, or a list of names.")
    return names_of(variables, f"{where}: variables")


def described(what: str, names: Sequence[str], losses: Any, notes: Sequence[str] = ()) -> str:
    """How many were compared, which of them differs most, and the notes."""
    values = np.asarray(losses, dtype=float)
    text = f"{len(names)} {what}{'s' * (len(names) != 1)}"
    if len(names) > 1 and values.max() > 0:
        text += f"; most: {names[int(values.argmax())]} ({values.max():.3g})"
    return "; ".join([text, *notes])
