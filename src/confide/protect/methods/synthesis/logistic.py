"""LogisticSynthesis: categories drawn from a logistic or polytomous regression."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from confide.core.random.draws import Draws
from confide.core.run.threads import one_blas_thread
from confide.frames.columns import F64, I64, Kind, Records
from confide.protect.methods.synthesis.from_others import FromOthers, says_nothing
from confide.protect.seam.coarsening import Chain
from confide.protect.seam.dials import Offers, Outlook, Untried
from confide.protect.seam.evidence import Evidence
from confide.protect.seam.fitted import Applied, Fitted, View
from confide.protect.seam.mechanism import Name, registered
from confide.protect.shared.predictors import Predictors, enough_rows

RIDGE = 100.0
"""The inverse of the penalty: a slight one, so that coefficients of rare categories have an end."""
STEPS, TOLERANCE = 500, 1e-6


@registered
@dataclass(frozen=True)
class LogisticSynthesis(FromOthers):
    r"""Draw a category from a regression on other variables: logistic for two categories, polytomous for more.

    .. math:: \Pr(z_j = k \mid x_j) = \frac{\exp(x_j^T \beta_k)}{\sum_l \exp(x_j^T \beta_l)}

    Numbers among the predictors enter as they are, categories as indicators; missing is a category of either side. The
    coefficients maximise the likelihood with a slight ridge. With `draw` they are drawn first, once per copy, by the
    weighted likelihood bootstrap (Newton and Raftery 1994): records have weights from a Dirichlet distribution with all
    parameters 1, and the coefficients are those of the weighted file. So copies differ as much as the file leaves
    uncertain, and can be combined (`combine`). ``draw=False`` uses the estimates themselves: closest to the file.

    Unlike a tree it has few parameters and repeats no cell of the file; what is no sum on the scale of logits is lost.

    Each record draws by itself from its probabilities. Given the variables it was drawn from, a value does not depend
    on the target's own: there is no evidence in it, at any level.

    >>> import confide as cf
    >>> heads = cf.demo("heads").head(2000)
    >>> plan = cf.Plan([cf.LogisticSynthesis("marital", given=["sex", "age"])], identifiers=["id"])
    >>> plan.protect(heads, seed=1).data["marital"].n_unique() > 3
    True
    """

    variables: Name
    given: str | Sequence[str] = ()
    draw: bool = True

    method: ClassVar[str] = "logistic_synthesis"

    def __post_init__(self) -> None:
        problems = self.check_names()
        self.true_or_false("draw", problems)
        problems.tell()

    @property
    def words(self) -> str:
        return f"synthetic {self.variable}{self.from_words}, by a logistic regression"

    @classmethod
    def dials(cls, outlook: Outlook) -> Offers:  # noqa: ARG003 - it hangs on no file
        """None: trees draw categories too, without a form to be stated."""
        return (Untried(cls.method, "trees draw categories too, and need no form to be stated"),)

    def at_once(self) -> str:
        return (
            f"{self.where} fits its regression again for every release, to all records at once, so it is not for files "
            'that are read in parts. CartSynthesis with learn=100_000 and draw="independent" is.'
        )

    def kinds(self) -> Mapping[str, Kind]:
        return {self.variable: "categorical"}

    def fit(self, original: Records, current: Records, after: Mapping[str, Chain]) -> _FittedLogistic:  # noqa: ARG002
        column = original[self.variable]
        self.has_values(column)
        predictors = Predictors.of(original, self.given, self.where)
        if predictors.parts:
            enough_rows(predictors, original.n, self.where)
        classes, y = np.unique(column.values, return_inverse=True)
        return _FittedLogistic(self, predictors, classes, y, predictors.matrix(original, intercept=False))


@dataclass(frozen=True, eq=False)
class _FittedLogistic(Fitted):
    """`classes`: codes that occur, -1 for missing; `y`: positions in these, `x`: the design, of the original's rows."""

    step: LogisticSynthesis
    predictors: Predictors
    classes: I64
    y: I64
    x: F64

    def apply(self, original: Records, current: Records, draws: Draws) -> Applied:  # noqa: ARG002
        column = current[self.step.variable]
        weight = np.ones(len(self.y))
        if self.step.draw:
            weight = draws.of("weight").exponential(np.arange(len(self.y)))
        p = self.probabilities(self.predictors.matrix(current, intercept=False), weight)
        at = (draws.uniform(current.rows)[:, None] > np.cumsum(p, axis=1)[:, :-1]).sum(axis=1)
        return Applied([column.with_values(self.classes[at])])

    def probabilities(self, x: F64, weight: F64) -> F64:
        """Of each class, for the designs given, by the model of the weighted file; shape (n, classes)."""
        shares = np.bincount(self.y, weight, minlength=len(self.classes)) / weight.sum()
        if len(self.classes) < 2 or not x.shape[1]:
            return np.tile(shares, (len(x), 1))
        model = self._model(weight)
        with one_blas_thread():
            return np.asarray(model.predict_proba(x))

    def _model(self, weight: F64) -> Any:
        from sklearn.linear_model import LogisticRegression

        model = LogisticRegression(C=RIDGE, max_iter=STEPS, tol=TOLERANCE)
        with warnings.catch_warnings(), one_blas_thread():
            warnings.simplefilter("ignore")  # a fit that stops early is as good a model to draw from
            return model.fit(self.x, self.y, sample_weight=weight * len(weight) / weight.sum())

    def evidence(self, view: View, about: tuple[str, ...]) -> Evidence:
        return says_nothing(view, about)

    def lean(self) -> _FittedLogistic:
        return replace(self, y=self.y[:0], x=self.x[:0])
