"""What can be asked of an attack once it is done: why, what if, and whether somebody else would find more."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import polars as pl

from confide.core.checks import fraction
from confide.core.errors import InputError
from confide.core.run.progress import Progress
from confide.core.upward import upward

if TYPE_CHECKING:
    from confide.attack.results.attack import Attack
    from confide.attack.results.clearing import Clearing
    from confide.attack.results.contributions import Contributions
    from confide.attack.results.explain import Explanation
    from confide.attack.results.grid import Grid
    from confide.attack.results.tried import Tried
    from confide.study.improve.result import Improvements


class Questions:
    """Methods of an attack that look at it again, or attack again."""

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
        return explain(cast("Attack", self), target, top, fraction(limit, "limit"))

    def contributions(
        self, by: str | Sequence[str] = (), *, most: int | None = 4_000, orders: int = 100, progress: Progress = None
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

        return contributions(cast("Attack", self), by, most, orders, progress)

    def clearing(self, limit: float = 0.2, *, progress: Progress = None) -> Clearing:
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
        return clearing(cast("Attack", self), float(limit), progress)

    def improve(self, utility: Any, **options: Any) -> Improvements:
        """Which changes of the release's plan would lower what this intruder finds most per `utility` lost.

        The same as `cf.improve` for the original, the plan and this intruder, and with its `options`: `max_risk`, `by`,
        `tries`, `seed` and so on. It speaks of all people; for one person see `explain(target).remedies`.

        >>> import confide as cf
        >>> heads = cf.demo("heads").head(300)
        >>> release = cf.Plan([cf.Swap("marital", rate=0.3)], identifiers=["id"]).protect(heads, seed=1)
        >>> attack = cf.Intruder(knows=["sex", "marital"]).attack(release)
        >>> attack.improve(["hellinger"], tries=4, most=2, repeats=2, seed=1).tried.height
        4
        """
        attack = cast("Attack", self)
        plan = attack.release.plan
        if plan is None:
            raise InputError("The plan behind this release is not known, so no change of it can be tried.")
        if attack.given[0] is not None or attack.given[2]:
            raise InputError("improve speaks of the people in one file: attack(release) without targets= or copies.")
        found: Improvements = upward("improve")(
            attack.release.original, plan, intruders={"this intruder": attack.intruder}, utility=utility, **options
        )
        return found

    def stronger(self) -> Tried:
        """Whether the same intruder would find more at another level: informed, exact, unaltered or naive.

        All targets are tried, or 4,000 of them at random; records are always all there. Tried once, then kept; the
        printout of an attack carries a caution where a level finds more.

        >>> import confide as cf
        >>> plan = cf.Plan([cf.NormalSynthesis("hh_income", given=["sex"])], identifiers=["id"])
        >>> release = plan.protect(cf.demo("heads").select("id", "sex", "tenure", "hh_income").head(500), seed=1)
        >>> tried = cf.Intruder(knows=["sex", "hh_income"]).attack(release).stronger()
        >>> tried.frame["level"].to_list()
        ['informed', 'exact', 'unaltered', 'naive']
        """
        return self._tried

    @cached_property
    def _tried(self) -> Tried:
        from confide.attack.results.tried import try_levels

        return try_levels(cast("Attack", self))

    def grid(self, *, threads: int | None = None, progress: Progress = None) -> Grid:
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

        return make_grid(cast("Attack", self), threads, progress)

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

        return monte_carlo(cast("Attack", self), draws, seed, targets)
