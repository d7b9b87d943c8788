"""Classes of records that are alike on the keys, with the counts of a sensitive variable in each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from confide.core.errors import InputError
from confide.frames.columns import F64, I64
from confide.frames.distinct import Distinct
from confide.measure.risk.file_risks.classes import OWN
from confide.measure.risk.file_risks.file import File
from confide.measure.risk.file_risks.words import kept_back_words, missing_words, truth_words


@dataclass(frozen=True, eq=False)
class Classes:
    """`of`: each record's class, shape (n,). `size`: records of each class, shape (d,). The rest is sparse, one entry
    per class and value that occurs in it, classes rising and values rising inside: `place` the class, `value` the code
    of the value (ordered as the values are), `count` its records. `levels`: how many values the file has. `hidden`:
    whether the sensitive variable is not released, so that there is nothing to learn from being alike.
    """

    of: I64
    size: F64
    place: I64
    value: I64
    count: F64
    levels: int
    hidden: bool = False

    @classmethod
    def of_codes(cls, keys: Sequence[I64], values: I64, n: int, count: F64 | None = None) -> Classes:
        """From codes of keys (-1 is a category of its own) and of sensitive values (-1 is none); `count`: how many
        records each row stands for (None: one)."""
        classes = Distinct.rows(keys, n, count)
        there = values >= 0
        known = np.unique(values[there])
        some = None if count is None else count[there]
        pairs = Distinct.rows([classes.of[there], np.searchsorted(known, values[there])], int(there.sum()), some)
        mine = classes.of[there][pairs.first]
        value = np.searchsorted(known, values[there][pairs.first])
        order = np.lexsort((value, mine))
        return cls(classes.of, classes.count, mine[order], value[order], pairs.count[order], len(known))

    @classmethod
    def of_file(cls, file: File, keys: Sequence[str], sensitive: str) -> Classes:
        """From a file; what a release keeps back tells nobody apart, and tells nothing."""
        codes = [file.codes(v) for v in file.keys(keys)]
        if not file.released([sensitive], "sensitive"):
            classes = Distinct.rows(codes, file.held, file.data.count)
            none = np.zeros(0, dtype=np.int64)
            return cls(classes.of, classes.count, none, none, np.zeros(0), 0, hidden=True)
        values = file.values(sensitive)
        if (values < 0).all():
            raise InputError(f'{file.where}: all values of "{sensitive}" are missing; there is nothing to learn.')
        return cls.of_codes(codes, values, file.held, file.data.count)

    @cached_property
    def valued(self) -> F64:
        """Records of each class that have a value, shape (d,)."""
        return np.bincount(self.place, weights=self.count, minlength=len(self.size)).astype(np.float64)

    @cached_property
    def distinct(self) -> F64:
        """Different values in each class, shape (d,)."""
        return np.bincount(self.place, minlength=len(self.size)).astype(np.float64)

    @cached_property
    def overall(self) -> F64:
        """Shares of the values in the file, shape (levels,)."""
        total = np.bincount(self.value, weights=self.count, minlength=self.levels)
        return np.asarray(total / total.sum())

    def words(self, file: File, keys: Sequence[str], sensitive: str) -> list[str]:
        """What to know beside a number: missing values, what is not released, what is altered, one value only."""
        said = missing_words(file, file.released(keys, "keys"), OWN)
        if self.hidden:
            said.append(f"{sensitive} is not released, so being alike tells nothing of it: no class is in violation.")
        else:
            lost, empty = int(file.n - self.valued.sum()), int((self.valued == 0).sum())
            coded = int(file.people(file.answers(sensitive)))
            codes = f" ({coded:,} hold a code that the file declares missing)" if coded else ""
            if lost:
                said.append(f"{lost:,} of {file.n:,} values of {sensitive} are missing{codes}, and count as no value.")
            if empty:
                said.append(f"{empty:,} classes have no value of {sensitive} at all, and count as violations.")
            if self.levels == 1:
                said.append(f"Everybody has the same {sensitive}, so being alike tells nothing new of it.")
        return [*said, *kept_back_words(file, keys), *truth_words(file, [*keys, sensitive])]


def checked_sensitive(name: object, keys: Sequence[str], where: str) -> None:
    """The name of one variable that is no key."""
    if not isinstance(name, str) or not name:
        raise InputError(f'{where}: sensitive is the name of one variable, such as sensitive="tenure"; one at a time.')
    if name in keys:
        raise InputError(f'{where}: "{name}" is among the keys, so it is known already; name another variable.')
