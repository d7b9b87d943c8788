"""Values that a user states of a column, met with those that it has."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

SHOWN = 20
"""Stated values that a message names."""


def not_there(stated: Iterable[Any], levels: Collection[Any]) -> str:
    """Which stated values do not occur, in sentences with a gap for what they are; empty where all do.

    Only what the user wrote is named. A value that would occur as another type, as "1" for 1, is explained.

    >>> not_there(["1", "2", 9], [1, 2, 3]).format("keys of the mapping")
    '3 of 3 keys of the mapping do not occur in the column: "1", "2", 9. "1" is text, but the column holds \
numbers: write 1, without quotation marks (in a file, as a list of pairs such as [[1, "new"]]).'
    """
    stated = list(stated)
    there = set(levels)
    lost = [k for k in stated if k not in there]
    if not lost:
        return ""
    named = ", ".join(_shown(k) for k in lost[:SHOWN]) + (f" and {len(lost) - SHOWN} more" if len(lost) > SHOWN else "")
    said = f"{len(lost)} of {len(stated)} {{}} do not occur in the column: {_braced(named)}."
    other = next((k for k in lost if _as_other(k) in there and _as_other(k) is not None), None)
    return f"{said} {_braced(_types(other))}" if other is not None else said


def _as_other(value: Any) -> Any:
    """A text of digits as a number, a number as text; None for anything else."""
    if isinstance(value, bool):
        return None
    if isinstance(value, (int, float)):
        return f"{value:g}" if isinstance(value, float) else str(value)
    try:
        return float(value) if isinstance(value, str) else None
    except ValueError:
        return None


def _types(value: Any) -> str:
    if isinstance(value, str):
        number = value.strip()
        return (
            f"{_shown(value)} is text, but the column holds numbers: write {number}, without quotation marks "
            f'(in a file, as a list of pairs such as [[{number}, "new"]]).'
        )
    return f'{_shown(value)} is a number, but the column holds text: write "{value}", in quotation marks.'


def _shown(value: Any) -> str:
    return f'"{value}"' if isinstance(value, str) else repr(value)


def _braced(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")
