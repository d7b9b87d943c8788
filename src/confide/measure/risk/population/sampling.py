"""How a file was drawn from its population: by weights, by a fraction, or out of so many people."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from confide.core.checks import fraction as checked_fraction
from confide.core.checks import positive
from confide.core.errors import InputError
from confide.frames.columns import F64
from confide.measure.risk.file_risks.file import File


def check_sampling(
    keys: Sequence[str],
    weight: str | None,
    fraction: float | None,
    total: float | None,
    where: str,
    needed: bool = True,
) -> None:
    """One of the three, and of the right kind; none of them where they are not needed."""
    given = [
        name for name, value in (("weight", weight), ("fraction", fraction), ("total", total)) if value is not None
    ]
    if len(given) > 1 or (needed and not given):
        raise InputError(
            f"{where}: say how the file was drawn by one of weight= (a column), fraction= (records per person, such as "
            f"0.05) and total= (people of the population); {' and '.join(given) or 'none of them'} given."
        )
    problem = _wrong_weight(keys, weight) or _wrong_fraction(fraction, where) or _wrong_total(total, where)
    if problem:
        raise InputError(f"{where}: {problem}")


def _wrong_weight(keys: Sequence[str], weight: str | None) -> str:
    if weight is not None and not (isinstance(weight, str) and weight):
        return 'weight is the name of the column with weights, such as weight="weight".'
    if weight is not None and weight in keys:
        return f'"{weight}" is given as a key and as the weight; take it out of the keys, or say fraction= or total=.'
    return ""


def _wrong_fraction(fraction: float | None, where: str) -> str:
    if isinstance(fraction, (int, float)) and fraction > 100:
        return "fraction is records per person, between 0 and 1; for a number of people write total=."
    if fraction is not None and not checked_fraction(fraction, f"{where}: fraction"):
        return "fraction is how many records there are per person, above 0; 0.05 for 5 percent."
    return ""


def _wrong_total(total: float | None, where: str) -> str:
    if total is not None and positive(total, f"{where}: total") < 1:
        return "total is how many people the population has; for records per person write fraction=."
    return ""


def sampling_words(weight: str | None, fraction: float | None, total: float | None) -> str:
    """How the file was drawn, for a title."""
    if weight is not None:
        return f'weights in "{weight}"'
    return f"fraction {fraction:g}" if fraction is not None else f"{total:,.10g} people in the population"


def weights_of(file: File, weight: str | None, fraction: float | None, total: float | None) -> F64:
    """How many people each record stands for, itself counted; of every row that is held."""
    if weight is not None:
        return _column(file, weight)
    if fraction is not None:
        return np.full(file.held, 1 / float(fraction))
    assert total is not None
    if total < file.n:
        raise InputError(
            f"{file.where}: total is how many people the population has: it cannot be below the {file.n:,} records of "
            "the file."
        )
    return np.full(file.held, float(total) / file.n)


def _column(file: File, name: str) -> F64:
    """Weights from a column: a number of at least 1 for every record."""
    if not file.released([name], "weight"):
        raise InputError(
            f'{file.where}: the weight "{name}" is not in the released file; give fraction= or total= instead.'
        )
    values = np.asarray(file.data.column(name, "numeric").values)
    lost, low, below = (int(file.people(bad)) for bad in (np.isnan(values), values <= 0, (values > 0) & (values < 1)))
    if lost:
        raise InputError(
            f'{file.where}: {lost:,} of {file.n:,} weights in "{name}" are missing; how many people those records '
            "stand for must be known. Fill them in, or give fraction= or total= instead."
        )
    if low:
        raise InputError(
            f'{file.where}: {low:,} of {file.n:,} weights in "{name}" are zero or below; a record stands for itself at '
            "least. Leave such records out, or give fraction= or total= instead."
        )
    if below:
        scaled = abs(file.people(values) / file.n - 1) < 0.01
        why = " They sum to about the number of records, as weights that were scaled to mean 1 do." if scaled else ""
        raise InputError(
            f'{file.where}: {below:,} of {file.n:,} weights in "{name}" are below 1, but a record stands for itself at '
            f"least.{why} Give weights that sum to the population, or fraction= or total= instead."
        )
    return values
