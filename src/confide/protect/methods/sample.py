"""Sample: release a fraction of the records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from confide.core.checks import fraction
from confide.core.errors import InputError
from confide.core.random.draws import Draws
from confide.frames.columns import Kind, Records
from confide.protect.methods.mask.matrices import Parts, sample_matrix
from confide.protect.seam.evidence import Evidence
from confide.protect.seam.mechanism import Applied, Chain, Mechanism, View, registered


@registered
@dataclass(frozen=True)
class Sample:
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

    def __post_init__(self) -> None:
        if fraction(self.fraction, "Sample: fraction") == 0:
            raise InputError("Sample: fraction is 0, which releases nothing.")

    @property
    def variables(self) -> tuple[str, ...]:
        return ()

    @property
    def needs(self) -> tuple[str, ...]:
        return ()

    @property
    def stream(self) -> str:
        return "Sample"

    def kinds(self) -> Mapping[str, Kind]:
        return {}

    def parts(self) -> Sequence[Mechanism]:
        return (self,)

    def guess(self, released: Records) -> Mechanism:  # noqa: ARG002 - a sample gives no evidence to guess about
        return self

    def fit(self, original: Records, current: Records, after: Mapping[str, Chain]) -> Sample:  # noqa: ARG002
        if round(self.fraction * current.n) < 1:
            raise InputError(f"Sample: a fraction of {self.fraction:g} of {current.n} records is less than one record.")
        return self

    def matrices(self, fitted: Any, original: Records, current: Records, draws: Draws) -> Parts:
        """As a matrix mask: A takes the rows of the sample."""
        return Parts(a=sample_matrix(fitted.apply(original, current, draws).rows, current.n))

    def apply(self, original: Records, current: Records, draws: Draws) -> Applied:  # noqa: ARG002
        size = round(self.fraction * current.n)
        return Applied(rows=draws.sample(current.rows, size))

    def evidence(self, view: View, about: tuple[str, ...]) -> Evidence:  # noqa: ARG002
        return Evidence(about=())
