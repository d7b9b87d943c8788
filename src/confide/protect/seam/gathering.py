"""A step on a file that is read in parts: what it must have seen of all parts before it can be applied to one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from confide.core.random.draws import Draws
from confide.frames.columns import I64, Records
from confide.protect.seam.fitted import Applied


class ByRow(Protocol):
    """What can be applied to some records of a file as to all: nothing of a record hangs on the others that are there.
    A `Fitted` that gathers nothing is one."""

    def apply(self, original: Records, current: Records, draws: Draws) -> Applied:
        """What becomes of these records."""


class Gathering(ABC):
    """What a step collects, batch by batch in the order of rows. It may hold some of the file, never all of it. `left`:
    how many records a step that selects leaves; None for one that leaves all.

    What is taken from a batch hangs on that batch alone, so that other machines may take it: one that is pickled before
    it has seen anything needs nothing but what `picked` asks for.
    """

    left: int | None = None

    @abstractmethod
    def picked(self, original: Records, current: Records) -> Any:
        """What is taken from a batch, as it is where the step stands in the plan; nothing is changed here."""

    @abstractmethod
    def add(self, picked: Any) -> None:
        """What was taken from one more batch, in the order of rows."""

    def see(self, original: Records, current: Records) -> None:
        """One more batch."""
        self.add(self.picked(original, current))

    @abstractmethod
    def done(self) -> ByRow:
        """The step, after all batches were seen."""


@dataclass(frozen=True, eq=False)
class Patch:
    """New values of some records. `rows`: their numbers, rising; `values`: of each variable, in the same order, or
    where `tables` has the variable, places in its table."""

    rows: NDArray[Any]
    values: Mapping[str, NDArray[Any]]
    tables: Mapping[str, NDArray[Any]] = field(default_factory=dict)

    @classmethod
    def of(
        cls, rows: I64, values: Mapping[str, NDArray[Any]], tables: Mapping[str, NDArray[Any]] | None = None
    ) -> Patch:  # fmt: skip
        """Of rows in any order, their numbers held in as few bytes as they take."""
        small = rows.astype(np.min_scalar_type(int(rows.max(initial=0))))
        if bool((rows[1:] > rows[:-1]).all()):
            return cls(small, dict(values), tables or {})
        order = np.argsort(small, kind="stable")
        return cls(small[order], {v: x[order] for v, x in values.items()}, tables or {})

    def apply(self, original: Records, current: Records, draws: Draws) -> Applied:  # noqa: ARG002 - of `ByRow`
        rows = current.rows
        if not len(rows) or not len(self.rows) or rows[0] > self.rows[-1]:
            return Applied()
        kind = self.rows.dtype.type  # NumPy would copy all of them for a number of another type
        low = np.searchsorted(self.rows, kind(rows[0]))
        high = np.searchsorted(self.rows, kind(min(rows[-1], self.rows[-1])), side="right")
        at = np.searchsorted(rows, self.rows[low:high].astype(np.int64))
        columns = []
        for v, new in self.values.items():
            values = current[v].values.copy()
            values[at] = self.tables[v][new[low:high]] if v in self.tables else new[low:high]
            columns.append(current[v].with_values(values))
        return Applied(columns)


def narrow_codes(values: NDArray[Any], levels: int) -> NDArray[Any]:
    """Codes in the smallest integers that hold them; numbers as they are."""
    if not np.issubdtype(values.dtype, np.integer):
        return values
    return values.astype(np.min_scalar_type(-max(levels, 1)))


def joined(parts: Sequence[NDArray[Any]], kind: Any) -> NDArray[Any]:
    """Pieces of an array as one."""
    return np.concatenate(parts) if parts else np.zeros(0, dtype=kind)
