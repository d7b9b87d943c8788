"""Numbers and times in the words of the screens."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime


def count(n: float | None) -> str:
    """A number of people.

    >>> count(51016.0), count(968.4), count(0.3), count(None)
    ('51,016', '968', '0.3', 'unknown')
    """
    if n is None:
        return "unknown"
    return f"{n:,.0f}" if n >= 10 or n == int(n) else f"{n:,.1f}"


def percent(share: float | None, digits: int = 1) -> str:
    """A share in percent, with a blank before the sign.

    >>> percent(0.0193), percent(0.468), percent(0.00004), percent(1.0), percent(0.0), percent(1.0, 0)
    ('1.9', '46.8', '0.004', '100', '0', '100')
    """
    if share is None:
        return "unknown"
    value = 100 * share
    if value and abs(value) < 10**-digits:
        return f"{value:.1g}"
    return f"{value:.0f}" if value in (0, 100) else f"{value:.{digits}f}"


def share(value: float | None) -> str:
    """A share of 1 with two digits."""
    return "unknown" if value is None else f"{value:.2f}"


def duration(seconds: float | None) -> str:
    """A time as people say it.

    >>> duration(0.4), duration(42), duration(125), duration(7300)
    ('less than a second', '42 seconds', '2 minutes', '2 hours')
    """
    if seconds is None:
        return "a while"
    for unit, size in (("hour", 3600), ("minute", 60), ("second", 1)):
        if seconds >= size:
            n = round(seconds / size)
            return f"{n} {unit}{'s' * (n != 1)}"
    return "less than a second"


def names(each: Sequence[str], most: int = 8) -> str:
    """Names one after the other; of many the first, and how many more there are.

    >>> names(["sex", "age"]), names([*"abcdefghij"], 4), names(["tens, swapped"])
    ('sex and age', 'a, b, c and 7 more', 'tens, swapped')
    """
    if len(each) > most:
        return f"{', '.join(each[: most - 1])} and {len(each) - most + 1} more"
    return " and ".join(each) if len(each) < 3 else f"{', '.join(each[:-1])} and {each[-1]}"


def plural(n: float, word: str) -> str:
    """A number with its word.

    >>> plural(1, "step"), plural(1200, "row")
    ('1 step', '1,200 rows')
    """
    return f"{count(n)} {word}{'s' * (n != 1)}"


def day(stamp: str) -> str:
    """A time that was written down, as a day.

    >>> day("2026-11-09T10:00:00+00:00")
    '9 November 2026'
    """
    try:
        at = datetime.fromisoformat(stamp)
    except ValueError:
        return ""
    return f"{at.day} {at:%B %Y}"


def slug(text: str) -> str:
    """A name for a file.

    >>> slug("Householders, 2026"), slug("<b>")
    ('householders-2026', 'b')
    """
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:60] or "release"
