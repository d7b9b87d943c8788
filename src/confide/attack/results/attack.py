"""Attack: the result. Who could be recognised, with what probability."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import polars as pl

from confide.attack.intruder import Intruder
from confide.attack.population.people import PeopleModel
from confide.attack.targets import UNKNOWN
from confide.core.checks import fraction
from confide.core.errors import InputError
from confide.core.result import Result
from confide.core.upward import upward
from confide.frames.columns import F64, I64

if TYPE_CHECKING:
    from confide.attack.learning.attributes.losses import Stated
    from confide.attack.learning.attributes.result import Guess, Guesses
    from confide.attack.learning.one_to_one.result import OneToOne
    from confide.attack.results.clearing import Clearing
    from confide.attack.results.contributions import Contributions
    from confide.attack.results.explain import Explanation
    from confide.attack.results.grid import Grid
    from confide.attack.results.tried import Tried
    from confide.measure.risk.by_group import ByGroup
    from confide.measure.risk.calibration import Calibration
    from confide.measure.risk.identification import Summary
    from confide.protect.release import Release


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
class Attack(Result):
    """The posterior of every target, summarised per target (`units`) and per file (`summary`).

    `units` has one row per target: `target` (its position), `candidates` (released rows that agree with all that is
    certain), `p_true` (probability of its own record), `p_max` (largest probability), `n_max` (records that share
    it), `hit` (its own among them), `as_likely` (other candidates at least as probable as its own), `rank` (1 +
    records strictly above), `p_absent` (probability that it was not released), `status`. For a target that was not
    released `p_true`, `rank` and `as_likely` are null; "contradiction" means that no record can be the target.
    `people`: the models by which N_t was estimated, one for each pattern of knowledge, where it was.

    Where units have several rows (`unit=` of the intruder or the plan), all of that is about units: candidates are
    units with a row that agrees, `p_true` is the probability of the target's own unit, and a further column `unit` says
    by a number which one it is, so that errors are taken over units and not over rows. Default targets are all released
    rows, as the prior says: each target is somebody of whom one row is known.

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
    of: I64 | None = field(repr=False)
    log_scale: F64 = field(repr=False)
    absent: F64 = field(repr=False)
    given: tuple[Any, Any, Sequence[Release]] = field(default=(None, None, ()), repr=False)
    people: Sequence[PeopleModel] = ()

    @property
    def frame(self) -> pl.DataFrame:
        """The same as `units`, private."""
        return self.units

    def summary(self, threshold: float = 0.2) -> Summary:
        """The file's risk: matches found and claimed, then the customary measures (Reiter 2005, table 6).

        >>> import confide as cf
        >>> release = cf.Plan([], identifiers=["id"]).protect(cf.demo("heads"), seed=1)
        >>> print(cf.Intruder(knows=["sex", "race", "marital", "age"]).attack(release).summary())
        targets              51,016
        found               2,543.0  (5.0%)
        claimed             2,543.0  (5.0%)
        declared above 0.2    2,243  (4.4%)  of whom wrong 1,082.0 (48.2%)
        expected matches    2,543.0  (5.0%)
        unique matches          539  (1.1%)
        unique declared         539  (1.1%)
        false match rate             (0.0%)  of the unique declared
        """
        found: Summary = upward("summarise")(self.units, threshold)
        return found

    def posterior(self, target: int) -> pl.DataFrame:
        """All candidates of one target: `row` of `release.data` and probability `p`, the likeliest first.

        Where units have several rows: also the row's `unit`, a number, and `p_unit`, the sum of p over its rows; the
        likeliest unit is first.

        >>> import confide as cf
        >>> release = cf.Plan([], identifiers=["id"]).protect(cf.demo("heads"), seed=1)
        >>> cf.Intruder(knows=["sex", "age", "state"]).attack(release).posterior(17).columns
        ['row', 'p']
        """
        from confide.attack.results.again import candidates

        found = candidates(self, target)
        if found.unit is None:
            order = np.lexsort((found.rows, -found.p))
            return pl.DataFrame({"row": found.rows[order], "p": found.p[order]})
        whole = np.bincount(found.unit, weights=found.p)[found.unit] if len(found.p) else found.p
        order = np.lexsort((found.rows, -found.p, found.unit, -whole))
        columns = {"row": found.rows, "p": found.p, "unit": found.unit, "p_unit": whole}
        return pl.DataFrame({name: values[order] for name, values in columns.items()})

    def explain(self, target: int, top: int = 3, limit: float = 0.2) -> Explanation:
        """Why: each variable's evidence for the likeliest records, as factors relative to the average candidate.

        Of a person who is the only candidate, or whose `p_max` exceeds the `limit`, it also says by which smallest sets
        of variables (`alone`), and which coarsening would bring the person to the limit (`remedies`).

        >>> import confide as cf
        >>> release = cf.Plan([cf.Swap("race", rate=0.3)], identifiers=["id"]).protect(cf.demo("heads"), seed=1)
        >>> why = cf.Intruder(knows=["sex", "race", "age"]).attack(release).explain(17)
        >>> why.frame.columns
        ['row', 'p', 'part', 'factor']
        """
        from confide.attack.results.explain import explain

        if isinstance(top, bool) or not isinstance(top, int) or top < 1:
            raise InputError("top must be a whole number from 1 upwards.")
        return explain(self, target, top, fraction(limit, "limit"))

    def contributions(
        self, by: str | Sequence[str] = (), *, most: int | None = 4_000, orders: int = 100, progress: bool | None = None
    ) -> Contributions:
        """Which variables make people stand out: mean contributions in nats to the probability of their own record.

        For the file, and `by` groups of one or several variables. All sets of up to 10 known variables are attacked;
        of more, `orders` are drawn. `most`: how many targets are looked at (None: all), at random but the same every
        time, with at least 200 of each group of the first variable; standard errors say what that costs.

        >>> import confide as cf
        >>> release = cf.Plan([cf.Swap("race", rate=0.3)]).protect(cf.demo("heads").head(500), seed=1)
        >>> found = cf.Intruder(knows=["sex", "race", "age"]).attack(release).contributions()
        >>> found.summary()["variable"].to_list()
        ['age', 'sex', 'race']
        """
        from confide.attack.results.contributions import contributions

        return contributions(self, by, most, orders, progress)

    def clearing(self, limit: float = 0.2, *, progress: bool | None = None) -> Clearing:
        """How many of the targets above a limit one coarsening would clear, for ever coarser forms of each variable.

        Each is an attack on the very release with that variable coarser: nothing is estimated. For one person see
        `explain(target).remedies`.

        >>> import confide as cf
        >>> release = cf.Plan([], identifiers=["id"]).protect(cf.demo("heads").head(500), seed=1)
        >>> found = cf.Intruder(knows=["sex", "marital", "age"]).attack(release).clearing()
        >>> found.over, found.best["variable"][0]
        (429, 'age')
        """
        from confide.attack.results.clearing import clearing

        if fraction(limit, "limit") == 0:
            raise InputError("limit must be above 0: nobody whose record is released comes down to probability 0.")
        return clearing(self, float(limit), progress)

    def by(self, variables: str | Sequence[str], threshold: float = 0.2) -> ByGroup:
        """The risk of groups of people: found, claimed, over the threshold, with intervals, beside the file's.

        `variables`: by which groups are made, known to the intruder or not; one table each.

        >>> import confide as cf
        >>> release = cf.Plan([], identifiers=["id"]).protect(cf.demo("heads").head(2000), seed=1)
        >>> found = cf.Intruder(knows=["sex", "race", "age"]).attack(release).by("race")
        >>> found.frame.columns[:6]
        ['variable', 'group', 'people', 'found', 'found_share', 'low']
        """
        found: ByGroup = upward("risk_by_group")(self, variables, threshold)
        return found

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
        found: Calibration = upward("calibrate")(self.units, bins)
        return found

    def stronger(self) -> Tried:
        """Whether the same intruder would find more at another level: informed, exact or naive.

        All targets are tried, or 4,000 of them at random; records are always all there. Tried once, then kept; the
        printout of an attack carries a caution where a level finds more.

        >>> import confide as cf
        >>> plan = cf.Plan([cf.NormalSynthesis("hh_income", given=["sex"])], identifiers=["id"])
        >>> release = plan.protect(cf.demo("heads").select("id", "sex", "tenure", "hh_income").head(500), seed=1)
        >>> tried = cf.Intruder(knows=["sex", "hh_income"]).attack(release).stronger()
        >>> tried.frame["level"].to_list()
        ['informed', 'exact', 'naive']
        """
        return self._tried

    @cached_property
    def _tried(self) -> Tried:
        from confide.attack.results.tried import try_levels

        return try_levels(self)

    def ranks(self, top: int = 10) -> pl.DataFrame:
        """The rank table of Fienberg, Makov and Sanil: targets by the rank of their own record.

        `targets` at each rank, mean and standard deviation of the own record's probability (`p_true`) and of the sum of
        the `top` largest ones (`p_top`); `share` of all targets.

        >>> import confide as cf
        >>> elites = cf.demo("elites")
        >>> plan = cf.Plan([cf.MeasurementError("age", noise_sd=3), cf.MeasurementError("income", bias_sd=0.1)])
        >>> table = cf.Intruder(knows=["age", "income"]).attack(plan.protect(elites, seed=1)).ranks(top=3)
        >>> table["rank"].to_list(), int(table["targets"].sum())
        (['1', '2', '3', '>3'], 662)
        """
        found: pl.DataFrame = upward("rank_table")(self, top)
        return found

    def declare(self, threshold: float | Sequence[float] = (0.1, 0.2, 0.5, 0.9)) -> pl.DataFrame:
        """What comes of declaring a match wherever the largest probability exceeds a threshold.

        An intruder who loses L by a wrong declaration and gains G by a right one does best with L / (L + G).

        >>> import confide as cf
        >>> release = cf.Plan([cf.Swap("race", rate=0.3)], identifiers=["id"]).protect(cf.demo("heads"), seed=1)
        >>> cf.Intruder(knows=["sex", "race", "age"]).attack(release).declare(0.5).columns[:5]
        ['threshold', 'declared', 'claimed', 'right', 'wrong']
        """
        found: pl.DataFrame = upward("declare_table")(self.units, threshold)
        return found

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

    @overload
    def guess(  # type: ignore[overload-overlap]
        self, variables: str, loss: Stated = None, *, grid: Sequence[float] = (), smoothing: float | None = None,
        without: str = "record",
    ) -> Guess: ...  # fmt: skip
    @overload
    def guess(
        self, variables: Sequence[str], loss: Stated = None, *, grid: Sequence[float] = (),
        smoothing: float | None = None, without: str = "record",
    ) -> Guesses: ...  # fmt: skip
    def guess(
        self, variables: str | Sequence[str], loss: Stated = None, *, grid: Sequence[float] = (),
        smoothing: float | None = None, without: str = "record",
    ) -> Guess | Guesses:  # fmt: skip
        """What is learnt of unknown variables: the best guess of each person's value, and what it loses.

        `loss`: "zero_one" (default for categories), "absolute" (default for numbers), "squared", `cf.Within(share=)`,
        `cf.Exceeds(limit=, cost=, gain=)`, or a function(guess, truth), whose guess is sought among the values that
        occur and a `grid`. Beside every loss stand those by the margin, by published relations, and by the same release
        without the person's own row (`without`: "record" leaves the row out, "releases" makes ten releases, each
        without a tenth of the people). `smoothing`: relations by cells of all known variables with so many records'
        worth of the margin, in place of cells of more and more variables.

        >>> import confide as cf
        >>> release = cf.Plan([cf.Recode("age", width=5)], identifiers=["id"]).protect(cf.demo("heads"), seed=1)
        >>> found = cf.Intruder(knows=["sex", "race", "marital", "age"]).attack(release).guess("hh_income", "absolute")
        >>> found.summary().loss < found.summary().relations < found.summary().margin
        True
        """
        from confide.attack.learning.attributes.guess import guess

        return guess(self, variables, loss, grid, smoothing, without)

    def one_to_one(
        self, *, sweeps: int | None = None, seed: int = 0, threads: int | None = None, progress: bool | None = None
    ) -> OneToOne:
        """Everybody matched at once: the best assignment, and probabilities of pairs if no two targets own one record.

        Marginals are exact in components of up to 15 targets (more, where many are alike), else sampled by four chains:
        `sweeps` is how often each visits every target. The same `seed` gives the same result.

        >>> import confide as cf
        >>> plan = cf.Plan([cf.Noise("age", sd=1)], identifiers=["id"])
        >>> release = plan.protect(cf.demo("heads").select("id", "sex", "state", "age").head(300), seed=1)
        >>> matched = cf.Intruder(knows=["sex", "state", "age"]).attack(release).one_to_one()
        >>> matched.frame.columns[:5]
        ['target', 'row', 'p', 'p_error', 'p_independent']
        """
        from confide.attack.learning.one_to_one.run import run_one_to_one

        return run_one_to_one(self, sweeps, seed, threads, progress)

    def unit(self, target: int) -> int:
        """The place of a target among those that have the same values and the same record."""
        return target if self.of is None else int(self.of[target])

    def absent_weight(self, target: int) -> float:
        """The weight of "not released" beside the records' weights."""
        return float(self.absent[self.unit(target)])

    def __repr__(self) -> str:
        return str(upward("attack_text")(self))

    def _repr_html_(self) -> str:
        """The summary as a table, and every caution of the printout."""
        cautions = upward("caution_lines")(self)
        return super()._repr_html_() + "".join(f"<p>{escape(said)}</p>" for said in cautions)
