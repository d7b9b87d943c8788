"""The maps of a report: all plans, and those near the limit, with names that are never cut."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from confide.show.charts.decision_map import Dot, Drawn, Scene, Tick, decision_map
from confide.show.charts.map_scales import PAD, RiskAxis, UtilityAxis, thinned, usual_scale
from confide.show.charts.svg import Spot
from confide.show.names import said
from confide.show.report.figures import Drawing, Table, slug
from confide.show.report.map_ticks import risk_ticks, utility_ticks
from confide.show.report.treatment import WITHHELD
from confide.show.report.view import View
from confide.study.statement.checks import EVERYTHING

MOST_NAMES = 14
"""With more plans only the choice, the anchor, the frontier and the ends of sweeps are named."""
NEAR, FEW_NEAR = 3.0, 3
"""A plan is near the limit up to so many times of it; so many of those with least risk always are."""

LEAST_RISE = 0.1
"""Of the upward axis, what the enlarged part shows at least; differences below that are no matter."""

KEY = (
    ("chosen", "chosen"), ("dot", "plan"), ("ring", "a floor of utility is not kept"),
    ("stairs", "best utility at each risk"), ("limit", "limit; shaded: beyond it"),
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class _Map:
    """A measure's map: axes, points in the order of the table, and the numbers that stand for names."""

    view: View
    name: str
    across: RiskAxis
    up: UtilityAxis
    points: pl.DataFrame

    @property
    def limit(self) -> float | None:
        return self.view.asked.limit(self.view.risk, self.view.people)


def map_drawings(view: View, name: str) -> list[Drawing]:
    """The map of a measure in two views: all plans, and those near the limit, or near the choice; the second only
    where it shows something larger."""
    found = _of(view, name)
    if found is None:
        return []
    dots = _dots(found)
    views = [("all", _full(found)), ("near", _near(found, dots))]
    return [_drawing(found, kind, scene, dots) for kind, scene in views if scene is not None]


def _of(view: View, name: str) -> _Map | None:
    points = view.points[name].with_row_index("number", offset=1)
    t = view.treat
    cells = {k: [t.count(v) for v in points[k]] for k in ("risk", "risk_low", "risk_high")}
    cells |= {k: [t.value(v) for v in points[k]] for k in ("utility", "utility_low", "utility_high")}
    points = points.with_columns(pl.Series(k, v, dtype=pl.Float64) for k, v in cells.items())
    known = points.drop_nulls(["risk", "utility"]).filter(pl.col("plan").is_in(view.drawn(name)))
    if known.is_empty():
        return None
    anchor = known.filter(plan=EVERYTHING)["risk"]
    top = float(anchor[0]) if len(anchor) and anchor[0] else float(max(known["risk"].to_list())) or 1.0
    measure = view.measure(name)
    return _Map(view, name, RiskAxis(top, "sqrt"), UtilityAxis(measure, usual_scale(measure, "sqrt")), known)


def _dots(found: _Map) -> list[Dot]:
    """One dot per plan; plans at the same place share theirs. Those that matter most find their names' places first."""
    view, named = found.view, _named(found)
    at: dict[Spot, list[tuple[dict[str, Any], Spot]]] = {}
    for r in found.points.iter_rows(named=True):
        place = found.across.at(r["risk"]), found.up.at(r["utility"])
        at.setdefault(_place(found, r), []).append((r, place))
    out = []
    for same in at.values():
        row, (x, y) = next(((r, p) for r, p in same if r["plan"] == view.chosen), same[0])
        plans = [r["plan"] for r, _ in same]
        words = " = ".join(p for p in plans if p in named)
        short = ", ".join(str(r["number"]) for r, _ in same if r["plan"] in named)
        out.append(Dot(row["plan"], x, y, _ends(found, row, x, y), words, short, view.chosen in plans,
                       all(map(view.lacks, plans)), any(r["on_frontier"] for r, _ in same),
                       view.of_plan[row["plan"]][0] or ""))  # fmt: skip
    return sorted(out, key=lambda d: (not d.chosen, d.plan != EVERYTHING, not d.front))


