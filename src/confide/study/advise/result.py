"""Advice: the plan that a search came to, how sure that is, and all that was tried on the way."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from confide.core.result import PICTURES, Result
from confide.core.upward import ABOVE, upward
from confide.frames import private_folder, write
from confide.frames.files import FORMATS
from confide.protect.plan import Plan
from confide.study.result import StudyResult
from confide.study.statement.study import Study
from confide.study.tradeoff.choice import Choice
from confide.study.tradeoff.repeats import Interval

CONFIRMED = {"kind": pl.String, "measure": pl.String, **dict.fromkeys(("mean", "low", "high"), pl.Float64)}
FAMILIES = {
    "family": pl.String, "tried": pl.Int64, "best_alone": pl.Float64, "best_in_mixes": pl.Float64,
    "lowest_risk": pl.Float64,
}  # fmt: skip
UNTRIED = {"family": pl.String, "variables": pl.String, "why": pl.String}
STATUSES = ("chosen", "finalist", "nearest", "beaten", "breaks the limit", "budget", "cannot be carried out")
"""What a status begins with; "beaten by" goes on with the name of the plan that beats it."""


@dataclass(frozen=True, eq=False)
class RunnerUp:
    """The plan that came second. `difference`: how much better the chosen one is by the measure that was chosen by,
    repeat by repeat, above 0 whatever the measure's direction; `apart`: whether its 95% interval is above 0; `ahead`:
    whether it is below 0, so that the second did better with fresh draws."""

    name: str
    plan: Plan
    difference: Interval

    @property
    def apart(self) -> bool:
        """Whether the chosen one is better beyond the spread of draws."""
        return self.difference.low is not None and self.difference.low > 0

    @property
    def ahead(self) -> bool:
        """Whether the second is better beyond the spread of draws, with fresh draws, which choose nothing."""
        return self.difference.high is not None and self.difference.high < 0


@dataclass(frozen=True, eq=False)
class Nearest:
    """The plan that comes nearest to limits that nothing meets. `risks`: by name, its mean of the worst intruder and
    the limit. `give_up`: what would have to be given up, in sentences."""

    name: str
    plan: Plan
    risks: Mapping[str, tuple[float, float]]
    give_up: tuple[str, ...]


@dataclass(frozen=True, eq=False, repr=False)
class Advice(Result):
    """What `advise` came to.

    `plan` and its `name` in words; both None where nothing meets the limits, and then `nearest` is there. `choice`: the
    study's choice. `study`: a study of the finalists, as any other, with draws that the search had not seen.
    `confirmed`: kind ("risk", of the worst intruder, or "utility"), measure, mean, low, high: the chosen plan with
    draws that chose nothing, so these are the numbers to report. `frame` (also `tried`): one row per candidate: `name`,
    `families`, `steps`, `rung` (how far it came: 1 on a sample of targets, 2 on all of them, 3 with repeats, 4 in the
    study), `evaluations`, `intruder` (the worst), `found` with `found_low` and `found_high`, `share`, every utility,
    `status` and `why`. `families`: family, how many were released and attacked (`tried`), `best_alone` and
    `best_in_mixes` (the best utility within the limits with this family alone, and with others), `lowest_risk`.
    `untried`: family, variables, why.
    `runner_up`: who came second, and how close. `asked`: sentences on what was stated and what guessed. `evaluations`:
    releases that the search made and attacked; with ``budget=`` this number and the same seed it comes to the same.
    `reason`: in sentences. `script`: the call that does the same.
    """

    plan: Plan | None
    name: str | None
    choice: Choice | None
    study: StudyResult = field(repr=False)
    confirmed: pl.DataFrame
    frame: pl.DataFrame
    families: pl.DataFrame
    untried: pl.DataFrame
    runner_up: RunnerUp | None
    asked: tuple[str, ...]
    evaluations: int
    seconds: float
    seed: int
    reason: str
    nearest: Nearest | None
    script: str
    limits: Mapping[str, float]
    by: str
    statement: Study = field(repr=False)
    """The study at the end, as it was stated."""
    aside: str = ""
    """Where the plan misleads whoever reads what it altered, so that one who leaves that aside counts: a sentence."""

    @property
    def tried(self) -> pl.DataFrame:
        """The same as `frame`."""
        return self.frame

    def summary(self) -> pl.DataFrame:
        """The confirmed numbers of the plan that was chosen; of the nearest where none was."""
        return self.confirmed

    def map(self, risk: str | None = None, utility: str | None = None, intruder: str | None = None) -> Any:
        """The R-U map of the study, with the plan that was chosen and the limit."""
        marked: dict[str, Any] = {"limits": self.limits} | ({} if self.name is None else {"choice": self.name})
        return self.study.map(risk or next(iter(self.limits)), utility or self.by, intruder, **marked)

    def report(
        self, path: str | os.PathLike[str], *, outside: bool = False, overwrite: bool = False, fewest: int = 10
    ) -> Path:
        """The study's report for a board, in one HTML file; arguments as in `StudyResult.report`."""
        return self.study.report(path, outside=outside, choice=self.choice, overwrite=overwrite, fewest=fewest)

    def save(  # type: ignore[override]
        self, folder: str | os.PathLike[str], overwrite: bool = False, *, data: str | None = None,
        populations: Mapping[str, str] | None = None,
    ) -> list[Path]:  # fmt: skip
        """Write all of it into a folder, for its owner alone; or a table or picture into a file.

        In a folder: `plan.toml` (where there is a plan), the study's result, `tried.csv`, `families.csv`, the page
        `why.html`, and, with `data`, `study.toml`, which runs the study again. A study file names its data and does not
        hold them: `data` is the name of their file, `populations`, by intruder, that of a population.
        """
        place = Path(folder).expanduser()
        if place.suffix.lower() in (*PICTURES, *FORMATS) and not place.is_dir():
            return [super().save(place, overwrite)]
        private_folder(place)
        out = self.study.save(place, overwrite)
        for table in ("tried", "families", "untried"):
            out.append(write(getattr(self, table), place / f"{table}.csv", overwrite=overwrite, private=True))
        plan = self.plan if self.nearest is None else self.nearest.plan
        if plan is not None:
            out.append(plan.save(place / ("plan.toml" if self.plan else "nearest.toml"), overwrite=overwrite))
        if data is not None:
            named: dict[str, Any] = {"data": data, **({"populations": populations} if populations else {})}
            out.append(self.statement.save(place / "study.toml", overwrite=overwrite, **named))
        if "write_advice" in ABOVE:
            out.append(Path(upward("write_advice")(self, place / "why.html", overwrite)))
        return out

    def __repr__(self) -> str:
        return str(upward("advice_text")(self)) if "advice_text" in ABOVE else self.reason

    def __str__(self) -> str:
        return repr(self)
