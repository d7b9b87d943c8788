"""Huckett and Larsen: disclosure risk of synthetic data made by several methods, on shipped data.

``python -m papers.huckett FOLDER`` makes the release, attacks it with five intruders, and writes tables and
pictures into the folder.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from confide.attack.intruder import Intruder
from confide.attack.results.grid import Grid
from confide.core.errors import InputError
from confide.core.run.progress import Progress, progress_bar
from confide.demo import demo
from confide.frames import write
from confide.measure.risk.calibration import Calibration, calibrate
from confide.protect.methods.recode import Recode
from confide.protect.methods.synthesis.cart.cart import CartSynthesis
from confide.protect.methods.synthesis.hotdeck.hotdeck import HotDeck
from confide.protect.methods.synthesis.quantile.quantile_regression import QuantileRegression
from confide.protect.plan import Plan
from confide.protect.release import Release
from papers.huckett.tables import (
    NUMBERS,
    claims,
    claims_text,
    correlations,
    correlations_text,
    marginals,
    marginals_text,
    reproduced,
    reproduced_text,
)
from papers.output import prepared, told, write_text

__all__ = [
    "AD", "KNOWN", "LEVELS", "NUMBERS", "VARIANTS", "DemoResult", "Experiment", "by_trees", "claims", "claims_text",
    "correlations", "correlations_text", "experiment", "grid", "marginals", "marginals_text", "reproduced",
    "reproduced_text", "run_demo", "synthesis", "variants",
]  # fmt: skip

SEED = 2008
GRID_ROWS = 6000
SOME_TARGETS = 5000

AD = ("sex", "race", "marital", "age")
"""Kept, age in fives: what Huckett and Larsen call Ad."""
HOME = ("property_value", "hh_income")
KNOWN = (*AD, *HOME, "wage_income", "n_persons")
"""Ad and z1 to z4."""
DROPPED = ("weight", "state", "hispanic")

LEVELS = ("super_naive", "naive", "average", "sdl", "exact")
WITHHELD = "exact, tenure withheld"

VARIANTS: Mapping[str, Mapping[str, Any]] = {
    "sdl": {},
    "tau known": {"guesses": {"tau": "known"}},
    "tau at random": {"guesses": {"tau": "random"}},
    "tau 0.5": {"guesses": {"tau": 0.5}},
    "variance doubled": {"guesses": {"widen": True}},
    "window guessed at 500": {"guesses": {"window": 500}},
    "calipers, auto": {"guesses": {"caliper": "auto"}},
    "calipers, 250,000 and 60,000": {"guesses": {"caliper": {"property_value": 250_000.0, "hh_income": 60_000.0}}},
    "as printed": {"as_printed": True},
}
"""What the sdl intruder may do differently."""

FILES = (
    "released.parquet", "claims.csv", "variants.csv", "calibration.csv", "grid.csv", "marginals.csv",
    "correlations.csv", "reproduced.csv", "claims.png", "calibration_sdl.png", "calibration_exact.png", "grid.png",
    "marginals.png", "correlations.png", "summary.txt",
)  # fmt: skip


def synthesis(withheld: Sequence[str] = ()) -> Plan:
    """The plan of section 4; z7, the tenure, is kept unless it is withheld.

    >>> [type(s).__name__ for s in synthesis().steps][1:4]
    ['QuantileRegression', 'QuantileRegression', 'HotDeck']
    """
    return Plan([
        Recode("age", width=5),
        QuantileRegression("property_value", given=AD),
        QuantileRegression("hh_income", given=[*AD, "property_value"], zeros=True),
        HotDeck(["wage_income", "n_persons"], match=HOME, within=AD, window=50),
        QuantileRegression("other_income", given=[*AD, *HOME]),
        HotDeck("educ", match=HOME, within=AD, window=50),
    ], identifiers=["id"], drop=[*DROPPED, *withheld])  # fmt: skip


def by_trees() -> Plan:
    """The same variables drawn from trees, each given all that were made before it.

    >>> by_trees().steps[2].given[-1]
    'property_value'
    """
    made = (*NUMBERS, "educ")
    steps = [CartSynthesis(v, given=[*AD, *made[:i]]) for i, v in enumerate(made)]
    return Plan([Recode("age", width=5), *steps], identifiers=["id"], drop=DROPPED)


@dataclass(frozen=True, eq=False)
class Experiment:
    """`cell`: n_t, the records of each target's own cell of Ad; `units`: one table of targets an intruder."""

    original: pl.DataFrame
    release: Release
    trees: Release
    cell: pl.Series
    units: Mapping[str, pl.DataFrame]

    @property
    def files(self) -> dict[str, pl.DataFrame]:
        """The original and two synthetic files."""
        return {"original": self.original, "regression and hot deck": self.release.frame, "trees": self.trees.frame}

    def calibration(self, intruder: str) -> Calibration:
        """Claimed against right for one of the intruders."""
        return calibrate(self.units[intruder])


