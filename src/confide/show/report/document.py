"""The study as a document that can be run again."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from confide.core.visible import HIDDEN
from confide.study.statement.document import written, written_file_risks
from confide.study.statement.learns_document import learns_tables

if TYPE_CHECKING:
    from confide.study.result import StudyResult


def study_document(result: StudyResult) -> tuple[str, list[str]]:
    """Plans (sweeps taken apart), intruders and measures as the JSON that `Study.load` reads; and what it cannot hold.

    The seed is in it: it is for the agency alone.
    """
    info = result.info
    doc: dict[str, Any] = {"title": info.title} if info.title else {}
    doc |= {"data": info.label, "seed": info.seed, "repeats": info.repeats, "threshold": info.threshold}
    tables, lost = written(result.plans, _copies(result), result.intruders, result.measures, result.rule)
    doc |= {"learn": learns_tables(result.learns)} if result.learns else {}
    files, without = written_file_risks(result.file_risks)
    doc |= {"file_risk": files} if files else {}
    text = json.dumps(doc | tables, indent=2, ensure_ascii=False, default=str)
    return "\n".join(HIDDEN.sub(_spelt, line) for line in text.split("\n")), [*lost, *without]


def _spelt(hidden: re.Match[str]) -> str:
    """A character that nobody sees, as JSON spells it."""
    return json.dumps(hidden[0])[1:-1]


def _copies(result: StudyResult) -> dict[str, int]:
    """By plan, how many copies are released; those of a sweep hold for each of its plans."""
    stated = result.copies
    of = result.frame.select("plan", "sweep").unique(maintain_order=True).rows()
    return {plan: stated[sweep or plan] for plan, sweep in of if (sweep or plan) in stated}
