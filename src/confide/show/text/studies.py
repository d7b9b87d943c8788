"""A study's result as a table for the terminal: one row per plan, the worst intruder's risk, every measure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import polars as pl

from confide.core.visible import visible
from confide.study.statement.checks import EVERYTHING

if TYPE_CHECKING:
    from confide.study.result import StudyResult

MOST = 60
"""Plans shown; a longer sweep is for the map and the frame."""

WIDEST = 48


def study_text(result: StudyResult, risk: str = "expected_matches") -> str:
    """Means over repeats, with half the width of the 95 percent interval; a star marks the frontier.

    >>> import confide as cf
    >>> plans = {"coarse": cf.Plan([cf.Recode("age", width=10)], identifiers=["id"])}
    >>> study = cf.Study(cf.demo("heads").head(300), plans, {"near": cf.Intruder(knows=["sex", "age"])}, ["hellinger"])
    >>> print(study.run())
    plan                expected matches  hellinger
    release everything             125.0          0
    coarse                          15.0          0  *
    <BLANKLINE>
    Risk: the worst of 1 intruder. Means over repeats.
    *: no other plan is better in both risk and hellinger.
    """
    summary = result.summary()
    names = [m.name for m in result.measures]
    said = [visible(n) for n in names]
    star = set(result.frontier(risk).filter("on_frontier")["plan"].to_list())
    rows = []
    for plan in [EVERYTHING, *result.plans][:MOST]:
        mine = summary.filter(plan=plan)
        worst = mine.filter(measure=risk).sort("mean", descending=True, nulls_last=False).head(1)
        cells = [_cell(worst, ",.1f"), *(_cell(mine.filter(measure=n), ".4g") for n in names)]
        rows.append([_short(visible(plan)), *cells, "*" if plan in star else ""])
    head = ["plan", risk.replace("_", " "), *said, ""]
    many = len(result.intruders)
    spread = " +- half the width of the 95 percent interval" if any("+-" in c for r in rows for c in r) else ""
    legend = [
        f"Risk: the worst of {many} intruder{'s' * (many != 1)}. Means over repeats{spread}.",
        f"*: no other plan is better in both risk and {said[0]}.",
    ]
    left = len(result.plans) + 1 - MOST
    more = [f"... and {left} more plans"] if left > 0 else []
    return "\n".join([*_aligned([head, *rows]), *more, "", *legend])


def _cell(row: pl.DataFrame, form: str) -> str:
    if not row.height or row["mean"][0] is None:
        return "unknown"
    mean, low, high = row["mean"][0], row["low"][0], row["high"][0]
    text = format(mean, form)
    return text if low is None or low == high else f"{text} +- {format((high - low) / 2, '.2g')}"


def _short(name: str) -> str:
    return name if len(name) <= WIDEST else f"{name[: WIDEST - 3]}..."


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(r[i]) for r in rows) for i in range(len(rows[0]))]
    return [
        "  ".join(c.ljust(w) if i == 0 else c.rjust(w) for i, (c, w) in enumerate(zip(r, widths, strict=True))).rstrip()
        for r in rows
    ]
