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
    `missing`: "own" (a missing key agrees with a missing one only) or "wildcard" (with every value). A record whose
    keys nobody in the population has counts as below k, and is told of; so is one for whose keys the population has
    fewer people than the file has records. A population smaller than the file is refused.

    >>> import confide as cf
    >>> people = {"sex": ["f", "f", "m", "m"], "age": [31, 31, 31, 42]}
    >>> cf.measures.KMap(["sex", "age"], people, k=2).of({"sex": ["f", "m"], "age": [31, 42]}).frame["people"].to_list()
    [2, 1]
    """

    keys: str | Sequence[str]
    population: Any
    k: int = 3
    count: str | None = None
    missing: str = field(default=OWN, metadata={"choices": (OWN, WILDCARD)})

    risk: ClassVar[str] = "k_map"
    in_words: ClassVar[str] = "records below k in the population (k-map)"
    data_fields: ClassVar[tuple[str, ...]] = ("population",)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "keys", names_of(self.keys, "KMap: keys"))
        checked_k(self.k, "KMap")
        checked_rule(self.missing, {rule: RULES[rule] for rule in (OWN, WILDCARD)}, "KMap")
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
        weight = self._counts(file.n)
        z, people = self._codes(file, keys)
        size = compatible(z, people, weight) if keys else np.full(file.held, weight.sum())
        alike = compatible(z, z, file.data.count) if keys else np.full(file.held, float(file.n))
        below = size < self.k
        frame = pl.DataFrame({**file.places, "people": size.astype(np.int64), "below": below})
        title = f"k-map of {file.n:,} records on {', '.join(self.keys)}; k = {self.k:,}, missing: {self.missing}"
        notes = (
            f"Population: {weight.sum():,.0f} people. Fewest behind a record: {int(size.min()):,}.",
            *self._words(file, keys, size, alike), *missing_words(file, keys, self.missing),
            *kept_back_words(file, self.variables), *truth_words(file, keys),
        )  # fmt: skip
        return FileRiskResult(
            title, frame, counted(file.people(below), file.n), self.parts, notes,
            bars(class_size(size, file.data.count)),
            "Records, by how many people have their keys",
        )  # fmt: skip

    def _counts(self, records: int) -> F64:
        """How many people each row of the population stands for; refused where they are fewer than the records."""
        found = np.ones(self.people.frame.height)
        if self.count is not None:
            column = self.people.column(self.count, "numeric")
            if column.missing.any() or (column.values < 0).any() or (column.values != np.round(column.values)).any():
                raise InputError(f'KMap: "{self.count}" counts people: whole numbers from 0, none missing.')
            found = np.asarray(column.values, dtype=np.float64)
        if found.sum() < records:
            hint = "" if self.count else "; if its rows stand for several people, count= names the column that says it"
            raise InputError(
                f"KMap: the population has {found.sum():,.0f} people and the file {records:,} records, so it is not "
                f"the population of this file{hint}."
            )
        return found

    def _codes(self, file: File, keys: Sequence[str]) -> tuple[list[I64], list[I64]]:
        """The keys of the file and of the population; -1 is what agrees with everything."""
        z, people = [file.codes(v) for v in keys], [self._in_file(file, v) for v in keys]
        if self.missing == OWN:  # missing is then a code like any other
            return [c + 1 for c in z], [c + 1 for c in people]
        for i, v in enumerate(keys):
            coded = self.people.schema.coded(self.people.frame.get_column(v)).to_numpy()
            answers = np.unique(z[i][file.answers(v)])
            z[i], people[i] = file.values(v), np.where(coded | np.isin(people[i], answers), -1, people[i])
        return z, people

    def _in_file(self, file: File, name: str) -> I64:
        """The population's values of a key as codes of the file: -1 where missing, above all where no record has it."""
        release = file.release
        model = file.column(name) if release is None else release.before.column(name, release.kinds.get(name))
        column = file.in_form(self.people.like(name, model))
        codes = file.codes_of(column)
        return np.where((codes < 0) & ~column.missing, int(file.codes(name).max()) + 1, codes)

    def _words(self, file: File, keys: Sequence[str], size: F64, alike: F64) -> list[str]:
        """Records with fewer people behind them than a population of this file could have."""
        said = []
        none, short = size == 0, size < alike
        if none.any():
            open_ = none & np.any([file.codes(v) < 0 for v in keys], axis=0)
            kept = f" {int(file.people(open_)):,} of them have a missing key, which no known value agrees with."
            said.append(
                f"{int(file.people(none)):,} of {file.n:,} records have keys that nobody in the population has, and "
                "count as below k: the population is not that of the file, or its values are altered or coded "
                "otherwise." + (kept if open_.any() and self.missing == OWN else "")
            )
        if (short & ~none).any():
            moved = file.altered(keys)
            why = (
                f"values that are altered at random ({', '.join(moved)}) may make records alike that are not"
                if moved
                else "that cannot be: it is not the population of this file, or its values are coded otherwise. Do not "
                "rely on these numbers"
            )
            said.append(
                f"For {int(file.people(short)):,} of {file.n:,} records the population has fewer people with their "
                f"keys than the file has records; {why}."
            )
        return said
