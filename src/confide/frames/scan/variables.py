"""Every variable of a scan by itself: its values, how many rows have each, and what that says of its role."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl

from confide.frames.columns import F64
from confide.frames.roles.facts import FEW_ROWS, Facts, counted_facts
from confide.frames.scan.scan import BATCH, Scan
from confide.frames.scan.tallies import Tallies

MOST = 200_000
"""Values of a variable that are counted; of one with more, the first of them are known."""


class Variables:
    """`rows`: of the file; `cut`: variables of which not all values were counted.

    >>> import tempfile
    >>> import confide as cf
    >>> folder = tempfile.TemporaryDirectory()
    >>> found = Variables.of(cf.scan(cf.write(cf.demo("heads").head(400), f"{folder.name}/heads.parquet")))
    >>> [int(n) for n in found.values("sex")[1]], found.cut
    ([197, 203], ())
    >>> folder.cleanup()
    """

    def __init__(self, scan: Scan, most: int = MOST) -> None:
        self.scan, self.most, self.rows = scan, most, 0
        self.plain = [v for v, t in scan.types.items() if not (t.is_nested() or t in (pl.Binary, pl.Object))]
        self._held = {v: Tallies([v]) for v in self.plain}
        self._nulls = dict.fromkeys(scan.types, 0)
        self._repeated: dict[str, bool] = {}

    @classmethod
    def of(cls, scan: Scan, rows: int = BATCH, most: int = MOST) -> Variables:
        """One pass over all of it."""
        made = cls(scan, most)
        for _, batch in scan.batches(None, rows):
            made._add(batch)
        return made

    @property
    def cut(self) -> tuple[str, ...]:
        return tuple(self._repeated)

    def _add(self, batch: pl.DataFrame) -> None:
        self.rows += batch.height
        for v in self.scan.types:
            s = batch.get_column(v)
            self._nulls[v] += (s.fill_nan(None) if s.dtype.is_float() else s).null_count()
            if v in self._repeated or v not in self._held:
                continue
            self._held[v].add(batch.select(v))
            found = self._held[v].found(v)
            if found.height > self.most:
                there = self._held[v].rows - self._nulls[v]
                self._repeated[v] = found.height - bool(self._nulls[v]) < there

    def values(self, name: str) -> tuple[pl.Series, F64]:
        """The values of a variable in rising order, and how many rows have each; of one that is cut, some of them."""
        if name not in self._held:
            return pl.Series(name, [], dtype=self.scan.types[name]), np.zeros(0)
        found = self._held[name].found(name).sort(name, nulls_last=True)
        return found.get_column(name), found.get_column("n").cast(pl.Float64).to_numpy()

    def facts(self) -> list[Facts]:
        """What a guess of roles reads, of every variable in the order of the file."""
        return [self._facts(v) for v in self.scan.types]

    def _facts(self, v: str) -> Facts:
        s, count = self.values(v)
        made, present = counted_facts(s, self.scan.schema, count, self.rows), self.rows - self._nulls[v]
        if v not in self._held:
            return replace(made, present=present)
        if v not in self._repeated:
            return made
        distinct = made.distinct if self._repeated[v] or present <= FEW_ROWS else present
        return replace(made, present=present, distinct=distinct)
