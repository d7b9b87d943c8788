"""SUDA2: special uniques, scored by the small sets of keys that single a record out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
import polars as pl

from confide.core.checks import names_of
from confide.core.errors import InputError
from confide.core.registry import registered
from confide.frames.unique_sets import UniqueSets, check_sizes, unique_sets
from confide.measure.risk.file_risks.file import File
from confide.measure.risk.file_risks.result import FileRiskResult, bars
from confide.measure.risk.file_risks.statement import SHARE, FileRisk, counted
from confide.measure.risk.file_risks.words import cells_words, fine_words, kept_back_words, some, truth_words
from confide.measure.risk.population.cells import Cells
from confide.measure.risk.population.intrusion import NO_DOUBLES, Intrusion, intrusion
from confide.measure.risk.population.sampling import check_sampling, weights_of
from confide.measure.risk.population.special import SCALES, contributions, dis_suda, listed, scores, smallest

MOST = 160
"""Keys up to which sums of (m - s)! are numbers of a computer."""
TURNED = 28
"""Keys from which on Q, the power of DIS-SUDA, is not above 0."""
MISSING = {
    "own": "a missing value is a category of its own",
    "never": "a set with a missing value is nobody's, and whoever has it is not counted there, as in sdcMicro",
}


@dataclass(frozen=True, eq=False, repr=False)
class SpecialUniques(FileRiskResult):
    """What SUDA2 finds. `table`: one row per key: variable, contribution (the share of the score of all minimal sample
    uniques that belongs to those with the key; shares overlap and need not sum to 1), sets (how many have it).
    `sets`: one row per set of keys that is a minimal sample unique (MSU) of somebody: variables, size, records.
    `theta`: DIS, the chance that a match with a sample unique is right, where it is known how the file was drawn.
    """

    sets: pl.DataFrame = field(default_factory=pl.DataFrame)
    theta: float | None = None


@registered
@dataclass(frozen=True)
class Suda(FileRisk):
    r"""Special uniques: records that few keys single out, and how few (SUDA2; Elliot, Manning and Ford 2002).

    A minimal sample unique (MSU) of a record is a set of keys on which it is unique, and on no smaller set inside. With
    m keys, an MSU of s of them scores, whatever the `largest` size that is looked at,

    .. math:: (m - s)! \quad\text{("elliot")}, \qquad (2^{m-s} - 1) / \tbinom{m}{s} \quad\text{("ihsn")},

    summed over the record's MSUs. "ihsn", the scale of sdcMicro with its original scores off, gives 0 to a
    record that only all m keys together single out: it is unique all the same. With `fraction`, `weight` or `total`
    the result has DIS-SUDA, :math:`\theta` shared out by the scores,

    .. math:: \Big(1 + U (1/\theta - 1) \big/ \big(score^Q \sum_i score_i^{-Q}\big)\Big)^{-1}, \qquad Q = 1 + (8-m)/20,

    over the U records with a score. `missing`: "own", a category of its own; "never", a set with a missing value is
    nobody's. More than 12 keys need a `largest` size.

    >>> import confide as cf
    >>> heads = cf.demo("heads")
    >>> found = cf.measures.Suda(["state", "sex", "race", "marital", "educ", "age"]).of(heads)
    >>> found.value, found.numbers["largest"], found.table["contribution"].round(3).to_list()
    (31411.0, 126.0, [0.871, 0.23, 0.312, 0.434, 0.663, 0.922])
    """

    keys: str | Sequence[str]
    scale: str = field(default="elliot", metadata={"choices": tuple(SCALES)})
    missing: str = field(default="own", metadata={"choices": tuple(MISSING)})
    largest: int | None = None
    weight: str | None = field(default=None, metadata={"example": "weight"})
    fraction: float | None = None
    total: float | None = None

    risk: ClassVar[str] = "suda"
    in_words: ClassVar[str] = "records that few keys single out (SUDA)"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "keys", names_of(self.keys, "Suda: keys"))
        for name, given, known in (("scale", self.scale, SCALES), ("missing", self.missing, MISSING)):
            if given not in known:
                said = "; ".join(f'"{k}": {words}' for k, words in known.items())
                raise InputError(f"Suda: {name} is one of {said}.")
        whole = isinstance(self.largest, (int, np.integer)) and not isinstance(self.largest, bool)
        if self.largest is not None and not (whole and self.largest >= 1):
            raise InputError("Suda: largest is the size of the largest set of keys that is looked at, from 1.")
        check_sizes(len(self.keys), self.largest)
        self._check_many()
        check_sampling(self.keys, self.weight, self.fraction, self.total, "Suda", needed=False)

    def _check_many(self) -> None:
        """Refuse so many keys that scores are no numbers, or that the powers of DIS-SUDA turn their order round."""
        many = len(self.keys)
        if self.scale == "elliot" and many > MOST:
            raise InputError(
                f'Suda: {many} keys were given, and (m - s)!, the score of scale="elliot", is too large a number with '
                f'more than {MOST}; name fewer keys, or take scale="ihsn".'
            )
        drawn = any(given is not None for given in (self.weight, self.fraction, self.total))
        if drawn and many >= TURNED:
            raise InputError(
                f"Suda: {many} keys were given, and from {TURNED} keys on the power Q = 1 + (8 - m) / 20 of DIS-SUDA "
                "is 0 or below, so that larger scores would get smaller risks; name fewer keys, or leave out how the "
                "file was drawn."
            )

    @property
    def parts(self) -> dict[str, str]:
        """Records that are unique by some set, their share, scores, and MSUs."""
        few = "" if self.largest is None or self.largest >= len(self.keys) else f" of up to {self.largest}"
        return {
            "": f"records that some set{few} of the keys singles out", SHARE: "share of such records",
            "mean": "mean score of a record", "largest": "largest score", "sets": "minimal sample uniques (MSUs)",
        }  # fmt: skip

    @property
    def variables(self) -> tuple[str, ...]:
        """The keys, and the weight."""
        return (*self.keys, *([] if self.weight is None else [self.weight]))

    def found(self, file: File) -> SpecialUniques:
        """Scores of all records."""
        keys = file.keys(self.keys)
        own = self.missing == "own"
        codes = [file.codes(v) if own else file.values(v) for v in keys]
        found = unique_sets(codes, file.held, self.largest, own, file.data.count)
        m = max(len(keys), 1)
        of_size = scores(m, self.scale)[: found.by_size.shape[1]]
        score, sets = (found.by_size @ of_size)[found.of], found.by_size.sum(axis=1)[found.of]
        there = sets > 0
        chance = self._chance(file, keys)
        theta = None if chance is None else chance.theta
        frame = pl.DataFrame({
            **file.places, "score": score, "sets": sets, "smallest": smallest(found)[found.of],
        }).with_columns(smallest=pl.when(pl.col("sets") > 0).then("smallest"))  # fmt: skip
        if theta is not None:
            frame = frame.with_columns(dis_suda=pl.Series(dis_suda(score, there, theta, m)).fill_nan(None))
        numbers = {
            **counted(int(there.sum()), file.n), "mean": file.people(score) / file.n, "largest": float(score.max()),
            "sets": float(found.count.sum()),
        }  # fmt: skip
        notes = self._notes(file, keys, found, chance, int((there & (score == 0)).sum()))
        title = f'Special uniques (SUDA2) of {file.n:,} records on {", ".join(self.keys)}; scale "{self.scale}"'
        sizes = {f"{s} keys" if s > 1 else "1 key": float(k) for s, k in enumerate(found.sizes, 1)}
        return SpecialUniques(
            title, frame, numbers, self.parts, tuple(notes), bars(sizes),
            "Minimal sample uniques, by size", contributions(keys, found, of_size), listed(keys, found), theta,
        )  # fmt: skip

    def _chance(self, file: File, keys: Sequence[str]) -> Intrusion | None:
        """DIS, where it is said how the file was drawn; without a theta where it is no finding."""
        if self.weight is None and self.fraction is None and self.total is None:
            return None
        weights = weights_of(file, self.weight, self.fraction, self.total)
        found = intrusion(Cells.of([file.codes(v) for v in keys], weights, file.data.count))
        return replace(found, theta=None) if found.note == NO_DOUBLES else found

    def _notes(
        self, file: File, keys: Sequence[str], found: UniqueSets, chance: Intrusion | None, lost: int
    ) -> list[str]:
        said = [f'An MSU of s of the {some(len(keys), "key")} scores {SCALES[self.scale]} (scale "{self.scale}").']
        if lost:
            said.append(f"{lost:,} records have the score 0 although all keys together single them out: 0 is not safe.")
        if found.by_size.shape[1] < len(keys):
            more = int((found.unique & (found.by_size.sum(axis=1) == 0)[found.of]).sum())
            said.append(
                f"Sets of up to {found.by_size.shape[1]} of {len(keys)} keys were looked at; {more:,} records without "
                "a score are unique on all keys."
            )
        counted = cells_words(file, keys, self.missing != "own")
        said.append(f'Rule for missing values: "{self.missing}" ({MISSING[self.missing]}). {counted}')
        said.append("Shares in the table overlap, since a set has several keys; they need not sum to 1.")
        if chance is not None and chance.theta is None:
            said.append(f"DIS, the chance that a match with a sample unique is right, is not known: {chance.note}.")
        elif chance is not None:
            said.append(
                f"DIS: a match with a sample unique is right with chance {chance.theta:.4g}. DIS-SUDA shares this out "
                "by the scores; it is a convention, and its mean is not this chance unless all scores are equal."
            )
        return [*said, *fine_words(file, keys), *kept_back_words(file, self.keys), *truth_words(file, keys)]
