"""Inference: a variable guessed from the nearest released row, as users of other tools know it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from confide.attack.learning.adopted.attack_rates import AttackRates
from confide.attack.learning.adopted.guessing import Asked, asked_for, by_candidates
from confide.attack.learning.adopted.losses import WITHIN
from confide.attack.learning.adopted.matches import meet
from confide.attack.learning.adopted.nearest import DISTANCES, Nearest
from confide.attack.learning.adopted.people import People, held_out_people, of_file
from confide.attack.learning.adopted.rates import Rate
from confide.attack.learning.adopted.settled import Settled
from confide.attack.learning.adopted.without_plan import checked_release
from confide.core.checks import fraction, names_of
from confide.core.documents.statement import Statement
from confide.core.errors import InputError
from confide.frames.columns import F64

if TYPE_CHECKING:
    from confide.protect.release import Release


@dataclass(frozen=True, eq=False)
class Inference(Statement):
    """The value of the nearest released row taken for the person's own: of those that tie, one is picked at random.

    `knows`: the known variables; `learns`: the variable that is guessed. A category is right when it is equal; a number
    when it is `within` a share of the truth, both ends included. `distance`, `weight`: as of `Nearest`. Naive guessing
    is a released value picked at random. With published relations beside it: `Nearest(...).attack(release).guess(...)`.

    >>> import confide as cf
    >>> heads = cf.demo("heads")
    >>> release = cf.Release.adopt(heads.head(2_000), heads.head(2_000))
    >>> found = cf.Inference(["age", "sex", "hh_income"], "tenure").attack(release, held_out=heads.tail(2_000))
    >>> found.attack.value > found.control.value > found.naive.value
    True
    """

    knows: str | Sequence[str] = field(metadata={"example": ["sex", "age"]})
    learns: str = field(metadata={"example": "income"})
    within: float = 0.05
    distance: str = field(default="gower", metadata={"choices": DISTANCES})
    weight: float = 1.0
    categorical: str | Sequence[str] = ()
    numeric: str | Sequence[str] = ()

    _section: ClassVar[str] = "inference"

    def __post_init__(self) -> None:
        object.__setattr__(self, "knows", names_of(self.knows, "Inference: knows"))
        if not isinstance(self.learns, str) or not self.learns or self.learns in self.knows:
            raise InputError("Inference: learns is the name of one variable that is not known.")
        if not 0 < fraction(self.within, "Inference: within") < 1:
            raise InputError("Inference: within is a share of the truth between 0 and 1, such as 0.05.")
        self._nearest()

    def _nearest(self) -> Nearest:
        return Nearest(self.knows, self.weight, self.distance, False, self.categorical, self.numeric)

    def attack(self, release: Release, held_out: Any = None, *, threads: int | None = None) -> AttackRates:
        """Guess the variable of everybody, and of people held out.

        >>> import confide as cf
        >>> file = {"age": [31, 42, 57, 68], "ill": ["no", "no", "yes", "yes"]}
        >>> cf.Inference("age", "ill", numeric="age").attack(cf.Release.adopt(file, file)).attack.value
        1.0
        """
        settled = self._nearest().settle(checked_release(release))
        number = (
            release.before.column(self.learns).kind == "numeric" if self.learns in release.original.columns else False
        )
        asked = asked_for(
            release,
            settled.compared.names,
            self.learns,
            "within" if number else "zero_one",
            self.within if number else None,
        )
        attack, naive = _right(settled, asked, of_file(release, settled.original), threads)
        control = None
        if held_out is not None:
            people = held_out_people(release, settled.original, held_out)
            control, _ = _right(settled, asked, people, threads)
        how = f"within {self.within:g} of the truth" if number else "equal"
        title = f'Inference of "{self.learns}" ({how}) from {", ".join(settled.compared.names)}'
        return AttackRates(title, attack, naive, control, None, settled.notes)


def _right(settled: Settled, asked: Asked, people: People, threads: int | None) -> tuple[Rate, Rate]:
    """Right guesses by the nearest row, and by a released value at random."""
    truth = asked.truth(people.values(asked.column))
    met = meet(settled, people, threads)
    found, _ = by_candidates(met.found, met.of, None, asked, truth, threads)
    there = ~np.isnan(truth)
    blind = _at_random(asked, truth[there])
    n = int(there.sum())
    return Rate(float(np.nan_to_num(found.p_true[there]).sum()), n), Rate(float(blind.sum()), n)


def _at_random(asked: Asked, truth: F64) -> F64:
    """The share of released values that would be right, for each person."""
    values = np.sort(asked.released[~np.isnan(asked.released)])
    reach = asked.share * np.abs(truth) * (1 + 1e-9) if asked.kind == WITHIN else np.zeros(len(truth))
    low, high = np.searchsorted(values, truth - reach), np.searchsorted(values, truth + reach, side="right")
    return np.asarray((high - low) / max(len(values), 1))