def experiment(rows: int | None = None, seed: int = SEED, progress: Progress = None) -> Experiment:
    """Make the release, with tenure and without, and attack it at every level.

    `rows`: only the first so many people of the file.

    >>> done = experiment(rows=300, progress=False)
    >>> list(done.units)
    ['super_naive', 'naive', 'average', 'sdl', 'exact', 'exact, tenure withheld']
    """
    original = demo("heads")
    if rows is not None:
        if isinstance(rows, bool) or not isinstance(rows, int) or not 100 <= rows <= original.height:
            raise InputError(f"rows is a number of people from 100 to {original.height:,}.")
        original = original.head(rows)
    with progress_bar("synthesising and attacking", 3 + len(LEVELS) + 1, progress) as done:
        releases = []
        for plan in (synthesis(), synthesis(withheld=["tenure"]), by_trees()):
            releases.append(plan.protect(original, seed=seed))
            done(1)
        units = {}
        for level in LEVELS:
            units[level] = Intruder.at(level, knows=KNOWN).attack(releases[0], progress=False).units
            done(1)
        units[WITHHELD] = Intruder.at("exact", knows=KNOWN).attack(releases[1], progress=False).units
        done(1)
    return Experiment(original, releases[0], releases[2], units["super_naive"]["candidates"], units)


def variants(done: Experiment, targets: int = SOME_TARGETS, progress: Progress = None) -> pl.DataFrame:
    """What the sdl intruder claims and gets right with other guesses, for the first people of the file."""
    some = done.original.head(targets)
    units = {}
    with progress_bar("trying other guesses", len(VARIANTS), progress) as tried:
        for name, options in VARIANTS.items():
            who = Intruder.at("sdl", knows=KNOWN, **options)
            units[name] = who.attack(done.release, some, truth=range(some.height), progress=False).units
            tried(1)
    return claims(units, done.cell.head(targets))


def grid(rows: int = GRID_ROWS, seed: int = SEED, progress: Progress = None) -> Grid:
    """Every combination of levels for C, B and A, on a release of the first people of the file."""
    release = synthesis().protect(demo("heads").head(rows), seed=seed)
    return Intruder.at("sdl", knows=KNOWN).attack(release, progress=False).grid(progress=progress)


@dataclass(frozen=True, eq=False)
class DemoResult:
    """`text`: what to print; `files`: what was written; `claims`: claimed and right matches by intruder."""

    text: str
    files: tuple[Path, ...]
    claims: pl.DataFrame
    seconds: float


def run_demo(
    out: Path | str, progress: Progress = None, overwrite: bool = False, rows: int | None = None
) -> DemoResult:
    """The whole study; results go to `out`, a folder that is made if it is not there.

    Files that exist are refused, before anything is computed, unless `overwrite` is true.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     (Path(folder) / "grid.png").touch()
    ...     run_demo(folder)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    confide.InputError: ... holds grid.png; choose another folder, or overwrite=True to replace them.
    """
    began = time.perf_counter()
    files = prepared(Path(out), FILES, overwrite)
    done = experiment(rows, progress=progress)
    n = done.original.height
    some = min(SOME_TARGETS, n)
    found, tried = claims(done.units, done.cell), variants(done, some, progress)
    tables = {
        "claims.csv": found, "variants.csv": tried, "grid.csv": grid(min(GRID_ROWS, n), progress=progress).frame,
        "calibration.csv": pl.concat([
            done.calibration(name).frame.select(pl.lit(name).alias("intruder"), pl.all()) for name in done.units
        ]),
        "marginals.csv": marginals(done.files), "correlations.csv": correlations(done.files),
        "reproduced.csv": reproduced(done.original, done.release, done.cell, "wage_income"),
    }  # fmt: skip
    parts = {
        f"Five intruders, {n:,} targets": claims_text(found),
        f"Other guesses of the sdl intruder, {some:,} targets": claims_text(tried),
        "What the files hold": marginals_text(tables["marginals.csv"]),
        "Correlations": correlations_text(tables["correlations.csv"]),
        "Who finds the own wage in the own record": reproduced_text(tables["reproduced.csv"]),
    }
    text = "\n\n".join(f"{head}\n\n{body}" for head, body in parts.items())
    write(done.release.data, files["released.parquet"], overwrite=overwrite, draft=True)
    for name, frame in tables.items():
        write_text(files[name], frame.write_csv(), overwrite)
    _draw(done, tables, files, overwrite)
    write_text(files["summary.txt"], text + "\n", overwrite)
    return DemoResult(text, tuple(files.values()), found, time.perf_counter() - began)


def _draw(done: Experiment, tables: Mapping[str, pl.DataFrame], files: Mapping[str, Path], overwrite: bool) -> None:
    from confide.show.charts.drawing import save_chart
    from confide.show.charts.grid_chart import grid_chart
    from confide.show.charts.synthesis_charts import claims_chart, correlations_chart, quantiles_chart

    drawn = {
        "claims.png": claims_chart(tables["claims.csv"]), "grid.png": grid_chart(tables["grid.csv"]),
        "calibration_sdl.png": done.calibration("sdl").plot(),
        "calibration_exact.png": done.calibration("exact").plot(),
        "marginals.png": quantiles_chart(tables["marginals.csv"]),
        "correlations.png": correlations_chart(tables["correlations.csv"]),
    }  # fmt: skip
    for name, chart in drawn.items():
        save_chart(chart, files[name], overwrite)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line of this module."""
    about = "Synthetic data by several methods (Huckett and Larsen), attacked by five intruders, on shipped data."
    parser = argparse.ArgumentParser(prog="python -m papers.huckett", description=about)
    parser.add_argument("folder", type=Path, help="where to write the tables and the pictures")
    parser.add_argument("--overwrite", action="store_true", help="replace files that exist")
    parser.add_argument("--rows", type=int, default=None, help="only the first so many people (default: all)")
    given = parser.parse_args(arguments)
    return told(lambda: run_demo(given.folder, overwrite=given.overwrite, rows=given.rows), given.folder)
