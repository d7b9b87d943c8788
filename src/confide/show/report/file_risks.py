"""Customary risks of the released file: of every plan the numbers, and what they say; they stay inside."""

from __future__ import annotations

from collections.abc import Iterator

from confide.show.names import capital
from confide.show.report.figures import Table
from confide.show.report.treatment import UNKNOWN
from confide.show.report.view import View
from confide.study.file_numbers import in_figures
from confide.study.tradeoff.risk_names import SHARE

WORDS = (
    "Customary measures of the released file itself, the same for every intruder. They count records that look alike, "
    "as if released values were true: where a plan alters values at random, they say less than what intruders find, "
    "above."
)


def file_risk_words(view: View) -> list[str]:
    """What the numbers are; empty where none was asked for, and outside, where nobody has checked what they tell."""
    return [WORDS] if _shown(view) else []


def file_risk_table(view: View) -> Table | None:
    """Every plan's numbers, means over repeats with shares and intervals beside them."""
    every = _shown(view)
    columns = [c for c in every if not (c.endswith(SHARE) and c.removesuffix(SHARE) in every)]
    if not columns:
        return None
    rows = [[plan, *(_cell(view, plan, c) for c in columns)] for plan in view.listed]
    return Table(["plan", *(f"{every[c]} ({c})" for c in columns)], rows)


def file_risk_sentences(view: View, plan: str) -> Iterator[str]:
    """For the first screen: the risks of the file that are limited."""
    for column, words in _shown(view).items():
        limit = view.asked.limits.get(column)
        if limit is not None:
            yield f"{capital(words)}: {_cell(view, plan, column)} (limit {in_figures(column, limit)})."


def file_risk_terms(view: View) -> Iterator[tuple[str, str]]:
    """What the numbers mean, with the names that scripts give them."""
    for column, words in _shown(view).items():
        yield f"{column}", f"{capital(words)}, in the released file. Lower is safer."


def _shown(view: View) -> dict[str, str]:
    return {} if view.outside else view.result.file_columns


def _cell(view: View, plan: str, column: str) -> str:
    found = view.number(plan, column)
    mean, low, high = found["mean"], found["low"], found["high"]
    if mean is None:
        return UNKNOWN
    share = view.number(plan, f"{column}{SHARE}")["mean"]
    beside = [] if share is None else [in_figures(SHARE, share)]
    if low is not None and high is not None and low != high:
        beside.append(f"{in_figures(column, low)} to {in_figures(column, high)}")
    return f"{in_figures(column, mean)} ({'; '.join(beside)})" if beside else in_figures(column, mean)
