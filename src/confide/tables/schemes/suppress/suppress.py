"""Suppression: small counts are hidden, and others with them, so that none can be worked out from the rest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from confide.core.errors import ConfideError, InputError
from confide.core.random.draws import Draws
from confide.core.registry import registered
from confide.tables.layout import UNBOUNDED, Bools, Ints, Layout
from confide.tables.schemes.scheme import Settled
from confide.tables.schemes.suppress.audit import ranges
from confide.tables.schemes.suppress.pattern import Pattern

HIDDEN = -1
"""The published value of a hidden quantity."""


@registered
@dataclass(frozen=True)
class Suppress:
    """Hide counts below a limit (primary), and as many others (secondary) as it takes to protect them.

    Cells and margins with a count under `below` are hidden, zeros too unless `zeros="show"`. Shown counts are exact.
    Others are hidden with them until, for somebody who sees the rest, the smallest and the largest whole number that a
    primary count could be are at least `width` apart. Structural zeros are shown as 0, since everybody knows them.

    What an intruder can state: a shown count exactly; of a primary one 0 to `below` - 1, from 1 where zeros are shown;
    of a secondary one `below` or more, as its mark says that it is not small. With `marks="same"` the two look alike:
    0 or more, 1 or more where zeros are shown. Zeros are never hidden where `zeros="show"`.

    Which others to hide is a heuristic: for one primary count after another, the cheapest way to move it, by linear
    programming (Fischetti and Salazar 2001 describe the problem); then secondaries are shown again that are not needed,
    or for which cheaper ones do. Large tables get a pattern by elimination in order of counts (Langsrud 2024), with
    moves in whole numbers that prove it; programmes serve what is left. It protects, but need not be the smallest
    pattern. In the end every primary count is checked without looking at the true ones, by SciPy where tables that the
    search offers do not show it to be safe (`published.audit`); if the check cannot show it, nothing is published. An
    intruder who also knows how the pattern was searched for is not considered.

    >>> Suppress(below=5)
    Suppress(below=5, zeros='hide', width=1, marks='apart')
    >>> Suppress(below=2, zeros="show")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    confide.InputError: With below=2, zeros="show" and marks="apart" a hidden count lies between 1 and 1, ...
    """

    below: int
    zeros: Literal["hide", "show"] = "hide"
    width: int = 1
    marks: Literal["apart", "same"] = "apart"
    scheme: ClassVar[str] = "suppress"

    def __post_init__(self) -> None:
        object.__setattr__(self, "below", _number(self.below, "below", "the smallest count that need not be hidden"))
        object.__setattr__(self, "width", _number(self.width, "width", "how far apart a hidden count's ends must be"))
        if self.zeros not in ("hide", "show"):
            raise InputError('Suppress(zeros=...) is "hide" or "show".')
        if self.marks not in ("apart", "same"):
            raise InputError('Suppress(marks=...) is "apart" (primary and secondary are marked) or "same".')
        if self.below <= self.least:
            raise InputError('Suppress(below=1, zeros="show") hides nothing; use Exact(), or below from 2 upwards.')
        if self.marks == "apart" and self.below - 1 - self.least < self.width:
            raise InputError(
                f'With below={self.below}, zeros="{self.zeros}" and marks="apart" a hidden count lies between '
                f"{self.least} and {self.below - 1}, less than width={self.width} apart, whatever else is hidden; "
                'take a larger below, a smaller width, or marks="same".'
            )

    @property
    def least(self) -> int:
        """The smallest count that is hidden."""
        return 0 if self.zeros == "hide" else 1

    @property
    def random(self) -> bool:
        return False

    def settle(self, layout: Layout, counts: Ints, free: Bools, draws: Draws) -> Settled:  # noqa: ARG002
        """Hide counts of a table of `counts` (m). The audit has one row per primary count; see `audit.audit`."""
        true = layout.sums(counts)
        may = (layout.sums(free.astype(np.int64)) > 0) & (true >= self.least)
        primary = may & (true < self.below)
        low, high = self._hidden(primary)
        pattern = Pattern(layout, counts, free, primary, may, low, high, self.width)
        failed = pattern.search()
        if failed:
            raise self._impossible(failed, pattern.stopped)
        hidden = pattern.hidden
        lower, upper = np.where(hidden, low, true), np.where(hidden, high, true)
        checked = ranges(layout, lower, upper, free, np.flatnonzero(primary), self.width, offered=pattern.tables)
        if not checked.safe.all():
            raise ConfideError(
                f"The check did not show {int((~checked.safe).sum()):,} of {len(checked.safe):,} hidden counts to be "
                "safe, so nothing is published. Publish fewer margins, or report this if the table is small."
            )
        return Settled(np.where(hidden, HIDDEN, true), ~hidden, lower, upper, checked.frame)

    def _hidden(self, primary: Bools) -> tuple[Ints, Ints]:
        """What an intruder can state of each quantity if it is hidden."""
        if self.marks == "same":
            return np.full(len(primary), self.least), np.full(len(primary), UNBOUNDED)
        return np.where(primary, self.least, self.below), np.where(primary, self.below - 1, UNBOUNDED)

    def _impossible(self, failed: int, stopped: bool) -> InputError:
        if stopped:
            return InputError(
                f"No way to protect {failed:,} of the small counts was found within the time limit, and none was ruled "
                "out. Publish fewer margins, or ask for a smaller width."
            )
        return InputError(
            f"Even with everything hidden that may be, {failed:,} of the small counts can be told more closely than "
            f"width={self.width} allows. Publish fewer margins"
            + (", or ask for a smaller width" if self.width > 1 else "")
            + (', or mark all hidden counts alike: marks="same".' if self.marks == "apart" else ".")
        )


def _number(value: Any, name: str, meaning: str) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise InputError(f"Suppress({name}=...) is a whole number: {meaning}; not {type(value).__name__}.")
    if not 1 <= value <= 10**9:
        raise InputError(f"Suppress({name}=...) must be at least 1 and at most 10^9: {meaning}.")
    return int(value)
