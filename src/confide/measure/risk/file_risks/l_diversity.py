"""l-diversity: whether records that are alike on the keys differ enough in what must not be learnt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import ClassVar

import numpy as np
import polars as pl

from confide.core.checks import finite, names_of
from confide.core.errors import InputError
from confide.core.registry import registered
from confide.frames.columns import F64, I64, Bools
from confide.measure.risk.file_risks.file import File
from confide.measure.risk.file_risks.result import FileRiskResult, bars
from confide.measure.risk.file_risks.sensitive import Classes, checked_sensitive
from confide.measure.risk.file_risks.statement import SHARE, FileRisk, counted

DISTINCT, ENTROPY, RECURSIVE = "distinct", "entropy", "recursive"
KINDS = {
    DISTINCT: "the number of different values",
    ENTROPY: "exp of the entropy of the values: how many equally frequent ones would be as uncertain",
    RECURSIVE: "records of all but the l - 1 commonest values, per record of the commonest, which must be above 1/c",
}
RANGES = (1.0, 2.0, 3.0, 5.0, 10.0)


@registered
@dataclass(frozen=True)
class LDiversity(FileRisk):
    r"""How many records are in classes whose sensitive values are too few or too uneven (Machanavajjhala et al. 2007).

    In a class of records that are alike on the keys, with r_1 >= r_2 >= ... >= r_m the counts of its sensitive values
    and p_j their shares, the class is diverse if

    .. math:: m \ge l, \qquad \exp\Bigl(-\sum_j p_j \log p_j\Bigr) \ge l, \qquad r_1 < c\,(r_l + \dots + r_m)

    for the `kind` "distinct", "entropy" and "recursive". A missing value is no value: it adds nothing to diversity. A
    class without any value counts as not diverse. Missing keys are a category of their own.

    >>> import confide as cf
    >>> file = {"town": ["a"] * 4, "illness": ["flu", "flu", "flu", "cold"]}
    >>> [round(cf.measures.LDiversity("town", "illness", l=2, kind=kind).of(file).frame["diversity"][0], 4)
    ...  for kind in ("distinct", "entropy")]
    [2.0, 1.7548]
    """

    keys: str | Sequence[str]
    sensitive: str
    l: float = 2  # noqa: E741
    kind: str = field(default=DISTINCT, metadata={"choices": tuple(KINDS)})
    c: float | None = None

    risk: ClassVar[str] = "l_diversity"
    in_words: ClassVar[str] = "records in classes that are not diverse (l-diversity)"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "keys", names_of(self.keys, "LDiversity: keys"))
        checked_sensitive(self.sensitive, self.keys, "LDiversity")
        if self.kind not in KINDS:
            said = "; ".join(f'"{name}": {words}' for name, words in KINDS.items())
            raise InputError(f"LDiversity: kind is one of {said}.")
        l = finite(self.l, "LDiversity: l")  # noqa: E741
        if l <= 1:
            raise InputError("LDiversity: l is how many values a class must have, above 1; every class has one.")
        if self.kind != ENTROPY and l != round(l):
            raise InputError(f'LDiversity: l is a whole number for kind="{self.kind}"; only "entropy" takes {l:g}.')
        self._check_c()

    def _check_c(self) -> None:
        if self.kind != RECURSIVE:
            if self.c is not None:
                raise InputError(f'LDiversity: c belongs to kind="recursive" only; leave it out for "{self.kind}".')
            return
        if self.c is None:
            raise InputError(
                'LDiversity: kind="recursive" needs c: the commonest value may have less than c times the records of '
                "all but the l - 1 commonest, such as c=3."
            )
        if finite(self.c, "LDiversity: c") <= 0:
            raise InputError("LDiversity: c is a number above 0, such as c=3.")

    @property
    def parts(self) -> dict[str, str]:
        """Records in violation, and their share."""
        said = f"records in classes that are not {self._degree}"
        return {"": said, SHARE: f"share of {said}"}

    @property
    def _degree(self) -> str:
        more = f", c = {self.c:g}" if self.kind == RECURSIVE else ""
        return f"{self.l:g}-diverse in {self.sensitive} ({self.kind}{more})"

    @property
    def variables(self) -> tuple[str, ...]:
        """The keys and the sensitive variable."""
        return (*self.keys, self.sensitive)

    def found(self, file: File) -> FileRiskResult:
        """Diversity of every record's class."""
        classes = Classes.of_file(file, self.variables[:-1], self.sensitive)
        diversity, poor = self._judged(classes)
        frame = pl.DataFrame({
            **file.places, "alike": classes.size[classes.of].astype(np.int64),
            "diversity": diversity[classes.of], "below": poor[classes.of],
        })  # fmt: skip
        title = f"l-diversity of {file.n:,} records: {self.sensitive} by {', '.join(self.keys)}; {self._degree}"
        notes = (
            f"Diversity is {KINDS[self.kind]}.",
            *self._too_many(classes),
            *classes.words(file, self.variables[:-1], self.sensitive),
        )
        shown = np.where(np.isfinite(diversity), diversity, 0.0)[classes.of]
        return FileRiskResult(
            title, frame, counted(file.people(frame["below"].to_numpy()), file.n), self.parts, notes,
            bars(_ranges(shown, file.data.count)),
            f"Records, by the diversity of their class: {self.kind}",
        )  # fmt: skip

    def _too_many(self, classes: Classes) -> list[str]:
        """That the file has too few values for any class to be diverse."""
        if classes.hidden or self.l <= classes.levels:
            return []
        return [
            f"The file has {classes.levels:,} values of {self.sensitive}, fewer than l = {self.l:g}: no class can be "
            f"diverse, however coarse the keys; give an l of at most {classes.levels:,}."
            if classes.levels > 1
            else f"The file has one value of {self.sensitive}: no class can be diverse, however coarse the keys."
        ]

    def violated(self, classes: Classes, file: File) -> Bools:  # noqa: ARG002 - as others
        """Which classes are not diverse, shape (d,)."""
        return self._judged(classes)[1]

    @property
    def share_is_monotone(self) -> bool:
        """Whether putting classes together never raises the records in violation: entropies and ratios may fall."""
        return self.kind == DISTINCT

    def _judged(self, classes: Classes) -> tuple[F64, Bools]:
        """The diversity of each class, and whether it is too little; infinite where nothing of it is released."""
        if classes.hidden:
            return np.full(len(classes.size), np.inf), np.zeros(len(classes.size), dtype=bool)
        if self.kind == RECURSIVE:
            assert self.c is not None
            top, rest = _commonest(classes, round(self.l))
            return np.divide(rest, top, out=np.zeros(len(top)), where=top > 0), ~(top < self.c * rest)
        found = classes.distinct if self.kind == DISTINCT else _effective(classes)
        return found, found < self.l * (1 - 1e-12)


