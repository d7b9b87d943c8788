"""The file that a customary risk is computed on: released values as codes, and, where it is known, the truth."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from confide.core.errors import InputError, did_you_mean, raise_all
from confide.frames.columns import I64, Bools, Column, codes_in, codes_of_numbers
from confide.frames.distinct import dense
from confide.frames.encoded import Encoded
from confide.frames.schema import schema
from confide.protect.copies import Copies
from confide.protect.release import Release


@dataclass(frozen=True, eq=False)
class File:
    """`data`: the file with its arrays. `release`: the release whose public file it is; None for a file by itself.

    `where`: what asks, for sentences. A variable that a release keeps back is a variable of the original that is not in
    the file: nobody sees it, so all records are alike on it.
    """

    data: Encoded
    where: str
    release: Release | None = None

    @classmethod
    def of(cls, data: Any, where: str) -> File:
        """A frame of any library, an encoded one, or a release."""
        if isinstance(data, cls):
            return data
        if isinstance(data, Release):
            return cls(data.after, where, data)
        if isinstance(data, Copies):
            raise InputError(f"{where}: data holds {len(data)} copies; compute it for each, as for copy in copies.")
        made = cls(Encoded.of(data), where)
        if not made.n:
            raise InputError(f"{where}: the file has no rows.")
        return made

    @property
    def n(self) -> int:
        """Its records."""
        return self.data.rows

    @property
    def held(self) -> int:
        """Rows that are held: all records, or the different ones, each of which stands for several."""
        return int(self.data.frame.height)

    @property
    def places(self) -> dict[str, I64]:
        """The first columns of a table with one row for each that is held: its place, and what it stands for."""
        first = {"row": np.arange(self.held)}
        return first if self.data.count is None else {**first, "rows": self.data.count.astype(np.int64)}

    def people(self, each: Any) -> float:
        """The sum over all records of what each row that is held has, true counting as 1."""
        return self.data.total(each)

    def every_record(self) -> None:
        """Refuse a file of which only the different rows are held."""
        if self.data.count is not None:
            raise InputError(
                f"{self.where} goes through all records, which is not done for files that are read in parts; read the "
                "file, or a part of it, into memory (cf.read)."
            )

    def column(self, name: str) -> Column:
        """One variable as an array."""
        return self.data.column(name)

    def codes(self, name: str) -> I64:
        """The values of a variable as codes from 0; missing is -1, shape (n,)."""
        column = self.column(name)
        if column.kind == "categorical":
            return column.values
        return np.where(column.missing, -1, dense(column.values)[0])

    def answers(self, name: str) -> Bools:
        """Where the file holds a code that it declares missing, such as 9 for refused, or that code in the form that a
        plan releases; shape (n,)."""
        held = self.data.schema if self.release is None else schema(self.release.frame)
        coded = held.coded(self.data.frame.get_column(name)).to_numpy()
        return np.asarray(coded | np.isin(self.codes(name), self._released_answers(name)))

    def values(self, name: str) -> I64:
        """`codes`, with codes that are declared missing as missing too: the values that tell something, shape (n,)."""
        return np.where(self.answers(name), -1, self.codes(name))

    def _released_answers(self, name: str) -> I64:
        """Codes of a release to which answer codes of the original lead, and no other value."""
        none = np.zeros(0, dtype=np.int64)
        if self.release is None or name not in self.release.original.columns:
            return none
        before = self.release.before
        coded = before.schema.coded(before.frame.get_column(name)).to_numpy()
        if not coded.any():
            return none
        column = self.in_form(before.column(name, self.release.kinds.get(name)))
        if column.kind == "categorical" and self.column(name).kind == "numeric":
            return none
        codes = self.codes_of(column)
        return np.setdiff1d(codes[coded], np.append(codes[~coded], -1))

    def kept_back(self, names: Iterable[str]) -> tuple[str, ...]:
        """Which of some variables the original has and the release has not."""
        if self.release is None:
            return ()
        return tuple(v for v in names if v not in self.data.types and v in self.release.original.columns)

    def released(self, names: Sequence[str], what: str) -> tuple[str, ...]:
        """The variables of a list that are in the file; names that nobody knows are refused.

        >>> import confide as cf
        >>> File.of(cf.demo("heads"), "KAnonymity").released(["sex", "agee"], "keys")
        Traceback (most recent call last):
        confide.InputError: KAnonymity: keys: there is no column "agee". Did you mean "age"?
        """
        gone = self.kept_back(names)
        known = list(self.data.types)
        raise_all(
            f'{self.where}: {what}: there is no column "{v}".{did_you_mean(v, known)}'
            for v in names if v not in known and v not in gone
        )  # fmt: skip
        return tuple(v for v in names if v in known)

    def keys(self, names: Sequence[str], least: int = 1) -> tuple[str, ...]:
        """Keys that are in the file and can make records alike: what has a value per record, or none, is refused."""
        found = self.released(names, "keys")
        raise_all(problem for v in found if (problem := self._wrong_key(v, least)))
        return found

    def _wrong_key(self, name: str, least: int) -> str:
        codes = self.codes(name)
        if (codes < 0).all():
            if self._hidden(name):
                return ""
            return f'{self.where}: all values of the key "{name}" are missing, so it tells nobody apart; leave it out.'
        present = codes[codes >= 0]
        many = np.bincount(present, None if self.data.count is None else self.data.count[codes >= 0])
        if self.n > max(least, 9) and many.sum() == self.n and many.max() == 1:
            return (
                f'{self.where}: the key "{name}" has as many values as there are rows, so that everybody is unique by '
                "it alone; leave identifiers out, and cut numbers into groups first."
            )
        return ""

    def _hidden(self, name: str) -> bool:
        """Whether the original has values of a variable, so that it is the release that lacks them."""
        if self.release is None or name not in self.release.original.columns:
            return False
        return not self.release.before.column(name, self.release.kinds.get(name)).missing.all()

    def truth(self, name: str) -> I64 | None:
        """True values of the records' people in their released form, as codes of `codes(name)`; -1 where missing, or
        where no record has it. None where the truth is not known: without a release, or without its link."""
        if self.release is None or self.release.link is None:
            return None
        column = self.in_form(self.release.before.column(name, self.release.kinds.get(name)))
        return self.codes_of(column.take(self.release.link))

    def in_form(self, column: Column) -> Column:
        """True values as the plan releases them where nothing random is done: recoded, topcoded."""
        compiled = None if self.release is None else self.release.compiled
        return column if compiled is None else compiled.released_form(column)

    def codes_of(self, column: Column) -> I64:
        """Values of another file as codes of `codes(name)`; -1 where missing or not among them."""
        mine = self.column(column.name)
        if mine.kind == "categorical":
            return np.asarray(codes_in(column, mine))
        if column.kind == "categorical":
            raise InputError(f'{self.where}: "{column.name}" holds numbers in one file and categories in the other.')
        known, first = np.unique(mine.values[~mine.missing], return_index=True)
        at = codes_of_numbers(column.values, known)
        return np.where(at < 0, -1, self.codes(column.name)[~mine.missing][first][at])

    def altered(self, names: Sequence[str]) -> tuple[str, ...]:
        """Which variables the plan alters at random, so that released values need not be true."""
        compiled = None if self.release is None else self.release.compiled
        return () if compiled is None else tuple(v for v in names if compiled.way(v).random is not None)
