"""Measures by the short names that study files use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any

from confide.core.customary import hint
from confide.core.errors import InputError, did_you_mean
from confide.core.registry import known
from confide.measure.utility.measure import Measure


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
    measures = known("measure")
    if name not in measures:
        raise InputError(f'There is no measure of utility named "{name}".{hint(name, measures)}')
    settings = {k: v for k, v in table.items() if k != "measure"}
    stated = {f.name: f for f in fields(measures[name])}
    for setting in settings:
        if setting not in stated:
            raise InputError(f'Measure "{name}" has no setting "{setting}".{did_you_mean(setting, stated)}')
    for f in stated.values():
        if f.default is MISSING and f.default_factory is MISSING and f.name not in settings:
            example = f", such as {f.name} = {f.metadata['example']}" if "example" in f.metadata else ""
            raise InputError(f'Measure "{name}" needs {f.name}{example}.')
    made: Measure = measures[name](**settings)
    return made
