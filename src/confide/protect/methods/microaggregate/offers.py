"""What microaggregation offers to a search: numbers one by one and several together, by the size of groups."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from confide.frames.distinct import Distinct
from confide.protect.seam.dials import Change, Dial, Offers, Outlook, Subject, Untried

if TYPE_CHECKING:
    from confide.protect.methods.microaggregate.microaggregate import Microaggregate

METHOD = "microaggregate"
SIZES = (3, 5, 10, 25, 100)
"""Sizes of groups to try."""
GROUPS = 5
"""How many groups there must be at least."""
TOGETHER = 8
"""Numbers that are averaged together at most: in more dimensions nobody is near."""
ROWS = 100_000
"""Records up to which several numbers are averaged together: the time grows with their square."""


def offers(cls: Callable[..., Microaggregate], outlook: Outlook) -> Offers:
    """Single numbers; those known together; all that are worth it together."""
    numbers = outlook.worth("numeric")
    sets: list[tuple[Subject, ...]] = [(s,) for s in numbers]
    known, others = (tuple(s for s in numbers if s.known == which) for which in (True, False))
    joint = dict.fromkeys((known, others, numbers))
    several = [group for group in joint if 1 < len(group) <= TOGETHER]
    if several and outlook.rows > ROWS:
        yield Untried(METHOD, f"several numbers together take too long in a file of more than {ROWS:,} rows")
    elif several:
        sets += several
    none = []
    for group in sets:
        sizes = tuple(k for k in SIZES if k <= _most(group))
        if sizes:
            yield _dial(cls, tuple(s.name for s in group), sizes)
        else:
            none.append(tuple(s.name for s in group))
    yield from (Untried(METHOD, "too few records have values of the same variables", names) for names in none)


def _most(group: Sequence[Subject]) -> int:
    """The largest size: that of the smallest set of records with the same variables present, or a part of the file."""
    there = [s.column.usable.astype(np.int64) for s in group]
    found = Distinct.rows(there, len(there[0]))
    some = np.array([any(bool(t[row]) for t in there) for row in found.first])
    sizes = found.count[some]
    return int(min(sizes.min(), sizes.sum() // GROUPS))


def _dial(cls: Callable[..., Microaggregate], names: tuple[str, ...], sizes: tuple[int, ...]) -> Dial:
    return Dial(
        METHOD, names, sizes, lambda k: Change((cls(names, k=k),)),
        lambda k: cls(names, k=k).words, between=True, whole=True,
    )  # fmt: skip
