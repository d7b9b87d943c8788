"""What analysts of single groups lose: a picture and a table per variable that the study asked for. Inside only."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from confide.show.charts.loss_charts import Loss, losses_picture
from confide.show.names import capital, said
from confide.show.report.figures import Drawing, Table, slug
from confide.show.report.view import View
from confide.study.outside import Published


def analyst_groups(view: View) -> list[Drawing]:
    """For the plan that the page is about: the measure that decides in each group, and all measures as a table.

    Nothing of it goes outside: nobody has checked what such a figure tells of few people.
    """
    frame = getattr(view.result, "group_utility", None)
    if isinstance(view.result, Published) or not isinstance(frame, pl.DataFrame) or frame.is_empty():
        return []
    mine = frame.filter((pl.col("plan") == view.focus) & (pl.col("people") >= view.treat.fewest))
    by = view.deciding or view.result.measures[0].name
    return [_drawing(view, str(v), by, part) for (v,), part in mine.group_by(["variable"], maintain_order=True)]


def analyst_words(view: View) -> str:
    """What the pictures show; empty where there are none."""
    if not analyst_groups(view):
        return ""
    by = view.deciding or view.result.measures[0].name
    named = view.treat.fewest
    return (
        f"{capital(said(by))} among the people of each group alone, with “{view.focus}”; bars are 95% intervals "
        "over repeats, the dashed line is the whole file. Groups are those that an analyst finds in the release. "
        "Marked: worse than the whole file beyond the interval. Small groups lose more by chance alone. Groups of "
        f"fewer than {named} people are not named."
    )


def _drawing(view: View, variable: str, by: str, part: pl.DataFrame) -> Drawing:
    rows = list(_losses(view, by, part.filter(pl.col("measure") == by)))
    whole = view.treat.value(view.number(view.focus, by)["mean"])
    told = "; ".join(f"{r.name}: {r.words}{' (worse)' * r.worse}" for r in rows)
    alt = f"{said(by)} by {variable}, with the plan {view.focus}; whole file {view.said(view.focus, by)}. {told}."
    made = [losses_picture(rows, whole, alt, narrow=n) for n in (False, True)]
    name = f"losses-{slug(variable)}"
    return Drawing(name, f"By {variable}", "", made[0], made[1], _table(view, variable, part))


def _losses(view: View, by: str, part: pl.DataFrame) -> Iterator[Loss]:
    lower, whole = view.measure(by).direction == "lower", view.number(view.focus, by)["mean"]
    for r in part.iter_rows(named=True):
        at, low, high = (view.treat.value(r[k]) for k in ("mean", "low", "high"))
        worst_case = low if lower else high
        worse = worst_case is not None and whole is not None and (worst_case > whole if lower else worst_case < whole)
        yield Loss(r["level"], at, low, high, view.treat.measure(r["mean"]), bool(worse))


def _table(view: View, variable: str, part: pl.DataFrame) -> Table:
    """Every measure in every group, and in the whole file."""
    names = [m.name for m in view.result.measures]
    t = view.treat
    cells = {
        (r["level"], r["measure"]): t.measure_interval(r["mean"], r["low"], r["high"])
        for r in part.iter_rows(named=True)
    }
    people = dict(part.select("level", "people").unique(maintain_order=True).rows())
    rows = [[g, t.people(n), *(cells.get((g, m), "unknown") for m in names)] for g, n in people.items()]
    everybody = ["all people", t.people(float(view.result.info.rows))]
    everybody += [view.number_text(view.focus, m) for m in names]
    return Table([variable, "people", *(said(m) for m in names)], [everybody, *rows])
