"""Attack: the result. Who could be recognised, with what probability."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from confide.attack.engine.posterior import log_weights
from confide.attack.engine.scene import Scene
from confide.attack.intruder import Intruder
from confide.attack.targets import UNKNOWN
from confide.core.errors import InputError
from confide.frames.columns import F64, I64

if TYPE_CHECKING:
    from confide.attack.results.explain import Explanation
    from confide.attack.results.grid import Grid
    from confide.measure.risk.calibration import Calibration
    from confide.measure.risk.identification import Summary
    from confide.protect.release import Release


STATUS = ("ok", "no candidate", "contradiction", "not released")


@dataclass(frozen=True)
class Treatment:
    """How one variable was treated: known or not, its kind and why, what the plan did, whether that is certain."""

    variable: str
    knowledge: str
    kind: str
    why: str
    plan: str
    evidence: str


@dataclass(frozen=True, eq=False, repr=False)
class Attack:
    """The posterior of every target, summarised per target (`units`) and per file (`summary`).

    `units` has one row per target: `target` (its position), `candidates` (released rows that agree with all that is
    certain), `p_true` (probability of its own record), `p_max` (largest probability), `n_max` (records that share
    it), `hit` (its own among them), `as_likely` (other candidates at least as probable as its own), `rank` (1 +
    records strictly above), `p_absent` (probability that it was not released), `status`. For a target that was not
    released `p_true`, `rank` and `as_likely` are null; "contradiction" means that no record can be the target.

    >>> import confide as cf
    >>> release = cf.Plan([cf.Recode("age", width=5)], identifiers=["id"]).protect(cf.demo("heads"), seed=1)
    >>> attack = cf.Intruder(knows=["sex", "race", "marital", "age"]).attack(release)
    >>> attack.summary().unique_matches, attack.units.height
    (80, 51016)
    """

    intruder: Intruder
    release: Release
    units: pl.DataFrame
    truth: I64
    treatments: Sequence[Treatment]
    seconds: float
    pairs: tuple[float, float]
    own_rows: I64 = field(repr=False)
    scenes: Sequence[tuple[I64, Scene]] = field(repr=False)
    log_scale: F64 = field(repr=False)
    absent: F64 = field(repr=False)
    given: tuple[Any, Any, Sequence[Release]] = field(default=(None, None, ()), repr=False)

    @classmethod
    def of(
        cls, intruder: Intruder, release: Release, truth: I64, own_row: I64, columns: dict[str, F64],
        scenes: Sequence[tuple[I64, Scene]], treatments: Sequence[Treatment], seconds: float,
        pairs: tuple[float, float], given: tuple[Any, Any, Sequence[Release]] = (None, None, ()),
    ) -> Attack:  # fmt: skip
        """Put the pieces together."""
        certain = intruder.membership == "certain"
        units, log_scale, absent = make_units(columns, own_row, certain)
        return cls(
            intruder, release, units, truth, treatments, seconds, pairs, own_row, scenes, log_scale, absent, given
        )

    def summary(self, threshold: float = 0.2) -> Summary:
        """The file's risk: targets over a threshold, expected matches, unique matches (Reiter 2005, table 6).

        >>> import confide as cf
        >>> release = cf.Plan([], identifiers=["id"]).protect(cf.demo("heads"), seed=1)
        >>> print(cf.Intruder(knows=["sex", "race", "marital", "age"]).attack(release).summary())
        targets              51,016
        over threshold 0.2    2,243
        expected matches    2,543.0
        unique matches          539
        unique declared         539
        false match rate       0.0%
        """
        from confide.measure.risk.identification import summarise

        return summarise(self.units, threshold)

    def posterior(self, target: int) -> pl.DataFrame:
        """All candidates of one target: `row` of `release.data` and probability `p`, the likeliest first.

        >>> import confide as cf
        >>> release = cf.Plan([], identifiers=["id"]).protect(cf.demo("heads"), seed=1)
        >>> cf.Intruder(knows=["sex", "age", "state"]).attack(release).posterior(17).columns
        ['row', 'p']
        """
        scene, i = self.find(target)
        rows, parts = log_weights(scene, i)
        p = self._probabilities(target, rows, parts)
        order = np.lexsort((scene.rows[rows], -p))
        return pl.DataFrame({"row": scene.rows[rows][order], "p": p[order]})

    def explain(self, target: int, top: int = 3) -> Explanation:
        """Why: each variable's evidence for the likeliest records, as factors relative to the average candidate.

        >>> import confide as cf
        >>> release = cf.Plan([cf.Swap("race", rate=0.3)], identifiers=["id"]).protect(cf.demo("heads"), seed=1)
        >>> why = cf.Intruder(knows=["sex", "race", "age"]).attack(release).explain(17)
        >>> why.frame.columns
        ['row', 'p', 'part', 'factor']
        """
        from confide.attack.results.explain import explain

        if isinstance(top, bool) or not isinstance(top, int) or top < 1:
            raise InputError("top must be a whole number from 1 upwards.")
        scene, i = self.find(target)
        rows, parts = log_weights(scene, i)
        own = int(self.own_rows[target])
        return explain(scene, rows, parts, self._probabilities(target, rows, parts), own, top)

    def calibration(self, bins: int = 10) -> Calibration:
        """Claimed against true: of all targets whose best match is given 0.3, are 30 percent right?

        >>> import confide as cf
        >>> release = cf.Plan([cf.Swap("race", rate=0.3)], identifiers=["id"]).protect(cf.demo("heads"), seed=1)
        >>> result = cf.Intruder(knows=["sex", "race", "age"]).attack(release).calibration()
        >>> abs(result.z) < 4
        True
        """
        if bool((self.truth == UNKNOWN).any()) or self.release.link is None:
            raise InputError("Calibration needs the truth: give link= to Release.adopt, or truth= to attack.")
        from confide.measure.risk.calibration import calibrate

        return calibrate(self.units, bins)

    def ranks(self, top: int = 10) -> pl.DataFrame:
        """The rank table of Fienberg, Makov and Sanil: targets by the rank of their own record.

        `targets` at each rank, mean and standard deviation of the own record's probability (`p_true`) and of the sum of
        the `top` largest ones (`p_top`).

        >>> import confide as cf
        >>> elites = cf.demo("elites")
        >>> plan = cf.Plan([cf.MeasurementError("age", noise_sd=3), cf.MeasurementError("income", bias_sd=0.1)])
        >>> table = cf.Intruder(knows=["age", "income"]).attack(plan.protect(elites, seed=1)).ranks(top=3)
        >>> table["rank"].to_list(), int(table["targets"].sum())
        (['1', '2', '3', '>3'], 662)
        """
        from confide.measure.risk.ranks import rank_table

        return rank_table(self, top)

    def declare(self, threshold: float | Sequence[float] = (0.1, 0.2, 0.5, 0.9)) -> pl.DataFrame:
        """What comes of declaring a match wherever the largest probability exceeds a threshold.

        An intruder who loses L by a wrong declaration and gains G by a right one does best with L / (L + G).

        >>> import confide as cf
        >>> release = cf.Plan([cf.Swap("race", rate=0.3)], identifiers=["id"]).protect(cf.demo("heads"), seed=1)
        >>> cf.Intruder(knows=["sex", "race", "age"]).attack(release).declare(0.5).columns[:5]
        ['threshold', 'declared', 'claimed', 'right', 'wrong']
        """
        from confide.measure.risk.ranks import declare_table

        return declare_table(self.units, threshold)

    def grid(self, *, threads: int | None = None, progress: bool | None = None) -> Grid:
        """Every combination of levels for C, B and A that this intruder can use, with a heat map (`plot`).

        4^3 combinations for an intruder who knows the plan, 3^3 for an average one, 2^3 for a naive one (Huckett and
        Larsen, section 5): who knows more can choose to use less.

        >>> import confide as cf
        >>> release = cf.Plan([cf.Swap("race", rate=0.3)]).protect(cf.demo("heads").head(300), seed=1)
        >>> grid = cf.Intruder.at("average", knows=["sex", "race"]).attack(release).grid()
        >>> grid.frame.height, int(grid.frame["coherent"].sum())
        (27, 12)
        """
        from confide.attack.results.grid import make_grid

        return make_grid(self, threads, progress)

    def monte_carlo(
        self, draws: int = 1000, seed: int | None = None, targets: int | Sequence[int] | None = None
    ) -> pl.DataFrame:
        """The same probabilities with unknown variances drawn instead of integrated over, with standard errors.

        The way of print; slow, and a check of the quadrature. All targets meet the same draws.

        >>> import confide as cf
        >>> plan = cf.Plan([cf.MeasurementError("age", noise_variance=cf.Gamma(20, 2))])
        >>> attack = cf.Intruder(knows=["age"]).attack(plan.protect(cf.demo("elites"), seed=1))
        >>> found = attack.monte_carlo(draws=2000, seed=1, targets=[5])
        >>> abs(found["p_true"][0] - attack.units["p_true"][5]) < 5 * found["p_true_error"][0]
        True
        """
        from confide.attack.results.monte_carlo import monte_carlo

        return monte_carlo(self, draws, seed, targets)

    def find(self, target: int) -> tuple[Scene, int]:
        """The scene that holds a target, and its place there."""
        n = self.units.height
        if isinstance(target, bool) or not isinstance(target, (int, np.integer)) or not 0 <= target < n:
            raise InputError(f"target is a position from 0 to {n - 1}.")
        for rows, scene in self.scenes:
            at = np.flatnonzero(rows == target)
            if len(at):
                return scene, int(at[0])
        raise InputError(f"Nothing is known of target {target}.")

    def absent_weight(self, target: int) -> float:
        """The weight of "not released" beside the records' weights."""
        return float(self.absent[target])

    def _probabilities(self, target: int, rows: I64, parts: dict[str, F64]) -> F64:
        weights = np.sum(list(parts.values()), axis=0) if parts else np.zeros(len(rows))
        if not len(rows) or not np.isfinite(weights).any():
            return np.zeros(len(rows))
        return np.asarray(np.exp(weights - weights.max() - self.log_scale[target]))

    def __repr__(self) -> str:
        from confide.show.text.attacks import attack_text

        return attack_text(self)


