"""Several unknown errors whose density for absent people is joint."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from confide.frames.columns import F64, Bools, Records
from confide.protect.likelihoods.spread import Spread
from confide.protect.seam.likelihood import Columns, Likelihood


@dataclass(frozen=True, eq=False)
class SpreadTogether(Likelihood):
    """Independent errors, one `Spread` a variable; the first one's denominator is the joint density of all."""

    each: tuple[Spread, ...]

    integrates: ClassVar[bool] = True
    scale: ClassVar[None] = None

    def margins(self) -> list[Spread]:
        return list(self.each)

    @property
    def record(self) -> Columns:
        return {f"{name}{i}": part for i, s in enumerate(self.each) for name, part in s.record.items()}

    def target(self, records: Records) -> Columns:
        return {f"{name}{i}": part for i, s in enumerate(self.each) for name, part in s.target(records).items()}

    def log(self, t: Columns, z: Columns) -> F64:
        return np.asarray(np.sum([s.log(_own(t, i), _own(z, i)) for i, s in enumerate(self.each)], axis=0))

    def altered(self, t: Columns) -> Bools:
        return np.ones(len(t["x0"]), dtype=bool)

    def among_present(self) -> SpreadTogether:
        """The same for a target known to be released, to whom absence does not matter."""
        return SpreadTogether(tuple(s.among_present() for s in self.each))

    @property
    def uncertain(self) -> bool:
        return any(s.uncertain for s in self.each)

    def log_draws(self, i: int, t: Columns, z: Columns, n: int, rng: np.random.Generator) -> F64:
        """The i-th variable's log ratio at n drawn variances, shape (n, rows)."""
        return self.each[i].log_draws(0, _own(t, i), _own(z, i), n, rng)


def _own(columns: Columns, i: int) -> Columns:
    return {
        name: columns[f"{name}{i}"] for name in ("z", "there", "rule", "x", "log_absent") if f"{name}{i}" in columns
    }
