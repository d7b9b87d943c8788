"""What guesses of an unknown variable win and lose: per person, per group, per file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from confide.attack.learning.attributes.groups import by_group
from confide.attack.learning.attributes.harm import Harm, harm
from confide.attack.learning.attributes.loss import Loss
from confide.attack.learning.attributes.one_person import predictive
from confide.attack.learning.attributes.summary import LearntSummary, summarise_guess
from confide.attack.learning.attributes.uniformity import Coverage, coverage
from confide.attack.results.grouped import target_groups
from confide.core.errors import InputError, did_you_mean
from confide.core.result import Result
from confide.frames.columns import F64

if TYPE_CHECKING:
    from confide.attack.results.attack import Attack


@dataclass(frozen=True, eq=False, repr=False)
class Guess(Result):
    r"""Guesses of one unknown variable by the predictive distribution

    .. math:: p(y \mid t, Z) = \sum_j p_j(t)\, g_j(y) + p_\text{absent}(t)\, e(y \mid t)

    `frame` has one row per target: `target`, `guess` (null: missing), `loss` (what the guess loses, given the truth),
    `expected_loss` (what the intruder expects to lose), and the losses of the best guesses without the release:
    `loss_margin` (everybody's distribution), `loss_relations` (what published relations teach, the person's own value
    left out), `loss_without_person` (the same release without the person's own row); then `p_true_value`, `p_missing`
    and `status`. `how`: what became of the variable in the release. `without`: how the release without the person was
    had, `without_exact` whether that is exact.

    >>> import confide as cf
    >>> release = cf.Plan([cf.Recode("age", width=5)], identifiers=["id"]).protect(cf.demo("heads").head(2000), seed=1)
    >>> found = cf.Intruder(knows=["sex", "race", "marital", "age"]).attack(release).guess("tenure")
    >>> found.frame.columns[:4], found.how
    (['target', 'guess', 'loss', 'expected_loss'], 'kept')
    """

    attack: Attack
    variable: str
    loss: Loss
    frame: pl.DataFrame
    how: str
    without_exact: bool
    without: str
    smoothing: float | None
    rest: dict[str, F64] = field(repr=False)

    def summary(self, weight: str | None = None) -> LearntSummary:
        """The file in a few numbers: what guesses lose, the baselines, what the release and taking part add.

        `weight`: a column of the original by which people count, such as a survey weight.

        >>> import confide as cf
        >>> release = cf.Plan([], identifiers=["id"]).protect(cf.demo("heads").head(500), seed=1)
        >>> found = cf.Intruder(knows=["sex", "age", "state"]).attack(release).guess("tenure").summary()
        >>> found.people, found.loss < found.relations
        (500.0, True)
        """
        return summarise_guess(self, self._weights(weight))

    def _weights(self, weight: str | None) -> F64 | None:
        if weight is None:
            return None
        values = self._original(weight).cast(pl.Float64, strict=False).to_numpy()
        if not (values > 0).all():
            raise InputError(f'weight: {int((~(values > 0)).sum())} people have no "{weight}" above zero.')
        return np.asarray(values)

    def _original(self, variable: str) -> pl.Series:
        """A column of the original, by target."""
        columns = self.attack.release.original
        if variable not in columns.columns:
            raise InputError(f'There is no column "{variable}".{did_you_mean(variable, columns.columns)}')
        if bool((self.attack.truth < 0).any()):
            raise InputError("Some targets are not in the original file, so it is not known what they have there.")
        return columns.get_column(variable).gather(self.attack.truth)

    def predictive(self, target: int) -> pl.DataFrame:
        """What is believed of one person after the release: `value` and probability `p`, null for missing.

        >>> import confide as cf
        >>> release = cf.Plan([cf.Recode("age", width=5)], identifiers=["id"]).protect(cf.demo("heads"), seed=1)
        >>> found = cf.Intruder(knows=["sex", "race", "age"]).attack(release).guess("tenure").predictive(17)
        >>> found.columns, round(found["p"].sum(), 9)
        (['value', 'p'], 1.0)
        """
        return predictive(self, target)

    def by(self, variable: str) -> pl.DataFrame:
        """The same by groups of people: `group`, `people`, mean losses, what the release and taking part add to what is
        known of a person on average, each with a 95 percent interval. Numbers are in about five ranges.

        >>> import confide as cf
        >>> release = cf.Plan([], identifiers=["id"]).protect(cf.demo("heads").head(500), seed=1)
        >>> found = cf.Intruder(knows=["sex", "age"]).attack(release).guess("tenure").by("sex")
        >>> found["people"].sum()
        500
        """
        return by_group(self.frame, target_groups(self.attack, variable)[0])

    def coverage(self, levels: Sequence[float] = (0.5, 0.8, 0.9, 0.95), seed: int = 1) -> Coverage:
        """Whether stated intervals hold: the share of people whose true value lies in the middle of their predictive
        distribution, by the randomised probability integral transform.

        >>> import confide as cf
        >>> release = cf.Plan([], identifiers=["id"]).protect(cf.demo("heads").head(500), seed=1)
        >>> cf.Intruder(knows=["sex"]).attack(release).guess("hh_income").coverage().frame["level"].to_list()
        [0.5, 0.8, 0.9, 0.95]
        """
        return coverage(self.rest["below"], self.rest["upto"], levels, seed)

    def harm(
        self, *, right_identification: float, wrong_identification: float, right_attribution: float,
        wrong_attribution: float, threshold: float,
    ) -> Harm:  # fmt: skip
        """Lambert's harm: costs of right and wrong identifications and attributions, summed over those declared.

        An identification is declared where `p_max` exceeds the `threshold`, an attribution where the intruder takes its
        guess to be right with a larger probability than that. True harm knows who is right; perceived harm takes the
        intruder's own probabilities. Wrong declarations hurt people too, so no cost has a default.

        >>> import confide as cf
        >>> release = cf.Plan([], identifiers=["id"]).protect(cf.demo("heads").head(500), seed=1)
        >>> found = cf.Intruder(knows=["sex", "age", "state"]).attack(release).guess("tenure").harm(
        ...     right_identification=1, wrong_identification=0.5, right_attribution=1, wrong_attribution=1,
        ...     threshold=0.9)
        >>> found.frame["what"].to_list()
        ['identification', 'attribution', 'both']
        """
        costs = right_identification, wrong_identification, right_attribution, wrong_attribution
        return harm(self.attack.units, self.frame, self.loss, costs, threshold)

    def nats(self, smoothing: float = 5.0) -> pl.Series:
        """What a person's own record adds to the log probability of its true value, of categories, in nats.

        Both probabilities are smoothed by records' worth of the margin, since a value that only the person has would
        add infinitely much. It is about one file, one intruder and one draw; its maximum is no bound for others.
        """
        if self.frame["guess"].dtype != pl.String:
            raise InputError("nats are told of categories; recode the number, and guess its groups.")
        n = np.maximum(self.attack.units["candidates"].to_numpy(), 1).astype(float)
        f, p, q = self.rest["p_margin"], self.frame["p_true_value"].to_numpy(), self.rest["p_without_person"]
        q = np.where(n > 1, q, 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            found = np.log((n * p + smoothing * f) / (n + smoothing))
            found -= np.log(((n - 1) * q + smoothing * f) / (n - 1 + smoothing))
        return pl.Series("nats", found).fill_nan(None)

    def __repr__(self) -> str:
        return str(self.summary())


@dataclass(frozen=True, eq=False, repr=False)
class Guesses(Result):
    """Guesses of several variables: `guesses["income"]` is one of them, `frame` has all, with a column `variable`.

    >>> import confide as cf
    >>> release = cf.Plan([], identifiers=["id"]).protect(cf.demo("heads").head(300), seed=1)
    >>> found = cf.Intruder(knows=["sex", "age"]).attack(release).guess(["tenure", "hh_income"])
    >>> found.frame.height, found["tenure"].how
    (600, 'kept')
    """

    each: tuple[Guess, ...]

    def __getitem__(self, variable: str) -> Guess:
        names = [g.variable for g in self.each]
        if variable not in names:
            raise InputError(f'No guess of "{variable}" was asked for.{did_you_mean(variable, names)}')
        return self.each[names.index(variable)]

    def __iter__(self) -> Iterator[Guess]:
        return iter(self.each)

    @property
    def frame(self) -> pl.DataFrame:
        """All of them, one below the other; guesses as text."""
        named = [
            g.frame.with_columns(pl.lit(g.variable).alias("variable"), pl.col("guess").cast(pl.String))
            for g in self.each
        ]
        found = pl.concat(named)
        return found.select("variable", pl.exclude("variable"))

    def summary(self) -> pl.DataFrame:
        """One row per variable."""
        return pl.concat([g.summary().frame for g in self.each])

    def __repr__(self) -> str:
        return "\n\n".join(repr(g) for g in self.each)
