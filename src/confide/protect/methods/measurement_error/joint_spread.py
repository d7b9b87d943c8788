"""Several unknown errors whose density for absent people is joint."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from confide.frames.columns import F64
from confide.protect.likelihoods.product import Several, own
from confide.protect.likelihoods.spread import Spread
from confide.protect.seam.likelihood import Columns


@dataclass(frozen=True, eq=False)
class SpreadTogether(Several):
    """Independent errors, one `Spread` per variable; the first one's denominator is the joint density of all."""

    each: tuple[Spread, ...]

    def among_present(self) -> SpreadTogether:
        """The same for a target known to be released, to whom absence does not matter."""
        return SpreadTogether(tuple(s.among_present() for s in self.each))

    @property
    def uncertain(self) -> bool:
        return any(s.uncertain for s in self.each)

    def log_draws(self, i: int, t: Columns, z: Columns, n: int, rng: np.random.Generator) -> F64:
        """The i-th variable's log ratio at n drawn variances, shape (n, rows)."""
        return self.each[i].log_draws(0, own(t, i), own(z, i), n, rng)
