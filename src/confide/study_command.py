"""`confide study`: carry a study file out, and leave its tables, charts and reports in a folder."""

from __future__ import annotations

import argparse
import json
import math
from dataclasses import asdict
from pathlib import Path
from typing import Any

from confide.commands import Told
from confide.demo.output import prepared
from confide.errors import InputError
from confide.frames import atomic_write
from confide.protect.document import plan_to_dict
from confide.show.report import save_report_folder
from confide.show.study_text import study_text
from confide.study.result import FRAME, SUMMARY, StudyResult
from confide.study.study import Study
from confide.study.tradeoff.choice import Choice

CHOSEN = "chosen-plan.json"
WORK = "work"
"""Where finished pieces and the seed are: private."""


def run(options: argparse.Namespace) -> Told:
    """Load, run, choose, write."""
    study = Study.load(options.study)
    result, choice, why, files = carried_out(study, options.out, options.force, options.threads)
    return told(result, choice, why, files, options.out)


def carried_out(
    study: Study, out: Path, overwrite: bool, threads: int | None = None, progress: bool | None = None
) -> tuple[StudyResult, Choice | None, str, list[Path]]:
    """Run a study in a folder and write everything it leaves. Also the choice, or why there is none."""
    how = "--force (finished pieces are used again)"
    prepared(out, (FRAME, SUMMARY, "report.html", "outside", "charts", CHOSEN), overwrite, how)
    result = study.run(out / WORK, threads=threads, overwrite=overwrite, progress=progress)
    choice, why = chosen(result)
    files = [*result.save(out, overwrite), *save_report_folder(result, out, choice, overwrite)]
    if choice is not None:
        files += _plan_file(result, choice, out / CHOSEN, overwrite)
    return result, choice, why, files


def _plan_file(result: StudyResult, choice: Choice, path: Path, overwrite: bool) -> list[Path]:
    """The chosen plan as a document for `confide protect`; none for the anchor, or for what no document can hold."""
    try:
        plan = plan_to_dict(result.plans[choice.plan])
    except (KeyError, InputError):
        return []
    with atomic_write(path, overwrite) as temporary:
        temporary.write_text(json.dumps(plan, indent=2) + "\n", encoding="utf-8")
    return [path]


def chosen(result: StudyResult) -> tuple[Choice | None, str]:
    """The choice by the study's own rule; where no plan is within the limits, which comes nearest."""
    if result.rule is None:
        return None, "The study states no [choice], so none is made; the frontier is marked."
    try:
        choice = result.choose()
    except InputError as e:
        return None, str(e)
    return choice, choice.reason


def told(result: StudyResult, choice: Choice | None, why: str, files: list[Path], out: Path) -> Told:
    """The text of the command, and the same for machines."""
    shown = [f for f in files if f.parent.name != "charts"]
    pictures = len(files) - len(shown)
    lines = [study_text(result), "", why, "", "Files written:", *(f"  {f}" for f in shown)]
    if pictures:
        lines.append(f"  {out / 'charts'}: {pictures} pictures")
    lines.append(f"Private, holds the seed, never to be published: {out / WORK}")
    plain: dict[str, Any] = {
        "summary": result.summary().to_dicts(),
        "frontier": {m.name: result.frontier(utility=m.name).to_dicts() for m in result.measures},
        "choice": None if choice is None else {**_plain_choice(choice)},
        "reason": why,
        "study": {k: v for k, v in asdict(result.info).items() if k != "seed"},
        "files": [str(f) for f in files],
    }
    return "\n".join(lines), _finite(plain)


def _finite(plain: Any) -> Any:
    """JSON has no infinite numbers: they become text."""
    if isinstance(plain, dict):
        return {k: _finite(v) for k, v in plain.items()}
    if isinstance(plain, (list, tuple)):
        return [_finite(v) for v in plain]
    return str(plain) if isinstance(plain, float) and not math.isfinite(plain) else plain


def _plain_choice(choice: Choice) -> dict[str, Any]:
    return {
        "plan": choice.plan, "risks": dict(choice.risks), "limits": dict(choice.limits), "by": choice.by,
        "value": choice.value, "interval": choice.interval, "table": choice.table.to_dicts(),
    }  # fmt: skip
