"""The first pass over a scan: the file's digest, and the distinct values of the variables in play."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from confide.core.random.digest import Digest
from confide.frames.columns import I64
from confide.frames.scan.codebook import Codebook
from confide.frames.scan.scan import Scan
from confide.frames.scan.tallies import Tallies
from confide.frames.schema import Schema
from confide.protect.codebook import listed_by_rows

if TYPE_CHECKING:
    from confide.protect.plan import Plan


@dataclass(frozen=True, eq=False)
class Survey:
    """`digest`: of the whole file, None where draws are shared. `follows`: variables whose long list of categories is
    in the order of the records, and must be sorted before it is released."""

    digest: Digest | None
    codebook: Codebook
    follows: frozenset[str]


class Surveying:
    """The first pass on its way. `keyed`: whether the content of the file keys the draws. What parts show is merged in
    any order."""

    def __init__(self, plan: Plan, types: Mapping[str, pl.DataType], keyed: bool) -> None:
        self.names = list(dict.fromkeys(v for s in plan.parts for v in (*s.variables, *s.needs)))
        enums = [v for v, t in types.items() if isinstance(t, pl.Enum) and v not in plan.gone]
        self.tallies, self.first, self.keyed = Tallies(self.names), _FirstRows(enums), keyed
        self.digest: Digest | None = None
        self.columns = list(types) if keyed else list(dict.fromkeys((*self.names, *enums)))

    def add(self, batch: pl.DataFrame, at: int) -> None:
        """One more batch; its first row has this number."""
        if self.keyed:
            self._digested(Digest.of(batch, at))
        self.tallies.add(batch)
        self.first.add(batch, at)

    def merge(self, other: Surveying) -> None:
        """What another part shows."""
        if other.digest is not None:
            self._digested(other.digest)
        self.tallies.merge(other.tallies)
        self.first.merge(other.first)

    def _digested(self, more: Digest) -> None:
        self.digest = more if self.digest is None else self.digest.merged(more)

    def done(self, plan: Plan, schema: Schema) -> Survey:
        """After all batches."""
        codebook = Codebook.from_tallies(self.tallies, schema, plan.kinds, self.names)
        follows = frozenset(v for v in self.first.rows if listed_by_rows(self.first.of(v)))
        return Survey(self.digest, codebook, follows)


def survey(plan: Plan, data: Scan, rows: int, keyed: bool, told: Callable[[int], None]) -> Survey:
    """Read the file once. `keyed`: whether its content keys the draws."""
    made = Surveying(plan, data.types, keyed)
    for at, batch in data.batches(made.columns or data.columns[:1], rows, told):  # rows are counted in any case
        made.add(batch, at)
    return made.done(plan, data.schema)


class _FirstRows:
    """The first row that has each category of some variables."""

    def __init__(self, names: list[str]) -> None:
        self.rows: Mapping[str, dict[int, int]] = {v: {} for v in names}

    def add(self, batch: pl.DataFrame, first: int) -> None:
        for v, held in self.rows.items():
            seen = pl.DataFrame({"level": batch.get_column(v).to_physical(), "row": np.arange(batch.height)})
            found = seen.drop_nulls().group_by("level").agg(pl.col("row").min())
            for level, row in found.iter_rows():
                held[int(level)] = min(held.get(int(level), first + int(row)), first + int(row))

    def merge(self, other: _FirstRows) -> None:
        """Those of another part."""
        for v, held in self.rows.items():
            for level, row in other.rows[v].items():
                held[level] = min(held.get(level, row), row)

    def of(self, v: str) -> I64:
        """In the order of the categories."""
        held = self.rows[v]
        return np.array([held[level] for level in sorted(held)], dtype=np.int64)
