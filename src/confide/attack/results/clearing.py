"""Whom one coarsening would clear: every target attacked again in the very release with one variable coarser."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from confide.attack.results.again import prepared
from confide.attack.results.coalitions import known_variables
from confide.attack.results.question import ANEW, drawn, knowing
from confide.core.errors import InputError
from confide.core.result import Result
from confide.core.run.progress import Progress, progress_bar
from confide.core.shares import percent
from confide.core.visible import visible
from confide.frames.columns import F64, Bools
from confide.protect.coarser import Coarser, coarsened, file_ladder, why_fixed

if TYPE_CHECKING:
    from confide.attack.results.attack import Attack
    from confide.protect.seam.mechanism import Mechanism

MARGIN = 1e-9
"""One in five comes out of log space a hair above 0.2."""
SCHEMA: dict[str, Any] = {
    "variable": pl.String, "coarsening": pl.String, "cleared": pl.Int64, "raised": pl.Int64,
    "over": pl.Int64, "p_max": pl.Float64,
}  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False)
class Clearing(Result):
    """`frame`: variable, coarsening, cleared, raised, over, p_max; one row per coarser form, by variable.

    Of the `over` targets whose largest probability exceeds the `limit` now, `cleared` would come to it or below;
    `raised` others would come above it, as may happen where values are altered at random; `over` of the frame are then
    above it, and `p_max` is the largest probability of anybody. All are computed: the attack is made on the very
    release with that variable coarser, all other values as they were drawn. `steps`: by row, the
    step for the plan, None for a variable left out.
    `refused`: by variable, why it, or a form of it, was not tried. `drawn`: whether the plan draws at random, so that a
    plan with the step added would give other figures.
    """

    frame: pl.DataFrame
    steps: tuple[Mechanism | None, ...]
    limit: float
    over: int
    targets: int
    refused: dict[str, str]
    drawn: bool = False

    @property
    def best(self) -> pl.DataFrame:
        """Of each variable the finest form that clears most, those that clear most first."""
        found = self.frame.with_row_index("at").filter(pl.col("cleared") > 0)
        found = found.sort(["over", "at"]).group_by("variable", maintain_order=True).first()
        return found.sort(["over", "at"]).drop("at")

    def summary(self) -> pl.DataFrame:
        """The same as `best`."""
        return self.best

    def __repr__(self) -> str:
        lines = [
            f"{self.over:,} of {self.targets:,} targets ({percent(self.over, self.targets)}) are above {self.limit:g}. "
            "One coarsening alone would clear:"
        ]
        for r in self.frame.filter(pl.col("cleared") > 0).iter_rows(named=True):
            raised = f", raise {r['raised']:,}" if r["raised"] else ""
            left = f"{r['over']:,} stay above" if r["over"] else "nobody stays above"
            lines.append(f"    {r['cleared']:>7,}  {visible(r['coarsening'])}{raised} ({left})")
        if len(lines) == 1:
            lines.append("    nobody: no single variable was found that does")
        elif self.drawn:
            lines.append(ANEW)
        return "\n".join(
            [*lines, *(f"Not tried: {visible(v)} made coarser: {visible(why)}." for v, why in self.refused.items())]
        )

    def _repr_html_(self) -> str:
        """The table, and what limits it."""
        return super()._repr_html_() + (f"<p>{ANEW}</p>" if self.drawn and self.best.height else "")


def clearing(attack: Attack, limit: float, progress: Progress) -> Clearing:
    """All coarser forms of all known variables, one after the other."""
    over = _over(attack.units, limit)
    refused = {v: why for v in known_variables(attack) if (why := why_fixed(attack.release, v))}
    rungs = [c for v in known_variables(attack) if v not in refused for c in _ladder(attack, v)]
    rows, steps = [], []
    with progress_bar("attacking", len(rungs) if over.any() else 0, progress) as done:
        for change in rungs if over.any() else ():
            try:
                p_max = _again(attack, change)
            except InputError as e:  # a step of the plan, or the attack, cannot be had with that
                refused.setdefault(change.variable, str(e).partition("\n")[0].rstrip("."))
                continue
            rows.append(_row(change, over, p_max, limit))
            steps.append(change.step)
            done(1)
    frame = pl.DataFrame(rows, schema=SCHEMA, orient="row")
    return Clearing(frame, tuple(steps), limit, int(over.sum()), len(over), refused, drawn(attack.release))


def _ladder(attack: Attack, variable: str) -> list[Coarser]:
    if variable in prepared(attack).intruder.between:
        return [Coarser(variable, f"{variable} left out")]
    return file_ladder(attack.release, variable)


def _row(change: Coarser, over: Bools, p_max: F64, limit: float) -> tuple[Any, ...]:
    still = p_max > limit * (1 + MARGIN)
    cleared, raised = int((over & ~still).sum()), int((still & ~over).sum())
    return change.variable, change.words, cleared, raised, int(still.sum()), float(p_max.max())


def _over(units: pl.DataFrame, limit: float) -> Bools:
    return np.asarray(units["p_max"].to_numpy() > limit * (1 + MARGIN))


def _again(attack: Attack, change: Coarser) -> F64:
    """p_max of every target in the coarser release."""
    from confide.attack.engine.run import run_attack

    targets, truth, also = attack.given
    who = prepared(attack).intruder
    if change.step is None:
        who = knowing(who, [v for v in known_variables(attack) if v != change.variable], whole=True)
        if not who.knows and not who.between:
            who = replace(who, available="ignore", unavailable="ignore", others="ignore")
    found = run_attack(
        who, coarsened(attack.release, [change]), targets, truth, threads=None, progress=False,
        also=[coarsened(copy, [change]) for copy in also],
    )  # fmt: skip
    return found.units["p_max"].to_numpy()
