"""A piece read back from its file, if it has the shape that this study needs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from confide.measure.utility.traces import Trace
from confide.study.evaluate import BINS, RISKS, Evaluated

PARTS = ("protect", "attack", "utility")
TRACE = set(Trace.__dataclass_fields__)


def restored(held: Mapping[str, Any] | None, intruders: Sequence[str], measures: Sequence[str]) -> Evaluated | None:
    """The piece; None where anything is missing, or is not what `evaluate` makes for these intruders and measures.

    >>> restored({"risks": None}, ["neighbour"], ["means"]) is None
    True
    """
    if held is None or set(held) != set(Evaluated.__dataclass_fields__):
        return None
    tables = all(isinstance(part, list if name == "quoted" else dict) for name, part in held.items())
    return Evaluated(**held) if tables and _fits(Evaluated(**held), intruders, measures) else None


def _fits(e: Evaluated, intruders: Sequence[str], measures: Sequence[str]) -> bool:
    return (
        list(e.risks) == list(intruders)
        and all(isinstance(r, dict) and set(r) == set(RISKS) and _numbers(r) for r in e.risks.values())
        and set(e.utility) == set(measures) == set(e.details)
        and _numbers(e.utility)
        and all(isinstance(text, str) for text in (*e.details.values(), *e.refused.values()))
        and set(e.distribution) == set(intruders) - set(e.refused)
        and all(_row(counts, len(BINS)) for counts in e.distribution.values())
        and set(e.groups) <= set(e.distribution)
        and all(isinstance(rows, list) and all(_group(row) for row in rows) for rows in e.groups.values())
        and set(e.traces) in (set(), set(measures))
        and all(isinstance(t, dict) and set(t) == TRACE and _numbers(t) for t in e.traces.values())
        and all(isinstance(q, list) and len(q) == 3 for q in e.quoted)
        and set(e.seconds) == set(PARTS)
        and None not in e.seconds.values()
        and _numbers(e.seconds)
    )


def _numbers(table: Mapping[str, Any]) -> bool:
    """Whether all values are numbers, or None for what cannot be computed."""
    return all(v is None or _number(v) for v in table.values())


def _row(values: Any, length: int) -> bool:
    return isinstance(values, list) and len(values) == length and all(_number(v) for v in values)


def _group(row: Any) -> bool:
    """Variable, level, targets, over_threshold, expected_matches."""
    named = isinstance(row, list) and len(row) == 5 and all(isinstance(v, str) for v in row[:2])
    return named and _row(row[2:], 3)


def _number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