def _ends(found: _Map, row: dict[str, Any], x: float, y: float) -> tuple[float, float, float, float]:
    a, b = (x if row[k] is None else found.across.at(row[k]) for k in ("risk_low", "risk_high"))
    c, d = sorted(y if row[k] is None else found.up.at(row[k]) for k in ("utility_low", "utility_high"))
    return a, b, c, d


def _named(found: _Map) -> set[str]:
    view, plans = found.view, found.points["plan"].to_list()
    if len(plans) <= MOST_NAMES:
        return set(plans)
    ends = {p for each in view.sweeps.values() for p in (each[0], each[-1])}
    first = [p for p in plans if p in (EVERYTHING, view.chosen)]
    front = found.points.filter("on_frontier").sort("risk")["plan"].to_list()
    return set([*first, *(p for p in front if p not in first), *(p for p in plans if p in ends)][: 2 * MOST_NAMES])


def _full(found: _Map) -> Scene:
    """Both axes from end to end."""
    shares = risk_ticks(0.0, found.across.top, found.across.at, *_scale(found), 0.11)
    heights: list[Tick] = [(at, [words]) for at, words in thinned(found.up.ticks(), 0.07)]
    return _scene(found, (-PAD, 1 + PAD), (-PAD, 1 + PAD), shares, heights)


def _near(found: _Map, dots: Sequence[Dot]) -> Scene | None:
    """The part of the map with the limit, or the choice, and the plans around it; none where it would be all of it."""
    chosen = found.points.filter(plan=found.view.chosen or "")["risk"].to_list()
    middle = found.limit if found.limit is not None else next(iter(chosen), None)
    if not middle:
        return None
    others = found.points.filter(pl.col("plan") != EVERYTHING).sort("risk", maintain_order=True)
    least = others["risk"].head(FEW_NEAR).max()
    close = others.filter(pl.col("risk") <= max(NEAR * middle, float(least if isinstance(least, float) else 0.0)))
    if close.is_empty() or close.height == found.points.height:
        return None
    risks = [*close["risk"].to_list(), middle]
    low, high = min(risks), max(risks)
    gap = max(high - low, 0.2 * high) * 0.14
    values = close["utility"].to_list()
    floor = found.view.asked.floors.get(found.name)
    values += [floor] if floor is not None and min(values) <= floor <= max(values) else []
    worst, best = min(values), max(values)
    across = found.across.at(max(low - gap, 0.0)), found.across.at(min(high + gap, found.across.top))
    heights = sorted((found.up.at(worst), found.up.at(best)))
    rise = max(heights[1] - heights[0], LEAST_RISE) * 0.16
    up = max(heights[0] - rise, -PAD), min(heights[1] + rise, 1 + PAD)
    inside = [d for d in dots if across[0] <= d.x <= across[1] and up[0] <= d.y <= up[1]]
    if across[1] - across[0] > 0.8 or len(inside) == len(dots):
        return None
    spread = max(found.across.at(high) - found.across.at(low), 0.01)
    ticks = risk_ticks(max(low - gap, 0.0), min(high + gap, found.across.top), found.across.at, *_scale(found),
                       0.11 * max(across[1] - across[0], spread))  # fmt: skip
    return _scene(found, across, up, ticks, utility_ticks(found.up, *up))


def _scale(found: _Map) -> tuple[float | None, tuple[bool, bool]]:
    """How many people are all, and whether ticks say shares and counts: both only where plans have the same targets."""
    view = found.view
    if view.alike is not None or view.people is None:
        return view.people, (True, True)
    return view.people, (view.by_share, not view.by_share)


def _axis_words(view: View) -> str:
    if view.alike is None and view.by_share:
        return f"{said(view.risk)}, share of own targets"
    return f"{said(view.risk)}, worst intruder"


