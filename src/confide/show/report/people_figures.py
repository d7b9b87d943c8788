"""Figures of people: how sure the worst intruder is of them, which groups are over the threshold; and of theory."""

from __future__ import annotations

import polars as pl

from confide.protect.methods.noise.noise import Noise
from confide.protect.methods.swap.swap import Swap
from confide.show.charts.plan_charts import groups_chart, targets_chart
from confide.show.charts.theory_sliders import RECORDS, noise_slider, swap_slider
from confide.show.report.figures import Figure, Table, slug
from confide.show.report.groups import shown_groups
from confide.show.report.view import View
from confide.study.statement.checks import EVERYTHING
from confide.theory import NoiseRelease, SwapRelease


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
    table = Table(["plan", *bins], [[p, *(cells.get((p, b), "0") for b in bins)] for p in plans])
    return Figure("distribution", title, caption, alt, made[0], made[1], table)


def group_figures(view: View) -> list[Figure]:
    """One figure a variable that the worst intruder knows: the share of each group over the threshold."""
    frame = shown_groups(view)
    return [_group_figure(view, v, frame.filter(pl.col("variable") == v)) for v in dict.fromkeys(frame["variable"])]


def _group_figure(view: View, variable: str, frame: pl.DataFrame) -> Figure:
    t = view.treat
    plans = [p for p in view.coloured if p in set(frame["plan"])]
    rows = [
        (level, p, t.share(over, n), t.share_text(over, n), t.people(n))
        for p, level, n, over in frame.select("plan", "level", "targets", "over").rows()
    ]
    schema = {"level": pl.String, "plan": pl.String, "share": pl.Float64, "shown": pl.String}
    data = pl.DataFrame([r[:4] for r in rows], schema=schema, orient="row")
    title = f"People over {view.result.info.threshold:g} for the intruder {view.worst}, by {variable}"
    made = [groups_chart(data, plans, title=title, narrow=n) for n in (False, True)]
    cells = {(r[0], r[1]): r[3] for r in rows}
    sizes = {r[0]: r[4] for r in reversed(rows)}
    levels = list(dict.fromkeys(data["level"]))
    last = view.chosen if view.chosen in plans else next((p for p in reversed(plans) if p != EVERYTHING), plans[0])
    said = "; ".join(f"{v}: {cells.get((v, last), 'none')}" for v in levels)
    alt = f"Share of each group of {variable} over the threshold, by plan. With the plan {last}: {said}."
    caption = (
        f"The share of each group for whom the intruder gives some record more than the threshold. Groups of {variable}"
    )
    caption += f", those of fewer than {t.fewest} people {'left out or ' * t.outside}taken together."
    caption += f" Where fewer than {t.base} people are over it, the dot stands at {t.base / 2:g}." if t.outside else ""
    caption += view.left_out(plans)
    table = [[v, sizes[v], *(cells.get((v, p), "") for p in plans)] for v in levels]
    return Figure(
        f"groups-{slug(variable)}", title, caption, alt, made[0], made[1], Table([variable, "people", *plans], table)
    )


def theory_figures(view: View) -> list[Figure]:
    """Closed forms with sliders, for the methods that the plans use."""
    used = {step.method for plan in view.result.plans.values() for step in plan.parts}
    made = {Noise.method: _noise_figure, Swap.method: _swap_figure}
    return [figure() for name, figure in made.items() if name in used]


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
