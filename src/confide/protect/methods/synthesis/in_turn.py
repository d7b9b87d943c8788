"""What synthesis offers to a search: variables drawn in turn, each from those that are kept and those before it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

from confide.protect.seam.dials import Change, Dial, Offers, Outlook, Subject, Untried
from confide.protect.seam.mechanism import Mechanism
from confide.protect.seam.words import listed

COUNTS = (8, 4, 2, 0)
"""Numbers of predictors to try: the fewer, the less a value tells of its owner, and of anything else."""
COLUMNS = 60
"""Columns that predictors make at most, indicators of categories included."""
PER_COLUMN = 10
"""Records for each such column, at least."""
ENOUGH = 20
"""Records with a value that a model is learnt from, at least."""

Make = Callable[[str, tuple[str, ...], Any], Mechanism]
"""A step for a variable, its predictors and a strength."""


def predictors(outlook: Outlook, name: str, among: Collection[str]) -> tuple[str, ...]:
    """Of the variables that one hangs together with, the strongest first, those that its records are enough for."""
    s = outlook.readable[name]
    left = min(COLUMNS, len(s.amounts) // PER_COLUMN) - 1
    found: list[str] = []
    for v in outlook.related([name], levels=COLUMNS):
        other = outlook.readable[v]
        width = other.distinct if other.kind == "categorical" else 1 + bool(other.column.missing.any())
        if v in among and width <= left:
            found.append(v)
            left -= width
    return tuple(found)


def drawn(outlook: Outlook, names: Sequence[str], make: Make, count: int, strength: Any) -> tuple[Mechanism, ...]:
    """A step for each variable, in turn, from at most `count` predictors."""
    gone = set(names)
    steps = []
    for i, name in enumerate(names):
        among = (set(outlook.readable) - gone) | set(names[:i])
        steps.append(make(name, predictors(outlook, name, among)[:count], strength))
    return tuple(steps)


def learnable(s: Subject) -> bool:
    """Whether enough records have a value to learn from, and not all the same."""
    return len(s.amounts) >= ENOUGH and bool((s.amounts != s.amounts[0]).any())


def by_count(
    method: str, outlook: Outlook, names: tuple[str, ...], make: Make, says: Callable[[tuple[str, ...], int], str]
) -> Dial:
    """Variables in turn, by the number of predictors."""
    most = max(len(step.needs) for step in drawn(outlook, names, make, COUNTS[0], None))
    counts = tuple(dict.fromkeys(min(c, most) for c in COUNTS))
    return Dial(method, names, counts, lambda n: Change(drawn(outlook, names, make, n, None)), lambda n: says(names, n))


def sets(outlook: Outlook, subjects: Sequence[Subject]) -> list[tuple[str, ...]]:
    """Several variables that are worth drawing together: those known, those sensitive, both; and all there are."""
    worth = set(outlook.worth())
    chosen = [
        [s for s in subjects if s.known], [s for s in subjects if s.sensitive], [s for s in subjects if s in worth],
        subjects,
    ]  # fmt: skip
    return [names for names in dict.fromkeys(tuple(s.name for s in group) for group in chosen) if len(names) > 1]


def numbers_in_turn(method: str, outlook: Outlook, make: Make, how: str) -> Offers:
    """Each number that is worth it, and several in turn; those of which too little is there are not offered."""

    def says(names: tuple[str, ...], count: int) -> str:
        many = "from no other variable" if not count else f"from {count} predictor{'s' if count > 1 else ''}"
        return f"synthetic {listed(names)}, {how} {many}"

    numbers = [s for s in outlook.those("numeric") if learnable(s)]
    few = tuple(s.name for s in outlook.worth("numeric") if not learnable(s))
    if few:
        yield Untried(method, "too few records have a value that is not zero to learn from", few)
    single = [(s.name,) for s in outlook.worth("numeric") if learnable(s)]
    yield from (by_count(method, outlook, names, make, says) for names in (*single, *sets(outlook, numbers)))