def make_units(columns: dict[str, F64], own_row: I64, certain: bool) -> tuple[pl.DataFrame, F64, F64]:
    """From log weights to the table of targets; also the log of the sum of all weights relative to the largest, and the
    weight of absence."""
    n_t, people = columns["n_t"], columns["people"]
    # With N_t: prior 1/N_t, absence (N_t - n_t)/N_t; both multiplied by N_t here.
    absent = np.zeros(len(n_t)) if certain else np.maximum(people - n_t, 0.0)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        alive = np.isfinite(columns["log_sum"])
        # Everything relative to the largest weight, which is tiny beyond measure for a target far from all records.
        scale = np.logaddexp(columns["log_sum"], np.log(absent) - columns["log_max"])
        p_max = np.where(alive, np.exp(-scale), 0.0)
        p_true = np.where(alive, np.exp(columns["log_true"] - columns["log_max"] - scale), 0.0)
        p_absent = np.where(alive, np.exp(np.log(absent) - columns["log_max"] - scale), np.nan if certain else 1.0)
    if certain:
        p_absent = np.where(alive, 0.0, np.nan)
    released, unknown = own_row >= 0, own_row == UNKNOWN
    has_true = released & alive & np.isfinite(columns["log_true"])
    hit = has_true & (columns["above"] == 0)
    status = np.where(alive, 0, 2 if certain else np.where(n_t == 0, 1, 2))
    status = np.where(alive & ~released & ~unknown, 3, status)
    frame = pl.DataFrame({
        "target": np.arange(len(n_t)), "candidates": n_t.astype(np.int64), "p_true": p_true, "p_max": p_max,
        "n_max": np.where(alive, np.round(columns["n_max"]), 0).astype(np.int64), "hit": hit,
        "as_likely": np.round(columns["likely"]).astype(np.int64),
        "rank": (1 + np.round(columns["above"])).astype(np.int64), "p_absent": p_absent,
        "status": pl.Series(STATUS).gather(status),
    })  # fmt: skip
    mask = pl.Series(released)
    ranked = pl.Series(has_true)
    frame = frame.with_columns(
        p_true=pl.when(mask).then(pl.col("p_true")), hit=pl.when(pl.Series(~unknown)).then(pl.col("hit")),
        as_likely=pl.when(ranked).then(pl.col("as_likely")), rank=pl.when(ranked).then(pl.col("rank")),
        p_absent=pl.col("p_absent").fill_nan(None),
    )  # fmt: skip
    return frame, scale, absent
