"""The rule as it was stated, and every plan held against it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from confide.show.charts.board_charts import percent
from confide.show.names import RISK_WORDS, said
from confide.show.report.figures import Table
from confide.show.report.verdict import worded
from confide.show.report.view import View
from confide.study.tradeoff.choice import Choice
from confide.study.tradeoff.question import number
from confide.study.tradeoff.risk_names import is_share


def rule_words(view: View) -> Iterator[str]:
    """The rule as it was stated, and what came of it."""
    yield from view.asked.sentences(view.alike)
    if view.of_whom and view.asked.limits:
        yield view.of_whom
    if view.nobody and not view.outside:
        yield worded(view.nobody)
    elif view.nobody:
        yield "No plan is within the limits, so none is chosen."
    elif view.chosen is None:
        yield "No plan has been chosen in this report. The plans on the frontier are the ones to choose from."
    elif not view.outside and isinstance(view.choice, Choice):
        yield worded(view.choice.reason)


def choice_table(view: View) -> Table | None:
    """Every plan against the limits; not outside."""
    frame = getattr(view.choice, "table", None)
    if view.outside or frame is None:
        return None
    rows = [[_cell(view, row[0], c, v) for c, v in zip(frame.columns, row, strict=True)] for row in frame.rows()]
    return Table([said(c).replace("_", " ") for c in frame.columns], rows)


def _cell(view: View, plan: str, name: str, value: Any) -> str:
    if value is None:
        return ""
    if is_share(name):
        return percent(value)
    if name in RISK_WORDS and isinstance(value, float):
        return view.treat.rated(value, value, value, view.targets(plan))
    if name == "why_not":
        return worded(str(value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    return number(value) if isinstance(value, float) else str(value)
