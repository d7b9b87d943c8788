"""What an intruder claims against what is true, in one line, and in which direction risk is misjudged."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from confide.core.shares import percent
from confide.measure.risk.calibration import calibrate, in_errors

LARGE, OFF, ERRORS, FEW = 3.0, 0.2, 2.0, 3.0
"""A caution is due where |z| exceeds the first, or where the claim is off by more than the second (as a share), by more
standard errors than the third and by at least so many matches as the last."""


@dataclass(frozen=True)
class Claims:
    """`claimed`: the sum of p_max; `true`: right matches, counted as `calibrate` does; `error`: the standard error of
    their difference; `targets`."""

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
    if not (units["n_max"] > 0).any():
        return Claims(0.0, 0.0, 0.0, units.height)
    found = calibrate(units, bins=1)
    error = float(found.frame["error"].item()) * float(found.frame["targets"].item())
    return Claims(found.claimed, found.true, error, units.height)
