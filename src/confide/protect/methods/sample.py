"""Sample: release a fraction of the records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from confide.core.checks import fraction
from confide.core.errors import InputError, Problems
from confide.core.random.draws import Draws
from confide.frames.columns import Records
from confide.protect.seam.coarsening import Chain
from confide.protect.seam.dials import Change, Dial, Offers, Outlook, Untried
from confide.protect.seam.evidence import Evidence
from confide.protect.seam.fitted import Applied, Fitted, View
from confide.protect.seam.matrices import Parts, selection
from confide.protect.seam.mechanism import Mechanism, registered
from confide.protect.seam.words import percent
from confide.protect.shared.per_unit import PER, checked_per, heads
from confide.protect.shared.smallest import Smallest

FRACTIONS = (0.9, 0.75, 0.5, 0.25, 0.1)
"""Fractions to try."""
FEW = 50
"""Records or units that a sample should have at least."""


@registered
@dataclass(frozen=True)
class Sample(Mechanism, Fitted):
    """Release a simple random sample of the records, drawn without replacement.

    Sampling changes no value, so it gives no evidence; it works through membership: an intruder who knows that
    somebody was surveyed does not know that the record was released (`membership="in_file"`). With ``per="unit"`` whole
    units are drawn (`Plan.unit`), so that the rows of a unit are released together or not at all.

    >>> import confide as cf
    >>> cf.Sample(fraction=0.5)
    Sample(fraction=0.5, per='record')
    """

    fraction: float
    per: str = field(default="record", metadata={"choices": PER})

    method: ClassVar[str] = "sample"
    by_heads: ClassVar[bool] = True
    role: ClassVar[str] = "select"
    by_order: ClassVar[bool] = False
    linear: ClassVar[bool] = True

    def __post_init__(self) -> None:
        problems = Problems()
        with problems:
            checked = fraction(self.fraction, "Sample: fraction")
            problems.when(checked == 0, "Sample: fraction is 0, which releases nothing.")
        with problems:
            checked_per(self.per, "Sample")
        problems.tell()

    @property
    def words(self) -> str:
        return f"a sample of {percent(self.fraction)} of {self.per}s"

    @classmethod
    def dials(cls, outlook: Outlook) -> Offers:
        """Ever fewer records, or units; it protects from intruders who cannot tell who is in the sample."""
        per = "record" if outlook.units is None else "unit"
        n = outlook.rows if outlook.units is None else len(np.unique(outlook.units))
        fractions = tuple(f for f in FRACTIONS if round(f * n) >= FEW)
        if not fractions:
            return [Untried(cls.method, f"a sample of {n} {per}s would have fewer than {FEW}")]

        def at(fraction: float) -> Change:
            return Change((cls(fraction=fraction, per=per),))

        return [Dial(cls.method, (), fractions, at, lambda f: cls(f, per).words, between=True)]

    @property
    def per_unit(self) -> bool:
        return self.per == "unit"

    def fit(self, original: Records, current: Records, after: Mapping[str, Chain]) -> Sample:  # noqa: ARG002
        n = len(heads(current, "Sample")[0]) if self.per_unit else int(current.counts.sum())
        if round(self.fraction * n) < 1:
            raise InputError(f"Sample: a fraction of {self.fraction:g} of {n} {self.per}s is less than one {self.per}.")
        return self

    def at_once(self) -> str:
        return ""

    @property
    def tallied(self) -> tuple[str, ...]:
        return ()

    def gathering(self, draws: Draws, rows: int) -> Smallest:
        return Smallest(draws, rows, round(self.fraction * rows))

    def matrices(self, fitted: Fitted, original: Records, current: Records, draws: Draws) -> Parts:
        """As a matrix mask: A takes the rows of the sample."""
        rows = fitted.apply(original, current, draws).rows
        assert rows is not None
        return Parts(a=selection(rows, current.n))

    def apply(self, original: Records, current: Records, draws: Draws) -> Applied:  # noqa: ARG002
        if not self.per_unit:
            return Applied(rows=draws.sample(current.rows, round(self.fraction * current.n)))
        first, of = heads(current, "Sample")
        chosen = np.zeros(len(first), dtype=bool)
        chosen[draws.sample(current.rows[first], round(self.fraction * len(first)))] = True
        return Applied(rows=np.flatnonzero(chosen[of]))

    def evidence(self, view: View, about: tuple[str, ...]) -> Evidence:  # noqa: ARG002
        return Evidence(about=())
