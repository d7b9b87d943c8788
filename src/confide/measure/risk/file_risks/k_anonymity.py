"""k-anonymity: how many records share the keys with fewer than k - 1 others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import polars as pl

from confide.core.checks import names_of
from confide.core.errors import InputError
from confide.core.registry import registered
from confide.frames.columns import F64, Bools
from confide.measure.risk.file_risks.classes import OWN, PERSON, RULES, WILDCARD, alike, compatible
from confide.measure.risk.file_risks.file import File
from confide.measure.risk.file_risks.result import FileRiskResult, bars
from confide.measure.risk.file_risks.sensitive import Classes
from confide.measure.risk.file_risks.statement import SHARE, FileRisk, counted
from confide.measure.risk.file_risks.words import (
    class_size,
    fine_words,
    kept_back_words,
    missing_words,
    some,
    truth_words,
)


@registered
@dataclass(frozen=True)
class KAnonymity(FileRisk):
    r"""How many records are alike on the keys with fewer than k - 1 others (Samarati and Sweeney 1998).

    With f_i the number of records that agree with record i on all keys, i itself counted, the risk is

    .. math:: \#\{ i : f_i < k \}

    `missing` says what a missing key agrees with. "own": a missing value is a category of its own; only this rule
    bounds the attack of somebody who knows the keys, p <= 1/k. "person": f_i counts the records whose values that are
    there are the true ones of i's person, which takes a release with its link. "wildcard": a missing value agrees with
    every value, as sdcMicro counts; being alike is then not transitive, and a person of whom the hidden value is known
    may be alone.

    >>> import confide as cf
    >>> z = {"town": ["a", "a", "a", "b", None], "job": ["x", None, "y", "x", "x"]}
    >>> [cf.measures.KAnonymity(["town", "job"], k=3, missing=m).of(z).frame["alike"].to_list()
    ...  for m in ("own", "wildcard")]
    [[1, 1, 1, 1, 1], [3, 4, 2, 2, 4]]
    """

    keys: str | Sequence[str]
    k: int = 3
    missing: str = field(default=OWN, metadata={"choices": tuple(RULES)})

    risk: ClassVar[str] = "k_anonymity"
    in_words: ClassVar[str] = "records below k (k-anonymity)"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "keys", names_of(self.keys, "KAnonymity: keys"))
        checked_k(self.k, "KAnonymity")
        checked_rule(self.missing, RULES, "KAnonymity")

    @property
    def parts(self) -> dict[str, str]:
        """Records in violation, and their share."""
        rule = "" if self.missing == OWN else f" (missing: {self.missing})"
        said = f"records in classes of fewer than {self.k:,}{rule}"
        return {"": said, SHARE: f"share of {said}"}

    @property
    def variables(self) -> tuple[str, ...]:
        """The keys."""
        return tuple(self.keys)

    def found(self, file: File) -> FileRiskResult:
        """Class sizes of all records."""
        if self.k > file.n:
            raise InputError(
                f"KAnonymity: k is {self.k:,}, but the file has {some(file.n, 'row')}, so that nobody could ever be "
                f"alike with as many; give a k of at most {file.n:,}."
            )
        keys = file.keys(self.variables, self.k)
        size = _sizes(file, keys, self.missing)
        below = size < self.k
        frame = pl.DataFrame({**file.places, "alike": size.astype(np.int64), "below": below})
        title = f"k-anonymity of {file.n:,} records on {', '.join(self.keys)}; k = {self.k:,}, missing: {self.missing}"
        notes = (
            f"Smallest class: {int(size.min()):,}. Unique records: {int(file.people(size == 1)):,}.",
            *missing_words(file, keys, self.missing), *kept_back_words(file, self.variables), *truth_words(file, keys),
            *fine_words(file, keys),
        )  # fmt: skip
        return FileRiskResult(
            title, frame, counted(file.people(below), file.n), self.parts, notes,
            bars(class_size(size, file.data.count)),
            "Records, by how many are alike",
        )  # fmt: skip

    def violated(self, classes: Classes, file: File) -> Bools:  # noqa: ARG002 - as others
        """Which classes of records that are alike are too small, shape (d,)."""
        return np.asarray(classes.size < self.k)

    @property
    def share_is_monotone(self) -> bool:
        """Putting classes together never raises the records in violation."""
        return True


def _sizes(file: File, keys: Sequence[str], rule: str) -> F64:
    """How many records are alike with each, by a rule for missing values."""
    z, count = [file.codes(v) for v in keys], file.data.count
    if not z:
        return np.full(file.held, float(file.n))
    if rule == PERSON:
        return compatible(_truth(file, keys), z, count, open_asked=False)
    if rule == WILDCARD:
        z = [file.values(v) for v in keys]
        return compatible(z, z, count) if any((c < 0).any() for c in z) else alike(z, file.held, count)
    return alike(z, file.held, count)


def _truth(file: File, keys: Sequence[str]) -> list[np.ndarray]:
    found = [file.truth(v) for v in keys]
    if any(t is None for t in found):
        raise InputError(
            'KAnonymity: missing="person" counts by the true values of people, so it takes a release whose link is '
            'known: cf.Release.adopt(original, released, link=...). For a file by itself take missing="own".'
        )
    for v, t in zip(keys, found, strict=True):
        if t is not None and (t < 0).all():  # a key whose values are all missing is refused before
            raise InputError(
                f'KAnonymity: no true value of "{v}" is a released one: it was recoded. missing="person" compares '
                "both, so say how, with Release.adopt(original, released, plan, link=...)."
            )
    return [t for t in found if t is not None]


def checked_k(k: object, where: str) -> None:
    """How many must be alike: a whole number from 2."""
    if isinstance(k, bool) or not isinstance(k, (int, np.integer)):
        raise InputError(f"{where}: k is how many records must be alike, a whole number from 2, such as k=3.")
    if k < 2:
        raise InputError(f"{where}: k is a whole number from 2, since every record is alike with itself; not {k}.")


def checked_rule(rule: object, known: Mapping[str, str], where: str) -> None:
    """A rule for missing values."""
    if rule not in known:
        said = "; ".join(f'"{name}": {words}' for name, words in known.items())
        raise InputError(f"{where}: missing is one of {said}.")