def _effective(classes: Classes) -> F64:
    """exp of the entropy in each class; 0 where it has no value."""
    share = classes.count / classes.valued[classes.place]
    entropy = -np.bincount(classes.place, weights=share * np.log(share), minlength=len(classes.size))
    return np.where(classes.valued > 0, np.exp(entropy), 0.0)


def _commonest(classes: Classes, l: int) -> tuple[F64, F64]:  # noqa: E741
    """r_1 and r_l + ... + r_m of each class."""
    order = np.lexsort((-classes.count, classes.place))
    place, count = classes.place[order], classes.count[order]
    rank = np.arange(len(place)) - np.searchsorted(place, place)
    size = len(classes.size)
    top = np.bincount(place, weights=count * (rank == 0), minlength=size)
    rest = np.bincount(place, weights=count * (rank >= l - 1), minlength=size)
    return top.astype(np.float64), rest.astype(np.float64)


def _ranges(diversity: F64, rows: F64 | None) -> dict[str, float]:
    place: I64 = np.searchsorted(RANGES, diversity, side="right")
    names = [f"below {RANGES[0]:g}", *(f"{a:g} to below {b:g}" for a, b in pairwise(RANGES)),
             f"{RANGES[-1]:g} or more"]  # fmt: skip
    count = np.bincount(place, rows, len(names))
    return {name: float(n) for name, n in zip(names, count, strict=True)}
