"""What analysts lose: every measure in words, what was lost altogether, and distributions before and after."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from confide.show.charts.board_charts import percent, shares_picture
from confide.show.names import capital, said
from confide.show.report.figures import Drawing, Table, slug
from confide.show.report.view import View
from confide.study.outside import Published
from confide.study.statement.checks import EVERYTHING

MOST_VARIABLES = 6
"""Variables of a plan whose distributions are drawn: those that moved most."""
MOST_BARS = 12
SAME = 5e-4
"""Shares that differ by less look the same."""


def kept_table(view: View) -> Table | None:
    """Each measure in words: the plan that the page is about, the file as it is, and what was lost."""
    if not view.result.measures:
        return None
    remarks, floors = _remarks(view), view.asked.floors
    rows = []
    for m in view.result.measures:
        row = [capital(said(m.name)), view.number_text(view.focus, m.name)]
        row += [_asked(floors.get(m.name), m.direction)] if floors else []
        row += [view.said(EVERYTHING, m.name), f"{m.direction} is better"]
        rows.append(row if view.outside else [*row, remarks.get(m.name, "")])
    head = ["what is measured", f"with “{view.focus}”", *(["asked"] if floors else []), "as it is", "direction"]
    return Table(head if view.outside else [*head, "what was lost or left out"], rows)


def _asked(floor: float | None, direction: str) -> str:
    return "" if floor is None else f"{'at least' if direction == 'higher' else 'at most'} {floor:g}"


def _remarks(view: View) -> dict[str, str]:
    """By measure, what it remarks of the plan; remarks may count records, so they stay inside."""
    if isinstance(view.result, Published):
        return {}
    rows = view.result.details.filter((pl.col("plan") == view.focus) & (pl.col("detail") != ""))
    return {m: text.replace("\n", " ") for m, text in rows.select("measure", "detail").rows()}


def before_and_after(view: View) -> list[tuple[str, list[Drawing]]]:
    """By plan, first the one that the page is about: the distributions that it changes. Not outside: the release shows
    what is after, and what was before is what the plan hides."""
    frame = getattr(view.result, "distributions", None)
    if isinstance(view.result, Published) or not isinstance(frame, pl.DataFrame) or frame.is_empty():
        return []
    plans = [view.focus, *(p for p in view.listed if p not in (view.focus, EVERYTHING))]
    made = [(p, list(_of_plan(p, k, frame.filter(pl.col("plan") == p)))) for k, p in enumerate(plans)]
    return [(p, drawings) for p, drawings in made if drawings]


def _of_plan(plan: str, place: int, frame: pl.DataFrame) -> Iterator[Drawing]:
    moved = frame.group_by("variable", maintain_order=True).agg(
        far=(pl.col("after").fill_null(0.0) - pl.col("before").fill_null(0.0)).abs().max()
    )
    names = moved.filter(pl.col("far") > SAME).sort("far", descending=True, maintain_order=True)["variable"]
    for v in names.to_list()[:MOST_VARIABLES]:
        rows = frame.filter(pl.col("variable") == v).select("level", "before", "after").rows()
        yield _shares(plan, place, v, rows)


def _shares(plan: str, place: int, variable: str, rows: list[tuple[str, float | None, float]]) -> Drawing:
    drawn = rows if len(rows) <= MOST_BARS else sorted(rows, key=lambda r: -abs(r[2] - (r[1] or 0.0)))[:MOST_BARS]
    first = [f"{percent(a)} before, " if a is not None else "" for _, a, _ in drawn]
    told = "; ".join(f"{level}: {one}{percent(b)} after" for one, (level, _, b) in zip(first, drawn, strict=True))
    picture = shares_picture(drawn, f"Shares of people by {variable}, before and after the plan {plan}. {told}.")
    lost = len(rows) - len(drawn)
    caption = f"{lost} further levels moved less." if lost else ""
    return Drawing(f"shares-{place}-{slug(variable)}", variable, caption, picture, picture)
