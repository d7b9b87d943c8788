"""Ctrl-C while Spark or polars works.

Spark ends its jobs then, and what it throws of that on the way out takes the place of the interruption; polars panics
where it has just called Python. Whoever turns errors of either into sentences asks here first whether somebody had just
asked for it.
"""

from __future__ import annotations


def check_interrupted(error: BaseException) -> None:
    """Raise the interruption that an error came of, where it came of one.

    >>> check_interrupted(ValueError())
    """
    if was_interrupted(error):
        raise KeyboardInterrupt from error


def was_interrupted(error: BaseException) -> bool:
    """Whether an error came of an interruption.

    >>> was_interrupted(ValueError()), was_interrupted(KeyboardInterrupt())
    (False, True)
    """
    met: BaseException | None = error
    while met is not None:
        if isinstance(met, KeyboardInterrupt) or _in_polars(met):
            return True
        met = met.__context__
    return False


def _in_polars(error: BaseException) -> bool:
    """What polars makes of an exception of Python that it did not expect, is known by its words alone."""
    return type(error).__name__ == "PanicException" and "type: <class 'KeyboardInterrupt'>" in str(error)
