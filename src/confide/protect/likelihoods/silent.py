"""The likelihood of a value that was made without the true one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from confide.frames.columns import F64, Bools, Records
from confide.protect.seam.likelihood import Columns, Likelihood


@dataclass(frozen=True, eq=False)
class Silent(Likelihood):
    """The released value says nothing about the true one: it is synthetic, drawn without it.

    Such a variable still counts where it is known, for what it says of others that are not. There are `n` records; the
    `variable` is named by who asks about one.
    """

    n: int
    variable: str = ""

    scale: ClassVar[None] = None

    @property
    def record(self) -> Columns:
        return {"none": np.zeros(self.n, dtype=np.int64)}

    def target(self, records: Records) -> Columns:
        return {"y": records[self.variable].values}

    def log(self, t: Columns, z: Columns) -> F64:  # noqa: ARG002 - nothing depends on the record
        return np.zeros(len(t["y"]))

    def altered(self, t: Columns) -> Bools:
        return np.ones(len(t["y"]), dtype=bool)
