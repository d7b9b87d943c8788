"""Recompute: a total as the sum of its parts, as these are released."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from confide.core.errors import InputError, Problems
from confide.core.random.draws import Draws
from confide.frames.columns import F64, Bools, Kind, Records, rounded
from confide.protect.methods.synthesis.from_others import says_nothing
from confide.protect.seam.coarsening import Chain
from confide.protect.seam.dials import Offers, Outlook, Untried
from confide.protect.seam.evidence import Evidence
from confide.protect.seam.fitted import ALTERED, KEPT, SYNTHETIC, Applied, Fitted, View
from confide.protect.seam.mechanism import Mechanism, Name, registered

TOLERANCE = 1e-9
"""Of the largest number: what a sum may be off by arithmetic."""


@registered
@dataclass(frozen=True)
class Recompute(Mechanism):
    r"""Make a total again from its released parts, so that they add up in every record.

    .. math:: z_T = \sum_{a \in \mathrm{plus}} z_a - \sum_{b \in \mathrm{minus}} z_b

    It is missing where a part is. Parts are kept or synthetic: a total of parts that were altered from their own values
    would tell of them, which no evidence here would say, and is refused. So is an attack where no part is synthetic.

    The value is a function of others in the same record. Given these it says nothing, at any level.

    >>> import confide as cf
    >>> cf.Recompute("income", plus=["wages", "pension"], minus=["tax"]).needs
    ('wages', 'pension', 'tax')
    """

    variables: Name
    plus: str | Sequence[str]
    minus: str | Sequence[str] = ()

    method: ClassVar[str] = "recompute"
    role: ClassVar[str] = "random"
    one_variable: ClassVar[bool] = True
    needs_released: ClassVar[bool] = True
    by_order: ClassVar[bool] = False

    def __post_init__(self) -> None:
        problems = Problems()
        self.names_in(problems, "plus", "minus")
        where, parts = self.where, (*self.plus, *self.minus)
        problems.when(not self.plus, f"{where}: plus names the parts that are added.")
        problems.when(self.variable in parts, f"{where}: a total cannot be a part of itself.")
        problems.when(len(set(parts)) < len(parts), f"{where}: a part is named twice.")
        problems.tell()

    @property
    def words(self) -> str:
        minus = "".join(f" - {v}" for v in self.minus)
        return f"{self.variable} made again as {' + '.join(self.plus)}{minus}"

    @classmethod
    def dials(cls, outlook: Outlook) -> Offers:  # noqa: ARG003 - it hangs on no file
        """None: it goes with steps that make the parts."""
        return (Untried(cls.method, "it makes totals again after their parts were made, and protects nothing itself"),)

    @property
    def needs(self) -> tuple[str, ...]:
        return (*self.plus, *self.minus)

    @property
    def draws(self) -> bool:
        return False

    def kinds(self) -> Mapping[str, Kind]:
        return {self.variable: "numeric"}

    def sort(self, sorts: Mapping[str, str]) -> str:  # noqa: ARG002
        return SYNTHETIC

    def beside(self, steps: Sequence[Mechanism]) -> list[str]:
        """No part may be altered from its own value."""
        sorts: dict[str, str] = {}
        for step in steps[: next(i for i, s in enumerate(steps) if s is self)]:
            if step.role == "random":
                sorts |= dict.fromkeys(step.variables, step.sort(sorts))
        parts = {v: sorts.get(v, KEPT) for v in self.needs}
        altered = [v for v, sort in parts.items() if sort == ALTERED]
        if altered:
            return [
                f'{self.where}: "{altered[0]}" is altered from its own value before, and a total of it would tell of '
                "that value. Recompute totals of synthetic parts, or leave the total out by drop."
            ]
        return []

    def fit(self, original: Records, current: Records, after: Mapping[str, Chain]) -> _Sum:  # noqa: ARG002
        problems = Problems()
        for v in self.needs:
            problems.when(
                original[v].kind != "numeric", f'{self.where}: "{v}" is no number; name it numeric in the plan.'
            )
        problems.tell()
        total = original[self.variable]
        kept = _kept(total.values, *self.total(original))
        return _Sum(self, int((~kept).sum()), original.n)

    def total(self, records: Records) -> tuple[F64, float]:
        """Sums of the parts, NaN where one is missing or an answer code; and the size that numbers have."""
        signs = [*((v, 1.0) for v in self.plus), *((v, -1.0) for v in self.minus)]
        values = [np.where(records[v].usable, sign * records[v].values, np.nan) for v, sign in signs]
        size = max((float(np.nanmax(np.abs(x), initial=0.0)) for x in values), default=0.0)
        return np.asarray(np.sum(values, axis=0)), size


def _kept(total: F64, made: F64, size: float) -> Bools:
    """Where a total is the sum of its parts: missing where one of them is."""
    with np.errstate(invalid="ignore"):
        close = np.abs(total - made) <= TOLERANCE * (1 + size)
    return np.asarray(close | (np.isnan(total) & np.isnan(made)))


@dataclass(frozen=True, eq=False)
class _Sum(Fitted):
    """`broken` of the `n` original records have another total than the sum of their parts."""

    step: Recompute
    broken: int
    n: int

    def apply(self, original: Records, current: Records, draws: Draws) -> Applied:  # noqa: ARG002
        column = current[self.step.variable]
        made, _ = self.step.total(current)
        return Applied([column.with_values(rounded(made, column.step))])

    def evidence(self, view: View, about: tuple[str, ...]) -> Evidence:
        if all(view.sort(v) == KEPT for v in self.step.needs):
            raise InputError(
                f"{self.step.where}: no part is synthetic, so that the total is as it was, and this step would hide "
                "that it can be known; leave the step out of the plan."
            )
        return says_nothing(view, about)

    @property
    def reads_others(self) -> bool:
        return False

    def cautions(self) -> list[str]:
        if not self.broken:
            return []
        total, parts = self.step.variable, ", ".join(self.step.needs)
        return [
            f'In {self.broken:,} of {self.n:,} original records "{total}" is not the sum of {parts}; in the release it '
            "always is."
        ]
