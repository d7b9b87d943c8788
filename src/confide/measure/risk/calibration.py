"""Claimed against true: whether an intruder's probabilities are right."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from confide.attack.results.units import ALIKE, all_released
from confide.core.errors import InputError
from confide.core.result import Result
from confide.core.shares import percent
from confide.frames.columns import F64, I64, Bools

NOBODY = "No target has a candidate, so there is nothing to calibrate."
UNKNOWN = "Calibration needs the truth: for some targets it is not known which record is theirs. Give truth= to attack."


@dataclass(frozen=True, eq=False, repr=False)
class Calibration(Result):
    """`claimed`: sum of p_max over targets; `true`: expected right matches; `z`: their difference in standard errors.

    `frame` has one row per bin of p_max: low, high, targets, claimed, true (means), error (of true), z. An intruder
    whose claims exceed the truth is overconfident (z < 0); one who could do better than it claims has z > 0.
    `weighed`: all targets are in the release, which the intruder does not know, so that the truth counts by its own
    belief about membership; that belief is then not checked.
    """

    claimed: float
    true: float
    z: float
    frame: pl.DataFrame
    weighed: bool = False

    def summary(self) -> pl.DataFrame:
        """All bins together, in one row: targets, claimed, true, z."""
        sums = {"claimed": self.claimed, "true": self.true, "z": self.z}
        return pl.DataFrame({"targets": [self.frame["targets"].sum()], **{k: [v] for k, v in sums.items()}})

    def plot(self) -> Any:
        """Claimed against true, by bin, with two standard errors; the diagonal is a perfect intruder. As `chart`."""
        return self.chart()

    def __repr__(self) -> str:
        n = int(self.frame["targets"].sum())
        shares = percent(self.claimed, n), percent(self.true, n)
        head = f"claimed matches {self.claimed:,.1f} ({shares[0]}), true matches {self.true:,.1f} ({shares[1]}), "
        head += f"z {self.z:+.1f}"
        lines = [head, f"{'p_max':>18}  {'targets':>9}  {'claimed':>8}  {'true':>8}  {'z':>6}"]
        for r in self.frame.iter_rows(named=True):
            span = f"{r['low']:.3g} to {r['high']:.3g}"
            lines.append(f"{span:>18}  {r['targets']:>9,}  {r['claimed']:>8.4f}  {r['true']:>8.4f}  {r['z']:>+6.1f}")
        if self.weighed:
            lines.append("How many people could be the target is not checked: it counts on both sides, as stated.")
        return "\n".join(lines)


def calibrate(units: pl.DataFrame | list[pl.DataFrame], bins: int = 10) -> Calibration:
    """Compare p_max with the share of right picks, over one attack's units or those of repeated releases.

    A target counts as one observation however many candidates it has. Its pick is right with probability p_max and
    then counts 1/n_max of a match on average, so its variance is p/n_max - p^2. Where units have several rows, and a
    unit several targets, these stand or fall together: errors are then taken over units (column `unit`).

    Where all targets are in the file, which the intruder does not know, right matches count as in `found`: each times
    the probability w that the target is in the file, as the intruder sees it; the variance is then w p/n_max - p^2.
    """
    checked_bins(bins)
    frame = _stacked(units if isinstance(units, list) else [units])
    if not {"hit", "n_max", "p_max"} <= set(frame.columns):
        raise InputError("units must be the units of an attack (attack.units), or a list of such.")
    if frame["hit"].null_count():
        raise InputError(UNKNOWN)
    frame = frame.with_columns(counts=_weight(frame)).filter(pl.col("n_max") > 0)
    if not frame.height:
        raise InputError(NOBODY)
    sums = Binned(_edges(float(frame["p_max"].to_numpy().min()), bins))
    sums.add(frame)
    return sums.result()


class Binned:
    """Claims and truth by bin of p_max, added up over tables of targets; `counts` of a table: what a right match
    counts."""

    def __init__(self, edges: F64) -> None:
        self.edges = edges
        self.n, self.claimed, self.true, self.variance, self.gap = np.zeros((5, len(edges) - 1))
        self.weighed = False
        self.parts = list[tuple[F64, I64, NDArray[np.int16]]]()  # of targets in clusters, 18 bytes each

    def add(self, frame: pl.DataFrame) -> None:
        """More targets, all of whom have candidates."""
        p = frame["p_max"].to_numpy()
        ties, weight = frame["n_max"].to_numpy().astype(float), frame["counts"].to_numpy()
        right = frame["hit"].cast(pl.Float64).to_numpy() / ties * weight
        variance = np.maximum(p * weight / ties - p * p, 0.0)
        variance[variance < 1e-12] = 0.0  # certain up to rounding
        each = frame[ALIKE].to_numpy().astype(float) if ALIKE in frame.columns else np.ones(len(p))
        at = np.clip(np.searchsorted(self.edges, p * (1 - 1e-12), side="right") - 1, 0, len(self.edges) - 2)
        found = (each, p * each, right * each, variance * each, (right - p) * each)
        for sums, x in zip((self.n, self.claimed, self.true, self.variance, self.gap), found, strict=True):
            sums += np.bincount(at, weights=x, minlength=len(sums))
        if "cluster" in frame.columns:
            self.parts.append((right - p, frame["cluster"].to_numpy(), at.astype(np.int16)))
        self.weighed |= bool((weight < 1).any())

    def result(self) -> Calibration:
        """What they show."""
        rows, total = [], float(self.variance.sum())
        if self.parts:
            gap, cluster, at = (np.concatenate(each) for each in zip(*self.parts, strict=True))
            self.variance = np.array([_clustered(gap, cluster, at == b) for b in range(len(self.n))])
            total = _clustered(gap, cluster, np.ones(len(gap), dtype=bool))
        for b in np.flatnonzero(self.n):
            n, error = int(self.n[b]), float(np.sqrt(self.variance[b]))
            rows.append({
                "low": float(self.edges[b]), "high": float(self.edges[b + 1]), "targets": n,
                "claimed": float(self.claimed[b] / n), "true": float(self.true[b] / n),
                "error": error / n, "z": in_errors(float(self.gap[b]), error),
            })  # fmt: skip
        z = in_errors(float(self.gap.sum()), float(np.sqrt(total)))
        return Calibration(float(self.claimed.sum()), float(self.true.sum()), z, pl.DataFrame(rows), self.weighed)


def _weight(frame: pl.DataFrame) -> pl.Series:
    """What a right match counts: less than 1 where all targets are in the file and the intruder does not know it."""
    if "p_absent" not in frame.columns or not all_released(frame):
        return pl.repeat(1.0, frame.height, eager=True)
    return 1 - frame["p_absent"].fill_null(0.0)


def _stacked(units: list[pl.DataFrame]) -> pl.DataFrame:
    """Tables of targets one below the other; units of different releases are different."""
    if not units or not all("unit" in u.columns for u in units):
        return pl.concat(units)
    every = pl.concat([u.with_columns(release=pl.lit(k)) for k, u in enumerate(units)])
    return _with_clusters(every).with_columns(cluster=pl.col("cluster") * len(units) + pl.col("release"))


def _with_clusters(units: pl.DataFrame, first: int = 0) -> pl.DataFrame:
    """With a number for the targets of a unit, and one of its own, counted from `first`, for each without a unit."""
    if "unit" not in units.columns:
        return units
    alone = -1 - first - pl.int_range(pl.len(), dtype=pl.Int64)
    return units.with_columns(cluster=pl.when(pl.col("unit") < 0).then(alone).otherwise(pl.col("unit").cast(pl.Int64)))


def _clustered(gap: F64, cluster: NDArray[Any], mine: Bools) -> float:
    """The variance of the sum of gaps, from sums over clusters."""
    _, of = np.unique(cluster[mine], return_inverse=True)
    return float((np.bincount(of, weights=gap[mine]) ** 2).sum())


def in_errors(gap: float, error: float) -> float:
    """A difference in standard errors; where claims were certain (no error), 0 if right and infinite if wrong."""
    if error > 1e-6:
        return gap / error
    return 0.0 if abs(gap) < 1e-6 else float(np.copysign(np.inf, gap))


def calibrate_batches(batches: Callable[[], Iterator[pl.DataFrame]], bins: int = 10) -> Calibration:
    """The same from tables of targets that are read one after the other, twice."""
    checked_bins(bins)
    least, unknown, released = np.inf, 0, True
    for frame in batches():
        unknown += frame["hit"].null_count()
        released &= all_released(frame)
        claims = frame.filter(pl.col("n_max") > 0)["p_max"].to_numpy()
        least = min(least, float(claims.min(initial=np.inf)))
    if unknown:
        raise InputError(UNKNOWN)
    if not np.isfinite(least):
        raise InputError(NOBODY)
    sums, first = Binned(_edges(least, bins)), 0
    for frame in batches():
        some = _with_clusters(frame, first).filter(pl.col("n_max") > 0)
        first += frame.height
        counts = 1 - pl.col("p_absent").fill_null(0.0) if released else pl.lit(1.0)
        sums.add(some.with_columns(counts=counts))
    return sums.result()


def checked_bins(bins: int) -> None:
    """Refuse what is no number of bins."""
    if isinstance(bins, bool) or not isinstance(bins, (int, np.integer)) or not 1 <= bins <= 1000:
        raise InputError("bins must be a whole number from 1 upwards, at most 1,000.")


def _edges(least: float, bins: int) -> F64:
    """Bins that halve towards zero, where most targets lie, and end at 1; `least`: the smallest p_max."""
    full = (
        np.concatenate([[0.0], 0.9 * 0.5 ** np.arange(max(bins - 2, 0))[::-1], [1.0]])
        if bins > 1
        else np.array([0.0, 1.0])
    )
    keep = [0.0, *(e for e in full[1:-1] if e > least / 2), 1.0]
    return np.array(keep)
