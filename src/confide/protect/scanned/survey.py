"""The first pass over a scan: the file's digest, and the distinct values of the variables in play."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from confide.core.random.digest import Digest
from confide.frames.columns import I64
from confide.frames.scan.codebook import Codebook, Tallies
from confide.frames.scan.scan import Scan
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


def survey(plan: Plan, data: Scan, rows: int, keyed: bool, told: Callable[[int], None]) -> Survey:
    """Read the file once. `keyed`: whether its content keys the draws."""
    names = list(dict.fromkeys(v for s in plan.parts for v in (*s.variables, *s.needs)))
    enums = [v for v, t in data.types.items() if isinstance(t, pl.Enum) and v not in plan.gone]
    tallies, first = Tallies(names), _FirstRows(enums)
    digest: Digest | None = None
    columns = data.columns if keyed else list(dict.fromkeys((*names, *enums)))
    for at, batch in data.batches(columns, rows, told):
        if keyed:
            here = Digest.of(batch, at)
            digest = here if digest is None else digest.merged(here)
        tallies.add(batch)
        first.add(batch, at)
    codebook = Codebook.from_tallies(tallies, data.schema, plan.kinds, names)
    return Survey(digest, codebook, frozenset(v for v in enums if listed_by_rows(first.of(v))))


class _FirstRows:
    """The first row that has each category of some variables."""

    def __init__(self, names: list[str]) -> None:
        self.rows: Mapping[str, dict[int, int]] = {v: {} for v in names}

    def add(self, batch: pl.DataFrame, first: int) -> None:
        for v, held in self.rows.items():
            seen = pl.DataFrame({"level": batch.get_column(v).to_physical(), "row": np.arange(batch.height)})
            found = seen.drop_nulls().group_by("level").agg(pl.col("row").min())
            for level, row in found.iter_rows():
                held.setdefault(int(level), first + int(row))

    def of(self, v: str) -> I64:
        """In the order of the categories."""
        held = self.rows[v]
        return np.array([held[level] for level in sorted(held)], dtype=np.int64)
