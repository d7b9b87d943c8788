"""Risk of households: by one member at a time, and by the composition of all members."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl

from confide.core.checks import names_of
from confide.core.errors import InputError
from confide.core.registry import registered
from confide.frames.columns import F64, I64
from confide.frames.distinct import Distinct
from confide.frames.units import unit_numbers
from confide.measure.risk.file_risks.classes import OWN
from confide.measure.risk.file_risks.file import File
from confide.measure.risk.file_risks.result import FileRiskResult, bars
from confide.measure.risk.file_risks.statement import SHARE, FileRisk, counted
from confide.measure.risk.file_risks.words import class_size, kept_back_words, missing_words, truth_words

MEMBERS = "one_member"


@registered
@dataclass(frozen=True)
class HouseholdRisk(FileRisk):
    r"""How many households would be found by somebody who knows the keys of all members.

    Who knows a household knows its composition: the multiset of its members' keys. With F_h the number of households
    with the composition of h, the expected number found is

    .. math:: \sum_h 1 / F_h

    Beside it stands the customary rule for an intruder who knows one member at a time, with r_i = 1 / f_i of person i:

    .. math:: \sum_h \Bigl(1 - \prod_{i \in h} (1 - r_i)\Bigr)

    which is too low for whoever knows them together. `unit`: the column that says who belongs together; a row without
    one is a household by itself. Area and other keys that all members share are keys like any other. Missing keys are a
    category of their own.

    >>> import confide as cf
    >>> file = {"home": [1, 1, 2, 2, 3, 3], "sex": [*"fmfmff"], "age": [40, 41, 40, 41, 40, 40]}
    >>> found = cf.measures.HouseholdRisk(["sex", "age"], unit="home").of(file)
    >>> found.frame["alike"].to_list(), found.value
    ([2, 2, 1], 2.0)
    """

    keys: str | Sequence[str]
    unit: str

    risk: ClassVar[str] = "household_risk"
    in_words: ClassVar[str] = "households expected to be found"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "keys", names_of(self.keys, "HouseholdRisk: keys"))
        if not isinstance(self.unit, str) or not self.unit:
            raise InputError("HouseholdRisk: unit is the name of the column that says who belongs together.")
        if self.unit in self.keys:
            raise InputError(f'HouseholdRisk: the unit "{self.unit}" is among the keys, by which everybody is found.')

    @property
    def parts(self) -> dict[str, str]:
        """Households expected to be found by their composition, their share, and by one member at a time."""
        said = "households expected to be found by all their members"
        return {"": said, SHARE: f"share of {said}", MEMBERS: "households expected to be found by one member at a time"}

    @property
    def variables(self) -> tuple[str, ...]:
        """The keys and the unit."""
        return (*self.keys, self.unit)

    def found(self, file: File) -> FileRiskResult:
        """How many households are alike in all members, and the risk by each rule."""
        file.every_record()
        keys = file.keys(self.variables[:-1])
        home = self._homes(file)
        people = Distinct.rows([file.codes(v) for v in keys], file.n)
        alike, members = compositions(home, people.of), np.bincount(home)
        single = one_by_one(home, 1 / people.count[people.of])
        frame = pl.DataFrame({
            "household": np.arange(len(members)), "row": np.unique(home, return_index=True)[1], "members": members,
            "alike": alike.astype(np.int64), "risk": 1 / alike, "risk_one_member": single,
        })  # fmt: skip
        numbers: Mapping[str, float | None] = {
            **counted(float((1 / alike).sum()), len(members)), MEMBERS: float(single.sum()),
        }  # fmt: skip
        title = f"Household risk: {len(members):,} households, {file.n:,} persons, by {', '.join(self.keys)}"
        return FileRiskResult(
            title, frame, numbers, self.parts, tuple(self._words(file, keys, people.count, alike)),
            bars(class_size(alike)), "Households, by how many are alike in all members",
        )  # fmt: skip

    def _homes(self, file: File) -> I64:
        """The household of each row, from 0 in the order in which they come."""
        if not file.released([self.unit], "unit"):
            raise InputError(
                f'HouseholdRisk: the unit "{self.unit}" is not released, so nobody can tell who belongs together. '
                f'Plan(..., unit="{self.unit}"), with it neither among identifiers nor in drop, releases a pseudonym; '
                "for persons one by one take KAnonymity."
            )
        number = unit_numbers(file.data.frame.get_column(self.unit))
        home = np.unique(number, return_inverse=True)[1].astype(np.int64)
        if int(home.max()) + 1 == file.n:
            raise InputError(
                f'HouseholdRisk: every unit of "{self.unit}" has one row, so that households are persons; take '
                "KAnonymity, or name the column that says who belongs together."
            )
        return home

    def _words(self, file: File, keys: Sequence[str], count: F64, alike: F64) -> list[str]:
        unique, alone = int((count == 1).sum()), int((alike == 1).sum())
        return [
            f"Unique: {unique:,} of {file.n:,} persons, {alone:,} of {len(alike):,} households. Who knows a household "
            "knows all its members: the number found by one member at a time is too low for such an intruder.",
            *missing_words(file, keys, OWN), *kept_back_words(file, self.variables), *truth_words(file, keys),
        ]  # fmt: skip


def compositions(home: I64, person: I64) -> F64:
    """How many households have the same members as each, by what kind of person they are; shape (households,).

    Households of one size are rows of a table of their members in order, and equal rows are counted: O(n log n).

    >>> compositions(np.array([0, 1, 0, 1, 2]), np.array([5, 7, 7, 5, 5])).tolist()
    [2.0, 2.0, 1.0]
    """
    order = np.lexsort((person, home))
    member, size = person[order], np.bincount(home)
    start = np.concatenate([[0], np.cumsum(size)[:-1]])
    alike = np.zeros(len(size))
    for s in np.unique(size):
        mine = np.flatnonzero(size == s)
        kinds = Distinct.rows([member[start[mine] + k] for k in range(s)], len(mine))
        alike[mine] = kinds.count[kinds.of]
    return alike


def one_by_one(home: I64, risk: F64) -> F64:
    """1 - prod (1 - r_i) over the members of each household, shape (households,).

    >>> one_by_one(np.array([0, 0, 1]), np.array([0.5, 0.5, 1.0])).tolist()
    [0.75, 1.0]
    """
    sure = np.bincount(home, weights=risk >= 1)
    safe = np.bincount(home, weights=np.log1p(-np.where(risk < 1, risk, 0.0)))
    return np.where(sure > 0, 1.0, -np.expm1(safe))
