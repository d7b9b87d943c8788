"""Exact counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from confide.core.registry import registered
from confide.tables.layout import Ints
from confide.tables.schemes.scheme import Floats


@registered
@dataclass(frozen=True)
class Exact:
    """Publish counts as they are. An intruder can state [x, x].

    >>> import confide as cf
    >>> published = cf.Table([2, 1, 3]).publish(Exact())
    >>> cf.sap(published, known=range(4), fractions=True)["fraction"].to_list()
    ['0', '1/6', '2/5', '7/10']
    """

    scheme: ClassVar[str] = "exact"
    random: ClassVar[bool] = False
    sharp: ClassVar[bool] = True
    keyed: ClassVar[bool] = False

    def apply(self, counts: Ints, draws: Floats) -> Ints:  # noqa: ARG002
        return counts.copy()

    def interval(self, published: Ints) -> tuple[Ints, Ints]:
        return published.copy(), published.copy()

    def outcomes(self, count: int) -> Mapping[int, Fraction]:
        return {count: Fraction(1)}
