"""Reiter (2005), Estimating Risks of Identification Disclosure in Microdata, on the shipped householders.

``python -m papers.reiter FOLDER`` prints the tables and writes them, with pictures, into the folder.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from confide.core.run.progress import Progress
from confide.measure.risk.calibration import calibrate
from papers.output import prepared, told, write_text
from papers.reiter.setup import (
    TOPCODED,
    Experiment,
    experiment,
    informed,
    strategies,
    topcoded_at,
    units_of_study,
)
from papers.reiter.tables import choices, table2, table3, table4, table5, table6, unit_risks
from papers.reiter.text import (
    choices_text,
    table2_text,
    table3_text,
    table4_text,
    table5_text,
    table6_text,
)

__all__ = [
    "DemoResult", "Experiment", "choices", "choices_text", "experiment", "informed", "run_demo", "strategies",
    "table2", "table2_text", "table3", "table3_text", "table4", "table4_text", "table5", "table5_text",
    "table6", "table6_text", "topcoded_at", "unit_risks", "units_of_study",
]  # fmt: skip

FILES = (
    "table6.csv",
    "expected_matches.png",
    "expected_matches.svg",
    "risk_by_strategy.png",
    "calibration.png",
    "summary.txt",
)


@dataclass(frozen=True, eq=False)
class DemoResult:
    """`text`: what to print; `files`: what was written; `table6`: risks, one row per strategy and knowledge."""

    text: str
    files: tuple[Path, ...]
    table6: pl.DataFrame
    seconds: float

    def to_dict(self) -> dict[str, Any]:
        """For machines: the rows of Table 6, the names of the files, the seconds taken."""
        files = [str(f) for f in self.files]
        return {"table6": self.table6.to_dicts(), "files": files, "seconds": self.seconds}


def run_demo(
    out: Path | str, progress: Progress = None, overwrite: bool = False, heads: pl.DataFrame | None = None
) -> DemoResult:
    """Six releases, each attacked with and without knowledge of the home's value; results go to `out`.

    The folder is made if it is not there. Files that exist are refused, before anything is computed, unless
    `overwrite` is true. `heads` replaces the shipped file, for a quick try.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     (Path(folder) / "table6.csv").touch()
    ...     run_demo(folder)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    confide.InputError: ... holds table6.csv; choose another folder, or overwrite=True to replace them.
    """
    began = time.perf_counter()
    files = prepared(Path(out), FILES, overwrite)
    done = experiment(heads, progress=progress)
    frame = table6(done)
    text = "\n\n".join([table6_text(frame), table3_text(table3(done)), table4_text(table4(done))])
    write_text(files["table6.csv"], frame.write_csv(), overwrite)
    _draw(done, frame, files, overwrite)
    write_text(files["summary.txt"], text + "\n", overwrite)
    return DemoResult(text, tuple(files.values()), frame, time.perf_counter() - began)


def _draw(done: Experiment, frame: pl.DataFrame, files: dict[str, Path], overwrite: bool) -> None:
    from confide.show.charts import charts

    known = {strategy: units for (strategy, money), units in done.targets.items() if money}
    matches = charts.strategies_chart(frame)
    who = "Number of targets; the intruder knows sex, race, marital status, age and the value of the home (P)"
    drawn = {
        "expected_matches.png": matches,
        "expected_matches.svg": matches,
        "risk_by_strategy.png": charts.risk_distribution_chart(charts.risk_counts(known), who),
        "calibration.png": charts.calibration_chart(calibrate(done.targets[TOPCODED, True])),
    }
    for name, chart in drawn.items():
        charts.save_chart(chart, files[name], overwrite)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line of this module."""
    about = "Redo the tables of Reiter (2005) on the shipped householders."
    parser = argparse.ArgumentParser(prog="python -m papers.reiter", description=about)
    parser.add_argument("folder", type=Path, help="where to write the table and the pictures")
    parser.add_argument("--overwrite", action="store_true", help="replace files that exist")
    given = parser.parse_args(arguments)
    return told(lambda: run_demo(given.folder, overwrite=given.overwrite), given.folder)
