"""What would be learnt: of every plan the share of people, of the plan that the page is about before and after."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl

from confide.attack.learning.attributes.groups import FEW
from confide.show.charts.board_charts import Row, bars_picture
from confide.show.report.figures import Drawing, Table, slug
from confide.show.report.treatment import UNKNOWN
from confide.show.report.view import View
from confide.study.learnt_worst import knowers, worst_learner
from confide.study.statement.checks import EVERYTHING
from confide.study.statement.learns import Learns
from confide.study.tradeoff.risk_names import HARM, LEARNT

MOST_GROUPS = 8
"""Groups of one picture."""


def learnt_words(view: View) -> list[str]:
    """What the numbers are, by which loss and gain, and who cannot learn what; empty where nothing is asked."""
    if not view.result.learns:
        return []
    out = [
        "Of each person the best guess with the release is held against the best guess by published relations, the "
        "person's own value left out. Learnt: the release improves the guess by more than the stated gain."
        + " Misled: it worsens the guess by as much; by chance alone, these would be as many."
        * (not view.outside)
    ]
    told = [w for one in view.result.learns for w in _judged(view, one)]
    known = [
        f"{one.variable} is known to {', '.join(who)}, who cannot learn it."
        for one in view.result.learns if (who := knowers(view.result, one))
    ]  # fmt: skip
    return [*out, " ".join([*told, *known])]


def _judged(view: View, one: Learns) -> Iterator[str]:
    rows = view.result.learnt.filter(variable=one.variable).drop_nulls("learnt")
    if rows.height:
        r = rows.row(0, named=True)
        yield f"{one.variable}: {r['said']}; gain {r['gain']:,g}."
        left = rows["left_out"].drop_nulls()
        if len(left) and (most := float(left.max() or 0.0)):  # type: ignore[arg-type]
            yield f"{view.treat.people(most)} people have no {one.variable} and are left out."


def learnt_table(view: View) -> Table | None:
    """Every plan by whoever learns most: the share of people, and inside the mean losses before and after, and harm."""
    if not view.result.learns:
        return None
    names = [one.variable for one in view.result.learns]
    inside = [] if view.outside else ["misled", "loss before", "own record left out", "loss after"]
    harm = not view.outside and any(one.costs for one in view.result.learns)
    header = ["plan", *(["of"] if len(names) > 1 else []), "people of whom it is learnt", "by", *inside]
    header += ["harm"] if harm else []
    rows = []
    for plan in view.listed:
        for one in view.result.learns:
            name = [one.variable] if len(names) > 1 else []
            rows.append([plan, *name, *_cells(view, one, plan, len(inside), harm)])
    return Table(header, rows)


def _cells(view: View, one: Learns, plan: str, losses: int, harm: bool) -> list[str]:
    row = worst_learner(view.result, one, plan)
    if row is None:
        return [UNKNOWN, "", *[""] * (losses + harm)]
    cells = [share_words(view, row), row["intruder"]]
    if losses:
        misled = view.treat.share_text(row["misled"] * row["people"], row["people"])
        cells += [misled, *(loss_words(row[k]) for k in ("relations", "without_person", "loss"))]
    return [*cells, *([loss_words(row["harm"]) if row["harm"] is not None else ""] if harm else [])]


def share_words(view: View, row: dict[str, Any]) -> str:
    """A share of people, with its interval over repeats where it has one."""
    n = row["people"]
    mean, low, high = (
        None if row[k] is None else view.treat.share_text(round(row[k] * n, 6), n) for k in ("learnt", "low", "high")
    )
    if mean is None:
        return UNKNOWN
    return mean if low is None or high is None or low == high else f"{mean} ({low} to {high})"


def loss_words(x: float | None) -> str:
    """A mean loss, or harm, as text."""
    return UNKNOWN if x is None else f"{x:.3g}" if abs(x) < 100 else f"{x:,.0f}"


def learnt_drawings(view: View) -> list[Drawing]:
    """One picture per variable: the groups of the chosen plan that gain or lose most by the release."""
    made = (_drawing(view, one) for one in view.result.learns)
    return [d for d in made if d is not None]


def _drawing(view: View, one: Learns) -> Drawing | None:
    row = worst_learner(view.result, one, view.focus)
    if row is None:
        return None
    frame = view.result.learnt_groups.filter(
        (pl.col("intruder") == row["intruder"]) & (pl.col("learnt_of") == one.variable)
    )
    rows = _shares(view, row, frame) if view.outside else _losses(view, row, frame)
    told = "; ".join(f"{r.name}: {r.words}" for r in rows)
    what = "Share of people of whom it is learnt" if view.outside else "Mean loss before and after"
    alt = f"{what}: {one.variable}, with the plan {view.focus}, by the intruder {row['intruder']}. {told}."
    wide, narrow = (bars_picture(rows, alt, narrow=n, long=True) for n in (False, True))
    name = f"learnt-{slug(one.variable)}"
    title = f"{one.variable}, by {row['intruder']}, with “{view.focus}”"
    return Drawing(name, title, _caption(view), wide, narrow, _group_table(view, frame))


def _caption(view: View) -> str:
    if view.outside:
        return (
            "Share of people of whom it is learnt; pale: from the file as it is. All people, then the groups with the "
            f"largest shares; those of fewer than {view.treat.base} people are left out or taken together. Where it is "
            f"learnt of fewer than {view.treat.base}, the bar stands at {view.treat.base / 2:g}."
        )
    return (
        "Mean loss of the best guess; pale: before, by published relations; dark: with the release. The shorter the "
        "dark bar, the more is learnt. All people, then the groups that the release tells most about; in brackets, "
        f"where there is room, their people. Groups of fewer than {FEW} people are left out."
    )


def _losses(view: View, row: dict[str, Any], frame: pl.DataFrame) -> list[Row]:
    """Inside: mean losses of all people and of the groups with the largest gain."""
    mine = frame.filter((pl.col("plan") == view.focus) & (pl.col("people") >= FEW))
    worst = mine.sort(pl.col("relations") - pl.col("loss"), descending=True, maintain_order=True).head(MOST_GROUPS)
    every = [("all people", row["people"], row["relations"], row["loss"])]
    every += [(f"{v}: {g}", *rest) for v, g, *rest in worst.select(
        "variable", "level", "people", "relations", "loss").rows()]  # fmt: skip
    shift = min([0.0, *(x for *_, a, b in every for x in (a, b))])
    return [
        Row(name, after - shift, before - shift, f"{_pair(before, after)} ({people:,.0f})", _pair(before, after))
        for name, people, before, after in every
    ]


def _pair(before: float, after: float) -> str:
    return f"{loss_words(before)} → {loss_words(after)}"


def _shares(view: View, row: dict[str, Any], frame: pl.DataFrame) -> list[Row]:
    """Outside: shares of all people and of the groups with the largest, all of rounded counts."""
    t = view.treat
    cells = {
        (p, v, g): (n, k) for p, v, g, n, k in frame.select("plan", "variable", "level", "people", "learnt").rows()
    }
    mine = [(v, g, *cell) for (p, v, g), cell in cells.items() if p == view.focus]
    mine.sort(key=lambda c: (c[3] < t.base, -(t.share(c[3], c[2]) or 0.0)))  # what is not stated comes last
    before = view.result.learnt.filter(plan=EVERYTHING, intruder=row["intruder"], variable=row["variable"])["learnt"]
    words = t.share_text(round(row["learnt"] * row["people"], 6), row["people"])
    out = [Row("all people", row["learnt"], before[0] if len(before) else None, words, _brief(words))]
    for v, g, n, k in mine[:MOST_GROUPS]:
        first = cells.get((EVERYTHING, v, g))
        text = t.share_text(k, n)
        out.append(Row(f"{v}: {g}", t.share(k, n), None if first is None else t.share(first[1], first[0]),
                       f"{_brief(text)} of {t.people(n)}", _brief(text)))  # fmt: skip
    return out


def _brief(words: str) -> str:
    return words.replace("fewer than ", "<").removesuffix(" people")


def _group_table(view: View, frame: pl.DataFrame) -> Table | None:
    """Every group that is named, of the plan that the page is about."""
    t = view.treat
    mine = frame.filter((pl.col("plan") == view.focus) & (pl.col("people") >= t.fewest))
    if not mine.height:
        return None
    inside = [] if view.outside else ["loss before", "loss after"]
    rows = []
    for r in mine.iter_rows(named=True):
        more = [loss_words(r["relations"]), loss_words(r["loss"])] if inside else []
        rows.append(
            [f"{r['variable']}: {r['level']}", t.people(r["people"]), t.share_text(r["learnt"], r["people"]), *more]
        )
    return Table(["group", "people", "of whom it is learnt", *inside], rows)


def learnt_sentences(view: View, plan: str) -> Iterator[str]:
    """For the first screen: of how many people each variable would be learnt, and by whom."""
    for one in view.result.learns:
        row = worst_learner(view.result, one, plan)
        if row is None:
            yield f"Of how many people {one.variable} would be learnt is not known."
            continue
        limit = view.asked.limits.get(f"{LEARNT}{one.variable}")
        stated = "" if limit is None or view.outside else f" (limit {100 * limit:.3g}%)"
        words = share_words(view, row)
        of = words if words.startswith("fewer") else f"{words} of people"
        yield f"{one.variable} would be learnt of {of}{stated}, by the intruder {row['intruder']}."


def learnt_terms(view: View) -> Iterator[tuple[str, str]]:
    """What the numbers mean, with the names that scripts give them."""
    for one in view.result.learns:
        yield (
            f"Learnt of {one.variable} ({LEARNT}{one.variable})",
            "The share of people, of those who have a value, for whom the best guess with the release loses less, by "
            "more than the gain, than the best guess by published relations. Lower is safer.",
        )
        if one.costs and not view.outside:
            yield (
                f"Harm by {one.variable} ({HARM}{one.variable})",
                "What right and wrong declarations of people and of their values cost them, summed over those whom the "
                "intruder declares (Lambert 1993), in the unit of the stated costs. Lower is safer.",
            )
