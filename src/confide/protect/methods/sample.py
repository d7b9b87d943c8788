"""Sample: release a fraction of the records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from confide.core.checks import fraction
from confide.core.errors import InputError
from confide.core.random.draws import Draws
from confide.frames.columns import Records
from confide.protect.seam.coarsening import Chain
from confide.protect.seam.evidence import Evidence
from confide.protect.seam.fitted import Applied, Fitted, View
from confide.protect.seam.matrices import Parts, selection
from confide.protect.seam.mechanism import Mechanism, registered


@registered
@dataclass(frozen=True)
class Sample(Mechanism, Fitted):
    """Release a simple random sample of the records, drawn without replacement.

    Sampling changes no value, so it gives no evidence; it works through membership: an intruder who knows that
    somebody was surveyed does not know that the record was released (`membership="in_file"`).

    >>> import confide as cf
    >>> cf.Sample(fraction=0.5)
    Sample(fraction=0.5)
    """

    fraction: float

    method: ClassVar[str] = "sample"
    role: ClassVar[str] = "select"
    by_order: ClassVar[bool] = False
    linear: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if fraction(self.fraction, "Sample: fraction") == 0:
            raise InputError("Sample: fraction is 0, which releases nothing.")

    def fit(self, original: Records, current: Records, after: Mapping[str, Chain]) -> Sample:  # noqa: ARG002
        if round(self.fraction * current.n) < 1:
            raise InputError(f"Sample: a fraction of {self.fraction:g} of {current.n} records is less than one record.")
        return self

    def matrices(self, fitted: Fitted, original: Records, current: Records, draws: Draws) -> Parts:
        """As a matrix mask: A takes the rows of the sample."""
        rows = fitted.apply(original, current, draws).rows
        assert rows is not None
        return Parts(a=selection(rows, current.n))

    def apply(self, original: Records, current: Records, draws: Draws) -> Applied:  # noqa: ARG002
        size = round(self.fraction * current.n)
        return Applied(rows=draws.sample(current.rows, size))

    def evidence(self, view: View, about: tuple[str, ...]) -> Evidence:  # noqa: ARG002
        return Evidence(about=())
