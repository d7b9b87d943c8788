"""Attack: the result. Who could be recognised, with what probability."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from confide.attack.intruder import Intruder
from confide.attack.population.people import PeopleModel
from confide.attack.results.attack_learning import Learning
from confide.attack.results.attack_questions import Questions
from confide.attack.results.treatment import Treatment
from confide.attack.targets import UNKNOWN
from confide.core.errors import InputError
from confide.core.result import Result
from confide.core.upward import upward
from confide.frames.columns import F64, I64

if TYPE_CHECKING:
    from confide.measure.risk.by_group import ByGroup
    from confide.measure.risk.calibration import Calibration
    from confide.measure.risk.identification import Summary
    from confide.protect.release import Release


@dataclass(frozen=True, eq=False, repr=False)
class Attack(Questions, Learning, Result):
    """The posterior of every target, summarised per target (`units`) and per file (`summary`).

    `units` has one row per target: `target` (its position), `candidates` (released rows that agree with all that is
    certain), `p_true` (probability of its own record), `p_max` (largest probability), `n_max` (records that share
    it), `hit` (its own among them), `as_likely` (other candidates at least as probable as its own), `rank` (1 +
    records strictly above), `p_absent` (probability that it was not released), `status`. For a target that was not
    released `p_true`, `rank` and `as_likely` are null; "contradiction" means that no record can be the target.
    `people`: the models by which N_t was estimated, one for each pattern of knowledge, where it was. `short`: released
    records for whose labels a population that is given has fewer people than there are records.

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
    short: int = 0

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
