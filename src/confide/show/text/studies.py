"""A study's result as a table for the terminal: one row per plan, the worst intruder's risk, every measure."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

import polars as pl

from confide.attack.results.stronger import UNALTERED
from confide.core.visible import visible
from confide.show.text.file_risks import file_tables, file_words
from confide.show.text.groups import group_lines
from confide.show.text.learnt import learnt_rows, learnt_words
from confide.show.text.people import unchecked
from confide.study.statement.checks import EVERYTHING, RISKS
from confide.study.tradeoff.asked import PEOPLE

if TYPE_CHECKING:
    from confide.study.result import StudyResult

MOST = 60
"""Plans shown; a longer sweep is for the map and the frame."""

WIDEST = 48
WIDTH = 118
CAUTIONS = 5
"""Cautions that are printed; the others are in the result."""


def study_text(result: StudyResult, risk: str = RISKS[0]) -> str:
    """Means over repeats, with half the width of the 95 percent interval, or its ends where it is cut off; a star
    marks the frontier.

    >>> import confide as cf
    >>> plans = {"coarse": cf.Plan([cf.Recode("age", width=10)], identifiers=["id"])}
    >>> study = cf.Study(cf.demo("heads").head(300), plans, {"near": cf.Intruder(knows=["sex", "age"])}, ["hellinger"])
    >>> print(str(study.run()).partition("Kinds")[0])
    plan                        found              by  claimed  declared  wrong
    release everything  125.0 (41.7%)  near, informed    125.0       227    115  *
    coarse                15.0 (5.0%)  near, informed     15.0         3      2  *
    <BLANKLINE>
    plan                hellinger
    release everything          0  *
    coarse                0.04488  *
    <BLANKLINE>
    found: right matches of the worst of 1 intruder, and their share of 300 targets; by: who, at which level; claimed:
    matches as it reckons them itself; declared: targets whose likeliest record has a probability above 0.2, and wrong:
    those of them who are somebody else.
    Means over repeats.
    *: no other plan is better in both found and hellinger.
    <BLANKLINE>
    """
    summary = result.summary()
    names = [m.name for m in result.measures]
    said = [visible(n) for n in names]
    points = {row["plan"]: row for row in result.frontier(risk).iter_rows(named=True)}
    risks, utilities = [], []
    for plan in [EVERYTHING, *result.plans][:MOST]:
        mine, who = summary.filter(plan=plan), points[plan]["worst_intruder"]
        star = "*" if points[plan]["on_frontier"] else ""
        risks.append([_short(visible(plan)), *_risk_cells(result, mine, risk, who), star])
        utilities.append([_short(visible(plan)), *(_cell(mine.filter(measure=n), ".4g") for n in names), star])
    left = len(result.plans) + 1 - MOST
    more = [f"... and {left} more plans"] if left > 0 else []
    first = _aligned([["plan", risk.replace("_", " "), "by", "claimed", "declared", "wrong", ""], *risks])
    second = _aligned([["plan", *said, ""], *utilities])
    spread = _spread_words("\n".join((*first, *second)))
    star = f"*: no other plan is better in both {risk} and {said[0]}."
    legend = [*_legend(result, risk), *textwrap.wrap(f"Means over repeats{spread}.", WIDTH), star]
    groups = group_lines(result, {plan: row["worst_intruder"] for plan, row in points.items()})
    would = learnt_rows(result)
    learnt = ["", *_aligned(would), *learnt_words(result)] if would else []
    files = [line for table in file_tables(result) for line in ("", *_aligned(table))]
    files += ["", *file_words(result)] if files else []
    said_too = [*_kinds(result), *groups, *learnt, *files, *_unchecked(result), *_cautions(result)]
    return "\n".join([*first, *more, "", *second, *more, "", *legend, *said_too])


def _risk_cells(result: StudyResult, mine: pl.DataFrame, risk: str, who: str | None) -> list[str]:
    """The worst intruder's risk with its share, who it is, and what it claims, declares and gets wrong."""
    if who is None:
        return ["unknown", "", "", "", ""]
    numbers = mine.filter(intruder=who)
    targets = numbers.filter(measure="targets")["mean"].item()
    found = numbers.filter(measure=risk)
    share = f" ({found['mean'].item() / max(targets, 1):.1%})" if risk in PEOPLE else ""
    plan = mine["plan"][0]
    level = result.frame.filter(plan=plan, intruder=who)["level"][0]
    claimed, over, wrong = (
        _cell(numbers.filter(measure=m).with_columns(low=None, high=None), form)
        for m, form in (("claimed_matches", ",.1f"), ("over_threshold", ",.0f"), ("wrong", ",.0f"))
    )
    return [_cell(found, ",.1f") + share, f"{_short(visible(who))}, {level}", claimed, over, wrong]


