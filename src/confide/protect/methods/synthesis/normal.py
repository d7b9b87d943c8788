"""NormalSynthesis: values drawn from a Bayesian normal regression."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import ndtri

from confide.core.checks import positive
from confide.core.errors import InputError
from confide.core.random.draws import Draws
from confide.core.run.threads import one_blas_thread
from confide.frames.columns import F64, I64, Kind, Records, rounded
from confide.protect.likelihoods.spread import LOG_2PI, Spread
from confide.protect.methods.synthesis.from_others import FromOthers, says_nothing
from confide.protect.methods.synthesis.in_turn import numbers_in_turn
from confide.protect.seam.coarsening import Chain
from confide.protect.seam.dials import Offers, Outlook
from confide.protect.seam.evidence import Evidence
from confide.protect.seam.fitted import Applied, Fitted, View
from confide.protect.seam.mechanism import Name, registered
from confide.protect.shared.predictors import Predictors, enough_rows, times
from confide.protect.shared.standing_apart import States

FAR = 6.0
"""How far below the lowest rank, in normal scores, an intruder places values that have none."""


@registered
@dataclass(frozen=True)
class NormalSynthesis(FromOthers):
    r"""Draw a number from a normal regression on other variables, its parameters drawn first.

    .. math:: \sigma^{*2} = \frac{\mathrm{RSS}}{\chi^2_{n-p}}, \qquad
        \beta^* \sim N(\hat\beta, \sigma^{*2} (X^T X)^{-1}), \qquad z_j \sim N(x_j^T \beta^*, \sigma^{*2})

    Parameters are drawn once per copy: with ``copies=m`` each copy has its own, as the hierarchical model of Duncan and
    Keller-McNulty has it, and estimates from the copies can be combined (`combine`). Without `given` that is their
    model, :math:`\mu_i \sim N(\bar y, \alpha^2)`, with :math:`\alpha^2 = \sigma^2/n`, or what `alpha`, the standard
    deviation of the mean, says.

    `scale` is "values", or "ranks": the regression is then of normal scores, mapped back through the file's own
    quantiles, which suits skewed variables. `draw=False` uses the estimates themselves. Values outside the file's range
    are drawn again, so a skewed variable on the scale of values loses its shape: use ranks. Zeros, missing values,
    answer codes and precision as in `QuantileRegression`. With `learn` the regression is fitted on so many records,
    drawn at random, in place of all.

    At level "informed" the intruder takes the value for normal around the target's own with the variance of a
    prediction, :math:`\hat\sigma^2 (1 + x_j^T (X^T X)^{-1} x_j)`: what Huckett and Larsen suggest for other models.
    Level "exact" knows that it does not depend on the target, given what it was drawn from.

    >>> import confide as cf
    >>> cf.NormalSynthesis("hh_income", given=["sex", "age"], scale="ranks").needs
    ('sex', 'age')
    """

    variables: Name
    given: str | Sequence[str] = ()
    scale: str = "values"
    draw: bool = True
    alpha: float | None = None
    zeros: bool | None = None
    learn: int | None = None

    method: ClassVar[str] = "normal_synthesis"

    def __post_init__(self) -> None:
        where, problems = self.where, self.check_names()
        problems.when(self.scale not in ("values", "ranks"), f'{where}: scale is "values" or "ranks".')
        self.true_or_false("draw", problems)
        self.true_or_false("zeros", problems, optional=True)
        with problems:
            if self.alpha is not None:
                positive(self.alpha, f"{where}: alpha")
        both = self.alpha is not None and self.given
        problems.when(both, f"{where}: alpha is the standard deviation of the mean, for a model without given.")
        problems.tell()

    @property
    def words(self) -> str:
        ranks = " of ranks" if self.scale == "ranks" else ""
        return f"synthetic {self.variable}{self.from_words}, by a normal regression{ranks}"

    @classmethod
    def dials(cls, outlook: Outlook) -> Offers:
        """Numbers, one by one and several in turn, by the number of predictors."""
        return numbers_in_turn(
            cls.method,
            outlook,
            lambda name, given, _: cls(name, given=given, scale="ranks"),
            "by a normal regression of ranks",
        )

    def kinds(self) -> Mapping[str, Kind]:
        return {self.variable: "numeric"}

    def fit(self, original: Records, current: Records, after: Mapping[str, Chain]) -> _FittedNormal:  # noqa: ARG002
        predictors, states, x, y = self.two_parts(original, self.zeros)
        if not len(y):
            return _FittedNormal(self, predictors, states, None)
        enough_rows(predictors, len(y), self.where)
        return _FittedNormal(self, predictors, states, _Regression.of(x, y, self.scale))


@dataclass(frozen=True, eq=False)
class _Regression:
    """Least squares: `beta`, `rss`, pseudo-inverse of X'X and its root, degrees of freedom; `values`, `scores`: the
    file's distinct values and where they stand on the scale of the regression."""

    beta: F64
    rss: float
    inverse: F64
    root: F64
    df: int
    values: F64
    scores: F64

    @classmethod
    def of(cls, x: F64, y: F64, scale: str) -> _Regression:
        values, at, count = np.unique(y, return_inverse=True, return_counts=True)
        scores = values
        if scale == "ranks":
            scores = ndtri((np.cumsum(count) - 0.5 * count) / len(y))
        s = scores[at]
        with one_blas_thread():
            size, axes = np.linalg.eigh(x.T @ x)
            kept = size > 1e-10 * size.max()
            root = axes[:, kept] / np.sqrt(size[kept])
            inverse = root @ root.T
            beta = inverse @ (x.T @ s)
            rss = float(((s - x @ beta) ** 2).sum())
        return cls(beta, rss, inverse, root, max(len(y) - int(kept.sum()), 1), values, scores)

    @property
    def sigma2(self) -> float:
        return self.rss / self.df

    def score(self, y: F64) -> F64:
        """Values on the scale of the regression."""
        return y if self.scores is self.values else np.asarray(np.interp(y, self.values, self.scores))

    def back(self, s: F64) -> F64:
        """From that scale to values, inside the file's range."""
        if self.scores is self.values:
            return np.clip(s, self.values[0], self.values[-1])
        return np.asarray(np.interp(s, self.scores, self.values))


