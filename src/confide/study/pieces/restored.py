"""A piece read back from its file, if it has the shape that this study needs."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from confide.measure.utility.traces import Trace
from confide.study.evaluate import FILE_PARTS, Evaluated
from confide.study.learning import GROUP, NUMBERS, Learnt
from confide.study.meeting import BINS, CALIBRATION, Met
from confide.study.released import SIZES
from confide.study.statement.checks import RISKS

PARTS = ("protect", "attack", "utility")
TRACE = set(Trace.__dataclass_fields__)
LISTS = ("shares", "quoted", "parts", "learnt")
"""Parts of a piece that are lists; the others are tables."""


def restored(
    held: Mapping[str, Any] | None, intruders: Sequence[str], measures: Sequence[str],
    learns: Collection[tuple[str, str]] = (), file_risks: Collection[str] = (),
) -> Evaluated | None:  # fmt: skip
    """The piece; None where anything is missing, or is not what `evaluate` makes for these intruders and measures.

    `learns`: which intruders would learn which variables. `file_risks`: columns of customary risks of the file.

    >>> restored({"met": None}, ["neighbour"], ["means"]) is None
    True
    """
    if held is None or {*held, "learnt", *FILE_PARTS} != set(Evaluated.__dataclass_fields__):
        return None
    held = {"learnt": [], **{part: {} for part in FILE_PARTS}, **held}
    tables = all(isinstance(part, list if name in LISTS else dict) for name, part in held.items())
    if not tables or not all(_met(m) for m in held["met"].values()) or not all(map(_learnt, held["learnt"])):
        return None
    met = {who: {level: Met(**one) for level, one in ways.items()} for who, ways in held["met"].items()}
    found = Evaluated(**{**held, "met": met, "learnt": [Learnt(**one) for one in held["learnt"]]})
    fits = _fits(found, intruders, measures) and _all_learnt(found, learns) and _on_file(found, file_risks)
    return found if fits else None


def _on_file(e: Evaluated, columns: Collection[str]) -> bool:
    """Whether every customary risk of the file that is asked for has its number, or a reason why not."""
    texts = all(isinstance(text, str) for text in (*e.file_refused.values(), *e.file_notes.values()))
    return set(e.file_risks) == set(columns) and _numbers(e.file_risks) and texts


def _learnt(one: Any) -> bool:
    """What would be learnt, with the parts of a `Learnt`, of the shape that it has."""
    return (
        isinstance(one, dict)
        and set(one) == set(Learnt.__dataclass_fields__)
        and all(isinstance(one[k], str) for k in ("intruder", "level", "variable", "said"))
        and isinstance(one["numbers"], dict)
        and set(one["numbers"]) == set(NUMBERS)
        and _numbers(one["numbers"])
        and isinstance(one["groups"], list)
        and all(
            isinstance(row, list) and all(isinstance(v, str) for v in row[:2]) and _row(row[2:], len(GROUP))
            for row in one["groups"]
        )
    )


def _all_learnt(e: Evaluated, learns: Collection[tuple[str, str]]) -> bool:
    """Whether everything that is asked for was guessed, at some level of each intruder who could attack."""
    asked = {(who, v) for who, v in learns if e.met[who]}
    at = {who: set(ways) for who, ways in e.met.items()}
    return asked == {(o.intruder, o.variable) for o in e.learnt} and all(o.level in at[o.intruder] for o in e.learnt)


def _met(ways: Any) -> bool:
    """Levels of one intruder, each with the parts of a `Met`, of the shape that it has."""
    if not isinstance(ways, dict):
        return False
    return all(
        isinstance(one, dict)
        and set(one) == set(Met.__dataclass_fields__)
        and isinstance(one["risks"], dict)
        and set(one["risks"]) == set(RISKS)
        and _numbers(one["risks"])
        and _row(one["distribution"], len(BINS))
        and isinstance(one["groups"], list)
        and all(_group(row) for row in one["groups"])
        and isinstance(one["claims"], list)
        and all(_row(row, len(CALIBRATION)) for row in one["claims"])
        for one in ways.values()
    )


def _fits(e: Evaluated, intruders: Sequence[str], measures: Sequence[str]) -> bool:
    return (
        list(e.met) == list(intruders)
        and set(e.utility) == set(measures) == set(e.details)
        and _numbers(e.utility)
        and all(isinstance(text, str) for text in (*e.details.values(), *e.refused.values()))
        and all(isinstance(row, list) and len(row) == 4 for row in e.shares)
        and set(e.traces) in (set(), set(measures))
        and all(isinstance(t, dict) and set(t) == TRACE and _numbers(t) for t in e.traces.values())
        and all(isinstance(q, list) and len(q) == 3 for q in e.quoted)
        and set(e.size) == set(SIZES)
        and None not in e.size.values()
        and _numbers(e.size)
        and all(_part(row) for row in e.parts)
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
    """Variable, level, targets, over_threshold, expected_matches, found, claimed."""
    named = isinstance(row, list) and len(row) == 7 and all(isinstance(v, str) for v in row[:2])
    return named and _row(row[2:], 5)


def _part(row: Any) -> bool:
    """Variable, level, people, measure, value (None where it cannot be computed)."""
    named = isinstance(row, list) and len(row) == 5 and all(isinstance(row[k], str) for k in (0, 1, 3))
    return named and _number(row[2]) and (row[4] is None or _number(row[4]))


def _number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
