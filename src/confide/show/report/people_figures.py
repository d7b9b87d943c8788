"""Figures of people: how sure the worst intruder is of them, in which groups it finds most; and of theory."""

from __future__ import annotations

from functools import cache

import polars as pl

from confide.protect.methods.noise.noise import Noise
from confide.protect.methods.swap.swap import Swap
from confide.show.charts.board_charts import Row, bars_picture
from confide.show.charts.plan_charts import targets_chart
from confide.show.charts.theory_sliders import RECORDS, noise_slider, swap_slider
from confide.show.report.figures import Drawing, Figure, Table, slug
from confide.show.report.groups import group_ends, shown_groups
from confide.show.report.view import View
from confide.study.statement.checks import EVERYTHING
from confide.theory import NoiseRelease, SwapRelease

MANY_TIMES = 4.0
"""A group is exposed where so many times the share of all people is found in it."""


def distribution_figure(view: View) -> Figure | None:
    """How many targets the worst intruder can be how sure of, by plan."""
    t = view.treat
    frame = view.result.distribution.filter((pl.col("intruder") == view.worst) & pl.col("plan").is_in(view.listed))
    if frame.is_empty():
        return None
    # A count that is not stated is shaded as nobody.
    rows = [
        (p, b, t.count(n) if n >= t.base or not t.outside else 0.0, t.people(n))
        for p, b, n in frame.select("plan", "bin", "targets").rows()
    ]
    schema = {"plan": pl.String, "bin": pl.String, "targets": pl.Float64, "shown": pl.String}
    data = pl.DataFrame(rows, schema=schema, orient="row")
    # In a cell there is room for a sign, not for words.
    data = data.with_columns(shown=pl.col("shown").str.replace("fewer than ", "<", literal=True))
    title = f"How sure the intruder {view.worst} can be"
    made = [targets_chart(data, title=title, narrow=n) for n in (False, True)]
    bins = list(dict.fromkeys(data["bin"]))
    cells = {(p, b): text for p, b, _, text in rows}
    plans = list(dict.fromkeys(data["plan"]))
    top = "; ".join(f"{p}: {cells.get((p, bins[-1]), '0')}" for p in plans)
    alt = (
        f"Table of colours: targets by largest probability, one row per plan. In the highest range, {bins[-1]}: {top}."
    )
    caption = (
        f"Intruder {view.worst}. For each person the largest probability that the intruder gives to any released "
        "record; cells count people, darker means more."
    ) + view.left_out(plans)
    rated = {(p, b): t.rated(n, n, n, view.targets(p, view.worst)) for p, b, n in
             frame.select("plan", "bin", "targets").rows()}  # fmt: skip
    table = Table(["plan", *bins], [[p, *(rated.get((p, b), "0") for b in bins)] for p in plans])
    return Figure("distribution", title, caption, alt, made[0], made[1], table)


def group_drawings(view: View) -> list[Drawing]:
    """One drawing per variable that the worst intruder knows: the share found of each group, before and after."""
    frame = shown_groups(view)
    return [_group_drawing(view, v, frame.filter(pl.col("variable") == v)) for v in dict.fromkeys(frame["variable"])]


def exposed(view: View) -> list[tuple[str, str, str]]:
    """Groups of which more than `MANY_TIMES` the share of all people is found: variable, level and share in words."""
    frame = shown_groups(view).filter(pl.col("plan") == view.focus)
    t, all_ = view.treat, _overall(view)
    out = []
    for variable, level, n, found in frame.select("variable", "level", "targets", "found").rows():
        share = t.share(found, n)
        if share is not None and all_ and found >= t.base and share > MANY_TIMES * all_:
            out.append((share, variable, level, t.share_text(found, n)))
    return [(v, level, words) for _, v, level, words in sorted(out, reverse=True)]


def _overall(view: View) -> float | None:
    who = view.worst_of(view.focus) or view.worst
    found, whole = view.number(view.focus, view.risk, who)["mean"], view.targets(view.focus)
    return None if found is None or not whole else view.treat.share(found, whole)


def _group_drawing(view: View, variable: str, frame: pl.DataFrame) -> Drawing:
    t, all_ = view.treat, _overall(view)
    cells = {(p, level): (found, n) for p, level, n, found in frame.select("plan", "level", "targets", "found").rows()}
    levels = list(dict.fromkeys(frame["level"]))
    shares = {v: t.share(*cells[view.focus, v]) for v in levels if (view.focus, v) in cells}
    if not any(v.startswith(("up to ", "over ")) for v in levels):
        levels = sorted(levels, key=lambda v: -(shares.get(v) or 0.0))
    rows = [
        Row(v, shares.get(v), t.share(*cells[EVERYTHING, v]) if (EVERYTHING, v) in cells else None,
            *_told(view, cells.get((view.focus, v))),
            strong=bool(all_ and (shares.get(v) or 0.0) > MANY_TIMES * all_)) for v in levels
    ]  # fmt: skip
    said_ = "; ".join(f"{r.name}: {r.words}" for r in rows)
    alt = f"Share of people found by {variable}, with the plan {view.focus}. {said_}."
    made = [bars_picture(rows, alt, narrow=n) for n in (False, True)]
    plans = [p for p in dict.fromkeys([*view.coloured, view.focus]) if p in set(frame["plan"])]
    ends = group_ends(view, variable)
    table = [
        [v, _size(view, cells, plans, v), *(_share(view, cells.get((p, v)), ends.get((p, v))) for p in plans)]
        for v in levels
    ]
    return Drawing(f"groups-{slug(variable)}", f"By {variable}", "", made[0], made[1],
                   Table([variable, "people", *plans], table))  # fmt: skip


