"""`confide study`: carry a study file out, and leave its tables, charts and reports in a folder."""

from __future__ import annotations

import argparse
import math
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import confide as cf
from confide.cli import scanned
from confide.cli.common import Told, add_use, command
from confide.core.errors import InputError
from confide.core.files.atomic import atomic_write
from confide.core.files.leftovers import remove_leftovers
from confide.core.files.private import private_folder
from confide.core.run.progress import Progress

if TYPE_CHECKING:
    from confide.cli.common import Commands
    from confide.core.scale.engine import Engine
    from confide.study.pieces.outputs import Outputs

CHOSEN = "chosen-plan.json"
NAMES = ("frame.parquet", "summary.csv", "report.html", "outside", "charts", CHOSEN)
"""What a study leaves in its folder."""

WORK = "work"
"""Where finished pieces and the seed are: private."""


def add(commands: Commands) -> None:
    """Its options."""
    about = "compare candidate releases by risk and utility, and leave a report"
    p = command(commands, "study", about, "  confide study study.toml --out results")
    p.add_argument("study", type=Path, metavar="FILE", help="data, plans, intruders and measures, in TOML or JSON")
    p.add_argument("--out", type=Path, required=True, metavar="DIR", help="tables, charts and reports; private")
    scanned.add(p)
    p.add_argument("--threads", type=int, metavar="N", help="default: all cores; never changes a result")
    p.add_argument("--force", action="store_true", help="replace files of an earlier run")
    add_use(p)


def run(options: argparse.Namespace) -> Told:
    """Load, run, choose, write."""
    study = cf.Study.load(options.study)
    with scanned.engine_of(options, study.data) as engine:
        result, choice, why, files = carried_out(study, options.out, options.force, options.threads, engine=engine)
    text, plain = told(result, choice, why, files, options.out)
    cautions = list(getattr(study.data, "cautions", ()))  # of a scan
    if cautions:
        return "\n".join([text, "", *(f"Caution: {said}" for said in cautions)]), {**plain, "data_cautions": cautions}
    return text, plain


def carried_out(
    study: cf.Study, out: Path, overwrite: bool, threads: int | None = None, progress: Progress = None,
    beside: Mapping[str, str] | None = None, engine: Engine | None = None,
) -> tuple[cf.StudyResult, cf.Choice | None, str, list[Path]]:  # fmt: skip
    """Run a study in a folder and write everything it leaves, and `beside` it texts by the names of their files.

    Also the choice, or why there is none. Whatever interrupts it, the same call goes on: pieces that are finished are
    kept, and its own files are written again. Files that it did not write are refused unless `overwrite` is true.
    """
    from confide.study.pieces.keys import origin
    from confide.study.pieces.outputs import Outputs, finished
    from confide.study.pieces.store import Store
    from confide.study.run import run_in

    folder, texts, mine = out.expanduser(), dict(beside or {}), origin(study)
    _free(folder, mine, texts, overwrite)
    private_folder(folder)
    with Store.opened(folder / WORK) as store:
        result = run_in(study, store, threads=threads, overwrite=overwrite, progress=progress, engine=engine)
        before = _free(folder, mine, texts, overwrite)
        Outputs(mine, files={} if before is None else before.files).note(store)
        choice, why = chosen(result)
        files = _written(result, choice, folder, texts)
        for path in [] if before is None else before.unchanged(folder):
            if path not in files:  # of an earlier run that --force replaces
                path.unlink()
        finished(mine, folder, files).note(store)
    return result, choice, why, files


def _free(out: Path, mine: str, texts: Mapping[str, str], overwrite: bool) -> Outputs | None:
    """What the last run in the folder noted; refused where files would be replaced that are not this study's."""
    from confide.study.pieces.outputs import Outputs, in_the_way

    before = Outputs.noted(out / WORK)
    there = [] if overwrite else in_the_way(out, (*NAMES, *texts), mine, before)
    if there:
        raise InputError(
            f"{out} holds {', '.join(there)}; choose another folder, or --force (finished pieces are used again) to "
            "replace them."
        )
    return before


def _written(result: cf.StudyResult, choice: cf.Choice | None, out: Path, texts: Mapping[str, str]) -> list[Path]:
    from confide.show.report import save_report_folder
    from confide.study.kept import save_tables

    for folder in (out, out / "charts", out / "outside"):
        remove_leftovers(folder)
    files = [*save_tables(result, out, overwrite=True), *save_report_folder(result, out, choice, overwrite=True)]
    if choice is not None:
        files += _plan_file(result, choice, out / CHOSEN)
    for name, text in texts.items():
        with atomic_write(out / name, overwrite=True, private=True) as temporary:
            temporary.write_text(text, encoding="utf-8")
    return [*files, *(out / name for name in texts)]


def _plan_file(result: cf.StudyResult, choice: cf.Choice, path: Path) -> list[Path]:
    """The chosen plan as a document for `confide protect`; none for the anchor, or for what no document can hold."""
    from confide.core.documents.files import write_document

    try:
        plan = result.plans[choice.plan].to_dict()
    except (KeyError, InputError):
        return []
    return [write_document(plan, path, overwrite=True)]


def chosen(result: cf.StudyResult) -> tuple[cf.Choice | None, str]:
    """The choice by the study's own rule; where no plan is within the limits, which comes nearest."""
    if result.rule is None:
        return None, "The study states no [choice], so none is made; the frontier is marked."
    try:
        choice = result.choose()
    except InputError as e:
        return None, str(e)
    return choice, choice.reason


def told(result: cf.StudyResult, choice: cf.Choice | None, why: str, files: list[Path], out: Path) -> Told:
    """The text of the command, and the same for machines."""
    from confide.show.text.studies import study_text
    from confide.study.file_numbers import file_table

    shown = [f for f in files if f.parent.name != "charts"]
    pictures = len(files) - len(shown)
    lines = [study_text(result), "", why, "", "Files written:", *(f"  {f}" for f in shown)]
    if pictures:
        lines.append(f"  {out / 'charts'}: {pictures} pictures")
    lines.append(f"Private, holds the seed, never to be published: {out / WORK}")
    named = "PLAN" if choice is None or choice.plan not in result.plans else choice.plan
    lines.append(f'What changes of a plan would do: cf.StudyResult.load("{out / WORK}").improve(data, "{named}")')
    plain: dict[str, Any] = {
        "summary": result.summary().to_dicts(),
        "frontier": {m.name: result.frontier(utility=m.name).to_dicts() for m in result.measures},
        "choice": None if choice is None else {**_plain_choice(choice)},
        "reason": why,
        "study": {k: v for k, v in asdict(result.info).items() if k != "seed"},
        **({"learnt": result.learnt.to_dicts()} if result.learns else {}),
        **({"file_risks": file_table(result).to_dicts()} if result.file_risks else {}),
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


def _plain_choice(choice: cf.Choice) -> dict[str, Any]:
    return {
        "plan": choice.plan, "risks": dict(choice.risks), "limits": dict(choice.limits), "by": choice.by,
        "value": choice.value, "interval": choice.interval, "table": choice.table.to_dicts(),
    }  # fmt: skip
