"""Individual risk by weights: the chance that a record's match in the population is right (Benedetti and Franconi)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import polars as pl

from confide.core.checks import fraction as checked_fraction
from confide.core.checks import names_of
from confide.core.registry import registered
from confide.frames.columns import F64
from confide.measure.risk.file_risks.classes import OWN
from confide.measure.risk.file_risks.file import File
from confide.measure.risk.file_risks.result import FileRiskResult, bars
from confide.measure.risk.file_risks.statement import SHARE, FileRisk, counted
from confide.measure.risk.file_risks.words import fine_words, kept_back_words, missing_words, truth_words
from confide.measure.risk.population.cells import Cells
from confide.measure.risk.population.individual import mean_inverse
from confide.measure.risk.population.sampling import check_sampling, sampling_words, weights_of

EDGES = (0.001, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5)
"""Where the bars of risk begin, after 0."""
FAULT = (
    "The people of a cell are guessed from its own weights alone, so every sample unique of one weight has one risk, "
    "whether its values are rare or not. On the shipped householders the uniques' sum is 85 where the truth is 58 "
    "(sex, race, marital, age) and 825 where it is 1,105 (with educ); cf.measures.PopulationUniques compares models."
)


@registered
@dataclass(frozen=True)
class IndividualRisk(FileRisk):
    r"""The chance that a record is matched rightly in the population, by its weight (Benedetti and Franconi 1998).

    A record whose cell of the keys has f records, with weights that sum to :math:`\hat F`, has risk

    .. math:: E(1/F \mid f) = \frac{p}{f}\, {}_2F_1(1, 1; f + 1; 1 - p), \qquad p = f / \hat F,

    F - f negative binomial: computed exactly and stably for any f and p, where sums as printed lose all digits. The
    sum over all records is the number of re-identifications that an intruder expects who links every record. Give one
    of `weight` (a column: people per record), `fraction` (records per person) and `total` (people of the population).
    Missing is a value of its own. `threshold`: records above it are counted.

    >>> import confide as cf
    >>> found = cf.measures.IndividualRisk(["sex", "race", "marital", "age"], total=1_016_437).of(cf.demo("heads"))
    >>> round(found.value, 2), found.frame.columns
    (209.7, ['row', 'alike', 'people', 'risk'])
    """

    keys: str | Sequence[str]
    weight: str | None = field(default=None, metadata={"example": "weight"})
    fraction: float | None = None
    total: float | None = None
    threshold: float = 0.1

    risk: ClassVar[str] = "individual_risk"
    in_words: ClassVar[str] = "expected re-identifications (individual risk)"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "keys", names_of(self.keys, "IndividualRisk: keys"))
        check_sampling(self.keys, self.weight, self.fraction, self.total, "IndividualRisk")
        checked_fraction(self.threshold, "IndividualRisk: threshold")

    @property
    def parts(self) -> dict[str, str]:
        """Expected re-identifications, their share of the records, records over the threshold, and the largest risk."""
        return {
            "": "expected re-identifications", SHARE: "share of records expected to be re-identified",
            "over": f"records whose risk exceeds {self.threshold:g}", "largest": "largest risk of a record",
        }  # fmt: skip

    @property
    def variables(self) -> tuple[str, ...]:
        """The keys, and the weight."""
        return (*self.keys, *([] if self.weight is None else [self.weight]))

    def found(self, file: File) -> FileRiskResult:
        """The risk of every record."""
        keys = file.keys(self.keys)
        weights = weights_of(file, self.weight, self.fraction, self.total)
        cells = Cells.of([file.codes(v) for v in keys], weights, file.data.count)
        risk = mean_inverse(cells.f, cells.people)[cells.of_row]
        frame = pl.DataFrame({
            **file.places, "alike": cells.f[cells.of_row].astype(np.int64),
            "people": cells.people[cells.of_row], "risk": risk,
        })  # fmt: skip
        over, drawn = file.people(risk > self.threshold), sampling_words(self.weight, self.fraction, self.total)
        numbers = {**counted(file.people(risk), file.n), "over": over, "largest": float(risk.max())}
        notes = (
            FAULT, *fine_words(file, keys), *missing_words(file, keys, OWN), *kept_back_words(file, self.keys),
            *truth_words(file, keys),
        )  # fmt: skip
        title = f"Individual risk of {file.n:,} records on {', '.join(self.keys)}; {drawn}"
        return FileRiskResult(
            title, frame, numbers, self.parts, notes, bars(_ranges(risk, file.data.count)), "Records, by their risk"
        )


def _ranges(risk: F64, rows: F64 | None) -> dict[str, float]:
    """How many records have a risk in each of a few ranges."""
    count = np.bincount(np.searchsorted(EDGES, risk, side="right"), rows, len(EDGES) + 1)
    ends = (0.0, *EDGES, 1.0)
    return {f"{a:g} to {b:g}": float(c) for a, b, c in zip(ends, ends[1:], count, strict=False)}
