"""The figures of a report: each with its chart for wide and narrow pages, its words, and its numbers as a table."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from confide.show.charts.plan_charts import interval_chart
from confide.show.charts.svg import Picture
from confide.show.charts.sweep_charts import sweep_chart
from confide.show.names import capital, said
from confide.show.report.treatment import UNKNOWN, WITHHELD
from confide.show.report.view import MOST_DRAWN, View, spread
from confide.study.statement.checks import EVERYTHING


@dataclass(frozen=True)
class Table:
    """A table as it is printed: names of columns, then rows of text; the first cell of a row is its name."""

    header: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True, eq=False)
class Figure:
    """A chart in words too. `alt` says what it shows, with the numbers that matter; `sliders`: it has inputs."""

    name: str
    title: str
    caption: str
    alt: str
    wide: Any
    narrow: Any
    table: Table
    sliders: bool = False


@dataclass(frozen=True, eq=False)
class Drawing:
    """A finished picture, for wide and narrow pages, that needs no script. `numbers`: what the numbers on each of the
    two stand for; `key`: its marks in words."""

    name: str
    title: str
    caption: str
    wide: Picture
    narrow: Picture
    table: Table | None = None
    numbers: tuple[tuple[tuple[str, str], ...], tuple[tuple[str, str], ...]] = ((), ())
    key: tuple[tuple[str, str], ...] = ()


def slug(text: str) -> str:
    """A name for files and anchors, of plain letters and digits; a text that has none becomes its bytes in digits.

    >>> slug("CI overlap: age ~ sex"), slug("<b>")
    ('ci-overlap-age-sex', 'b')
    """
    plain = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
    return plain[:60] or text.encode().hex()[:16] or "figure"


def unlike(figures: Sequence[Any], taken: Sequence[str] = ()) -> list[Any]:
    """The same figures or drawings with a name each, which none of those `taken` has."""
    seen: dict[str, int] = dict.fromkeys(taken, 1)
    out = []
    for f in figures:
        seen[f.name] = seen.get(f.name, 0) + 1
        out.append(f if seen[f.name] == 1 else replace(f, name=f"{f.name}-{seen[f.name]}"))
    return out


def utility_figures(view: View) -> list[Figure]:
    """One figure a measure of utility: every plan's number with its interval."""
    out = []
    for m in view.result.measures:
        numbers = {p: view.number(p, m.name) for p in view.listed}
        t = view.treat
        rows = [
            (p, *(t.value(n[k]) for k in ("mean", "low", "high")), view.said(p, m.name)) for p, n in numbers.items()
        ]
        data = _frame(rows, ("plan", "at", "low", "high", "shown"))
        if data["at"].null_count() == data.height:
            continue
        ends = [m.range[0], m.range[1]] if max(map(abs, m.range)) <= 1 and max(data["at"].drop_nulls()) > 0.5 else None
        words = said(m.name)
        title, x_title = capital(words), f"{words} ({m.direction} is better)"
        made = [interval_chart(data, x_title, title=title, domain=ends, narrow=n) for n in (False, True)]
        known = [(p, n["mean"]) for p, n in numbers.items() if n["mean"] is not None and p != EVERYTHING]
        best = sorted(known, key=lambda pair: pair[1], reverse=m.direction == "higher")
        alt = f"{title} of {len(rows)} releases, {m.direction} is better."
        if best:
            ends_said = [f"{p}, {view.said(p, m.name)}" for p, _ in (best[0], best[-1])]
            alt += f" Best: {ends_said[0]}. Worst: {ends_said[1]}."
        table = [[p, view.number_text(p, m.name)] for p in view.listed]
        caption = f"Dots are means over repeats, bars their 95% intervals.{view.left_out(view.listed)}"
        caption += view.withheld_words(m.name, view.listed)
        out.append(Figure(f"utility-{slug(m.name)}", title, caption, alt, made[0], made[1],
                          Table(["plan", f"{words} (95% interval)"], table)))  # fmt: skip
    return out


def sweep_figures(view: View) -> list[Figure]:
    """For each sweep of one parameter: risk by intruder, and every measure of utility."""
    out = []
    for sweep, plans in view.sweeps.items():
        rows = view.summary.filter(pl.col("plan").is_in(plans) & pl.col("value").is_not_null())
        if rows["value"].n_unique() < 2:
            continue
        parameter = view.of_plan[plans[0]][1].split("=")[0] or "parameter"
        out.append(_sweep_figure(view, sweep, parameter, rows.filter(pl.col("measure") == view.risk), None))
        for m in view.result.measures:
            out.append(_sweep_figure(view, sweep, parameter, rows.filter(pl.col("measure") == m.name), m.name))
    return [f for f in out if f is not None]


def _sweep_figure(view: View, sweep: str, parameter: str, rows: pl.DataFrame, measure: str | None) -> Figure | None:
    every = rows
    t, rows = view.treat, rows.drop_nulls("mean").sort("value", maintain_order=True)
    if rows.is_empty() or (view.outside and rows["value"].n_unique() < 2):
        return None
    what = said(measure or view.risk)
    place = t.value if measure else t.count
    told = [
        (r["intruder"] or what, r["value"], *(place(r[k]) for k in ("mean", "low", "high")),
         view.number_text(r["plan"], measure or view.risk, None if measure else r["intruder"]))
        for r in rows.iter_rows(named=True)
    ]  # fmt: skip
    names = dict.fromkeys(row[0] for row in told)
    values = list(dict.fromkeys(row[1] for row in told))
    drawn = set(spread(values, MOST_DRAWN // len(names)))
    data = _frame([row for row in told if row[1] in drawn], ("series", "value", "at", "low", "high", "shown"))
    title = f"{sweep}: {what} by {parameter}"
    better = f"{what} ({view.measure(measure).direction} is better)" if measure else capital(what)
    made = [sweep_chart(data, parameter, better, title=title, narrow=n) for n in (False, True)]
    told_ends = [f"{s}: {a} at {parameter} {v:g}, {b} at {w:g}" for s, (v, a), (w, b) in _ends(told)]
    alt = f"{capital(what)} along the sweep {sweep} over {parameter}. {'; '.join(told_ends)}."
    cells = {(row[0], row[1]): row[5] for row in told}
    gone = WITHHELD if measure and view.withheld_words(measure, list(every["plan"])) else UNKNOWN
    table = [[f"{v:g}", *(cells.get((s, v), gone) for s in names)] for v in sorted(every["value"].unique())]
    caption = "Lines are means over repeats, bands their 95% intervals."
    caption += view.withheld_words(measure, list(dict.fromkeys(every["plan"]))) if measure else ""
    if len(drawn) < len(values):
        caption += f" {len(values) - len(drawn)} of {len(values)} values are not drawn; the table below has all."
    name = f"sweep-{slug(sweep)}-{slug(measure or what)}"
    return Figure(name, title, caption, alt, made[0], made[1], Table([parameter, *names], table))


def _ends(told: Sequence[tuple[Any, ...]]) -> list[tuple[str, tuple[float, str], tuple[float, str]]]:
    """Of each series the first and the last value with its number."""
    out = []
    for s in dict.fromkeys(row[0] for row in told):
        mine = [(row[1], row[5]) for row in told if row[0] == s]
        out.append((s, mine[0], mine[-1]))
    return out


def _frame(rows: Sequence[Sequence[Any]], names: Sequence[str]) -> pl.DataFrame:
    text = {"plan", "series", "shown"}
    schema = {n: pl.String if n in text else pl.Float64 for n in names}
    return pl.DataFrame(rows, schema=schema, orient="row")