def _legend(result: StudyResult, risk: str) -> list[str]:
    many = len(result.intruders)
    low, high = (float(result.frame.select(end).item() or 0) for end in (pl.min("targets"), pl.max("targets")))
    whole = f"{high:,.0f} targets" if low == high else f"the plan's own targets ({low:,.0f} to {high:,.0f})"
    what = "right matches" if risk == RISKS[0] else risk.replace("_", " ")
    text = (
        f"{risk}: {what} of the worst of {many} intruder{'s' * (many != 1)}, and their share of {whole}; "
        "by: who, at which level; claimed: matches as it reckons them itself; declared: targets whose likeliest record "
        f"has a probability above {result.info.threshold:g}, and wrong: those of them who are somebody else."
    )
    return [line for said in (text, *_misled(result)) for line in textwrap.wrap(said, WIDTH)]


def _misled(result: StudyResult) -> list[str]:
    """What it means that somebody was booked who leaves altered values aside."""
    if UNALTERED not in result.frame["level"].to_list():
        return []
    return [
        f"{UNALTERED}: altered values are left aside, and the target is guessed among the records that agree in the "
        "others. It is booked where a plan misleads whoever reads what it altered."
    ]


def _kinds(result: StudyResult) -> list[str]:
    """Which variables were taken for numbers and which for categories."""
    parts = []
    for kind in ("numeric", "categorical"):
        names = result.kinds.filter(kind=kind)["variable"].to_list() if result.kinds.height else []
        parts += [f"{kind}: {', '.join(visible(v) for v in names)}"] if names else []
    asked = [visible(d) for d in result.kinds["doubt"] if d] if parts else []
    said = [f"Kinds, as read or named: {'; '.join(parts)}."] if parts else []
    return [line for text in (*said, *asked) for line in textwrap.wrap(text, WIDTH)]


def _unchecked(result: StudyResult) -> list[str]:
    """Whose belief about membership the comparison of claims with the truth leaves open, and what it rests on."""
    by: dict[str, list[str]] = {}
    for name, who in result.intruders.items():
        if said := unchecked(who.membership):
            by.setdefault(said, []).append(f'"{_short(visible(name))}"')
    return [line for said, names in by.items() for line in textwrap.wrap(f"{', '.join(names)}: {said}", WIDTH)]


def _cautions(result: StudyResult) -> list[str]:
    said = result.cautions()
    more = [f"... and {len(said) - CAUTIONS} more; see cautions()."] if len(said) > CAUTIONS else []
    lines = [line for text in (*said[:CAUTIONS], *more) for line in textwrap.wrap(f"Caution: {text}", WIDTH)]
    return ["", *lines] if lines else []


def _cell(row: pl.DataFrame, form: str) -> str:
    if not row.height or row["mean"][0] is None:
        return "unknown"
    mean, low, high = row["mean"][0], row["low"][0], row["high"][0]
    text = format(mean, form)
    if low is None or low == high:
        return text
    if abs((high - mean) - (mean - low)) > 1e-3 * (high - low):  # an end is that of all values possible
        return f"{text} [{format(low, form)} to {format(high, form)}]"
    return f"{text} +- {format((high - low) / 2, '.2g')}"


def _spread_words(table: str) -> str:
    """How the intervals in a table are to be read."""
    half = " +- half the width of the 95 percent interval" if "+-" in table else ""
    cut = " [ends of the 95 percent interval], where one is the least or the largest value possible"
    return half + ("," * bool(half) + cut if re.search(r"\[[-+\d.,e]+ to ", table) else "")


def _short(name: str) -> str:
    return name if len(name) <= WIDEST else f"{name[: WIDEST - 3]}..."


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(r[i]) for r in rows) for i in range(len(rows[0]))]
    return [
        "  ".join(c.ljust(w) if i == 0 else c.rjust(w) for i, (c, w) in enumerate(zip(r, widths, strict=True))).rstrip()
        for r in rows
    ]