def _told(view: View, cell: tuple[float, float] | None) -> tuple[str, str]:
    """A group's share with its count, and the share alone."""
    if cell is None:
        return "unknown", "unknown"
    share = view.treat.share_text(*cell).replace("fewer than ", "<").removesuffix(" people")
    if share.startswith("<"):
        return f"{share} of {view.treat.people(cell[1])}", share
    return f"{share} ({view.treat.whole(cell[0])} of {view.treat.whole(cell[1])})", share


def _share(view: View, cell: tuple[float, float] | None, ends: tuple[float, float] | None = None) -> str:
    """A share, with its interval over repeats where it has one."""
    if cell is None:
        return ""
    share = view.treat.share_text(*cell)
    if ends is None or ends[0] == ends[1]:
        return share
    low, high = (view.treat.share_text(min(e, cell[1]), cell[1]) for e in ends)
    return f"{share} ({low} to {high})"


def _size(view: View, cells: dict[tuple[str, str], tuple[float, float]], plans: list[str], level: str) -> str:
    return next((view.treat.people(cells[p, level][1]) for p in plans if (p, level) in cells), "unknown")


def theory_figures(view: View) -> list[Figure]:
    """Closed forms with sliders, for the methods that the plans use."""
    used = {step.method for plan in view.result.plans.values() for step in plan.parts}
    made = {Noise.method: _noise_figure, Swap.method: _swap_figure}
    return [figure() for name, figure in made.items() if name in used]


@cache  # it holds no data, and stands in both reports
def _noise_figure() -> Figure:
    rows = []
    for variance in (0.1, 0.25, 0.5, 1.0, 2.0, 4.0):
        release = NoiseRelease(RECORDS, 1.0, variance**0.5)
        risks = [f"{release.risk(s):.4f}" for s in ("linked", "shrink_known", "mean")]
        rows.append([f"{variance:g}", f"{release.utility() / release.original_utility():.4f}", *risks])
    header = [
        "variance of the noise",
        "utility kept",
        "R by the own value",
        "R shrunk to a known mean",
        "R by the mean",
    ]
    title = "Noise: what the analyst loses and what the snooper keeps"
    caption = (
        f"The mean of {RECORDS} records under added noise. R is 1 / mean squared error of the snooper's guess, in "
        "units where knowing the mean and nothing else is R = 1. Move the slider to set the noise."
    )
    alt = f"Curves of risk against utility while noise grows. At variance 0.5, utility kept {rows[2][1]}; risk " + (
        f"{rows[2][2]} by the target's own value, {rows[2][3]} shrunk to a known mean, {rows[2][4]} by the mean of all."
    )
    made = [noise_slider(title=title, narrow=n) for n in (False, True)]
    return Figure("theory-noise", title, caption, alt, made[0], made[1], Table(header, rows), sliders=True)


@cache
def _swap_figure() -> Figure:
    rows = []
    for rate in (0.05, 0.1, 0.3, 0.5, 1.0):
        release = SwapRelease(1.0, 1.0, rate)
        kept = release.utility() / release.original_utility()
        rows.append(
            [f"{rate:g}", f"{kept:.4f}", *(f"{release.risk(s):.4f}" for s in ("attribute", "mean", "identity"))]
        )
    header = [
        "swapping rate",
        "utility kept",
        "R by the value in place",
        "R by the area's mean",
        "probability of a right link",
    ]
    title = "Swapping: what the analyst loses and what the snooper keeps"
    caption = (
        "One person of an area of 3 may be swapped with one of an area of 2; the analyst wants the difference of the "
        "areas' means. The table is for a difference of one standard deviation. Move the sliders to set rate and "
        "difference."
    )
    alt = (
        f"Curves of risk against utility while the swapping rate grows. At rate 0.3, utility kept {rows[2][1]}; risk "
        + (f"{rows[2][2]} by the value in place, {rows[2][3]} by the area's mean.")
    )
    made = [swap_slider(title=title, narrow=n) for n in (False, True)]
    return Figure("theory-swap", title, caption, alt, made[0], made[1], Table(header, rows), sliders=True)
