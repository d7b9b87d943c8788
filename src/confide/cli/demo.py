"""`confide demo`: the shipped study of the shipped householders, from the file to the decision."""

from __future__ import annotations

import argparse
import tomllib
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from confide.cli.common import Told, command
from confide.core.run.progress import Progress

if TYPE_CHECKING:
    import polars as pl

    from confide.cli.common import Commands
    from confide.study.statement.study import Study

STUDY = "study.toml"


def add(commands: Commands) -> None:
    """Its options."""
    about = "compare eight releases of the shipped data, and leave a report"
    p = command(commands, "demo", about, "  confide demo --out confide-demo")
    p.add_argument("--out", type=Path, default=Path("confide-demo"), metavar="DIR", help="default: confide-demo")
    p.add_argument("--force", action="store_true", help="replace files of an earlier run")


def study_text() -> str:
    """The shipped study file."""
    return (files("confide.demo") / "data" / "heads_study.toml").read_text(encoding="utf-8")


def heads_study(**changes: Any) -> Study:
    """The shipped study; `changes` replace keys of its file.

    >>> heads_study(repeats=2)
    Study: 51,016 rows; 8 plans, 2 intruders, 3 measures of utility, 2 repeats
    """
    from confide.study.statement.study import Study

    return Study.from_dict({**tomllib.loads(study_text()), **changes}, STUDY)


def run(options: argparse.Namespace) -> Told:
    """Run the demonstration."""
    return run_demo(options.out, overwrite=options.force)


def run_demo(
    out: Path | str, progress: Progress = None, overwrite: bool = False, heads: pl.DataFrame | None = None
) -> Told:
    """Run the shipped study; tables, charts, reports and the study file go to `out`. `heads` replaces the data."""
    from dataclasses import replace

    from confide.cli.study import carried_out, told

    folder = Path(out)
    study = heads_study()
    if heads is not None:
        study = replace(study, data=heads)
    found = carried_out(study, folder, overwrite, progress=progress, beside={STUDY: study_text()})
    text, plain = told(*found, folder)
    again = f"Change {folder / STUDY} and run it: confide study {folder / STUDY} --out another-folder"
    return f"{text}\n{again}", plain
