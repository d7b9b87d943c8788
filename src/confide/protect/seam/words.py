"""Amounts, shares and names of variables in words that anybody reads."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def amount(value: float) -> str:
    """A number without powers of ten.

    >>> amount(3.5e6), amount(0.00037), amount(12.5), amount(-40)
    ('3,500,000', '0.00037', '12.5', '-40')
    """
    plain = np.format_float_positional(abs(float(f"{value:.6g}")), trim="-")
    whole, _, rest = plain.partition(".")
    return f"{'-' if value < 0 else ''}{int(whole or 0):,}{'.' + rest if rest else ''}"


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
