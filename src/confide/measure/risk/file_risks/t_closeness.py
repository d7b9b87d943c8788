"""t-closeness: how far the sensitive values of records that are alike lie from those of the whole file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import ClassVar

import numpy as np
import polars as pl

from confide.core.checks import fraction, names_of
from confide.core.errors import InputError
from confide.core.registry import registered
from confide.frames.columns import F64, Bools
from confide.frames.hierarchies.hierarchy import Hierarchy
from confide.measure.risk.file_risks.distances import equal_distance, hierarchical_distance, ordered_distance
from confide.measure.risk.file_risks.file import File
from confide.measure.risk.file_risks.result import FileRiskResult, bars
from confide.measure.risk.file_risks.sensitive import Classes, checked_sensitive
from confide.measure.risk.file_risks.statement import SHARE, FileRisk, counted
from confide.measure.risk.file_risks.value_trees import ValueTree, checked_tree

ORDERED, EQUAL, HIERARCHICAL = "ordered", "equal", "hierarchical"
KINDS = {
    ORDERED: "values lie in their order, each one step from the next",
    EQUAL: "any two values are equally far apart",
    HIERARCHICAL: "values are as far apart as the height of their lowest common group",
}
LARGEST = "largest"
RANGES = (0.0, 0.1, 0.2, 0.3, 0.5, 1.0)


@registered
@dataclass(frozen=True)
class TCloseness(FileRisk):
    r"""How many records are in classes whose sensitive values are not distributed as in the file (Li et al. 2007).

    The distance of a class is the earth mover's distance between its distribution p and the file's q:

    .. math:: \frac{1}{m-1}\sum_{j=1}^{m} \Bigl|\sum_{i \le j} (p_i - q_i)\Bigr|, \qquad \tfrac12 \sum_j |p_j - q_j|,
       \qquad \sum_{N} \frac{h(N)}{H} \min(\mathrm{surplus}_N, \mathrm{deficit}_N)

    for the `kind` "ordered" (m values in their order), "equal" and "hierarchical" (over inner nodes N of a tree of
    height H, with h(N) their heights and what its children have too much and too little). Where it is not stated,
    numbers are "ordered" and categories "equal", which is never the shorter distance; the result says which. Whole
    numbers of few values count as categories, as everywhere. `hierarchy`: by value, the
    groups that it belongs to, the narrowest first, as {"flu": ["lungs"], "ulcer": ["stomach"]}, or a `cf.Hierarchy`
    with a table; one root is over all. `t`: the largest distance allowed, between 0 and 1. Missing is no value; a class
    without any is in violation.

    >>> import confide as cf
    >>> file = {"area": [*"aaabbbccc"], "salary": [3, 4, 5, 6, 8, 11, 7, 9, 10]}
    >>> found = cf.measures.TCloseness("area", "salary", t=0.2, kind="ordered").of(file).frame["distance"].round(4)
    >>> found[0], found[3]
    (0.375, 0.1667)
    """

    keys: str | Sequence[str]
    sensitive: str
    t: float = 0.2
    kind: str | None = field(default=None, metadata={"choices": tuple(KINDS)})
    hierarchy: Mapping[str, str | Sequence[str]] | Hierarchy | None = None

    risk: ClassVar[str] = "t_closeness"
    in_words: ClassVar[str] = "records in classes far from the file (t-closeness)"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "keys", names_of(self.keys, "TCloseness: keys"))
        checked_sensitive(self.sensitive, self.keys, "TCloseness")
        fraction(self.t, "TCloseness: t")
        if self.kind is not None and self.kind not in KINDS:
            said = "; ".join(f'"{name}": {words}' for name, words in KINDS.items())
            raise InputError(f"TCloseness: kind is one of {said}.")
        if (self.kind == HIERARCHICAL) != (self.hierarchy is not None):
            raise InputError(
                'TCloseness: kind="hierarchical" and hierarchy go together: hierarchy={"value": ["group", ...]} says '
                "by value which groups it belongs to, the narrowest first."
            )
        if self.hierarchy is not None:
            object.__setattr__(self, "hierarchy", checked_tree(self.hierarchy))

    @property
    def parts(self) -> dict[str, str]:
        """Records in violation, their share, and the largest distance."""
        kind = "" if self.kind is None else f" ({self.kind})"
        said = f"records in classes further than {self.t:g} from the file in {self.sensitive}{kind}"
        return {"": said, SHARE: f"share of {said}", LARGEST: f"largest distance of a class in {self.sensitive}"}

    @property
    def variables(self) -> tuple[str, ...]:
        """The keys and the sensitive variable."""
        return (*self.keys, self.sensitive)

    def found(self, file: File) -> FileRiskResult:
        """The distance of every record's class."""
        keys, kind = self.variables[:-1], self._kind(file)
        classes = Classes.of_file(file, keys, self.sensitive)
        distance = self._distances(file, classes)
        empty = (classes.valued == 0) & (not classes.hidden)
        far = empty | (distance > self.t + 1e-12)
        frame = pl.DataFrame({
            **file.places, "alike": classes.size[classes.of].astype(np.int64),
            "distance": pl.Series(np.where(empty, np.nan, distance)[classes.of]).fill_nan(None),
            "above": far[classes.of],
        })  # fmt: skip
        title = f"t-closeness of {file.n:,} records: {self.sensitive} by {', '.join(self.keys)}; t = {self.t:g}"
        largest = float(distance[~empty].max()) if (~empty).any() else None
        numbers = {**counted(file.people(frame["above"].to_numpy()), file.n), LARGEST: largest}
        notes = (
            f'Distance "{kind}": {KINDS[kind]}.{self._doubt(file, kind)}',
            *classes.words(file, keys, self.sensitive),
        )
        return FileRiskResult(
            title, frame, numbers, replace(self, kind=kind).parts, notes,
            bars(_ranges(distance[classes.of], file.data.count)),
            f"Records, by the distance of their class: {kind}",
        )  # fmt: skip

    def _kind(self, file: File) -> str:
        """The kind that is stated; else that of the variable, which a plan that recodes numbers does not change."""
        if self.kind is not None:
            return self.kind
        release = file.release
        if release is not None and self.sensitive in release.original.columns:
            first = release.before.column(self.sensitive, release.kinds.get(self.sensitive))
        elif self.sensitive in file.data.types:
            first = file.column(self.sensitive)
        else:
            return EQUAL
        text = file.data.types.get(self.sensitive) == pl.String
        return ORDERED if first.kind == "numeric" and not text else EQUAL

    def _doubt(self, file: File, kind: str) -> str:
        """What to ask about the order of values."""
        if self.kind is None and kind == EQUAL:
            return (
                f' {self.sensitive} holds categories; where their order means something, state kind="{ORDERED}", which '
                "never gives larger distances."
            )
        held = file.data.types.get(self.sensitive)
        if kind == ORDERED and held == pl.String:
            return f" The order of {self.sensitive} is that of the alphabet, since it is text; is that meant?"
        if kind == ORDERED and isinstance(held, pl.Enum):
            return f" The order of {self.sensitive} is that in which the file lists its categories."
        return ""

    def violated(self, classes: Classes, file: File) -> Bools:
        """Which classes are too far from the file, shape (d,)."""
        far: Bools = self._distances(file, classes) > self.t + 1e-12
        return np.asarray(far | ((classes.valued == 0) & (not classes.hidden)))

    @property
    def share_is_monotone(self) -> bool:
        """Whether putting classes together never raises the records in violation: a merged class may be far as a whole
        where one of its parts was near."""
        return False

    def _distances(self, file: File, classes: Classes) -> F64:
        """The distance of each class; 0 where all have one value, or where none is released."""
        if classes.levels < 2:
            return np.zeros(len(classes.size))
        kind = self._kind(file)
        if kind == ORDERED:
            return ordered_distance(classes)
        if kind == EQUAL:
            return equal_distance(classes)
        assert isinstance(self.hierarchy, Mapping)  # as it was checked
        told = file.column(self.sensitive).take(np.flatnonzero(file.values(self.sensitive) >= 0))
        return hierarchical_distance(classes, ValueTree.of(self.hierarchy, told))


def _ranges(distance: F64, rows: F64 | None) -> dict[str, float]:
    """How many records have a distance in each range."""
    names = [f"{a:g} to {b:g}" for a, b in pairwise(RANGES)]
    place = np.clip(np.searchsorted(RANGES, distance, side="right") - 1, 0, len(names) - 1)
    return {name: float(n) for name, n in zip(names, np.bincount(place, rows, len(names)), strict=True)}
