"""Amounts, shares and names of variables in words that anybody reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import numpy as np


def amount(value: float) -> str:
    """A number without powers of ten.

    >>> amount(3.5e6), amount(0.00037), amount(12.5), amount(-40)
    ('3,500,000', '0.00037', '12.5', '-40')
    """
    plain = np.format_float_positional(abs(float(f"{value:.6g}")), trim="-")
    whole, _, rest = plain.partition(".")
    return f"{'-' if value < 0 else ''}{int(whole or 0):,}{'.' + rest if rest else ''}"


def exactly(value: float) -> str:
    """A number as it was stated, without powers of ten.

    >>> exactly(1_234_567), exactly(0.1), exactly(-2_000.0)
    ('1,234,567', '0.1', '-2,000')
    """
    plain = np.format_float_positional(abs(float(value)), trim="-")
    whole, _, rest = plain.partition(".")
    return f"{'-' if value < 0 else ''}{int(whole or 0):,}{'.' + rest if rest else ''}"


def counted(many: int, what: str) -> str:
    """So many of something.

    >>> counted(1, "group"), counted(2_000, "value")
    ('1 group', '2,000 values')
    """
    return f"{many:,} {what}{'' if many == 1 else 's'}"


def stated(step: Any) -> str:
    """A step as it is written: its method, its variables and what was stated of it, where that is a number, a word or
    names; nothing that is private, as whom it chooses."""
    said = ", ".join(
        f"{f.name} {text}"
        for f in fields(step)
        if f.name != "variables" and not f.metadata.get("private")
        if (value := getattr(step, f.name)) != f.default and (text := _short(value))
    )
    parts = (step.method.replace("_", " "), listed(step.variables), f"({said})" if said else "")
    return " ".join(p for p in parts if p)


def _short(value: Any) -> str:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return exactly(value)
    names = (value,) if isinstance(value, str) else value
    plain = isinstance(names, tuple) and all(isinstance(v, str) for v in names)
    return listed(names) if plain else ""


def percent(share: float) -> str:
    """A share as a percentage.

    >>> percent(0.1), percent(0.025)
    ('10%', '2.5%')
    """
    return f"{amount(float(f'{100 * share:.3g}'))}%"


def listed(names: Sequence[str], most: int = 6) -> str:
    """Names one after the other; of many the first, and how many more there are.

    >>> listed(["sex", "race", "age"]), listed([*"abcdefgh"])
    ('sex, race and age', 'a, b, c, d, e and 3 more')
    """
    if len(names) > most:
        return f"{', '.join(names[: most - 1])} and {len(names) - most + 1} more"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}" if names else ""
