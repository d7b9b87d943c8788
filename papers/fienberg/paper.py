"""Fienberg, Makov and Sanil (1997), A Bayesian Approach to Data Disclosure, section 4, on shipped data.

``python -m papers.fienberg FOLDER`` prints the summaries and writes them, with tables and pictures, into the
folder.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from confide.attack.intruder import Intruder
from confide.core.errors import InputError, did_you_mean
from confide.core.run.progress import Progress, progress_bar
from confide.measure.risk.exposure import exposure
from confide.measure.risk.ranks import top_sums
from confide.protect.methods.measurement_error.measurement_error import MeasurementError
from confide.protect.methods.measurement_error.variances import prior_from_range
from confide.protect.plan import Plan
from confide.protect.simulate_targets import simulate_targets
from papers.fienberg.tables import (
    SCENARIOS,
    Experiment,
    Scenario,
    bias_in_print,
    file_of,
    noise_of,
    printed,
    range_of,
    ranks_chart,
    summary,
    summary_text,
    table42,
    tables,
)
from papers.output import prepared, told, write_text

__all__ = [
    "SCENARIOS", "DemoResult", "Experiment", "Scenario", "bias_in_print", "experiment", "file_of", "intruder_plan",
    "known_error", "making_plan", "noise_of", "printed", "ranks_chart", "run_demo", "summary", "summary_text",
    "table42", "tables",
]  # fmt: skip

SEED = 1997
REPEATS = 5

FILES = (
    "table42.csv",
    "ranks.csv",
    "summary.csv",
    "exposure.csv",
    "ranks.png",
    "ranks_anes1996.png",
    "exposure.png",
    "summary.txt",
)


def making_plan(scenario: Scenario, noise: Mapping[str, float]) -> Plan:
    """By what the targets of a scenario are drawn: fixed variances.

    >>> len(making_plan(SCENARIOS["noise"], noise_of()).steps)
    4
    """
    return Plan([
        MeasurementError(v, noise_sd=sd if scenario.noise else None, bias_variance=scenario.bias_variance)
        for v, sd in noise.items()
    ])  # fmt: skip


def intruder_plan(file: pl.DataFrame, as_printed: bool = True) -> Plan:
    """What the intruder believes in every scenario: gamma priors from the ranges of the file (Table 4.2).

    >>> len(intruder_plan(file_of()).parts)
    4
    """
    priors = {v: prior_from_range(file[v], as_printed=as_printed) for v in file.columns}
    noise, bias = ({v: p[part] for v, p in priors.items()} for part in ("noise_variance", "bias_variance"))
    return Plan([MeasurementError(file.columns, noise_variance=noise, bias_variance=bias)])


def known_error(file: pl.DataFrame, noise: float = 0.05, bias_sd: float = 0.03) -> Plan:
    """Error of known size, the noise's standard deviation a share of the range: what the other sections use.

    >>> known_error(file_of()).steps[0].bias_sd
    0.03
    """
    return Plan([MeasurementError(v, noise_sd=noise * range_of(file, v), bias_sd=bias_sd) for v in file.columns])


def experiment(
    data: str = "elites", seed: int = SEED, repeats: int = REPEATS, as_printed: bool = True,
    scenarios: Sequence[str] = tuple(SCENARIOS), progress: Progress = None,
) -> Experiment:  # fmt: skip
    """Draw targets by each scenario, several times, and attack the file with the priors of Table 4.2.

    `as_printed=False` reads the guess about theta as the standard deviation it is, and squares it.

    >>> done = experiment(repeats=1, scenarios=["no error"])
    >>> summary(done).select("first", "printed_first").row(0)
    (230.0, 319)
    """
    file, noise = file_of(data), noise_of(data)
    if isinstance(repeats, bool) or not isinstance(repeats, int) or repeats < 1:
        raise InputError("repeats must be a whole number from 1 upwards.")
    strange = [name for name in scenarios if name not in SCENARIOS]
    if strange:
        raise InputError(f'There is no scenario "{strange[0]}".{did_you_mean(strange[0], list(SCENARIOS))}')
    release = intruder_plan(file, as_printed).protect(file, seed=seed)
    who = Intruder(knows=file.columns)
    units: dict[str, pl.DataFrame] = {}
    with progress_bar(f"attacking {data}", len(scenarios) * repeats, progress) as done:
        for name in scenarios:
            scenario, parts = SCENARIOS[name], []
            exact = not scenario.noise and scenario.bias_variance is None
            for repeat in range(1 if exact else repeats):
                targets = file if exact else simulate_targets(file, making_plan(scenario, noise), seed=seed + repeat)
                attack = who.attack(release, targets, truth=range(file.height), progress=False)
                mine = attack.units.select("rank", "p_true", "p_max", "hit")
                parts.append(mine.with_columns(repeat=pl.lit(repeat), p_top=pl.Series(top_sums(attack, 10))))
                done(repeats if exact else 1)
            units[name] = pl.concat(parts)
    return Experiment(data, file, as_printed, repeats, units)


@dataclass(frozen=True, eq=False)
class DemoResult:
    """`text`: what to print; `files`: what was written; `summary`: first ranks by data, priors and scenario."""

    text: str
    files: tuple[Path, ...]
    summary: pl.DataFrame
    seconds: float


def run_demo(out: Path | str, progress: Progress = None, overwrite: bool = False, repeats: int = REPEATS) -> DemoResult:
    """All scenarios on both files, and on the surrogate with the other reading of the prior; results go to `out`.

    The folder is made if it is not there. Files that exist are refused, before anything is computed, unless
    `overwrite` is true.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     (Path(folder) / "ranks.png").touch()
    ...     run_demo(folder)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    confide.InputError: ... holds ranks.png; choose another folder, or overwrite=True to replace them.
    """
    began = time.perf_counter()
    files = prepared(Path(out), FILES, overwrite)
    studies = [("elites", True), ("elites", False), ("anes1996", True)]
    done = [experiment(data, repeats=repeats, as_printed=way, progress=progress) for data, way in studies]
    frames = [_named(summary(d), d) for d in done]
    ranks = [_named(t, d).with_columns(scenario=pl.lit(name)) for d in done for name, t in tables(d).items()]
    file = file_of()
    seen = exposure(file, known_error(file), file.columns, seed=SEED, repeats=repeats, progress=progress)
    text = "\n\n".join(f"{_heading(d)}\n\n{summary_text(summary(d))}" for d in done)
    csv = {
        "table42.csv": table42(file), "ranks.csv": pl.concat(ranks), "summary.csv": pl.concat(frames),
        "exposure.csv": seen.frame,
    }  # fmt: skip
    for name, frame in csv.items():
        write_text(files[name], frame.write_csv(), overwrite)
    _draw(done, seen.frame, files, overwrite)
    write_text(files["summary.txt"], text + "\n", overwrite)
    return DemoResult(text, tuple(files.values()), pl.concat(frames), time.perf_counter() - began)


def _named(frame: pl.DataFrame, done: Experiment) -> pl.DataFrame:
    priors = "as printed" if done.as_printed else "squared"
    return frame.select(pl.lit(done.data).alias("data"), pl.lit(priors).alias("priors"), pl.all())


def _heading(done: Experiment) -> str:
    priors = "priors as in Table 4.2" if done.as_printed else "theta's guessed standard deviation squared"
    beside = "; in brackets: print" if done.data == "elites" else ""
    return f"{done.data}, {done.file.height} targets, {priors}{beside}"


def _draw(done: Sequence[Experiment], seen: pl.DataFrame, files: Mapping[str, Path], overwrite: bool) -> None:
    from confide.show.charts.drawing import save_chart
    from confide.show.charts.rank_charts import exposure_chart

    drawn = {"ranks.png": ranks_chart(done[0]), "ranks_anes1996.png": ranks_chart(done[2])}
    for name, chart in {**drawn, "exposure.png": exposure_chart(seen)}.items():
        save_chart(chart, files[name], overwrite)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line of this module."""
    about = "Redo section 4 of Fienberg, Makov and Sanil (1997) on shipped data."
    parser = argparse.ArgumentParser(prog="python -m papers.fienberg", description=about)
    parser.add_argument("folder", type=Path, help="where to write the tables and the pictures")
    parser.add_argument("--overwrite", action="store_true", help="replace files that exist")
    parser.add_argument("--repeats", type=int, default=REPEATS, help=f"draws of the targets (default {REPEATS})")
    given = parser.parse_args(arguments)
    return told(lambda: run_demo(given.folder, overwrite=given.overwrite, repeats=given.repeats), given.folder)
