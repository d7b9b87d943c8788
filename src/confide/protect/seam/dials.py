"""What a method offers to somebody who does not know which method to take: dials, each with a range of strengths.

A search turns dials. What a method suits and how strongly it can be turned stands in the method's own file, in
`Mechanism.dials`; nothing that searches names a method.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from confide.protect.seam.outlook import Outlook as Outlook
from confide.protect.seam.outlook import Subject as Subject

if TYPE_CHECKING:
    from confide.protect.seam.mechanism import Mechanism


@dataclass(frozen=True)
class Change:
    """What one turn of a dial does to a plan: steps that are added, and variables that are no longer released."""

    steps: tuple[Mechanism, ...] = ()
    drop: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Dial:
    """One way of using a method on some variables. `strengths`: values to try first, weakest first. `at`: the change at
    a strength. `says`: a strength in words, as "swap race, 10% of records". `between`: whether a number between two
    strengths is one too (with `whole`, only whole numbers are). `family`: what it is listed under. `dear`: it takes
    many seconds on this file, so that a search tries it last, and a quick one not at all."""

    family: str
    variables: tuple[str, ...]
    strengths: tuple[Any, ...]
    at: Callable[[Any], Change]
    says: Callable[[Any], str]
    between: bool = False
    whole: bool = False
    dear: bool = False

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


def together(
    offers: Sequence[Dial | Untried], says: Callable[[tuple[str, ...], Any], str], dear_from: int | None = None
) -> list[Dial]:
    """Dials turned as one, at the strengths that all of them have; none for fewer than two. `says`: a strength in
    words, for the variables named. `dear_from`: how many dials together take long on this file; None: never."""
    dials = [d for d in offers if isinstance(d, Dial)]
    if len(dials) < 2:
        return []
    first, *others = dials
    names = tuple(dict.fromkeys(v for d in dials for v in d.variables))
    strengths = tuple(x for x in first.strengths if all(x in d.strengths for d in others))

    def at(x: Any) -> Change:
        return Change(tuple(step for d in dials for step in d.at(x).steps))

    joint = Dial(
        first.family, names, strengths, at, lambda x: says(names, x), first.between, first.whole,
        dear_from is not None and len(dials) >= dear_from,
    )  # fmt: skip
    return [joint] if strengths else []


MANY = 5_000
"""Rows beyond which several numbers that are altered at random take many seconds to attack."""


def dear_numbers(outlook: Outlook) -> int | None:
    """From how many random numbers on the attack of a file takes long: what is unknown is integrated over."""
    return 3 if outlook.rows > MANY else None


WORK = 20_000_000
"""Rows times joint categories beyond which beliefs about both take many seconds, and much memory."""
NUMBERS = 100
"""Values up to which a number that is known is one of the categories that an attack tells apart."""


def dear_together(outlook: Outlook, names: Sequence[str]) -> bool:
    """Whether the attack of a file in which these are drawn anew takes long: somebody who knows several of them
    considers all their joint categories for every record."""
    known = [s for s in outlook.those() if s.known and s.name in names]
    many = [s.distinct for s in known if s.kind == "categorical" or s.distinct <= NUMBERS]
    return len(many) > 1 and outlook.rows * min(math.prod(many), outlook.rows) > WORK


def rounded(value: float) -> float:
    """A number with two digits, a whole one where it can be: what an agency would state, and no person's own value.

    >>> rounded(54_896.3), rounded(0.0374)
    (55000, 0.037)
    """
    short = float(f"{value:.2g}")
    return int(short) if short.is_integer() else short
