"""Measures by the short names that study files use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from confide.core.errors import InputError, did_you_mean
from confide.measure.utility.distances import Hellinger, TotalVariation
from confide.measure.utility.entropy import Entropy
from confide.measure.utility.estimates import InverseMse
from confide.measure.utility.information_loss import InformationLoss
from confide.measure.utility.measure import Measure
from confide.measure.utility.moments import Correlations, Covariances, Eigenvalues, Means, Variances
from confide.measure.utility.propensity import Propensity
from confide.measure.utility.regressions import CoefficientDifference, RegressionOverlap

MEASURES: dict[str, type[Any]] = {
    "means": Means,
    "variances": Variances,
    "covariances": Covariances,
    "correlations": Correlations,
    "eigenvalues": Eigenvalues,
    "total_variation": TotalVariation,
    "hellinger": Hellinger,
    "entropy": Entropy,
    "propensity": Propensity,
    "ci_overlap": RegressionOverlap,
    "coefficient_difference": CoefficientDifference,
    "il1s": InformationLoss,
    "inverse_mse": InverseMse,
}
"""Every measure by its short name."""


def as_measure(given: Measure | str | Mapping[str, Any]) -> Measure:
    """A measure from its short name, from a table with its name under "measure" and its settings, or itself.

    >>> as_measure("means").name
    'means'
    >>> as_measure({"measure": "ci_overlap", "formula": "age ~ sex", "label": "age by sex"}).name
    'age by sex'
    >>> as_measure("mean")
    Traceback (most recent call last):
    ...
    confide.InputError: There is no measure of utility named "mean". Did you mean "means"?
    """
    if isinstance(given, str):
        given = {"measure": given}
    if isinstance(given, Mapping):
        return _from_table(given)
    if isinstance(given, type) or not isinstance(given, Measure):
        shown = f"the class {given.__name__} without parentheses" if isinstance(given, type) else type(given).__name__
        raise InputError(f'A measure is stated as Means("age"), or by its short name, such as "means"; not by {shown}.')
    if not isinstance(given.name, str) or not given.name.strip():
        raise InputError(f"The name of a measure is text; that of {type(given).__name__} is not.")
    if given.direction not in ("higher", "lower"):
        raise InputError(f'Measure "{given.name}": direction is "higher" or "lower", whichever is better.')
    return given


def _from_table(table: Mapping[str, Any]) -> Measure:
    name = table.get("measure")
    if not isinstance(name, str):
        raise InputError('A table that states a measure has its name under "measure", such as measure = "means".')
    if name not in MEASURES:
        raise InputError(f'There is no measure of utility named "{name}".{did_you_mean(name, MEASURES)}')
    settings = {k: v for k, v in table.items() if k != "measure"}
    known = [f.name for f in fields(MEASURES[name])]
    for setting in settings:
        if setting not in known:
            raise InputError(f'Measure "{name}" has no setting "{setting}".{did_you_mean(setting, known)}')
    needed = {"ci_overlap": "formula", "coefficient_difference": "formula", "inverse_mse": "estimates"}.get(name)
    if needed is not None and needed not in settings:
        example = 'formula = "log(hh_income) ~ age + C(race)"' if needed == "formula" else 'estimates = ["mean(age)"]'
        raise InputError(f'Measure "{name}" needs {needed}, such as {example}.')
    made: Measure = MEASURES[name](**settings)
    return made
