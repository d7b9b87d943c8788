"""A likelihood looked up in a matrix."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from confide.frames.columns import F64, I64, Bools, Records
from confide.protect.seam.likelihood import Columns, Likelihood


@dataclass(frozen=True, eq=False)
class Table(Likelihood):
    """Pr(z given y) from a matrix: `log_p[row(y), column(z)]`; a true value with no row has probability 0."""

    column: I64
    log_p: F64
    rows: Callable[[Records], I64]

    scale: ClassVar[None] = None

    @property
    def record(self) -> Columns:
        return {"column": self.column}

    def target(self, records: Records) -> Columns:
        return {"row": self.rows(records)}

    def log(self, t: Columns, z: Columns) -> F64:
        found = self.log_p[np.maximum(t["row"], 0), z["column"]]
        return np.where(t["row"] >= 0, found, -np.inf)

    def altered(self, t: Columns) -> Bools:
        return np.ones(len(t["row"]), dtype=bool)