@dataclass(frozen=True, eq=False)
class _FittedNormal(Fitted):
    step: NormalSynthesis
    predictors: Predictors
    states: States
    model: _Regression | None

    def apply(self, original: Records, current: Records, draws: Draws) -> Applied:  # noqa: ARG002
        column = current[self.step.variable]
        x = self.predictors.matrix(current)
        state, amount = self.states.draw(x, draws, current.rows), np.full(current.n, np.nan)
        if self.model is not None:
            beta, sigma = self._parameters(self.model, draws)
            at = np.flatnonzero(state == 0)
            middle = times(x[at], beta[:, None])[:, 0]
            value = rounded(self.model.back(self._inside(middle, sigma, draws, current.rows[at])), column.step)
            amount[at] = np.clip(value, self.model.values[0], self.model.values[-1])
        return Applied([column.with_values(self.states.placed(state, amount))])

    def _inside(self, middle: F64, sigma: float, draws: Draws, rows: I64) -> F64:
        """Draws around each prediction, again where they leave the file's range: nothing piles up at its ends."""
        assert self.model is not None
        drawn = middle + sigma * draws.normal(rows)
        if self.step.scale == "ranks":
            return np.asarray(drawn)  # the ends of the file's own quantiles
        low, high = self.model.values[0], self.model.values[-1]
        for attempt in range(1, 101 if high > low else 1):
            out = np.flatnonzero((drawn < low) | (drawn > high))
            if not len(out):
                break
            drawn[out] = middle[out] + sigma * draws.normal(rows[out], attempt)
        return np.asarray(drawn)

    def _parameters(self, m: _Regression, draws: Draws) -> tuple[F64, float]:
        if not self.step.draw:
            return m.beta, float(np.sqrt(m.sigma2))
        sigma = float(np.sqrt(m.rss / draws.of("variance").chisquare(m.df)))
        shift = draws.of("coefficients").normal(np.arange(m.root.shape[1]))
        if self.step.alpha is not None:
            return m.beta + self.step.alpha * shift, sigma
        return m.beta + sigma * (m.root @ shift), sigma

    def reads_missing(self, level: str) -> bool:
        """The readings of pairs compare numbers, and have nothing to say of a target without one."""
        return level not in ("sdl", "average")

    @property
    def in_parts(self) -> bool:
        return True

    def evidence(self, view: View, about: tuple[str, ...]) -> Evidence:
        v, m = self.step.variable, self.model
        if view.level == "ignore":
            return Evidence(about)
        if view.level == "exact" or m is None:
            return says_nothing(view, about)
        z = view.released[v]
        if z.kind != "numeric":
            raise InputError(f'"{v}" was drawn as a number and then recoded; ask at level "exact".')
        known = v in view.known
        if not known and not set(self.predictors.names) <= view.known:
            return Evidence(about, sense="pair")
        x = self.predictors.matrix(view.released)
        with one_blas_thread():
            variance = m.sigma2 * (1 + np.einsum("ij,ij->i", x @ m.inverse, x))
            own = x @ m.beta
        variance = np.maximum(variance, 1e-18 * (1 + np.ptp(m.scores)) ** 2)
        there = z.usable
        score = np.where(there, self._score(z.values), 0.0)
        own = np.where(self.states.of_values(z.values) == 0, own, score)  # what stands apart is its own prediction
        others = 0.5 * (score - own) ** 2 / variance + 0.5 * np.log(variance) + 0.5 * LOG_2PI
        values, gap = (self._own(v), -np.inf) if known else (self._predicted(view), 0.0)
        spread = Spread.sized(score, there, variance, values, gap)
        return Evidence(about, likelihood=spread, sense="pair", log_others=np.where(there, others, 0.0))

    def _score(self, y: F64) -> F64:
        """Values on the scale of the regression; of ranks, those that stand apart lie far below all others."""
        assert self.model is not None
        score, state = self.model.score(y), self.states.of_values(y)
        if self.step.scale == "ranks":
            score = np.where(state > 0, self.model.scores[0] - FAR * state, score)
        return np.asarray(score)

    def _own(self, v: str) -> Callable[[Records], F64]:
        return lambda records: self._score(records[v].values)

    def _predicted(self, view: View) -> Callable[[Records], F64]:
        """The regression's value, or, where the target more likely stands apart, the value that it then has."""
        assert self.model is not None
        model = self.model

        def predicted(records: Records) -> F64:
            x = self.predictors.matrix(view.read(records))
            apart = self.states.placed(self.states.likeliest(x), np.full(len(x), np.nan))
            with one_blas_thread():
                regular = x @ model.beta
            return np.where(np.isnan(apart), regular, self._score(apart))

        return predicted
