"""Ctrl-C while Spark works.

Spark ends its jobs then, and what it throws of that on the way out takes the place of the interruption. Whoever turns
errors of Spark into sentences asks here first whether somebody had just asked for it.
"""

from __future__ import annotations


def check_interrupted(error: BaseException) -> None:
    """Raise the interruption that an error came of, where it came of one.

    >>> check_interrupted(ValueError())
    """
    met: BaseException | None = error
    while met is not None:
        if isinstance(met, KeyboardInterrupt):
            raise KeyboardInterrupt from error
        met = met.__context__
