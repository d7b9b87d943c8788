"""Names and numbers that a user states, checked at the door."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set

import numpy as np

from confide.core.errors import InputError


def names_of(value: str | Sequence[str], what: str) -> tuple[str, ...]:
    """One name or several, as a tuple; refused when empty, repeated or not text."""
    no_list = isinstance(value, (Mapping, Set)) or not isinstance(value, Iterable) or getattr(value, "ndim", 1) != 1
    names = (value,) if isinstance(value, str) else () if no_list else tuple(value)
    if not names or not all(isinstance(v, str) and v for v in names):
        raise InputError(f"{what} takes the name of a column, or a list of names.")
    if len(set(names)) < len(names):
        raise InputError(f"{what} names a column twice: {', '.join(sorted({v for v in names if names.count(v) > 1}))}.")
    return names


def fraction(value: float, what: str) -> float:
    """A share between 0 and 1; a percentage is refused with the fraction to write."""
    number = finite(value, what)
    if number > 1 and number <= 100:
        raise InputError(f"{what} is a fraction between 0 and 1; for {number:g} percent write {number / 100:g}.")
    if not 0 <= number <= 1:
        raise InputError(f"{what} is a fraction between 0 and 1, not {number:g}.")
    return number


def finite(value: float, what: str) -> float:
    """A finite number."""
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise InputError(f"{what} must be a number, not {type(value).__name__}.")
    try:
        number = float(value)
    except OverflowError:
        raise InputError(f"{what} has more than 308 digits; give a smaller number.") from None
    if not np.isfinite(number):
        raise InputError(f"{what} must be a finite number, not {number}.")
    if isinstance(value, (int, np.integer)) and int(number) != value:
        raise InputError(f"{what} is a whole number beyond 2^53, which cannot be computed with exactly; give another.")
    return number


def positive(value: float, what: str) -> float:
    """A finite number above zero."""
    number = finite(value, what)
    if number <= 0:
        raise InputError(f"{what} must be above zero, not {number:g}.")
    return number
