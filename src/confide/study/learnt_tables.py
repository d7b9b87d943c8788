"""What would be learnt, over all pieces of a study, at the levels that are booked: its tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import polars as pl

from confide.study.booked import WHO, booked_levels
from confide.study.evaluate import Evaluated
from confide.study.learning import GROUP, NUMBERS, Learnt
from confide.study.tradeoff.repeats import interval

LEARNT = {
    **WHO, "variable": pl.String, "level": pl.String, **dict.fromkeys(NUMBERS, pl.Float64),
    "low": pl.Float64, "high": pl.Float64, "said": pl.String,
}  # fmt: skip
GROUPS = {**WHO, "learnt_of": pl.String, "variable": pl.String, "level": pl.String, **dict.fromkeys(GROUP, pl.Float64)}


def learnt_risks(found: Evaluated, who: str, level: str | None) -> dict[str, float | None]:
    """The risks of what one intruder would learn at one level, by name."""
    mine = [one for one in found.learnt if one.intruder == who and one.level == level]
    return {risk: value for one in mine for risk, value in one.risks.items()}


def learnt_tables(
    pieces: Iterable[tuple[str, int, Evaluated]], random: Mapping[str, bool], learns: Sequence[Any]
) -> dict[str, pl.DataFrame]:
    """By name, the two tables of a result: means over repeats, and the same in groups; empty where nothing is asked."""
    if not learns:
        return {}
    every = list(pieces)
    levels = booked_levels((plan, found) for plan, _, found in every)
    each: dict[tuple[str, str, str], list[Learnt]] = {}
    for plan, _, found in every:
        for one in found.learnt:
            if one.level == levels[plan, one.intruder]:
                each.setdefault((plan, one.intruder, one.variable), []).append(one)
    rows = [(*key, ones[0].level, *_means(ones, random.get(key[0], True))) for key, ones in each.items()]
    return {"learnt": pl.DataFrame(rows, schema=LEARNT, orient="row"), "learnt_groups": _groups(each)}


def _means(ones: Sequence[Learnt], random: bool) -> tuple[Any, ...]:
    """Means over repeats, the interval of the share, and the words; nothing where a repeat has no number."""
    known = [one for one in ones if one.numbers["learnt"] is not None]
    if len(known) < len(ones):
        return (*dict.fromkeys(NUMBERS).values(), None, None, next(one.said for one in ones if one not in known))
    means = []
    for k in NUMBERS:
        values = [v for one in ones if (v := one.numbers[k]) is not None]
        means.append(sum(values) / len(values) if values else None)
    share = interval([one.numbers["learnt"] or 0.0 for one in ones], random, (0.0, 1.0))
    return (*means, None if share is None else share.low, None if share is None else share.high, ones[0].said)


def _groups(each: Mapping[tuple[str, str, str], Sequence[Learnt]]) -> pl.DataFrame:
    """Means over repeats; the mean losses are of all people of the group in all repeats."""
    rows = [(*key, *row) for key, ones in each.items() for one in ones for row in one.groups]
    frame = pl.DataFrame(rows, schema=GROUPS, orient="row")
    people = pl.col("people")
    weighed = [((pl.col(k) * people).sum() / people.sum()).alias(k) for k in ("relations", "loss")]
    by = [k for k in GROUPS if k not in GROUP]
    return frame.group_by(by, maintain_order=True).agg(people.mean(), pl.col("learnt").mean(), *weighed)
