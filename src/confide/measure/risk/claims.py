"""What an intruder claims against what is true, in one line, and in which direction risk is misjudged."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from confide.attack.results.units import right_matches
from confide.core.shares import percent
from confide.measure.risk.calibration import gap_error, in_errors, stacked

LARGE, OFF, ERRORS, FEW = 3.0, 0.2, 2.0, 3.0
"""A caution is due where |z| exceeds the first, or where the claim is off by more than the second (as a share), by more
standard errors than the third and by at least so many matches as the last."""


@dataclass(frozen=True)
class Claims:
    """`claimed`: the sum of p_max; `true`: right matches; `error`: the standard error of their difference; `targets`.

    Where all targets are in the file, which the intruder does not know, right matches count as in `found`: each times
    the probability that the target is in the file, as the intruder sees it.
    """

    claimed: float
    true: float
    error: float
    targets: int

    @property
    def z(self) -> float:
        """The difference in standard errors; above 0 where more is true than claimed."""
        return in_errors(self.true - self.claimed, self.error)

    @property
    def misjudged(self) -> str:
        """ "understated", "overstated", or empty where claims are about right."""
        gap = self.true - self.claimed
        off = abs(gap) > OFF * self.claimed and abs(self.z) > ERRORS and abs(gap) >= FEW
        if not (abs(self.z) > LARGE or off):
            return ""
        return "understated" if gap > 0 else "overstated"

    def caution(self) -> str:
        """In which direction risk is misjudged, as a sentence; empty where it is not.

        >>> Claims(claimed=1588.0, true=62.0, error=25.0, targets=4000).caution().partition(":")[0]
        'the intruder is right less often than it claims'
        >>> Claims(claimed=100.0, true=104.0, error=8.0, targets=4000).caution()
        ''
        """
        return {
            "": "",
            "understated": "the intruder could do better than it claims: risk stated from its claims is understated.",
            "overstated": "the intruder is right less often than it claims: risk stated from its claims is overstated, "
            "and one with a better model may find more than is found here.",
        }[self.misjudged]

    def __str__(self) -> str:
        """As "claimed 988.2 (1.9%), true 983.0 (1.9%), z -0.2"."""
        shares = percent(self.claimed, self.targets), percent(self.true, self.targets)
        return f"claimed {self.claimed:,.1f} ({shares[0]}), true {self.true:,.1f} ({shares[1]}), z {self.z:+.1f}"


def claims_of(units: pl.DataFrame) -> Claims | None:
    """Claims against the truth from the table of targets; None where the truth is not known.

    >>> import confide as cf
    >>> release = cf.Plan([cf.Swap("race", rate=0.3)], identifiers=["id"]).protect(cf.demo("heads"), seed=1)
    >>> claims_of(cf.Intruder(knows=["sex", "race", "age"]).attack(release).units).misjudged
    ''
    """
    if units["hit"].null_count():
        return None
    present = bool(units["p_true"].null_count() == 0 and (units["p_absent"] > 0).any())
    frame = stacked([units]).filter(pl.col("n_max") > 0)
    p, ties = frame["p_max"].to_numpy(), frame["n_max"].to_numpy().astype(float)
    weight = 1 - frame["p_absent"].fill_null(0.0).to_numpy() if present else np.ones(len(p))
    true = right_matches(frame).to_numpy() * weight
    # Given that the target is there, its pick is right with probability p / weight.
    variance = np.maximum(p * weight / ties - p * p, 0.0)
    variance[variance < 1e-12] = 0.0
    cluster = frame["cluster"].to_numpy() if "cluster" in frame.columns else None
    error = gap_error(variance, true - p, cluster, np.ones(len(p), dtype=bool))
    return Claims(float(p.sum()), float(true.sum()), error, units.height)
