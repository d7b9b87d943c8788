"""What would be learnt, in the printout of a study: of each variable the share of people, who learns most, and losses
before and after."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

from confide.core.visible import visible
from confide.study.learnt_worst import knowers, worst_learner
from confide.study.statement.checks import EVERYTHING
from confide.study.statement.learns import Learns

if TYPE_CHECKING:
    from confide.study.result import StudyResult

WIDTH, MOST = 118, 40
HEADER = ("learnt", "by", "misled", "before", "after")


def learnt_rows(result: StudyResult) -> list[list[str]]:
    """Rows of a table, one per variable and plan; empty where the study names nothing that must not be learnt."""
    harm = ["harm"] if any(one.costs for one in result.learns) else []
    rows = [["what would be learnt", *HEADER, *harm]] if result.learns else []
    for one in result.learns:
        rows.append([visible(one.variable), *[""] * (len(HEADER) + len(harm))])
        for plan in [EVERYTHING, *result.plans][:MOST]:
            rows.append([f"  {visible(plan)}", *_cells(result, one, plan, bool(harm))])
    return rows


def learnt_words(result: StudyResult) -> list[str]:
    """How the table is read, by which loss and gain, and who cannot learn what."""
    if not result.learns:
        return []
    text = (
        "learnt: share of people for whom the release improves the best guess by more than the gain, by whoever learns "
        "most; misled: share whose guess it worsens by as much, which by chance alone are as many; before: mean loss "
        "of the best guess by published relations, the person's own value left out; after: with the release."
    )
    said = [text, *(_judged(result, one) for one in result.learns)]
    said += [" ".join(s for one in result.learns for s in _aside(result, one))]
    return ["", *(line for words in said if words for line in textwrap.wrap(words, WIDTH))]


def _judged(result: StudyResult, one: Learns) -> str:
    rows = result.learnt.filter(variable=one.variable).drop_nulls("learnt")
    if not rows.height:
        return ""
    return f"{visible(one.variable)}: {rows['said'][0]}; gain {rows['gain'][0]:,g}."


def _aside(result: StudyResult, one: Learns) -> list[str]:
    """Who knows the variable, and how many people have none."""
    name, known = visible(one.variable), ", ".join(f'"{visible(who)}"' for who in knowers(result, one))
    out = [f"{name} is known to {known}, who cannot learn it."] if known else []
    rows = result.learnt.filter(variable=one.variable).drop_nulls("learnt")
    left = float(rows["left_out"].max() or 0.0) if rows.height else 0.0  # type: ignore[arg-type]
    return [*out, *([f"{left:,.0f} people have no {name}: left out."] if left else [])]


def _cells(result: StudyResult, one: Learns, plan: str, harm: bool) -> list[str]:
    row = worst_learner(result, one, plan)
    if row is None:
        return ["unknown", *[""] * (len(HEADER) - 1 + harm)]
    low, high = row["low"], row["high"]
    spread = f" [{low:.1%} to {high:.1%}]" if low is not None and high is not None and low != high else ""
    cells = [f"{row['learnt']:.1%}{spread}", f"{_short(visible(row['intruder']))}, {row['level']}"]
    cells += [f"{row['misled']:.1%}", _number(row["relations"]), _number(row["loss"])]
    return [*cells, *([_number(row["harm"]) if row["harm"] is not None else ""] if harm else [])]


def _number(x: Any) -> str:
    return "unknown" if x is None else f"{x:,.3f}" if abs(x) < 100 else f"{x:,.0f}"


def _short(name: str) -> str:
    return name if len(name) <= 24 else f"{name[:21]}..."
