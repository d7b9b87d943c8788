"""Unsafe combinations, as mu-ARGUS counts them: sets of a few keys on which too few records agree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Any, ClassVar

import numpy as np
import polars as pl

from confide.core.checks import names_of
from confide.core.errors import InputError
from confide.core.registry import registered
from confide.frames.columns import I64, Bools
from confide.frames.distinct import Distinct
from confide.measure.risk.file_risks.file import File
from confide.measure.risk.file_risks.k_anonymity import checked_k
from confide.measure.risk.file_risks.result import FileRiskResult, bars
from confide.measure.risk.file_risks.statement import SHARE, FileRisk, counted
from confide.measure.risk.file_risks.words import cells_words, kept_back_words, truth_words

MOST = 100_000
"""Sets of keys that are counted at most."""
MINIMAL = "minimal"


@registered
@dataclass(frozen=True)
class UnsafeCombinations(FileRisk):
    r"""How many records have a combination of a few keys that fewer records than a threshold have, as mu-ARGUS counts.

    For each set S of at most `dimension` keys, with f_S(i) the records that agree with record i on S, the combination
    of i is unsafe if

    .. math:: f_S(i) < \mathrm{below}_{|S|}

    `dimension` is at most the number of keys. `below`: the threshold, or one per number of keys, such as
    below=[100, 20, 5]. A combination is minimal if no smaller one inside is unsafe: who hides one of its values is
    safe from it, and from all that contain it.
    A combination with a missing value is none, as in mu-ARGUS: nobody can be searched by it.

    >>> import confide as cf
    >>> file = {"town": ["a", "a", "a", "b"], "job": ["x", "x", "y", "x"]}
    >>> found = cf.measures.UnsafeCombinations(["town", "job"], dimension=2, below=2).of(file)
    >>> found.frame["unsafe"].to_list(), found.frame["minimal"].to_list()
    ([0, 0, 2, 2], [0, 0, 1, 1])
    """

    keys: str | Sequence[str]
    dimension: int = 3
    below: int | Sequence[int] = 3

    risk: ClassVar[str] = "unsafe_combinations"
    in_words: ClassVar[str] = "records with an unsafe combination of keys"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "keys", names_of(self.keys, "UnsafeCombinations: keys"))
        wrong = isinstance(self.dimension, bool) or not isinstance(self.dimension, (int, np.integer))
        if wrong or self.dimension < 1:
            raise InputError(
                "UnsafeCombinations: dimension is how many keys are combined at most, a whole number from 1."
            )
        object.__setattr__(self, "dimension", min(int(self.dimension), len(self.keys)))
        sets = sum(comb(len(self.keys), s) for s in range(1, self.dimension + 1))
        if sets > MOST:
            raise InputError(
                f"UnsafeCombinations: {len(self.keys)} keys have {sets:,} sets of up to {self.dimension}, above "
                f"{MOST:,}; name fewer keys or a lower dimension."
            )
        object.__setattr__(self, "below", _thresholds(self.below, self.dimension))

    @property
    def parts(self) -> dict[str, str]:
        """Records with an unsafe combination, their share, and how many unsafe combinations there are."""
        said = f"records with an unsafe combination of up to {self.dimension} keys"
        return {"": said, SHARE: f"share of {said}", MINIMAL: "minimal unsafe combinations, over all records"}

    @property
    def variables(self) -> tuple[str, ...]:
        """The keys."""
        return tuple(self.keys)

    def found(self, file: File) -> FileRiskResult:
        """Unsafe combinations of every record, and of every set of keys."""
        file.every_record()
        keys = file.keys(self.variables)
        unsafe, minimal = np.zeros(file.n, dtype=np.int64), np.zeros(file.n, dtype=np.int64)
        rows = []
        for names, bad, least in _levels(file, keys, self._below):
            unsafe += bad
            minimal += least
            rows.append((names, int(bad.sum()), int(least.sum())))
        frame = pl.DataFrame({"row": np.arange(file.n), "unsafe": unsafe, "minimal": minimal, "below": unsafe > 0})
        shown = [(", ".join(names), len(names), bad, least) for names, bad, least in rows]
        table = pl.DataFrame(shown, schema=["keys", "size", "unsafe", "minimal"], orient="row")
        numbers: Mapping[str, float | None] = {
            **counted(int((unsafe > 0).sum()), file.n),
            MINIMAL: float(minimal.sum()),
        }
        title = f"Unsafe combinations of {file.n:,} records: up to {self.dimension} of {', '.join(self.keys)}"
        return FileRiskResult(
            title, frame, numbers, self.parts, tuple(self._words(file, keys)), bars(_by_key(rows, keys)),
            "Minimal unsafe combinations that a key is part of", table.sort("minimal", descending=True).head(20),
        )  # fmt: skip

    @property
    def _below(self) -> tuple[int, ...]:
        assert isinstance(self.below, tuple)
        return self.below

    def _words(self, file: File, keys: Sequence[str]) -> list[str]:
        limits = ", ".join(f"{b:,} for {s}" for s, b in enumerate(self._below, 1))
        rule = f"Combinations with a missing value are left out. {cells_words(file, keys, True)}"
        said = f"Unsafe: fewer records than {limits} keys. Sets of keys with most come first, 20 at most."
        return [said, rule, *kept_back_words(file, self.variables), *truth_words(file, keys)]


def _thresholds(below: object, dimension: int) -> tuple[int, ...]:
    """A threshold per number of keys."""
    each: tuple[Any, ...] = tuple(below) if isinstance(below, (list, tuple)) else (below,) * dimension
    if len(each) != dimension:
        raise InputError(
            f"UnsafeCombinations: below is one threshold, or one for each number of keys from 1 to {dimension}; "
            f"{len(each)} were given."
        )
    for b in each:
        try:
            checked_k(b, "UnsafeCombinations")
        except InputError:
            raise InputError(
                "UnsafeCombinations: below is a number of records, a whole number from 2: a combination is unsafe if "
                "fewer have it."
            ) from None
    return tuple(int(b) for b in each)


def _levels(file: File, keys: Sequence[str], below: Sequence[int]) -> Iterator[tuple[tuple[str, ...], Bools, Bools]]:
    """By set of keys, which records are unsafe on it, and which are while no smaller set inside is."""
    codes = {v: file.values(v) for v in keys}
    inside: dict[tuple[str, ...], Bools] = {}
    for size, limit in enumerate(below[: len(keys)], 1):
        level = {}
        for names in combinations(keys, size):
            bad = _fewer([codes[v] for v in names], file.n, limit)
            smaller = np.zeros(file.n, dtype=bool)
            for part in combinations(names, size - 1):
                smaller |= inside.get(part, smaller)
            yield names, bad, bad & ~smaller
            level[names] = bad | smaller
        inside = level


def _fewer(codes: Sequence[I64], n: int, limit: int) -> Bools:
    """Which records have values that fewer than `limit` have; none where one is missing."""
    cells = Distinct.rows(codes, n)
    return np.asarray((cells.count < limit)[cells.of] & np.all([c >= 0 for c in codes], axis=0))


def _by_key(rows: Sequence[tuple[Sequence[str], int, int]], keys: Sequence[str]) -> dict[str, float]:
    count = dict.fromkeys(keys, 0.0)
    for names, _, minimal in rows:
        for v in names:
            count[v] += minimal
    return count
