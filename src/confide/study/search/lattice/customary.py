"""Customary limits on classes as what a node must meet: k-anonymity, l-diversity, t-closeness."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from confide.core.errors import InputError
from confide.measure.risk.file_risks.file import File
from confide.measure.risk.file_risks.k_anonymity import KAnonymity
from confide.measure.risk.file_risks.l_diversity import LDiversity
from confide.measure.risk.file_risks.sensitive import Classes
from confide.measure.risk.file_risks.statement import FileRisk
from confide.measure.risk.file_risks.t_closeness import TCloseness
from confide.measure.risk.file_risks.words import some

Followed = KAnonymity | LDiversity | TCloseness
"""Risks that follow from classes of records that are alike, and so can be followed from level to level."""


@dataclass(frozen=True, eq=False)
class Customary:
    """A customary risk of which a share of records may be in violation.

    Class sizes, and the number of values in a class, only grow where classes are put together; so do entropies and
    distances at their worst. So "no class in violation" is monotone for all of them. "At most a share of records" is so
    for k and for distinct values only: a merged class may fail as a whole where one of its parts was fine.
    """

    statement: Followed
    file: File
    share: float = 0.0

    @property
    def name(self) -> str:
        """Its name in a study."""
        return self.statement.name

    @property
    def keys(self) -> tuple[str, ...]:
        """What classes agree on."""
        return tuple(v for v in self.statement.variables if v != self.sensitive)

    @property
    def sensitive(self) -> str | None:
        """What is counted inside of classes."""
        found: str | None = getattr(self.statement, "sensitive", None)
        return found

    @property
    def limit(self) -> float:
        """Records that may be in violation."""
        return float(np.floor(self.share * self.file.n + 1e-9))

    @property
    def monotone(self) -> bool:
        """Whether a coarser node meets it where a finer one does."""
        return self.limit < 1 or self.statement.share_is_monotone

    @property
    def words(self) -> str:
        """The limit in words."""
        many = "no" if self.limit < 1 else f"at most {self.limit:,.0f}"
        return f"{many} {self.statement.parts['']}, by {', '.join(self.keys)}"

    def value(self, classes: Classes) -> float:
        """Records in violation."""
        return float(classes.size[self.statement.violated(classes, self.file)].sum())


def followed(statement: FileRisk, n: int) -> Followed:
    """The statement; refused where it does not follow from classes of records that are alike."""
    if not isinstance(statement, Followed):
        raise InputError(
            f"until: {type(statement).__name__} is not followed over levels; take KAnonymity, LDiversity or TCloseness "
            "of cf.measures, or limits on an intruder's risk."
        )
    if not isinstance(statement, KAnonymity):
        return statement
    if statement.missing != "own":
        raise InputError(
            f'until: KAnonymity with missing="{statement.missing}" has no classes to put together; take missing="own", '
            "in which a missing value is a category of its own."
        )
    if statement.k > n:
        raise InputError(f"until: k is {statement.k:,}, but the file has {some(n, 'row')}; give a k of at most {n:,}.")
    return statement
