"""Customary risks of the released file, in the printout of a study: every number of every plan, and what it says."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from confide.core.visible import visible
from confide.study.file_numbers import file_table, in_figures
from confide.study.statement.checks import EVERYTHING
from confide.study.tradeoff.risk_names import SHARE

if TYPE_CHECKING:
    from confide.study.result import StudyResult

WIDTH, MOST = 118, 40


def file_tables(result: StudyResult) -> list[list[list[str]]]:
    """A table for each risk of the file, one row per plan; shares stand beside counts."""
    cells = {(r["plan"], r["risk"]): r for r in file_table(result).iter_rows(named=True)} if result.file_risks else {}
    out = []
    for risk in result.file_risks:
        shown = [c for c in risk.columns if not (c.endswith(SHARE) and c.removesuffix(SHARE) in risk.columns)]
        rows = [["risk of the file", *shown]]
        for plan in [EVERYTHING, *result.plans][:MOST]:
            rows.append([visible(plan), *(_cell(cells, plan, c) for c in shown)])
        out.append(rows)
    return out


def _cell(cells: dict[tuple[str, str], dict[str, float | None]], plan: str, column: str) -> str:
    row, share = cells[plan, column], cells.get((plan, f"{column}{SHARE}"))
    mean, low, high = row["mean"], row["low"], row["high"]
    if mean is None:
        return "unknown"
    beside = "" if share is None or share["mean"] is None else f" ({in_figures(SHARE, share['mean'])})"
    if low is None or high is None or low == high:
        return f"{in_figures(column, mean)}{beside}"
    return f"{in_figures(column, mean)}{beside} [{in_figures(column, low)} to {in_figures(column, high)}]"


def file_words(result: StudyResult) -> list[str]:
    """What each column says, and what such numbers leave out."""
    if not result.file_risks:
        return []
    said = [f"{c}: {words}." for c, words in result.file_columns.items() if not c.endswith(SHARE)]
    said.append(
        "They count in the released file as if its values were true, whoever looks; what intruders find is told above."
    )
    return [line for words in said for line in textwrap.wrap(words, WIDTH)]
