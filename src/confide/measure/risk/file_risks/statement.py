"""What a customary risk of a file is: a statement of keys and limits, and the numbers that a file gives it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from confide.core.errors import InputError
from confide.core.registry import any_of
from confide.measure.risk.file_risks.file import File
from confide.measure.risk.file_risks.result import FileRiskResult

SHARE = "share"
"""The part of a risk that is a share of its people, from 0 to 1: the end of its column's name."""


@dataclass(frozen=True, kw_only=True)
class FileRisk:
    """What customary risks of a file share: a name, columns in a study, and a result.

    A subclass is a frozen dataclass with `@registered`. It states `risk`, its short name in study files and the head of
    its columns, and `parts`: by the end of each column's name what the number says, in words. The part "" comes first:
    its column has no end, and counts people (or what its words say). The part "share" is a share from 0 to 1. More of
    any part is more risk. `found` computes a result from a `File`. `label`: the end of the name where one risk is asked
    for twice. `in_words`: what it counts, in a few words for
    axes and tables. `data_fields`: fields that hold a file, which a document names.

    >>> import confide as cf
    >>> cf.measures.KAnonymity(["sex", "age"], k=3, label="small").columns
    {'k_anonymity_small': 'records in classes of fewer than 3', \
'k_anonymity_small_share': 'share of records in classes of fewer than 3'}
    """

    label: str | None = None

    risk: ClassVar[str]
    in_words: ClassVar[str] = ""
    data_fields: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        good = self.label is None or (isinstance(self.label, str) and re.fullmatch(r"[A-Za-z0-9_]+", self.label))
        if not good or self.label == SHARE:
            raise InputError(
                f'{type(self).__name__}: label is the end of a column\'s name, letters, digits and "_" such as '
                f'label="by_region", and not "{SHARE}".'
            )

    @property
    def parts(self) -> dict[str, str]:
        """By the end of its column's name, what each number says; the first end is empty."""
        raise NotImplementedError

    @property
    def variables(self) -> tuple[str, ...]:
        """The columns of the file that it reads."""
        raise NotImplementedError

    @property
    def name(self) -> str:
        """Its name in results."""
        return self.risk if self.label is None else f"{self.risk}_{self.label}"

    @property
    def columns(self) -> dict[str, str]:
        """Its columns in the table of a study, each with what it says in words."""
        return {self._column(part): said for part, said in self.parts.items()}

    def of(self, data: Any) -> FileRiskResult:
        """The risk of a file: a frame of any library, or a release, whose public file is meant."""
        return self.found(File.of(data, type(self).__name__))

    def numbers(self, data: Any) -> dict[str, float | None]:
        """The numbers of a file by the names of their columns in a study; None for what cannot be computed."""
        return self.named(self.of(data))

    def named(self, found: FileRiskResult) -> dict[str, float | None]:
        """The numbers of a result by the names of their columns in a study."""
        return {self._column(part): found.numbers[part] for part in self.parts}

    def found(self, file: File) -> FileRiskResult:
        """The risk of a file that is encoded."""
        raise NotImplementedError

    def _column(self, part: str) -> str:
        return f"{self.name}_{part}" if part else self.name


any_of("risk", FileRisk)


def counted(people: float, of: int) -> Mapping[str, float | None]:
    """A number of people and their share of so many; no share of nobody.

    >>> counted(3, 12)
    {'': 3.0, 'share': 0.25}
    """
    return {"": float(people), SHARE: people / of if of else None}
