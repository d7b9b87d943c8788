r"""What a released combination with hidden values says of a person whose true values are known.

.. math:: L(z \mid y) = \Pr(\text{this pattern hidden} \mid y)\; 1[\text{the values shown equal those of } y]

Two likelihoods. `FlowRates` has the rate of each pattern among the file's people with the values y: whoever hides for
k-anonymity hides rare values, and whoever knows that uses it. `PatternRates` has one rate per pattern, whatever the
values; with `safe`, for people whose values k or more rows show nothing is hidden.

Notation: y, z codes of V variables; -1 a value that is not there; M(y) the values that y itself lacks, as bits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from confide.frames.columns import F64, I64, Bools, Records
from confide.protect.methods.local_suppression.bounds import fitting
from confide.protect.methods.local_suppression.pieces import MISSING, Lookup
from confide.protect.seam.likelihood import Columns, Likelihood

Codes = Callable[[Records], I64]


@dataclass(frozen=True, eq=False)
class FlowRates(Likelihood):
    """`column`: (r,) the released combination of each row, -1 for one that the step did not make. `codes`: true values
    as codes; `cells`: which of the file's joint values they are. `pair`, `log_rate`: by cell * `many` + combination, in
    rising order, the log of the rate; any other pair has none. `log_share`: of all people who show a combination."""

    column: I64
    codes: Codes
    cells: Lookup
    many: int
    pair: I64
    log_rate: F64
    log_share: F64

    scale: ClassVar[None] = None
    makes_missing: ClassVar[bool] = True
    jointly: ClassVar[bool] = True

    @property
    def record(self) -> Columns:
        return {"column": self.column}

    def target(self, records: Records) -> Columns:
        return {"cell": self.cells.of(self.codes(records))}

    def log(self, t: Columns, z: Columns) -> F64:
        pair = t["cell"] * self.many + z["column"]
        at = np.minimum(np.searchsorted(self.pair, pair), len(self.pair) - 1)
        hit = (self.pair[at] == pair) & (t["cell"] >= 0) & (z["column"] >= 0)
        return np.where(hit, self.log_rate[at], -np.inf)

    def altered(self, t: Columns) -> Bools:
        return np.ones(len(t["cell"]), dtype=bool)


@dataclass(frozen=True, eq=False)
class PatternRates(Likelihood):
    """`shown`: (r, V) released codes. `codes`: true values as codes. `patterns`, `share`: patterns of missing values in
    the release, as bits, and the share of rows with each. `safe`: joint values of which nothing is hidden, None where
    there are no such."""

    shown: I64
    codes: Codes
    patterns: I64
    share: F64
    safe: Lookup | None = None

    scale: ClassVar[None] = None
    makes_missing: ClassVar[bool] = True
    jointly: ClassVar[bool] = True

    @property
    def record(self) -> Columns:
        with np.errstate(divide="ignore"):
            table = dict(zip(self.patterns.tolist(), np.log(self.share).tolist(), strict=True))
        gaps = bits(self.shown)
        rate = np.array([table.get(p, -np.inf) for p in gaps.tolist()], dtype=float)
        return {**{str(v): self.shown[:, v] for v in range(self.shown.shape[1])}, "rate": rate, "gaps": gaps}

    def target(self, records: Records) -> Columns:
        return self.side(self.codes(records))

    def side(self, y: I64) -> Columns:
        """Codes, whether nothing is hidden of them, and log of the share of patterns that they can have: what is
        missing in the file is missing in the release."""
        own, of = np.unique(bits(y), return_inverse=True)
        total = [self.share[(self.patterns & m) == m].sum() for m in own.tolist()]
        with np.errstate(divide="ignore"):
            norm = np.log(np.array(total, dtype=float))[of]
        safe = np.zeros(len(y), dtype=bool) if self.safe is None else self.safe.of(y) >= 0
        return {**{str(v): y[:, v] for v in range(y.shape[1])}, "norm": norm, "safe": safe, "gaps": bits(y)}

    def log(self, t: Columns, z: Columns) -> F64:
        fits = np.ones(len(t["norm"]), dtype=bool)
        for v in range(self.shown.shape[1]):
            fits &= (z[str(v)] == MISSING) | (z[str(v)] == t[str(v)])
        rate = np.where(np.isfinite(t["norm"]), z["rate"] - np.where(np.isfinite(t["norm"]), t["norm"], 0.0), -np.inf)
        rate = np.where(t["safe"], np.where(t["gaps"] == z["gaps"], 0.0, -np.inf), rate)
        return np.where(fits, rate, -np.inf)

    def altered(self, t: Columns) -> Bools:
        return np.ones(len(t["norm"]), dtype=bool)

    def shares(self, y: I64, count: F64, z: I64, rows: I64) -> F64:
        """The share of people who would show each of the combinations z, which the rows given show, shape (len(z),).

        `y`, `count`: joint values of people.
        """
        t, rate = self.side(y), np.exp(np.asarray(self.record["rate"])[rows])
        with np.errstate(divide="ignore"):
            weight = np.where(t["safe"] | ~np.isfinite(t["norm"]), 0.0, count / np.exp(t["norm"]))
        found = rate * fitting(z, y, weight, True, False)
        if self.safe is not None:
            found += fitting(z, y, np.where(t["safe"], count, 0.0), False, False)
        return np.asarray(found / count.sum())


def bits(codes: I64) -> I64:
    """Which values are not there, one bit per variable."""
    return np.asarray(((codes == MISSING) << np.arange(codes.shape[1])).sum(axis=1), dtype=np.int64)
