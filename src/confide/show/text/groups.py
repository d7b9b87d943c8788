"""Groups of people in the printout of a study: of each plan who is found most often, and who loses most."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import polars as pl

from confide.core.visible import visible
from confide.show.report.treatment import FEWEST_INSIDE

if TYPE_CHECKING:
    from confide.study.result import StudyResult

WIDTH = 118
MOST = 12
"""Plans of which groups are told."""


def group_lines(result: StudyResult, worst: Mapping[str, str | None]) -> list[str]:
    """For each variable by which groups were asked for, one line per plan; `worst`: by plan, the worst intruder.

    A group is named where it is the one with the largest share found, or the worst value of the first measure.
    """
    lines: list[str] = []
    for variable in dict.fromkeys(result.group_utility["variable"]):
        told = [line for plan in list(worst)[:MOST] for line in _of_plan(result, variable, plan, worst[plan])]
        if told:
            lines += ["", f"By {visible(variable)}, the group that is found most often, and the one that loses most:"]
            lines += [part for line in told for part in textwrap.wrap(line, WIDTH, subsequent_indent="    ")]
    return lines


def _of_plan(result: StudyResult, variable: str, plan: str, who: str | None) -> Iterator[str]:
    parts = [*_found(result, variable, plan, who), *_lost(result, variable, plan)]
    if parts:
        yield f"  {visible(plan)}: {'; '.join(parts)}"


def _found(result: StudyResult, variable: str, plan: str, who: str | None) -> Iterator[str]:
    mine = result.groups.filter(plan=plan, variable=variable).filter(pl.col("intruder") == who)
    named = mine.filter(pl.col("targets") >= FEWEST_INSIDE).with_columns(share=pl.col("found") / pl.col("targets"))
    whole = float(mine["found"].sum()) / max(float(mine["targets"].sum()), 1.0)
    if not named.height or not whole:
        return
    r = named.sort("share", descending=True, maintain_order=True).row(0, named=True)
    yield f"{visible(r['level'])} {r['share']:.1%} found ({r['share'] / whole:.2g} times the share of all)"


def _lost(result: StudyResult, variable: str, plan: str) -> Iterator[str]:
    measure = result.measures[0]
    mine = result.group_utility.filter(plan=plan, variable=variable, measure=measure.name).drop_nulls("mean")
    named = mine.filter((pl.col("people") >= FEWEST_INSIDE) & ((pl.col("mean") - measure.best).abs() > 0))
    if not named.height:
        return
    r = named.sort("mean", descending=measure.direction == "lower", maintain_order=True).row(0, named=True)
    values = result.frame.filter(plan=plan)[measure.name].drop_nulls().to_list()
    said = f", all people {sum(values) / len(values):.3g}" if values else ""
    yield f"{visible(r['level'])} {visible(measure.name)} {r['mean']:.3g}{said}"
