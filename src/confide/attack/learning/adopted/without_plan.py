"""The two attacks that need no plan: every record within a radius, and the nearest record.

Radius: record j is a candidate of target t if every known category is equal, and every known number has

    |z_j - t| <= max(share |t|, floor).

Nearest: the candidates are the records with the least distance (those within 1e-9 of it share),

    d(t, j)^2 = sum_v ((z_jv - t_v) / sd_v)^2 + weight * (number of categories that differ).

In both each of n_t candidates has the probability 1 / n_t.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np

from confide.attack.learning.adopted.matches import Matches, make_units, meet
from confide.attack.learning.adopted.people import of_file, of_frame
from confide.attack.learning.adopted.settled import Settled
from confide.core.checks import names_of
from confide.core.documents.statement import Statement
from confide.core.errors import InputError, did_you_mean
from confide.frames.columns import F64

if TYPE_CHECKING:
    from confide.protect.release import Release


class WithoutPlan(Statement):
    """What attacks that need no plan share: they are stated, settled for a release, and run."""

    if TYPE_CHECKING:
        knows: Any
        wildcard: Any

    @abstractmethod
    def settle(self, release: Release) -> Settled:
        """The attack for one release."""

    def attack(
        self, release: Release, targets: Any = None, truth: Any = None, *, threads: int | None = None
    ) -> Matches:
        """Attack a release: who could be whom.

        Default targets are the people behind the released rows; without a link all people of the original. `targets`
        is a frame with the known variables, `truth` each one's original row, -1 for somebody who is not there.

        >>> import confide as cf
        >>> release = cf.Release.adopt({"age": [31, 42]}, {"age": [42, 33]}, link=[1, 0])
        >>> cf.Radius("age", share=0.1, numeric="age").attack(release).units["p_true"].to_list()
        [1.0, 1.0]
        """
        settled = self.settle(checked_release(release))
        if targets is None and truth is not None:
            raise InputError("truth goes with targets; the default targets know theirs.")
        people = (
            of_file(release, settled.original)
            if targets is None
            else of_frame(release, settled.original, targets, truth)
        )
        met = meet(settled, people, threads)
        return Matches(make_units(met), settled, met, threads)


def checked_release(release: Release) -> Release:
    """A release; two files are to be made one first."""
    from confide.protect.release import Release as Made

    if not isinstance(release, Made):
        raise InputError(
            f"An attack takes a release, not {type(release).__name__}: make one of two files by "
            "cf.Release.adopt(original, released)."
        )
    return release


def checked_names(statement: Any) -> None:
    """Names as tuples; wildcards and kinds among what is known."""
    name = type(statement).__name__
    object.__setattr__(statement, "knows", names_of(statement.knows, f"{name}: knows"))
    for part in ("wildcard", "categorical", "numeric"):
        given = getattr(statement, part)
        if isinstance(given, bool):
            continue
        said = names_of(given, f"{name}: {part}") if given else ()
        object.__setattr__(statement, part, said)
        for v in said:
            if v not in statement.knows:
                raise InputError(f'{name}: {part} names "{v}", which is not known.{did_you_mean(v, statement.knows)}')
    twice = sorted({*statement.categorical} & {*statement.numeric})
    if twice:
        raise InputError(f"{name}: {', '.join(twice)} is said to be categorical and numeric; choose one.")


def spread(values: F64) -> float:
    """The standard deviation of the numbers among values; 1 where there is none, since nothing lies apart then."""
    there = values[~np.isnan(values)]
    found = float(np.std(there)) if len(there) else 0.0
    return found if found > 0 else 1.0
