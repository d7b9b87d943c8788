"""What a node must meet: customary limits on classes, or limits on an intruder's risk, from counts of classes alone.

Under coarsening alone, with certain membership and no mistakes in what is known, a target's candidates are the f
records of its class, each as likely: p = 1/f. So expected matches are the number of classes, and so on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from confide.attack.intruder import Intruder
from confide.frames.columns import F64
from confide.measure.risk.file_risks.sensitive import Classes
from confide.measure.risk.identification import MARGIN

COUNTED: Mapping[str, Callable[[F64, float], float]] = {
    "found": lambda f, _: float(len(f)),
    "expected_matches": lambda f, _: float(len(f)),
    "claimed_matches": lambda f, _: float(len(f)),
    "unique_matches": lambda f, _: float((f == 1).sum()),
    "unique_declared": lambda f, _: float((f == 1).sum()),
    "over_threshold": lambda f, limit: float(f[1 / f > limit * (1 + MARGIN)].sum()),
}
"""Risks of somebody who knows keys of which nothing was altered but by coarsening, from the sizes of classes f."""
SHARE = "_share"


class Criterion(Protocol):
    """What must hold of the classes of a node.

    `keys`: what classes agree on. `sensitive`: a variable that is counted inside of classes. `monotone`: whether every
    coarser node meets it where one does. `value`: a number that must be at most `limit`, named `name` in tables.
    """

    @property
    def name(self) -> str: ...

    @property
    def keys(self) -> tuple[str, ...]: ...

    @property
    def sensitive(self) -> str | None: ...

    @property
    def limit(self) -> float: ...

    @property
    def monotone(self) -> bool: ...

    @property
    def words(self) -> str: ...

    def value(self, classes: Classes) -> float: ...


@dataclass(frozen=True)
class Counted:
    """A limit on one risk of one intruder, from sizes of classes."""

    risk: str
    limit: float
    intruder: str
    keys: tuple[str, ...]
    n: int
    threshold: float
    label: str = ""
    sensitive: str | None = None
    monotone: bool = True

    @property
    def name(self) -> str:
        """The risk, with its intruder where there are several."""
        return self.label or self.risk

    @property
    def words(self) -> str:
        """The limit in words."""
        known = ", ".join(self.keys) or "nothing"
        return f'{self.risk} of "{self.intruder}", who knows {known}, at most {self.limit:g}'

    def value(self, classes: Classes) -> float:
        """The risk."""
        found = COUNTED[self.risk.removesuffix(SHARE)](classes.size, self.threshold)
        return found / self.n if self.risk.endswith(SHARE) else found


def is_plain(who: Intruder) -> bool:
    """Whether, against coarsening alone, an intruder's risk follows from the sizes of classes: it knows values without
    mistakes, and that the target is in the file."""
    odd = (who.errors, who.between, who.as_printed, who.guesses, who.unit, who.believes)
    return (
        who.membership == "certain" and not any(odd) and who.knows_missing is True and who.levels[0] in ("sdl", "exact")
    )


def counted_limits(
    limits: Mapping[str, float], intruders: Mapping[str, Intruder], n: int, threshold: float
) -> list[Counted]:
    """A criterion for each limit and intruder."""
    several = len(intruders) > 1
    return [
        Counted(risk, limit, name, tuple(who.knows), n, threshold, f"{risk}, {name}" if several else "")
        for name, who in intruders.items()
        for risk, limit in limits.items()
    ]
