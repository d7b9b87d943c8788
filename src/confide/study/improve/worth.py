"""From repeats on all targets to the changes that are worth making."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from confide.measure.utility.measure import Measure
from confide.protect.seam.dials import Untried
from confide.study.evaluate import is_random
from confide.study.improve.paired import UNKNOWN, Against, surely_above, surely_below
from confide.study.improve.result import BACK, FRAME, LOWERS, NONE, WITHIN, Improvements
from confide.study.improve.rounds import WORTH, Rounds
from confide.study.statement.study import Study
from confide.study.statement.sweep import Candidate
from confide.study.tradeoff.risk_names import about_file


def improvements(
    study: Study, frame: pl.DataFrame, finalists: Sequence[Candidate], told: Mapping[str, float],
    limits: Mapping[str, float], risk: str, measure: Measure, rounds: Rounds, untried: Sequence[Untried],
) -> Improvements:  # fmt: skip
    """The result: what was carried out on all targets, in the order of worth."""
    against = Against.of(frame, {c.name: is_random(c.plan) for c in finalists}, limits, risk, measure)
    met = against.asked.within(0) if told else None
    kinds = {k: kind_of(against, k, bool(met)) for k in against.changes}
    rows: dict[str, list[tuple[Any, ...]]] = {}
    for kind in (LOWERS, BACK, WITHIN, NONE):
        back = kind in (BACK, WITHIN)
        order = against.ordered([k for k in against.changes if kinds[k] == kind], back)
        ranks = against.ranks(order, back) if kind != NONE else [None] * len(order)
        rows[kind] = [_row(against, k, kind, rank, told) for k, rank in zip(order, ranks, strict=True)]
    worth = [row for kind in ((BACK, WITHIN, LOWERS) if met else (LOWERS, BACK)) for row in rows[kind]]
    found = against.asked.risks[0][risk]
    who, before = ("", UNKNOWN) if found is None else found
    who = "" if about_file(risk) else who
    return Improvements(
        pl.DataFrame(worth, schema=FRAME, orient="row"),
        {c.name: c.plan for c in finalists[1:] if c.name in {row[0] for row in worth}},
        finalists[0].plan, risk, measure.name, before, against.asked.utility[0] or UNKNOWN, who,
        against.asked.targets(0, risk), told, met,
        pl.DataFrame([*worth, *rows[NONE]], schema=FRAME, orient="row"), rounds.table(), len(rounds.drawn.rows),
        study.repeats, tuple(untried), rounds.left, measure.direction,
    )  # fmt: skip


def kind_of(against: Against, k: int, met: bool) -> str:
    """What a change does beyond noise: lowers risk (by what is worth it), or gives utility back without raising risk,
    or, where the limits are met, within them."""
    lowered, lost = against.difference(against.lowered, k), against.difference(against.lost, k)
    risk = against.asked.risks[0][against.risk]
    if surely_above(lowered) and risk is not None and lowered.mean >= WORTH * risk[1].mean:
        return LOWERS
    least = math.inf if risk is None else WORTH * risk[1].mean
    if not surely_below(lost):
        return NONE
    if not surely_below(lowered) and -lowered.mean <= least:
        return BACK
    return WITHIN if met and against.asked.within(k) else NONE


def _row(against: Against, k: int, kind: str, rank: int | None, told: Mapping[str, float]) -> tuple[Any, ...]:
    asked = against.asked
    lowered, lost = against.difference(against.lowered, k), against.difference(against.lost, k)
    risks = [None if (f := asked.risks[j][against.risk]) is None else f[1].mean for j in (0, k)]
    values = [None if (u := asked.utility[j]) is None else u.mean for j in (0, k)]
    per = lowered.mean / lost.mean if kind == LOWERS and surely_above(lost) else None
    within = asked.within(k) if told else None
    return (
        asked.every.plans[k], kind, rank, *risks, lowered.mean, lowered.low, lowered.high, *values, lost.mean, lost.low,
        lost.high, per, within,
    )  # fmt: skip
