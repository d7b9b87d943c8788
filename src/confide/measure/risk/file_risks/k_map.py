"""k-map: how many records have keys that fewer than k people of the population have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import polars as pl

from confide.core.checks import names_of
from confide.core.errors import InputError, did_you_mean, raise_all
from confide.core.registry import registered
from confide.frames import attach, schema, to_polars
from confide.frames.columns import F64, I64
from confide.frames.encoded import Encoded
from confide.measure.risk.file_risks.classes import OWN, RULES, WILDCARD, compatible
from confide.measure.risk.file_risks.file import File
from confide.measure.risk.file_risks.k_anonymity import checked_k, checked_rule
from confide.measure.risk.file_risks.result import FileRiskResult, bars
from confide.measure.risk.file_risks.statement import SHARE, FileRisk, counted
from confide.measure.risk.file_risks.words import class_size, kept_back_words, missing_words, truth_words


@registered
@dataclass(frozen=True, eq=False)
class KMap(FileRisk):
    r"""How many records have keys that fewer than k people of a population have (Sweeney 2001).

    With F_i the number of people in the population who agree with record i on all keys, the risk is

    .. math:: \#\{ i : F_i < k \}

    `population`: a file of people, in the codes of the original; a release is compared in its own form (recoded,
    topcoded). `count`: the column of the population that says how many people a row stands for; None: one each.
    `missing`: "wildcard" (a missing key agrees with every value) or "own" (only with a missing one). A record whose
    keys nobody in the population has counts as below k, and is told of.

    >>> import confide as cf
    >>> people = {"sex": ["f", "f", "m", "m"], "age": [31, 31, 31, 42]}
    >>> cf.measures.KMap(["sex", "age"], people, k=2).of({"sex": ["f", "m"], "age": [31, 42]}).frame["people"].to_list()
    [2, 1]
    """

    keys: str | Sequence[str]
    population: Any
    k: int = 3
    count: str | None = None
    missing: str = field(default=WILDCARD, metadata={"choices": (WILDCARD, OWN)})

    risk: ClassVar[str] = "k_map"
    in_words: ClassVar[str] = "records below k in the population (k-map)"
    data_fields: ClassVar[tuple[str, ...]] = ("population",)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "keys", names_of(self.keys, "KMap: keys"))
        checked_k(self.k, "KMap")
        checked_rule(self.missing, {rule: RULES[rule] for rule in (WILDCARD, OWN)}, "KMap")
        if self.count is not None and not isinstance(self.count, str):
            raise InputError("KMap: count is the name of the column that says how many people a row stands for.")

        if not isinstance(self.population, str) and self.population is not None:
            held = schema(self.population)
            made = attach(to_polars(self.population, "KMap: population").clone(), held)
            object.__setattr__(self, "population", made)

    @property
    def parts(self) -> dict[str, str]:
        """Records in violation, and their share."""
        said = f"records whose keys fewer than {self.k:,} people of the population have"
        return {"": said, SHARE: f"share of {said}"}

    @property
    def variables(self) -> tuple[str, ...]:
        """The keys."""
        return tuple(self.keys)

    @cached_property
    def people(self) -> Encoded:
        """The population with its arrays."""
        if isinstance(self.population, (str, type(None))):
            raise InputError("KMap: population is a file of people, as population=cf.read(...), not its name.")
        made = Encoded.of(self.population, "KMap: population")
        asked = [*self.keys, *([] if self.count is None else [self.count])]
        known = list(made.types)
        raise_all(
            f'KMap: population has no column "{v}".{did_you_mean(v, known)}' for v in asked if v not in made.types
        )
        if not made.frame.height:
            raise InputError("KMap: population has no rows.")
        return made

    def found(self, file: File) -> FileRiskResult:
        """The number of people behind each record's keys."""
        keys = file.keys(self.variables)
        weight = self._counts()
        size = self._sizes(file, keys, weight)
        below = size < self.k
        frame = pl.DataFrame({"row": np.arange(file.n), "people": size.astype(np.int64), "below": below})
        title = f"k-map of {file.n:,} records on {', '.join(self.keys)}; k = {self.k:,}, missing: {self.missing}"
        notes = (*self._words(file, size, weight), *missing_words(file, keys, self.missing),
                 *kept_back_words(file, self.variables), *truth_words(file, keys))  # fmt: skip
        return FileRiskResult(
            title, frame, counted(int(below.sum()), file.n), self.parts, notes, bars(class_size(size)),
            "Records, by how many people have their keys",
        )  # fmt: skip

    def _counts(self) -> F64:
        """How many people each row of the population stands for."""
        if self.count is None:
            return np.ones(self.people.frame.height)
        column = self.people.column(self.count, "numeric")
        if column.missing.any() or (column.values < 0).any() or (column.values != np.round(column.values)).any():
            raise InputError(f'KMap: "{self.count}" counts people: whole numbers from 0, none missing.')
        return np.asarray(column.values, dtype=np.float64)

    def _sizes(self, file: File, keys: Sequence[str], weight: F64) -> F64:
        if not keys:
            return np.full(file.n, weight.sum())
        z, people = [file.codes(v) for v in keys], [self._in_file(file, v) for v in keys]
        shift = int(self.missing == OWN)  # missing is then a code like any other
        return compatible([c + shift for c in z], [c + shift for c in people], weight)

    def _in_file(self, file: File, name: str) -> I64:
        """The population's values of a key as codes of the file: -1 where missing, above all where no record has it."""
        release = file.release
        model = file.column(name) if release is None else release.before.column(name, release.kinds.get(name))
        column = file.in_form(self.people.like(name, model))
        codes = file.codes_of(column)
        return np.where((codes < 0) & ~column.missing, int(file.codes(name).max()) + 1, codes)

    def _words(self, file: File, size: F64, weight: F64) -> list[str]:
        said = [f"Population: {weight.sum():,.0f} people. Fewest behind a record: {int(size.min()):,}."]
        nobody = int((size == 0).sum())
        if nobody:
            said.append(
                f"{nobody:,} of {file.n:,} records have keys that nobody in the population has, and count as below k: "
                "the population is not that of the file, or its values are altered or coded otherwise."
            )
        return said
