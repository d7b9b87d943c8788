"""The study as a document that can be run again."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from typing import TYPE_CHECKING, Any

from confide.attack.document import intruder_to_dict
from confide.core.documents.plain import Writer
from confide.core.errors import InputError
from confide.core.visible import HIDDEN
from confide.measure.utility.measure import Measure
from confide.measure.utility.registry import MEASURES
from confide.protect.document import plan_to_dict

if TYPE_CHECKING:
    from confide.study.result import StudyResult


def study_document(result: StudyResult) -> tuple[str, list[str]]:
    """Plans (sweeps taken apart), intruders and measures as the JSON that `Study.load` reads; and what it cannot hold.

    The seed is in it: it is for the agency alone.
    """
    info, lost = result.info, []
    doc: dict[str, Any] = {"title": info.title} if info.title else {}
    doc |= {"data": info.label, "seed": info.seed, "repeats": info.repeats, "threshold": info.threshold}
    copies = {name: {"copies": many} for name, many in _copies(result).items()}
    for key, each, written in (("plan", result.plans, plan_to_dict), ("intruder", result.intruders, intruder_to_dict)):
        doc[key] = []
        for name, stated in each.items():
            table = _tried(written, stated)
            if table is None:
                lost.append(f'{key} "{name}"')
            else:
                doc[key].append({"name": name, **table, **copies.get(name, {})})
    doc["utility"] = []
    for measure in result.measures:
        table = _measure(measure)
        if table is None:
            lost.append(f'measure "{measure.name}"')
        else:
            doc["utility"].append(table)
    if result.rule is not None:
        doc["choice"] = Writer().table(result.rule)
    text = json.dumps(doc, indent=2, ensure_ascii=False, default=str)
    return "\n".join(HIDDEN.sub(_spelt, line) for line in text.split("\n")), lost


def _spelt(hidden: re.Match[str]) -> str:
    """A character that nobody sees, as JSON spells it."""
    return json.dumps(hidden[0])[1:-1]


def _copies(result: StudyResult) -> dict[str, int]:
    """By plan, how many copies are released; those of a sweep hold for each of its plans."""
    stated = result.copies
    of = result.frame.select("plan", "sweep").unique(maintain_order=True).rows()
    return {plan: stated[sweep or plan] for plan, sweep in of if (sweep or plan) in stated}


def _tried(written: Callable[[Any], dict[str, Any]], stated: Any) -> dict[str, Any] | None:
    try:
        return written(stated)
    except InputError:
        return None


def _measure(measure: Measure) -> dict[str, Any] | None:
    """A measure of this package by its short name and what was stated; None for one of the agency's own."""
    short = next((k for k, c in MEASURES.items() if type(measure) is c), None)
    if short is None or not is_dataclass(measure):
        return None
    out: dict[str, Any] = {"measure": short}
    for f in fields(measure):
        value = getattr(measure, f.name)
        default = (
            f.default if f.default is not MISSING else f.default_factory() if callable(f.default_factory) else None
        )
        if value is not None and value != default:
            if not isinstance(value, (str, bool, int, float, list, tuple)):
                return None
            out[f.name] = list(value) if isinstance(value, tuple) else value
    return out
