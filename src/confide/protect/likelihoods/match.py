"""Whether two values are the same: the likelihood of swapping and its relatives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from confide.frames.columns import F64, I64, Bools, Records
from confide.protect.seam.likelihood import Columns, Likelihood


@dataclass(frozen=True, eq=False)
class Match(Likelihood):
    """Pr(z given y) depends on whether y equals z, and on the record: swapping and its relatives.

    `code`, `log_same`, `log_diff`: shape (r,). `codes(records)` gives true values their code (-1: not released).
    """

    code: I64
    log_same: F64
    log_diff: F64
    codes: Callable[[Records], I64]

    scale: ClassVar[None] = None

    @property
    def record(self) -> Columns:
        return {"code": self.code, "same": self.log_same, "diff": self.log_diff}

    def target(self, records: Records) -> Columns:
        return {"code": self.codes(records)}

    def log(self, t: Columns, z: Columns) -> F64:
        return np.where(t["code"] == z["code"], z["same"], z["diff"])

    def altered(self, t: Columns) -> Bools:
        return np.ones(len(t["code"]), dtype=bool)