def _scene(found: _Map, across: tuple[float, float], up: tuple[float, float], x: list[Tick], y: list[Tick]) -> Scene:
    view, limit = found.view, found.limit
    place = None if limit is None or limit >= found.across.top else found.across.at(limit)
    floor = view.asked.floors.get(found.name)
    m = view.measure(found.name)
    return Scene(
        across, up, x, y, _axis_words(view), f"{said(found.name)} ({m.direction} is better)",
        place, "" if limit is None else f"limit: {view.asked.short(view.risk, view.alike)}",
        None if floor is None else found.up.at(floor), "" if floor is None else f"asked: {floor:g}",
    )  # fmt: skip


def _drawing(found: _Map, kind: str, scene: Scene, dots: Sequence[Dot]) -> Drawing:
    view, name = found.view, found.name
    wide, narrow = (decision_map(dots, scene, _alt(found, kind, scene, dots), n) for n in (False, True))
    title = {"all": "All plans", "near": "Near the limit" if found.limit is not None else "Near the choice"}[kind]
    away = [d.plan for d in dots if not scene.holds(d)]
    caption = f"{len(away)} of {len(dots)} points lie outside this view." if away and kind == "near" else ""
    caption += view.withheld_words(name, view.plans) if kind == "all" else ""
    lost = len(view.plans) - len(view.drawn(name))
    caption += f" {lost} of {len(view.plans)} plans are not drawn; the table below has all." if lost else ""
    table = _table(found) if kind == "all" else None
    told = _numbers(found, wide), _numbers(found, narrow)
    anchor = f"map-{slug(name)}" + "-near" * (kind == "near")
    return Drawing(anchor, title, caption.strip(), wide.picture, narrow.picture, table, told, _key(dots, scene))


def _numbers(found: _Map, drawn: Drawn) -> tuple[tuple[str, str], ...]:
    """Numbers that stand for names on a drawing, with the names."""
    places = {r["plan"]: _place(found, r) for r in found.points.iter_rows(named=True)}
    lost, named = {places[p] for p in drawn.numbered}, _named(found)
    rows = found.points.select("number", "plan").rows()
    return tuple((str(k), plan) for k, plan in rows if plan in named and places[plan] in lost)


def _place(found: _Map, row: dict[str, Any]) -> Spot:
    """Where a plan stands, up to what the eye can tell."""
    return round(found.across.at(row["risk"]), 3), round(found.up.at(row["utility"]), 3)


def _key(dots: Sequence[Dot], scene: Scene) -> tuple[tuple[str, str], ...]:
    has = {"chosen": any(d.chosen for d in dots), "dot": True, "ring": any(d.weak for d in dots), "stairs": True,
           "limit": scene.limit is not None}  # fmt: skip
    return tuple((mark, words) for mark, words in KEY if has[mark])


def _alt(found: _Map, kind: str, scene: Scene, dots: Sequence[Dot]) -> str:
    view, name = found.view, found.name
    front = found.points.filter("on_frontier").sort("risk")["plan"].to_list()
    risks = [view.treat.people(view.number(p, view.risk, view.worst_of(p))["mean"]) for p in front]
    ends = [f"{p}: {r} {said(view.risk)}, {said(name)} {view.said(p, name)}" for p, r in zip(front, risks, strict=True)]
    seen = sum(scene.holds(d) for d in dots)
    what = f"Map of {found.points.height} releases" if kind == "all" else f"Part of the map, with {seen} points"
    limit = f" The limit is {scene.limit_words.removeprefix('limit: ')}." if scene.limit_words else ""
    return (
        f"{what}, {said(view.risk)} to the right and {said(name)} upwards.{limit} On the frontier, from least risk: "
        f"{'; '.join(ends)}."
    )


def _table(found: _Map) -> Table:
    view, name = found.view, found.name
    rows = []
    for k, r in enumerate(view.points[name].iter_rows(named=True), 1):
        told = view.number_text(r["plan"], name)
        on = told if told == WITHHELD else "yes" if r["on_frontier"] else "no"
        risk = view.number_text(r["plan"], view.risk, r["worst_intruder"] or view.worst or "")
        rows.append([r["plan"], str(k), risk, told, on])
    return Table(["plan", "no.", said(view.risk), said(name), "on the frontier"], rows)
