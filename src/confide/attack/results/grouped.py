"""The groups to which targets belong, by variables of theirs: for every result that is told by group."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import polars as pl

from confide.core.checks import names_of
from confide.core.errors import InputError, did_you_mean
from confide.frames import to_polars
from confide.frames.columns import I64, Bools
from confide.frames.cut import Cut, why_no_groups

if TYPE_CHECKING:
    from confide.protect.release import Release

IDENTIFIES = "is an identifier by the plan: it names people, not groups. Name a variable that many people share."
NOBODY_KNOWS = "(group not known)"


@dataclass(frozen=True, eq=False)
class TargetGroups:
    """Targets in groups by one variable: `names` of the groups, `codes` of the targets, shape (T,).

    Categories are groups as they are, numbers are in about five ranges, see `Cut`.
    """

    variable: str
    names: tuple[str, ...]
    codes: I64

    def __iter__(self) -> Iterator[tuple[str, Bools]]:
        """Each group that has somebody, and who is in it."""
        for k, name in enumerate(self.names):
            mine = self.codes == k
            if mine.any():
                yield name, mine


class Attacked(Protocol):
    """An attack with or without a plan: whom it was on. `given`: first the targets' file, None for the default ones;
    `truth`: their rows of the original, below 0 where there is none or it is not known."""

    @property
    def release(self) -> Release: ...
    @property
    def given(self) -> tuple[Any, Any, Sequence[Release]]: ...
    @property
    def truth(self) -> I64: ...
    @property
    def units(self) -> pl.DataFrame: ...


def target_groups(attack: Attacked, by: str | Sequence[str]) -> list[TargetGroups]:
    """The targets of an attack in groups by each of several variables, known to the intruder or not.

    Values are those of the targets' file where it has the variable, else those of the targets' rows of the original;
    somebody who is in neither is in a group "(group not known)".

    >>> import confide as cf
    >>> release = cf.Plan([], identifiers=["id"]).protect(cf.demo("heads").head(300), seed=1)
    >>> [g.names[:2] for g in target_groups(cf.Intruder(knows="age").attack(release), "sex")]
    [('male', 'female')]
    """
    return [_grouped(attack, v) for v in names_of(by, "by")]


def _grouped(attack: Attacked, variable: str) -> TargetGroups:
    original, given = attack.release.original, attack.given[0]
    _check_name(attack.release, variable)
    file = None if given is None else to_polars(given, "targets")
    if file is not None and variable in file.columns:
        values = file.get_column(variable)
        _check(values, variable)
        cut = Cut.of(values)
        return TargetGroups(variable, cut.names, cut.codes(values))
    if variable not in original.columns:
        where = "the original" if file is None else "the targets or the original"
        raise InputError(f'by: there is no column "{variable}" in {where}.{did_you_mean(variable, original.columns)}')
    values = original.get_column(variable)
    _check(values, variable)
    cut = Cut.of(values)
    # Default targets of a release whose link is not known are the rows of the original.
    rows = np.arange(len(attack.truth)) if given is None and attack.release.link is None else attack.truth
    codes = cut.codes(values)[np.maximum(rows, 0)]
    return TargetGroups(variable, (*cut.names, NOBODY_KNOWS), np.where(rows >= 0, codes, len(cut.names)))


def _check_name(release: Release, variable: str) -> None:
    if release.plan is not None and variable in release.plan.identifiers:
        raise InputError(f'by: "{variable}" {IDENTIFIES}')


def _check(values: pl.Series, variable: str) -> None:
    why = why_no_groups(values)
    if why:
        raise InputError(f'by: "{variable}" {why}')
