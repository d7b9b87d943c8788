"""`check_dials`: what a method offers to a search is carried out and attacked, at every strength."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from confide.attack.intruder import Intruder
from confide.core.checks import names_of
from confide.core.errors import InputError, raise_all
from confide.core.random.seeds import checked_seed
from confide.frames.encoded import Encoded
from confide.frames.hierarchies.hierarchy import Hierarchy
from confide.measure.conformance.check import Checked, Row
from confide.measure.conformance.twin import evenly
from confide.protect.plan import Plan
from confide.protect.seam.dials import Dial, Outlook, Untried
from confide.protect.seam.mechanism import Mechanism

ROWS = 2_000
"""Rows that are looked at."""
FAR = 4.0
"""By how many standard errors more people may be found at the strongest setting than at the weakest."""


def check_dials(
    method: type[Mechanism], data: Any, *, knows: str | Sequence[str] = (), sensitive: str | Sequence[str] = (),
    unit: str | None = None, hierarchies: Mapping[str, Hierarchy] | None = None, seed: int = 1, fail: bool = True,
) -> Checked:  # fmt: skip
    """Whether what a method offers to a search (`Mechanism.dials`) can be done to the data given: of more than 2,000
    rows to so many.

    Of each dial is checked: that its strengths differ and are told in words without powers of ten; that a plan with its
    steps is carried out at every strength, and between the first two if it says that there are some; that an intruder
    who knows the variables in `knows` can attack it; that this intruder does not find more people at the strongest
    setting than at the weakest, to four standard errors. A method that offers nothing must say why.

    What fails is raised in sentences; with ``fail=False`` the result only tells it.

    >>> import confide as cf
    >>> heads = cf.demo("heads").head(300).select("race", "sex")
    >>> cf.extend.check_dials(cf.Swap, heads, knows=["sex", "race"]).ok
    True
    """
    if not isinstance(method, type) or not issubclass(method, Mechanism):
        raise InputError("check_dials takes the class of a method, such as cf.Swap.")
    known, private = (
        names_of(given, what) if given else () for given, what in ((knows, "knows"), (sensitive, "sensitive"))
    )
    file = Encoded.of(data)
    file = file.taken(evenly(np.arange(file.frame.height), ROWS))
    outlook = Outlook.of(file, known=known, sensitive=private, unit=unit, hierarchies=hierarchies)
    intruder = Intruder(knows=list(known)) if known else None
    rows = [
        row for offer in method.dials(outlook) for row in _Tried(offer, file, unit, intruder, checked_seed(seed)).rows()
    ]
    if not rows:
        rows = [("dials", False, "it offers nothing and does not say why: give Untried(...)")]
    if fail:
        wrong = [f"{check}: {detail}." for check, ok, detail in rows if ok is False]
        raise_all(wrong, f"{method.__name__} offers what cannot be done:")
    schema = {"check": pl.String, "ok": pl.Boolean, "detail": pl.String}
    return Checked(pl.DataFrame(rows, schema=schema, orient="row"))


class _Tried:
    """One offer, tried out."""

    def __init__(
        self, offer: Dial | Untried, file: Encoded, unit: str | None, intruder: Intruder | None, seed: int
    ) -> None:
        self.offer, self.file, self.unit, self.intruder, self.seed = offer, file, unit, intruder, seed

    def rows(self) -> Iterator[Row]:
        offer = self.offer
        name = ", ".join((offer.family, *offer.variables))
        if isinstance(offer, Untried):
            yield name, bool(offer.why), offer.why or "says nothing of why it is not offered"
            return
        wrong = _wrong_words(offer)
        yield f"{name}: strengths", not wrong, wrong or f"from {offer.says(offer.strengths[0])}"
        if not wrong:
            yield f"{name}: carried out", *self._carried_out(offer)

    def _carried_out(self, dial: Dial) -> tuple[bool, str]:
        """Whether all strengths are, and the strongest protects no less than the weakest."""
        low, high = dial.strengths[0], dial.strengths[min(1, len(dial.strengths) - 1)]
        middle = dial.middle(low, high)
        if dial.between and middle is not None:
            try:
                self.found(dial, middle)
            except InputError as cause:
                return False, f'between two strengths, at "{dial.says(middle)}": {str(cause).rstrip(".")}'
        found = []
        for strength in dial.strengths:
            try:
                found.append(self.found(dial, strength))
            except InputError as cause:
                return False, f'at "{dial.says(strength)}": {str(cause).rstrip(".")}'
        more = found[-1] - found[0]
        if more > FAR * np.sqrt(1 + found[0] + found[-1]):
            return False, f"{more:.0f} more people are found at the last strength than at the first"
        return True, f"{len(found)} strengths, people found from {found[0]:.0f} to {found[-1]:.0f}"

    def found(self, dial: Dial, strength: Any) -> float:
        """How many people the intruder finds in what a strength releases; nobody without one."""
        change = dial.at(strength)
        release = Plan(change.steps, drop=change.drop, unit=self.unit).protect(self.file, seed=self.seed)
        found = None if self.intruder is None else self.intruder.attack(release).summary().found
        return float(found or 0.0)


def _wrong_words(dial: Dial) -> str:
    """What is wrong with the strengths of a dial or how they are told; empty for nothing."""
    said = [dial.says(x) for x in dial.strengths]
    if not said:
        return "it has no strength"
    if len(set(said)) < len(said):
        return "two strengths are told in the same words"
    return "amounts are told with powers of ten" if any("e+" in s or "e-0" in s for s in said) else ""
